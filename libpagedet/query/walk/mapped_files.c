/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks files through the mappings of tasks if the page cache cannot be read.
 * All pages are collected first, because many tasks map the same ones. A span
 * is a part of one file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/walk/mapped.h"

/* Limit of pages in memory: 16 bytes for each 4096 of 256 GiB of files. */
#define MAX_PAGES ((uint64_t)1 << 26)

struct walk_mapped {
	struct pdet_walk walk;
	struct pdet_mapped mapped;
	bool collected;
	bool begun;		/* the first file or item has been taken */
	uint64_t item;		/* for FILE */
	size_t file;		/* for TREE and MOUNT */
	size_t at, end;		/* its remaining pages */
};

static struct walk_mapped *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_mapped, walk);
}

/* The first page behind an item. */
static uint64_t item_end(const struct pagedet_item *item)
{
	return item->count > UINT64_MAX - item->first ?
		UINT64_MAX : item->first + item->count;
}

static int mapped_begin(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_mapped *w = walk_of(base);
	const struct pdet_question *q = &base->it->q;
	struct pdet_session *s = pdet_session_of(k, base);
	uint64_t i;
	int r;

	if (q->target == PAGEDET_TARGET_BLOCK)
		return pdet_fail(&s->env, ENOTSUP, "cannot walk %s: a captured "
				 "tree does not show the cached pages of a "
				 "block device", q->path);
	if (q->next_place)
		return pdet_fail(&s->env, ENOTSUP, "cannot walk a list of "
				 "files: a captured tree shows only pages that "
				 "tasks map, for one path at a time");
	w->mapped.max_pages = MAX_PAGES;
	w->mapped.end = q->n_items ? 0 : UINT64_MAX;
	w->mapped.first = q->n_items ? UINT64_MAX : 0;
	for (i = 0; i < q->n_items; i++) {
		w->mapped.first = PDET_MIN(w->mapped.first, q->items[i].first);
		w->mapped.end = PDET_MAX(w->mapped.end, item_end(&q->items[i]));
	}
	r = pdet_mapped_find(&w->mapped, base, k);
	if (r < 0)
		return r;
	k->cover.files += w->mapped.files.n;
	pdet_log(&s->env, PAGEDET_LOG_WARNING, "cannot see all cached pages of "
		 "%s: a captured tree shows only those that a task maps",
		 q->path);
	return 0;
}

/* Takes the pages of the next file or item. Returns 1, or 0 at the end. */
static int next_part(struct walk_mapped *w)
{
	const struct pdet_question *q = &w->walk.it->q;
	const bool one = q->target == PAGEDET_TARGET_FILE;
	const struct pdet_mapped_file *f;

	w->item += one && w->begun;
	w->file += !one && w->begun;
	w->begun = true;
	if (w->item >= PDET_MAX(q->n_items, (uint64_t)1) ||
	    w->file >= w->mapped.files.n)
		return 0;
	f = &w->mapped.files.data[w->file];
	w->at = 0;
	w->end = f->pages.n;
	if (q->n_items) {
		w->at = pdet_mapped_seek(f, q->items[w->item].first);
		w->end = pdet_mapped_seek(f, item_end(&q->items[w->item]));
	}
	return 1;
}

static int mapped_next(struct pdet_walk *base, struct pdet_worker *k,
		       struct pdet_span *span, uint64_t pages)
{
	struct walk_mapped *w = walk_of(base);
	struct pdet_mapped_file *f;
	int r;

	if (!w->collected) {
		r = pdet_mapped_collect(&w->mapped, base, k);
		if (r < 0)
			return r;
		w->collected = true;
	}
	while (w->at >= w->end) {
		r = next_part(w);
		if (r <= 0)
			return r;
	}
	f = &w->mapped.files.data[w->file];
	span->data = f;
	span->item = w->item;
	span->at = w->at;
	span->end = PDET_MIN((uint64_t)w->end, w->at + pages);
	span->place = f->pages.data[w->at].index;
	w->at = (size_t)span->end;
	return 1;
}

/*
 * Another task was captured at another time, and showed another frame for the
 * page.
 */
static bool has_twin(const struct pdet_mapped_file *f, size_t i)
{
	const struct pdet_mapped_page *p = f->pages.data;

	return (i && p[i - 1].index == p[i].index) ||
	       (i + 1 < f->pages.n && p[i + 1].index == p[i].index);
}

