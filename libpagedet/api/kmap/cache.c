/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border for drawing objects of a slab cache. A scan of all pages finds its
 * slabs: the kernel has no list of those that are full. What is at an address
 * in them is asked for each draw, so that it is of that moment. The size of an
 * object, and the names that the kernel has merged, are those of sysfs.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "base/io.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/vec.h"
#include "breakpoint/draw.h"
#include "explain/explain.h"

#define SLABS "/sys/kernel/slab"
#define NAME_BYTES 64
#define WHERE_BYTES 8192
/* Draws of one query, and of one call. */
#define DRAWS 32u
#define MOST_DRAWS 1024u

struct pagedet_kmap_cache {
	struct pagedet *pd;
	struct pdet_bp_draw draw;
	struct pagedet_kmap_cache_total total;
	char name[NAME_BYTES];	/* that of its slabs */
};

/* --- sysfs --- */

/* What a name stands for: caches that are merged have links to one. */
static bool find_real(const struct pdet_env *env, const char *name, char *ret)
{
	char path[sizeof(SLABS) + NAME_BYTES + 1];
	ssize_t n;

	if (!*name || *name == '.' || strpbrk(name, "/\"") ||
	    strlen(name) >= NAME_BYTES ||
	    pdet_path(env, path, sizeof(path), SLABS "/%s", name) < 0 ||
	    access(path, F_OK))
		return false;
	n = readlink(path, ret, NAME_BYTES - 1);
	if (n < 0)
		strcpy(ret, name);
	else
		ret[n] = 0;
	return true;
}

static uint64_t number_of(const struct pdet_env *env, const char *name,
			  const char *file)
{
	char path[sizeof(SLABS) + NAME_BYTES + 32], line[64];
	struct pdet_scan s;
	uint64_t v;

	snprintf(path, sizeof(path), SLABS "/%s/%s", name, file);
	pdet_read_line(env, path, line, sizeof(line));
	s = (struct pdet_scan){ line, line + strlen(line) };
	return pdet_scan_dec(&s, &v) ? v : 0;
}

struct names {
	char **data;
	size_t n, cap;
};

static void free_names(struct names *all)
{
	while (all->n)
		free(all->data[--all->n]);
	pdet_vec_free(all);
}

static int list_names(struct pdet_env *env, struct names *ret)
{
	char path[sizeof(SLABS) + 256];
	struct dirent *e;
	int r = pdet_path(env, path, sizeof(path), SLABS);
	DIR *d = r < 0 ? NULL : opendir(path);

	if (!d)
		return pdet_fail(env, ENOTSUP, "cannot find the cache: this "
				 "kernel has no " SLABS);
	while (r == 0 && (e = readdir(d))) {
		char *copy = *e->d_name == '.' ? NULL : strdup(e->d_name);

		if (*e->d_name == '.' || (copy && pdet_vec_push(ret, copy)))
			continue;
		free(copy);
		r = pdet_fail(env, ENOMEM, "no memory");
	}
	closedir(d);
	return r;
}

static int not_found(struct pdet_env *env, const char *name,
		     const struct names *all)
{
	const int near = pdet_nearest(name, strlen(name),
				      (const char *const *)all->data, all->n);

	pdet_fail(env, ENOENT, "there is no slab cache '%s'", name);
	if (near >= 0)
		pdet_advise(env, "did you mean '%s'?", all->data[near]);
	else
		pdet_advise(env, "their names are those in " SLABS);
	return -ENOENT;
}

/* A filter for slabs of any name that stands for the same cache. */
static int write_filter(struct pdet_env *env, const char *name,
			const struct names *all, uint64_t *names, char *ret)
{
	char real[NAME_BYTES], other[NAME_BYTES];
	size_t i, len = 0;

	if (!find_real(env, name, real))
		return not_found(env, name, all);
	for (i = 0; i < all->n && len < WHERE_BYTES - 2 * NAME_BYTES; i++) {
		if (!find_real(env, all->data[i], other) || strcmp(other, real))
			continue;
		*names += *all->data[i] != ':';
		len += (size_t)snprintf(ret + len, WHERE_BYTES - len,
					"%sslab_cache = \"%s\"",
					len ? " or " : "", all->data[i]);
	}
	return 0;
}

