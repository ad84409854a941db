/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds files in the kernel's inodes: one by its path, all of a directory tree,
 * or all of a filesystem. No lookup leads from a path to an inode, so the path
 * of every inode is compared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/file.h"
#include "kernel/page/count.h"

struct image_tree {
	struct pdet_tree tree;
	struct {
		uint64_t *data;
		size_t n, cap;
	} inodes;
	size_t at;
	size_t len;		/* length of path without a trailing slash */
	bool all;		/* all files of the filesystem, with any name */
	char path[];
};

static struct image_tree *tree_of(struct pdet_tree *t)
{
	return PDET_CONTAINER(t, struct image_tree, tree);
}

/* Only a path through a mount counts: otherwise / would be the root of every
 * unmounted filesystem. */
static ssize_t path_of(struct image_session *s, uint64_t inode,
		       char buf[PDET_PATH])
{
	struct pdet_inode is;
	bool mounted;
	ssize_t len = pdet_inode_read(&s->space, &s->image->file_types, inode,
				      &is);

	if (len < 0)
		return len;
	len = pdet_path_of_inode(&s->space, &s->image->path_types, &s->dirs,
				 &is, s->image->mnt_ns, buf, &mounted);
	return len >= 0 && !mounted ? -ENOENT : len;
}

/* --- from a path to an inode --- */

struct lookup {
	struct image_session *s;
	const char *path;
	size_t len;
	uint64_t inode;		/* 0: not found yet */
	uint64_t super;		/* filesystem being searched */
	uint64_t of;		/* filesystem of that inode */
	/* The first and the last filesystem that is damaged; 0: none is. */
	uint64_t damaged, damaged_last;
};

static void note_damage(struct lookup *l, uint64_t super)
{
	if (!l->damaged)
		l->damaged = super;
	l->damaged_last = super;
}

/* A mount elsewhere that cannot be read may hide the inode. */
static bool may_be_hidden(const struct lookup *l)
{
	return l->damaged && (l->damaged != l->of || l->damaged_last != l->of);
}

static int compare(void *arg, uint64_t inode)
{
	struct lookup *l = arg;
	char buf[PDET_PATH];
	ssize_t len = path_of(l->s, inode, buf);

	/* It may be the one. */
	if (len < 0 && len != -ENOENT)
		note_damage(l, l->super);
	/* The last match counts: a later mount hides an earlier one. */
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
	if (pdet_inodes_each(&l->s->space, &l->s->image->file_types, super,
			     compare, l) < 0)
		note_damage(l, super);
	return 0;
}

/* Returns 0, or a negative errno with an error text. */
static int find_inode(struct image_session *s, const char *path, size_t len,
		      struct lookup *ret)
{
	*ret = (struct lookup){ .s = s, .path = path, .len = len };
	if (pdet_supers_each(&s->space, &s->image->file_types,
			     s->image->super_blocks, look_through, ret) < 0)
		note_damage(ret, s->image->super_blocks);
	if (ret->inode)
		return 0;
	return ret->damaged ?
		pdet_fail(&s->session.env, EBADMSG, "cannot find %s: the lists "
			  "of files are damaged", path) :
		pdet_fail(&s->session.env, ENOENT, "cannot find %s: the "
			  "kernel had no such file open or cached", path);
}

/* --- one file --- */

/* True if its page cache is indexed in huge pages. */
static bool counts_huge(const struct image_session *s,
			const struct image_file *f)
{
	return f->file.kind == PAGEDET_KIND_HUGETLB && s->image->huge_index;
}

/* Returns 1 and the file; 0 if it has no pages; or a negative errno, with an
 * error text only if memory is short. */
static int open_inode(struct image_session *s, uint64_t inode,
		      const char *path, size_t len, struct pdet_file **ret)
{
	const struct pdet_files *types = &s->image->file_types;
	const unsigned shift = s->image->paging.page_shift;
	struct pdet_mapping mapping;
	struct pdet_inode in;
	struct pdet_super super;
	struct image_file *f;
	uint64_t last;
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
	f->file.kind = pdet_kind_of_fs(super.magic);
	/*
	 * The file may have pages beyond its end, and a file of a huge size may
	 * have only a few pages.
	 */
	last = pdet_mapping_last(&s->space, types, in.mapping);
	if (last > UINT64_MAX >> 9)
		last = in.size >> shift;
	f->file.pages = (last + 1) << (counts_huge(s, f) ? shift - 3 : 0);
	f->counted = mapping.pages;
	*ret = &f->file;
	/* Its count may be damaged. */
	return mapping.pages ||
	       !pdet_mapping_empty(&s->space, types, in.mapping);
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
	if (may_be_hidden(&l))
		pdet_log(&base->env, PAGEDET_LOG_WARNING, "%s: mounts or lists "
			 "of files are damaged: another file may be there",
			 path);
	return 0;
}

