/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes swap entries: a type of 5 bits and an offset. The highest types are
 * not swap files. Their numbers depend on the kernel's configuration
 * (include/linux/swap.h, MAX_SWAPFILES). They changed in 5.14, 5.19, 6.2 and
 * 6.15, which functions and members of these releases show.
 */
#include <elf.h>
#include <string.h>

#include "kernel/object/swap.h"

#define TYPE_BITS 5
#define OFFSET_BITS 50		/* arm64 */
#define TYPES (1u << TYPE_BITS)
/* Types of the kernel that has most: a failed swap-in, markers, four of
 * devices, three of migration, poison. */
#define MOST_OTHERS 10
/* PTE_MARKER_* */
#define MARK_UFFD_WP 1
#define MARK_POISON 2
#define MARK_GUARD 4

enum age { UNKNOWN, UNTIL_5_18, UNTIL_6_1, SINCE_6_2 };

/* Exclusive pages came together with the third type of migration. Since 6.2
 * folios count their mapped pages, and all kernels have markers. */
static enum age age_of(const struct pdet_btf *btf)
{
	struct pdet_btf_member m;
	uint64_t value;

	if (!btf || !pdet_btf_enumerator(btf, "pageflags", "PG_locked", &value))
		return UNKNOWN;
	if (!pdet_btf_enumerator(btf, "pageflags", "PG_anon_exclusive", &value))
		return UNTIL_5_18;
	return pdet_btf_member(btf, "folio._nr_pages_mapped", &m) ||
	       pdet_btf_member(btf, "folio._subpages_mapcount", &m) ||
	       pdet_btf_member(btf, "folio._large_mapcount", &m) ?
	       SINCE_6_2 : UNTIL_6_1;
}

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
	unsigned devices, migrations;
	enum age age = age_of(btf);

	memset(f, 0, sizeof(*f));
	f->machine = paging->arch->machine;
	f->frame_bits = 40;
	if (pdet_vmcoreinfo_number(info, "MAX_PHYSMEM_BITS", &bits) &&
	    bits > paging->page_shift && bits < 52)
		f->frame_bits = (unsigned)bits - paging->page_shift;
	/* arm64 moved them in 6.10, when folios began to count their mappings.
	 * Nothing else tells the two apart. Until 5.18 a type had 6 bits. */
	newer = btf && pdet_btf_member(btf, "folio._large_mapcount", &m);
	f->type_shift = newer ? 6 : age == UNTIL_5_18 ? 2 : 3;
	f->offset_shift = newer ? 12 : 8;
	f->markers = age == SINCE_6_2;
	/* From 5.19 to 6.1 the last type is that of failed swap-ins. Markers
	 * depend on the configuration, and need uffd-wp of the machine. */
	f->end = age == UNTIL_5_18 ? TYPES : TYPES - 1;
	f->maybe_markers = age == UNTIL_6_1 && f->machine == EM_X86_64;
	devices = has->make_device_exclusive ? 3 :
		  has->make_device_exclusive_range ? 4 :
		  age == UNTIL_5_18 && has->migrate_vma_setup ? 2 : 0;
	/* Migrating pages: readable, writable; exclusive since 5.19. */
	migrations = !has->migrate_pages ? 0 : age == UNTIL_5_18 ? 2 : 3;
	f->device = f->end - devices;
	f->migration = f->device - migrations;
	f->hwpoison = f->migration - (has->memory_failure ? 1 : 0);
	f->sure = functions && age != UNKNOWN;
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

static enum pdet_swap_is plain_kind(const struct pdet_swap_form *f,
				    uint32_t type)
{
	return type >= f->end ? PDET_SWAP_UNKNOWN :
	       type >= f->device ? PDET_SWAP_DEVICE :
	       type >= f->migration ? PDET_SWAP_MIGRATION :
	       type >= f->hwpoison ? PDET_SWAP_HWPOISON : PDET_SWAP_FILE;
}

static enum pdet_swap_is kind(const struct pdet_swap_form *f, uint32_t type,
			      uint64_t offset)
{
	enum pdet_swap_is is;

	if (f->markers && type == TYPES - 1)
		return mark(offset);
	if (!f->sure)
		return type < TYPES - MOST_OTHERS ? PDET_SWAP_FILE :
						    PDET_SWAP_UNKNOWN;
	is = plain_kind(f, type);
	/* With markers all types before them are one lower. */
	return f->maybe_markers && is != plain_kind(f, type + 1) ?
	       PDET_SWAP_UNKNOWN : is;
}

struct pdet_swap_entry pdet_swap_decode(const struct pdet_swap_form *f,
					uint64_t entry)
{
	struct pdet_swap_entry e;
	if (f->machine == EM_X86_64) {
		/* the offset is inverted, so that speculation finds no memory
		 * there (L1TF) */
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
