/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests walks of all entries in a range: none is missed or repeated, unreadable
 * ones are reported, and walks of cyclic tables end.
 */
#include "../../tables.h"

#define MOST 100000

/* Used a million times, for which libcheck's own check would take minutes. */
#define CK(fact) ((fact) ? (void)0 : ck_abort_msg("not so: " #fact))

struct found {
	struct pdet_leaf leaf[MOST];
	struct lost {
		uint64_t start, size;
		int error;
	} lost[MOST];
	size_t leaves, losses;	/* may exceed the room */
	int stop_leaf, stop_lost; /* results of the visitors */
	struct pdet_paging_places *places;
};

static int on_leaf(void *arg, const struct pdet_leaf *leaf)
{
	struct found *f = arg;

	if (f->leaves < MOST)
		f->leaf[f->leaves] = *leaf;
	f->leaves++;
	return f->stop_leaf;
}

static int on_lost(void *arg, uint64_t start, uint64_t size, int error)
{
	struct found *f = arg;

	if (f->losses < MOST)
		f->lost[f->losses] = (struct lost){ start, size, error };
	f->losses++;
	return f->stop_lost;
}

static int each(struct physical *m, const struct pdet_paging *p, uint64_t root,
		uint64_t start, uint64_t last, struct found *f)
{
	const struct pdet_paging_visit visit = { on_leaf, on_lost, f,
						 f->places };

	f->leaves = f->losses = 0;
	return pdet_paging_each(&m->reader, p, root, start, last, &visit);
}

static struct found *found_new(void)
{
	struct found *f = calloc(1, sizeof(*f));

	ck_assert_ptr_nonnull(f);
	return f;
}

/* Exactly these areas begin, in this order. */
static void ck_starts(const struct found *f, const uint64_t *starts, size_t n)
{
	size_t i;

	ck_assert_uint_eq(f->leaves, n);
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(f->leaf[i].start, starts[i]);
}

/* --- ranges --- */

START_TEST(ranges_of_both_halves)
{
	const struct pdet_paging p = tables_x86(4 + (unsigned)_i);
	const uint64_t half = 1ull << (p.va_bits - 1);
	/* The ends of both halves, of tables, and places between. */
	const uint64_t at[] = {
		0x0, 0x1000, 0x1ff000, 0x200000, 0x3fe00000, 0x40000000,
		0x7fc0000000, half - 0x1000,
		-half, -half + 0x200000, 0xffffffff80000000,
		0xffffffffc0000000, 0xfffffffffffff000,
	};
	const unsigned levels[] = { 0, 0, 0, 0, 1, 2, 2, 0, 0, 1, 1, 2, 0 };
	struct physical *m = physical_new(12);
	struct found *f = found_new();
	size_t i, j;

	for (i = 0; i < 13; i++)
		if (levels[i] < 2 || i == 5 || i == 6)
			tables_map(m, &p, p.root, at[i], levels[i],
				   tables_page(&p, i << 30, levels[i]));
	/* 0xffffffffc0000000 is above the tables of the last one. */
	tables_map(m, &p, p.root, at[11], 1, tables_page(&p, 11 << 21, 1));
	ck_assert_int_eq(each(m, &p, p.root, 0, -1ull, f), 0);
	ck_assert_uint_eq(f->losses, 0);
	ck_starts(f, at, 13);
	ck_assert_uint_eq(f->leaf[0].size, 0x1000);
	ck_assert_uint_eq(f->leaf[4].size, 0x200000);
	ck_assert_uint_eq(f->leaf[5].size, 0x40000000);
	ck_assert_uint_eq(f->leaf[5].addr, 5ull << 30);
	/* From each to each, both included. */
	for (i = 0; i < 13; i++)
		for (j = i; j < 13; j++) {
			ck_assert_int_eq(each(m, &p, p.root, at[i], at[j], f),
					 0);
			ck_starts(f, at + i, j - i + 1);
		}
	/* From the byte behind a start, the page is still included. */
	for (i = 0; i < 13; i++) {
		ck_assert_int_eq(each(m, &p, p.root, at[i] + 1, at[i] + 2, f),
				 0);
		ck_starts(f, at + i, 1);
		if (!i)
			continue;
		ck_assert_int_eq(each(m, &p, p.root, at[i - 1], at[i] - 1, f),
				 0);
		ck_starts(f, at + i - 1, 1);
	}
	/* There is nothing between the halves. */
	ck_assert_int_eq(each(m, &p, p.root, half, -half - 1, f), 0);
	ck_assert_uint_eq(f->leaves + f->losses, 0);
	ck_assert_int_eq(each(m, &p, p.root, 5, 4, f), 0);
	ck_assert_uint_eq(f->leaves + f->losses, 0);
	free(f);
	physical_free(m);
}
END_TEST

