/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the kernel's own mappings of frames: each is found once, and every walk
 * ends.
 */
#include "kernel/address/kernel_maps.h"
#include "../../tables.h"

#define DIRECT 0xffff888000000000ull
#define VMALLOC 0xffffc90000000000ull
#define IMAGE 0xffffffff81000000ull

struct maps {
	struct physical *m;
	struct pdet_paging p;
	struct pdet_kernel_counts c;
	struct {
		uint64_t start, addr, size;
	} seen[64];
	unsigned n;
	uint64_t visits;
	unsigned end_at;
};

static struct maps *maps_new(bool arm64)
{
	struct maps *s = calloc(1, sizeof(*s));

	ck_assert_ptr_nonnull(s);
	s->m = physical_new(12);
	s->p = arm64 ? tables_arm64(4096, 48, 16) : tables_x86(4);
	physical_at(s->m, s->p.root);
	return s;
}

static void maps_free(struct maps *s)
{
	pdet_kernel_counts_free(&s->c);
	physical_free(s->m);
	free(s);
}

static uint64_t map(struct maps *s, uint64_t va, uint64_t addr, unsigned level)
{
	return tables_map(s->m, &s->p, s->p.root, va, level,
			  tables_page(&s->p, addr, level));
}

static int see(void *arg, const struct pdet_leaf *leaf)
{
	struct maps *s = arg;

	if (s->n < 64) {
		s->seen[s->n].start = leaf->start;
		s->seen[s->n].addr = leaf->addr;
		s->seen[s->n++].size = leaf->size;
	}
	return ++s->visits == s->end_at ? 7 : 0;
}

static int look(struct maps *s, bool *lost)
{
	const struct pdet_kernel_maps_visit visit = { see, s };

	s->n = 0;
	s->visits = 0;
	return pdet_kernel_maps_each(&s->m->reader, &s->p, &visit, lost);
}

static uint64_t count(struct maps *s, uint64_t pfn)
{
	return pdet_kernel_counts_of(&s->c, pfn);
}

static void counts(struct maps *s)
{
	pdet_kernel_counts_free(&s->c);
	ck_assert_int_eq(pdet_kernel_counts_read(&s->c, &s->m->reader, &s->p),
			 0);
}

START_TEST(each)
{
	struct maps *s = maps_new(_i);
	bool lost;

	/* The user half is not used here. */
	if (!_i)
		map(s, 0x00007f0000000000, 0x9000, 0);
	map(s, DIRECT, 0, 1);
	map(s, DIRECT + (2 << 20), 2 << 20, 1);
	map(s, VMALLOC, 0x5000, 0);
	map(s, VMALLOC + 0x3000, 0x7000, 0);
	map(s, IMAGE, 0, 1);
	ck_assert_int_eq(look(s, &lost), 0);
	ck_assert(!lost);
	ck_assert_uint_eq(s->n, 5);
	ck_assert_uint_eq(s->seen[0].start, DIRECT);
	ck_assert_uint_eq(s->seen[0].size, 2 << 20);
	ck_assert_uint_eq(s->seen[2].start, VMALLOC);
	ck_assert_uint_eq(s->seen[2].addr, 0x5000);
	ck_assert_uint_eq(s->seen[2].size, 4096);
	ck_assert_uint_eq(s->seen[4].start, IMAGE);
	s->end_at = 3;
	ck_assert_int_eq(look(s, &lost), 7);
	ck_assert_uint_eq(s->visits, 3);
	maps_free(s);
}
END_TEST

