/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Zones of memory and their free pages (include/linux/mmzone.h): in blocks, and
 * on lists of processors.
 */
#ifndef PDET_KERNEL_ZONE_H
#define PDET_KERNEL_ZONE_H

#include "base/env.h"
#include "kernel/fields.h"
#include "kernel/percpu.h"
#include "kernel/vmcoreinfo.h"

#define PDET_ZONE_NAME 16

struct pdet_zone {
	uint32_t node;
	uint32_t index;		/* in its node */
	char name[PDET_ZONE_NAME]; /* "DMA32" */
	uint64_t first, n;	/* frames that it spans; zones may overlap */
	uint64_t addr;
	uint64_t pageset;	/* of each processor */
};

struct pdet_zones {
	struct pdet_struct node, zone, area, pageset, page;
	uint64_t zone_size, area_size;
	uint32_t orders, types;	/* free lists a zone, and an order */
	struct {
		struct pdet_zone *data;
		size_t n, cap;
	} zone_of;
};

/*
 * pdet_zones_read - @node_data: address of the symbol, if VMCOREINFO does not
 * say it; 0: the kernel has none. 0, or negative errno with words in @env.
 */
int pdet_zones_read(struct pdet_zones *ret, struct pdet_env *env,
		    struct pdet_space *space,
		    const struct pdet_vmcoreinfo *info,
		    const struct pdet_btf *btf, uint64_t node_data);
void pdet_zones_free(struct pdet_zones *z);

/* pdet_zone_find - of a frame; NULL: of none, or of several. */
const struct pdet_zone *pdet_zone_find(const struct pdet_zones *z,
				       uint64_t pfn);

/* A block of free pages. */
struct pdet_free {
	uint64_t page;		/* address of its first struct page */
	uint32_t order;
	uint32_t type;		/* enum migratetype of the list */
	int32_t cpu;		/* -1: the zone's */
};

/*
 * pdet_zone_each_free - all blocks on the lists of a zone; of its processors,
 * if @percpu is given, and only those. Not 0 ends it. 0, what a visit
 * returned, or why some may be missing: a result of memory/memory.h.
 */
int pdet_zone_each_free(struct pdet_space *space, const struct pdet_zones *z,
			const struct pdet_zone *zone,
			const struct pdet_percpu *percpu,
			int (*visit)(void *arg, const struct pdet_free *block),
			void *arg);

#endif
