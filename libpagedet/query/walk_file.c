/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Cached pages of files: one file, a directory tree, a filesystem, a block
 * device. A span is a stretch of one file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"

/* Pages of a span: finding out that nothing is cached is cheap per page and
 * costs a call, so a span is far longer than a batch. */
#define SPAN_PAGES 65536

/* A file that the walk and spans share. */
struct shared_file {
	struct pdet_file *file;
	atomic_uint users;
};

struct file_span {
	struct shared_file *file;
};

struct walk_file {
	struct pdet_walk walk;
	struct pdet_tree *tree;	/* TREE and MOUNT */
	struct shared_file *file; /* NULL: the next one is to be opened */
	uint64_t item;		/* of FILE and BLOCK */
	uint64_t at, end;	/* pages of the item */
	bool begun;		/* the first item was taken */
};

static struct walk_file *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_file, walk);
}

static void file_put(struct shared_file *f)
{
	if (!f || atomic_fetch_sub(&f->users, 1) != 1)
		return;
	f->file->backend->ops->file_close(f->file);
	free(f);
}

static bool of_tree(const struct walk_file *w)
{
	return w->walk.it->q.target == PAGEDET_TARGET_TREE ||
	       w->walk.it->q.target == PAGEDET_TARGET_MOUNT;
}

static int take_file(struct walk_file *w, struct pdet_session *s,
		     struct pdet_file *file)
{
	struct shared_file *f = calloc(1, sizeof(*f));

	if (!f) {
		file->backend->ops->file_close(file);
		return pdet_fail(&s->env, ENOMEM, "no memory");
	}
	f->file = file;
	atomic_init(&f->users, 1);
	w->file = f;
	return 1;
}

/* The next file of a tree. 1, 0 at the end. */
static int next_in_tree(struct walk_file *w, struct pdet_worker *k)
{
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	struct pdet_file *file;
	int r;

	r = ops->tree_next(s, w->tree, &file);
	k->cover.files += w->tree->files;
	k->cover.files_gone += w->tree->gone;
	k->cover.files_denied += w->tree->denied;
	w->tree->files = w->tree->gone = w->tree->denied = 0;
	if (r <= 0)
		return r;
	w->at = 0;
	w->end = file->pages;
	return take_file(w, s, file);
}

/* The part of the file that the next item asks for. 1, 0 no more. */
static int next_item(struct walk_file *w)
{
	const struct pdet_question *q = &w->walk.it->q;
	const struct pagedet_item *item;

	if (w->begun)
		w->item++;
	w->begun = true;
	if (w->item >= PDET_MAX(q->n_items, (uint64_t)1))
		return 0;
	w->at = 0;
	w->end = w->file->file->pages;
	if (!q->n_items)
		return 1;
	item = &q->items[w->item];
	w->at = item->first;
	if (item->count <= UINT64_MAX - item->first)
		w->end = PDET_MIN(w->end, item->first + item->count);
	return 1;
}

static int file_begin(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_file *w = walk_of(base);
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	struct pdet_session *s = pdet_session_of(k, base);
	const struct pdet_question *q = &base->it->q;
	struct pdet_file *file;
	int r;

	if (of_tree(w))
		return ops->tree_open(s, q->path, q->target, &w->tree);
	r = ops->file_open(s, q->path, q->target == PAGEDET_TARGET_BLOCK,
			   &file);
	if (r < 0)
		return r;
	r = take_file(w, s, file);
	if (r < 0)
		return r;
	k->cover.files++;
	w->walk.total = q->n_items ? 0 : file->pages;
	return 0;
}

static int file_next(struct pdet_walk *base, struct pdet_worker *k,
		     struct pdet_span *span, uint64_t pages)
{
	struct walk_file *w = walk_of(base);
	struct file_span *fs = span->data;
	int r;

