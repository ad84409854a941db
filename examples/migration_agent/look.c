/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What is in the pages of a side. The library walks the addresses: it looks at
 * pagemap first, reads what is present, and brings in nothing that is not. What
 * remains is read here by hand, and only where that fills no hole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

#define BATCH 4096
#define MAPPED_BITS (PAGEDET_PTE(PAGEDET_PTE_PRESENT) | \
		     PAGEDET_PTE(PAGEDET_PTE_SWAPPED) | \
		     PAGEDET_PTE(PAGEDET_PTE_MIGRATION) | \
		     PAGEDET_PTE(PAGEDET_PTE_HWPOISON))

static bool has(const struct pagedet_page *row, unsigned field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_HAVE;
}

static int hash(const struct agent *a, const void *bytes, struct seen *s)
{
	struct pagedet_content c = { .size = sizeof(c) };

	if (pagedet_content(a->pd, bytes, PAGE_BYTES, PAGEDET_CONTENT_HASH,
			    &c))
		return -1;
	s->hash = c.hash;
	s->look = c.hash == a->hash_zero ? LOOK_ZERO : LOOK_DATA;
	return 0;
}

static int process_memory(const struct agent *a, int side)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)a->vm[side].pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int read_memory(const struct agent *a, int side, uint64_t page,
		       void *bytes)
{
	const int fd = process_memory(a, side);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = pread(fd, bytes, PAGE_BYTES, (off_t)join_hva(a, page, side));
	close(fd);
	return n == PAGE_BYTES ? 1 : -1;
}

/* A page of a file may be cached, or on disk, without being mapped. A hole is
 * not read, although most filesystems would not fill it. */
static int read_file(const struct agent *a, int side, uint64_t page,
		     void *bytes)
{
	const struct block *b = join_block(a, page);
	const struct backing *at = &b->at[side];
	const off_t from = (off_t)(at->file_offset +
				   (page - b->first) * PAGE_BYTES);
	off_t data;

	memset(bytes, 0, PAGE_BYTES);
	if (at->fd < 0)
		return at->shared && at->inode ? -1 : 0;
	data = lseek(at->fd, from, SEEK_DATA);
	if ((data < 0 && errno == ENXIO) || data >= from + PAGE_BYTES)
		return 0;
	return pread(at->fd, bytes, PAGE_BYTES, from) == PAGE_BYTES ? 1 : -1;
}

/* The entry of the page as it is now: is anything there? */
static int is_mapped(const struct agent *a, int side, uint64_t page)
{
	const uint64_t at = join_hva(a, page, side) / PAGE_BYTES;
	uint64_t entry = 0;
	char path[48];
	int fd, r = -1;

	snprintf(path, sizeof(path), "/proc/%d/pagemap",
		 (int)a->vm[side].pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && pread(fd, &entry, 8, (off_t)(at * 8)) == 8)
		r = entry >> 62 != 0;	/* present, or swapped */
	if (fd >= 0)
		close(fd);
	return r;
}

int look_bytes(const struct agent *a, int side, uint64_t page, void *bytes)
{
	const int mapped = is_mapped(a, side, page);

	if (mapped < 0)
		return -1;
	return mapped ? read_memory(a, side, page, bytes) :
			read_file(a, side, page, bytes);
}

/* What the library has not read: nothing is there, or it is swapped out, and
 * reading it as QEMU would is the only way to know it. */
static void look_by_hand(const struct agent *a, int side, uint64_t page,
			 struct seen *s)
{
	unsigned char bytes[PAGE_BYTES];
	const int r = look_bytes(a, side, page, bytes);

	s->look = LOOK_LOST;
	if (r > 0)
		hash(a, bytes, s);
	else if (r == 0)
		s->look = LOOK_ABSENT;
}

static void take_row(const struct agent *a, int side, uint64_t page,
		     const struct pagedet_page *row, struct seen *s)
{
	const uint32_t pte = has(row, PAGEDET_FIELD_PTE) ? row->pte : 0;

	s->kind = has(row, PAGEDET_FIELD_KIND) ? (uint8_t)row->kind : 0;
	s->swapped = (pte & PAGEDET_PTE(PAGEDET_PTE_SWAPPED)) != 0;
	s->huge = has(row, PAGEDET_FIELD_FLAGS) &&
		  (row->flags & (1ull << PAGEDET_PF_THP |
				 1ull << PAGEDET_PF_HUGE));
	if (has(row, PAGEDET_FIELD_HASH)) {
		s->hash = row->hash;
		s->look = row->hash == a->hash_zero ? LOOK_ZERO : LOOK_DATA;
	} else if (pte & PAGEDET_PTE(PAGEDET_PTE_HWPOISON)) {
		s->look = LOOK_LOST;
	} else {
		look_by_hand(a, side, page, s);
	}
}

static int walk(struct agent *a, int side, struct pagedet_iter *it,
		struct pagedet_page *rows, const uint64_t *first,
		const uint64_t *hva, struct seen *seen)
{
	int n, i;

	while ((n = pagedet_next(it, rows, BATCH)) > 0)
		for (i = 0; i < n; i++) {
			const uint64_t ask = rows[i].ask;
			const uint64_t page = first[ask] +
				(rows[i].vaddr - hva[ask]) / PAGE_BYTES;

			if (page < a->pages && has(&rows[i],
						   PAGEDET_FIELD_VADDR))
				take_row(a, side, page, &rows[i], &seen[page]);
		}
	return n;
}

int look_at(struct agent *a, int side, struct seen *seen)
{
	struct pagedet_item items[MAX_BLOCKS] = { { .first = 0 } };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	uint64_t first[MAX_BLOCKS], hva[MAX_BLOCKS];
	struct pagedet_page *rows;
	struct pagedet_iter *it;
	unsigned i;
	int r;

	for (i = 0; i < a->n_blocks; i++) {
		const struct block *b = &a->blocks[i];

		if (!b->pages)
			continue;
		first[q.n_items] = b->first;
		hva[q.n_items] = b->at[side].hva;
		items[q.n_items].first = b->at[side].hva;
		items[q.n_items].count = b->pages * PAGE_BYTES;
		items[q.n_items++].pid = (uint32_t)a->vm[side].pid;
	}
	q.target = PAGEDET_TARGET_VIRT;
	q.items = items;
	memset(seen, 0, a->pages * sizeof(*seen));
	r = pagedet_fields_parse(a->pd, "ask,vaddr,kind,pte,flags,hash", &q);
	if (!r)
		r = pagedet_query(a->pd, &q, &it);
	if (r)
		return r;
	rows = malloc(BATCH * sizeof(*rows));
	r = rows ? walk(a, side, it, rows, first, hva, seen) : -ENOMEM;
	free(rows);
	pagedet_iter_free(it);
	return r;
}

int look_equal(const struct seen *x, const struct seen *y)
{
	const bool x_zero = x->look == LOOK_ABSENT || x->look == LOOK_ZERO;
	const bool y_zero = y->look == LOOK_ABSENT || y->look == LOOK_ZERO;

	if (x->look == LOOK_NOTHING || x->look == LOOK_LOST ||
	    y->look == LOOK_NOTHING || y->look == LOOK_LOST)
		return -1;
	if (x_zero || y_zero)
		return x_zero && y_zero;
	return x->hash == y->hash;
}
