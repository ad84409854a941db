/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests words of /proc/PID/pagemap: every state, in the order that
 * distinguishes them, and every word of the ground truth.
 */
#include "kernel/page/kpf.h"
#include "kernel/page/pagemap.h"
#include "../../truth.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define P(name) PAGEDET_PTE(PAGEDET_PTE_##name)
#define WHAT (P(PRESENT) | P(SWAPPED) | P(GUARD) | P(MIGRATION) | \
	      P(HWPOISON) | P(DEVICE))

#define SWAP(type, offset) \
	(PDET_PM_SWAP | (uint64_t)(offset) << 5 | (uint64_t)(type))

/*
 * Kernels about which more or less is known. None exports which swap types are
 * not areas, which depends on configuration and version.
 */
static const struct pdet_pagemap linux_6_12 = {
	.soft_dirty = true, .uffd_wp = true,
	.swap_areas = 1, .zero_pfn = 0x4819,
};
static const struct pdet_pagemap linux_6_1 = {
	.soft_dirty = true, .uffd_wp = true,
	.swap_areas = 1, .zero_pfn = 0x7386,
};
static const struct pdet_pagemap linux_6_18 = {
	.uffd_wp = true, .guard = true,
};
/* The largest number of areas. */
static const struct pdet_pagemap full = { .swap_areas = 27 };
/* Only known: one area is in use. */
static const struct pdet_pagemap stranger = { .swap_areas = 1 };

static struct pdet_entry decode(const struct pdet_pagemap *pm, uint64_t word)
{
	struct pdet_entry e;

	memset(&e, 0xa5, sizeof(e));
	pdet_pagemap_decode(pm, word, &e);
	return e;
}

struct state {
	const char *name;
	const struct pdet_pagemap *pm;
	uint64_t word;
	enum pdet_entry_what what;
	uint32_t set;
	uint32_t clear;		/* known to be clear */
	uint32_t unknown;
	bool has_pfn, has_swap, hidden;
	uint64_t pfn;		/* or swap offset */
	uint32_t type;
};

#define PRESENT_CLEAR (WHAT & ~P(PRESENT))

