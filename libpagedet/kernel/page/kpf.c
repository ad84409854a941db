/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Converts bits of /proc/kpageflags to page flags and kinds. It does no I/O. */
#include "kernel/page/kpf.h"

/* Bits of the folio. Tails get them from their head. */
#define FOLIO_BITS                                                        \
	(KPF(LOCKED) | KPF(ERROR) | KPF(REFERENCED) | KPF(UPTODATE) |     \
	 KPF(DIRTY) | KPF(LRU) | KPF(ACTIVE) | KPF(SLAB) |                \
	 KPF(WRITEBACK) | KPF(RECLAIM) | KPF(ANON) | KPF(SWAPCACHE) |     \
	 KPF(SWAPBACKED) | KPF(HUGE) | KPF(UNEVICTABLE) | KPF(KSM) |      \
	 KPF(THP) | KPF(IDLE) | KPF(RESERVED) | KPF(MLOCKED) |            \
	 KPF(PRIVATE) | KPF(PRIVATE_2) | KPF(OWNER_PRIVATE) | KPF(ARCH) | \
	 KPF(UNCACHED) | KPF(ARCH_2) | KPF(ARCH_3))

/* The kpageflags bits with a name. */
#define NAMED                                                             \
	(FOLIO_BITS | KPF(BUDDY) | KPF(MMAP) | KPF(COMPOUND_HEAD) |       \
	 KPF(COMPOUND_TAIL) | KPF(HWPOISON) | KPF(NOPAGE) |               \
	 KPF(OFFLINE) | KPF(ZERO_PAGE) | KPF(PGTABLE) | KPF(OWNER_2) |    \
	 KPF(MAPPEDTODISK) | KPF(ANON_EXCLUSIVE))

/* Bits that only some configurations or versions can set. */
static const struct {
	uint64_t bit;
	const char *name;
	/* True: if a kernel does not have the bit, it does not have the state,
	 * so the bit is known to be clear. False: the kernel may have the state
	 * without showing it, so the bit is unknown. */
	bool absent_is_clear;
} optional[] = {
	/*
	 * PG_error was removed in 6.12. A failed read or write leaves no other
	 * trace.
	 */
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
	/* 6.12 keeps PG_mappedtodisk as an alias of PG_owner_2. */
	if (has(types, "PG_owner_2"))
		kpf->bit34 = PDET_KPF_34_OWNER_2;
	else if (has(types, "PG_mappedtodisk"))
		kpf->bit34 = PDET_KPF_34_MAPPEDTODISK;
}

/* Bit 34 stands for one bit of struct page that has three meanings. */
static uint64_t bit34(const struct pdet_kpf *kpf, uint64_t flags, bool tail,
		      uint64_t *known)
{
	bool set = flags & KPF(OWNER_2);

	flags &= ~KPF(OWNER_2);
	if (flags & KPF(ANON)) {
		/* The bit is per page. Kernels that show the folio's word for
		 * tails show the head's bit there. */
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
	/* Bits from 60 up are libpagedet's own; no kernel sets them. */
	uint64_t flags = word & ~(~(uint64_t)0 << 60);
	bool tail = flags & KPF(COMPOUND_TAIL);

	*known = kpf->known;
	/* There is no page, so no other bit has a meaning. */
	if (flags & KPF(NOPAGE))
		return KPF(NOPAGE);
	if (tail && head && kpf->tails_own)
		flags = (flags & ~FOLIO_BITS) | (head & FOLIO_BITS);
	/* A slab page has its free list in the place of mapping. Kernels up to
	 * 6.18 show it as ANON and KSM. */
	if (flags & KPF(SLAB))
		flags &= ~(KPF(ANON) | KPF(KSM) | KPF(MMAP));
	/* Only a clear bit is reliable if the kernel may set it on every
	 * anonymous page. */
	if (kpf->ksm_lies && flags & KPF(ANON) && flags & KPF(KSM)) {
		flags &= ~KPF(KSM);
		*known &= ~KPF(KSM);
	}
	/* An access through a mapping sets the accessed bit there, but leaves
	 * this one. Only a clear bit is reliable
	 * (admin-guide/mm/pagemap.rst). */
	if (flags & KPF(IDLE) && !(word & PDET_KPF_IDLE_SEEN)) {
		flags &= ~KPF(IDLE);
		*known &= ~KPF(IDLE);
	}
	flags = bit34(kpf, flags, tail, known);
	/*
	 * A bit that is set is always known, even if it does not have a name.
	 */
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
		/* before ANON and RESERVED: the zero page is zero whatever
		 * other bits are set */
		{ KPF(ZERO_PAGE), PAGEDET_KIND_ZERO },
		{ KPF(HUGE), PAGEDET_KIND_HUGETLB },
		{ KPF(ANON), PAGEDET_KIND_ANON },
		{ KPF(RESERVED), PAGEDET_KIND_RESERVED },
	};
	unsigned i;

	for (i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (flags & order[i].bit)
			return order[i].kind;
	/* Without ANON, only shmem is swap-backed. */
	if (flags & KPF(SWAPBACKED))
		return PAGEDET_KIND_SHMEM;
	if (flags & (KPF(LRU) | KPF(WRITEBACK)))
		return PAGEDET_KIND_FILE;
	/* A mapped page that is not on the LRU may be a page of a driver. An
	 * unmapped page may be any allocation of the kernel. */
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
