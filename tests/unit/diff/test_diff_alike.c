/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests comparisons of two snapshots that leave out equal rows: the changes
 * must be the same as with all rows, which a filter enforces.
 */
#define SAVED_ROWS 40000

#include <errno.h>

#include "api/diff.h"
#include "base/hash.h"
#include "diff/diff.h"
#include "../saved.h"

/* Rows per block. */
#define BLOCK ((uint32_t)PDET_SNAPSHOT_ROWS_PER_BLOCK)

#define FIELDS F(PFN), F(KIND), F(FLAGS), F(FLAGS_KNOWN), F(MAPCOUNT), \
	F(MAPCOUNT_KIND), F(MEMCG_INO), F(HEAD_PFN), F(ORDER), F(NODE), \
	F(ALLOC_COMM), F(DEV), F(INODE), F(INDEX), F(REFCOUNT), F(NOTES), \
	F(TIME_NS)

static const unsigned fields[] = { FIELDS };
static struct saved was, now;

static void begin(void)
{
	saved_new(&was, PAGEDET_TARGET_SCAN, FIELDS, -1);
	saved_new(&now, PAGEDET_TARGET_SCAN, FIELDS, -1);
}

static void clean(void)
{
	saved_free(&was);
	saved_free(&now);
}

/* --- rows --- */

static void put(struct saved *s, uint32_t row, unsigned f, uint64_t r)
{
	static const unsigned reasons[] = { PAGEDET_RACED, PAGEDET_NO_ACCESS,
					    PAGEDET_UNSUPPORTED };
	static const char *const names[] = { "init", "cat", "a", "kswapd0" };

	switch (r >> 8 & 15) {
	case 0:
		pdet_put_lost(&s->b, row, f, reasons[r % 3],
			      PAGEDET_SOURCE_PROCFS);
		return;
	case 1:
		pdet_put_none(&s->b, row, f, PAGEDET_SOURCE_PROCFS);
		/* A value without a meaning may be anything. */
		s->b.value[f][row] = f == F(ALLOC_COMM) ? 0 : r >> 40;
		return;
	default:
		break;
	}
	switch (f) {
	case F(ALLOC_COMM):
		saved_text(s, row, f, names[r >> 16 & 3]);
		break;
	case F(KIND):
		saved_set(s, row, f, r >> 16 & 7);
		break;
	case F(FLAGS_KNOWN):
		saved_set(s, row, f, r >> 16 & 3 ? 0xffff : r >> 16 & 0xf0);
		break;
	case F(MAPCOUNT_KIND):
		saved_set(s, row, f, PAGEDET_MAPCOUNT_EXACT + (r >> 16 & 1));
		break;
	case F(HEAD_PFN):
	case F(INDEX):
		saved_set(s, row, f, (r >> 16 & 0xff) + row);
		break;
	case F(NOTES):
		saved_set(s, row, f, r >> 16 & 7 ? 0 : r >> 24 & 0x1f);
		break;
	case F(TIME_NS):
		saved_set(s, row, f, r >> 12);
		break;
	default:
		saved_set(s, row, f, r >> 16 & 3);
		break;
	}
}

/* Makes runs of each field, and holes between frames. */
static void fill(struct saved *s, uint32_t rows, uint64_t seed)
{
	uint64_t said[PDET_FIELDS] = { 0 }, pfn = 1;
	uint32_t left[PDET_FIELDS] = { 0 }, i, row;
	unsigned k;

	for (i = 0; i < rows; i++) {
		const uint64_t r = unit_random(&seed);

		pfn += r % 1000 ? 1 : 1 + (r >> 32 & 0xff);
		row = saved_row(s);
		saved_set(s, row, F(PFN), pfn);
		for (k = 1; k < PDET_COUNT(fields); k++) {
			const unsigned f = fields[k];

			if (!left[f]--) {
				said[f] = unit_random(&seed);
				left[f] = said[f] >> 50 & 0xff;
			}
			put(s, row, f, said[f]);
		}
	}
}

/* Gives every field an answer that can be compared, in each row. */
static void settle(struct saved *s)
{
	uint32_t row;
	unsigned k;

	for (row = 0; row < s->b.n; row++) {
		for (k = 1; k < PDET_COUNT(fields); k++)
			if (pdet_batch_state(&s->b, row, fields[k]) !=
			    PAGEDET_HAVE)
				pdet_put_none(&s->b, row, fields[k],
					      PAGEDET_SOURCE_PROCFS);
		saved_set(s, row, F(FLAGS_KNOWN), 0xffff);
		saved_set(s, row, F(MAPCOUNT_KIND), PAGEDET_MAPCOUNT_EXACT);
		saved_set(s, row, F(NOTES), 0);
		saved_set(s, row, F(MAPCOUNT), row / 300 & 3);
		saved_set(s, row, F(REFCOUNT), row / 100);
	}
}