/* --- its slabs --- */

static int find_direct(struct pagedet *pd, uint64_t *ret)
{
	size_t i;
	int r = -ENOTSUP;

	for (i = 0; i < pd->n_backends && r < 0 && pdet_asks_running(pd); i++)
		if (pd->backends[i]->ops->direct_map)
			r = pd->backends[i]->ops->direct_map(pd->backends[i],
							     &pd->env, ret);
	if (r == 0)
		return 0;
	if (!*pd->env.error) {
		pdet_fail(&pd->env, ENOTSUP, "cannot find the objects of a "
			  "cache: no open source reads memory of the running "
			  "kernel");
		pdet_advise(&pd->env, "needs root, for the sources bpf or "
			    "kcore");
	}
	return -pdet_errno_closed(-r);
}

/* A slab that changes while it is read may have another name: it is of one
 * that is merged, or is not taken. */
static int take_page(struct pagedet_kmap_cache *c, struct pagedet_iter *it,
		     const struct pagedet_page *row)
{
	size_t len;
	const char *name = pagedet_string(it, row->slab_cache, &len);

	if (!name || len >= sizeof(c->name))
		return 0;
	if (!*c->name)
		memcpy(c->name, name, len);
	if (strlen(c->name) != len || memcmp(c->name, name, len))
		return 0;
	return pdet_vec_push(&c->draw.pfns, row->pfn) ? 0 :
	       pdet_fail(&c->pd->env, ENOMEM, "no memory");
}

static int list_slabs(struct pagedet_kmap_cache *c, const char *where)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page rows[64];
	struct pagedet_iter *it;
	int64_t n, i;
	int r;

	q.target = PAGEDET_TARGET_SCAN;
	q.where = where;
	pdet_want(&q, PAGEDET_FIELD_PFN);
	pdet_want(&q, PAGEDET_FIELD_SLAB_CACHE);
	r = pagedet_query(c->pd, &q, &it);
	if (r < 0)
		return r;
	while (r == 0 && (n = pagedet_next(it, rows, 64)) != 0) {
		if (n < 0)
			r = (int)n;
		for (i = 0; i < n && r == 0; i++)
			r = take_page(c, it, &rows[i]);
	}
	pagedet_iter_free(it);
	return r;
}

static int describe(struct pagedet_kmap_cache *c, const char *name,
		    uint64_t names)
{
	const struct pdet_env *env = &c->pd->env;
	const uint64_t stride = number_of(env, name, "slab_size");
	struct pagedet_kmap_cache_total *t = &c->total;
	char path[sizeof(SLABS) + NAME_BYTES + 32];

	t->pages = c->draw.pfns.n;
	t->bytes = number_of(env, name, "object_size");
	t->room = stride ? t->pages * c->draw.page_size / stride : 0;
	t->sharing = names > 1 ? names - 1 : 0;
	t->reused = number_of(env, name, "destroy_by_rcu") != 0;
	if (!t->pages)
		return pdet_fail(&c->pd->env, ENOENT, "the slab cache '%s' has "
				 "no slab: none of its objects is in use",
				 name);
	snprintf(path, sizeof(path), SLABS "/%s/object_size", name);
	if (!t->bytes && access(path, R_OK) < 0 && errno == EACCES)
		return pdet_fail(&c->pd->env, EACCES, "cannot tell how large "
				 "the objects of '%s' are: %s is root's", name,
				 path);
	return t->bytes ? 0 :
	       pdet_fail(&c->pd->env, ENOTSUP, "cannot tell how large the "
			 "objects of '%s' are: " SLABS " does not say it",
			 name);
}

static int find(struct pagedet_kmap_cache *c, const char *name)
{
	struct names all = { NULL, 0, 0 };
	char where[WHERE_BYTES];
	uint64_t names = 0;
	int r = find_direct(c->pd, &c->draw.direct);

	if (r == 0)
		r = list_names(&c->pd->env, &all);
	if (r == 0)
		r = write_filter(&c->pd->env, name, &all, &names, where);
	if (r == 0)
		r = list_slabs(c, where);
	if (r == 0)
		r = describe(c, name, names);
	free_names(&all);
	return r;
}

