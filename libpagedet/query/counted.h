/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Kinds of pages whose mapcount includes every user mapping. The kernel does
 * not count mappings of the zero pages. Nor does it count mappings that a
 * driver makes of kernel pages by their frames (remap_pfn_range()).
 */
#ifndef PDET_QUERY_COUNTED_H
#define PDET_QUERY_COUNTED_H

#include <pagedet.h>
#include <stdbool.h>
#include <stdint.h>

/* pdet_is_counted - @kind: PAGEDET_KIND_* */
static inline bool pdet_is_counted(uint64_t kind)
{
	return kind == PAGEDET_KIND_ANON || kind == PAGEDET_KIND_FILE ||
	       kind == PAGEDET_KIND_SHMEM || kind == PAGEDET_KIND_HUGETLB;
}

#endif
