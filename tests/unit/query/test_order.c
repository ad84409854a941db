/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the first rows by a field: for rows in any batches, they equal the
 * begin of a sort of all rows.
 */
#include "base/env.h"
#include "query/group.h"
#include "query/order.h"
#include "../unit.h"

#define ROWS 5000
#define BATCH 300
#define VMCORE PAGEDET_SOURCE_VMCORE

struct row {
	uint64_t pfn;
	uint64_t maps;
	unsigned state;
};

static struct row rows[ROWS];

static unsigned rank(unsigned state)
{
	return state == PAGEDET_HAVE ? 0 : state == PAGEDET_NONE ? 1 : 2;
}

static int sign;

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (rank(x->state) != rank(y->state))
		return rank(x->state) < rank(y->state) ? -1 : 1;
	if (x->state == PAGEDET_HAVE && x->maps != y->maps)
		return (int64_t)x->maps < (int64_t)y->maps ? -sign : sign;
	return x->pfn < y->pfn ? -1 : 1;
}

static struct pdet_fields fields(void)
{
	struct pdet_fields f = { { 0, 0 } };

	pdet_fields_add(&f, PAGEDET_FIELD_PFN);
	pdet_fields_add(&f, PAGEDET_FIELD_MAPCOUNT);
	pdet_fields_add(&f, PAGEDET_FIELD_PATH);
	return f;
}

static void fill(struct pdet_batch *b, uint32_t first)
{
	char text[32];
	uint32_t i;

	pdet_batch_clear(b, 1 + first);
	for (i = 0; i < BATCH && first + i < ROWS; i++) {
		const struct row *r = &rows[first + i];

		pdet_batch_grow(b, 1);
		snprintf(text, sizeof(text), "/%llu",
			 (unsigned long long)r->pfn);
		pdet_put(b, i, PAGEDET_FIELD_PFN, r->pfn, VMCORE);
		pdet_put_text(b, i, PAGEDET_FIELD_PATH, text, strlen(text),
			      VMCORE);
		if (r->state == PAGEDET_HAVE)
			pdet_put(b, i, PAGEDET_FIELD_MAPCOUNT, r->maps, VMCORE);
		else if (r->state == PAGEDET_NONE)
			pdet_put_none(b, i, PAGEDET_FIELD_MAPCOUNT, VMCORE);
		else
			pdet_put_lost(b, i, PAGEDET_FIELD_MAPCOUNT, r->state,
				      VMCORE);
	}
}

/* _i: number of rows, and the direction */
START_TEST(first_rows_are_those_of_a_sort)
{
	static const uint32_t wanted[] = { 1, 2, 7, 100, 299, 4999, 6000 };
	const uint32_t n = wanted[_i / 2];
	const struct pdet_fields f = fields();
	struct pdet_batch in, *out;
	struct pdet_order *o;
	uint64_t seed = 1;
	uint32_t i;

	/* Mapcounts of damaged pages are below zero. */
	sign = _i % 2 ? -1 : 1;
	for (i = 0; i < ROWS; i++) {
		const uint64_t dice = unit_random(&seed) % 10;

		rows[i].pfn = i;
		rows[i].maps = unit_random(&seed) % 50 - 25;
		rows[i].state = dice == 0 ? PAGEDET_NONE :
				dice == 1 ? PAGEDET_NO_ACCESS : PAGEDET_HAVE;
	}
	o = pdet_order_new(&f, PAGEDET_FIELD_MAPCOUNT, sign < 0, n, 1 << 20);
	ck_assert_ptr_nonnull(o);
	ck_assert(pdet_batch_init(&in, &f, BATCH, 1 << 20));
	for (i = 0; i < ROWS; i += BATCH) {
		fill(&in, i);
		pdet_order_add(o, &in);
	}
	out = pdet_order_take(o, 7);
	ck_assert_uint_eq(pdet_order_lost(o), 0);
	ck_assert_uint_eq(out->n, PDET_MIN(n, (uint32_t)ROWS));
	qsort(rows, ROWS, sizeof(*rows), compare);
	for (i = 0; i < out->n; i++) {
		const char *path;
		char text[32];

		if (out->value[PAGEDET_FIELD_PFN][i] != rows[i].pfn)
			ck_abort_msg("row %u is another", i);
		snprintf(text, sizeof(text), "/%llu",
			 (unsigned long long)rows[i].pfn);
		path = pdet_strtab_get(&out->strings,
				       out->value[PAGEDET_FIELD_PATH][i], NULL);
		if (!path || strcmp(path, text))
			ck_abort_msg("row %u has another text", i);
	}
	pdet_batch_free(&in);
	pdet_order_free(o);
}
END_TEST

/*
 * Texts of the wanted rows fit, but longer ones of other rows do not: worse
 * rows release their room. _i: by number or by the text, descending or
 * ascending
 */
