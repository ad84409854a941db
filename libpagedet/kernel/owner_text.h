/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * page_owner's files in debugfs as text (mm/page_owner.c): page_owner, with a
 * record for each allocation, and page_owner_stacks/show_stacks, with one for
 * each stack. Every form that kernels have written since 5.0:
 *
 *   Page allocated via order O, mask 0xM(NAMES)[, pid P[, tgid T (COMM)],
 *       ts N ns[, free_ts N ns]]
 *   PFN N type T Block N type T Flags 0xF(NAMES)
 *    function+0xoff/0xsize [module]
 *   [Page has been migrated, last migrate reason: R]
 *   [Slab cache page]
 *   [Charged [(via objcg) ]to [offline ]memcg NAME]
 *   (empty line)
 *
 *    function+0xoff/0xsize [module]
 *   [handle: N]
 *   nr_base_pages: N
 *   (empty line)
 *
 * Two more files of page_owner_stacks are of use only together: show_handles
 * has no stacks, and show_stacks_handles no pages.
 */
#ifndef PDET_KERNEL_OWNER_TEXT_H
#define PDET_KERNEL_OWNER_TEXT_H

#include "base/text_stream.h"

/* 4 TiB of the smallest pages at once, which no kernel gives anybody: a text
 * that says more is forged or damaged, and who walks its pages would not
 * end. */
#define PDET_OWNER_MOST_ORDER 30

/* A record is never longer than a page of the kernel that wrote it, but text
 * may be made by others. */
#define PDET_OWNER_BLOCK ((size_t)1 << 20)

/* What a record says; the order is always said. */
enum {
	PDET_OWNER_PID = 1 << 0,
	PDET_OWNER_TGID = 1 << 1,	/* and comm */
	PDET_OWNER_NS = 1 << 2,
	PDET_OWNER_FREE_NS = 1 << 3,
	PDET_OWNER_MIGRATED = 1 << 4,
	PDET_OWNER_SLAB = 1 << 5,
	PDET_OWNER_CHARGED = 1 << 6,	/* to memcg ... */
	PDET_OWNER_OBJCG = 1 << 7,	/* ... by objects in it */
	PDET_OWNER_OFFLINE = 1 << 8,	/* ... which is removed */
	PDET_OWNER_STACK_ONLY = 1 << 9,	/* of a stack: it and pages are all
					 * that is known */
};

struct pdet_owner_record {
	unsigned has;		/* PDET_OWNER_* */
	uint32_t order;
	uint32_t pid, tgid;
	uint64_t pfn;
	uint64_t pages;
	uint64_t gfp_mask;
	uint64_t ns, free_ns;	/* since boot; free_ns 0: it never was free */
	/* Parts of the text, "" for what is not there. */
	struct pdet_scan gfp;	/* GFP_KERNEL|__GFP_ZERO */
	struct pdet_scan comm;	/* may hold any byte but NUL */
	struct pdet_scan type;	/* of the allocation */
	struct pdet_scan block_type; /* of its page block */
	struct pdet_scan stack;	/* lines that begin with a blank */
	struct pdet_scan reason;
	struct pdet_scan memcg;	/* the last part of its path */
};

enum pdet_owner_is {
	PDET_OWNER_END,
	PDET_OWNER_RECORD,
	PDET_OWNER_DAMAGED,	/* text that is no whole record */
};

/* pdet_owner_is_text - a line that only this text has stands in @head. */
bool pdet_owner_is_text(const struct pdet_scan *head);

/* pdet_owner_half - what is missing in a text that begins with @head, because
 * another file has it: "stacks", "counts"; NULL: nothing is. */
const char *pdet_owner_half(const struct pdet_scan *head);

/* pdet_owner_mark - where a text that begins with @head may be cut. */
struct pdet_text_mark pdet_owner_mark(const struct pdet_scan *head);

/* What of @r nobody will look at, and so is not filled in. */
enum {
	PDET_OWNER_SKIP_GFP = 1,	/* and gfp_mask */
	PDET_OWNER_SKIP_PAGE = 2,	/* pfn, type, block_type */
};

/*
 * pdet_owner_next - cuts the next record off @text. Damage ends where another
 * record begins. A record at the end of @text without its empty line is whole
 * if @last says that no text follows and its last line is whole. @skip:
 * PDET_OWNER_SKIP_*.
 */
enum pdet_owner_is pdet_owner_next(struct pdet_scan *text, bool last,
				   unsigned skip,
				   struct pdet_owner_record *r);

/*
 * pdet_owner_frames - the lines of a stack without the blanks that they begin
 * with, each with its newline: the form that ids of stacks are made of. @buf
 * has room for as many bytes as the stack has. Returns the length.
 */
size_t pdet_owner_frames(const struct pdet_scan *stack, char *buf);

#endif
