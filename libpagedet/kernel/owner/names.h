/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Names for numbers of page_owner: the bits of allocation flags, and the
 * reasons of migrations. They differ between kernels. Each kernel has tables to
 * print them (mm/debug.c).
 */
#ifndef PDET_KERNEL_OWNER_NAMES_H
#define PDET_KERNEL_OWNER_NAMES_H

#include "kernel/types/fields.h"

#define PDET_OWNER_NAME 40
#define PDET_GFP_NAMES 96
#define PDET_MIGRATE_REASONS 32

struct pdet_gfp_names {
	unsigned n;
	struct {
		uint64_t mask;	/* all bits must be set */
		char name[PDET_OWNER_NAME];
	} entry[PDET_GFP_NAMES];
};

/* pdet_gfp_names_read - read the table of names. @table is the address of
 * gfpflag_names. Returns 0, or a result of memory/memory.h. -ENODATA: the types
 * lack it. */
int pdet_gfp_names_read(struct pdet_gfp_names *ret, struct pdet_space *space,
			const struct pdet_btf *btf, uint64_t table);

/* pdet_gfp_text - flags as the kernel writes them, joined by '|', the rest as a
 * number. Returns the length. */
#define PDET_GFP_TEXT (PDET_GFP_NAMES * (PDET_OWNER_NAME + 1) + 24)
size_t pdet_gfp_text(const struct pdet_gfp_names *names, uint64_t gfp,
		     char buf[PDET_GFP_TEXT]);

/* The bits by which the kernel groups pages (include/linux/gfp.h,
 * gfp_migratetype()). */
struct pdet_gfp_mobility {
	uint64_t movable, reclaimable;
	bool off;		/* memory is too small for groups: all pages
				 * count as unmovable */
};

/* pdet_gfp_mobility_read - find the bits in @names, and whether the kernel uses
 * them. @disabled is the address of page_group_by_mobility_disabled. Returns 0,
 * or a result of memory/memory.h. -ENODATA: one of them is missing. */
int pdet_gfp_mobility_read(struct pdet_gfp_mobility *ret,
			   struct pdet_space *space,
			   const struct pdet_gfp_names *names,
			   uint64_t disabled);

/* pdet_gfp_mobility - the type of block that an allocation with these flags
 * asks for, as page_owner prints it: "Movable". */
const char *pdet_gfp_mobility(const struct pdet_gfp_mobility *m, uint64_t gfp);

struct pdet_migrate_reasons {
	unsigned n;
	char name[PDET_MIGRATE_REASONS][PDET_OWNER_NAME];
};

/* pdet_migrate_reasons_read - the same for migrate_reason_names. */
int pdet_migrate_reasons_read(struct pdet_migrate_reasons *ret,
			      struct pdet_space *space,
			      const struct pdet_btf *btf, uint64_t table);

#endif
