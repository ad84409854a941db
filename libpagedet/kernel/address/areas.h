/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The areas of the kernel's address space
 * (Documentation/arch/x86/x86_64/mm.rst, Documentation/arch/arm64/memory.rst).
 * Borders come from the kernel itself, or are fixed.
 */
#ifndef PDET_KERNEL_ADDRESS_AREAS_H
#define PDET_KERNEL_ADDRESS_AREAS_H

#include "kernel/address/paging.h"

struct pdet_area {
	uint64_t first, last;	/* both 0: unknown */
	bool vague;		/* the area may begin after first, or end before
				 * last */
	bool pieces;		/* allocated piece by piece */
	const char *name;	/* as in "[direct map]" */
	unsigned map;		/* PAGEDET_MAP_* of mappings there; 0 if it is
				 * not a kernel address */
};

/* -4095 ... -1, which are errors, not addresses. */
extern const struct pdet_area pdet_area_errors;

#define PDET_AREAS 10

/* The areas of one kernel; read-only after set-up. */
struct pdet_areas {
	const struct pdet_paging *paging;
	bool has_direct;
	uint64_t direct;	/* virtual minus physical address in the direct
				 * map, modulo 2^64 */
	uint64_t text;		/* any address in the kernel's image */
	struct pdet_area image;
	struct pdet_area area[PDET_AREAS];
	unsigned n;
};

/* Facts that VMCOREINFO lacks; 0: unknown. */
struct pdet_areas_facts {
	uint64_t vmalloc;	/* start of the area */
	uint64_t end;		/* end of physical memory */
	uint64_t memmap, memmap_end; /* the memory map, if it is contiguous */
};

void pdet_areas_init(struct pdet_areas *a, const struct pdet_paging *p,
		     const struct pdet_vmcoreinfo *info, const uint64_t *direct,
		     const struct pdet_areas_facts *facts);

/* pdet_areas_canonical - the address without a tag that hardware ignores, as
 * the page tables have it. */
uint64_t pdet_areas_canonical(const struct pdet_areas *a, uint64_t va);

/*
 * pdet_areas_is_kernel - true if an address without tag is in the kernel's
 * half.
 */
bool pdet_areas_is_kernel(const struct pdet_areas *a, uint64_t va);

/*
 * pdet_areas_find - the area of an address, found only by the borders. NULL if
 * it is unknown.
 */
const struct pdet_area *pdet_areas_find(const struct pdet_areas *a,
					uint64_t va);

/* pdet_areas_of - the same if @va is known to map the physical address
 * @addr. */
const struct pdet_area *pdet_areas_of(const struct pdet_areas *a, uint64_t va,
				      uint64_t addr);

/* pdet_areas_map - PAGEDET_MAP_* of such a mapping, or 0 if it is unknown. */
unsigned pdet_areas_map(const struct pdet_areas *a, uint64_t va,
			uint64_t addr);

#endif