void pdet_image_file_close(struct pdet_file *f)
{
	free(image_file_of(f));
}

/* --- its pages --- */

struct listing {
	struct image_session *s;
	struct pdet_batch *b;	/* NULL: only count */
	uint64_t at, end;
	struct pdet_file_count count;
	uint64_t mapping;	/* address_space with the pages */
	unsigned shift;		/* log2 of the pages that an index stands for */
	bool live;		/* a mismatch may be a concurrent change */
};

/* True if the struct page has the expected mapping and index, or cannot be
 * read. */
static bool agrees(struct image_session *s, uint64_t mapping, uint64_t page,
		   uint64_t index)
{
	const struct pdet_layout *layout = &s->image->layout;
	char buf[PDET_PAGE_BYTES];

	if (pdet_space_read(&s->space, page, buf,
			    s->image->memmap.page_size) < 0)
		return true;
	return (!pdet_page_has(layout, PDET_MEMBER_PAGE_MAPPING) ||
		pdet_page_u64(layout, buf, PDET_MEMBER_PAGE_MAPPING) ==
			mapping) &&
	       (!pdet_page_has(layout, PDET_MEMBER_PAGE_INDEX) ||
		pdet_page_u64(layout, buf, PDET_MEMBER_PAGE_INDEX) == index);
}

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

static void count(struct listing *l, uint64_t end, unsigned state)
{
	if (l->at >= end)
		return;
	if (state == PAGEDET_HAVE)
		l->count.pages += end - l->at;
	else
		l->count.lost += end - l->at;
	l->at = end;
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
	    within ||
	    (!l->live && !agrees(l->s, l->mapping, entry, first))) {
		if (l->live)
			return -EAGAIN;
		state = PAGEDET_CORRUPT;
	}
	l->at = PDET_MAX(l->at, start);
	if (!l->b) {
		count(l, end, state);
		return 0;
	}
	for (; l->at < end; l->at++) {
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
	if (l->live)
		return -EAGAIN;
	l->count.why = pdet_image_reason(error);
	l->at = PDET_MAX(l->at, first << l->shift);
	if (!l->b || l->at >= l->end)
		return 0;
	if (l->b->n == l->b->cap)
		return 1;
	put_page(l, l->at++, 0, l->count.why);
	return 0;
}

/* Returns 1 if there was no room for all. */
static int list(struct listing *l, const struct image_file *f)
{
	const bool live = l->s->image->memory->live;
	const struct pdet_xarray_visit visit = { take_entry, take_lost, l,
						 live };

	l->live = live;
	l->mapping = f->mapping;
	if (counts_huge(l->s, f))
		l->shift = l->s->image->paging.page_shift - 3;
	return pdet_mapping_each(&l->s->space, &l->s->image->file_types,
				 f->mapping, l->at >> l->shift,
				 (l->end - 1) >> l->shift, &visit);
}

/* --- one page --- */

struct cached {
	struct image_session *s;
	uint64_t mapping, index;
	uint64_t pfn;
	int error;		/* -ENODATA: it is not cached */
};

static int find_entry(void *arg, uint64_t first, uint64_t last, uint64_t entry)
{
	struct cached *c = arg;
	uint64_t pfn, within;

	(void)last;
	if (pdet_xarray_is_value(entry))
		return 0;
	c->error = -EBADMSG;
	if (!pdet_memmap_find(&c->s->image->memmap, entry, &pfn, &within) ||
	    within || !agrees(c->s, c->mapping, entry, first))
		return 1;
	c->pfn = pfn + (c->index - first);
	c->error = 0;
	return 1;
}

static int find_lost(void *arg, uint64_t first, uint64_t last, int error)
{
	struct cached *c = arg;

	(void)first;
	(void)last;
	c->error = error;
	return 1;
}