START_TEST(counted)
{
	struct maps *s = maps_new(_i);

	map(s, DIRECT, 0, 1);
	map(s, DIRECT + (2 << 20), 2 << 20, 1);
	map(s, VMALLOC, 0x5000, 0);
	map(s, VMALLOC + 0x1000, 0x6000, 0);
	map(s, VMALLOC + 0x3000, 0x5000, 0);
	map(s, IMAGE, 0, 1);
	counts(s);
	/* Contiguous mappings are one. */
	ck_assert_uint_eq(s->c.n, 4);
	ck_assert(!s->c.lost && !s->c.too_many);
	ck_assert_uint_eq(count(s, 0), 2);
	ck_assert_uint_eq(count(s, 4), 2);
	ck_assert_uint_eq(count(s, 5), 4);
	ck_assert_uint_eq(count(s, 6), 3);
	ck_assert_uint_eq(count(s, 7), 2);
	ck_assert_uint_eq(count(s, 511), 2);
	ck_assert_uint_eq(count(s, 512), 1);
	ck_assert_uint_eq(count(s, 1023), 1);
	ck_assert_uint_eq(count(s, 1024), 0);
	ck_assert_uint_eq(count(s, UINT64_MAX), 0);
	maps_free(s);
}
END_TEST

/*
 * A page that the kernel removed from the direct map has an entry but is not
 * mapped. set_direct_map_invalid_noflush() leaves it like this; other hardware
 * uses another form.
 */
START_TEST(taken_away)
{
	static const uint64_t entries[] = {
		0x800fffffffffc060, 0x800fffffffffc160, 0x00e8000000003f06,
	};
	struct maps *s = maps_new(_i == 2);
	uint64_t table, i;
	bool lost;

	for (i = 0; i < 8; i++)
		table = map(s, DIRECT + i * 4096, i * 4096, 0);
	physical_set(s->m, table, 3, entries[_i]);
	counts(s);
	ck_assert_uint_eq(count(s, 2), 1);
	ck_assert_uint_eq(count(s, 3), 0);
	ck_assert_uint_eq(count(s, 4), 1);
	ck_assert_int_eq(look(s, &lost), 0);
	ck_assert_uint_eq(s->n, 7);
	maps_free(s);
}
END_TEST

START_TEST(nothing)
{
	struct maps *s = maps_new(false);

	counts(s);
	ck_assert_uint_eq(s->c.n, 0);
	ck_assert_uint_eq(count(s, 5), 0);
	ck_assert(!s->c.lost);
	maps_free(s);
}
END_TEST

START_TEST(lost_tables)
{
	struct maps *s = maps_new(false);
	uint64_t table;
	bool lost;

	map(s, DIRECT, 0, 1);
	table = map(s, VMALLOC, 0x5000, 0);
	map(s, IMAGE, 0, 1);
	physical_fail(s->m, table, -ENODATA);
	ck_assert_int_eq(look(s, &lost), 0);
	ck_assert(lost);
	ck_assert_uint_eq(s->n, 2);
	counts(s);
	ck_assert(s->c.lost);
	ck_assert_uint_eq(count(s, 5), 2);
	maps_free(s);
}
END_TEST

/*
 * Cyclic tables: each is visited a limited number of times, and the result says
 * that there may be more.
 */
START_TEST(loops)
{
	struct maps *s = maps_new(false);
	uint64_t table, i;
	bool lost;

	table = map(s, VMALLOC, 0x5000, 0);
	/* The lowest table also serves as its own parents, up to the root. */
	tables_map(s->m, &s->p, s->p.root, VMALLOC, 3,
		   tables_table(&s->p, table));
	for (i = 1; i < 512; i++)
		physical_set(s->m, table, (unsigned)i,
			     tables_table(&s->p, table));
	ck_assert_int_eq(look(s, &lost), 0);
	ck_assert(lost);
	ck_assert_uint_lt(s->visits, 1 << 26);
	counts(s);
	ck_assert(s->c.lost || s->c.too_many);
	maps_free(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kernel_maps");

	unit_loop(s, each, 2);
	unit_loop(s, counted, 2);
	unit_loop(s, taken_away, 3);
	unit_test(s, nothing);
	unit_test(s, lost_tables);
	unit_test(s, loops);
	return unit_main(s);
}
