/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks the sheaves of a cache. Each processor has one or two; each node has a
 * barn with a list of full ones. A sheaf of kfree_rcu() is left out: its
 * objects may still be read.
 */
#include <errno.h>

#include "base/env.h"
#include "kernel/container/list.h"
#include "kernel/object/sheaves.h"

/* Far more than any kernel has. */
#define MOST_OBJECTS 65536
#define MOST_SHEAVES 1024
#define MOST_NODES 1024
#define PIECE 64

enum { CACHE_SHEAVES, CACHE_CAPACITY, CACHE_NODES, CACHE_FIELDS };
static const pdet_field_names cache_names[CACHE_FIELDS] = {
	[CACHE_SHEAVES] = { "kmem_cache.cpu_sheaves" },
	[CACHE_CAPACITY] = { "kmem_cache.sheaf_capacity" },
	/* node until 7.0 */
	[CACHE_NODES] = { "kmem_cache.per_node", "kmem_cache.node" },
};

enum { CPU_MAIN, CPU_SPARE, CPU_FIELDS };
static const pdet_field_names cpu_names[CPU_FIELDS] = {
	[CPU_MAIN] = { "slub_percpu_sheaves.main" },
	[CPU_SPARE] = { "slub_percpu_sheaves.spare" },
};

enum { SHEAF_CACHE, SHEAF_SIZE, SHEAF_OBJECTS, SHEAF_LIST, SHEAF_FIELDS };
static const pdet_field_names sheaf_names[SHEAF_FIELDS] = {
	[SHEAF_CACHE] = { "slab_sheaf.cache" },
	[SHEAF_SIZE] = { "slab_sheaf.size" },
	[SHEAF_OBJECTS] = { "slab_sheaf.objects" },
	[SHEAF_LIST] = { "slab_sheaf.barn_list" },
};

static const pdet_field_names barn_names[] = { { "node_barn.sheaves_full" } };

/* The node with its barn until 7.0 */
static const pdet_field_names node_names[] = {
	{ "kmem_cache_per_node_ptrs.barn", "kmem_cache_node.barn" },
};

static bool has_all(const struct pdet_struct *s)
{
	unsigned i;

	for (i = 0; i < s->n; i++)
		if (!pdet_struct_has(s, i))
			return false;
	return true;
}

void pdet_sheaves_init(struct pdet_sheaves *s, const struct pdet_btf *btf)
{
	pdet_struct_find(&s->cache, btf, cache_names, CACHE_FIELDS);
	pdet_struct_find(&s->cpu, btf, cpu_names, CPU_FIELDS);
	pdet_struct_find(&s->sheaf, btf, sheaf_names, SHEAF_FIELDS);
	pdet_struct_find(&s->barn, btf, barn_names, 1);
	pdet_struct_find(&s->node, btf, node_names, 1);
	s->by_pointer = !pdet_btf_struct_size(btf, "kmem_cache_per_node_ptrs",
					      &s->node_bytes);
	if (s->by_pointer)
		s->node_bytes = 8;
	s->known = !pdet_struct_has(&s->cache, CACHE_SHEAVES) ||
		   (has_all(&s->cache) && has_all(&s->cpu) &&
		    has_all(&s->sheaf) && has_all(&s->barn) &&
		    has_all(&s->node));
}

/* --- one sheaf --- */

struct walk {
	struct pdet_space *space;
	const struct pdet_sheaves *s;
	uint64_t cache, capacity;
	void (*visit)(void *arg, uint64_t object);
	void *arg;
	int error;		/* the first one */
};

static void note(struct walk *w, int r)
{
	if (r < 0 && !w->error)
		w->error = r;
}

static int visit_objects(struct walk *w, uint64_t at, uint64_t n)
{
	uint64_t object[PIECE], some, i;
	int r;

	for (; n; n -= some, at += some * sizeof(*object)) {
		some = PDET_MIN(n, (uint64_t)PIECE);
		r = pdet_space_read(w->space, at, object,
				    some * sizeof(*object));
		if (r < 0)
			return r == -ENOENT ? -EBADMSG : r;
		for (i = 0; i < some; i++) {
			if (!pdet_is_address(object[i]))
				return -EBADMSG;
			w->visit(w->arg, object[i]);
		}
	}
	return 0;
}

