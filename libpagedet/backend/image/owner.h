/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Whose pages are. */
#ifndef PDET_BACKEND_IMAGE_OWNER_H
#define PDET_BACKEND_IMAGE_OWNER_H

#include "backend/image/image.h"

#define IMAGE_OWNERS 512	/* 1 << 9 */

/* An address_space, a memcg or a slab cache, by its value in struct page. */
struct image_owner {
	uint64_t key;		/* 0: empty */
	int error;		/* a result of memory/memory.h */
	uint64_t addr, dev, ino;
	bool has_text;
	int text_error;
	char *text;		/* path or name */
	size_t text_len;
};

struct image_owners {
	struct image_owner slot[IMAGE_OWNERS];
};

/* pdet_image_inode - find the inode whose pages a struct address_space has.
 * Returns 0, or a result of memory/memory.h. */
struct image_inode {
	struct pdet_inode is;
	uint64_t dev;
	bool device;		/* it has the pages of a block device */
};
int pdet_image_inode(struct image_session *s, uint64_t mapping,
		     struct image_inode *ret);

void pdet_image_owners_clear(struct image_owners *o);

/* The kinds of owner that a query needs. */
struct image_owner_wants {
	bool file, memcg, cache;
};

/* As pdet_backend_ops.together: of one word of struct page. */
void pdet_image_owners_together(struct pdet_fields *set);

struct image_owner_wants
pdet_image_owner_wants(const struct pdet_fields *want);

/* pdet_image_owner_put - fill @n decoded rows, for frames from @pfn on. */
void pdet_image_owner_put(struct image_session *s, struct pdet_batch *b,
			  const struct pdet_fields *want, unsigned source,
			  uint32_t row, uint32_t n, uint64_t pfn);

/* pdet_image_owner_states - put the same state in all of these fields. */
void pdet_image_owner_states(struct pdet_batch *b,
			     const struct pdet_fields *want, unsigned source,
			     uint32_t row, uint32_t n, unsigned state);

#endif
