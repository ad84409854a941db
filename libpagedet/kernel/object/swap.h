/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Entries of page tables that do not map a page (include/linux/swapops.h). Such
 * an entry is a page that was swapped out, a page that is being moved, a
 * poisoned page, or a mark.
 */
#ifndef PDET_KERNEL_OBJECT_SWAP_H
#define PDET_KERNEL_OBJECT_SWAP_H

#include "kernel/types/fields.h"

/* The functions that write special entries. A kernel does not export which
 * types it has, but kallsyms shows which of these functions exist. */
struct pdet_swap_functions {
	bool memory_failure;
	bool migrate_pages;
	bool migrate_vma_setup;	/* with device memory; read until 5.13 */
	bool make_device_exclusive_range; /* 5.14 to 6.14 */
	bool make_device_exclusive;	/* 6.15 */
};

struct pdet_swap_form {
	uint16_t machine;	/* EM_* */
	unsigned type_shift, offset_shift; /* arm64 */
	unsigned frame_bits;	/* bits of a frame number; the bits above hold
				 * flags: young, dirty */
	/* First type of each kind. [0, hwpoison) are swap files; types from end
	 * on are markers, or unknown. */
	unsigned hwpoison, migration, device, end;
	bool markers;		/* the last type is that of markers */
	bool maybe_markers;	/* a type of markers may be before end */
	bool sure;		/* all types are known, not only swap files and
				 * markers */
};

/* pdet_swap_form_init - @btf or @functions NULL: types or symbols are
 * unknown. */
void pdet_swap_form_init(struct pdet_swap_form *f,
			 const struct pdet_paging *paging,
			 const struct pdet_vmcoreinfo *info,
			 const struct pdet_btf *btf,
			 const struct pdet_swap_functions *functions);

enum pdet_swap_is {
	PDET_SWAP_UNKNOWN,	/* a type that may be either */
	PDET_SWAP_FILE,		/* type and offset locate the page */
	PDET_SWAP_HWPOISON,	/* offset: the poisoned frame */
	PDET_SWAP_MIGRATION,	/* offset: the migrating frame */
	PDET_SWAP_DEVICE,	/* the offset is a frame of device memory, or
				 * one that a device owns exclusively for now */
	PDET_SWAP_MARK_UFFD_WP,
	PDET_SWAP_MARK_POISON,
	PDET_SWAP_MARK_GUARD,
	PDET_SWAP_MARK		/* another marker */
};

struct pdet_swap_entry {
	enum pdet_swap_is is;
	uint32_t type;
	uint64_t offset;	/* page in the swap area, or a frame */
};

/* pdet_swap_decode - decode an entry that is PDET_PT_OTHER. All such entries of
 * x86-64 and arm64 have this form. */
struct pdet_swap_entry pdet_swap_decode(const struct pdet_swap_form *f,
					uint64_t entry);

#endif
