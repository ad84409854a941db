/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Entries of page tables that map nothing (include/linux/swapops.h): a page
 * that was swapped out, that moves, that is broken, or a mark; and where pages
 * are swapped to.
 */
#ifndef PDET_KERNEL_SWAP_H
#define PDET_KERNEL_SWAP_H

#include "kernel/fields.h"

/* MAX_SWAPFILES of any kernel */
#define PDET_SWAPS 32

/* Which kinds of entries a kernel has, which it does not tell; but it has the
 * functions that write them, and those are named in kallsyms. */
struct pdet_swap_functions {
	bool memory_failure;
	bool migrate_pages;
	bool make_device_exclusive_range; /* until 6.14 */
	bool make_device_exclusive;	/* 6.15 */
};

struct pdet_swap_form {
	uint16_t machine;	/* EM_* */
	unsigned type_shift, offset_shift; /* of arm64 */
	unsigned frame_bits;	/* of a frame's number; above is how the entry
				 * was: young, dirty */
	/* Types: [0, hwpoison) are of swap files. */
	unsigned hwpoison, migration, device, marker;
	bool sure;		/* of all but swap files and markers */
};

/* pdet_swap_form_init - @functions NULL: symbols are not known. */
void pdet_swap_form_init(struct pdet_swap_form *f,
			 const struct pdet_paging *paging,
			 const struct pdet_vmcoreinfo *info,
			 const struct pdet_btf *btf,
			 const struct pdet_swap_functions *functions);

enum pdet_swap_is {
	PDET_SWAP_UNKNOWN,	/* one of those between */
	PDET_SWAP_FILE,		/* type and offset say where it is */
	PDET_SWAP_HWPOISON,	/* offset: the frame that is broken */
	PDET_SWAP_MIGRATION,	/* offset: the frame that moves */
	PDET_SWAP_DEVICE,	/* offset: a frame that only a device has, or
				 * has for now */
	PDET_SWAP_MARK_UFFD_WP,
	PDET_SWAP_MARK_POISON,
	PDET_SWAP_MARK_GUARD,
	PDET_SWAP_MARK		/* another one */
};

struct pdet_swap_entry {
	enum pdet_swap_is is;
	uint32_t type;
	uint64_t offset;	/* pages, or a frame */
};

/* pdet_swap_decode - of an entry that is PDET_PT_OTHER; all such of x86-64 and
 * arm64 are. */
struct pdet_swap_entry pdet_swap_decode(const struct pdet_swap_form *f,
					uint64_t entry);

struct pdet_swap {
	bool used;
	uint64_t addr;		/* of its swap_info_struct */
	uint64_t file;		/* struct file; 0: unknown */
	uint64_t pages;		/* that offsets are below */
	uint64_t pages_used;
};

struct pdet_swaps {
	struct pdet_swap swap[PDET_SWAPS];
	uint32_t n;		/* types up to the last that is used */
};

/* pdet_swaps_read - by the addresses of swap_info and nr_swapfiles. 0, or a
 * result of memory/memory.h; -ENODATA: the types do not say enough. */
int pdet_swaps_read(struct pdet_swaps *ret, struct pdet_space *space,
		    const struct pdet_btf *btf, uint64_t swap_info,
		    uint64_t nr_swapfiles);

#endif
