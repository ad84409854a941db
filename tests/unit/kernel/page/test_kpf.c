/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests words of /proc/kpageflags: their meaning on kernels that differ, and
 * every word of the ground truth.
 */
#include "kernel/page/kpf.h"
#include "../../truth.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define WORD_BIT_34 ((uint64_t)1 << 34)

/* Relevant names in enum pageflags of three kernels. */
static const char *const names_6_1[] = {
	"PG_error", "PG_hwpoison", "PG_idle", "PG_uncached", "PG_mappedtodisk",
	"PG_anon_exclusive", NULL
};
static const char *const names_6_12[] = {
	"PG_hwpoison", "PG_idle", "PG_owner_2", "PG_mappedtodisk",
	"PG_anon_exclusive", NULL
};
/* x86-64 without memory failure handling. */
static const char *const names_6_18[] = {
	"PG_idle", "PG_arch_2", "PG_owner_2", "PG_mappedtodisk",
	"PG_anon_exclusive", NULL
};

static bool has(const void *types, const char *name)
{
	const char *const *names = types;

	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

static struct pdet_kpf kernel_6_1(void)
{
	struct pdet_kpf kpf = { .tails_own = true };

	pdet_kpf_known(&kpf, has, names_6_1);
	return kpf;
}

static struct pdet_kpf kernel_6_12(void)
{
	struct pdet_kpf kpf = { .ksm_lies = true };

	pdet_kpf_known(&kpf, has, names_6_12);
	return kpf;
}

static struct pdet_kpf kernel_6_18(void)
{
	struct pdet_kpf kpf = { 0 };

	pdet_kpf_known(&kpf, has, names_6_18);
	return kpf;
}

/* --- what a kernel can report --- */

START_TEST(bits_known_by_name)
{
	struct pdet_kpf kpf = kernel_6_1();

	ck_assert(kpf.known & KPF(ERROR));
	ck_assert(kpf.known & KPF(HWPOISON));
	ck_assert(kpf.known & KPF(UNCACHED));
	ck_assert_int_eq(kpf.bit34, PDET_KPF_34_MAPPEDTODISK);
	/* x86-64 has no such flag, so it is never set. */
	ck_assert(kpf.known & KPF(ARCH_2));

	kpf = kernel_6_12();
	ck_assert(!(kpf.known & KPF(ERROR)));
	ck_assert(kpf.known & KPF(HWPOISON));
	/* PG_mappedtodisk exists under another name. */
	ck_assert_int_eq(kpf.bit34, PDET_KPF_34_OWNER_2);

	kpf = kernel_6_18();
	ck_assert(!(kpf.known & KPF(HWPOISON)));
	ck_assert(kpf.known & KPF(IDLE));
}
END_TEST

START_TEST(without_types_what_depends_is_unknown)
{
	struct pdet_kpf kpf = { 0 };
	uint64_t known;

	pdet_kpf_known(&kpf, NULL, NULL);
	ck_assert(!(kpf.known & (KPF(ERROR) | KPF(HWPOISON) | KPF(IDLE) |
				 KPF(UNCACHED) | KPF(ARCH_2) | KPF(ARCH_3))));
	ck_assert_int_eq(kpf.bit34, PDET_KPF_34_UNKNOWN);
	ck_assert(kpf.known & KPF(LRU));
	ck_assert(kpf.known & KPF(BUDDY));
	/* One of the two, but it is not known which. */
	pdet_kpf_flags(&kpf, KPF(LRU) | WORD_BIT_34, 0, &known);
	ck_assert(!(known & (KPF(OWNER_2) | KPF(MAPPEDTODISK))));
	/* A set bit is reliable. */
	ck_assert(pdet_kpf_flags(&kpf, KPF(HWPOISON), 0, &known) &
		  KPF(HWPOISON));
	ck_assert(known & KPF(HWPOISON));
}
END_TEST

START_TEST(unknown_bits_are_kept)
{
	struct pdet_kpf kpf = kernel_6_18();
	const uint64_t odd = (uint64_t)1 << 27 | (uint64_t)1 << 55;
	uint64_t known, flags;

	flags = pdet_kpf_flags(&kpf, odd | KPF(LRU), 0, &known);
	ck_assert_uint_eq(flags, odd | KPF(LRU));
	ck_assert_uint_eq(known & odd, odd);
	flags = pdet_kpf_flags(&kpf, KPF(LRU), 0, &known);
	ck_assert_uint_eq(known & odd, 0);
	/* No kernel sets these, and libpagedet uses them for other flags. */
	flags = pdet_kpf_flags(&kpf, KPF(LRU) | (uint64_t)0xf << 60, 0,
			       &known);
	ck_assert_uint_eq(flags, KPF(LRU));
}
END_TEST

/* --- bits whose meaning moved or lies --- */

START_TEST(bit_34_by_kernel_and_page)
{
	struct pdet_kpf old = kernel_6_1(), new = kernel_6_12();
	uint64_t known, flags;

	flags = pdet_kpf_flags(&old, KPF(LRU) | WORD_BIT_34, 0, &known);
	ck_assert_uint_eq(flags, KPF(LRU) | KPF(MAPPEDTODISK));
	ck_assert(known & KPF(OWNER_2));
	flags = pdet_kpf_flags(&new, KPF(LRU) | WORD_BIT_34, 0, &known);
	ck_assert_uint_eq(flags, KPF(LRU) | KPF(OWNER_2));
	flags = pdet_kpf_flags(&new, KPF(ANON) | WORD_BIT_34, 0, &known);
	ck_assert_uint_eq(flags, KPF(ANON) | KPF(ANON_EXCLUSIVE));
	flags = pdet_kpf_flags(&old, KPF(ANON) | WORD_BIT_34, 0, &known);
	ck_assert_uint_eq(flags, KPF(ANON) | KPF(ANON_EXCLUSIVE));
	flags = pdet_kpf_flags(&new, KPF(ANON), 0, &known);
	ck_assert_uint_eq(flags, KPF(ANON));
	ck_assert(known & KPF(ANON_EXCLUSIVE));
}
END_TEST

START_TEST(exclusive_of_a_tail)
{
	const uint64_t tail = KPF(ANON) | KPF(THP) | KPF(COMPOUND_TAIL);
	struct pdet_kpf old = kernel_6_1(), new = kernel_6_12();
	uint64_t known, flags;

	/*
	 * 6.12 shows the head's bit for a tail, which tells nothing about the
	 * tail.
	 */
	flags = pdet_kpf_flags(&new, tail | WORD_BIT_34, 0, &known);
	ck_assert_uint_eq(flags, tail);
	ck_assert(!(known & KPF(ANON_EXCLUSIVE)));
	/* 6.1 shows the tail's own bit. */
	flags = pdet_kpf_flags(&old, tail | WORD_BIT_34, 0, &known);
	ck_assert_uint_eq(flags, tail | KPF(ANON_EXCLUSIVE));
	ck_assert(known & KPF(ANON_EXCLUSIVE));
}
END_TEST

START_TEST(tails_take_the_folios_bits)
{
	/* A huge page of 6.1: the words of its head and tail. */
	const uint64_t head = 0x40040d828, tail = 0x411800;
	struct pdet_kpf kpf = kernel_6_1();
	uint64_t known, flags;

	flags = pdet_kpf_flags(&kpf, tail, head, &known);
	ck_assert_uint_eq(flags, KPF(UPTODATE) | KPF(LRU) | KPF(MMAP) |
			  KPF(ANON) | KPF(SWAPBACKED) | KPF(THP) |
			  KPF(COMPOUND_TAIL));
	/* Poison belongs to the page, not to the folio. */
	flags = pdet_kpf_flags(&kpf, tail | KPF(HWPOISON), head, &known);
	ck_assert(flags & KPF(HWPOISON));
	flags = pdet_kpf_flags(&kpf, tail, head | KPF(HWPOISON), &known);
	ck_assert(!(flags & KPF(HWPOISON)));
	/* Without the head, only the tail's own word is available. */
	flags = pdet_kpf_flags(&kpf, tail, 0, &known);
	ck_assert_uint_eq(flags, tail);
	/* If the kernel copies the folio's bits, the head is not needed. */
	kpf.tails_own = false;
	ck_assert_uint_eq(pdet_kpf_flags(&kpf, tail, head, &known), tail);
}
END_TEST

START_TEST(ksm_that_lies_is_unknown)
{
	struct pdet_kpf lies = kernel_6_12(), right = kernel_6_1();
	uint64_t known, flags;

	flags = pdet_kpf_flags(&lies, KPF(ANON) | KPF(KSM), 0, &known);
	ck_assert_uint_eq(flags, KPF(ANON));
	ck_assert(!(known & KPF(KSM)));
	/* Pages that are not anonymous are never merged. */
	pdet_kpf_flags(&lies, KPF(LRU), 0, &known);
	ck_assert(known & KPF(KSM));
	flags = pdet_kpf_flags(&right, KPF(ANON) | KPF(KSM), 0, &known);
	ck_assert_uint_eq(flags, KPF(ANON) | KPF(KSM));
	flags = pdet_kpf_flags(&right, KPF(ANON), 0, &known);
	ck_assert_uint_eq(flags, KPF(ANON));
	ck_assert(known & KPF(KSM));
}
END_TEST

START_TEST(idle_may_be_stale)
{
	struct pdet_kpf kpf = kernel_6_18(), old = kernel_6_1();
	const uint64_t tail = KPF(COMPOUND_TAIL) | KPF(ANON);
	uint64_t known, flags;

	/* An access through a mapping does not clear the bit. */
	flags = pdet_kpf_flags(&kpf, KPF(LRU) | KPF(IDLE), 0, &known);
	ck_assert_uint_eq(flags, KPF(LRU));
	ck_assert(!(known & KPF(IDLE)));
	/* A read of the bitmap confirms it. */
	flags = pdet_kpf_flags(&kpf, KPF(LRU) | KPF(IDLE) | PDET_KPF_IDLE_SEEN,
			       0, &known);
	ck_assert_uint_eq(flags, KPF(LRU) | KPF(IDLE));
	ck_assert(known & KPF(IDLE));
	flags = pdet_kpf_flags(&kpf, KPF(LRU), 0, &known);
	ck_assert_uint_eq(flags, KPF(LRU));
	ck_assert(known & KPF(IDLE));
	/* A tail copies it from its head, equally unconfirmed. */
	flags = pdet_kpf_flags(&old, tail, KPF(IDLE) | KPF(ANON), &known);
	ck_assert_uint_eq(flags, tail);
	ck_assert(!(known & KPF(IDLE)));
}
END_TEST

START_TEST(slab_has_no_mapping)
{
	struct pdet_kpf kpf = kernel_6_18();
	uint64_t known, flags;

	/* 0x201080: from 6.18, whose slab pages keep a list there. */
	flags = pdet_kpf_flags(&kpf, 0x201080 | KPF(MMAP), 0, &known);
	ck_assert_uint_eq(flags, KPF(SLAB));
	ck_assert(known & KPF(ANON) && known & KPF(KSM) && known & KPF(MMAP));
	ck_assert_uint_eq(pdet_kpf_kind(flags), PAGEDET_KIND_SLAB);
}
END_TEST

START_TEST(a_hole_says_nothing_else)
{
	struct pdet_kpf kpf = kernel_6_18();
	uint64_t known;

	ck_assert_uint_eq(pdet_kpf_flags(&kpf, KPF(NOPAGE), 0, &known),
			  KPF(NOPAGE));
	ck_assert_uint_eq(pdet_kpf_kind(KPF(NOPAGE)), PAGEDET_KIND_HOLE);
}
END_TEST

/* --- kinds --- */

static const struct {
	uint64_t flags;
	unsigned kind;
} kinds[] = {
	{ 0, PAGEDET_KIND_UNKNOWN },
	{ KPF(BUDDY), PAGEDET_KIND_FREE },
	{ KPF(OFFLINE), PAGEDET_KIND_OFFLINE },
	{ KPF(PGTABLE), PAGEDET_KIND_PGTABLE },
	{ KPF(PGTABLE) | KPF(MMAP), PAGEDET_KIND_PGTABLE },
	{ KPF(SLAB), PAGEDET_KIND_SLAB },
	{ KPF(SLAB) | KPF(COMPOUND_TAIL), PAGEDET_KIND_SLAB },
	{ KPF(RESERVED), PAGEDET_KIND_RESERVED },
	{ KPF(RESERVED) | KPF(ZERO_PAGE), PAGEDET_KIND_ZERO },
	{ KPF(ZERO_PAGE) | KPF(THP) | KPF(COMPOUND_TAIL), PAGEDET_KIND_ZERO },
	{ KPF(HUGE) | KPF(COMPOUND_TAIL), PAGEDET_KIND_HUGETLB },
	{ KPF(HUGE) | KPF(ANON), PAGEDET_KIND_HUGETLB },
	{ KPF(ANON) | KPF(SWAPBACKED) | KPF(LRU), PAGEDET_KIND_ANON },
	{ KPF(ANON) | KPF(LRU), PAGEDET_KIND_ANON }, /* freed lazily */
	{ KPF(SWAPBACKED), PAGEDET_KIND_SHMEM },
	{ KPF(SWAPBACKED) | KPF(LRU) | KPF(THP), PAGEDET_KIND_SHMEM },
	{ KPF(LRU), PAGEDET_KIND_FILE },
	{ KPF(LRU) | KPF(PRIVATE) | KPF(DIRTY), PAGEDET_KIND_FILE },
	{ KPF(WRITEBACK), PAGEDET_KIND_FILE },
	{ KPF(MMAP), PAGEDET_KIND_UNKNOWN }, /* a driver's page, or not on the
				 * LRU yet */
	{ KPF(UPTODATE) | KPF(PRIVATE), PAGEDET_KIND_UNKNOWN },
	{ KPF(COMPOUND_HEAD), PAGEDET_KIND_UNKNOWN },
	{ KPF(HWPOISON), PAGEDET_KIND_UNKNOWN },
};

START_TEST(kind_of_flags)
{
	ck_assert_uint_eq(pdet_kpf_kind(kinds[_i].flags), kinds[_i].kind);
}
END_TEST

START_TEST(any_word_keeps_its_promises)
{
	struct pdet_kpf kernels[3] = { kernel_6_1(), kernel_6_12(),
				       kernel_6_18() };
	uint64_t seed = 88172645463325252u + (uint64_t)_i;
	unsigned i;

	for (i = 0; i < 200000; i++) {
		uint64_t word = unit_random(&seed) & unit_random(&seed);
		uint64_t head = unit_random(&seed) & unit_random(&seed);
		uint64_t known = 0;
		uint64_t flags = pdet_kpf_flags(&kernels[i % 3], word,
						i & 8 ? head : 0, &known);

		ck_assert_uint_eq(flags & ~known, 0);
		ck_assert_uint_eq(known & (uint64_t)0xc << 60, 0);
		ck_assert(!(flags & KPF(SLAB)) ||
			  !(flags & (KPF(ANON) | KPF(KSM) | KPF(MMAP))) ||
			  flags & KPF(NOPAGE));
		ck_assert_uint_le(pdet_kpf_kind(flags), PAGEDET_KIND_UNMAPPED);
	}
}
END_TEST

/* --- ground truth --- */

struct expect {
	const char *made_as;	/* the beginning of truth.kind */
	unsigned kind;
	uint64_t set;
	uint64_t clear;
};

#define IN_USE KPF(BUDDY) | KPF(SLAB) | KPF(PGTABLE) | KPF(NOPAGE) | \
	       KPF(OFFLINE) | KPF(RESERVED)
#define ANON_SET KPF(ANON) | KPF(MMAP) | KPF(UPTODATE)
#define SMALL KPF(COMPOUND_HEAD) | KPF(COMPOUND_TAIL) | KPF(HUGE) | KPF(THP)

/* Longer names first, because the first match is used. */
static const struct expect expected[] = {
	{ "anon_thp_tail", PAGEDET_KIND_ANON,
	  ANON_SET | KPF(THP) | KPF(COMPOUND_TAIL),
	  KPF(COMPOUND_HEAD) | KPF(HUGE) | IN_USE },
	{ "anon_thp_partially_unmapped", PAGEDET_KIND_ANON,
	  ANON_SET | KPF(THP) | KPF(COMPOUND_TAIL),
	  KPF(COMPOUND_HEAD) | KPF(HUGE) | IN_USE },
	{ "anon_thp", PAGEDET_KIND_ANON,
	  ANON_SET | KPF(THP) | KPF(COMPOUND_HEAD),
	  KPF(COMPOUND_TAIL) | KPF(HUGE) | IN_USE },
	{ "anon_mthp_64k", PAGEDET_KIND_ANON, ANON_SET, KPF(HUGE) | IN_USE },
	{ "anon_hwpoisoned", PAGEDET_KIND_ANON, KPF(ANON) | KPF(HWPOISON),
	  KPF(MMAP) | IN_USE },
	{ "anon_soft_offlined", PAGEDET_KIND_ANON, KPF(HWPOISON),
	  KPF(MMAP) | IN_USE },
	{ "anon_swap_cache_or_faulted_back", PAGEDET_KIND_ANON, ANON_SET,
	  SMALL | IN_USE },
	{ "anon_mlocked", PAGEDET_KIND_ANON,
	  ANON_SET | KPF(MLOCKED) | KPF(UNEVICTABLE), SMALL | IN_USE },
	/* Loses SWAPBACKED once reclaim may free it. */
	{ "anon_madv_free", PAGEDET_KIND_ANON, ANON_SET, SMALL | IN_USE },
	{ "anon_", PAGEDET_KIND_ANON, ANON_SET | KPF(SWAPBACKED),
	  SMALL | IN_USE },
	{ "ksm_merged", PAGEDET_KIND_ANON, ANON_SET, SMALL | IN_USE },
	{ "stack", PAGEDET_KIND_ANON, ANON_SET, SMALL | IN_USE },
	{ "brk_heap", PAGEDET_KIND_ANON, ANON_SET, SMALL | IN_USE },
	{ "shared_zero_page", PAGEDET_KIND_ZERO, KPF(ZERO_PAGE),
	  KPF(ANON) | KPF(MMAP) | KPF(LRU) },
	{ "huge_zero_page", PAGEDET_KIND_ZERO, KPF(ZERO_PAGE),
	  KPF(ANON) | KPF(MMAP) | KPF(LRU) },
	{ "hugetlb_2m_shared", PAGEDET_KIND_HUGETLB,
	  KPF(HUGE) | KPF(MMAP) | KPF(COMPOUND_TAIL), KPF(ANON) | IN_USE },
	{ "hugetlb_2m_private_tail", PAGEDET_KIND_HUGETLB,
	  KPF(HUGE) | ANON_SET | KPF(COMPOUND_TAIL),
	  KPF(COMPOUND_HEAD) | IN_USE },
	{ "hugetlb_2m_private", PAGEDET_KIND_HUGETLB,
	  KPF(HUGE) | ANON_SET | KPF(COMPOUND_HEAD),
	  KPF(COMPOUND_TAIL) | IN_USE },
	{ "shmem_", PAGEDET_KIND_SHMEM, KPF(SWAPBACKED) | KPF(MMAP),
	  KPF(ANON) | SMALL | IN_USE },
	{ "tmpfs_file_shared", PAGEDET_KIND_SHMEM, KPF(SWAPBACKED) | KPF(MMAP),
	  KPF(ANON) | SMALL | IN_USE },
	{ "tmpfs_pagecache_not_mapped", PAGEDET_KIND_SHMEM, KPF(SWAPBACKED),
	  KPF(ANON) | KPF(MMAP) | SMALL | IN_USE },
	{ "executable_text", PAGEDET_KIND_SHMEM, /* the root is a tmpfs */
	  KPF(MMAP) | KPF(UPTODATE), KPF(ANON) | IN_USE },
	{ "ext4_dirty_shared", PAGEDET_KIND_FILE,
	  KPF(MMAP) | KPF(DIRTY) | KPF(PRIVATE),
	  KPF(ANON) | KPF(WRITEBACK) | KPF(SWAPBACKED) | IN_USE },
	{ "ext4_under_writeback", PAGEDET_KIND_FILE,
	  KPF(MMAP) | KPF(WRITEBACK), KPF(ANON) | KPF(DIRTY) | IN_USE },
	{ "ext4_pagecache_not_mapped", PAGEDET_KIND_FILE,
	  KPF(UPTODATE) | KPF(LRU),
	  KPF(MMAP) | KPF(ANON) | KPF(DIRTY) | IN_USE },
	{ "ext4_clean", PAGEDET_KIND_FILE, KPF(MMAP) | KPF(UPTODATE),
	  KPF(ANON) | KPF(DIRTY) | KPF(WRITEBACK) | IN_USE },
	{ "memfd_secret", PAGEDET_KIND_FILE, KPF(MMAP),
	  KPF(ANON) | KPF(SWAPBACKED) | IN_USE },
	{ "vdso", PAGEDET_KIND_RESERVED, KPF(RESERVED) | KPF(MMAP),
	  KPF(ANON) },
	{ "iouring_ring_memory", PAGEDET_KIND_UNKNOWN, KPF(MMAP),
	  KPF(ANON) | KPF(LRU) | IN_USE },
	{ "vmalloc_and_user", PAGEDET_KIND_UNKNOWN, KPF(MMAP),
	  KPF(ANON) | KPF(LRU) | IN_USE },
	{ "kpf_bit_7", PAGEDET_KIND_SLAB, KPF(SLAB), KPF(ANON) | KPF(BUDDY) },
	{ "kpf_bit_10", PAGEDET_KIND_FREE, KPF(BUDDY), KPF(ANON) },
	{ "kpf_bit_26", PAGEDET_KIND_PGTABLE, KPF(PGTABLE), KPF(ANON) },
	{ "kpf_bit_32", PAGEDET_KIND_RESERVED, KPF(RESERVED), KPF(ANON) },
	{ "kpf_bit_20", PAGEDET_KIND_HOLE, KPF(NOPAGE), KPF(ANON) },
	{ "kpf_bit_16", PAGEDET_KIND_UNKNOWN, KPF(COMPOUND_TAIL), KPF(ANON) },
	{ "pfn_zero", PAGEDET_KIND_RESERVED, KPF(RESERVED), KPF(ANON) },
	{ "low_memory", PAGEDET_KIND_RESERVED, KPF(RESERVED), KPF(ANON) },
	/* Past the end of RAM, in a section with struct pages. */
	{ "pfn_past_ram", PAGEDET_KIND_RESERVED, KPF(RESERVED), KPF(ANON) },
	/* Allocated again, or in a list that flags do not show. */
	{ "freed_after_munmap", PAGEDET_KIND_UNKNOWN, 0, KPF(ANON) },
};

static const struct expect *expect_of(const struct truth *t)
{
	size_t i;

	for (i = 0; i < COUNT(expected); i++)
		if (!strncmp(t->kind, expected[i].made_as,
			     strlen(expected[i].made_as)))
			return &expected[i];
	ck_abort_msg("%s: nothing is expected of '%s'", t->name, t->kind);
	return NULL;
}

static void ck_truth(const struct pdet_kpf *kpf, const struct truth *t,
		     uint64_t word)
{
	const struct expect *e = expect_of(t);
	uint64_t known, flags;
	unsigned kind = e->kind;
	/* 6.1 tails: the folio's state needs the head's word, too. */
	uint64_t set = kpf->tails_own && word & KPF(COMPOUND_TAIL) ?
			       e->set & ~(KPF(UPTODATE)) : e->set;

	flags = pdet_kpf_flags(kpf, word, 0, &known);
	ck_assert_msg((flags & set) == set, "%s: %#llx lacks %#llx", t->name,
		      (unsigned long long)flags,
		      (unsigned long long)(set & ~flags));
	ck_assert_msg(!(flags & e->clear), "%s: %#llx has %#llx", t->name,
		      (unsigned long long)flags,
		      (unsigned long long)(flags & e->clear));
	ck_assert_msg(!((set | e->clear) & ~known),
		      "%s: does not know %#llx", t->name,
		      (unsigned long long)((set | e->clear) & ~known));
	/*
	 * A new page waits in a list of its CPU before it is on the LRU. Until
	 * then nothing shows its file.
	 */
	if (kind == PAGEDET_KIND_FILE &&
	    !(word & (KPF(LRU) | KPF(WRITEBACK))))
		kind = PAGEDET_KIND_UNKNOWN;
	ck_assert_msg(pdet_kpf_kind(flags) == kind, "%s: kind %u, not %u",
		      t->name, pdet_kpf_kind(flags), kind);
}

static struct truth truth[TRUTH_MAX];

/* Frames that were reused before the dump. */
static bool volatile_page(const struct truth *t)
{
	return !strcmp(t->kind, "freed_after_munmap") ||
	       !strncmp(t->kind, "kpf_bit_10", 10);
}

START_TEST(truth_of_6_12)
{
	struct pdet_kpf kpf = kernel_6_12();
	unsigned i, n, seen = 0;

	n = truth_read("6.12.117-lab/ground-truth.jsonl", truth);
	for (i = 0; i < n; i++) {
		if (truth[i].made.has_flags)
			ck_truth(&kpf, &truth[i], truth[i].made.flags);
		if (truth[i].dump.has_flags && !volatile_page(&truth[i]))
			ck_truth(&kpf, &truth[i], truth[i].dump.flags);
		seen += truth[i].made.has_flags;
	}
	ck_assert_uint_ge(seen, 50);
}
END_TEST

START_TEST(truth_of_6_1)
{
	struct pdet_kpf kpf = kernel_6_1();
	unsigned i, n, seen = 0;

	n = truth_read("6.1.192/ground-truth.jsonl", truth);
	for (i = 0; i < n; i++) {
		uint64_t word = truth[i].made.flags, known;

		if (!truth[i].made.has_flags)
			continue;
		ck_truth(&kpf, &truth[i], word);
		seen++;
		/* KSM of this kernel is reliable. */
		ck_assert_int_eq(
			!!(pdet_kpf_flags(&kpf, word, 0, &known) & KPF(KSM)),
			!strcmp(truth[i].kind, "ksm_merged"));
	}
	ck_assert_uint_ge(seen, 45);
}
END_TEST

/* Whether @kind is one of "a|b". */
static bool kind_is_one_of(unsigned kind, const char *list)
{
	const char *name = pdet_value_name(PAGEDET_FIELD_KIND, kind);
	const char *at = strstr(list, name);

	return at && (at == list || at[-1] == '|') &&
	       (at[strlen(name)] == '|' || !at[strlen(name)]);
}

START_TEST(truth_of_6_18)
{
	struct pdet_kpf kpf = kernel_6_18();
	unsigned i, n, seen = 0;

	n = truth_read("6.18.44/plants.jsonl", truth);
	for (i = 0; i < n; i++) {
		const struct truth *t = &truth[i];
		uint64_t known, flags;

		if (!t->made.has_flags)
			continue;
		flags = pdet_kpf_flags(&kpf, t->made.flags, 0, &known);
		ck_assert_msg((flags & t->flags_set) == t->flags_set &&
			      !(flags & t->flags_clear), "%s: %#llx", t->name,
			      (unsigned long long)flags);
		ck_assert_msg(!((t->flags_set | t->flags_clear) & ~known),
			      "%s: knows %#llx", t->name,
			      (unsigned long long)known);
		ck_assert_msg(kind_is_one_of(pdet_kpf_kind(flags), t->kind),
			      "%s: kind %u, not %s", t->name,
			      pdet_kpf_kind(flags), t->kind);
		seen++;
	}
	ck_assert_uint_ge(seen, 40);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kpf");

	unit_test(s, bits_known_by_name);
	unit_test(s, without_types_what_depends_is_unknown);
	unit_test(s, unknown_bits_are_kept);
	unit_test(s, bit_34_by_kernel_and_page);
	unit_test(s, exclusive_of_a_tail);
	unit_test(s, tails_take_the_folios_bits);
	unit_test(s, ksm_that_lies_is_unknown);
	unit_test(s, idle_may_be_stale);
	unit_test(s, slab_has_no_mapping);
	unit_test(s, a_hole_says_nothing_else);
	unit_loop(s, kind_of_flags, COUNT(kinds));
	unit_loop(s, any_word_keeps_its_promises, 3);
	unit_test(s, truth_of_6_12);
	unit_test(s, truth_of_6_1);
	unit_test(s, truth_of_6_18);
	return unit_main(s);
}
