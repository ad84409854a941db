/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * memory-summary - what is all of memory used for?
 *
 * Teaches: grouping, where rows are groups and "pages" counts, and coverage,
 * which says whether the sum is about everything.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <pagedet.h>

static void say(const struct pagedet *pd, const char *what)
{
	fprintf(stderr, "memory-summary: %s: %s\n", what, pagedet_error(pd));
	if (*pagedet_advice(pd))
		fprintf(stderr, "memory-summary: hint: %s\n",
			pagedet_advice(pd));
}

static int print_groups(struct pagedet *pd, struct pagedet_iter *it,
			uint64_t page_size)
{
	struct pagedet_coverage c = { .size = sizeof(c) };
	struct pagedet_page rows[32];
	char kind[32];
	int n, i;

	printf("%-10s %12s %12s\n", "kind", "pages", "MiB");
	while ((n = pagedet_next(it, rows, 32)) > 0) {
		for (i = 0; i < n; i++) {
			/* "?" for pages whose kind could not be known */
			pagedet_format(it, &rows[i], PAGEDET_FIELD_KIND, kind,
				       sizeof(kind));
			printf("%-10s %12" PRIu64 " %12.1f\n", kind,
			       rows[i].pages,
			       (double)rows[i].pages * (double)page_size /
			       (1 << 20));
		}
	}
	if (n < 0) {
		say(pd, "stopped");
		return 1;
	}
	if (pagedet_coverage(it, &c)) {
		say(pd, "no coverage");
		return 1;
	}
	printf("%" PRIu64 " pages looked at, %" PRIu64 " without memory%s\n",
	       c.visited, c.skipped,
	       c.complete ? "" : "; more could not be looked at");
	return 0;
}

static int run(struct pagedet *pd)
{
	static const uint32_t by[] = { PAGEDET_FIELD_KIND };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_info info = { .size = sizeof(info) };
	struct pagedet_iter *it;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r;

	if (pagedet_open(pd, NULL) || pagedet_info(pd, &info)) {
		say(pd, "cannot open the running kernel");
		return 1;
	}
	q.target = PAGEDET_TARGET_SCAN;
	q.group_by = by;
	q.n_group_by = 1;
	q.threads = cpus > 0 ? (uint32_t)cpus : 1;
	r = pagedet_query(pd, &q, &it);
	if (r == -EACCES) {
		/* Not a failure of this program: an answer, with advice. */
		say(pd, "not for this user");
		return 0;
	}
	if (r) {
		say(pd, "cannot look at memory");
		return 1;
	}
	r = print_groups(pd, it, info.page_size);
	pagedet_iter_free(it);
	return r;
}

int main(void)
{
	struct pagedet *pd = pagedet_new();
	int r;

	if (!pd) {
		fprintf(stderr, "memory-summary: out of memory\n");
		return 1;
	}
	r = run(pd);
	pagedet_free(pd);
	return r;
}
