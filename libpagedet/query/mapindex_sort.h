/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Puts the mappings that were collected in order of their frames. */
#ifndef PDET_QUERY_MAPINDEX_SORT_H
#define PDET_QUERY_MAPINDEX_SORT_H

#include <stddef.h>
#include <stdint.h>

#define PDET_MAPPING_TASK_BITS 24
#define PDET_MAPPING_RUN_BITS 3
/* key >> this is a block of 8 frames, by which entries are sorted. */
#define PDET_MAPPING_BLOCK_SHIFT \
	(PDET_MAPPING_TASK_BITS + PDET_MAPPING_RUN_BITS)

/*
 * One mapping, or several that are alike, of pages that follow each other and
 * of frames that do: most often the kernel gave a task several at once. None
 * goes beyond a block, so those of a frame are all in one place.
 *
 * key    first pfn << 24 | number of the task
 * place  page number of the first address << 19 | (frames - 1) << 16 |
 *        low 16 bits of pte
 */
struct pdet_mapping {
	uint64_t key;
	uint64_t place;
};

/* Some of them, in one piece. */
struct pdet_mapping_chunk {
	const struct pdet_mapping *data;
	size_t n;
	uint64_t bits;		/* all that is set in any of the keys */
};

/*
 * pdet_mapping_sort - all entries of @chunks in order of the block of their
 * frames; those of one block stay in order of the chunks. @ret is for free()
 * and exact in size. 0 or -ENOMEM.
 */
int pdet_mapping_sort(const struct pdet_mapping_chunk *chunks, size_t n_chunks,
		      unsigned threads, struct pdet_mapping **ret,
		      size_t *n_ret);

#endif
