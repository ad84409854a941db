/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The file behind memory that is mapped shared. */
#ifndef PDET_EXPLAIN_COLLECT_FILE_H
#define PDET_EXPLAIN_COLLECT_FILE_H

#include "base/env.h"
#include "base/io.h"
#include "kernel/maps.h"

struct pagedet_item;

/* The mapping that was looked at last. */
struct pdet_backing {
	struct pdet_env *env;
	uint32_t pid;
	struct pdet_text maps;	/* of this task; data NULL: cannot be read */
	struct pdet_scan rest;	/* of them, behind vma */
	struct pdet_vma vma;	/* the first that ends behind asked */
	uint64_t asked;		/* address */
	bool here;		/* it is in vma */
	int fd;			/* of its file; -1: not to be had */
	uint64_t size;		/* of the file */
	uint64_t mtime_ns;	/* CLOCK_REALTIME */
};

/* Addresses of tasks, and which of the items that is. */
struct pdet_backed {
	uint64_t vaddr;
	uint64_t which;
	uint32_t pid;
};

/* pdet_backing_order - items in the order in which maps are read through once
 * only; to be freed. NULL: no memory. */
struct pdet_backed *pdet_backing_order(const struct pagedet_item *items,
				       uint64_t n);

void pdet_backing_begin(struct pdet_backing *b, struct pdet_env *env);
void pdet_backing_end(struct pdet_backing *b);

/*
 * pdet_backing_at - find the file that is mapped shared at an address. False:
 * there is none, or it cannot be opened. All but true is lost with the next
 * call. Any order will do, but that of pdet_backing_order() is the quick one.
 */
bool pdet_backing_at(struct pdet_backing *b, uint32_t pid, uint64_t vaddr);

/*
 * pdet_backing_hole - whether the file has nothing at all for the page there,
 * so that it reads as zeroes: PAGEDET_YES, _NO, _DUNNO. Looks at the file's
 * index only (lseek(2), SEEK_DATA), which knows of swapped pages, too.
 */
uint32_t pdet_backing_hole(const struct pdet_backing *b, uint64_t vaddr,
			   uint64_t page_size);

/* pdet_backing_read - the page out of the file; false if not all of it came.
 * No mapping of it is made. */
bool pdet_backing_read(const struct pdet_backing *b, uint64_t vaddr, void *page,
		       uint64_t page_size);

#endif
