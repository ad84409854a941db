/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border for drawing objects of a slab cache. A scan of all pages finds its
 * slabs: the kernel has no list of those that are full.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/kmap/watch.h"
#include "base/vec.h"
#include "breakpoint/caches.h"
#include "breakpoint/draw.h"
#include "breakpoint/sums.h"

struct pagedet_kmap_cache {
	struct pagedet *pd;
	struct pdet_bp_draw draw;
	struct pdet_bp_cache of;
	struct pdet_bp_sums sums;
};

/* --- its slabs --- */

/* A slab that changes while it is read may have another name: it is of one
 * that is merged, or is not taken. */
static int take_page(struct pagedet_kmap_cache *c, struct pagedet_iter *it,
		     const struct pagedet_page *row)
{
	char *cache = c->draw.cache;
	size_t len;
	const char *name = pagedet_string(it, row->slab_cache, &len);

	if (!name || len >= sizeof(c->draw.cache))
		return 0;
	if (!*cache)
		memcpy(cache, name, len);
	if (strlen(cache) != len || memcmp(cache, name, len))
		return 0;
	return pdet_vec_push(&c->draw.pfns, row->pfn) ? 0 :
	       pdet_fail(&c->pd->env, ENOMEM, "no memory");
}

static int list_slabs(struct pagedet_kmap_cache *c)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page rows[64];
	struct pagedet_iter *it;
	int64_t n, i;
	int r;

	q.target = PAGEDET_TARGET_SCAN;
	q.where = c->of.filter;
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

static int find(struct pagedet_kmap_cache *c, const char *name)
{
	const struct pdet_bp_sources sources = pdet_kmap_sources(c->pd);
	struct pdet_env *env = &c->pd->env;
	int r = pdet_bp_direct(&sources, env, &c->draw.direct);

	if (r == 0)
		r = pdet_bp_cache_find(env, name, &c->of);
	if (r < 0)
		return -pdet_errno_closed(-r);
	r = list_slabs(c);
	if (r == 0 && !c->draw.pfns.n)
		r = pdet_fail(env, ENOENT, "the slab cache '%s' has no slab: "
			      "none of its objects is in use", name);
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
	pdet_bp_sums_init(&c->sums, c->draw.cache, c->of.bytes);
	*ret = c;
	return 0;
}

/* --- draws --- */

int pagedet_kmap_cache_draw(struct pagedet_kmap_cache *cache,
			    struct pagedet_kmap_drawn *ret)
{
	const struct pdet_bp_sources sources = pdet_kmap_sources(cache->pd);
	struct pagedet_kmap_drawn drawn = { .size = sizeof(drawn) };
	struct pdet_env *env = &cache->pd->env;
	struct pdet_at at;
	int r;

	pdet_clear(env);
	/* Before anything is drawn, and counted. */
	r = pdet_check_answer(env, ret);
	if (r == 0)
		r = pdet_bp_draw_object(&cache->draw, &sources, env, &at);
	if (r <= 0)
		return r < 0 ? -pdet_errno_closed(-r) : 0;
	drawn.address = at.address;
	drawn.bytes = cache->of.bytes;
	pdet_answer_struct(env, ret, &drawn, sizeof(drawn));
	return 1;
}

int pagedet_kmap_cache_has(const struct pagedet_kmap_cache *cache,
			   const struct pagedet_kmap_watch *watch)
{
	const struct pdet_bp_object *found = pdet_kmap_found(watch);

	return found->state == PAGEDET_OBJECT_USED &&
	       !strcmp(found->cache, cache->draw.cache);
}

/* --- sums --- */

int pagedet_kmap_cache_add(struct pagedet_kmap_cache *cache,
			   struct pagedet_kmap_watch *watch, uint64_t address)
{
	struct pdet_bp_text seen;
	int r = pagedet_kmap_watch_stop(watch);

	if (r < 0)
		return r;
	pdet_clear(&cache->pd->env);
	seen = pdet_kmap_seen(watch);
	return pdet_bp_sums_add(&cache->sums, &cache->pd->env, &seen, address);
}

int pagedet_kmap_cache_write(struct pagedet_kmap_cache *cache, int fd)
{
	pdet_clear(&cache->pd->env);
	return pdet_bp_sums_write(&cache->sums, &cache->pd->env, fd);
}

/* --- what is known --- */

const char *pagedet_kmap_cache_name(const struct pagedet_kmap_cache *cache)
{
	return cache->draw.cache;
}

int pagedet_kmap_cache_total(const struct pagedet_kmap_cache *cache,
			     struct pagedet_kmap_cache_total *ret)
{
	const struct pdet_bp_draw *d = &cache->draw;
	const struct pagedet_kmap_cache_total total = {
		.size = sizeof(total), .pages = d->pfns.n,
		.room = d->pfns.n * d->page_size / cache->of.stride,
		.bytes = cache->of.bytes,
		.sharing = cache->of.names > 1 ? cache->of.names - 1 : 0,
		.drawn = d->drawn, .free = d->free, .unknown = d->unknown,
		.elsewhere = d->elsewhere, .reused = cache->of.reused,
		.kept = d->kept, .dropped = cache->sums.hits.dropped,
	};

	return pdet_answer_struct(&cache->pd->env, ret, &total, sizeof(total));
}

void pagedet_kmap_cache_free(struct pagedet_kmap_cache *cache)
{
	if (!cache)
		return;
	pdet_bp_sums_free(&cache->sums);
	pdet_vec_free(&cache->draw.pfns);
	free(cache);
}
