/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the owner of a page: the inode that it caches, the memcg charged for
 * it, the slab cache that it belongs to. Many pages have the same owner, so a
 * few hundred lookups of each kind are cached.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/owner.h"
#include "kernel/page/kpf.h"

/* If this bit of mapping is set, mapping is not a struct address_space. */
#define MAPPING_BITS 3

static const uint8_t file_fields[] = {
	PAGEDET_FIELD_DEV, PAGEDET_FIELD_INODE, PAGEDET_FIELD_INDEX,
	PAGEDET_FIELD_PATH,
};
static const uint8_t memcg_fields[] = {
	PAGEDET_FIELD_MEMCG_INO, PAGEDET_FIELD_MEMCG_PATH,
	PAGEDET_FIELD_MEMCG_NAME,
};

#define BIT(name) ((uint64_t)1 << PAGEDET_FIELD_##name)

/* The same lists as sets. */
static const struct pdet_fields of_file = { {
	BIT(DEV) | BIT(INODE) | BIT(INDEX) | BIT(PATH), 0
} };
static const struct pdet_fields of_memcg = { {
	BIT(MEMCG_INO) | BIT(MEMCG_PATH) | BIT(MEMCG_NAME), 0
} };

void pdet_image_owners_together(struct pdet_fields *set)
{
	if (pdet_fields_meet(set, &of_file))
		pdet_fields_join(set, &of_file);
	if (pdet_fields_meet(set, &of_memcg))
		pdet_fields_join(set, &of_memcg);
}

struct image_owner_wants
pdet_image_owner_wants(const struct pdet_fields *want)
{
	return (struct image_owner_wants){
		pdet_fields_meet(want, &of_file),
		pdet_fields_meet(want, &of_memcg),
		pdet_fields_has(want, PAGEDET_FIELD_SLAB_CACHE),
	};
}

/* --- cached lookups --- */

void pdet_image_owners_clear(struct image_owners *o)
{
	size_t i;

	for (i = 0; i < IMAGE_OWNERS; i++) {
		free(o->slot[i].text);
		memset(&o->slot[i], 0, sizeof(o->slot[i]));
	}
}

/* The cache entry of @key. If *fresh, the caller must fill it. */
static struct image_owner *owner_of(struct image_session *s, uint64_t key,
				    bool *fresh)
{
	struct image_owner *o;

	o = &s->owners->slot[key * 0x9e3779b97f4a7c15 >> 55];
	*fresh = o->key != key;
	if (*fresh) {
		free(o->text);
		memset(o, 0, sizeof(*o));
		o->key = key;
	}
	return o;
}

static void keep_text(struct image_owner *o, const char *text, ssize_t len)
{
	if (len < 0) {
		o->text_error = (int)len;
		return;
	}
	o->text = malloc((size_t)len);
	if (o->text || !len) {
		if (len)
			memcpy(o->text, text, (size_t)len);
		o->text_len = (size_t)len;
	} else {
		o->text_error = -ENOMEM;
	}
}

int pdet_image_inode(struct image_session *s, uint64_t mapping,
		     struct image_inode *ret)
{
	const struct pdet_files *types = &s->image->file_types;
	int r = pdet_inode_of_mapping(&s->space, types, mapping, &ret->is);

	if (r == 0 && ret->is.super != s->super.addr) {
		s->super.addr = 0;
		r = pdet_super_read(&s->space, types, ret->is.super, &s->super);
	}
	ret->dev = s->super.dev;
	ret->device = s->super.magic == BDEVFS_MAGIC;
	return r;
}

static ssize_t path_of(struct image_session *s, const struct image_inode *inode,
		       char buf[PDET_PATH])
{
	const struct image *im = s->image;
	bool mounted;

	if (inode->device)
		return pdet_path_of_device(&s->space, &im->path_types,
					   inode->is.addr, buf);
	/*
	 * A path inside the filesystem could belong to a different visible
	 * file.
	 */
	return !im->mnt_ns ? -EBADMSG :
	       pdet_path_of_inode(&s->space, &im->path_types, &s->dirs,
				  &inode->is, im->mnt_ns, buf, &mounted);
}

static const struct image_owner *inode_of(struct image_session *s,
					  uint64_t mapping, bool path)
{
	struct image_inode inode;
	char buf[PDET_PATH];
	struct image_owner *o;
	bool fresh;

	o = owner_of(s, mapping, &fresh);
	if (!fresh && (!path || o->error || o->has_text))
		return o;
	o->error = pdet_image_inode(s, mapping, &inode);
	if (o->error)
		return o;
	o->dev = inode.dev;
	o->ino = inode.is.ino;
	o->has_text = path;
	if (path)
		keep_text(o, buf, path_of(s, &inode, buf));
	return o;
}

