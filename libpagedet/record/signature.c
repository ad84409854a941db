/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Each tracepoint has a function __traceiter_EVENT whose parameters are, behind
 * the first one, its arguments (include/linux/tracepoint.h; since Linux 5.10).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "record/signature.h"
#include "trace/kmem.h"

/* The first parameter is not an argument. */
#define FIRST 1
/* A program gets no more arguments than that (MAX_BPF_FUNC_ARGS). */
#define MOST 12
/* Bytes between both sizes of a cache, which are read together. */
#define MOST_SPAN 24

/* Frees come last. */
static const struct {
	const char *event;
	uint8_t kind;
	bool always;		/* in each kernel */
} events[PDET_SIGNATURES + PDET_SIGNATURES_OF_FREES] = {
	{ "kmalloc", PDET_KMEM_KMALLOC, true },
	{ "kmem_cache_alloc", PDET_KMEM_CACHE_ALLOC, true },
	/* Before Linux 6.1. */
	{ "kmalloc_node", PDET_KMEM_KMALLOC, false },
	{ "kmem_cache_alloc_node", PDET_KMEM_CACHE_ALLOC, false },
	{ "mm_page_alloc", PDET_KMEM_PAGE_ALLOC, true },
	{ "kfree", PDET_KMEM_KFREE, true },
	{ "kmem_cache_free", PDET_KMEM_CACHE_FREE, true },
	/* mm_page_free_batched is a second event of the same free. */
	{ "mm_page_free", PDET_KMEM_PAGE_FREE, true },
};

static const struct {
	const char *name;
	size_t at;
} arguments[] = {
#define TO(member) offsetof(struct pdet_signature, member)
	{ "call_site", TO(site) }, { "ptr", TO(object) },
	{ "page", TO(object) }, { "s", TO(cache) },
	{ "bytes_req", TO(requested) }, { "bytes_alloc", TO(allocated) },
	{ "gfp_flags", TO(gfp) }, { "node", TO(node) }, { "order", TO(order) },
	{ "migratetype", TO(migratetype) },
#undef TO
};

static void take_arguments(const struct pdet_btf *btf, uint32_t function,
			   struct pdet_signature *s)
{
	const char *name;
	uint32_t i;
	size_t k;

	for (i = FIRST; i <= MOST &&
	     (name = pdet_btf_parameter(btf, function, i)); i++)
		for (k = 0; k < PDET_COUNT(arguments); k++)
			if (!strcmp(name, arguments[k].name))
				((uint8_t *)s)[arguments[k].at] =
					(uint8_t)(i - FIRST);
}

/* Not a bit-field. */
static bool find_member(const struct pdet_btf *btf, const char *path,
			uint64_t bytes, uint32_t *ret)
{
	struct pdet_btf_member m;
	uint64_t size;

	if (!pdet_btf_member(btf, path, &m) || m.bit_size ||
	    !pdet_btf_type_size(btf, m.type, &size) || size != bytes)
		return false;
	*ret = m.bit_offset / 8;
	return true;
}

static bool has(uint8_t argument)
{
	return argument != PDET_ARGUMENT_NONE;
}

static void find_name(const struct pdet_btf *btf, struct pdet_signature *s)
{
	s->tells_name = s->kind == PDET_KMEM_CACHE_ALLOC && has(s->cache) &&
			find_member(btf, "kmem_cache.name", 8, &s->name_at);
}

static bool is_complete(const struct pdet_btf *btf, struct pdet_signature *s)
{
	if (!has(s->object))
		return false;
	if (!pdet_kmem_is_alloc(s->kind))
		return true;
	if (!has(s->gfp))
		return false;
	if (s->kind == PDET_KMEM_PAGE_ALLOC)
		return has(s->order);
	if (!has(s->site))
		return false;
	if (has(s->requested) && has(s->allocated))
		return true;
	return has(s->cache) &&
	       find_member(btf, "kmem_cache.object_size", 4,
			   &s->requested_at) &&
	       find_member(btf, "kmem_cache.size", 4, &s->allocated_at) &&
	       PDET_MAX(s->requested_at, s->allocated_at) -
	       PDET_MIN(s->requested_at, s->allocated_at) <= MOST_SPAN;
}

int pdet_signatures_find(struct pdet_env *env, const struct pdet_btf *btf,
			 bool pages, bool frees, struct pdet_signatures *ret)
{
	struct pdet_signature *s;
	uint32_t function;
	char name[64];
	size_t i;

	ret->n = ret->n_all = 0;
	for (i = 0; i < PDET_COUNT(events); i++) {
		const bool is_alloc = pdet_kmem_is_alloc(events[i].kind);

		if ((pdet_kmem_is_page(events[i].kind) && !pages) ||
		    (!is_alloc && !frees))
			continue;
		snprintf(name, sizeof(name), "__traceiter_%s",
			 events[i].event);
		function = pdet_btf_function(btf, name);
		if (!function && !events[i].always)
			continue;
		s = &ret->data[ret->n_all++];
		ret->n += is_alloc;
		memset(s, PDET_ARGUMENT_NONE, sizeof(*s));
		s->event = events[i].event;
		s->kind = events[i].kind;
		take_arguments(btf, function, s);
		find_name(btf, s);
		if (!is_complete(btf, s))
			return pdet_fail(env, ENOTSUP, "cannot sum up "
					 "allocations: the types of this "
					 "kernel do not tell the arguments of "
					 "the event kmem:%s", s->event);
	}
	/* Linux 6.1 has it, and with it the rule. */
	ret->counts_misses = pdet_btf_function(btf,
					       "bpf_prog_inc_misses_counter");
	return 0;
}