START_TEST(texts_of_worse_rows_make_room)
{
	enum { WANTED = 10, LEN = 1000, LONG = 3000, IN = 200 };
	const struct pdet_fields f = fields();
	const bool down = _i & 2;
	const unsigned by = _i & 1 ? PAGEDET_FIELD_PATH :
				     PAGEDET_FIELD_MAPCOUNT;
	struct pdet_order *o = pdet_order_new(&f, by, down, WANTED,
					      WANTED * (LEN + 1));
	struct pdet_batch in, *out;
	uint32_t i, at, nth;
	char text[LONG];
	size_t len;

	ck_assert_ptr_nonnull(o);
	ck_assert(pdet_batch_init(&in, &f, IN, 1 << 20));
	pdet_batch_clear(&in, 1);
	pdet_batch_grow(&in, IN);
	memset(text, 'x', sizeof(text));
	/* 77, 154, 31 ... of 200: each once, with the best ones anywhere. */
	for (i = 0, at = 77; i < IN; i++, at = (at + 77) % IN) {
		snprintf(text, 8, "%07u", at);
		text[7] = 'x';
		pdet_put(&in, i, PAGEDET_FIELD_PFN, at, VMCORE);
		pdet_put(&in, i, PAGEDET_FIELD_MAPCOUNT, at, VMCORE);
		nth = down ? IN - 1 - at : at;
		pdet_put_text(&in, i, PAGEDET_FIELD_PATH, text,
			      nth < WANTED ? LEN : LONG, VMCORE);
	}
	pdet_order_add(o, &in);
	out = pdet_order_take(o, 7);
	ck_assert_uint_eq(pdet_order_lost(o), 0);
	ck_assert_uint_eq(out->n, WANTED);
	for (i = 0; i < WANTED; i++) {
		const char *path;

		nth = down ? IN - 1 - i : i;
		ck_assert_uint_eq(out->value[PAGEDET_FIELD_PFN][i], nth);
		ck_assert_uint_eq(pdet_batch_state(out, i, PAGEDET_FIELD_PATH),
				  PAGEDET_HAVE);
		path = pdet_strtab_get(&out->strings,
				       out->value[PAGEDET_FIELD_PATH][i], &len);
		ck_assert_ptr_nonnull(path);
		ck_assert_uint_eq(len, LEN);
		ck_assert_uint_eq(strtoul(path, NULL, 10), nth);
	}
	pdet_batch_free(&in);
	pdet_order_free(o);
}
END_TEST

/* If even those do not fit, losses are counted and the rows are right. */
START_TEST(texts_that_do_not_fit_are_lost)
{
	enum { WANTED = 10, LEN = 1000, IN = 100 };
	const struct pdet_fields f = fields();
	struct pdet_order *o = pdet_order_new(&f, PAGEDET_FIELD_MAPCOUNT, false,
					      WANTED, 5 * (LEN + 64));
	struct pdet_batch in, *out;
	uint64_t missing = 0;
	char text[LEN];
	uint32_t i;

	ck_assert_ptr_nonnull(o);
	ck_assert(pdet_batch_init(&in, &f, IN, 1 << 20));
	pdet_batch_clear(&in, 1);
	pdet_batch_grow(&in, IN);
	memset(text, 'x', sizeof(text));
	for (i = 0; i < IN; i++) {
		snprintf(text, 8, "%07u", i);
		text[7] = 'x';
		pdet_put(&in, i, PAGEDET_FIELD_PFN, i, VMCORE);
		pdet_put(&in, i, PAGEDET_FIELD_MAPCOUNT, IN - i, VMCORE);
		pdet_put_text(&in, i, PAGEDET_FIELD_PATH, text, LEN, VMCORE);
	}
	pdet_order_add(o, &in);
	out = pdet_order_take(o, 7);
	ck_assert_uint_eq(out->n, WANTED);
	for (i = 0; i < WANTED; i++) {
		const unsigned state = pdet_batch_state(out, i,
							PAGEDET_FIELD_PATH);

		ck_assert_uint_eq(out->value[PAGEDET_FIELD_PFN][i], IN - 1 - i);
		ck_assert(state == PAGEDET_HAVE || state == PAGEDET_NO_MEMORY);
		missing += state != PAGEDET_HAVE;
	}
	ck_assert_uint_gt(missing, 0);
	ck_assert_uint_eq(pdet_order_lost(o), missing);
	pdet_batch_free(&in);
	pdet_order_free(o);
}
END_TEST

/* _i: by pages or by the key, ascending or descending */
START_TEST(groups_come_in_the_order_asked)
{
	static const uint32_t key = PAGEDET_FIELD_MAPCOUNT;
	const unsigned by = _i / 2 ? PAGEDET_FIELD_PAGES : key;
	const bool down = _i % 2;
	struct pdet_group *g = pdet_group_new(&key, 1, 1 << 20);
	struct pdet_fields f = fields();
	struct pdet_batch b;
	uint64_t before = 0, now;
	uint32_t i;

	ck_assert_ptr_nonnull(g);
	pdet_fields_add(&f, PAGEDET_FIELD_PAGES);
	ck_assert(pdet_batch_init(&b, &f, 64, 1 << 16));
	pdet_batch_clear(&b, 1);
	pdet_batch_grow(&b, 50);
	for (i = 0; i < 50; i++) {
		pdet_put(&b, i, PAGEDET_FIELD_MAPCOUNT, i, VMCORE);
		pdet_put(&b, i, PAGEDET_FIELD_PAGES, (i * 7) % 50 + 1, VMCORE);
	}
	pdet_put_lost(&b, 20, PAGEDET_FIELD_MAPCOUNT, PAGEDET_RACED, VMCORE);
	ck_assert_int_eq(pdet_group_add(g, &b), 0);
	pdet_group_order(g, by, down);
	pdet_group_sort(g);
	for (i = 0; i < 50; i++) {
		pdet_batch_clear(&b, 1);
		pdet_batch_grow(&b, 1);
		pdet_group_get(g, i, &b, 0);
		if (by == key && i == 49) {
			/* Unknown values come last in both orders. */
			ck_assert_uint_eq(pdet_batch_state(&b, 0, key),
					  PAGEDET_RACED);
			break;
		}
		now = b.value[by][0];
		ck_assert(!i || (down ? now < before : now > before));
		before = now;
	}
	pdet_batch_free(&b);
	pdet_group_free(g);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("order");

	unit_loop(s, first_rows_are_those_of_a_sort, 14);
	unit_loop(s, texts_of_worse_rows_make_room, 4);
	unit_test(s, texts_that_do_not_fit_are_lost);
	unit_loop(s, groups_come_in_the_order_asked, 4);
	return unit_main(s);
}