/* A file of hugetlbfs is not a program, and its index may count huge pages. */
int pdet_image_cached_page(struct pdet_session *base, uint64_t cache,
			   uint64_t index, void *buf)
{
	struct image_session *s = image_session_of(base);
	const struct image *im = s->image;
	const uint64_t parts = ((uint64_t)1 << im->paging.page_shift) /
			       PDET_CACHED_PAGE;
	const uint64_t page = index / parts;
	struct cached c = { s, cache, page, 0, -ENODATA };
	const struct pdet_xarray_visit visit = { find_entry, find_lost, &c,
						 false };

	if (!im->files.tried || im->files.error || !cache)
		return -ENODATA;
	(void)pdet_mapping_each(&s->space, &im->file_types, cache, page, page,
				&visit);
	return c.error ? c.error :
	       pdet_read_phys(s->reader, (c.pfn << im->paging.page_shift) +
			      index % parts * PDET_CACHED_PAGE, buf,
			      PDET_CACHED_PAGE);
}

/* --- a list that was cut off --- */

struct sum {
	uint64_t pages;
	bool lost;
};

static int add_entry(void *arg, uint64_t first, uint64_t last, uint64_t entry)
{
	struct sum *sum = arg;

	if (!pdet_xarray_is_value(entry))
		sum->pages += last - first + 1;
	return 0;
}

static int add_lost(void *arg, uint64_t first, uint64_t last, int error)
{
	struct sum *sum = arg;

	(void)first;
	(void)last;
	(void)error;
	sum->lost = true;
	return 0;
}

/*
 * The list ends at the end of the file, but the file's own count is higher: the
 * only sign that the list was cut off. The missing pages may be anywhere. If
 * the @found pages of this part suffice, the rest is not walked again.
 */
static void check_all(struct listing *l, const struct image_file *f,
		      uint64_t found)
{
	struct sum sum = { 0, false };
	const struct pdet_xarray_visit visit = { add_entry, add_lost, &sum,
						 false };

	if (l->live || l->count.why || l->end < f->file.pages ||
	    found >= f->counted ||
	    f->file.kind == PAGEDET_KIND_HUGETLB)
		return;
	if (pdet_mapping_each(&l->s->space, &l->s->image->file_types,
			      f->mapping, 0, UINT64_MAX, &visit) == 0 &&
	    !sum.lost && sum.pages < f->counted)
		l->count.why = PAGEDET_CORRUPT;
}

int pdet_image_file_count(struct pdet_session *base, struct pdet_file *file,
			  uint64_t first, uint64_t n,
			  struct pdet_file_count *ret)
{
	struct listing l = {
		.s = image_session_of(base), .at = first,
		.end = n > UINT64_MAX - first ? UINT64_MAX : first + n,
	};
	int r;

	r = list(&l, image_file_of(file));
	if (r == 0)
		check_all(&l, image_file_of(file),
			  l.count.pages + l.count.lost);
	*ret = l.count;
	return r;
}

int pdet_image_file_pages(struct pdet_session *base, struct pdet_file *file,
			  uint64_t *at, uint64_t end, struct pdet_batch *b)
{
	const struct image_file *f = image_file_of(file);
	struct listing l = { .s = image_session_of(base), .b = b, .at = *at,
			     .end = end };
	const uint32_t first = b->n;
	const unsigned source = l.s->image->source;
	uint32_t n;
	int r;

	r = list(&l, f);
	if (r < 0) {
		pdet_batch_cut(b, first);
		return r;
	}
	n = b->n - first;
	if (r == 0)
		check_all(&l, f, n);
	*at = r ? l.at : end;
	pdet_put_run(b, first, n, PAGEDET_FIELD_DEV, file->dev, source);
	pdet_put_run(b, first, n, PAGEDET_FIELD_INODE, file->inode, source);
	pdet_put_text_run(b, first, n, PAGEDET_FIELD_PATH, f->path,
			  strlen(f->path), source);
	return (int)l.count.why;
}

int pdet_image_file_recheck(struct pdet_session *base, struct pdet_file *f,
			    struct pdet_batch *b, uint32_t first, uint32_t n)
{
	struct image_session *s = image_session_of(base);

	/* A dump does not change. */
	return s->image->memory->live ?
		pdet_image_file_again(s, image_file_of(f), b, first, n) : 0;
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
		t->tree.denied += may_be_hidden(&l);
		r = pdet_inodes_each(&s->space, &s->image->file_types, l.of,
				     keep, t);
		if (r == -ENOMEM)
			pdet_fail(&base->env, ENOMEM, "no memory");
		else if (r < 0)
			/* entries found before the damage are kept */
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
		t->tree.denied += len < 0 && len != -ENOENT && !t->all;
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