/* Changes some fields of some rows, up to @most of a run. */
static void edit(struct saved *s, unsigned edits, unsigned most, uint64_t seed)
{
	unsigned i;

	for (i = 0; i < edits; i++) {
		const uint64_t r = unit_random(&seed);
		const uint64_t value = unit_random(&seed);
		const unsigned f = fields[1 + (r >> 48) %
					      (PDET_COUNT(fields) - 1)];
		uint32_t row = (uint32_t)(r % s->b.n), n = r >> 32 & 0xffff;

		for (n %= most; row < s->b.n; row++) {
			put(s, row, f, value);
			if (!n--)
				break;
		}
	}
}

/* Removes rows from one side. */
static void drop(struct saved *s, uint32_t first, uint32_t n)
{
	uint8_t *keep = malloc(s->b.n);

	memset(keep, 1, s->b.n);
	memset(keep + first, 0, n);
	pdet_batch_keep(&s->b, keep);
	free(keep);
}

/* Rewrites values without a meaning: the same rows in other bytes. */
static void write_otherwise(struct saved *s, uint64_t seed)
{
	uint32_t row;
	unsigned k;

	for (k = 1; k < PDET_COUNT(fields); k++)
		for (row = 0; row < s->b.n; row++)
			if (pdet_batch_state(&s->b, row, fields[k]) !=
				    PAGEDET_HAVE &&
			    fields[k] != F(ALLOC_COMM))
				s->b.value[fields[k]][row] =
					unit_random(&seed);
}

/* --- both ways --- */

struct result {
	uint64_t hash;		/* of all changes and their rows */
	uint64_t changes;
	struct pagedet_diff_totals totals;
	struct pagedet_coverage coverage[2];
	bool all_made;
	uint64_t made[2];	/* for each side: whether it was complete */
	int r;
};

static void ask(struct saved *s, const char *where, unsigned threads)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;

	if (!s->pd)
		saved_ask(s, NULL);
	pagedet_iter_free(s->it);
	s->it = NULL;
	q.target = PAGEDET_TARGET_SCAN;
	q.options = PAGEDET_Q_CHEAP;
	q.where = where;
	q.threads = threads;
	ck_assert_int_eq(pagedet_query(s->pd, &q, &s->it), 0);
}

/* Ids of texts differ each time. */
static uint64_t of_row(const struct pagedet_diff *diff, unsigned side,
		       struct pagedet_page *row)
{
	size_t len = 0;
	const char *text = pagedet_diff_string(diff, side, row->alloc_comm,
					       &len);

	row->alloc_comm = text ? pdet_hash(text, len) : 0;
	return pdet_hash(row, sizeof(*row));
}

static void compare(const char *where, unsigned threads, struct result *ret)
{
	static struct pagedet_change change[64];
	static struct pagedet_page before[64], after[64];
	struct pagedet_diff *diff;
	unsigned i;
	int n;

	memset(ret, 0, sizeof(*ret));
	ask(&was, where, threads);
	ask(&now, where, threads);
	ck_assert_int_eq(pagedet_diff(was.it, now.it, NULL, &diff), 0);
	while ((n = pagedet_diff_next(diff, change, before, after, 64)) > 0) {
		for (i = 0; i < (unsigned)n; i++) {
			const uint64_t chain[] = {
				ret->hash,
				pdet_hash(&change[i], sizeof(*change)),
				of_row(diff, 0, &before[i]),
				of_row(diff, 1, &after[i]),
			};

			ret->hash = pdet_hash(chain, sizeof(chain));
		}
		ret->changes += (unsigned)n;
	}
	ret->r = n;
	ret->totals.size = sizeof(ret->totals);
	ck_assert_int_eq(pagedet_diff_totals(diff, &ret->totals), 0);
	ret->all_made = !diff->d->alike;
	for (i = 0; i < 2; i++) {
		ret->made[i] = diff->d->side[i].next;
		ret->coverage[i].size = sizeof(ret->coverage[i]);
		ck_assert_int_eq(pagedet_coverage(i ? now.it : was.it,
						  &ret->coverage[i]), 0);
		/* Only one way has a filter. */
		ck_assert_uint_eq(ret->coverage[i].matched,
				  where ? ret->coverage[i].rows : 0);
		ret->coverage[i].matched = 0;
	}
	pagedet_diff_free(diff);
}