static const struct state states[] = {
	{ .name = "nothing", .pm = &linux_6_12, .word = 0,
	  .what = PDET_ENTRY_NOTHING,
	  .clear = WHAT | P(SOFT_DIRTY) | P(UFFD_WP) | P(ZERO) |
		   P(EXCLUSIVE) | P(FILE) },
	{ .name = "nothing, soft-dirty", .pm = &linux_6_12,
	  .word = 0x0080000000000000, .what = PDET_ENTRY_NOTHING,
	  .set = P(SOFT_DIRTY), .clear = WHAT },
	{ .name = "nothing, soft-dirty means nothing here", .pm = &stranger,
	  .word = 0, .what = PDET_ENTRY_NOTHING, .clear = WHAT,
	  .unknown = P(SOFT_DIRTY) | P(UFFD_WP) },
	{ .name = "anonymous", .pm = &linux_6_12, .word = 0x818000000000036d,
	  .what = PDET_ENTRY_PRESENT,
	  .set = P(PRESENT) | P(EXCLUSIVE) | P(SOFT_DIRTY),
	  .clear = PRESENT_CLEAR | P(FILE) | P(ZERO) | P(UFFD_WP),
	  .unknown = P(WRITTEN) | P(YOUNG) | P(DIRTY) | P(WRITE) | P(EXEC),
	  .has_pfn = true, .pfn = 0x36d },
	{ .name = "file", .pm = &linux_6_12, .word = 0xa000000000004ade,
	  .what = PDET_ENTRY_PRESENT, .set = P(PRESENT) | P(FILE),
	  .clear = PRESENT_CLEAR | P(EXCLUSIVE) | P(SOFT_DIRTY),
	  .has_pfn = true, .pfn = 0x4ade },
	{ .name = "write-protected", .pm = &linux_6_12,
	  .word = 0x838000000000036c, .what = PDET_ENTRY_PRESENT,
	  .set = P(PRESENT) | P(UFFD_WP) | P(EXCLUSIVE) | P(SOFT_DIRTY),
	  .clear = PRESENT_CLEAR, .has_pfn = true, .pfn = 0x36c },
	{ .name = "a set bit speaks for itself", .pm = &stranger,
	  .word = 0x820000000000036c, .what = PDET_ENTRY_PRESENT,
	  .set = P(PRESENT) | P(UFFD_WP), .clear = PRESENT_CLEAR,
	  .unknown = P(SOFT_DIRTY), .has_pfn = true, .pfn = 0x36c },
	{ .name = "zero page", .pm = &linux_6_12, .word = 0x8000000000004819,
	  .what = PDET_ENTRY_PRESENT, .set = P(PRESENT) | P(ZERO),
	  .clear = PRESENT_CLEAR | P(EXCLUSIVE), .has_pfn = true,
	  .pfn = 0x4819 },
	{ .name = "maybe a zero page", .pm = &stranger,
	  .word = 0x8000000000004819, .what = PDET_ENTRY_PRESENT,
	  .set = P(PRESENT), .clear = PRESENT_CLEAR, .unknown = P(ZERO),
	  .has_pfn = true, .pfn = 0x4819 },
	{ .name = "maybe a huge zero page", .pm = &linux_6_12,
	  .word = 0xa000000000001807, .what = PDET_ENTRY_PRESENT,
	  .set = P(PRESENT) | P(FILE), .clear = PRESENT_CLEAR,
	  .unknown = P(ZERO), .has_pfn = true, .pfn = 0x1807 },
	{ .name = "an exclusive page is no zero page", .pm = &stranger,
	  .word = 0x8100000000004819, .what = PDET_ENTRY_PRESENT,
	  .set = P(PRESENT) | P(EXCLUSIVE), .clear = PRESENT_CLEAR | P(ZERO),
	  .has_pfn = true, .pfn = 0x4819 },
	{ .name = "present, number hidden", .pm = &linux_6_12,
	  .word = 0xa100000000000000, .what = PDET_ENTRY_PRESENT,
	  .set = P(PRESENT) | P(FILE) | P(EXCLUSIVE),
	  .clear = PRESENT_CLEAR, .hidden = true },
	{ .name = "hidden, zero page or not", .pm = &linux_6_12,
	  .word = 0x8000000000000000, .what = PDET_ENTRY_PRESENT,
	  .set = P(PRESENT), .clear = PRESENT_CLEAR, .unknown = P(ZERO),
	  .hidden = true },
	{ .name = "present with all numbers", .pm = &linux_6_12,
	  .word = 0x807fffffffffffff, .what = PDET_ENTRY_PRESENT,
	  .set = P(PRESENT), .clear = PRESENT_CLEAR, .has_pfn = true,
	  .pfn = 0x7fffffffffffff },
	{ .name = "present wins over every other bit", .pm = &linux_6_12,
	  .word = 0xffffffffffffffff, .what = PDET_ENTRY_PRESENT,
	  .set = P(PRESENT) | P(FILE) | P(EXCLUSIVE) | P(SOFT_DIRTY) |
		 P(UFFD_WP),
	  .clear = PRESENT_CLEAR, .has_pfn = true, .pfn = 0x7fffffffffffff },

	{ .name = "guard, as 6.18 shows it", .pm = &linux_6_12,
	  .word = 0x440000000000009f, .what = PDET_ENTRY_GUARD,
	  .set = P(GUARD), .clear = WHAT & ~P(GUARD) },
	{ .name = "guard to a stranger", .pm = &stranger,
	  .word = 0x440000000000009f, .what = PDET_ENTRY_GUARD,
	  .set = P(GUARD), .clear = WHAT & ~P(GUARD) },
	{ .name = "guard, number hidden", .pm = &linux_6_12,
	  .word = 0x4400000000000000, .what = PDET_ENTRY_GUARD,
	  .set = P(GUARD), .clear = WHAT & ~P(GUARD) },
	{ .name = "guard before its bit came (6.13)", .pm = &linux_6_12,
	  .word = SWAP(31, 4), .what = PDET_ENTRY_GUARD,
	  .set = P(GUARD), .clear = WHAT & ~P(GUARD) },
	{ .name = "write-protect marker", .pm = &linux_6_12,
	  .word = SWAP(31, 1) | PDET_PM_UFFD_WP, .what = PDET_ENTRY_MARKER,
	  .set = P(UFFD_WP), .clear = WHAT },
	{ .name = "write-protect marker to a stranger", .pm = &stranger,
	  .word = SWAP(31, 1), .what = PDET_ENTRY_MARKER,
	  .set = P(UFFD_WP), .clear = WHAT },
	{ .name = "poison marker", .pm = &linux_6_12, .word = SWAP(31, 2),
	  .what = PDET_ENTRY_HWPOISON, .set = P(HWPOISON),
	  .clear = WHAT & ~P(HWPOISON) },
	{ .name = "guard and write-protect marker", .pm = &linux_6_12,
	  .word = SWAP(31, 5), .what = PDET_ENTRY_GUARD,
	  .set = P(GUARD) | P(UFFD_WP), .clear = WHAT & ~P(GUARD) },

	/*
	 * Before 6.2 the type means a page that could not be swapped in, or one
	 * under migration, with its number.
	 */
	{ .name = "no marker has such bits", .pm = &linux_6_1,
	  .word = SWAP(31, 0x1234c), .what = PDET_ENTRY_SPECIAL,
	  .clear = P(PRESENT) | P(GUARD),
	  .unknown = P(SWAPPED) | P(MIGRATION) | P(HWPOISON) | P(DEVICE),
	  .has_pfn = true, .pfn = 0x1234c },

	{ .name = "swapped", .pm = &linux_6_12, .word = 0x4080000000004060,
	  .what = PDET_ENTRY_SWAPPED, .set = P(SWAPPED) | P(SOFT_DIRTY),
	  .clear = (WHAT & ~P(SWAPPED)) | P(EXCLUSIVE) | P(ZERO),
	  .has_swap = true, .pfn = 0x203, .type = 0 },
	{ .name = "swapped to area 0, seen by a stranger", .pm = &stranger,
	  .word = SWAP(0, 33), .what = PDET_ENTRY_SWAPPED,
	  .set = P(SWAPPED), .clear = WHAT & ~P(SWAPPED),
	  .has_swap = true, .pfn = 33, .type = 0 },
	/* Areas below may have been removed. */
	{ .name = "swapped to an area past their number", .pm = &stranger,
	  .word = SWAP(15, 33), .what = PDET_ENTRY_SWAPPED,
	  .set = P(SWAPPED), .clear = WHAT & ~P(SWAPPED),
	  .has_swap = true, .pfn = 33, .type = 15 },
	{ .name = "swapped to the last area", .pm = &full,
	  .word = SWAP(26, 0x1ffffffffffff), .what = PDET_ENTRY_SWAPPED,
	  .set = P(SWAPPED), .clear = WHAT & ~P(SWAPPED),
	  .has_swap = true, .pfn = 0x1ffffffffffff, .type = 26 },
	{ .name = "behind the last area", .pm = &full,
	  .word = SWAP(27, 0x2441), .what = PDET_ENTRY_SPECIAL,
	  .clear = P(PRESENT) | P(GUARD),
	  .unknown = P(SWAPPED) | P(MIGRATION) | P(HWPOISON) | P(DEVICE),
	  .has_pfn = true, .pfn = 0x2441 },
	{ .name = "swapped and write-protected", .pm = &linux_6_12,
	  .word = SWAP(0, 1) | PDET_PM_UFFD_WP, .what = PDET_ENTRY_SWAPPED,
	  .set = P(SWAPPED) | P(UFFD_WP), .clear = WHAT & ~P(SWAPPED),
	  .has_swap = true, .pfn = 1, .type = 0 },
	{ .name = "some entry, number hidden", .pm = &linux_6_18,
	  .word = PDET_PM_SWAP, .what = PDET_ENTRY_SPECIAL,
	  .clear = P(PRESENT) | P(GUARD),
	  .unknown = P(SWAPPED) | P(MIGRATION) | P(HWPOISON) | P(DEVICE),
	  .hidden = true },
	/* 6.13 has guards and does not show them. */
	{ .name = "some entry or guard, number hidden", .pm = &linux_6_12,
	  .word = PDET_PM_SWAP, .what = PDET_ENTRY_SPECIAL,
	  .clear = P(PRESENT),
	  .unknown = P(SWAPPED) | P(MIGRATION) | P(HWPOISON) | P(DEVICE) |
		     P(GUARD),
	  .hidden = true },

	/*
	 * The types: 6.12 has poison at 23 and 27 (with and without device
	 * memory), 6.1 at 22 and 26.
	 */
	{ .name = "poisoned, 6.12", .pm = &linux_6_12,
	  .word = 0x408000000004883b, .what = PDET_ENTRY_SPECIAL,
	  .clear = P(PRESENT) | P(GUARD),
	  .unknown = P(SWAPPED) | P(MIGRATION) | P(HWPOISON) | P(DEVICE),
	  .has_pfn = true, .pfn = 0x2441 },
	{ .name = "poisoned, 6.1", .pm = &linux_6_1,
	  .word = 0x40800000000e695a, .what = PDET_ENTRY_SPECIAL,
	  .clear = P(PRESENT) | P(GUARD),
	  .unknown = P(SWAPPED) | P(MIGRATION) | P(HWPOISON) | P(DEVICE),
	  .has_pfn = true, .pfn = 0x734a },
	{ .name = "poisoned, 6.1 with device memory", .pm = &linux_6_1,
	  .word = SWAP(22, 0x734a), .what = PDET_ENTRY_SPECIAL,
	  .clear = P(PRESENT) | P(GUARD),
	  .unknown = P(SWAPPED) | P(MIGRATION) | P(HWPOISON) | P(DEVICE),
	  .has_pfn = true, .pfn = 0x734a },
	{ .name = "a special entry of a file's page", .pm = &stranger,
	  .word = SWAP(24, 0x55) | PDET_PM_FILE, .what = PDET_ENTRY_SPECIAL,
	  .set = P(FILE), .clear = P(PRESENT) | P(GUARD),
	  .unknown = P(SWAPPED) | P(MIGRATION) | P(HWPOISON) | P(DEVICE),
	  .has_pfn = true, .pfn = 0x55 },
};