	(void)pages;
	if (!fs)
		span->data = fs = calloc(1, sizeof(*fs));
	if (!fs)
		return pdet_fail(&pdet_session_of(k, base)->env, ENOMEM,
				 "no memory");
	file_put(fs->file);
	fs->file = NULL;
	while (!w->file || w->at >= w->end) {
		if (of_tree(w)) {
			file_put(w->file);
			w->file = NULL;
			r = next_in_tree(w, k);
		} else {
			r = next_item(w);
		}
		if (r <= 0)
			return r;
	}
	atomic_fetch_add(&w->file->users, 1);
	fs->file = w->file;
	span->item = w->item;
	span->place = w->at;
	span->at = w->at;
	span->end = base->it->count_only ? w->end :
		PDET_MIN(w->end, (w->at / SPAN_PAGES + 1) * SPAN_PAGES);
	w->at = span->end;
	return 1;
}

/* One row for all cached pages of the span. */
static int count_pages(struct pdet_walk *w, struct pdet_worker *k,
		       struct pdet_span *span, struct pdet_batch *b)
{
	struct pdet_file *f = ((struct file_span *)span->data)->file->file;
	const unsigned source = w->source;
	uint64_t pages;
	int r;

	r = w->backend->ops->file_count(pdet_session_of(k, w), f, span->at,
					span->end - span->at, &pages);
	if (r < 0)
		return r;
	k->cover.visited += pages;
	k->cover.skipped += span->end - span->at - pages;
	span->at = span->end;
	if (!pages)
		return 0;
	pdet_batch_grow(b, 1);
	pdet_put(b, 0, PAGEDET_FIELD_PAGES, pages, source);
	pdet_put(b, 0, PAGEDET_FIELD_KIND, f->kind, source);
	pdet_put_text(b, 0, PAGEDET_FIELD_PATH, f->path, strlen(f->path),
		      source);
	if (f->inode) {
		pdet_put(b, 0, PAGEDET_FIELD_DEV, f->dev, source);
		pdet_put(b, 0, PAGEDET_FIELD_INODE, f->inode, source);
	}
	return 0;
}

static int file_place(struct pdet_walk *w, struct pdet_worker *k,
		      struct pdet_span *span, struct pdet_batch *b)
{
	struct file_span *fs = span->data;
	uint64_t before = span->at;
	int r;

	if (w->it->count_only)
		return count_pages(w, k, span, b);
	r = w->backend->ops->file_pages(pdet_session_of(k, w), fs->file->file,
					&span->at, span->end, b);
	if (r < 0)
		return r;
	k->cover.visited += b->n;
	k->cover.skipped += span->at - before - b->n;
	span->place = span->at;
	pdet_put_run(b, 0, b->n, PAGEDET_FIELD_ASK, span->item,
		     PAGEDET_SOURCE_DERIVED);
	return 0;
}

static int file_recheck(struct pdet_walk *w, struct pdet_worker *k,
			struct pdet_span *span, struct pdet_batch *b)
{
	struct file_span *fs = span->data;

	return w->backend->ops->file_recheck(pdet_session_of(k, w),
					     fs->file->file, b, 0, b->n);
}

static void file_span_free(struct pdet_walk *w, struct pdet_span *span)
{
	struct file_span *fs = span->data;

	(void)w;
	if (!fs)
		return;
	file_put(fs->file);
	free(fs);
	span->data = NULL;
}

static void file_free(struct pdet_walk *base)
{
	struct walk_file *w = walk_of(base);

	file_put(w->file);
	if (w->tree)
		w->walk.backend->ops->tree_close(w->tree);
	free(w);
}

static const struct pdet_walk_ops file_ops = {
	.begin = file_begin,
	.next = file_next,
	.place = file_place,
	.recheck = file_recheck,
	.span_free = file_span_free,
	.free = file_free,
};

int pdet_walk_file(struct pdet_iter *it, struct pdet_walk **ret)
{
	struct walk_file *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return pdet_fail(it->env, ENOMEM, "no memory");
	w->walk.ops = &file_ops;
	w->walk.it = it;
	r = pdet_walk_backend(it, &w->walk);
	if (r < 0) {
		free(w);
		return r;
	}
	if (w->walk.backend->no_cache) {
		free(w);
		return pdet_walk_mapped(it, ret);
	}
	*ret = &w->walk;
	return 0;
}
