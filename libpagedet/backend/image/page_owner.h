/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Declarations shared by the files that know who allocated a page, who freed
 * it, and the type of its page block. A kernel records this with page_owner=on.
 */
#ifndef PDET_BACKEND_IMAGE_PAGE_OWNER_H
#define PDET_BACKEND_IMAGE_PAGE_OWNER_H

#include "backend/image/image.h"

/* --- page_owner.c --- */

/* Load what the fields of an allocation need, and what MIGRATETYPE needs.
 * Return 0, or a negative errno with the reason in the part and without an
 * error text. Run on the caller's thread. */
int pdet_image_page_owners(struct image *im, struct pdet_env *env);
int pdet_image_pageblocks(struct image *im, struct pdet_env *env);
/* As in backend.h. */
int pdet_image_block_order(struct pdet_backend *b, struct pdet_env *env);
void pdet_image_page_owner_prepare(struct image *im, struct pdet_env *env,
				   const struct pdet_wants *wants);
void pdet_image_page_owner_unload(struct image *im);

/* Answer those fields for all rows. Returns 0, or -ENOMEM. */
int pdet_image_put_page_owner(struct image_session *s, struct pdet_batch *b,
			      const struct pdet_fields *want, unsigned source);

/* --- stack.c --- */

/* One thread's cache of lookups. */
struct image_stacks;
void pdet_image_stacks_free(struct image_stacks *stacks);

struct image_stack {
	int error;		/* a result of memory/memory.h */
	uint64_t id;
	const char *allocator;	/* NULL: unknown */
};

/* pdet_image_stack - the stack of a depot handle, read and named on first
 * use. */
struct image_stack pdet_image_stack(struct image_session *s, uint32_t number);

/* As in backend.h. */
int pdet_image_stack_text(struct pdet_session *base, uint64_t id,
			  struct pdet_text *ret);

#endif
