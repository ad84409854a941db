/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Page tables: what an architecture's entries mean, and walks through the
 * tables of any address space. Reads physical memory, and nothing else is
 * believed: tables that contradict themselves are damage, and no walk is
 * longer than its range.
 */
#ifndef PDET_KERNEL_PAGING_H
#define PDET_KERNEL_PAGING_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/vmcoreinfo.h"
#include "memory/memory.h"

#define PDET_PAGING_LEVELS 5

/* What an entry is. */
enum pdet_entry_is {
	PDET_PT_NONE,		/* empty */
	PDET_PT_TABLE,		/* leads to the next level */
	PDET_PT_PAGE,		/* maps a page; hardware may be told not to
				 * let it through, as for PROT_NONE */
	PDET_PT_OTHER,		/* no page: swapped, migrating, a marker */
	PDET_PT_BAD		/* no entry that a kernel writes */
};

struct pdet_paging_entry {
	enum pdet_entry_is is;
	uint64_t addr;		/* physical: of the table or of the page */
};

struct pdet_paging;

struct pdet_paging_arch {
	uint16_t machine;	/* EM_* */
	/* Fills in the geometry and the kernel's root from VMCOREINFO; false,
	 * with words, if something that is needed is not there. */
	bool (*set_up)(struct pdet_paging *p, struct pdet_env *env,
		       const struct pdet_vmcoreinfo *info);
	/* @level is 0 for the lowest. */
	struct pdet_paging_entry (*decode)(const struct pdet_paging *p,
					   uint64_t entry, unsigned level);
};

extern const struct pdet_paging_arch pdet_paging_x86_64;
extern const struct pdet_paging_arch pdet_paging_arm64;

/* Of one kernel; read-only once it is set up. */
struct pdet_paging {
	const struct pdet_paging_arch *arch;
	unsigned page_shift;
	unsigned levels;
	unsigned va_bits;	/* that the tables translate */
	bool one_root;		/* for both halves: the other bits are copies
				 * of the highest of these. Else they are 1
				 * below @root and 0 below that of a process */
	uint64_t address;	/* bits of an entry that are its address */
	uint64_t root;		/* physical, of the kernel */
	uint64_t kernel_offset;	/* virtual minus physical address within the
				 * kernel's image */
};

/* Whether the page tables of a machine are known. */
bool pdet_paging_knows(uint16_t machine);

/* pdet_paging_set_up - false, with words, for another machine or where
 * VMCOREINFO does not say enough. */
bool pdet_paging_set_up(struct pdet_paging *ret, struct pdet_env *env,
			uint16_t machine, const struct pdet_vmcoreinfo *info);

/* How far one entry of a level reaches: 1 << this bytes. */
static inline unsigned pdet_paging_shift(const struct pdet_paging *p,
					 unsigned level)
{
	return p->page_shift + level * (p->page_shift - 3);
}

/* The last entry on the way to an address. */
struct pdet_leaf {
	enum pdet_entry_is is;	/* never a table */
	unsigned level;
	uint64_t entry;		/* as it is in the table */
	uint64_t start;		/* first virtual address that it is for */
	uint64_t size;		/* bytes that it is for */
	uint64_t addr;		/* physical, of @start; of PDET_PT_PAGE */
};

/*
 * pdet_paging_walk - the entry for @va below the table at @root. 0, or a
 * result of memory/memory.h where a table could not be read; -EBADMSG a table
 * has an entry that is none; -ENOENT there is no such address below @root.
 */
int pdet_paging_walk(struct pdet_reader *r, const struct pdet_paging *p,
		     uint64_t root, uint64_t va, struct pdet_leaf *ret);

struct pdet_paging_visit {
	/* For each entry that is not empty, ascending. Not 0 ends the walk. */
	int (*leaf)(void *arg, const struct pdet_leaf *leaf);
	/*
	 * Of the range that was asked for, [start, start + size) is lost: its
	 * table could not be read, its entry is none (-EBADMSG), or its table
	 * was visited so often before that it must end (-ELOOP: in a damaged
	 * dump, and where KASAN maps nearly all of its shadow by a few). 0
	 * goes on.
	 */
	int (*lost)(void *arg, uint64_t start, uint64_t size, int error);
	void *arg;
};

/*
 * pdet_paging_each - all entries for start .. last, as far as there are such
 * addresses below @root. 0, what a visit returned, or -ENOMEM.
 */
int pdet_paging_each(struct pdet_reader *r, const struct pdet_paging *p,
		     uint64_t root, uint64_t start, uint64_t last,
		     const struct pdet_paging_visit *visit);

#endif
