/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks the cached pages of one file, a directory tree, a filesystem, a block
 * device, or a list of files or trees. A span is a part of one file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"

/*
 * Pages per span. Finding that a page is not cached is cheap, but each call has
 * a cost. A span is therefore far longer than a batch.
 */
#define SPAN_PAGES 65536

/* A file that is shared by the walk and its spans. */
struct shared_file {
	struct pdet_file *file;
	struct pdet_file *behind; /* the same file in another source, which is
				   * asked first; or NULL */
	atomic_uint users;
};

struct file_span {
	struct shared_file *file;
	bool behind;		/* the rows of this turn come from there */
};

struct walk_file {
	struct pdet_walk walk;
	struct pdet_tree *tree;	/* for TREE and MOUNT */
	struct shared_file *file; /* NULL: the next file is not open yet */
	int behind;		/* the backend that may know open files as well,
				 * or -1 */
	uint64_t item;		/* for FILE and BLOCK, or a list */
	uint64_t first, count;	/* the pages that are wanted of each file of a
				 * tree or list */
	uint64_t at, end;	/* pages of the item that are left */
	bool begun;		/* the first item has been taken */
};

static struct walk_file *walk_of(struct pdet_walk *w)
{
	return PDET_CONTAINER(w, struct walk_file, walk);
}

static void file_put(struct shared_file *f)
{
	if (!f || atomic_fetch_sub(&f->users, 1) != 1)
		return;
	if (f->behind)
		f->behind->backend->ops->file_close(f->behind);
	f->file->backend->ops->file_close(f->file);
	free(f);
}

static bool of_tree(const struct walk_file *w)
{
	return w->walk.it->q.target == PAGEDET_TARGET_TREE ||
	       w->walk.it->q.target == PAGEDET_TARGET_MOUNT;
}

/*
 * A source that is asked about the pages in any case, and can find them itself.
 */
static int backend_behind(const struct pdet_iter *it)
{
	const struct pdet_plan *plan = &it->plan;
	unsigned i;

	if (!it->plan_args.many || it->count_only)
		return -1;
	for (i = 0; i < plan->n_steps; i++) {
		const unsigned b = plan->steps[i].backend;

		if (it->backends[b]->ops->file_opened &&
		    it->backends[b]->bulk >> it->q.target & 1)
			return (int)b;
	}
	return -1;
}

static int look_behind(const struct walk_file *w, struct pdet_worker *k,
		       struct shared_file *f)
{
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	const int fd = ops->file_fd ? ops->file_fd(f->file) : -1;
	struct pdet_session *s;

	if (w->behind < 0 || fd < 0)
		return 0;
	s = k->session[w->behind];
	return PDET_MIN(s->backend->ops->file_opened(s, fd, f->file,
						     &f->behind), 0);
}

static int take_file(struct walk_file *w, struct pdet_worker *k,
		     struct pdet_file *file)
{
	struct shared_file *f = calloc(1, sizeof(*f));
	int r;

	if (!f) {
		file->backend->ops->file_close(file);
		return pdet_fail(&pdet_session_of(k, &w->walk)->env, ENOMEM,
				 "no memory");
	}
	f->file = file;
	atomic_init(&f->users, 1);
	r = look_behind(w, k, f);
	if (r < 0) {
		file_put(f);
		return r;
	}
	w->file = f;
	return 1;
}

/* Sets the wanted part of the open file. */
static void take_part(struct walk_file *w, uint64_t first, uint64_t count)
{
	w->at = first;
	w->end = w->file->file->pages;
	if (count <= UINT64_MAX - first)
		w->end = PDET_MIN(w->end, first + count);
}

