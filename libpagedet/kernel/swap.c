/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A type of 5 bits and an offset. The highest types are no swap files, and
 * which they are depends on what a kernel was built with (include/linux/
 * swap.h, MAX_SWAPFILES).
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "kernel/swap.h"

#define TYPE_BITS 5
#define OFFSET_BITS 50		/* of arm64 */
#define TYPES (1u << TYPE_BITS)
/* Moving pages: to be read, to be read and exclusive, to be written. */
#define MIGRATION_TYPES 3
/* PTE_MARKER_* */
#define MARK_UFFD_WP 1
#define MARK_POISON 2
#define MARK_GUARD 4
/* swap_info_struct.flags */
#define SWP_USED 1

void pdet_swap_form_init(struct pdet_swap_form *f,
			 const struct pdet_paging *paging,
			 const struct pdet_vmcoreinfo *info,
			 const struct pdet_btf *btf,
			 const struct pdet_swap_functions *functions)
{
	static const struct pdet_swap_functions none;
	const struct pdet_swap_functions *has = functions ? functions : &none;
	struct pdet_btf_member m;
	uint64_t bits;
	bool newer;

	memset(f, 0, sizeof(*f));
	f->machine = paging->arch->machine;
	f->frame_bits = 40;
	if (pdet_vmcoreinfo_number(info, "MAX_PHYSMEM_BITS", &bits) &&
	    bits > paging->page_shift && bits < 52)
		f->frame_bits = (unsigned)bits - paging->page_shift;
	/* arm64 moved them in 6.10, when folios began to count their mappings;
	 * nothing else that tells is kept. */
	newer = btf && pdet_btf_member(btf, "folio._large_mapcount", &m);
	f->type_shift = newer ? 6 : 3;
	f->offset_shift = newer ? 12 : 8;
	f->marker = TYPES - 1;
	f->device = f->marker - (has->make_device_exclusive ? 3 :
				 has->make_device_exclusive_range ? 4 : 0);
	f->migration = f->device - (has->migrate_pages ? MIGRATION_TYPES : 0);
	f->hwpoison = f->migration - (has->memory_failure ? 1 : 0);
	f->sure = functions;
}

static enum pdet_swap_is mark(uint64_t offset)
{
	if (offset & MARK_POISON)
		return PDET_SWAP_MARK_POISON;
	if (offset & MARK_GUARD)
		return PDET_SWAP_MARK_GUARD;
	return offset & MARK_UFFD_WP ? PDET_SWAP_MARK_UFFD_WP :
				       PDET_SWAP_MARK;
}

static enum pdet_swap_is kind(const struct pdet_swap_form *f, uint32_t type,
			      uint64_t offset)
{
	/* Of 9 types at most nobody knows what they are without names. */
	const unsigned lowest = TYPES - 1 - 4 - MIGRATION_TYPES - 1;

	if (type == f->marker)
		return mark(offset);
	if (!f->sure)
		return type < lowest ? PDET_SWAP_FILE : PDET_SWAP_UNKNOWN;
	return type >= f->device ? PDET_SWAP_DEVICE :
	       type >= f->migration ? PDET_SWAP_MIGRATION :
	       type >= f->hwpoison ? PDET_SWAP_HWPOISON : PDET_SWAP_FILE;
}

struct pdet_swap_entry pdet_swap_decode(const struct pdet_swap_form *f,
					uint64_t entry)
{
	struct pdet_swap_entry e;
	if (f->machine == EM_X86_64) {
		/* the offset the other way round, so that processors that
		 * speculate find no such memory */
		e.type = (uint32_t)(entry >> (64 - TYPE_BITS));
		e.offset = ~entry << TYPE_BITS >> (TYPE_BITS + 9);
	} else {
		e.type = (uint32_t)(entry >> f->type_shift) & (TYPES - 1);
		e.offset = entry >> f->offset_shift &
			   (((uint64_t)1 << OFFSET_BITS) - 1);
	}
	e.is = kind(f, e.type, e.offset);
	if (e.is == PDET_SWAP_HWPOISON || e.is == PDET_SWAP_MIGRATION ||
	    e.is == PDET_SWAP_DEVICE)
		e.offset &= ((uint64_t)1 << f->frame_bits) - 1;
	return e;
}

/* --- files --- */

enum { SWAP_FLAGS, SWAP_FILE, SWAP_MAX, SWAP_INUSE, SWAP_FIELDS };
static const pdet_field_names names[SWAP_FIELDS] = {
	[SWAP_FLAGS] = { "swap_info_struct.flags" },
	[SWAP_FILE] = { "swap_info_struct.swap_file" },
	[SWAP_MAX] = { "swap_info_struct.max" },
	[SWAP_INUSE] = { "swap_info_struct.inuse_pages" },
};

/* Since 6.8 the number has a mark in its highest bits (72d04bdcf3f7). */
#define INUSE_MASK (((uint64_t)1 << 40) - 1)

static int read_swap(struct pdet_space *space, const struct pdet_struct *s,
		     uint64_t addr, struct pdet_swap *ret)
{
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, s, addr, buf);

	if (r < 0)
		return r;
	ret->addr = addr;
	ret->used = pdet_struct_get(s, buf, SWAP_FLAGS) & SWP_USED;
	ret->file = pdet_struct_get(s, buf, SWAP_FILE);
	ret->pages = pdet_struct_get(s, buf, SWAP_MAX);
	ret->pages_used = pdet_struct_get(s, buf, SWAP_INUSE) & INUSE_MASK;
	return !ret->file || pdet_is_address(ret->file) ? 0 : -EBADMSG;
}

int pdet_swaps_read(struct pdet_swaps *ret, struct pdet_space *space,
		    const struct pdet_btf *btf, uint64_t swap_info,
		    uint64_t nr_swapfiles)
{
	struct pdet_struct s;
	uint64_t addr;
	uint32_t n, i;
	int r;

	memset(ret, 0, sizeof(*ret));
	pdet_struct_find(&s, btf, names, SWAP_FIELDS);
	if (!swap_info || !nr_swapfiles || !pdet_struct_has(&s, SWAP_FLAGS) ||
	    !pdet_struct_has(&s, SWAP_FILE) || !pdet_struct_has(&s, SWAP_MAX))
		return -ENODATA;
	r = pdet_space_u32(space, nr_swapfiles, &n);
	if (!r && n > PDET_SWAPS)
		r = -EBADMSG;
	for (i = 0; !r && i < n; i++) {
		r = pdet_space_u64(space, swap_info + (uint64_t)i * 8, &addr);
		if (!r && addr)
			r = read_swap(space, &s, addr, &ret->swap[i]);
	}
	if (!r)
		ret->n = n;
	return r;
}
