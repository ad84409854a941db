/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the struct page of a frame through the sections of the memory map
 * (Linux include/linux/mmzone.h, struct mem_section). It needs only VMCOREINFO.
 * An unreadable part is lost; the others are usable.
 */
#ifndef PDET_KERNEL_PAGE_MEMMAP_H
#define PDET_KERNEL_PAGE_MEMMAP_H

#include "kernel/address/space.h"
#include "kernel/types/layout.h"

struct pdet_memmap {
	uint64_t page_size;	/* bytes of a struct page */
	unsigned section_shift;	/* log2 of the pages in a section */
	unsigned root_shift;	/* log2 of the sections in a root */
	/* By root (NULL if it is empty) and section: the address of the struct
	 * page of pfn 0 according to this section, with the kernel's state
	 * bits. 0: the section has no memory map. */
	uint64_t **root;
	uint64_t n_roots;	/* allocated entries */
	uint64_t n_sections;	/* up to the last one with a memory map */
	/* By root: bitmaps that show which parts of each section are in use.
	 * NULL: unknown. */
	uint64_t **part;
	unsigned part_shift;	/* log2 of the pages in a part */
	/*
	 * Sections that may exist, because the memory that describes them
	 * cannot be read.
	 */
	struct pdet_memmap_lost {
		uint64_t first, last;
		int error;	/* a result of memory/memory.h */
	} *lost;
	size_t n_lost;
	struct {
		uint64_t addr, n;	/* array of pointers to roots */
		uint64_t size;		/* size of struct mem_section */
		uint64_t map_offset;	/* offset of section_mem_map in it */
		uint64_t base;		/* common base of all sections, if
					 * known */
	} array;
};

/* pdet_memmap_read - returns 0, or a negative errno with an error text in @env.
 * It is not a failure if parts cannot be read, as long as there is at least one
 * section. */
int pdet_memmap_read(struct pdet_memmap *ret, struct pdet_env *env,
		     struct pdet_space *space,
		     const struct pdet_vmcoreinfo *info, unsigned page_shift);

/* pdet_memmap_add_types - read which parts of sections are used. Needs the
 * types. If that cannot be read, or if the kernel does not record it, all parts
 * count as used. Returns 0, or -ENOMEM with an error text. */
int pdet_memmap_add_types(struct pdet_memmap *m, struct pdet_env *env,
			  struct pdet_space *space,
			  const struct pdet_layout *layout);
void pdet_memmap_free(struct pdet_memmap *m);

#define PDET_MEMMAP_STATE 0xfff	/* state bits */

/* pdet_memmap_section - the stored entry for a frame; 0 if there is none. */
static inline uint64_t pdet_memmap_section(const struct pdet_memmap *m,
					   uint64_t pfn)
{
	const uint64_t i = pfn >> m->section_shift, r = i >> m->root_shift;

	return r < m->n_roots && m->root[r] ?
		m->root[r][i & (((uint64_t)1 << m->root_shift) - 1)] : 0;
}

/* pdet_memmap_page - the address of a frame's struct page; 0 if it has none. */
static inline uint64_t pdet_memmap_page(const struct pdet_memmap *m,
					uint64_t pfn)
{
	const uint64_t section = pdet_memmap_section(m, pfn);

	return section ? (section & ~(uint64_t)PDET_MEMMAP_STATE) +
			 pfn * m->page_size : 0;
}

enum pdet_memmap_is {
	PDET_MEMMAP_NONE,	/* no struct page */
	PDET_MEMMAP_LOST,	/* it is unknown whether there is one */
	PDET_MEMMAP_UNUSED,	/* a struct page without memory of this kernel:
				 * a hole, device memory, or offline */
	PDET_MEMMAP_SHARED,	/* memory of the kernel or of a device */
	PDET_MEMMAP_USED
};

/* pdet_memmap_is - what the kernel has for a frame. If that is lost, *@error is
 * the reason. */
enum pdet_memmap_is pdet_memmap_is(const struct pdet_memmap *m, uint64_t pfn,
				   int *error);

/* pdet_memmap_find - the frame whose struct page contains @addr, which may be
 * any address; *within is the offset in it. False if there is none. */
bool pdet_memmap_find(const struct pdet_memmap *m, uint64_t addr,
		      uint64_t *ret, uint64_t *within);

/* pdet_memmap_base - the address of pfn 0's struct page, which need not exist.
 * Returns false unless all sections have the same one, as in a virtual memory
 * map. */
bool pdet_memmap_base(const struct pdet_memmap *m, uint64_t *ret);

/* pdet_memmap_first - the first frame of the first section. */
uint64_t pdet_memmap_first(const struct pdet_memmap *m);

#endif