START_TEST(state_of_word)
{
	const struct state *s = &states[_i];
	struct pdet_entry e = decode(s->pm, s->word);

	ck_assert_msg(e.what == s->what, "%s: what %d", s->name, e.what);
	ck_assert_msg((e.pte & s->set) == s->set, "%s: pte %#x", s->name,
		      e.pte);
	ck_assert_msg(!(e.pte & s->clear), "%s: pte %#x", s->name, e.pte);
	ck_assert_msg((e.known & (s->set | s->clear)) == (s->set | s->clear),
		      "%s: known %#x", s->name, e.known);
	ck_assert_msg(!(e.known & s->unknown), "%s: known %#x", s->name,
		      e.known);
	ck_assert_msg(e.has_pfn == s->has_pfn && e.has_swap == s->has_swap &&
		      e.hidden == s->hidden, "%s: pfn %d swap %d hidden %d",
		      s->name, e.has_pfn, e.has_swap, e.hidden);
	if (e.has_pfn)
		ck_assert_uint_eq(e.pfn, s->pfn);
	if (e.has_swap)
		ck_assert_uint_eq(e.swap_offset, s->pfn);
	if (e.has_swap)
		ck_assert_uint_eq(e.swap_type, s->type);
}
END_TEST

/* --- what kpageflags adds --- */