static const struct image_owner *memcg_of(struct image_session *s,
					  uint64_t memcg_data)
{
	static const char offline[] = " (offline)";
	const struct image *im = s->image;
	char buf[PDET_CGROUP_PATH + sizeof(offline)];
	struct pdet_memcg memcg;
	struct image_owner *o;
	bool fresh;
	uint64_t addr;
	ssize_t len;

	o = owner_of(s, memcg_data, &fresh);
	if (!fresh)
		return o;
	o->error = pdet_memcg_of_page(&s->space, &im->memcg_types, memcg_data,
				      &addr);
	if (o->error == 0 && addr)
		o->error = pdet_memcg_read(&s->space, &im->memcg_types, addr,
					   &memcg);
	if (o->error || !addr)
		return o;
	o->addr = addr;
	o->ino = memcg.online_ino;
	len = pdet_memcg_path(&s->space, &im->memcg_types, addr, buf);
	if (len >= 0 && !memcg.online) {
		memcpy(buf + len, offline, sizeof(offline));
		len += (ssize_t)sizeof(offline) - 1;
	}
	keep_text(o, buf, len);
	return o;
}

static const struct image_owner *cache_of(struct image_session *s,
					  uint64_t addr)
{
	struct pdet_slab_cache cache;
	struct image_owner *o;
	bool fresh;

	o = owner_of(s, addr, &fresh);
	if (!fresh)
		return o;
	o->error = pdet_slab_cache_read(&s->space, &s->image->slab_types, addr,
					&cache);
	if (o->error == 0)
		keep_text(o, cache.name,
			  (ssize_t)strnlen(cache.name, sizeof(cache.name)));
	return o;
}

/* --- rows --- */

struct putting {
	struct image_session *s;
	struct pdet_batch *b;
	const struct pdet_fields *want;
	unsigned source;
};

static void put_states(const struct putting *p, uint32_t row,
		       const uint8_t *fields, size_t n, unsigned state)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (pdet_fields_has(p->want, fields[i]))
			pdet_put_lost(p->b, row, fields[i], state, p->source);
}

static void put_text(const struct putting *p, uint32_t row, unsigned field,
		     const struct image_owner *o)
{
	if (!pdet_fields_has(p->want, field))
		return;
	if (o->text_error == -ENOENT)
		pdet_put_none(p->b, row, field, p->source);
	else if (o->text_error)
		pdet_put_lost(p->b, row, field, o->text_error == -ENOTSUP ?
			      PAGEDET_NO_TYPES :
			      pdet_image_kernel_reason(p->s, o->text_error),
			      p->source);
	else
		pdet_put_text(p->b, row, field, o->text, o->text_len,
			      p->source);
}

/* The reason for a row whose struct page does not have the value: damage, or
 * types that do not say where the value is. */
static unsigned why(const struct image_columns *c, uint32_t row, unsigned bad)
{
	if (c->bad[row] & (bad | PDET_BAD_FOLIO))
		return PAGEDET_CORRUPT;
	return c->error[row] ? pdet_image_reason(c->error[row]) :
			       PAGEDET_NO_TYPES;
}

/* True for kinds that never cache a file. */
static bool is_no_file(unsigned kind)
{
	switch (kind) {
	case PAGEDET_KIND_FREE:
	case PAGEDET_KIND_ANON:
	case PAGEDET_KIND_SLAB:
	case PAGEDET_KIND_PGTABLE:
	case PAGEDET_KIND_ZERO:
	case PAGEDET_KIND_RESERVED:
	case PAGEDET_KIND_OFFLINE:
	case PAGEDET_KIND_ZSMALLOC:
	case PAGEDET_KIND_KERNEL:
		return true;
	default:
		return false;
	}
}

static void put_index(const struct putting *p, uint32_t row, uint64_t pfn)
{
	const struct image_columns *c = &p->s->column;
	uint64_t index = c->index[row];

	if (!pdet_fields_has(p->want, PAGEDET_FIELD_INDEX))
		return;
	if (!(c->has[row] & PDET_HAS_INDEX)) {
		pdet_put_lost(p->b, row, PAGEDET_FIELD_INDEX,
			      why(c, row, PDET_BAD_MAPPING), p->source);
		return;
	}
	/* until 6.6 in huge pages */
	if (c->kind[row] == PAGEDET_KIND_HUGETLB && p->s->image->huge_index)
		index <<= c->order[row];
	pdet_put(p->b, row, PAGEDET_FIELD_INDEX, index + (pfn - c->head[row]),
		 p->source);
}