int pagedet_kmap_cache(struct pagedet *pd, const char *name, uint64_t seed,
		       struct pagedet_kmap_cache **ret)
{
	struct pagedet_kmap_cache *c;
	int r;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	c = calloc(1, sizeof(*c));
	if (!c)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	c->pd = pd;
	c->draw.page_size = pd->page_size;
	c->draw.state = seed;
	r = find(c, name);
	if (r < 0) {
		pagedet_kmap_cache_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

/* --- draws --- */

/* Whether the row is of an object of the cache that is in use. */
static bool take_row(struct pagedet_kmap_cache *c, struct pagedet_iter *it,
		     const struct pagedet_page *row, uint64_t at,
		     struct pagedet_kmap_drawn *ret)
{
	struct pdet_bp_said said;
	const char *text;
	size_t len;

	text = pdet_row_has(row, PAGEDET_FIELD_OBJECT) ?
		       pagedet_string(it, row->object, &len) : NULL;
	if (!text || !pdet_bp_said(text, len, &said) ||
	    said.len != strlen(c->name) ||
	    memcmp(said.cache, c->name, said.len)) {
		c->total.elsewhere++;
		return false;
	}
	if (!pdet_row_has(row, PAGEDET_FIELD_OBJECT_STATE)) {
		c->total.unknown++;
		return false;
	}
	if (row->object_state != PAGEDET_OBJECT_USED) {
		c->total.free++;
		return false;
	}
	ret->address = at - (uint64_t)said.within;
	ret->bytes = c->total.bytes;
	c->total.drawn++;
	return true;
}

/* Draws some addresses at once; 1 with the first that is good. */
static int draw_some(struct pagedet_kmap_cache *c,
		     struct pagedet_kmap_drawn *ret)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_item items[DRAWS];
	struct pagedet_page row;
	struct pagedet_iter *it;
	int64_t n;
	size_t i;
	int r;

	for (i = 0; i < DRAWS; i++)
		items[i] = (struct pagedet_item){
			.first = pdet_bp_draw(&c->draw), .count = 1,
			.flags = PAGEDET_KADDR_MEMORY };
	q.target = PAGEDET_TARGET_KADDR;
	q.items = items;
	q.n_items = DRAWS;
	pdet_want(&q, PAGEDET_FIELD_VADDR);
	pdet_want(&q, PAGEDET_FIELD_OBJECT);
	pdet_want(&q, PAGEDET_FIELD_OBJECT_STATE);
	r = pagedet_query(c->pd, &q, &it);
	if (r < 0)
		return r;
	while (r == 0 && (n = pagedet_next(it, &row, 1)) != 0)
		r = n < 0 ? (int)n :
		    pdet_row_has(&row, PAGEDET_FIELD_VADDR) &&
		    take_row(c, it, &row, row.vaddr, ret);
	pagedet_iter_free(it);
	return r;
}

int pagedet_kmap_cache_draw(struct pagedet_kmap_cache *c,
			    struct pagedet_kmap_drawn *ret)
{
	struct pagedet_kmap_drawn drawn = { .size = sizeof(drawn) };
	unsigned i;
	int r = 0;

	pdet_clear(&c->pd->env);
	for (i = 0; i < MOST_DRAWS / DRAWS && r == 0; i++)
		r = draw_some(c, &drawn);
	if (r <= 0)
		return r;
	r = pdet_answer_struct(&c->pd->env, ret, &drawn, sizeof(drawn));
	return r < 0 ? r : 1;
}

const char *pagedet_kmap_cache_name(const struct pagedet_kmap_cache *cache)
{
	return cache->name;
}

int pagedet_kmap_cache_total(const struct pagedet_kmap_cache *cache,
			     struct pagedet_kmap_cache_total *ret)
{
	struct pagedet_kmap_cache_total total = cache->total;

	total.size = sizeof(total);
	return pdet_answer_struct(&cache->pd->env, ret, &total, sizeof(total));
}

void pagedet_kmap_cache_free(struct pagedet_kmap_cache *cache)
{
	if (!cache)
		return;
	pdet_vec_free(&cache->draw.pfns);
	free(cache);
}
