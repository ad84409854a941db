/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Traces of allocations: merged and paired, against those who read them today.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/* trace-cmd report takes seconds. */
#define SLOW_ROUNDS 3

struct reading {
	struct pagedet *pd;
	const char *path;
	struct pagedet_allocs_total total;
	uint64_t objects;	/* bytes requested, without whole pages */
};

static bool is_pages(const struct pagedet_allocs *a, uint64_t family)
{
	const char *name = pagedet_allocs_text(a, family, NULL);

	return name && !strcmp(name, "page");
}

static void read_trace(struct reading *r, uint32_t key)
{
	struct pagedet_allocs_query q = PAGEDET_ALLOCS_QUERY_INIT;
	struct pagedet_alloc_group g = { .size = sizeof(g) };
	struct pagedet_allocs *a;

	q.path = r->path;
	q.by = &key;
	q.n_by = 1;
	if (pagedet_allocs(r->pd, &q, &a) < 0)
		probe_die("pagedet_allocs: %s", pagedet_error(r->pd));
	r->total.size = sizeof(r->total);
	pagedet_allocs_total(a, &r->total);
	r->objects = 0;
	while (key == PAGEDET_ALLOC_FAMILY && pagedet_allocs_next(a, &g) == 1)
		if (!is_pages(a, g.value[0]))
			r->objects += g.requested;
	pagedet_allocs_free(a);
}

static uint64_t run_read(void *arg)
{
	const uint64_t start = probe_ns();

	read_trace(arg, PAGEDET_ALLOC_SITE);
	return probe_ns() - start;
}

static void open_reading(struct reading *r, const char *path)
{
	r->path = path;
	r->pd = pagedet_new();
	if (!r->pd)
		probe_die("no memory");
}

/* Both with the opening, which reads the names of functions. */
int compare_trace_iterate(int argc, char **argv)
{
	struct reading reading = { 0 };
	struct report peer = { .command = { .argv = { "", argv[0] } } };
	char work[96];
	struct trial t = {
		.work = work,
		.library = { "pagedet_allocs()", run_read, &reading },
		.faster = 6
	};

	if (argc != 1)
		return 64;
	open_reading(&reading, argv[0]);
	peer.command.argv[0] = command_peer("TRACECMD_ITERATE", &t.no_peer);
	if (peer.command.argv[0]) {
		t.peer = (struct trial_side){ "libtracecmd", report_run,
					      &peer };
		report_run(&peer);
	}
	run_read(&reading);
	if (t.peer.name &&
	    peer.seen != reading.total.events + reading.total.other)
		probe_die("libtracecmd saw %llu events, the library %llu",
			  (unsigned long long)peer.seen, (unsigned long long)
			  (reading.total.events + reading.total.other));
	snprintf(work, sizeof(work), "trace.dat, %.1f M events",
		 (double)reading.total.events / 1e6);
	trial_run(&t);
	report_end(&peer);
	pagedet_free(reading.pd);
	return 0;
}

int compare_trace_report(int argc, char **argv)
{
	struct command report = { .argv = { "", "report", "-i", argv[0] } };
	struct command pagedet = { .argv = {
		command_pagedet(), "kmem", "report", argv[0], "--json", "-q"
	} };
	struct trial t = {
		.work = "trace.dat, whole process",
		.library = { "pagedet kmem report", command_run, &pagedet },
		.rounds = SLOW_ROUNDS, .faster = 50
	};

	if (argc != 1)
		return 64;
	report.argv[0] = command_peer("TRACE_CMD", &t.no_peer);
	if (report.argv[0])
		t.peer = (struct trial_side){ "trace-cmd report", command_run,
					      &report };
	trial_run(&t);
	return 0;
}

/* "Total bytes requested: 1,234" */
static uint64_t perf_requested(const char *perf, const char *file)
{
	static const char title[] = "Total bytes requested: ";
	char command[512], line[256];
	uint64_t n = 0;
	const char *at;
	FILE *f;

	snprintf(command, sizeof(command), "'%s' kmem -i '%s' stat 2>&1", perf,
		 file);
	f = popen(command, "r");
	if (!f)
		probe_die("cannot start %s", perf);
	while (fgets(line, sizeof(line), f)) {
		at = strstr(line, title);
		if (!at)
			continue;
		for (at += sizeof(title) - 1; *at; at++)
			if (*at >= '0' && *at <= '9')
				n = n * 10 + (uint64_t)(*at - '0');
	}
	pclose(f);
	return n;
}

int compare_trace_perf(int argc, char **argv)
{
	struct reading reading = { 0 };
	struct command stat = { .argv = { "", "kmem", "-i", argv[0], "stat" },
				.may_fail = true }; /* keeps it quiet */
	struct command pagedet = { .argv = {
		command_pagedet(), "kmem", "report", argv[0], "--json", "-q"
	}, .may_fail = true }; /* 2: the kernel has lost events */
	char work[96];
	struct trial t = {
		.work = work,
		.library = { "pagedet kmem report", command_run, &pagedet },
		.faster = 3.5
	};

	if (argc != 1)
		return 64;
	open_reading(&reading, argv[0]);
	read_trace(&reading, PAGEDET_ALLOC_FAMILY);
	stat.argv[0] = command_peer("PERF", &t.no_peer);
	if (stat.argv[0]) {
		t.peer = (struct trial_side){ "perf kmem stat", command_run,
					      &stat };
		compare_same("bytes requested", reading.objects,
			     perf_requested(stat.argv[0], argv[0]));
	}
	snprintf(work, sizeof(work), "perf.data, %.1f M events, whole process",
		 (double)reading.total.events / 1e6);
	trial_run(&t);
	command_run(&pagedet);
	if (pagedet.status > 2)
		probe_die("pagedet kmem report: status %d", pagedet.status);
	trial_value("memory used for it", (double)pagedet.rss_kib / 1024, "MiB",
		    64);
	pagedet_free(reading.pd);
	return 0;
}