/* Opens the next file of a tree. Returns 1, or 0 at the end. */
static int next_in_tree(struct walk_file *w, struct pdet_worker *k)
{
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	struct pdet_file *file;
	int r;

	if (!w->tree)
		return 0;
	r = ops->tree_next(s, w->tree, &file);
	k->cover.files += w->tree->files;
	k->cover.files_gone += w->tree->gone;
	k->cover.files_denied += w->tree->denied;
	w->tree->files = w->tree->gone = w->tree->denied = 0;
	if (r <= 0)
		return r;
	r = take_file(w, k, file);
	if (r > 0)
		take_part(w, w->first, w->count);
	return r;
}

/*
 * Takes the part of the file that the next item wants. Returns 1, or 0 at the
 * end.
 */
static int next_item(struct walk_file *w)
{
	const struct pdet_question *q = &w->walk.it->q;

	if (w->begun)
		w->item++;
	w->begun = true;
	if (w->item >= PDET_MAX(q->n_items, (uint64_t)1))
		return 0;
	if (q->n_items)
		take_part(w, q->items[w->item].first,
			  q->items[w->item].count);
	else
		take_part(w, 0, UINT64_MAX);
	return 1;
}

static int open_place(struct walk_file *w, struct pdet_worker *k,
		      const char *path)
{
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	struct pdet_session *s = pdet_session_of(k, &w->walk);
	struct pdet_file *file;
	int r;

	if (of_tree(w))
		return ops->tree_open(s, path, w->walk.it->q.target, &w->tree);
	r = ops->file_open(s, path, false, &file);
	if (r < 0)
		return r;
	k->cover.files++;
	r = take_file(w, k, file);
	if (r > 0)
		take_part(w, w->first, w->count);
	return r;
}

/*
 * Opens the next place of the caller's list that can be opened. Returns 1, or 0
 * at the end.
 */
static int next_place(struct walk_file *w, struct pdet_worker *k)
{
	const struct pdet_question *q = &w->walk.it->q;
	struct pdet_env *env = &pdet_session_of(k, &w->walk)->env;
	struct pagedet_place place;
	int r, error = 0;

	do {
		/* A list may have any number of names that no longer exist. */
		r = pdet_engine_check(k);
		if (r < 0)
			return r;
		memset(&place, 0, sizeof(place));
		place.size = sizeof(place);
		place.count = UINT64_MAX;
		r = q->next_place(q->next_place_user, error,
				  error ? env->error : "", &place);
		if (r && (r != 1 || !place.path))
			return -ECANCELED;
		if (!r)
			return 0;
		w->item += w->begun;
		w->begun = true;
		w->first = place.first;
		w->count = place.count;
		pdet_clear(env);
		error = open_place(w, k, place.path);
		if (pdet_is_shortage(error))
			return error;
		error = PDET_MIN(error, 0);
		k->cover.partial |= error != 0;
	} while (error);
	return 1;
}

static void close_tree(struct walk_file *w)
{
	if (w->tree)
		w->walk.backend->ops->tree_close(w->tree);
	w->tree = NULL;
}

/* Opens the next file of the query. Returns 1, or 0 at the end. */
static int next_file(struct walk_file *w, struct pdet_worker *k)
{
	const bool list = w->walk.it->q.next_place;
	int r = 0;

	if (!list && !of_tree(w))
		return next_item(w);
	file_put(w->file);
	w->file = NULL;
	if (of_tree(w))
		r = next_in_tree(w, k);
	if (r || !list)
		return r;
	close_tree(w);
	return next_place(w, k);
}

