/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Files out of the kernel's inodes: one by its path, all of a directory tree,
 * all of a filesystem. There is no way from a path to an inode but to ask each
 * inode for its path.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image.h"

struct image_file {
	struct pdet_file file;
	uint64_t mapping;
	char path[];
};

struct image_tree {
	struct pdet_tree tree;
	struct {
		uint64_t *data;
		size_t n, cap;
	} inodes;
	size_t at;
	size_t len;		/* of path, without a slash at its end */
	bool all;		/* of the filesystem, however called */
	char path[];
};

static struct image_file *file_of(struct pdet_file *f)
{
	return PDET_CONTAINER(f, struct image_file, file);
}

static struct image_tree *tree_of(struct pdet_tree *t)
{
	return PDET_CONTAINER(t, struct image_tree, tree);
}

/* Where what is mounted is known, a path without its mount is no path: / would
 * be the root of every filesystem that nobody sees. */
static ssize_t path_of(struct image_session *s, uint64_t inode,
		       char buf[PDET_PATH])
{
	bool mounted;
	ssize_t len = pdet_path_of_inode(&s->space, &s->image->path_types,
					 inode, s->image->mnt_ns, buf,
					 &mounted);

	return len >= 0 && s->image->mnt_ns && !mounted ? -ENOENT : len;
}

/* --- from a path to an inode --- */

struct lookup {
	struct image_session *s;
	const char *path;
	size_t len;
	uint64_t inode;		/* 0: none yet */
	uint64_t super;		/* that is looked through */
	uint64_t of;		/* the filesystem of that inode */
	bool partial;		/* a list is damaged */
};

static int compare(void *arg, uint64_t inode)
{
	struct lookup *l = arg;
	char buf[PDET_PATH];
	ssize_t len = path_of(l->s, inode, buf);

	/* The last one holds: what is mounted later hides what was there. */
	if (len == (ssize_t)l->len && !memcmp(buf, l->path, l->len)) {
		l->inode = inode;
		l->of = l->super;
	}
	return 0;
}

static int look_through(void *arg, uint64_t super)
{
	struct lookup *l = arg;

	l->super = super;
	l->partial |= pdet_inodes_each(&l->s->space, &l->s->image->file_types,
				       super, compare, l) < 0;
	return 0;
}

/* 0, or negative errno with words. */
static int find_inode(struct image_session *s, const char *path, size_t len,
		      struct lookup *ret)
{
	*ret = (struct lookup){ .s = s, .path = path, .len = len };
	ret->partial |= pdet_supers_each(&s->space, &s->image->file_types,
					 s->image->super_blocks, look_through,
					 ret) < 0;
	if (ret->inode)
		return 0;
	return ret->partial ?
		pdet_fail(&s->session.env, EBADMSG, "cannot find %s: the lists "
			  "of files are damaged", path) :
		pdet_fail(&s->session.env, ENOENT, "cannot find %s: the "
			  "kernel had no such file open or cached", path);
}

/* --- one file --- */

static unsigned kind_of(uint64_t magic)
{
	switch (magic) {
	case TMPFS_MAGIC:
		return PAGEDET_KIND_SHMEM;
	case HUGETLBFS_MAGIC:
		return PAGEDET_KIND_HUGETLB;
	default:
		return PAGEDET_KIND_FILE;
	}
}

/* 1 and the file, 0 it has no pages; or negative errno, with words only where
 * there is no memory. */
static int open_inode(struct image_session *s, uint64_t inode,
		      const char *path, size_t len, struct pdet_file **ret)
{
	const struct pdet_files *types = &s->image->file_types;
	const unsigned shift = s->image->paging.page_shift;
	struct pdet_mapping mapping;
	struct pdet_inode in;
	struct pdet_super super;
	struct image_file *f;
	int r;

	r = pdet_inode_read(&s->space, types, inode, &in);
	if (r == 0)
		r = pdet_mapping_read(&s->space, types, in.mapping, &mapping);
	if (r == 0 && mapping.inode != inode && mapping.inode)
		r = pdet_inode_read(&s->space, types, mapping.inode, &in);
	if (r == 0)
		r = pdet_super_read(&s->space, types, in.super, &super);
	if (r < 0)
		return r;
	f = calloc(1, sizeof(*f) + len + 1);
	if (!f)
		return pdet_fail(&s->session.env, ENOMEM, "no memory");
	memcpy(f->path, path, len);
	f->mapping = in.mapping;
	f->file.backend = s->session.backend;
	f->file.path = f->path;
	f->file.dev = super.dev;
	f->file.inode = in.ino;
	f->file.kind = kind_of(super.magic);
	/* Pages may be beyond the end for a while. */
	f->file.pages = (in.size >> shift) + 1;
	*ret = &f->file;
	return mapping.pages != 0;
}

