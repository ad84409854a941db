/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * From bits of /proc/kpageflags to page flags and kinds. Pure: knows what the
 * kernel means, not where the words came from.
 */
#include "kernel/kpf.h"

/* Bits that belong to the folio: tails have them from their head. */
#define FOLIO_BITS                                                        \
	(KPF(LOCKED) | KPF(ERROR) | KPF(REFERENCED) | KPF(UPTODATE) |     \
	 KPF(DIRTY) | KPF(LRU) | KPF(ACTIVE) | KPF(SLAB) |                \
	 KPF(WRITEBACK) | KPF(RECLAIM) | KPF(ANON) | KPF(SWAPCACHE) |     \
	 KPF(SWAPBACKED) | KPF(HUGE) | KPF(UNEVICTABLE) | KPF(KSM) |      \
	 KPF(THP) | KPF(IDLE) | KPF(RESERVED) | KPF(MLOCKED) |            \
	 KPF(PRIVATE) | KPF(PRIVATE_2) | KPF(OWNER_PRIVATE) | KPF(ARCH) | \
	 KPF(UNCACHED) | KPF(ARCH_2) | KPF(ARCH_3))

/* Bits of this table's numbering that have a name. */
#define NAMED                                                             \
	(FOLIO_BITS | KPF(BUDDY) | KPF(MMAP) | KPF(COMPOUND_HEAD) |       \
	 KPF(COMPOUND_TAIL) | KPF(HWPOISON) | KPF(NOPAGE) |               \
	 KPF(OFFLINE) | KPF(ZERO_PAGE) | KPF(PGTABLE) | KPF(OWNER_2) |    \
	 KPF(MAPPEDTODISK) | KPF(ANON_EXCLUSIVE))

/* Bits that only some configurations or versions can set. */
static const struct {
	uint64_t bit;
	const char *name;
	/* Whether a kernel without it has no such thing (then the bit is known
	 * to be clear), or has it and keeps quiet (then it is unknown). */
	bool absent_is_clear;
} optional[] = {
	/* PG_error went in 6.12; a failed read or write leaves no trace. */
	{ KPF(ERROR), "PG_error", false },
	{ KPF(HWPOISON), "PG_hwpoison", false },
	{ KPF(IDLE), "PG_idle", false },
	{ KPF(UNCACHED), "PG_uncached", true },
	{ KPF(ARCH_2), "PG_arch_2", true },
	{ KPF(ARCH_3), "PG_arch_3", true },
};

void pdet_kpf_known(struct pdet_kpf *kpf,
		    bool (*has)(const void *types, const char *name),
		    const void *types)
{
	unsigned i;

	kpf->known = NAMED;
	kpf->bit34 = PDET_KPF_34_UNKNOWN;
	for (i = 0; i < sizeof(optional) / sizeof(*optional); i++)
		if (!has || (!has(types, optional[i].name) &&
			     !optional[i].absent_is_clear))
			kpf->known &= ~optional[i].bit;
	if (!has)
		return;
	/* 6.12 keeps PG_mappedtodisk as another name of PG_owner_2. */
	if (has(types, "PG_owner_2"))
		kpf->bit34 = PDET_KPF_34_OWNER_2;
	else if (has(types, "PG_mappedtodisk"))
		kpf->bit34 = PDET_KPF_34_MAPPEDTODISK;
}

/* Bit 34 is one bit of struct page with three meanings. */
static uint64_t bit34(const struct pdet_kpf *kpf, uint64_t flags, bool tail,
		      uint64_t *known)
{
	bool set = flags & KPF(OWNER_2);

	flags &= ~KPF(OWNER_2);
	if (flags & KPF(ANON)) {
		/* Per page, but kernels that show tails the folio's word show
		 * them the head's bit. */
		if (tail && !kpf->tails_own)
			*known &= ~KPF(ANON_EXCLUSIVE);
		else if (set)
			flags |= KPF(ANON_EXCLUSIVE);
		return flags;
	}
	if (!set)
		return flags;
	switch (kpf->bit34) {
	case PDET_KPF_34_OWNER_2:
		return flags | KPF(OWNER_2);
	case PDET_KPF_34_MAPPEDTODISK:
		return flags | KPF(MAPPEDTODISK);
	default:
		*known &= ~(KPF(OWNER_2) | KPF(MAPPEDTODISK));
		return flags;
	}
}

