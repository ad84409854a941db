/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Where the struct page of a frame is: sections of the memory map (Linux
 * include/linux/mmzone.h, struct mem_section), out of VMCOREINFO alone. What
 * of it cannot be read is lost, and the rest is there.
 */
#ifndef PDET_KERNEL_MEMMAP_H
#define PDET_KERNEL_MEMMAP_H

#include "kernel/layout.h"
#include "kernel/space.h"

struct pdet_memmap {
	uint64_t page_size;	/* bytes of a struct page */
	unsigned section_shift;	/* pages of a section, as a power of 2 */
	unsigned root_shift;	/* sections of a root, the same */
	/* By root, NULL if it has none, and section: the address of the struct
	 * page of pfn 0, as this section would have it, with the kernel's bits
	 * of state; 0: none. */
	uint64_t **root;
	uint64_t n_roots;	/* there is room for */
	uint64_t n_sections;	/* up to the last that has a memory map */
	/* By root, and words of bits by section: which parts of it the kernel
	 * uses. NULL: that is not known. */
	uint64_t **part;
	unsigned part_shift;	/* pages of a part */
	/* Sections that may be there: what would say so cannot be read. */
	struct pdet_memmap_lost {
		uint64_t first, last;
		int error;	/* a result of memory/memory.h */
	} *lost;
	size_t n_lost;
	struct {
		uint64_t addr, n;	/* an array of pointers to roots */
		uint64_t size;		/* of struct mem_section */
		uint64_t map_offset;	/* of its member section_mem_map */
		uint64_t base;		/* of all sections, if it is known */
	} array;
};

/* pdet_memmap_read - 0, or negative errno with words in @env. Parts that
 * cannot be read are no failure as long as there is a section. */
int pdet_memmap_read(struct pdet_memmap *ret, struct pdet_env *env,
		     struct pdet_space *space,
		     const struct pdet_vmcoreinfo *info, unsigned page_shift);

/* pdet_memmap_add_types - later, or never: which parts of sections are used.
 * Where that cannot be read or the kernel does not keep it, all are. 0, or
 * -ENOMEM with words. */
int pdet_memmap_add_types(struct pdet_memmap *m, struct pdet_env *env,
			  struct pdet_space *space,
			  const struct pdet_layout *layout);
void pdet_memmap_free(struct pdet_memmap *m);

#define PDET_MEMMAP_STATE 0xfff	/* bits of state */

/* pdet_memmap_section - of a frame, as it is kept; 0: there is none. */
static inline uint64_t pdet_memmap_section(const struct pdet_memmap *m,
					   uint64_t pfn)
{
	const uint64_t i = pfn >> m->section_shift, r = i >> m->root_shift;

	return r < m->n_roots && m->root[r] ?
		m->root[r][i & (((uint64_t)1 << m->root_shift) - 1)] : 0;
}

/* pdet_memmap_page - where the struct page of a frame is; 0: it has none. */
static inline uint64_t pdet_memmap_page(const struct pdet_memmap *m,
					uint64_t pfn)
{
	const uint64_t section = pdet_memmap_section(m, pfn);

	return section ? (section & ~(uint64_t)PDET_MEMMAP_STATE) +
			 pfn * m->page_size : 0;
}

enum pdet_memmap_is {
	PDET_MEMMAP_NONE,	/* no struct page */
	PDET_MEMMAP_LOST,	/* whether there is one is lost */
	PDET_MEMMAP_UNUSED,	/* one of no memory that the kernel has: of a
				 * hole, of a device's memory, offline */
	PDET_MEMMAP_SHARED,	/* one of the kernel's memory or a device's */
	PDET_MEMMAP_USED
};

/* pdet_memmap_is - what the kernel has at a frame; for what is lost, *error
 * says why. */
enum pdet_memmap_is pdet_memmap_is(const struct pdet_memmap *m, uint64_t pfn,
				   int *error);

/* pdet_memmap_pfn - the frame whose struct page is at @addr, looked for near
 * that of @near; false if there is no struct page. */
bool pdet_memmap_pfn(const struct pdet_memmap *m, uint64_t addr, uint64_t near,
		     uint64_t *ret);

/* pdet_memmap_find - the frame whose struct page has the byte at @addr, which
 * is any address, and which of its bytes that is; false if there is none. */
bool pdet_memmap_find(const struct pdet_memmap *m, uint64_t addr,
		      uint64_t *ret, uint64_t *within);

/* pdet_memmap_base - where the struct page of pfn 0 is, or would be, if that is
 * the same for all sections, as in a virtual memory map; else false. */
bool pdet_memmap_base(const struct pdet_memmap *m, uint64_t *ret);

/* pdet_memmap_first - the first frame of the first section. */
uint64_t pdet_memmap_first(const struct pdet_memmap *m);

#endif
