/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads SLUB slabs. SLUB links free objects in a list inside the objects. It
 * XORs the pointers with a random number of the cache and with their own
 * address, against corruption by an attacker (CONFIG_SLAB_FREELIST_HARDENED).
 */
#include <errno.h>
#include <string.h>

#include "kernel/object/slab.h"

enum { SLAB_CACHE, SLAB_FREELIST, SLAB_OBJECTS, SLAB_INUSE, SLAB_FROZEN,
       SLAB_FIELDS };
static const pdet_field_names slab_names[SLAB_FIELDS] = {
	/* slab members were in struct page until 5.16 */
	[SLAB_CACHE] = { "slab.slab_cache", "page.slab_cache" },
	[SLAB_FREELIST] = { "slab.freelist", "page.freelist" },
	[SLAB_OBJECTS] = { "slab.objects", "page.objects" },
	[SLAB_INUSE] = { "slab.inuse", "page.inuse" },
	[SLAB_FROZEN] = { "slab.frozen", "page.frozen" },
};

enum { CACHE_NAME, CACHE_OBJECT_SIZE, CACHE_SIZE, CACHE_OFFSET, CACHE_PAD,
       CACHE_RANDOM, CACHE_CPU_SLAB, CACHE_FIELDS };
static const pdet_field_names cache_names[CACHE_FIELDS] = {
	[CACHE_NAME] = { "kmem_cache.name" },
	[CACHE_OBJECT_SIZE] = { "kmem_cache.object_size" },
	[CACHE_SIZE] = { "kmem_cache.size" },
	[CACHE_OFFSET] = { "kmem_cache.offset" },
	[CACHE_PAD] = { "kmem_cache.red_left_pad" },
	[CACHE_RANDOM] = { "kmem_cache.random" },
	[CACHE_CPU_SLAB] = { "kmem_cache.cpu_slab" },
};

/* slab was named page until 5.16 (bb192ed9aa71) */
enum { CPU_FREELIST, CPU_SLAB, CPU_FIELDS };
static const pdet_field_names cpu_names[CPU_FIELDS] = {
	[CPU_FREELIST] = { "kmem_cache_cpu.freelist" },
	[CPU_SLAB] = { "kmem_cache_cpu.slab", "kmem_cache_cpu.page" },
};

bool pdet_slabs_init(struct pdet_slabs *s, const struct pdet_btf *btf)
{
	pdet_struct_find(&s->slab, btf, slab_names, SLAB_FIELDS);
	pdet_struct_find(&s->cache, btf, cache_names, CACHE_FIELDS);
	pdet_struct_find(&s->cpu, btf, cpu_names, CPU_FIELDS);
	pdet_sheaves_init(&s->sheaves, btf);
	return pdet_struct_has(&s->slab, SLAB_CACHE) &&
	       pdet_struct_has(&s->slab, SLAB_FREELIST) &&
	       pdet_struct_has(&s->slab, SLAB_OBJECTS) &&
	       pdet_struct_has(&s->cache, CACHE_NAME) &&
	       pdet_struct_has(&s->cache, CACHE_SIZE) &&
	       pdet_struct_has(&s->cache, CACHE_OBJECT_SIZE) &&
	       pdet_struct_has(&s->cache, CACHE_OFFSET);
}

int pdet_slab_cache_read(struct pdet_space *space, const struct pdet_slabs *s,
			 uint64_t addr, struct pdet_slab_cache *ret)
{
	char buf[PDET_STRUCT_BYTES];
	ssize_t r = pdet_struct_read(space, &s->cache, addr, buf);
	uint64_t name;

	if (r < 0)
		return (int)r;
	memset(ret, 0, sizeof(*ret));
	ret->addr = addr;
	ret->object_size = (uint32_t)pdet_struct_get(&s->cache, buf,
						     CACHE_OBJECT_SIZE);
	ret->size = (uint32_t)pdet_struct_get(&s->cache, buf, CACHE_SIZE);
	ret->offset = (uint32_t)pdet_struct_get(&s->cache, buf, CACHE_OFFSET);
	ret->pad = (uint32_t)pdet_struct_get(&s->cache, buf, CACHE_PAD);
	ret->hides = pdet_struct_has(&s->cache, CACHE_RANDOM);
	ret->random = pdet_struct_get(&s->cache, buf, CACHE_RANDOM);
	ret->cpu_slab = pdet_struct_get(&s->cache, buf, CACHE_CPU_SLAB);
	name = pdet_struct_get(&s->cache, buf, CACHE_NAME);
	if (!ret->object_size || ret->object_size > ret->size ||
	    ret->pad >= ret->size || ret->offset > ret->size - ret->pad ||
	    !pdet_is_address(name))
		return -EBADMSG;
	r = pdet_space_text(space, name, ret->name, sizeof(ret->name));
	return r == -ENOENT || !r ? -EBADMSG : r < 0 ? (int)r : 0;
}

