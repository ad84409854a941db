/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The map of a guest's memory: blocks, and their guest addresses. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "migrate/blocks.h"

#define MOST_BLOCKS 4096u
#define MOST_RANGES 65536u
#define MOST_PAGES ((uint64_t)1 << 40)
#define MOST_NAME 255u

struct block {
	char *name;
	uint64_t first, pages;	/* page numbers */
	uint64_t addr[2];
};

struct range {
	uint64_t guest, offset, bytes;
	size_t block;
	uint32_t read_only;
};

struct pdet_blocks {
	uint64_t page_size, pages;
	struct { struct block *data; size_t n, cap; } blocks;
	struct { struct range *data; size_t n, cap; } ranges;
};

struct pdet_blocks *pdet_blocks_new(uint64_t page_size)
{
	struct pdet_blocks *b = calloc(1, sizeof(*b));

	if (b)
		b->page_size = page_size;
	return b;
}

static struct block *find(const struct pdet_blocks *b, const char *name)
{
	size_t i;

	for (i = 0; i < b->blocks.n; i++)
		if (!strcmp(b->blocks.data[i].name, name))
			return &b->blocks.data[i];
	return NULL;
}

static bool holds(uint64_t addr, uint64_t bytes, uint64_t page_size)
{
	return !(addr % page_size) && bytes <= UINT64_MAX - addr;
}

static int check(const struct pdet_blocks *b, const struct pagedet_block *block)
{
	const size_t len = block->name ? strlen(block->name) : 0;

	if (!len || len > MOST_NAME || find(b, block->name) ||
	    !block->bytes || block->bytes % b->page_size ||
	    !holds(block->addr[0], block->bytes, b->page_size) ||
	    !holds(block->addr[1], block->bytes, b->page_size))
		return -EINVAL;
	if (b->blocks.n == MOST_BLOCKS ||
	    block->bytes / b->page_size > MOST_PAGES - b->pages)
		return -EOVERFLOW;
	return 0;
}

int pdet_blocks_add(struct pdet_blocks *b, const struct pagedet_block *block)
{
	struct block one = { .first = b->pages };
	const int r = check(b, block);

	if (r < 0)
		return r;
	one.pages = block->bytes / b->page_size;
	memcpy(one.addr, block->addr, sizeof(one.addr));
	one.name = strdup(block->name);
	if (!one.name || !pdet_vec_push(&b->blocks, one)) {
		free(one.name);
		return -ENOMEM;
	}
	b->pages += one.pages;
	return 0;
}

int pdet_blocks_add_range(struct pdet_blocks *b, const char *name,
			  uint64_t offset, uint64_t guest, uint64_t bytes,
			  uint32_t read_only)
{
	const struct block *block = find(b, name);
	struct range range = { guest, offset, bytes, 0, read_only };
	uint64_t whole;

	if (!block)
		return -ENOENT;
	whole = block->pages * b->page_size;
	if (!bytes || bytes % b->page_size || offset % b->page_size ||
	    offset > whole || bytes > whole - offset ||
	    !holds(guest, bytes, b->page_size))
		return -EINVAL;
	if (b->ranges.n == MOST_RANGES)
		return -EOVERFLOW;
	range.block = (size_t)(block - b->blocks.data);
	return pdet_vec_push(&b->ranges, range) ? 0 : -ENOMEM;
}

uint64_t pdet_blocks_count(const struct pdet_blocks *b)
{
	return b->pages;
}

uint64_t pdet_blocks_page(const struct pdet_blocks *b, const char *name,
			  uint64_t offset)
{
	const struct block *block = find(b, name);

	if (!block || offset / b->page_size >= block->pages)
		return PAGEDET_NO_PAGE;
	return block->first + offset / b->page_size;
}

uint64_t pdet_blocks_guest(const struct pdet_blocks *b, uint64_t guest)
{
	size_t i;

	for (i = 0; i < b->ranges.n; i++) {
		const struct range *r = &b->ranges.data[i];

		if (guest >= r->guest && guest - r->guest < r->bytes)
			return b->blocks.data[r->block].first +
			       (r->offset + (guest - r->guest)) / b->page_size;
	}
	return PAGEDET_NO_PAGE;
}

/* Blocks are sorted by their first page. */
static size_t block_of(const struct pdet_blocks *b, uint64_t page)
{
	size_t low = 0, high = b->blocks.n;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (b->blocks.data[middle].first <= page)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void set_guest(const struct pdet_blocks *b, struct pagedet_page_at *at)
{
	size_t i;

	for (i = 0; i < b->ranges.n; i++) {
		const struct range *r = &b->ranges.data[i];

		if (r->block != at->block || at->offset < r->offset ||
		    at->offset - r->offset >= r->bytes)
			continue;
		at->guest = r->guest + (at->offset - r->offset);
		at->has_guest = 1;
		at->read_only = r->read_only;
		return;
	}
}

int pdet_blocks_at(const struct pdet_blocks *b, uint64_t page,
		   struct pagedet_page_at *ret)
{
	const struct block *block;
	unsigned end;

	if (page >= b->pages)
		return -ENOENT;
	*ret = (struct pagedet_page_at){ .size = ret->size };
	ret->block = block_of(b, page);
	block = &b->blocks.data[ret->block];
	ret->name = block->name;
	ret->offset = (page - block->first) * b->page_size;
	for (end = 0; end < 2; end++)
		ret->addr[end] = block->addr[end] + ret->offset;
	set_guest(b, ret);
	return 0;
}

int pdet_blocks_items(const struct pdet_blocks *b, uint32_t end, uint32_t pid,
		      struct pagedet_item *items, uint64_t max)
{
	size_t i;

	if (end > PAGEDET_END_DESTINATION)
		return -EINVAL;
	for (i = 0; i < b->blocks.n && i < max; i++) {
		const struct block *block = &b->blocks.data[i];

		items[i] = (struct pagedet_item){
			.first = block->addr[end],
			.count = block->pages * b->page_size, .pid = pid,
		};
	}
	return (int)b->blocks.n;
}

void pdet_blocks_free(struct pdet_blocks *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; i < b->blocks.n; i++)
		free(b->blocks.data[i].name);
	free(b->blocks.data);
	free(b->ranges.data);
	free(b);
}