/* Checks that leaving out rows changes nothing. Returns the result. */
static struct result same_both_ways(void)
{
	struct result want, got;
	unsigned threads;

	compare("pfn>=0", 1, &want);
	ck_assert(want.all_made && want.r == 0);
	for (threads = 1; threads <= 3; threads++) {
		compare(NULL, threads, &got);
		ck_assert(!got.all_made);
		ck_assert_int_eq(got.r, 0);
		ck_assert_uint_eq(got.changes, want.changes);
		ck_assert_uint_eq(got.hash, want.hash);
		ck_assert_mem_eq(&got.totals, &want.totals,
				 sizeof(want.totals));
		ck_assert_mem_eq(got.coverage, want.coverage,
				 sizeof(want.coverage));
	}
	return got;
}

START_TEST(nothing_changed)
{
	struct result r;

	begin();
	fill(&was, 2 * BLOCK + 77, 1 + (uint64_t)_i);
	fill(&now, 2 * BLOCK + 77, 1 + (uint64_t)_i);
	/* No row has to give a reason, and no row is torn. */
	if (_i == 0) {
		settle(&was);
		settle(&now);
	}
	r = same_both_ways();
	ck_assert_uint_eq(r.changes, 0);
	ck_assert_uint_eq(r.totals.compared, was.b.n);
	if (_i == 0)
		ck_assert(!r.made[0] && !r.made[1]);
	clean();
}
END_TEST

START_TEST(one_row_changed)
{
	const uint32_t at[] = { 0, 1, BLOCK - 1, BLOCK, BLOCK + 5000,
				2 * BLOCK + 76 };
	const uint32_t row = at[_i];
	struct result r;
	uint64_t pfn;

	begin();
	fill(&was, 2 * BLOCK + 77, 5);
	fill(&now, 2 * BLOCK + 77, 5);
	settle(&was);
	settle(&now);
	now.b.value[F(REFCOUNT)][row] += 1;
	pfn = now.b.value[F(PFN)][row];
	r = same_both_ways();
	ck_assert_uint_eq(r.changes, 1);
	ck_assert_uint_eq(r.made[0], pfn + 1);
	ck_assert_uint_eq(r.made[1], pfn + 1);
	clean();
}
END_TEST

/* From few and short edits to many and long ones. */
START_TEST(some_changed)
{
	static const unsigned edits[] = { 3, 30, 300, 3000 };
	const uint64_t seed = 11 + (uint64_t)_i;

	begin();
	fill(&was, 2 * BLOCK + 77, seed);
	fill(&now, 2 * BLOCK + 77, seed);
	edit(&now, edits[_i % 4], _i & 4 ? 2000 : 4, seed);
	write_otherwise(&now, seed);
	ck_assert_uint_gt(same_both_ways().changes, 0);
	clean();
}
END_TEST

/* After rows of one side, blocks no longer have the same frames. */
START_TEST(some_are_of_one_side)
{
	const uint32_t at[] = { 0, 100, BLOCK - 1, BLOCK, 2 * BLOCK + 70 };
	struct saved *s = _i & 1 ? &was : &now;

	begin();
	fill(&was, 2 * BLOCK + 77, 21);
	fill(&now, 2 * BLOCK + 77, 21);
	edit(&now, 50, 20, 21);
	drop(s, at[_i / 2], 1 + (uint32_t)_i % 5);
	same_both_ways();
	clean();
}
END_TEST

/* The same number of rows, with different frames. */
START_TEST(a_block_has_other_frames)
{
	uint32_t row;
	unsigned k;

	begin();
	fill(&was, 2 * BLOCK, 31);
	fill(&now, 2 * BLOCK, 31);
	/*
	 * The first and the last are equal; in the second case all others are
	 * nothing.
	 */
	for (row = 0; _i && row < was.b.n; row++)
		for (k = 1; k < PDET_COUNT(fields); k++) {
			pdet_put_none(&was.b, row, fields[k],
				      PAGEDET_SOURCE_PROCFS);
			pdet_put_none(&now.b, row, fields[k],
				      PAGEDET_SOURCE_PROCFS);
		}
	drop(&was, 4000, 1);
	drop(&now, 3000 + (uint32_t)_i, 1);
	same_both_ways();
	clean();
}
END_TEST

