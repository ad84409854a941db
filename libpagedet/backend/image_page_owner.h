/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Who allocated a page and who freed it, as a kernel with page_owner=on keeps
 * it, and the type of its page block; between the image_*.c files that know it.
 */
#ifndef PDET_BACKEND_IMAGE_PAGE_OWNER_H
#define PDET_BACKEND_IMAGE_PAGE_OWNER_H

#include <pthread.h>

#include "backend/backend.h"
#include "base/pairs.h"
#include "kernel/owner_names.h"
#include "kernel/page_owner.h"
#include "kernel/pageblock.h"
#include "kernel/stackdepot.h"

struct image;
struct image_part;
struct image_session;

/* What is known of one kernel; loaded by survey(). */
struct image_page_owner {
	struct pdet_page_owners records;
	/* Each may be missing. */
	bool has_depot;
	struct pdet_stackdepot depot;
	struct pdet_gfp_names gfp;
	struct pdet_migrate_reasons reasons;
	struct pdet_pageblocks blocks;
	/* Of all sessions: the number in the depot, by the id of a stack. */
	bool has_lock;
	pthread_mutex_t lock;
	struct pdet_pairs number_of;
};

/* --- image_page_owner.c --- */

/* What a field needs, and that is loaded then; NULL: it is none of these. */
const struct image_part *pdet_image_page_owner_part(struct image *im,
						    struct pdet_env *env,
						    unsigned field);
void pdet_image_page_owner_prepare(struct image *im, struct pdet_env *env,
				   const struct pdet_wants *wants);
void pdet_image_page_owner_unload(struct image *im);

/* Answers those fields of all rows. 0, or -ENOMEM. */
int pdet_image_put_page_owner(struct image_session *s, struct pdet_batch *b,
			      const struct pdet_fields *want, unsigned source);

/* --- image_stack.c --- */

/* What one thread has looked up. */
struct image_stacks;
void pdet_image_stacks_free(struct image_stacks *stacks);

struct image_stack {
	int error;		/* a result of memory/memory.h */
	uint64_t id;
	const char *allocator;	/* NULL: not known */
};

/* pdet_image_stack - of a number in the depot, read and named when it is first
 * asked for. */
struct image_stack pdet_image_stack(struct image_session *s, uint32_t number);

/* As in backend.h. */
int pdet_image_stack_text(struct pdet_session *base, uint64_t id,
			  struct pdet_text *ret);

#endif