static void put_page(struct pdet_batch *b, uint32_t row,
		     const struct pdet_mapped_file *f, size_t i,
		     unsigned source)
{
	const struct pdet_mapped_page *p = &f->pages.data[i];

	pdet_put(b, row, PAGEDET_FIELD_INDEX, p->index, source);
	if (p->pfn)
		pdet_put(b, row, PAGEDET_FIELD_PFN, p->pfn, source);
	else
		pdet_put_lost(b, row, PAGEDET_FIELD_PFN, PAGEDET_NO_ACCESS,
			      source);
	if (has_twin(f, i))
		pdet_put_note(b, row, PAGEDET_NOTE_TORN);
}

static int mapped_place(struct pdet_walk *w, struct pdet_worker *k,
			struct pdet_span *span, struct pdet_batch *b)
{
	const struct pdet_mapped_file *f = span->data;
	const uint64_t left = span->end - span->at;
	const uint32_t n = (uint32_t)PDET_MIN(left, (uint64_t)b->cap);
	uint32_t row;

	pdet_batch_grow(b, n);
	for (row = 0; row < n; row++)
		put_page(b, row, f, span->at + row, w->source);
	pdet_put_text_run(b, 0, n, PAGEDET_FIELD_PATH, f->path,
			  strlen(f->path), w->source);
	if (!f->proved) {
		pdet_put_lost_run(b, 0, n, PAGEDET_FIELD_DEV,
				  PAGEDET_UNSUPPORTED, w->source);
		pdet_put_lost_run(b, 0, n, PAGEDET_FIELD_INODE,
				  PAGEDET_UNSUPPORTED, w->source);
	} else {
		pdet_put_run(b, 0, n, PAGEDET_FIELD_DEV, f->key.dev,
			     w->source);
		pdet_put_run(b, 0, n, PAGEDET_FIELD_INODE, f->key.inode,
			     w->source);
	}
	pdet_put_run(b, 0, n, PAGEDET_FIELD_ASK, span->item,
		     PAGEDET_SOURCE_DERIVED);
	k->cover.visited += n;
	span->at += n;
	span->place = f->pages.data[span->at - 1].index + 1;
	return 0;
}

/* Kinds that the frame of a file's page cannot have. */
static bool is_strange(const struct pdet_batch *b, uint32_t row)
{
	const uint64_t flags =
		PAGEDET_PF(PAGEDET_PF_ANON) | PAGEDET_PF(PAGEDET_PF_BUDDY) |
		PAGEDET_PF(PAGEDET_PF_SLAB) | PAGEDET_PF(PAGEDET_PF_PGTABLE) |
		PAGEDET_PF(PAGEDET_PF_NOPAGE);

	switch (pdet_batch_get(b, row, PAGEDET_FIELD_KIND, 0)) {
	case PAGEDET_KIND_ANON:
	case PAGEDET_KIND_FREE:
	case PAGEDET_KIND_SLAB:
	case PAGEDET_KIND_PGTABLE:
	case PAGEDET_KIND_HOLE:
		return true;
	default:
		return pdet_batch_get(b, row, PAGEDET_FIELD_FLAGS, 0) & flags;
	}
}

/*
 * Nothing can be read again, but flags and page tables were captured at
 * different times. If a frame belonged to no file when the flags were captured,
 * it holds another page.
 */
static int mapped_recheck(struct pdet_walk *w, struct pdet_worker *k,
			  struct pdet_span *span, struct pdet_batch *b)
{
	uint32_t row;

	(void)w;
	(void)k;
	(void)span;
	for (row = 0; row < b->n; row++)
		if (is_strange(b, row))
			pdet_put_note(b, row, PAGEDET_NOTE_TORN);
	return 0;
}

static void mapped_free(struct pdet_walk *base)
{
	struct walk_mapped *w = walk_of(base);

	pdet_mapped_free(&w->mapped);
	free(w);
}

static const struct pdet_walk_ops mapped_ops = {
	.begin = mapped_begin,
	.next = mapped_next,
	.place = mapped_place,
	.recheck = mapped_recheck,
	.free = mapped_free,
};

int pdet_walk_mapped(struct pdet_iter *it, struct pdet_walk **ret)
{
	const int r = pdet_walk_new(it, &mapped_ops,
				    sizeof(struct walk_mapped), ret);

	if (r == 0)
		(*ret)->partial = true;
	return r;
}