START_TEST(a_half_of_arm64)
{
	static const unsigned kernels[][3] = {
		{ 4096, 39, 25 }, { 4096, 48, 16 }, { 4096, 52, 12 },
		{ 16384, 36, 28 }, { 16384, 48, 16 }, { 16384, 52, 12 },
		{ 65536, 42, 22 }, { 65536, 48, 16 }, { 65536, 52, 16 },
	};
	const struct pdet_paging p = tables_arm64(kernels[_i][0],
						  kernels[_i][1],
						  kernels[_i][2]);
	const uint64_t page = 1ull << p.page_shift, root = 0x40000000;
	const uint64_t all = 1ull << p.va_bits;
	const uint64_t low[] = { 0, 3 * page, all / 2, all - page };
	const uint64_t high[] = { -all, -all + 3 * page, -(all / 2), -page };
	struct physical *m = physical_new(p.page_shift);
	struct found *f = found_new();
	unsigned i;

	for (i = 0; i < 4; i++) {
		tables_map(m, &p, root, low[i], 0, tables_page(&p, 0, 0));
		tables_map(m, &p, p.root, high[i], 0, tables_page(&p, 0, 0));
	}
	ck_assert_int_eq(each(m, &p, root, 0, -1ull, f), 0);
	ck_starts(f, low, 4);
	ck_assert_int_eq(each(m, &p, p.root, 0, -1ull, f), 0);
	ck_starts(f, high, 4);
	ck_assert_int_eq(each(m, &p, p.root, -all + page, -page - 1, f), 0);
	ck_starts(f, high + 1, 2);
	ck_assert_int_eq(each(m, &p, p.root, 0, all - 1, f), 0);
	ck_assert_uint_eq(f->leaves, 0);
	ck_assert_int_eq(each(m, &p, root, all, -1ull, f), 0);
	ck_assert_uint_eq(f->leaves + f->losses, 0);
	free(f);
	physical_free(m);
}
END_TEST

START_TEST(a_visit_ends_the_walk)
{
	const struct pdet_paging p = tables_x86(4);
	struct physical *m = physical_new(12);
	struct found *f = found_new();
	unsigned i;

	for (i = 0; i < 10; i++)
		tables_map(m, &p, p.root, i << 21, 0, 0x5000 | X86_TABLE);
	tables_map(m, &p, p.root, 10ull << 30, 1, 0x600000000 | X86_TABLE);
	tables_map(m, &p, p.root, 11ull << 30, 1, 0x700000000 | X86_TABLE);
	f->stop_leaf = 7;
	ck_assert_int_eq(each(m, &p, p.root, 0, -1ull, f), 7);
	ck_assert_uint_eq(f->leaves, 1);
	f->stop_leaf = 0;
	f->stop_lost = -EINTR;
	ck_assert_int_eq(each(m, &p, p.root, 0, -1ull, f), -EINTR);
	ck_assert_uint_eq(f->leaves, 10);
	ck_assert_uint_eq(f->losses, 1);
	free(f);
	physical_free(m);
}
END_TEST

/* --- what cannot be read --- */

static void ck_lost(const struct found *f, size_t i, uint64_t start,
		    uint64_t size, int error)
{
	ck_assert_uint_eq(f->lost[i].start, start);
	ck_assert_uint_eq(f->lost[i].size, size);
	ck_assert_int_eq(f->lost[i].error, error);
}