static void put_file(const struct putting *p, uint32_t row, uint64_t pfn)
{
	const struct image_columns *c = &p->s->column;
	const size_t n = PDET_COUNT(file_fields);
	const struct image_owner *o;

	if (is_no_file(c->kind[row]) ||
	    (c->has[row] & PDET_HAS_MAPPING &&
	     (!c->mapping[row] || c->mapping[row] & MAPPING_BITS))) {
		put_states(p, row, file_fields, n, PAGEDET_NONE);
		return;
	}
	if (!(c->has[row] & PDET_HAS_MAPPING)) {
		put_states(p, row, file_fields, n,
			   why(c, row, PDET_BAD_MAPPING));
		return;
	}
	o = inode_of(p->s, c->mapping[row],
		     pdet_fields_has(p->want, PAGEDET_FIELD_PATH));
	if (o->error) {
		put_states(p, row, file_fields, n,
			   pdet_image_kernel_reason(p->s, o->error));
		return;
	}
	if (pdet_fields_has(p->want, PAGEDET_FIELD_DEV))
		pdet_put(p->b, row, PAGEDET_FIELD_DEV, o->dev, p->source);
	if (pdet_fields_has(p->want, PAGEDET_FIELD_INODE))
		pdet_put(p->b, row, PAGEDET_FIELD_INODE, o->ino, p->source);
	put_text(p, row, PAGEDET_FIELD_PATH, o);
	put_index(p, row, pfn);
}

static void put_memcg(const struct putting *p, uint32_t row)
{
	const struct image_columns *c = &p->s->column;
	const size_t n = PDET_COUNT(memcg_fields);
	const struct image_owner *o;
	const char *name;

	if (!(c->has[row] & PDET_HAS_MEMCG)) {
		put_states(p, row, memcg_fields, n,
			   why(c, row, PDET_BAD_MEMCG));
		return;
	}
	if (!c->memcg[row]) {
		put_states(p, row, memcg_fields, n, PAGEDET_NONE);
		return;
	}
	o = memcg_of(p->s, c->memcg[row]);
	if (o->error || !o->addr) {
		/* slab objects are charged individually */
		put_states(p, row, memcg_fields, n,
			   o->error == -ENOTSUP ? PAGEDET_UNSUPPORTED :
			   o->error ?
			   pdet_image_kernel_reason(p->s, o->error) :
			   PAGEDET_NONE);
		return;
	}
	if (pdet_fields_has(p->want, PAGEDET_FIELD_MEMCG_INO)) {
		if (o->ino)
			pdet_put(p->b, row, PAGEDET_FIELD_MEMCG_INO, o->ino,
				 p->source);
		else
			pdet_put_none(p->b, row, PAGEDET_FIELD_MEMCG_INO,
				      p->source);
	}
	put_text(p, row, PAGEDET_FIELD_MEMCG_PATH, o);
	if (!pdet_fields_has(p->want, PAGEDET_FIELD_MEMCG_NAME))
		return;
	/* The root cgroup is "/". */
	name = o->text_len > 1 ? memrchr(o->text, '/', o->text_len) : NULL;
	if (name)
		pdet_put_text(p->b, row, PAGEDET_FIELD_MEMCG_NAME, name + 1,
			      (size_t)(o->text + o->text_len - name - 1),
			      p->source);
	else
		put_text(p, row, PAGEDET_FIELD_MEMCG_NAME, o);
}

static void put_cache(const struct putting *p, uint32_t row)
{
	const unsigned f = PAGEDET_FIELD_SLAB_CACHE;
	const struct image_columns *c = &p->s->column;
	const struct image_owner *o;

	if (c->kind[row] != PAGEDET_KIND_SLAB) {
		pdet_put_none(p->b, row, f, p->source);
		return;
	}
	if (!(c->has[row] & PDET_HAS_SLAB_CACHE)) {
		pdet_put_lost(p->b, row, f, why(c, row, PDET_BAD_SLAB),
			      p->source);
		return;
	}
	o = cache_of(p->s, c->cache[row]);
	if (o->error)
		pdet_put_lost(p->b, row, f,
			      pdet_image_kernel_reason(p->s, o->error),
			      p->source);
	else
		put_text(p, row, f, o);
}

void pdet_image_owner_put(struct image_session *s, struct pdet_batch *b,
			  const struct pdet_fields *want, unsigned source,
			  uint32_t row, uint32_t n, uint64_t pfn)
{
	const struct image_owner_wants w = pdet_image_owner_wants(want);
	const struct putting p = { s, b, want, source };
	const uint32_t first = row;

	for (; row < first + n; row++) {
		if (w.file)
			put_file(&p, row, pfn + (row - first));
		if (w.memcg)
			put_memcg(&p, row);
		if (w.cache)
			put_cache(&p, row);
	}
}

void pdet_image_owner_states(struct pdet_batch *b,
			     const struct pdet_fields *want, unsigned source,
			     uint32_t row, uint32_t n, unsigned state)
{
	const struct image_owner_wants w = pdet_image_owner_wants(want);
	const struct putting p = { NULL, b, want, source };
	const uint32_t end = row + n;

	for (; row < end; row++) {
		if (w.file)
			put_states(&p, row, file_fields,
				   PDET_COUNT(file_fields), state);
		if (w.memcg)
			put_states(&p, row, memcg_fields,
				   PDET_COUNT(memcg_fields), state);
		if (w.cache)
			pdet_put_lost(b, row, PAGEDET_FIELD_SLAB_CACHE, state,
				      source);
	}
}
