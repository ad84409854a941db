/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Kinds of pages whose mapcount includes every user mapping. The kernel does
 * not count mappings of the zero pages. Nor does it count mappings that a
 * driver makes of kernel pages by their frames (remap_pfn_range()).
 */
#ifndef PDET_QUERY_COUNTED_H
#define PDET_QUERY_COUNTED_H

#include "backend/backend.h"

/* pdet_is_counted - @kind: PAGEDET_KIND_* */
static inline bool pdet_is_counted(uint64_t kind)
{
	return kind == PAGEDET_KIND_ANON || kind == PAGEDET_KIND_FILE ||
	       kind == PAGEDET_KIND_SHMEM || kind == PAGEDET_KIND_HUGETLB;
}

/*
 * pdet_is_proof - whether a page of @kind that is counted @maps times has no
 * other mapping. Drivers of graphics keep buffers in shmem, whose pages they
 * map by their frames (drm_gem_shmem_fault()): their count is 0.
 */
static inline bool pdet_is_proof(uint64_t kind, uint64_t maps)
{
	return pdet_is_counted(kind) && (maps || kind != PAGEDET_KIND_SHMEM);
}

/*
 * pdet_is_hidden - whether a page of @kind may have mappings that no source has
 * seen. @maps: its mappings, as counted or found. @blind: PDET_BLIND_* of the
 * source.
 */
static inline bool pdet_is_hidden(uint64_t kind, uint64_t maps, unsigned blind)
{
	switch (kind) {
	case PAGEDET_KIND_SHMEM:
		return !maps && blind & PDET_BLIND_DRIVER;
	case PAGEDET_KIND_ANON: case PAGEDET_KIND_FILE:
	case PAGEDET_KIND_HUGETLB: case PAGEDET_KIND_ZERO:
		return false;
	case PAGEDET_KIND_KERNEL: case PAGEDET_KIND_RESERVED:
	case PAGEDET_KIND_UNKNOWN:
		return blind;
	default:
		return blind & PDET_BLIND_DRIVER;
	}
}

#endif