START_TEST(what_is_lost_is_said)
{
	const struct pdet_paging p = tables_x86(4);
	const uint64_t g = 1ull << 30, huge = 1 << 21;
	struct physical *m = physical_new(12);
	struct found *f = found_new();
	struct pdet_leaf leaf;
	uint64_t excluded, starts[] = { 0, 4 * g };

	tables_map(m, &p, p.root, 0, 0, 0x5000 | X86_TABLE);
	/* A lowest-level table that the dump lacks. */
	excluded = tables_map(m, &p, p.root, g, 0, 0x5000 | X86_TABLE);
	physical_fail(m, excluded, -ENODATA);
	/* A table past the end of memory. */
	tables_map(m, &p, p.root, 2 * g, 2, 0x1234567000 | X86_TABLE);
	/* A truncated table, and an invalid entry. */
	excluded = tables_map(m, &p, p.root, 3 * g, 1, 0x40000000 | X86_TABLE |
			      X86_HUGE);
	physical_fail(m, excluded, -EIO);
	tables_map(m, &p, p.root, 4 * g, 0, 0x6000 | X86_TABLE);
	tables_map(m, &p, p.root, 512 * g, 3, X86_TABLE | X86_HUGE);
	ck_assert_int_eq(each(m, &p, p.root, 0, -1ull, f), 0);
	ck_starts(f, starts, 2);
	ck_assert_uint_eq(f->losses, 4);
	ck_lost(f, 0, g, huge, -ENODATA);
	ck_lost(f, 1, 2 * g, g, -ENOENT);
	ck_lost(f, 2, 3 * g, g, -EIO);
	ck_lost(f, 3, 512 * g, 512 * g, -EBADMSG);
	/* The walk loses no more than the wanted range. */
	ck_assert_int_eq(each(m, &p, p.root, g + 0x3000, 2 * g + 0x4fff, f),
			 0);
	ck_assert_uint_eq(f->leaves, 0);
	ck_assert_uint_eq(f->losses, 2);
	ck_lost(f, 0, g + 0x3000, huge - 0x3000, -ENODATA);
	ck_lost(f, 1, 2 * g, 0x5000, -ENOENT);
	/* A walk of one address agrees. */
	ck_assert_int_eq(pdet_paging_walk(&m->reader, &p, p.root, g, &leaf),
			 -ENODATA);
	ck_assert_int_eq(pdet_paging_walk(&m->reader, &p, p.root, 2 * g,
					  &leaf), -ENOENT);
	ck_assert_int_eq(pdet_paging_walk(&m->reader, &p, p.root, 3 * g,
					  &leaf), -EIO);
	ck_assert_int_eq(pdet_paging_walk(&m->reader, &p, p.root, 512 * g,
					  &leaf), -EBADMSG);
	/* The root does not exist either. */
	ck_assert_int_eq(each(m, &p, 0x7fffff000, 0, -1ull, f), 0);
	ck_assert_uint_eq(f->losses, 2);
	ck_lost(f, 0, 0, 1ull << 47, -ENOENT);
	ck_lost(f, 1, -(1ull << 47), 1ull << 47, -ENOENT);
	/* Without memory there is no result. */
	physical_fail(m, p.root, -ENOMEM);
	ck_assert_int_eq(each(m, &p, p.root, 0, -1ull, f), -ENOMEM);
	free(f);
	physical_free(m);
}
END_TEST

/* --- tables that are linked often --- */

static const struct {
	uint16_t machine;
	unsigned page_size, va_bits;
} shapes[] = {
	{ EM_X86_64, 4096, 48 }, { EM_X86_64, 4096, 57 },
	{ EM_AARCH64, 4096, 48 }, { EM_AARCH64, 4096, 52 },
	{ EM_AARCH64, 16384, 48 }, { EM_AARCH64, 65536, 52 },
};

static struct pdet_paging shape(int i)
{
	return shapes[i].machine == EM_X86_64 ?
		tables_x86(shapes[i].va_bits == 57 ? 5 : 4) :
		tables_arm64(shapes[i].page_size, shapes[i].va_bits,
			     64 - shapes[i].va_bits);
}

START_TEST(a_table_of_itself_has_an_end)
{
	const struct pdet_paging p = shape(_i);
	const unsigned n = 1u << (p.page_shift - 3);
	struct physical *m = physical_new(p.page_shift);
	struct found *f = found_new();
	struct pdet_leaf leaf;
	unsigned i;

	physical_at(m, p.root);
	for (i = 0; i < n; i++)
		physical_set(m, p.root, i, tables_table(&p, p.root));
	/* The lowest level takes it for a page. */
	ck_assert_int_eq(pdet_paging_walk(&m->reader, &p, p.root, -1ull,
					  &leaf), 0);
	ck_assert_uint_eq(leaf.level, 0);
	ck_assert_uint_eq(leaf.addr, p.root);
	m->reads = 0;
	ck_assert_int_eq(each(m, &p, p.root, 0, -1ull, f), 0);
	ck_assert_uint_gt(f->leaves, 1000000);
	ck_assert_uint_lt(f->leaves, 40000000);
	ck_assert_uint_gt(f->losses, 0);
	ck_assert_int_eq(f->lost[0].error, -ELOOP);
	ck_assert_uint_lt(m->reads * n, 60000000);
	free(f);
	physical_free(m);
}
END_TEST