static int file_begin(struct pdet_walk *base, struct pdet_worker *k)
{
	struct walk_file *w = walk_of(base);
	const struct pdet_backend_ops *ops = w->walk.backend->ops;
	struct pdet_session *s = pdet_session_of(k, base);
	const struct pdet_question *q = &base->it->q;
	struct pdet_file *file;
	int r;

	w->count = UINT64_MAX;
	w->behind = backend_behind(base->it);
	if (q->next_place)
		return 0;
	if (of_tree(w))
		return ops->tree_open(s, q->path, q->target, &w->tree);
	r = ops->file_open(s, q->path, q->target == PAGEDET_TARGET_BLOCK,
			   &file);
	if (r < 0)
		return r;
	r = take_file(w, k, file);
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
	fs->behind = false;
	while (!w->file || w->at >= w->end) {
		r = next_file(w, k);
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

/* Adds one row for pages that are only counted. */
static void put_count(const struct pdet_walk *w, struct pdet_batch *b,
		      const struct pdet_file *f, uint64_t pages, unsigned state)
{
	const unsigned source = w->source;
	const uint32_t row = b->n;

	pdet_batch_grow(b, 1);
	pdet_put(b, row, PAGEDET_FIELD_PAGES, pages, source);
	if (state == PAGEDET_HAVE)
		pdet_put(b, row, PAGEDET_FIELD_KIND, f->kind, source);
	else
		pdet_put_lost(b, row, PAGEDET_FIELD_KIND, state, source);
	pdet_put_text(b, row, PAGEDET_FIELD_PATH, f->path, strlen(f->path),
		      source);
	if (f->inode) {
		pdet_put(b, row, PAGEDET_FIELD_DEV, f->dev, source);
		pdet_put(b, row, PAGEDET_FIELD_INODE, f->inode, source);
	}
}

/* Records that a part of a file's page list could not be read. */
static void note_lost(struct pdet_worker *k, unsigned why)
{
	if (!why)
		return;
	k->cover.partial = true;
	k->cover.any_lost = true;
	k->cover.lost[why]++;
}

/* Counts the cached pages of the span. */
static int count_pages(struct pdet_walk *w, struct pdet_worker *k,
		       struct pdet_span *span, struct pdet_batch *b)
{
	struct pdet_file *f = ((struct file_span *)span->data)->file->file;
	struct pdet_file_count count;
	int r;

	r = w->backend->ops->file_count(pdet_session_of(k, w), f, span->at,
					span->end - span->at, &count);
	if (r < 0)
		return r;
	k->cover.visited += count.pages + count.lost;
	k->cover.skipped += span->end - span->at - count.pages - count.lost;
	span->at = span->end;
	if (count.pages)
		put_count(w, b, f, count.pages, PAGEDET_HAVE);
	if (count.lost)
		put_count(w, b, f, count.lost, PAGEDET_CORRUPT);
	note_lost(k, count.why);
	return 0;
}

/* Adds rows for some pages of the span. fs->behind is their source. */
static int list_pages(struct pdet_walk *w, struct pdet_worker *k,
		      struct pdet_span *span, struct pdet_batch *b)
{
	struct file_span *fs = span->data;
	struct pdet_file *f = fs->file->behind;
	const int behind = walk_of(w)->behind;
	int r;

	if (f) {
		r = f->backend->ops->file_pages(k->session[behind], f,
						&span->at, span->end, b);
		fs->behind = r != -EAGAIN;
		if (fs->behind)
			return r;
	}
	return w->backend->ops->file_pages(pdet_session_of(k, w),
					   fs->file->file, &span->at, span->end,
					   b);
}

static int file_place(struct pdet_walk *w, struct pdet_worker *k,
		      struct pdet_span *span, struct pdet_batch *b)
{
	const uint64_t before = span->at;
	int r;

	if (w->it->count_only)
		return count_pages(w, k, span, b);
	r = list_pages(w, k, span, b);
	if (r < 0)
		return r;
	note_lost(k, (unsigned)r);
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
	struct pdet_file *f = fs->file->behind;

	if (fs->behind)
		return f->backend->ops->file_recheck(
				k->session[walk_of(w)->behind], f, b, 0, b->n);
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
	close_tree(w);
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
	const int r = pdet_walk_new(it, &file_ops, sizeof(struct walk_file),
				    ret);

	if (r < 0 || !(*ret)->backend->no_cache)
		return r;
	free(walk_of(*ret));
	*ret = NULL;
	return pdet_walk_mapped(it, ret);
}
