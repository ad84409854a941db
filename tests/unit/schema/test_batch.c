/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests columns and their cells, with single facts and a property: after any
 * sequence of puts, each cell has the state, source and value of a plain model.
 */
#include "schema/batch.h"
#include "../unit.h"

#define ROWS 64
#define PROCFS PAGEDET_SOURCE_PROCFS

struct cell {
	unsigned state;
	unsigned source;
	uint64_t value;
};

/* The expected contents of the batch. */
struct model {
	struct cell cell[PDET_FIELDS][ROWS];
	uint32_t n;
};

static struct pdet_batch batch;
static struct model model;

static struct pdet_fields some_fields(uint64_t *seed)
{
	struct pdet_fields f = pdet_fields_all();

	f.bits[0] &= unit_random(seed);
	return f;
}

/*
 * libcheck records every assertion, which is slower than the rest: a million of
 * them would take a minute.
 */
static bool is_as_modelled(unsigned f, uint32_t row)
{
	const struct cell *c = &model.cell[f][row];
	const uint16_t cell = batch.cell[f][row];
	const bool have = c->state == PAGEDET_HAVE;

	/* No value was written yet. */
	if (c->state != PAGEDET_NOT_ASKED && batch.value[f][row] != c->value)
		return false;
	return PAGEDET_CELL_STATE(cell) == c->state &&
	       PAGEDET_CELL_SOURCE(cell) == c->source &&
	       pdet_batch_state(&batch, row, f) == c->state &&
	       pdet_batch_get(&batch, row, f, 77) == (have ? c->value : 77) &&
	       (have || !c->value);
}

static void ck_model(void)
{
	uint32_t row;
	unsigned f;

	ck_assert_uint_eq(batch.n, model.n);
	for (f = 0; f < PDET_FIELDS; f++) {
		if (!pdet_fields_has(&batch.have, f)) {
			ck_assert(!pdet_batch_has(&batch, f));
			ck_assert_uint_eq(pdet_batch_state(&batch, 0, f),
					  PAGEDET_NOT_ASKED);
			ck_assert_uint_eq(pdet_batch_get(&batch, 0, f, 77),
					  77);
			continue;
		}
		ck_assert(pdet_batch_has(&batch, f));
		for (row = 0; row < batch.n; row++)
			if (!is_as_modelled(f, row))
				ck_abort_msg("field %u of row %u is another",
					     f, row);
	}
}

static void set_model(unsigned f, uint32_t row, uint32_t n, unsigned state,
		      unsigned source, uint64_t value, uint64_t step)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		struct cell *c = &model.cell[f][row + i];

		c->state = state;
		c->source = source;
		c->value = value + step * i;
	}
}

static void put_something(uint64_t *seed, unsigned f, uint32_t row, uint32_t n)
{
	unsigned source = 1 + (unsigned)(unit_random(seed) % 9);
	unsigned reason = PAGEDET_UNSUPPORTED +
			  (unsigned)(unit_random(seed) % 15);
	uint64_t value = unit_random(seed);

	switch (unit_random(seed) % 8) {
	case 0:
		pdet_put(&batch, row, f, value, source);
		set_model(f, row, 1, PAGEDET_HAVE, source, value, 0);
		break;
	case 1:
		pdet_put_none(&batch, row, f, source);
		set_model(f, row, 1, PAGEDET_NONE, source, 0, 0);
		break;
	case 2:
		pdet_put_lost(&batch, row, f, reason, source);
		set_model(f, row, 1, reason, source, 0, 0);
		break;
	case 3:
		pdet_put_run(&batch, row, n, f, value, source);
		set_model(f, row, n, PAGEDET_HAVE, source, value, 0);
		break;
	case 4:
		pdet_put_none_run(&batch, row, n, f, source);
		set_model(f, row, n, PAGEDET_NONE, source, 0, 0);
		break;
	case 5:
		pdet_put_lost_run(&batch, row, n, f, reason, source);
		set_model(f, row, n, reason, source, 0, 0);
		break;
	case 6:
		pdet_put_series(&batch, row, n, f, value, source);
		set_model(f, row, n, PAGEDET_HAVE, source, value, 1);
		break;
	case 7:
		pdet_put_bits(&batch, row, f, value);
		if (model.cell[f][row].state == PAGEDET_HAVE)
			model.cell[f][row].value |= value;
		break;
	}
}