int pdet_slab_read(struct pdet_space *space, const struct pdet_slabs *s,
		   uint64_t addr, struct pdet_slab *ret)
{
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, &s->slab, addr, buf);

	if (r < 0)
		return r;
	ret->addr = addr;
	ret->cache = pdet_struct_get(&s->slab, buf, SLAB_CACHE);
	ret->freelist = pdet_struct_get(&s->slab, buf, SLAB_FREELIST);
	ret->objects = (uint32_t)pdet_struct_get(&s->slab, buf, SLAB_OBJECTS);
	ret->inuse = (uint32_t)pdet_struct_get(&s->slab, buf, SLAB_INUSE);
	ret->frozen = pdet_struct_get(&s->slab, buf, SLAB_FROZEN);
	return pdet_is_address(ret->cache) && ret->objects &&
	       ret->objects < PDET_SLAB_OBJECTS &&
	       ret->inuse <= ret->objects ? 0 : -EBADMSG;
}

bool pdet_slab_index(const struct pdet_slab_cache *c,
		     const struct pdet_slab *slab, uint64_t offset,
		     uint32_t *index, int64_t *within)
{
	if (offset / c->size >= slab->objects)
		return false;
	*index = (uint32_t)(offset / c->size);
	*within = (int64_t)(offset % c->size) - (int64_t)c->pad;
	return true;
}

/* --- free objects --- */

/* Read the pointer to the next free object, which is in the object at @addr. */
static int next_free(struct pdet_space *space, const struct pdet_slab_cache *c,
		     uint64_t addr, uint64_t *ret)
{
	const uint64_t at = addr + c->offset;
	uint64_t v;
	int r = pdet_space_u64(space, at, &v);

	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	*ret = c->hides ? v ^ c->random ^ __builtin_bswap64(at) : v;
	return 0;
}

/* The memory of a slab, and its free objects. */
struct place {
	const struct pdet_slab_cache *c;
	const struct pdet_slab *slab;
	uint64_t base;
	struct pdet_slab_set *free;
};

static bool find_index(const struct place *p, uint64_t at, uint32_t *ret)
{
	const uint64_t offset = at - p->base - p->c->pad;

	*ret = (uint32_t)(offset / p->c->size);
	return offset / p->c->size < p->slab->objects && !(offset % p->c->size);
}

static void add(const struct place *p, uint32_t i)
{
	p->free->bits[i / 8] |= (uint8_t)(1 << i % 8);
}

/* Each object may occur once: a list with a loop is damaged. *n: its length. */
static int follow(struct pdet_space *space, const struct place *p, uint64_t at,
		  uint32_t *n)
{
	uint32_t i;
	int r;

	for (*n = 0; at; ++*n) {
		if (!find_index(p, at, &i) || pdet_slab_has(p->free, i))
			return -EBADMSG;
		add(p, i);
		r = next_free(space, p->c, at, &at);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The free list of the processor that uses the slab now, if one does. */
static int follow_cpu(struct pdet_space *space, const struct pdet_slabs *s,
		      const struct place *p, const struct pdet_percpu *percpu)
{
	char buf[PDET_STRUCT_BYTES];
	uint32_t i, n;
	int r;

	if (!p->slab->frozen || !p->c->cpu_slab)
		return 0;
	if (!percpu->n || !pdet_struct_has(&s->cpu, CPU_SLAB) ||
	    !pdet_struct_has(&s->cpu, CPU_FREELIST))
		return -ENODATA;
	for (i = 0; i < percpu->n; i++) {
		r = pdet_struct_read(space, &s->cpu,
				     p->c->cpu_slab + percpu->offset[i], buf);
		if (r < 0)
			return r;
		if (pdet_struct_get(&s->cpu, buf, CPU_SLAB) == p->slab->addr)
			return follow(space, p,
				      pdet_struct_get(&s->cpu, buf,
						      CPU_FREELIST), &n);
	}
	/* Only its own list counts. */
	return 0;
}

static void add_kept(void *arg, uint64_t object)
{
	const struct place *p = arg;
	uint32_t i;

	if (find_index(p, object, &i))
		add(p, i);
}

int pdet_slab_free(struct pdet_space *space, const struct pdet_slabs *s,
		   const struct pdet_slab_cache *c,
		   const struct pdet_slab *slab, uint64_t base,
		   const struct pdet_percpu *percpu, uint32_t nodes,
		   struct pdet_slab_set *free)
{
	struct place p = { c, slab, base, free };
	uint32_t n;
	int r, kept;

	memset(free, 0, sizeof(*free));
	/* A slab has at least one of them; that of KFENCE has neither. */
	if (pdet_struct_has(&s->slab, SLAB_INUSE) && !slab->freelist &&
	    !slab->inuse)
		return -ENOTSUP;
	r = follow(space, &p, slab->freelist, &n);
	/* The slab counts the objects that are not in its list. */
	if (r == 0 && pdet_struct_has(&s->slab, SLAB_INUSE) &&
	    n != slab->objects - slab->inuse)
		r = -EBADMSG;
	if (r == 0)
		r = follow_cpu(space, s, &p, percpu);
	kept = pdet_sheaves_each(space, &s->sheaves, c->addr, percpu, nodes,
				 add_kept, &p);
	return r < 0 ? r : kept;
}
