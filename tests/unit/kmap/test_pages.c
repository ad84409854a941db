/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests what rows get of the accesses to objects. */
#include "kmap/pages.h"
#include "../unit.h"

static struct pdet_batch batch;

static void make_batch(void)
{
	static const uint8_t fields[] = {
		PAGEDET_FIELD_PFN, PAGEDET_FIELD_AT, PAGEDET_FIELD_READS,
		PAGEDET_FIELD_WRITES,
	};
	struct pdet_fields set = { { 0, 0 } };
	size_t i;

	for (i = 0; i < sizeof(fields); i++)
		pdet_fields_add(&set, fields[i]);
	ck_assert(pdet_batch_init(&batch, &set, 5, 4096));
	pdet_batch_clear(&batch, 1);
	ck_assert_int_eq(pdet_batch_grow(&batch, 5), 0);
}

static void has(uint32_t row, unsigned field, uint64_t value)
{
	ck_assert_uint_eq(batch.cell[field][row],
			  PDET_CELL(PAGEDET_HAVE, PAGEDET_SOURCE_TRACE));
	ck_assert_uint_eq(batch.value[field][row], value);
}

static unsigned state(uint32_t row)
{
	return pdet_batch_state(&batch, row, PAGEDET_FIELD_READS);
}

START_TEST(rows)
{
	struct pdet_kmap_pages k = { .list = { .n = 0 } };
	struct pdet_fields all = pdet_fields_all(), reads = { { 0, 0 } };

	ck_assert(pdet_kmap_pages_add(&k, 7, 3, UINT64_MAX - 1));
	ck_assert(pdet_kmap_pages_add(&k, 1ull << 52, 1, 1));
	ck_assert(pdet_kmap_pages_add(&k, 7, 4, 2));
	make_batch();
	pdet_put(&batch, 0, PAGEDET_FIELD_PFN, 7, PAGEDET_SOURCE_BPF);
	pdet_put(&batch, 1, PAGEDET_FIELD_PFN, 8, PAGEDET_SOURCE_BPF);
	pdet_put_none(&batch, 2, PAGEDET_FIELD_PFN, PAGEDET_SOURCE_BPF);
	pdet_put_lost(&batch, 3, PAGEDET_FIELD_PFN, PAGEDET_NO_ACCESS,
		      PAGEDET_SOURCE_PROCFS);
	/* A log tells of another time. */
	pdet_put(&batch, 4, PAGEDET_FIELD_PFN, 7, PAGEDET_SOURCE_LOG);
	pdet_put(&batch, 4, PAGEDET_FIELD_AT, PAGEDET_AT_LOG,
		 PAGEDET_SOURCE_LOG);

	pdet_kmap_pages_put(NULL, &batch, &all);
	ck_assert_uint_eq(state(0), PAGEDET_NOT_ASKED);
	pdet_fields_add(&reads, PAGEDET_FIELD_READS);
	pdet_kmap_pages_put(&k, &batch, &reads);
	has(0, PAGEDET_FIELD_READS, 7);
	ck_assert_uint_eq(pdet_batch_state(&batch, 0, PAGEDET_FIELD_WRITES),
			  PAGEDET_NOT_ASKED);
	pdet_kmap_pages_put(&k, &batch, &all);
	/* The sum of these does not begin again at 0. */
	has(0, PAGEDET_FIELD_WRITES, UINT64_MAX);
	ck_assert_uint_eq(state(1), PAGEDET_NONE);
	ck_assert_uint_eq(state(2), PAGEDET_NONE);
	ck_assert_uint_eq(state(3), PAGEDET_NO_ACCESS);
	ck_assert_uint_eq(state(4), PAGEDET_NOT_ASKED);
	pdet_batch_free(&batch);
	pdet_kmap_pages_end(&k);
}
END_TEST

START_TEST(fields)
{
	ck_assert(pdet_kmap_pages_is(PAGEDET_FIELD_READS));
	ck_assert(pdet_kmap_pages_is(PAGEDET_FIELD_WRITES));
	ck_assert(!pdet_kmap_pages_is(PAGEDET_FIELD_HEAT));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kmap pages");

	unit_test(s, rows);
	unit_test(s, fields);
	return unit_main(s);
}