static void keep_some(uint64_t *seed)
{
	uint8_t keep[ROWS];
	uint32_t in, out = 0;
	unsigned f;

	for (in = 0; in < model.n; in++) {
		keep[in] = unit_random(seed) % 4 ? 3 : 0;
		if (!keep[in])
			continue;
		for (f = 0; f < PDET_FIELDS; f++)
			model.cell[f][out] = model.cell[f][in];
		out++;
	}
	pdet_batch_keep(&batch, keep);
	model.n = out;
}

static void grow_some(uint64_t *seed)
{
	uint32_t n = (uint32_t)(unit_random(seed) % 20);
	unsigned f;

	if (model.n + n > ROWS) {
		ck_assert_int_eq(pdet_batch_grow(&batch, n), -1);
		return;
	}
	ck_assert_int_eq(pdet_batch_grow(&batch, n), model.n);
	for (f = 0; f < PDET_FIELDS; f++)
		set_model(f, model.n, n, PAGEDET_NOT_ASKED, 0, 0, 0);
	model.n += n;
}

static void one_step(uint64_t *seed)
{
	uint32_t row, n;

	switch (unit_random(seed) % 16) {
	case 0:
		grow_some(seed);
		return;
	case 1:
		keep_some(seed);
		return;
	case 2:
		n = (uint32_t)(unit_random(seed) % (ROWS + 5));
		pdet_batch_cut(&batch, n);
		if (n < model.n)
			model.n = n;
		return;
	}
	if (!model.n)
		return;
	row = (uint32_t)(unit_random(seed) % model.n);
	n = (uint32_t)(unit_random(seed) % (model.n - row + 1));
	put_something(seed, (unsigned)(unit_random(seed) % PDET_FIELDS), row,
		      n);
}

