/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks the page tables of any address space; each architecture decodes its own
 * entries. Reads only physical memory. Inconsistent tables are reported as
 * damage, and every walk is bounded by its range.
 */
#ifndef PDET_KERNEL_ADDRESS_PAGING_H
#define PDET_KERNEL_ADDRESS_PAGING_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/address/paging_places.h"
#include "kernel/text/vmcoreinfo.h"
#include "memory/memory.h"

#define PDET_PAGING_LEVELS 5

/* The kind of an entry. */
enum pdet_entry_is {
	PDET_PT_NONE,		/* empty */
	PDET_PT_TABLE,		/* points to the next level */
	PDET_PT_PAGE,		/* the entry maps a page, which may be invisible
				 * to hardware, as for PROT_NONE */
	PDET_PT_OTHER,		/* not a page: swapped, migrating, a marker */
	PDET_PT_BAD		/* no kernel writes such an entry */
};

struct pdet_paging_entry {
	enum pdet_entry_is is;
	uint64_t addr;		/* physical address of the table or page */
};

struct pdet_paging;

struct pdet_paging_arch {
	uint16_t machine;	/* EM_* */
	/* Sets the geometry and the kernel's root from VMCOREINFO. False, with
	 * an error text, if a required key is missing. */
	bool (*set_up)(struct pdet_paging *p, struct pdet_env *env,
		       const struct pdet_vmcoreinfo *info);
	/* @level is 0 for the lowest level. */
	struct pdet_paging_entry (*decode)(const struct pdet_paging *p,
					   uint64_t entry, unsigned level);
};

extern const struct pdet_paging_arch pdet_paging_x86_64;
extern const struct pdet_paging_arch pdet_paging_arm64;

/* The page tables of one kernel; read-only after set-up. */
struct pdet_paging {
	const struct pdet_paging_arch *arch;
	unsigned page_shift;
	unsigned levels;
	unsigned va_bits;	/* bits that the tables translate */
	bool one_root;		/* one root for both halves: the upper bits copy
				 * the highest translated bit. Otherwise they
				 * are 1 for @root, and 0 for that of a
				 * process */
	uint64_t address;	/* the address bits of an entry */
	uint64_t root;		/* physical, the kernel's */
	uint64_t kernel_offset;	/* virtual minus physical address within the
				 * kernel's image */
};

/* True if libpagedet knows the page tables of @machine. */
bool pdet_paging_knows(uint16_t machine);

/* pdet_paging_set_up - returns false, with an error text, if the machine is
 * unknown or if VMCOREINFO lacks a key. */
bool pdet_paging_set_up(struct pdet_paging *ret, struct pdet_env *env,
			uint16_t machine, const struct pdet_vmcoreinfo *info);

/* Log2 of the bytes that one entry of @level covers. */
static inline unsigned pdet_paging_shift(const struct pdet_paging *p,
					 unsigned level)
{
	return p->page_shift + level * (p->page_shift - 3);
}

/* The last entry on the walk to an address. */
struct pdet_leaf {
	enum pdet_entry_is is;	/* never a table */
	unsigned level;
	uint64_t entry;		/* raw value in the table */
	uint64_t start;		/* first virtual address that it covers */
	uint64_t size;		/* bytes that it covers */
	uint64_t addr;		/* physical, at @start; only for PDET_PT_PAGE */
};

/*
 * pdet_paging_walk - find the entry for @va below the table at @root. Returns
 * 0, or a result of memory/memory.h if a table could not be read. -EBADMSG: a
 * table has an invalid entry; -ENOENT: @root does not translate @va.
 */
int pdet_paging_walk(struct pdet_reader *r, const struct pdet_paging *p,
		     uint64_t root, uint64_t va, struct pdet_leaf *ret);

struct pdet_paging_visit {
	/*
	 * Called for each entry that is not empty, ascending. Any value but 0
	 * ends the walk.
	 */
	int (*leaf)(void *arg, const struct pdet_leaf *leaf);
	/*
	 * [start, start + size) of the requested range is lost: its table could
	 * not be read, its entry is invalid (-EBADMSG), or its table was
	 * visited too often (-ELOOP). -ELOOP occurs in a damaged dump, and
	 * where KASAN maps nearly all of its shadow with a few tables. 0
	 * continues the walk.
	 */
	int (*lost)(void *arg, uint64_t start, uint64_t size, int error);
	void *arg;
	/* For tasks in memory that does not change: the tables found so far. A
	 * table already found in another place is lost with -EBADMSG. NULL:
	 * tables may be shared. */
	struct pdet_paging_places *places;
};

/*
 * pdet_paging_each - visit all entries for start .. last that @root can
 * translate. Returns 0, the result of a visit, or -ENOMEM.
 */
int pdet_paging_each(struct pdet_reader *r, const struct pdet_paging *p,
		     uint64_t root, uint64_t start, uint64_t last,
		     const struct pdet_paging_visit *visit);

#endif