/* All caches without sheaves share an empty one without a cache. */
static int visit_sheaf(struct walk *w, uint64_t addr)
{
	const struct pdet_struct *s = &w->s->sheaf;
	char buf[PDET_STRUCT_BYTES];
	uint64_t size;
	int r = pdet_struct_read(w->space, s, addr, buf);

	if (r < 0)
		return r;
	size = pdet_struct_get(s, buf, SHEAF_SIZE);
	if (!size)
		return 0;
	return size > w->capacity ||
	       pdet_struct_get(s, buf, SHEAF_CACHE) != w->cache ? -EBADMSG :
	       visit_objects(w, pdet_struct_addr(s, addr, SHEAF_OBJECTS), size);
}

/* --- all sheaves --- */

static void visit_cpu(struct walk *w, uint64_t addr)
{
	char buf[PDET_STRUCT_BYTES];
	uint64_t sheaf;
	unsigned i;
	int r = pdet_struct_read(w->space, &w->s->cpu, addr, buf);

	note(w, r);
	for (i = CPU_MAIN; r == 0 && i <= CPU_SPARE; i++) {
		sheaf = pdet_struct_get(&w->s->cpu, buf, i);
		if (sheaf)
			note(w, visit_sheaf(w, sheaf));
	}
}

static int visit_in_barn(void *arg, uint64_t node)
{
	struct walk *w = arg;

	note(w, visit_sheaf(w, node -
			    (uint64_t)w->s->sheaf.field[SHEAF_LIST].at));
	return 0;
}

/* @at: the node's part of the cache */
static void visit_node(struct walk *w, uint64_t at)
{
	uint64_t node = at, barn = 0;
	int r = w->s->by_pointer ? pdet_space_u64(w->space, at, &node) : 0;

	if (r == 0 && node)
		r = pdet_struct_value(w->space, &w->s->node, node, 0, &barn);
	if (r == 0 && barn)
		r = pdet_list_each(w->space,
				   pdet_struct_addr(&w->s->barn, barn, 0),
				   MOST_SHEAVES, visit_in_barn, w);
	note(w, r == -ENOENT ? -EBADMSG : r);
}

int pdet_sheaves_each(struct pdet_space *space, const struct pdet_sheaves *s,
		      uint64_t cache, const struct pdet_percpu *percpu,
		      uint32_t nodes,
		      void (*visit)(void *arg, uint64_t object), void *arg)
{
	struct walk w = { .space = space, .s = s, .cache = cache,
			  .visit = visit, .arg = arg };
	char buf[PDET_STRUCT_BYTES];
	uint64_t cpus;
	uint32_t i;
	int r;

	if (!pdet_struct_has(&s->cache, CACHE_SHEAVES))
		return 0;
	if (!s->known)
		return -ENODATA;
	r = pdet_struct_read(space, &s->cache, cache, buf);
	if (r < 0)
		return r;
	cpus = pdet_struct_get(&s->cache, buf, CACHE_SHEAVES);
	w.capacity = pdet_struct_get(&s->cache, buf, CACHE_CAPACITY);
	/* Few caches have some on Linux 6.18. */
	if (!cpus || !w.capacity)
		return 0;
	if (!percpu->n || !nodes)
		return -ENODATA;
	if (w.capacity > MOST_OBJECTS || nodes > MOST_NODES)
		return -EBADMSG;
	for (i = 0; i < percpu->n; i++)
		visit_cpu(&w, cpus + percpu->offset[i]);
	for (i = 0; i < nodes; i++)
		visit_node(&w, pdet_struct_addr(&s->cache, cache, CACHE_NODES) +
			       i * s->node_bytes);
	return w.error;
}