uint64_t pdet_kpf_flags(const struct pdet_kpf *kpf, uint64_t word,
			uint64_t head, uint64_t *known)
{
	/* Above bit 59 the numbers are ours; no kernel sets them. */
	uint64_t flags = word & ~(~(uint64_t)0 << 60);
	bool tail = flags & KPF(COMPOUND_TAIL);

	*known = kpf->known;
	/* There is no page that other bits could be of. */
	if (flags & KPF(NOPAGE))
		return KPF(NOPAGE);
	if (tail && head && kpf->tails_own)
		flags = (flags & ~FOLIO_BITS) | (head & FOLIO_BITS);
	/* mapping of a slab page is its free list, not a mapping: kernels
	 * before and including 6.18 show ANON and KSM for it. */
	if (flags & KPF(SLAB))
		flags &= ~(KPF(ANON) | KPF(KSM) | KPF(MMAP));
	/* Where the bit may be set on every anonymous page, only a clear one
	 * tells. */
	if (kpf->ksm_lies && flags & KPF(ANON) && flags & KPF(KSM)) {
		flags &= ~KPF(KSM);
		*known &= ~KPF(KSM);
	}
	/* An access through a mapping sets a bit there and leaves this one:
	 * only a clear one tells (admin-guide/mm/pagemap.rst). */
	if (flags & KPF(IDLE) && !(word & PDET_KPF_IDLE_SEEN)) {
		flags &= ~KPF(IDLE);
		*known &= ~KPF(IDLE);
	}
	flags = bit34(kpf, flags, tail, known);
	/* A set bit is known to be set, whether it has a name or not. */
	*known |= flags;
	return flags;
}

unsigned pdet_kpf_kind(uint64_t flags)
{
	static const struct {
		uint64_t bit;
		unsigned kind;
	} order[] = {
		{ KPF(NOPAGE), PAGEDET_KIND_HOLE },
		{ KPF(BUDDY), PAGEDET_KIND_FREE },
		{ KPF(OFFLINE), PAGEDET_KIND_OFFLINE },
		{ KPF(PGTABLE), PAGEDET_KIND_PGTABLE },
		{ KPF(SLAB), PAGEDET_KIND_SLAB },
		/* before ANON and RESERVED: the zero page has neither owner
		 * nor neighbours, whatever else is set */
		{ KPF(ZERO_PAGE), PAGEDET_KIND_ZERO },
		{ KPF(HUGE), PAGEDET_KIND_HUGETLB },
		{ KPF(ANON), PAGEDET_KIND_ANON },
		{ KPF(RESERVED), PAGEDET_KIND_RESERVED },
	};
	unsigned i;

	for (i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (flags & order[i].bit)
			return order[i].kind;
	/* Of pages without ANON only shmem is swap-backed. */
	if (flags & KPF(SWAPBACKED))
		return PAGEDET_KIND_SHMEM;
	if (flags & (KPF(LRU) | KPF(WRITEBACK)))
		return PAGEDET_KIND_FILE;
	/* A page mapped without being on the LRU may be a driver's; a page not
	 * mapped may be anything the kernel allocated. */
	return PAGEDET_KIND_UNKNOWN;
}

bool pdet_kpf_is_odd(uint64_t flags)
{
	/* What is freed loses them before it is free, and what is used is free
	 * no more before it gets them (free_pages_prepare(), prep_new_page()
	 * of Linux mm/page_alloc.c). */
	const uint64_t used = KPF(LRU) | KPF(ANON) | KPF(KSM) | KPF(MMAP) |
			      KPF(SLAB) | KPF(PGTABLE) | KPF(HUGE) |
			      KPF(WRITEBACK) | KPF(SWAPCACHE);
	/* Objects are on no list of pages to reclaim. */
	const uint64_t both = KPF(SLAB) | KPF(LRU);

	return (flags & KPF(BUDDY) && flags & used) || (flags & both) == both;
}