/* A run of increasing values, and one of constant values. */
START_TEST(values_go_up)
{
	uint32_t row;

	begin();
	fill(&was, BLOCK + 77, 71);
	fill(&now, BLOCK + 77, 71);
	settle(&was);
	settle(&now);
	for (row = 0; row < was.b.n; row++) {
		saved_set(&was, row, F(HEAD_PFN), row);
		saved_set(&now, row, F(HEAD_PFN), row % 1000 < 500 ? row + 7 :
			  row - row % 1000 + 500);
	}
	ck_assert_uint_eq(same_both_ways().changes, 999 * 16 + 461);
	clean();
}
END_TEST

/* Rows that cannot be compared have a reason even before they are read. */
START_TEST(half_of_it_has_reasons)
{
	struct pagedet_diff_totals t = { .size = sizeof(t) };
	struct pagedet_page before, after;
	struct pagedet_change change;
	struct pagedet_diff *diff;
	uint32_t row;

	begin();
	fill(&was, 2 * BLOCK + 77, 81);
	fill(&now, 2 * BLOCK + 77, 81);
	settle(&was);
	settle(&now);
	for (row = BLOCK / 2; row < was.b.n; row++)
		saved_lost(&was, row, F(ORDER));
	for (row = 0; row < BLOCK / 2; row++)
		saved_set(&now, row, F(REFCOUNT), row + 1);
	ask(&was, NULL, 1);
	ask(&now, NULL, 1);
	ck_assert_int_eq(pagedet_diff(was.it, now.it, NULL, &diff), 0);
	ck_assert_int_eq(pagedet_diff_next(diff, &change, &before, &after, 1),
			 1);
	ck_assert_int_eq(pagedet_diff_totals(diff, &t), 0);
	ck_assert_uint_gt(t.undecided_in[F(ORDER)], 0);
	ck_assert_uint_eq(t.why[F(ORDER)], PAGEDET_RACED);
	pagedet_diff_free(diff);
	clean();
}
END_TEST

/* Nothing of a field can be compared. */
START_TEST(a_field_is_of_none)
{
	begin();
	fill(&was, BLOCK + 77, 41);
	fill(&now, BLOCK + 77, 41);
	edit(&now, 20, 20, 41);
	was.about.field[F(ORDER)].why = PAGEDET_NO_ACCESS;
	ck_assert_uint_eq(same_both_ways().totals.why[F(ORDER)],
			  PAGEDET_NO_ACCESS);
	clean();
}
END_TEST

/* Counts without their kind are comparable if both have one source. */
START_TEST(counts_of_no_kind)
{
	struct result r;
	uint32_t row;

	begin();
	fill(&was, BLOCK + 77, 51);
	fill(&now, BLOCK + 77, 51);
	settle(&was);
	settle(&now);
	for (row = 0; row < was.b.n; row++) {
		saved_lost(&was, row, F(MAPCOUNT_KIND));
		saved_lost(&now, row, F(MAPCOUNT_KIND));
	}
	if (_i)
		now.about.field[F(MAPCOUNT)].sources =
			PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_KCORE);
	r = same_both_ways();
	ck_assert_uint_eq(r.totals.undecided_in[F(MAPCOUNT)],
			  _i ? was.b.n : 0);
	ck_assert_int_eq(r.made[0] == 0, !_i);
	clean();
}
END_TEST

/* Rows are not at the claimed places, which must be detected as before. */
START_TEST(frames_that_do_not_ascend)
{
	struct result r;

	begin();
	fill(&was, 2 * BLOCK + 77, 61);
	fill(&now, 2 * BLOCK + 77, 61);
	now.b.value[F(PFN)][BLOCK + 10] = 3;
	compare(NULL, 1, &r);
	ck_assert_int_eq(r.r, -EBADMSG);
	ck_assert_uint_eq(r.totals.complete, 0);
	clean();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("diff_alike");

	unit_loop(s, nothing_changed, 3);
	unit_loop(s, one_row_changed, 6);
	unit_loop(s, some_changed, 8);
	unit_loop(s, some_are_of_one_side, 10);
	unit_loop(s, a_block_has_other_frames, 2);
	unit_test(s, values_go_up);
	unit_test(s, half_of_it_has_reasons);
	unit_test(s, a_field_is_of_none);
	unit_loop(s, counts_of_no_kind, 2);
	unit_test(s, frames_that_do_not_ascend);
	return unit_main(s);
}