START_TEST(cells_are_what_was_put_last)
{
	uint64_t seed = 88172645463325252u + (uint64_t)_i * 7919;
	struct pdet_fields fields = some_fields(&seed);
	unsigned step;

	memset(&model, 0, sizeof(model));
	ck_assert(pdet_batch_init(&batch, &fields, ROWS, 1000));
	grow_some(&seed);
	for (step = 0; step < 400; step++) {
		one_step(&seed);
		ck_model();
	}
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(without_columns_rows_still_count)
{
	struct pdet_fields none = { { 0, 0 } };

	ck_assert(pdet_batch_init(&batch, &none, 4, 10));
	ck_assert_int_eq(pdet_batch_grow(&batch, 3), 0);
	pdet_put(&batch, 0, PAGEDET_FIELD_PFN, 1, PROCFS);
	pdet_put_note(&batch, 0, PAGEDET_NOTE_TORN);
	pdet_put_text(&batch, 0, PAGEDET_FIELD_PATH, "x", 1, PROCFS);
	ck_assert_uint_eq(pdet_strtab_next(&batch.strings), 1);
	ck_assert_int_eq(pdet_batch_grow(&batch, 2), -1);
	ck_assert_int_eq(pdet_batch_grow(&batch, 1), 3);
	ck_assert_uint_eq(batch.n, 4);
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(grown_rows_are_not_asked)
{
	struct pdet_fields all = pdet_fields_all();
	unsigned f;

	ck_assert(pdet_batch_init(&batch, &all, 4, 10));
	pdet_batch_grow(&batch, 4);
	for (f = 0; f < PDET_FIELDS; f++)
		pdet_put_run(&batch, 0, 4, f, UINT64_MAX, PROCFS);
	pdet_batch_cut(&batch, 1);
	/* The same memory again. */
	ck_assert_int_eq(pdet_batch_grow(&batch, 3), 1);
	for (f = 0; f < PDET_FIELDS; f++) {
		ck_assert_uint_eq(batch.value[f][0], UINT64_MAX);
		ck_assert_uint_eq(batch.cell[f][3], 0);
		ck_assert_uint_eq(pdet_batch_get(&batch, 3, f, 7), 7);
	}
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(notes_add_up)
{
	struct pdet_fields all = pdet_fields_all();
	const unsigned f = PAGEDET_FIELD_NOTES;

	ck_assert(pdet_batch_init(&batch, &all, 2, 10));
	pdet_batch_grow(&batch, 2);
	pdet_put_note(&batch, 1, PAGEDET_NOTE_TORN);
	pdet_put_note(&batch, 1, PAGEDET_NOTE_STALE);
	pdet_put_note(&batch, 1, PAGEDET_NOTE_TORN);
	ck_assert_uint_eq(batch.value[f][1], PAGEDET_NOTE(PAGEDET_NOTE_TORN) |
			  PAGEDET_NOTE(PAGEDET_NOTE_STALE));
	ck_assert_uint_eq(batch.cell[f][1],
			  PDET_CELL(PAGEDET_HAVE, PAGEDET_SOURCE_DERIVED));
	ck_assert_uint_eq(batch.cell[f][0], 0);
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(text_past_the_bound_is_lost_not_wrong)
{
	struct pdet_fields all = pdet_fields_all();
	const unsigned f = PAGEDET_FIELD_PATH;

	ck_assert(pdet_batch_init(&batch, &all, 3, 8));
	pdet_batch_grow(&batch, 3);
	pdet_put_text(&batch, 0, f, "/short", 6, PROCFS);
	pdet_put_text(&batch, 1, f, "/too/long", 9, PROCFS);
	pdet_put_text(&batch, 2, f, "/short", 6, PROCFS);
	ck_assert_uint_eq(batch.cell[f][0], PDET_CELL(PAGEDET_HAVE, PROCFS));
	ck_assert_uint_eq(batch.cell[f][1],
			  PDET_CELL(PAGEDET_NO_MEMORY, PROCFS));
	ck_assert_uint_eq(batch.value[f][1], 0);
	ck_assert_uint_eq(batch.value[f][2], batch.value[f][0]);
	ck_assert_str_eq(pdet_strtab_get(&batch.strings, batch.value[f][0],
					 NULL), "/short");
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(clear_makes_ids_stale)
{
	struct pdet_fields all = pdet_fields_all();
	const unsigned f = PAGEDET_FIELD_COMM;
	uint64_t old;

	ck_assert(pdet_batch_init(&batch, &all, 1, 100));
	pdet_batch_grow(&batch, 1);
	pdet_put_text(&batch, 0, f, "old", 3, PROCFS);
	old = batch.value[f][0];
	pdet_batch_clear(&batch, pdet_strtab_next(&batch.strings));
	ck_assert_uint_eq(batch.n, 0);
	pdet_batch_grow(&batch, 1);
	pdet_put_text(&batch, 0, f, "new", 3, PROCFS);
	ck_assert_ptr_null(pdet_strtab_get(&batch.strings, old, NULL));
	ck_assert_uint_ne(batch.value[f][0], old);
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(copy_row_copies_what_both_have)
{
	struct pdet_fields few = { { 0, 0 } }, all = pdet_fields_all();
	struct pdet_batch from;

	pdet_fields_add(&few, PAGEDET_FIELD_PFN);
	ck_assert(pdet_batch_init(&from, &few, 2, 10));
	ck_assert(pdet_batch_init(&batch, &all, 2, 10));
	pdet_batch_grow(&from, 2);
	pdet_batch_grow(&batch, 2);
	pdet_put(&from, 1, PAGEDET_FIELD_PFN, 55, PROCFS);
	pdet_put(&batch, 0, PAGEDET_FIELD_NODE, 3, PROCFS);
	pdet_batch_copy_row(&batch, 0, &from, 1);
	ck_assert_uint_eq(pdet_batch_get(&batch, 0, PAGEDET_FIELD_PFN, 0), 55);
	ck_assert_uint_eq(pdet_batch_get(&batch, 0, PAGEDET_FIELD_NODE, 0), 3);
	ck_assert_uint_eq(pdet_batch_state(&batch, 1, PAGEDET_FIELD_PFN),
			  PAGEDET_NOT_ASKED);
	pdet_batch_free(&from);
	pdet_batch_free(&batch);
}
END_TEST

/* Makes rows of a series over the former contents of columns. */
static void make_bare(uint32_t cap, uint32_t n)
{
	struct pdet_fields some = { { 0, 0 } };

	pdet_fields_add(&some, PAGEDET_FIELD_PFN);
	pdet_fields_add(&some, PAGEDET_FIELD_PAGES);
	pdet_fields_add(&some, PAGEDET_FIELD_KIND);
	pdet_fields_add(&some, PAGEDET_FIELD_NODE);
	ck_assert(pdet_batch_init(&batch, &some, cap, 10));
	pdet_batch_grow(&batch, cap);
	pdet_put_run(&batch, 0, cap, PAGEDET_FIELD_NODE, 1, PROCFS);
	pdet_put_run(&batch, 0, cap, PAGEDET_FIELD_PFN, 1, PROCFS);
	pdet_batch_clear(&batch, 1);
	pdet_batch_series(&batch, n, 70, PROCFS);
}

START_TEST(a_bare_series_is_written_out)
{
	uint32_t row;

	make_bare(1000, 500);
	ck_assert(batch.series && batch.bare);
	/* More rows do so as well. */
	if (_i)
		ck_assert_int_eq(pdet_batch_grow(&batch, 3), 500);
	else
		pdet_batch_write_out(&batch);
	ck_assert(!batch.bare && batch.series == !_i);
	ck_assert_uint_eq(batch.n, _i ? 503 : 500);
	for (row = 0; row < 500; row++) {
		ck_assert_uint_eq(pdet_batch_get(&batch, row,
						 PAGEDET_FIELD_PFN, 0),
				  70 + row);
		ck_assert_uint_eq(pdet_batch_state(&batch, row,
						   PAGEDET_FIELD_NODE),
				  PAGEDET_NOT_ASKED);
	}
	pdet_batch_free(&batch);
}
END_TEST

START_TEST(a_bare_series_is_folded)
{
	struct pdet_fields written = { { 0, 0 } };
	uint32_t row;

	make_bare(1000, 500);
	pdet_fields_add(&written, PAGEDET_FIELD_KIND);
	for (row = 0; row < 2; row++) {
		batch.value[PAGEDET_FIELD_PFN][row] = 70 + row * 9;
		batch.value[PAGEDET_FIELD_PAGES][row] = row ? 491 : 9;
		pdet_put(&batch, row, PAGEDET_FIELD_KIND, row, PROCFS);
	}
	pdet_batch_folded(&batch, 2, &written, PROCFS);
	ck_assert(!batch.bare && !batch.series);
	ck_assert_uint_eq(batch.n, 2);
	for (row = 0; row < 2; row++) {
		ck_assert_uint_eq(pdet_batch_get(&batch, row,
						 PAGEDET_FIELD_PFN, 0),
				  70 + row * 9);
		ck_assert_uint_eq(pdet_batch_get(&batch, row,
						 PAGEDET_FIELD_PAGES, 0),
				  row ? 491 : 9);
		ck_assert_uint_eq(pdet_batch_get(&batch, row,
						 PAGEDET_FIELD_KIND, 7), row);
		ck_assert_uint_eq(pdet_batch_state(&batch, row,
						   PAGEDET_FIELD_NODE),
				  PAGEDET_NOT_ASKED);
	}
	pdet_batch_free(&batch);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("batch");

	unit_loop(s, cells_are_what_was_put_last, 40);
	unit_test(s, without_columns_rows_still_count);
	unit_test(s, grown_rows_are_not_asked);
	unit_test(s, notes_add_up);
	unit_test(s, text_past_the_bound_is_lost_not_wrong);
	unit_test(s, clear_makes_ids_stale);
	unit_test(s, copy_row_copies_what_both_have);
	unit_loop(s, a_bare_series_is_written_out, 2);
	unit_test(s, a_bare_series_is_folded);
	return unit_main(s);
}
