/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Makes two snapshots, compares them, and keeps the result. */
#ifndef TESTS_DIFFERING_H
#define TESTS_DIFFERING_H

#include "saved.h"

#define NONE UINT64_MAX
#define BIT(name) (1u << PAGEDET_CHANGE_##name)
#define ANON PAGEDET_KIND_ANON
#define FREE PAGEDET_KIND_FREE
#define FILE_KIND PAGEDET_KIND_FILE

static struct saved was, now;
static struct pagedet_diff *diff;
static struct pagedet_diff_totals totals;
static struct pagedet_change change[2 * SAVED_ROWS];
static struct pagedet_page before[2 * SAVED_ROWS], after[2 * SAVED_ROWS];
static char names[2][32];	/* alloc_comm of the last change */
static int n;

static inline void clean(void)
{
	pagedet_diff_free(diff);
	diff = NULL;
	saved_free(&was);
	saved_free(&now);
}

static inline void keep_names(void)
{
	const struct pagedet_page *row[2] = { before + n - 1, after + n - 1 };
	const char *text;
	unsigned i;

	for (i = 0; i < 2; i++) {
		text = pagedet_diff_string(diff, i, row[i]->alloc_comm, NULL);
		snprintf(names[i], sizeof(names[i]), "%s", text ? text : "");
	}
}

/* Compares them; @result is the expected result. */
static inline void compare_with(const struct pagedet_diff_options *o,
				int result)
{
	int r;

	n = 0;
	if (!was.it)
		saved_ask(&was, NULL);
	if (!now.it)
		saved_ask(&now, NULL);
	r = pagedet_diff(was.it, now.it, o, &diff);
	while (r == 0 && (r = pagedet_diff_next(diff, change + n, before + n,
						after + n, 3)) > 0) {
		n += r;
		r = 0;
		keep_names();
		ck_assert_int_lt(n, 2 * SAVED_ROWS - 3);
	}
	ck_assert_msg(r == result, "%d is not %d: %s", r, result,
		      pagedet_error(was.pd));
	totals.size = sizeof(totals);
	if (diff)
		ck_assert_int_eq(pagedet_diff_totals(diff, &totals), 0);
}

static inline void compare(void)
{
	compare_with(NULL, 0);
	ck_assert_uint_eq(totals.complete, 1);
}

#define SCAN_FIELDS F(PFN), F(KIND), F(FLAGS), F(FLAGS_KNOWN), F(MAPCOUNT), \
	F(MAPCOUNT_KIND), F(MEMCG_INO), F(ORDER), F(DEV), F(INODE), F(INDEX), \
	F(ALLOC_NS), F(ALLOC_COMM), F(HASH), F(CONTENT), F(REFCOUNT), -1

static inline uint32_t page(struct saved *s, uint64_t pfn, uint64_t kind)
{
	const uint32_t row = saved_row(s);

	saved_set(s, row, F(PFN), pfn);
	saved_set(s, row, F(KIND), kind);
	saved_set(s, row, F(FLAGS), 0x10);
	saved_set(s, row, F(FLAGS_KNOWN), 0xff);
	saved_set(s, row, F(MAPCOUNT), 1);
	saved_set(s, row, F(MAPCOUNT_KIND), PAGEDET_MAPCOUNT_EXACT);
	saved_set(s, row, F(MEMCG_INO), 45);
	saved_set(s, row, F(ORDER), 0);
	saved_set(s, row, F(REFCOUNT), 1);
	return row;
}

/* Makes two snapshots with one page each, for a test to change. */
static inline void begin(uint64_t kind_was, uint64_t kind_now)
{
	clean();
	saved_new(&was, PAGEDET_TARGET_SCAN, SCAN_FIELDS);
	saved_new(&now, PAGEDET_TARGET_SCAN, SCAN_FIELDS);
	if (kind_was != NONE)
		page(&was, 5, kind_was);
	if (kind_now != NONE)
		page(&now, 5, kind_now);
}

/* Sets pages 5 and 6 of @s: @kind at @at, the other is free. */
static inline void two(struct saved *s, uint64_t at, uint64_t kind,
		       uint64_t hash, const char *content)
{
	uint64_t pfn;

	for (pfn = 5; pfn < 7; pfn++) {
		const uint32_t row = page(s, pfn, pfn == at ? kind : FREE);

		if (pfn != at)
			continue;
		saved_set(s, row, F(HASH), hash);
		saved_text(s, row, F(CONTENT), content);
		if (kind != FILE_KIND)
			continue;
		saved_set(s, row, F(DEV), 1);
		saved_set(s, row, F(INODE), 2);
		saved_set(s, row, F(INDEX), 3);
	}
}

static inline void extra(struct saved *s, uint64_t pfn, uint64_t hash)
{
	const uint32_t row = page(s, pfn, ANON);

	saved_set(s, row, F(HASH), hash);
	saved_text(s, row, F(CONTENT), "mixed");
}

#endif
