/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Two snapshots of all memory, and what changed: things happen in between. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compare.h"

/* What a program takes and gives back meanwhile. */
#define TAKEN ((size_t)256 << 20)

struct pair {
	struct drain side[2];
	uint64_t changes;
};

static void save(const char *path, const char *fields)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emitter *e;
	struct pagedet_iter *it;
	struct drain d;

	drain_open(&d);
	if (pagedet_fields_parse(d.pd, fields, &d.query) < 0)
		drain_die(&d, "pagedet_fields_parse");
	d.query.target = PAGEDET_TARGET_SCAN;
	d.query.threads = 2;
	o.format = PAGEDET_FORMAT_SNAPSHOT;
	o.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (o.fd < 0)
		probe_die("cannot write %s", path);
	if (pagedet_query(d.pd, &d.query, &it) < 0 ||
	    pagedet_emitter_new(d.pd, &o, &e) < 0 ||
	    pagedet_emit_all(e, it) < 0 || pagedet_emitter_finish(e) < 0)
		drain_die(&d, "cannot save");
	pagedet_emitter_free(e);
	pagedet_iter_free(it);
	close(o.fd);
	drain_close(&d);
}

static void happen(char **memory)
{
	if (*memory) {
		munmap(*memory, TAKEN);
		*memory = NULL;
		return;
	}
	*memory = mmap(NULL, TAKEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*memory == MAP_FAILED)
		probe_die("no memory");
	memset(*memory, 1, TAKEN);
}

static uint64_t read_both(void *arg)
{
	struct pair *p = arg;

	return drain_run(&p->side[0]) + drain_run(&p->side[1]);
}

static uint64_t compare(void *arg)
{
	static struct pagedet_change change[4096];
	struct pair *p = arg;
	uint64_t start = probe_ns();
	struct pagedet_iter *it[2];
	struct pagedet_diff *diff;
	int i, n;

	for (i = 0; i < 2; i++)
		if (pagedet_query(p->side[i].pd, &p->side[i].query, &it[i]) < 0)
			drain_die(&p->side[i], "pagedet_query");
	if (pagedet_diff(it[0], it[1], NULL, &diff) < 0)
		drain_die(&p->side[0], "pagedet_diff");
	p->changes = 0;
	while ((n = pagedet_diff_next(diff, change, NULL, NULL, 4096)) > 0)
		p->changes += (uint64_t)n;
	if (n < 0)
		drain_die(&p->side[0], "pagedet_diff_next");
	pagedet_diff_free(diff);
	for (i = 0; i < 2; i++)
		pagedet_iter_free(it[i]);
	return probe_ns() - start;
}

static void compare_pair(const char *const *path, const char *fields,
			 unsigned threads)
{
	struct pair p;
	char work[160];
	struct trial t = {
		.work = work,
		.bound = { "both read, thrown away", read_both, &p },
		.library = { "pagedet_diff", compare, &p },
	};
	int i;

	for (i = 0; i < 2; i++) {
		drain_open_from(&p.side[i], path[i], 0);
		p.side[i].query.target = PAGEDET_TARGET_SCAN;
		p.side[i].query.options = PAGEDET_Q_CHEAP;
		p.side[i].query.threads = threads;
		drain_run(&p.side[i]);
	}
	compare(&p);
	snprintf(work, sizeof(work), "%.1f M rows with %.1f M, %llu changes, "
		 "%s, %u thread%s", (double)p.side[0].rows / 1e6,
		 (double)p.side[1].rows / 1e6, (unsigned long long)p.changes,
		 fields, threads, threads > 1 ? "s" : "");
	t.most_ns = (double)p.side[0].rows * 0.3e9 / 6e6;
	trial_run(&t);
	for (i = 0; i < 2; i++)
		drain_close(&p.side[i]);
}

int compare_diff(int argc, char **argv)
{
	static const char *const fields[] = {
		"cheap", "pfn,kind,flags,mapcount,memcg_ino,head_pfn,order,"
		"node,zone",
	};
	const char *const path[2] = { argv[0], argc > 1 ? argv[1] : NULL };
	char *memory = NULL;
	size_t i;

	if (argc != 2)
		return 64;
	for (i = 0; i < PROBE_COUNT_OF(fields); i++) {
		save(path[0], fields[i]);
		happen(&memory);
		save(path[1], fields[i]);
		compare_pair(path, fields[i], 1);
		compare_pair(path, fields[i], 2);
	}
	if (memory)
		happen(&memory);
	unlink(path[0]);
	unlink(path[1]);
	return 0;
}
