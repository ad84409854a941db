/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Sorts the collected mappings by frame. */
#ifndef PDET_QUERY_MAPINDEX_SORT_H
#define PDET_QUERY_MAPINDEX_SORT_H

#include <stddef.h>
#include <stdint.h>

#define PDET_MAPPING_TASK_BITS 24
#define PDET_MAPPING_RUN_BITS 3
/* key >> this is a block of 8 frames. Entries are sorted by block. */
#define PDET_MAPPING_BLOCK_SHIFT \
	(PDET_MAPPING_TASK_BITS + PDET_MAPPING_RUN_BITS)

/*
 * One mapping, or several alike mappings of consecutive pages to consecutive
 * frames: the kernel usually allocates several frames at once. An entry never
 * crosses a block, so all entries of a frame are in one place.
 *
 * key    first pfn << 24 | number of the task
 * place  page number of the first address << 19 | (frames - 1) << 16 |
 *        low 16 bits of pte
 */
struct pdet_mapping {
	uint64_t key;
	uint64_t place;
};

/* A contiguous array of entries. */
struct pdet_mapping_chunk {
	const struct pdet_mapping *data;
	size_t n;
	uint64_t bits;		/* all bits set in any of the keys */
};

/*
 * pdet_mapping_sort - sort the entries of @chunks by the block of their frames.
 * Entries of one block stay in the order of the chunks. @ret has the exact
 * size; the caller frees it with free(). Returns 0 or -ENOMEM.
 */
int pdet_mapping_sort(const struct pdet_mapping_chunk *chunks, size_t n_chunks,
		      unsigned threads, struct pdet_mapping **ret,
		      size_t *n_ret);

#endif
