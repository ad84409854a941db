/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The map of a guest's memory: addresses in the guest and in two processes. */
#ifndef PDET_MIGRATE_BLOCKS_H
#define PDET_MIGRATE_BLOCKS_H

#include "pagedet.h"

struct pdet_blocks;

/* @page_size must be valid. Returns NULL without memory. */
struct pdet_blocks *pdet_blocks_new(uint64_t page_size);
int pdet_blocks_add(struct pdet_blocks *b, const struct pagedet_block *block);
int pdet_blocks_add_range(struct pdet_blocks *b, const char *name,
			  uint64_t offset, uint64_t guest, uint64_t bytes,
			  uint32_t read_only);
uint64_t pdet_blocks_count(const struct pdet_blocks *b);
uint64_t pdet_blocks_page(const struct pdet_blocks *b, const char *name,
			  uint64_t offset);
uint64_t pdet_blocks_guest(const struct pdet_blocks *b, uint64_t guest);
int pdet_blocks_at(const struct pdet_blocks *b, uint64_t page,
		   struct pagedet_page_at *ret);
int pdet_blocks_items(const struct pdet_blocks *b, uint32_t end, uint32_t pid,
		      struct pagedet_item *items, uint64_t max);
void pdet_blocks_free(struct pdet_blocks *b);

/*
 * blocks_text.c: adds the entries of @text. *@line gets the number of the last
 * line that was read.
 */
int pdet_blocks_load(struct pdet_blocks *b, const char *text, uint64_t len,
		     uint64_t *line);

#endif
