/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads the file behind a shared mapping. */
#ifndef PDET_EXPLAIN_COLLECT_FILE_H
#define PDET_EXPLAIN_COLLECT_FILE_H

#include "base/env.h"
#include "base/io.h"
#include "kernel/text/maps.h"

struct pagedet_item;

/* The mapping that was last used. */
struct pdet_backing {
	struct pdet_env *env;
	uint32_t pid;
	struct pdet_text maps;	/* maps of this task; if data is NULL, it cannot
				 * be read */
	struct pdet_scan rest;	/* lines of maps behind vma */
	struct pdet_vma vma;	/* the first VMA that ends behind asked */
	uint64_t asked;		/* address */
	bool here;		/* asked is in vma */
	int fd;			/* its file; -1: not available */
	uint64_t size;		/* size of the file */
	uint64_t mtime_ns;	/* CLOCK_REALTIME */
};

/* An address of a task, and the index of its item. */
struct pdet_backed {
	uint64_t vaddr;
	uint64_t which;
	uint32_t pid;
};

/*
 * pdet_backing_order - sort items so that maps is read only once. The caller
 * frees the result. Returns NULL without memory.
 */
struct pdet_backed *pdet_backing_order(const struct pagedet_item *items,
				       uint64_t n);

void pdet_backing_begin(struct pdet_backing *b, struct pdet_env *env);
void pdet_backing_end(struct pdet_backing *b);

/*
 * pdet_backing_at - find the file of the shared mapping at an address. Returns
 * false if there is none, or if it cannot be opened. The result is valid until
 * the next call. Calls may be in any order; the order of pdet_backing_order()
 * is fast.
 */
bool pdet_backing_at(struct pdet_backing *b, uint32_t pid, uint64_t vaddr);

/*
 * pdet_backing_hole - whether the file has nothing at the page, which then
 * reads as zeroes: PAGEDET_YES, _NO or _DUNNO. Asks only the file's index
 * (lseek(2), SEEK_DATA), which includes swapped pages.
 */
uint32_t pdet_backing_hole(const struct pdet_backing *b, uint64_t vaddr,
			   uint64_t page_size);

/*
 * pdet_backing_read - read the page from the file without mapping it. Returns
 * false if a part of it cannot be read.
 */
bool pdet_backing_read(const struct pdet_backing *b, uint64_t vaddr, void *page,
		       uint64_t page_size);

#endif
