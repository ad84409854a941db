/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the migrate type of a block of pages, which tells the kind of pages it
 * is meant for (include/linux/pageblock-flags.h).
 */
#ifndef PDET_KERNEL_PAGE_PAGEBLOCK_H
#define PDET_KERNEL_PAGE_PAGEBLOCK_H

#include "kernel/page/memmap.h"
#include "kernel/types/fields.h"

#define PDET_MIGRATETYPES 8

struct pdet_pageblocks {
	struct pdet_struct usage;
	uint32_t bits;		/* for each block */
	unsigned shift;		/* log2 of the pages in a block */
	int isolate_bit;	/* -1: isolation is a type */
	/*
	 * The name of each type, as page_owner prints it: "Movable". NULL: the
	 * number is not used.
	 */
	const char *type[PDET_MIGRATETYPES];
	const char *isolate;	/* name, if it is a bit */
};

/*
 * pdet_pageblocks_init - returns false if the types lack something that is
 * needed.
 */
bool pdet_pageblocks_init(struct pdet_pageblocks *b, const struct pdet_btf *btf,
			  const struct pdet_paging *paging,
			  const struct pdet_layout *layout);

/* pdet_pageblock_type - the type of a frame's block. Returns 0, or a result of
 * memory/memory.h. */
int pdet_pageblock_type(struct pdet_space *space,
			const struct pdet_pageblocks *b,
			const struct pdet_memmap *m,
			const struct pdet_layout *layout, uint64_t pfn,
			const char **ret);

#endif
