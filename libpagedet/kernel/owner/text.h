/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses page_owner's files in debugfs (mm/page_owner.c): page_owner, with a
 * record for each allocation, and page_owner_stacks/show_stacks, with one for
 * each stack. All forms since 3.19:
 *
 *   Page allocated via order O, mask 0xM(NAMES)[, pid P[, tgid T (COMM)],
 *       ts N ns[, free_ts N ns]]
 *   PFN N type T Block N type T Flags 0xF(NAMES)
 *    function+0xoff/0xsize [module]
 *   [handle: N]
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
 * Until 4.5 the first two lines have no names, and types of page blocks are
 * numbers, whose meaning depends on the kernel. Until 4.14 a frame begins with
 * its address:
 *
 *   Page allocated via order O, mask 0xM
 *   PFN N Block N type N [Fallback] Flags LETTERS
 *    [<address>] function+0xoff/0xsize [module]
 *
 * In the mode "handle" of newer kernels the number of the stack takes the place
 * of its lines. In the mode "stack_handle" it follows them.
 *
 * page_owner_sort writes groups of records. It shows the text of one of them,
 * of which its newer versions drop the line with the PFN, or only the stack:
 *
 *   N times[, N pages][, PID N][, by ALLOCATOR ...]:
 *   (text of the record, or its stack)
 *   (empty line)
 *
 * Two more files of page_owner_stacks are only useful together: show_handles
 * has no stacks, and show_stacks_handles has no numbers of pages.
 */
#ifndef PDET_KERNEL_OWNER_TEXT_H
#define PDET_KERNEL_OWNER_TEXT_H

#include "base/text/text.h"

/* 4 TiB of the smallest pages, which no kernel ever allocates at once. A higher
 * order is forged or damaged, and a walk over its pages would not end. */
#define PDET_OWNER_MOST_ORDER 30

/* The parts that a record has. It always has the order. */
enum {
	PDET_OWNER_PID = 1 << 0,
	PDET_OWNER_TGID = 1 << 1,	/* also comm */
	PDET_OWNER_NS = 1 << 2,
	PDET_OWNER_FREE_NS = 1 << 3,
	PDET_OWNER_MIGRATED = 1 << 4,
	PDET_OWNER_SLAB = 1 << 5,
	PDET_OWNER_CHARGED = 1 << 6,	/* charged to a memcg ... */
	PDET_OWNER_OBJCG = 1 << 7,	/* ... for objects in it */
	PDET_OWNER_OFFLINE = 1 << 8,	/* ... that is removed */
	PDET_OWNER_STACK_ONLY = 1 << 9,	/* has only a stack and a number of
					 * pages */
	PDET_OWNER_OLD = 1 << 10,	/* has no names of flags and types */
	PDET_OWNER_HANDLE = 1 << 11,	/* has the line "handle: N" as its
					 * stack */
};

struct pdet_owner_record {
	unsigned has;		/* PDET_OWNER_* */
	uint32_t order;
	uint32_t pid, tgid;
	uint64_t pfn;
	uint64_t block;		/* number of its page block */
	uint64_t pages;
	uint64_t times;		/* of how many records; 0: not known */
	uint64_t handle;	/* with PDET_OWNER_HANDLE */
	uint64_t gfp_mask;
	uint64_t ns, free_ns;	/* since boot; free_ns 0: never freed */
	/* Parts of the text; "" if missing. */
	struct pdet_scan gfp;	/* GFP_KERNEL|__GFP_ZERO */
	struct pdet_scan comm;	/* may hold any byte but NUL */
	struct pdet_scan type;	/* type of the allocation */
	struct pdet_scan block_type; /* type of its page block */
	struct pdet_scan flags;	/* Flags 0x1(locked|node=0) */
	struct pdet_scan stack;	/* lines that begin with a blank */
	struct pdet_scan reason;
	struct pdet_scan memcg;	/* last component of its path */
};

enum pdet_owner_is {
	PDET_OWNER_END,
	PDET_OWNER_RECORD,
	PDET_OWNER_DAMAGED,	/* text that is not a complete record */
};

/*
 * pdet_owner_is_text - true if @head has a line that occurs only in this text.
 */
bool pdet_owner_is_text(const struct pdet_scan *head);

/* pdet_owner_is_sorted - whether @head is of what page_owner_sort has written.
 * *stacks: whether it has stacks. */
bool pdet_owner_is_sorted(const struct pdet_scan *head, bool *stacks);

/* pdet_owner_half - what is missing in a text that begins with @head, because
 * another file has it: "stacks" or "counts". NULL if nothing is missing. */
const char *pdet_owner_half(const struct pdet_scan *head);

/* Parts of @r that the caller does not need; they are not filled in. */
enum {
	PDET_OWNER_SKIP_GFP = 1,	/* also gfp_mask */
	PDET_OWNER_SKIP_PAGE = 2,	/* pfn, block, type, block_type,
					 * flags */
};

/*
 * pdet_owner_next - cut the next record off @text. Damaged text ends where
 * another record begins. If @last says that no text follows, a record at the
 * end of @text may lack its empty line; its last line must be complete. @skip:
 * PDET_OWNER_SKIP_*.
 */
enum pdet_owner_is pdet_owner_next(struct pdet_scan *text, bool last,
				   unsigned skip,
				   struct pdet_owner_record *r);

/*
 * pdet_owner_block - the first page of a record's page block. The size of
 * blocks follows from the number of the page and that of its block. Returns
 * false if these contradict each other.
 */
bool pdet_owner_block(const struct pdet_owner_record *r, uint64_t *ret);

/*
 * pdet_owner_flag - find a name among the flags of a record. A name may end
 * with "=". @value gets what follows the name.
 */
bool pdet_owner_flag(const struct pdet_owner_record *r, const char *name,
		     struct pdet_scan *value);

/*
 * pdet_owner_frames - the lines of a stack without leading blanks and addresses
 * in brackets, each with its newline. Stack ids are hashes of this form. @buf
 * needs as much room as the stack. Returns the length.
 */
size_t pdet_owner_frames(const struct pdet_scan *stack, char *buf);

#endif
