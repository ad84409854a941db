/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Who allocated a page, and who freed it: what a kernel with page_owner=on
 * keeps beside each struct page (mm/page_ext.c, mm/page_owner.c).
 */
#ifndef PDET_KERNEL_PAGE_OWNER_H
#define PDET_KERNEL_PAGE_OWNER_H

#include "kernel/fields.h"
#include "kernel/memmap.h"
#include "kernel/tasks.h"

/* More than all that a kernel could keep for a page. */
#define PDET_PAGE_EXT_BYTES 4096

/* Addresses of symbols; 0: the kernel has none. */
struct pdet_page_owner_symbols {
	uint64_t page_ext_size, page_owner_ops;
};

struct pdet_page_owners {
	struct pdet_struct section, ext, owner;
	uint64_t size;		/* of all that is kept for one page */
	uint64_t offset;	/* in it, of what page_owner keeps */
	uint64_t has, allocated; /* bits of flags: it keeps something, the page
				 * is in use */
};

/*
 * pdet_page_owners_init - 0; -ENOTSUP the kernel was not built with it or not
 * told to; or a result of memory/memory.h, -ENODATA the types do not say.
 */
int pdet_page_owners_init(struct pdet_page_owners *o, struct pdet_space *space,
			  const struct pdet_btf *btf,
			  const struct pdet_page_owner_symbols *symbols);

/* pdet_page_owner_at - where o->size bytes about a frame are; those of the next
 * frames of its section lie behind. 0, -ENOENT nothing is kept of that section,
 * or a result of memory/memory.h. */
int pdet_page_owner_at(struct pdet_space *space,
		       const struct pdet_page_owners *o,
		       const struct pdet_memmap *m, uint64_t pfn,
		       uint64_t *ret);

/* What is kept of a page is about the last time that it was allocated, and
 * the last that it was freed. */
struct pdet_page_owner {
	bool known;		/* it was allocated; else only the free is
				 * known, as of memory that the boot used */
	bool allocated;		/* and not freed since */
	uint32_t order;
	uint32_t gfp;
	uint32_t stack, free_stack; /* of the stack depot; 0: none */
	uint64_t ns, free_ns;	/* since boot; free_ns 0: it never was */
	uint32_t pid, tgid;
	char comm[PDET_COMM];
	bool has_tgid, has_comm;
	int32_t migrate_reason;	/* enum migrate_reason; -1: none */
};

/* pdet_page_owner_get - out of these bytes; false: nothing is kept of that
 * page. */
bool pdet_page_owner_get(const struct pdet_page_owners *o, const char *ext,
			 struct pdet_page_owner *ret);

#endif