/*
 * A task never has one table in two places, so it maps at most as many pages as
 * its tables have entries.
 */
START_TEST(a_table_of_a_task_is_in_one_place)
{
	const struct pdet_paging p = shape(_i);
	const unsigned n = 1u << (p.page_shift - 3);
	struct physical *m = physical_new(p.page_shift);
	struct pdet_paging_places places = { NULL, 0, 0 };
	struct found *f = found_new();
	const uint64_t root = physical_page(m), good = physical_page(m);
	unsigned i;

	f->places = &places;
	for (i = 1; i < n; i++)
		physical_set(m, root, i, tables_table(&p, root));
	tables_map(m, &p, root, 0, 0, tables_page(&p, good, 0));
	m->reads = 0;
	ck_assert_int_eq(each(m, &p, root, 0, -1ull, f), 0);
	/* The walk finds the entries of the first place and loses the rest. */
	ck_assert_uint_eq(f->leaves, 1);
	ck_assert_uint_ge(f->losses, 1);
	ck_assert_int_eq(f->lost[0].error, -EBADMSG);
	ck_assert_uint_le(m->reads, p.levels + 1);
	/* The same again, because it is the same task. */
	ck_assert_int_eq(each(m, &p, root, 0, -1ull, f), 0);
	ck_assert_uint_eq(f->leaves, 1);
	pdet_paging_places_free(&places);
	free(f);
	physical_free(m);
}
END_TEST

/* hugetlb shares tables of huge pages, but not lower ones. */
START_TEST(huge_tables_may_be_shared)
{
	const struct pdet_paging p = tables_x86(4);
	struct physical *m = physical_new(12);
	struct pdet_paging_places places = { NULL, 0, 0 };
	struct found *f = found_new();
	const uint64_t root[] = { physical_page(m), physical_page(m) };
	uint64_t pmd, pud;
	unsigned i;

	f->places = &places;
	pmd = tables_map(m, &p, root[0], 0, 1,
			 tables_page(&p, 0x40000000, 1));
	pud = tables_map(m, &p, root[1], 0, 2, pmd | X86_TABLE);
	physical_set(m, pud, 1, pmd | X86_TABLE);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(each(m, &p, root[i], 0, -1ull, f), 0);
		ck_assert_uint_eq(f->leaves, 1 + i);
		ck_assert_uint_eq(f->losses, 0);
	}
	/* A lowest-level table is not shared. */
	tables_map(m, &p, root[0], 0x200000, 0, tables_page(&p, 0x5000, 0));
	ck_assert_int_eq(each(m, &p, root[0], 0, -1ull, f), 0);
	ck_assert(f->leaves == 2 && f->losses == 0);
	ck_assert_int_eq(each(m, &p, root[1], 0, -1ull, f), 0);
	ck_assert(f->leaves == 2 && f->losses == 2);
	pdet_paging_places_free(&places);
	free(f);
	physical_free(m);
}
END_TEST

/*
 * As the kernel does for its espfix stacks (arch/x86/kernel/espfix_64.c): four
 * entries to one table, 512 to the next, 32 to the page; and more than that.
 */
START_TEST(tables_that_are_shared_are_all_visited)
{
	const struct pdet_paging p = tables_x86(4);
	const uint64_t base = 0xffffff0000000000;
	struct physical *m = physical_new(12);
	struct found *f = found_new();
	uint64_t pud, pmd, pte;
	unsigned i, group;

	pud = tables_map(m, &p, p.root, base, 2, 0);
	for (group = 0; group < 8; group++) {
		pmd = physical_page(m);
		pte = physical_page(m);
		for (i = 0; i < 4; i++)
			physical_set(m, pud, group * 4 + i, pmd | X86_TABLE);
		for (i = 0; i < 512; i++)
			physical_set(m, pmd, i, pte | X86_TABLE);
		for (i = 0; i < 32; i++)
			physical_set(m, pte, i * 16, 0x5000 | X86_PRESENT);
	}
	ck_assert_int_eq(each(m, &p, p.root, 0, -1ull, f), 0);
	ck_assert_uint_eq(f->losses, 0);
	ck_assert_uint_eq(f->leaves, 8 * 65536);
	free(f);
	physical_free(m);
}
END_TEST

