/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* All of memory into a file of rows, and out of it again. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare.h"

/* The question of a drain, with its rows into a file. */
struct saving {
	struct drain *d;
	const char *path;
	uint32_t format;
};

static uint64_t save(void *arg)
{
	const struct saving *s = arg;
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	uint64_t start = probe_ns();
	struct pagedet_emitter *e;
	struct pagedet_iter *it;

	o.format = s->format;
	o.fd = open(s->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (o.fd < 0)
		probe_die("cannot write %s", s->path);
	if (pagedet_query(s->d->pd, &s->d->query, &it) < 0 ||
	    pagedet_emitter_new(s->d->pd, &o, &e) < 0 ||
	    pagedet_emit_all(e, it) < 0 || pagedet_emitter_finish(e) < 0)
		drain_die(s->d, "cannot save");
	pagedet_emitter_free(e);
	pagedet_iter_free(it);
	close(o.fd);
	return probe_ns() - start;
}

static double bytes_of(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		probe_die("there is no %s", path);
	return (double)st.st_size;
}

/* Saves @fields of all memory; the file stays. */
static void compare_saving(const char *path, const char *fields)
{
	struct drain d;
	struct saving snapshot = { &d, path, PAGEDET_FORMAT_SNAPSHOT };
	struct saving json = { &d, path, PAGEDET_FORMAT_JSON };
	char work[128];
	struct trial t = {
		.work = work,
		.bound = { "the same rows, thrown away", drain_run, &d },
		.library = { "snapshot", save, &snapshot },
		.bound_most = 1.15, .rounds = TRIAL_TIGHT_ROUNDS,
	};
	double bytes;

	snprintf(work, sizeof(work), "snapshot of all memory, %s, 2 threads",
		 fields);
	drain_open(&d);
	if (pagedet_fields_parse(d.pd, fields, &d.query) < 0)
		drain_die(&d, "pagedet_fields_parse");
	d.query.target = PAGEDET_TARGET_SCAN;
	d.query.threads = 2;
	trial_run(&t);
	save(&json);
	bytes = bytes_of(path);
	save(&snapshot);
	snprintf(work, sizeof(work), "its bytes to those of JSON, %s", fields);
	trial_value(work, bytes_of(path) / bytes * 100, "%", 5);
	drain_close(&d);
}

/* All cheap fields of a machine: two of them are to be compared in 0.3 s. */
#define CHEAP_NS 100e6

/* All rows of it, all columns. */
static void compare_reading(const char *path, unsigned threads, double most_ns)
{
	struct drain d;
	char work[64];
	struct trial t = {
		.work = work,
		.library = { "pagedet_query", drain_run, &d },
	};

	drain_open_from(&d, path, 0);
	d.query.target = PAGEDET_TARGET_SCAN;
	d.query.options = PAGEDET_Q_CHEAP;
	d.query.threads = threads;
	drain_run(&d);
	snprintf(work, sizeof(work), "%.1f M rows out of it, %u thread%s",
		 (double)d.rows / 1e6, threads, threads > 1 ? "s" : "");
	t.most_ns = most_ns;
	trial_run(&t);
	drain_close(&d);
}

/* --- many rows --- */

/* One command: its time, and the most memory that it had. */
static void measure_command(const char *name, struct command *c)
{
	char work[128];
	const double ns = (double)command_run(c);

	snprintf(work, sizeof(work), "%s: time", name);
	trial_value(work, ns / 1e9, "s", 0);
	snprintf(work, sizeof(work), "%s: memory used", name);
	trial_value(work, (double)c->rss_kib / 1024, "MiB", 64);
}

/* The last line of @path is the sum of @rows pages. */
static void check_total(const char *path, const char *rows)
{
	char line[1024] = "", wanted[64];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		;
	if (f)
		fclose(f);
	snprintf(wanted, sizeof(wanted), "{\"total\":{\"pages\":%s,", rows);
	if (strncmp(line, wanted, strlen(wanted)))
		probe_die("%s pages were saved, and the sum of those that are "
			  "read is %s", rows, line);
}

int compare_rows(int argc, char **argv)
{
	struct command save = { .argv = { command_pagedet(), "snapshot" } };
	struct command sum = { .argv = { save.argv[0], "--from" } };
	struct command few = { .argv = { save.argv[0], "--from" } };
	char file[4096], out[4096], midst[64];
	uint64_t middle;

	if (argc != 2)
		return 64;
	middle = strtoull(argv[1], NULL, 10) / 2;
	snprintf(file, sizeof(file), "%s/snapshot", argv[0]);
	snprintf(out, sizeof(out), "%s/sums", argv[0]);
	save.argv[2] = sum.argv[2] = few.argv[2] = file;
	save.argv[3] = "--root";
	save.argv[4] = argv[0];
	save.argv[5] = "--fields";
	save.argv[6] = "pfn,kind,flags,mapcount";
	measure_command("written", &save);
	trial_value("bytes of it", bytes_of(file) / (1 << 20), "MiB", 0);
	sum.argv[3] = few.argv[3] = "scan";
	sum.argv[4] = "--by";
	sum.argv[5] = "kind";
	sum.argv[6] = few.argv[6] = "--json";
	sum.out = out;
	measure_command("read, by kind", &sum);
	check_total(out, argv[1]);
	few.argv[4] = "--where";
	snprintf(midst, sizeof(midst), "pfn>=%llu and pfn<%llu",
		 (unsigned long long)middle, (unsigned long long)middle + 10);
	few.argv[5] = midst;
	measure_command("read, ten in its midst", &few);
	few.argv[5] = "mapcount=3 and kind=anon and flags:dirty";
	few.may_fail = true;
	measure_command("read, all looked at and none listed", &few);
	unlink(file);
	unlink(out);
	return 0;
}

int compare_snapshot(int argc, char **argv)
{
	if (argc != 1)
		return 64;
	compare_saving(argv[0], "cheap");
	compare_reading(argv[0], 1, CHEAP_NS);
	compare_reading(argv[0], 2, CHEAP_NS);
	compare_saving(argv[0], "pfn,kind,flags,mapcount,memcg_ino,head_pfn,"
				"order,node,zone");
	compare_reading(argv[0], 1, 0);
	compare_reading(argv[0], 2, 0);
	unlink(argv[0]);
	return 0;
}