START_TEST(resolve_decides_special_entries)
{
	struct pdet_entry e = decode(&stranger, SWAP(27, 0x2441));

	pdet_pagemap_resolve(&e, 0x40028501c);
	ck_assert_int_eq(e.what, PDET_ENTRY_HWPOISON);
	ck_assert_uint_eq(e.pte & WHAT, P(HWPOISON));
	ck_assert_uint_eq(e.known & WHAT, WHAT);

	e = decode(&stranger, SWAP(28, 0x55));
	pdet_pagemap_resolve(&e, KPF(ANON) | KPF(LOCKED));
	ck_assert_int_eq(e.what, PDET_ENTRY_MIGRATION);
	ck_assert_uint_eq(e.pte & WHAT, P(MIGRATION));

	e = decode(&stranger, SWAP(28, 0x55));
	pdet_pagemap_resolve(&e, KPF(ANON));
	ck_assert_int_eq(e.what, PDET_ENTRY_SPECIAL);
	pdet_pagemap_resolve(&e, KPF(NOPAGE) | KPF(LOCKED));
	ck_assert_int_eq(e.what, PDET_ENTRY_SPECIAL);
}
END_TEST

START_TEST(resolve_leaves_what_is_decided)
{
	static const uint64_t words[] = {
		0, 0x818000000000036d, SWAP(0, 5), SWAP(26, 5), SWAP(31, 4),
		PDET_PM_SWAP,
	};
	unsigned i;

	for (i = 0; i < COUNT(words); i++) {
		struct pdet_entry e = decode(&full, words[i]);
		struct pdet_entry before = e;

		pdet_pagemap_resolve(&e, KPF(HWPOISON) | KPF(LOCKED));
		ck_assert_int_eq(e.what, before.what);
		ck_assert_uint_eq(e.pte, before.pte);
		ck_assert_uint_eq(e.known, before.known);
	}
}
END_TEST