int pdet_image_file_open(struct pdet_session *base, const char *path,
			 bool block, struct pdet_file **ret)
{
	struct image_session *s = image_session_of(base);
	struct lookup l;
	int r;

	r = find_inode(s, path, strlen(path), &l);
	if (r < 0)
		return r;
	r = open_inode(s, l.inode, path, strlen(path), ret);
	if (r < 0)
		return r == -ENOMEM ? r :
			pdet_fail(&base->env, EBADMSG, "cannot read %s: its "
				  "inode is damaged", path);
	(*ret)->block = block;
	return 0;
}

void pdet_image_file_close(struct pdet_file *f)
{
	free(file_of(f));
}

/* --- its pages --- */

struct listing {
	struct image_session *s;
	struct pdet_batch *b;	/* NULL: only counted */
	uint64_t at, end;
	uint64_t n;
	unsigned shift;		/* what an index counts, as a power of 2 */
};

static void put_page(struct listing *l, uint64_t index, uint64_t pfn,
		     unsigned state)
{
	const unsigned source = l->s->image->source;
	const uint32_t row = l->b->n;

	pdet_batch_grow(l->b, 1);
	pdet_put(l->b, row, PAGEDET_FIELD_INDEX, index, source);
	if (state == PAGEDET_HAVE)
		pdet_put(l->b, row, PAGEDET_FIELD_PFN, pfn, source);
	else
		pdet_put_lost(l->b, row, PAGEDET_FIELD_PFN, state, source);
}

static int take_entry(void *arg, uint64_t first, uint64_t last,
		      uint64_t entry)
{
	struct listing *l = arg;
	const uint64_t start = first << l->shift;
	const uint64_t end = PDET_MIN(((last + 1) << l->shift), l->end);
	uint64_t pfn = 0, within = 0;
	unsigned state = PAGEDET_HAVE;

	if (pdet_xarray_is_value(entry))
		return 0;
	if (!pdet_memmap_find(&l->s->image->memmap, entry, &pfn, &within) ||
	    within)
		state = PAGEDET_CORRUPT;
	for (l->at = PDET_MAX(l->at, start); l->at < end; l->at++, l->n++) {
		if (!l->b)
			continue;
		if (l->b->n == l->b->cap)
			return 1;
		put_page(l, l->at, pfn + (l->at - start), state);
	}
	return 0;
}

static int take_lost(void *arg, uint64_t first, uint64_t last, int error)
{
	struct listing *l = arg;

	(void)last;
	l->at = PDET_MAX(l->at, first << l->shift);
	if (!l->b || l->at >= l->end)
		return 0;
	if (l->b->n == l->b->cap)
		return 1;
	put_page(l, l->at++, 0, pdet_image_reason(error));
	return 0;
}

/* 1: there was no room for all. */
static int list(struct listing *l, const struct image_file *f)
{
	const struct pdet_xarray_visit visit = { take_entry, take_lost, l };

	if (f->file.kind == PAGEDET_KIND_HUGETLB && l->s->image->huge_index)
		l->shift = l->s->image->paging.page_shift - 3;
	return pdet_mapping_each(&l->s->space, &l->s->image->file_types,
				 f->mapping, l->at >> l->shift,
				 (l->end - 1) >> l->shift, &visit);
}

int pdet_image_file_count(struct pdet_session *base, struct pdet_file *file,
			  uint64_t first, uint64_t count, uint64_t *ret)
{
	struct listing l = {
		.s = image_session_of(base), .at = first,
		.end = count > UINT64_MAX - first ? UINT64_MAX : first + count,
	};
	int r;

	r = list(&l, file_of(file));
	*ret = l.n;
	return r;
}

