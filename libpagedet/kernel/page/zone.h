/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Zones of memory (include/linux/mmzone.h). */
#ifndef PDET_KERNEL_PAGE_ZONE_H
#define PDET_KERNEL_PAGE_ZONE_H

#include "base/env.h"
#include "kernel/text/vmcoreinfo.h"
#include "kernel/types/fields.h"

#define PDET_ZONE_NAME 16

struct pdet_zone {
	uint32_t node;
	char name[PDET_ZONE_NAME]; /* "DMA32" */
	uint64_t first, n;	/* spanned frames; zones may overlap */
};

struct pdet_zones {
	struct pdet_struct node, zone;
	uint64_t zone_size;
	struct {
		struct pdet_zone *data;
		size_t n, cap;
	} zone_of;
};

/*
 * pdet_zones_read - @node_data is the address of the symbol, for a VMCOREINFO
 * without it. 0: the kernel does not have it. Returns 0, or a negative errno
 * with an error text in @env.
 */
int pdet_zones_read(struct pdet_zones *ret, struct pdet_env *env,
		    struct pdet_space *space,
		    const struct pdet_vmcoreinfo *info,
		    const struct pdet_btf *btf, uint64_t node_data);
void pdet_zones_free(struct pdet_zones *z);

/*
 * pdet_zone_find - the zone of a frame. NULL if there is none, or if there are
 * several.
 */
const struct pdet_zone *pdet_zone_find(const struct pdet_zones *z,
				       uint64_t pfn);

#endif
