/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the direct map: the first mapping of the kernel's half. On x86-64 a
 * hole for a hypervisor precedes it (Documentation/arch/x86/x86_64/mm.rst). On
 * arm64 it starts the half (Documentation/arch/arm64/memory.rst).
 */
#include <errno.h>

#include "kernel/address/directmap.h"

#define KERNEL_HALF 0xff00000000000000ull

static int take_first(void *arg, const struct pdet_leaf *leaf)
{
	if (leaf->is != PDET_PT_PAGE)
		return 0;
	*(struct pdet_leaf *)arg = *leaf;
	return 1;
}

static int note_lost(void *arg, uint64_t start, uint64_t size, int error)
{
	(void)arg;
	(void)start;
	(void)size;
	return error;
}

int pdet_directmap_find(struct pdet_reader *r, const struct pdet_paging *p,
			uint64_t *ret)
{
	struct pdet_leaf leaf;
	const struct pdet_paging_visit visit = { take_first, note_lost, &leaf,
						 NULL };
	uint64_t base, at;
	int e = pdet_paging_each(r, p, p->root, KERNEL_HALF, UINT64_MAX,
				 &visit);

	if (e != 1)
		return e < 0 ? e : -EBADMSG;
	base = leaf.start - leaf.addr;
	/* Verify: the direct map must map the page tables themselves. */
	at = base + p->root;
	e = pdet_paging_walk(r, p, p->root, at, &leaf);
	if (e < 0)
		return e == -ENOENT ? -EBADMSG : e;
	if (leaf.is != PDET_PT_PAGE || leaf.addr + (at - leaf.start) != p->root)
		return -EBADMSG;
	*ret = base;
	return 0;
}

uint64_t pdet_directmap_end(const struct pdet_paging *p, uint64_t base)
{
	/* a quarter of what the tables translate: 64 TB, or 32 PB */
	if (p->one_root)
		return base + ((uint64_t)1 << (p->va_bits - 2));
	return -((uint64_t)1 << (PDET_MIN(p->va_bits, 48u) - 1));
}