int pdet_image_file_pages(struct pdet_session *base, struct pdet_file *file,
			  uint64_t *at, uint64_t end, struct pdet_batch *b)
{
	const struct image_file *f = file_of(file);
	struct listing l = { .s = image_session_of(base), .b = b, .at = *at,
			     .end = end };
	const uint32_t first = b->n;
	const unsigned source = l.s->image->source;
	uint32_t n;
	int r;

	r = list(&l, f);
	if (r < 0)
		return r;
	*at = r ? l.at : end;
	n = b->n - first;
	pdet_put_run(b, first, n, PAGEDET_FIELD_DEV, file->dev, source);
	pdet_put_run(b, first, n, PAGEDET_FIELD_INODE, file->inode, source);
	pdet_put_text_run(b, first, n, PAGEDET_FIELD_PATH, f->path,
			  strlen(f->path), source);
	return 0;
}

int pdet_image_file_recheck(struct pdet_session *s, struct pdet_file *f,
			    struct pdet_batch *b, uint32_t first, uint32_t n)
{
	/* A dump stays as it is. */
	(void)s;
	(void)f;
	(void)b;
	(void)first;
	(void)n;
	return 0;
}

/* --- many files --- */

static int keep(void *arg, uint64_t inode)
{
	struct image_tree *t = arg;

	return pdet_vec_push(&t->inodes, inode) ? 0 : -ENOMEM;
}

int pdet_image_tree_open(struct pdet_session *base, const char *path,
			 uint32_t target, struct pdet_tree **ret)
{
	struct image_session *s = image_session_of(base);
	size_t len = strlen(path);
	struct image_tree *t;
	struct lookup l;
	int r;

	while (len > 1 && path[len - 1] == '/')
		len--;
	t = calloc(1, sizeof(*t) + len + 1);
	if (!t)
		return pdet_fail(&base->env, ENOMEM, "no memory");
	memcpy(t->path, path, len);
	t->len = len;
	t->all = target == PAGEDET_TARGET_MOUNT;
	t->tree.backend = base->backend;
	r = find_inode(s, t->path, len, &l);
	if (r == 0) {
		r = pdet_inodes_each(&s->space, &s->image->file_types, l.of,
				     keep, t);
		if (r == -ENOMEM)
			pdet_fail(&base->env, ENOMEM, "no memory");
		else if (r < 0)
			/* what was found of a damaged list is there */
			t->tree.denied++;
		r = r == -ENOMEM ? r : 0;
	}
	if (r < 0) {
		pdet_image_tree_close(&t->tree);
		return r;
	}
	*ret = &t->tree;
	return 0;
}

static bool is_below(const struct image_tree *t, const char *path, size_t len)
{
	return t->all || t->len == 1 ||
	       (len > t->len && path[t->len] == '/' &&
		!memcmp(path, t->path, t->len));
}

int pdet_image_tree_next(struct pdet_session *base, struct pdet_tree *tree,
			 struct pdet_file **ret)
{
	struct image_session *s = image_session_of(base);
	struct image_tree *t = tree_of(tree);
	char buf[PDET_PATH];
	ssize_t len;
	int r;

	while (t->at < t->inodes.n) {
		const uint64_t inode = t->inodes.data[t->at++];

		len = path_of(s, inode, buf);
		if (len < 0 && !t->all)
			continue;
		len = PDET_MAX(len, 0);
		if (!is_below(t, buf, (size_t)len))
			continue;
		r = open_inode(s, inode, buf, (size_t)len, ret);
		if (r == -ENOMEM)
			return r;
		t->tree.files += r >= 0;
		t->tree.denied += r < 0;
		if (r > 0)
			return 1;
		if (r == 0)
			pdet_image_file_close(*ret);
	}
	return 0;
}

void pdet_image_tree_close(struct pdet_tree *tree)
{
	struct image_tree *t = tree_of(tree);

	pdet_vec_free(&t->inodes);
	free(t);
}
