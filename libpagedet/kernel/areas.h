/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What the kernel's half of the address space is divided into
 * (Documentation/arch/x86/x86_64/mm.rst, Documentation/arch/arm64/memory.rst).
 * Borders are those that the kernel itself tells, or that never move.
 */
#ifndef PDET_KERNEL_AREAS_H
#define PDET_KERNEL_AREAS_H

#include "kernel/paging.h"

struct pdet_area {
	uint64_t first, last;	/* both 0: not known */
	bool vague;		/* it may begin behind its first address, or
				 * end before its last */
	bool pieces;		/* is given away piece by piece */
	const char *name;	/* as in "[direct map]" */
	unsigned map;		/* PAGEDET_MAP_* of what is mapped there; 0:
				 * addresses that are not the kernel's */
};

#define PDET_AREAS 10

/* Of one kernel; read-only once it is set up. */
struct pdet_areas {
	const struct pdet_paging *paging;
	bool has_direct;
	uint64_t direct;	/* virtual minus physical address in the direct
				 * map, modulo 2^64 */
	uint64_t text;		/* some address in the kernel's image */
	struct pdet_area image;
	struct pdet_area area[PDET_AREAS];
	unsigned n;
};

/* What is not in VMCOREINFO; 0: not known. */
struct pdet_areas_facts {
	uint64_t vmalloc;	/* where it begins */
	uint64_t end;		/* of physical memory */
	uint64_t memmap, memmap_end; /* the memory map, if it is one */
};

void pdet_areas_init(struct pdet_areas *a, const struct pdet_paging *p,
		     const struct pdet_vmcoreinfo *info, const uint64_t *direct,
		     const struct pdet_areas_facts *facts);

/* pdet_areas_canonical - an address as the tables have it, without a tag that
 * hardware does not look at. */
uint64_t pdet_areas_canonical(const struct pdet_areas *a, uint64_t va);

/* pdet_areas_is_kernel - whether an address without tag is the kernel's. */
bool pdet_areas_is_kernel(const struct pdet_areas *a, uint64_t va);

/* pdet_areas_find - the one around an address, by borders alone; NULL: none is
 * known. */
const struct pdet_area *pdet_areas_find(const struct pdet_areas *a,
					uint64_t va);

/* pdet_areas_of - the same where it is known that @va is mapped to physical
 * address @addr. */
const struct pdet_area *pdet_areas_of(const struct pdet_areas *a, uint64_t va,
				      uint64_t addr);

/* pdet_areas_map - PAGEDET_MAP_* of such a mapping; 0: not known. */
unsigned pdet_areas_map(const struct pdet_areas *a, uint64_t va,
			uint64_t addr);

#endif
