/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What the kernel notes for blocks of pages: for which sort of pages each is
 * meant (include/linux/pageblock-flags.h).
 */
#ifndef PDET_KERNEL_PAGEBLOCK_H
#define PDET_KERNEL_PAGEBLOCK_H

#include "kernel/fields.h"
#include "kernel/memmap.h"

#define PDET_MIGRATETYPES 8

struct pdet_pageblocks {
	struct pdet_struct usage;
	uint32_t bits;		/* for each block */
	unsigned shift;		/* pages of a block, as a power of 2 */
	int isolate_bit;	/* -1: that is a type */
	/* By number, as page_owner says them: "Movable". NULL: there is none */
	const char *type[PDET_MIGRATETYPES];
	const char *isolate;	/* where it is a bit */
};

/* pdet_pageblocks_init - false: the types do not say enough. */
bool pdet_pageblocks_init(struct pdet_pageblocks *b, const struct pdet_btf *btf,
			  const struct pdet_paging *paging,
			  const struct pdet_layout *layout);

/* pdet_pageblock_type - of the block that a frame is in. 0, or a result of
 * memory/memory.h. */
int pdet_pageblock_type(struct pdet_space *space,
			const struct pdet_pageblocks *b,
			const struct pdet_memmap *m,
			const struct pdet_layout *layout, uint64_t pfn,
			const char **ret);

#endif
