/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * memory-summary - what is all of memory used for?
 *
 *   memory-summary [--json] [ROOT]	/proc and /sys are read below ROOT
 *
 * Teaches: grouping, where rows are groups and "pages" is their size; an
 * emitter, which writes the same as JSON without rows; and coverage, which
 * tells whether the sum is complete.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pagedet.h>

/* Prints the error. Returns the exit status. */
static int failed(const struct pagedet *pd, int error, const char *what)
{
	fprintf(stderr, "memory-summary: %s: %s\n", what, pagedet_error(pd));
	if (*pagedet_advice(pd))
		fprintf(stderr, "memory-summary: hint: %s\n",
			pagedet_advice(pd));
	/* A missing privilege is an answer, not a failure of this program. */
	return error == -EACCES ? 0 : 1;
}

static int print_table(struct pagedet *pd, struct pagedet_iter *it)
{
	struct pagedet_info info = { .size = sizeof(info) };
	struct pagedet_page rows[32];
	char kind[32];
	int n, i, error;

	error = pagedet_info(pd, &info);
	if (error)
		return failed(pd, error, "cannot tell the size of a page");
	printf("%-10s %12s %12s\n", "kind", "pages", "MiB");
	while ((n = pagedet_next(it, rows, 32)) > 0) {
		for (i = 0; i < n; i++) {
			/* "?" for pages whose kind is not known. */
			pagedet_format(it, &rows[i], PAGEDET_FIELD_KIND, kind,
				       sizeof(kind));
			printf("%-10s %12" PRIu64 " %12.1f\n", kind,
			       rows[i].pages,
			       (double)rows[i].pages * (double)info.page_size /
			       (1 << 20));
		}
	}
	return n < 0 ? failed(pd, n, "stopped") : 0;
}

/* Writes one object per kind, then the total. */
static int print_json(struct pagedet *pd, struct pagedet_iter *it)
{
	struct pagedet_emit_options options = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emitter *out;
	int error, status = 0;

	options.format = PAGEDET_FORMAT_JSON;
	options.fd = STDOUT_FILENO;
	error = pagedet_emitter_new(pd, &options, &out);
	if (error)
		return failed(pd, error, "cannot write JSON");
	error = pagedet_emit_all(out, it);
	if (error)
		status = failed(pd, error, "stopped");
	/* Writes what was counted before a failure. */
	error = pagedet_emitter_finish(out);
	if (error) {
		fprintf(stderr, "memory-summary: cannot write: %s\n",
			strerror(-error));
		status = 1;
	}
	pagedet_emitter_free(out);
	return status;
}

/* Checks whether the sum is complete. */
static int check_coverage(struct pagedet *pd, struct pagedet_iter *it,
			  int json)
{
	struct pagedet_coverage c = { .size = sizeof(c) };
	int error = pagedet_coverage(it, &c);

	if (error)
		return failed(pd, error, "no coverage");
	if (!json)
		printf("%" PRIu64 " pages looked at, %" PRIu64
		       " without memory\n", c.visited, c.skipped);
	if (c.complete)
		return 0;
	fprintf(stderr, "memory-summary: %" PRIu64 " of %" PRIu64
		" pages could not be looked at\n", c.wanted - c.visited,
		c.wanted);
	return 1;
}

static int run(struct pagedet *pd, const char *root, int json)
{
	static const uint32_t by[] = { PAGEDET_FIELD_KIND };
	struct pagedet_options options = PAGEDET_OPTIONS_INIT;
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int error, status;

	options.root = root;
	error = pagedet_open(pd, &options);
	if (error)
		return failed(pd, error, "cannot open");
	q.target = PAGEDET_TARGET_SCAN;
	q.options = PAGEDET_Q_GROUP;
	q.group_by = by;
	q.n_group_by = 1;
	q.threads = cpus > 0 ? (uint32_t)cpus : 1;
	error = pagedet_query(pd, &q, &it);
	if (error)
		return failed(pd, error, "cannot look at memory");
	status = json ? print_json(pd, it) : print_table(pd, it);
	if (!status)
		status = check_coverage(pd, it, json);
	pagedet_iter_free(it);
	return status;
}

int main(int argc, char **argv)
{
	int json = argc > 1 && !strcmp(argv[1], "--json");
	const char *root = argv[1 + json];
	struct pagedet *pd;
	int r;

	if (argc > 2 + json || (root && *root == '-')) {
		fprintf(stderr, "usage: memory-summary [--json] [ROOT]\n");
		return 2;
	}
	pd = pagedet_new();
	if (!pd) {
		fprintf(stderr, "memory-summary: out of memory\n");
		return 1;
	}
	r = run(pd, root, json);
	pagedet_free(pd);
	return r;
}