/* --- any word --- */

static void ck_promises(const struct pdet_entry *e, uint64_t word)
{
	uint32_t what = e->pte & WHAT;

	ck_assert_msg(!(e->pte & ~e->known), "%#llx: pte %#x known %#x",
		      (unsigned long long)word, e->pte, e->known);
	/* An entry never has two kinds at once. */
	ck_assert_msg(!(what & (what - 1)), "%#llx: pte %#x",
		      (unsigned long long)word, e->pte);
	/* A word alone never shows these. */
	ck_assert(!(e->known & (P(WRITTEN) | P(YOUNG) | P(DIRTY) | P(WRITE) |
				P(EXEC))));
	ck_assert_int_eq(what == P(PRESENT), word >> 63);
	ck_assert(!(e->has_pfn && e->has_swap));
	ck_assert(!(e->hidden && (e->has_pfn || e->has_swap)));
	/* swapped means in a swap area, and nothing else. */
	ck_assert_int_eq(what == P(SWAPPED), e->has_swap);
	if (word & PDET_PM_GUARD && !(word >> 63))
		ck_assert_uint_eq(what, P(GUARD));
	if (!(word >> 62) && !(word & PDET_PM_GUARD))
		ck_assert_uint_eq(what, 0);
}

START_TEST(any_word_keeps_its_promises)
{
	const struct pdet_pagemap *const kernels[] = {
		&linux_6_12, &linux_6_1, &linux_6_18, &full, &stranger,
	};
	const struct pdet_pagemap *pm = kernels[_i];
	uint64_t seed = 88172645463325252u + (uint64_t)_i;
	unsigned i;

	for (i = 0; i < 60000; i++) {
		uint64_t word = unit_random(&seed);
		struct pdet_entry e;

		if (i % 3 == 1)	/* few bits */
			word &= unit_random(&seed) & unit_random(&seed);
		if (i % 3 == 2)	/* a low type, a low offset */
			word &= (uint64_t)0xffe0 << 48 | 0xfff;
		e = decode(pm, word);
		ck_promises(&e, word);
		pdet_pagemap_resolve(&e, unit_random(&seed));
		ck_promises(&e, word);
	}
}
END_TEST

/* --- ground truth --- */

struct expect {
	const char *made_as;	/* the beginning of truth.kind */
	enum pdet_entry_what what;
	uint32_t set;
	uint32_t clear;
};

static const struct expect expected[] = {
	{ "anon_soft_dirty_cleared", PDET_ENTRY_PRESENT, 0, P(SOFT_DIRTY) },
	{ "anon_soft_dirty_set", PDET_ENTRY_PRESENT, P(SOFT_DIRTY), 0 },
	{ "anon_uffd_wp", PDET_ENTRY_PRESENT, P(UFFD_WP), 0 },
	{ "anon_hwpoisoned", PDET_ENTRY_HWPOISON, 0, P(PRESENT) },
	{ "anon_swapped_out", PDET_ENTRY_SWAPPED, 0, P(PRESENT) },
	{ "anon_", PDET_ENTRY_PRESENT, 0, P(FILE) | P(UFFD_WP) },
	{ "hugetlb_2m_private", PDET_ENTRY_PRESENT, 0, P(FILE) },
	{ "hugetlb_2m_shared", PDET_ENTRY_PRESENT, P(FILE), 0 },
	{ "brk_heap", PDET_ENTRY_PRESENT, 0, P(FILE) },
	{ "stack", PDET_ENTRY_PRESENT, 0, P(FILE) },
	{ "ksm_merged", PDET_ENTRY_PRESENT, 0, P(FILE) | P(EXCLUSIVE) },
	{ "shared_zero_page", PDET_ENTRY_PRESENT, P(ZERO), P(EXCLUSIVE) },
	{ "huge_zero_page", PDET_ENTRY_PRESENT, P(FILE), P(EXCLUSIVE) },
	{ "unmapped_in_vma", PDET_ENTRY_NOTHING, 0, WHAT },
	{ "no_vma", PDET_ENTRY_NOTHING, 0, WHAT },
	{ "vvar", PDET_ENTRY_NOTHING, 0, WHAT },
	{ "shmem_", PDET_ENTRY_PRESENT, P(FILE), 0 },
	{ "tmpfs_", PDET_ENTRY_PRESENT, P(FILE), 0 },
	{ "ext4_", PDET_ENTRY_PRESENT, P(FILE), 0 },
	{ "executable_text", PDET_ENTRY_PRESENT, P(FILE), 0 },
	{ "memfd_secret", PDET_ENTRY_PRESENT, P(FILE), 0 },
	{ "vdso", PDET_ENTRY_PRESENT, P(FILE), 0 },
	{ "iouring_ring_memory", PDET_ENTRY_PRESENT, P(FILE), 0 },
	{ "vmalloc_and_user", PDET_ENTRY_PRESENT, P(FILE), 0 },
};