/*
 * KASAN's shadow of absent memory: one table per level, for 16 TiB. It must not
 * hide what follows it.
 */
START_TEST(what_is_behind_a_loop_is_found)
{
	const struct pdet_paging p = tables_x86(4);
	const uint64_t shadow = 0xffffec0000000000;
	const uint64_t image = 0xffffffff81000000;
	struct physical *m = physical_new(12);
	struct found *f = found_new();
	uint64_t pud = physical_page(m), pmd = physical_page(m);
	uint64_t pte = physical_page(m), before, behind = 0;
	size_t i;

	for (i = 0; i < 512; i++) {
		physical_set(m, pud, (unsigned)i, pmd | X86_TABLE);
		physical_set(m, pmd, (unsigned)i, pte | X86_TABLE);
		physical_set(m, pte, (unsigned)i, 0x5000 | X86_PRESENT);
	}
	for (i = 0; i < 32; i++)
		tables_map(m, &p, p.root, shadow + (i << 39), 3,
			   pud | X86_TABLE);
	for (i = 0; i < 3000; i++)
		tables_map(m, &p, p.root, image + (i << 12), 0,
			   (0x1000000 + (i << 12)) | X86_PRESENT);
	ck_assert_int_eq(each(m, &p, p.root, 0, image - 1, f), 0);
	before = f->leaves;
	ck_assert_uint_gt(f->losses, 0);
	for (i = 0; i < f->losses && i < MOST; i++)
		ck_assert_int_eq(f->lost[i].error, -ELOOP);
	ck_assert_int_eq(each(m, &p, p.root, 0, -1ull, f), 0);
	behind = f->leaves - before;
	ck_assert_uint_eq(behind, 3000);
	free(f);
	physical_free(m);
}
END_TEST

/* --- tables of any kind --- */

/* A random entry, and its target if it is a table. */
static uint64_t any_entry(const struct pdet_paging *p, uint64_t *seed,
			  const uint64_t *tables, unsigned n)
{
	const uint64_t to = tables[unit_random(seed) % n];
	const uint64_t any = unit_random(seed);

	switch (unit_random(seed) % 16) {
	case 0:
		return any;
	case 1:
		return any & ~3ull;
	case 2:
		return any << 12 | 1;
	case 3:
	case 4:
		return tables_page(p, any & 0x7fffffff0000, 0);
	case 5:
		return tables_page(p, any & 0x7fffc0000000, 1);
	case 6:
		return 0;
	default:
		return tables_table(p, to);
	}
}

/* The result of each() for @va, computed independently. */
static const struct pdet_leaf *leaf_at(const struct found *f, uint64_t va)
{
	size_t low = 0, high = f->leaves, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (f->leaf[mid].start <= va)
			low = mid + 1;
		else
			high = mid;
	}
	return low && va - f->leaf[low - 1].start < f->leaf[low - 1].size ?
		&f->leaf[low - 1] : NULL;
}

static int lost_at(const struct found *f, uint64_t va)
{
	size_t low = 0, high = f->losses, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (f->lost[mid].start <= va)
			low = mid + 1;
		else
			high = mid;
	}
	return low && va - f->lost[low - 1].start < f->lost[low - 1].size ?
		f->lost[low - 1].error : 0;
}

static void ck_same(struct physical *m, const struct pdet_paging *p,
		    uint64_t root, const struct found *f, uint64_t va)
{
	const struct pdet_leaf *leaf = leaf_at(f, va);
	const int lost = lost_at(f, va);
	struct pdet_leaf walked;
	int r = pdet_paging_walk(&m->reader, p, root, va, &walked);

	CK(r == lost);
	CK(!lost || !leaf);
	if (lost)
		return;
	if (!leaf) {
		CK(walked.is == PDET_PT_NONE);
		return;
	}
	CK(walked.is == leaf->is);
	CK(walked.level == leaf->level);
	CK(walked.entry == leaf->entry);
	CK(walked.start == leaf->start);
	CK(walked.size == leaf->size);
	CK(walked.addr == leaf->addr);
	CK(leaf->is == PDET_PT_PAGE || leaf->is == PDET_PT_OTHER);
}

