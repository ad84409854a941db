/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the allocation and the free of each page that a kernel with
 * page_owner=on records (mm/page_ext.c, mm/page_owner.c).
 */
#ifndef PDET_KERNEL_OWNER_PAGE_OWNER_H
#define PDET_KERNEL_OWNER_PAGE_OWNER_H

#include "kernel/object/tasks.h"
#include "kernel/page/memmap.h"
#include "kernel/types/fields.h"

/* No kernel stores more bytes for a page. */
#define PDET_PAGE_EXT_BYTES 4096

/* Addresses of symbols; 0 if the kernel lacks the symbol. */
struct pdet_page_owner_symbols {
	uint64_t page_ext_size, page_owner_ops;
};

struct pdet_page_owners {
	struct pdet_struct section, ext, owner;
	uint64_t size;		/* bytes of page_ext for one page */
	uint64_t offset;	/* offset of page_owner in them */
	uint64_t has, allocated; /* bits of flags: the page has a record; the
				  * page is in use */
};

/*
 * pdet_page_owners_init - returns 0, or a result of memory/memory.h. -ENOTSUP:
 * the kernel was built without page_owner, or it is not enabled. -ENODATA: the
 * types lack it.
 */
int pdet_page_owners_init(struct pdet_page_owners *o, struct pdet_space *space,
			  const struct pdet_btf *btf,
			  const struct pdet_page_owner_symbols *symbols);

/* pdet_page_owner_at - find the address of the o->size bytes for a frame. The
 * bytes for the next frames of its section follow. Returns 0, -ENOENT if the
 * section has no page_ext, or a result of memory/memory.h. */
int pdet_page_owner_at(struct pdet_space *space,
		       const struct pdet_page_owners *o,
		       const struct pdet_memmap *m, uint64_t pfn,
		       uint64_t *ret);

/* The last allocation and the last free of a page. */
struct pdet_page_owner {
	bool known;		/* it was allocated. Otherwise only the free is
				 * known, as for memory used during boot */
	bool allocated;		/* and not freed since */
	uint32_t order;
	uint32_t gfp;
	uint32_t stack, free_stack; /* handle in the stack depot; 0: none */
	uint64_t ns, free_ns;	/* since boot; free_ns 0: never freed */
	uint32_t pid, tgid;
	char comm[PDET_COMM];
	bool has_pid, has_tgid, has_comm, has_ns, has_free_ns;
	int32_t migrate_reason;	/* enum migrate_reason; -1: none */
};

/*
 * pdet_page_owner_get - decode these bytes. Returns false if the page has no
 * record.
 */
bool pdet_page_owner_get(const struct pdet_page_owners *o, const char *ext,
			 struct pdet_page_owner *ret);

#endif