static void ck_truth(const struct pdet_pagemap *pm, const struct truth *t,
		     const struct truth_words *words)
{
	struct pdet_entry e = decode(pm, words->pagemap);
	size_t i;

	if (words->has_flags)
		pdet_pagemap_resolve(&e, words->flags);

	for (i = 0; i < COUNT(expected); i++)
		if (!strncmp(t->kind, expected[i].made_as,
			     strlen(expected[i].made_as)))
			break;
	ck_assert_msg(i < COUNT(expected), "%s: nothing is expected of '%s'",
		      t->name, t->kind);
	ck_assert_msg(e.what == expected[i].what, "%s: what %d", t->name,
		      e.what);
	ck_assert_msg((e.pte & expected[i].set) == expected[i].set &&
		      !(e.pte & expected[i].clear), "%s: pte %#x", t->name,
		      e.pte);
	ck_promises(&e, words->pagemap);
}

static struct truth truth[TRUTH_MAX];

static unsigned ck_truth_of(const char *fixture, const struct pdet_pagemap *pm)
{
	unsigned i, n = truth_read(fixture, truth), seen = 0;

	for (i = 0; i < n; i++) {
		/* Its word marks a failed read. */
		if (!strcmp(truth[i].kind, "vsyscall"))
			continue;
		if (truth[i].made.has_pagemap)
			ck_truth(pm, &truth[i], &truth[i].made);
		/* A fork write-protects: soft-dirty was copied. */
		if (truth[i].dump.has_pagemap)
			ck_truth(pm, &truth[i], &truth[i].dump);
		seen += truth[i].made.has_pagemap;
	}
	return seen;
}

START_TEST(truth_of_6_12)
{
	ck_assert_uint_ge(ck_truth_of("6.12.117-lab/ground-truth.jsonl",
				      &linux_6_12), 45);
}
END_TEST

START_TEST(truth_of_6_1)
{
	ck_assert_uint_ge(ck_truth_of("6.1.192/ground-truth.jsonl",
				      &linux_6_1), 40);
}
END_TEST

/* 6.18 shows guards directly; nothing else about it is known here. */
START_TEST(truth_of_6_18)
{
	struct pdet_pagemap pm = { .uffd_wp = true, .swap_areas = 1 };
	unsigned i, n, seen = 0;

	n = truth_read("6.18.44/plants.jsonl", truth);
	for (i = 0; i < n; i++)
		if (!strcmp(truth[i].name, "zero"))
			pm.zero_pfn = truth[i].made.pagemap &
				      PDET_PM_PFN_MASK;
	ck_assert_uint_ne(pm.zero_pfn, 0);
	for (i = 0; i < n; i++) {
		const struct truth *t = &truth[i];
		/* Needs write tracking, which the word does not have. */
		uint32_t set = (uint32_t)t->pte_set & ~P(WRITTEN);
		uint32_t clear = (uint32_t)t->pte_clear & ~P(WRITTEN);
		struct pdet_entry e;

		if (!t->made.has_pagemap)
			continue;
		e = decode(&pm, t->made.pagemap);
		ck_assert_msg((e.pte & set) == set && !(e.pte & clear),
			      "%s: pte %#x", t->name, e.pte);
		/* Flags may be needed to exclude the zero page. */
		ck_assert_msg(!((set | (clear & ~P(ZERO))) & ~e.known),
			      "%s: known %#x", t->name, e.known);
		ck_promises(&e, t->made.pagemap);
		seen++;
	}
	ck_assert_uint_ge(seen, 35);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pagemap");

	unit_loop(s, state_of_word, COUNT(states));
	unit_test(s, resolve_decides_special_entries);
	unit_test(s, resolve_leaves_what_is_decided);
	unit_loop(s, any_word_keeps_its_promises, 5);
	unit_test(s, truth_of_6_12);
	unit_test(s, truth_of_6_1);
	unit_test(s, truth_of_6_18);
	return unit_main(s);
}