/* Ascending, without repetition, and within the wanted range. */
static void ck_order(const struct found *f, uint64_t start, uint64_t last)
{
	size_t i;

	for (i = 0; i < f->leaves; i++) {
		const struct pdet_leaf *leaf = &f->leaf[i];

		CK(leaf->start <= last &&
			  leaf->start + (leaf->size - 1) >= start);
		CK(!i || leaf->start - leaf[-1].start >=
				leaf[-1].size);
	}
	for (i = 0; i < f->losses; i++) {
		const struct lost *lost = &f->lost[i];

		CK(lost->start >= start && lost->size &&
			  lost->start + (lost->size - 1) <= last);
		CK(!i || lost->start - lost[-1].start >=
				lost[-1].size);
	}
}

START_TEST(a_walk_says_what_each_says)
{
	const struct pdet_paging p = shape(_i % 6);
	const uint64_t root = p.one_root || _i % 12 < 6 ? p.root : 0x40000000;
	uint64_t seed = 88172645463325252ull + (unsigned)_i * 1234567ull;
	const unsigned per_table = 1u << (p.page_shift - 3);
	struct physical *m = physical_new(p.page_shift);
	uint64_t tables[24], va;
	struct found *f = found_new(), *part = found_new();
	size_t i, j;

	/* Sometimes a lower table leads to a higher one. */
	for (i = 0; i < 24; i++)
		tables[i] = physical_page(m);
	physical_fail(m, tables[3], -ENODATA);
	physical_fail(m, tables[4], -EIO);
	tables[5] = 0x7ffff0000;
	physical_at(m, root);
	for (i = 0; i < 24; i++)
		for (j = 0; i != 5 && j < 6; j++)
			physical_set(m, j || i ? tables[i] : root,
				     (unsigned)(unit_random(&seed) %
						per_table),
				     any_entry(&p, &seed, tables, 24));
	for (j = 0; j < 8; j++)
		physical_set(m, root, (unsigned)(unit_random(&seed) %
						 (1u << (p.va_bits -
						 pdet_paging_shift(&p,
							p.levels - 1)))),
			     any_entry(&p, &seed, tables, 24));
	ck_assert_int_eq(each(m, &p, root, 0, -1ull, f), 0);
	ck_assert(f->leaves < MOST && f->losses < MOST);
	ck_order(f, 0, -1ull);
	for (i = 0; i < f->leaves; i++) {
		ck_same(m, &p, root, f, f->leaf[i].start);
		ck_same(m, &p, root, f, f->leaf[i].start + f->leaf[i].size -
			1);
	}
	for (i = 0; i < f->losses; i++)
		ck_same(m, &p, root, f, f->lost[i].start);
	for (i = 0; i < 300; i++) {
		va = unit_random(&seed) & ((1ull << (p.va_bits - 1)) - 1);
		if (p.one_root ? i % 2 : root == p.root)
			va |= -(1ull << (p.va_bits - p.one_root));
		ck_same(m, &p, root, f, va);
	}
	/* A part of the range gives that part of the result. */
	for (i = 0; i < 20 && f->leaves; i++) {
		const size_t from = unit_random(&seed) % f->leaves;
		const size_t to = from + unit_random(&seed) %
					 (f->leaves - from);

		ck_assert_int_eq(each(m, &p, root, f->leaf[from].start,
				      f->leaf[to].start, part), 0);
		ck_order(part, f->leaf[from].start, f->leaf[to].start);
		ck_assert_uint_eq(part->leaves, to - from + 1);
		ck_assert_mem_eq(part->leaf, f->leaf + from,
				 part->leaves * sizeof(*f->leaf));
	}
	free(f);
	free(part);
	physical_free(m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("paging_each");

	unit_loop(s, ranges_of_both_halves, 2);
	unit_loop(s, a_half_of_arm64, 9);
	unit_test(s, a_visit_ends_the_walk);
	unit_test(s, what_is_lost_is_said);
	unit_loop(s, a_table_of_itself_has_an_end, 6);
	unit_loop(s, a_table_of_a_task_is_in_one_place, 6);
	unit_test(s, huge_tables_may_be_shared);
	unit_test(s, tables_that_are_shared_are_all_visited);
	unit_test(s, what_is_behind_a_loop_is_found);
	unit_loop(s, a_walk_says_what_each_says, 240);
	return unit_main(s);
}
