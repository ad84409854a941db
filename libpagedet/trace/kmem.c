/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Names of events and fields, by kernel; where a kernel has them is learned. */
#include <errno.h>
#include <string.h>

#include "base/env.h"
#include "trace/kmem.h"
#include "trace/ring.h"

/* In of[]: the event is not of memory allocation. */
#define OTHER UINT8_MAX

static const struct {
	const char *name;
	uint8_t kind;
} events[] = {
	{ "kmalloc", PDET_KMEM_KMALLOC },
	{ "kmalloc_node", PDET_KMEM_KMALLOC }, /* until 6.0, as the next */
	{ "kmem_cache_alloc", PDET_KMEM_CACHE_ALLOC },
	{ "kmem_cache_alloc_node", PDET_KMEM_CACHE_ALLOC },
	{ "kfree", PDET_KMEM_KFREE },
	{ "kmem_cache_free", PDET_KMEM_CACHE_FREE },
	{ "mm_page_alloc", PDET_KMEM_PAGE_ALLOC },
	{ "mm_page_free", PDET_KMEM_PAGE_FREE },
	{ "mm_page_free_batched", PDET_KMEM_PAGE_BATCHED },
};

#define KIND(name) (1u << PDET_KMEM_##name)
#define OBJECT_ALLOCS (KIND(KMALLOC) | KIND(CACHE_ALLOC))
#define OBJECTS (OBJECT_ALLOCS | KIND(KFREE) | KIND(CACHE_FREE))
#define PAGES (KIND(PAGE_ALLOC) | KIND(PAGE_FREE) | KIND(PAGE_BATCHED))

/* Fields, and the kinds of events that must have them and that may. */
static const struct {
	const char *name;
	uint32_t must, may;
	size_t to;
} fields[] = {
#define TO(member) offsetof(struct pdet_kmem_layout, member)
	{ "common_pid", ~0u, ~0u, TO(pid) },
	{ "ptr", OBJECTS, OBJECTS, TO(object) },
	{ "pfn", PAGES, PAGES, TO(object) },
	{ "call_site", OBJECT_ALLOCS, OBJECTS, TO(site) },
	{ "bytes_req", OBJECT_ALLOCS, OBJECT_ALLOCS, TO(requested) },
	{ "bytes_alloc", OBJECT_ALLOCS, OBJECT_ALLOCS, TO(allocated) },
	{ "gfp_flags", 0, OBJECT_ALLOCS | KIND(PAGE_ALLOC), TO(gfp) },
	{ "name", 0, OBJECTS, TO(cache) },
	{ "node", 0, OBJECT_ALLOCS, TO(node) },
	{ "order", KIND(PAGE_ALLOC) | KIND(PAGE_FREE), PAGES, TO(order) },
	{ "migratetype", 0, KIND(PAGE_ALLOC), TO(migratetype) },
#undef TO
};

unsigned pdet_kmem_kind(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(events); i++)
		if (strlen(events[i].name) == len &&
		    !memcmp(events[i].name, name, len))
			return events[i].kind;
	return PDET_KMEM_OTHER;
}

/* False: it is not a number, nor a text where a text is meant. */
static bool place(const struct pdet_trace_field *f, bool is_text,
		  struct pdet_kmem_place *ret)
{
	const bool fits = f->offset <= UINT16_MAX && f->size && f->size <= 8 &&
			  !(f->size & (f->size - 1));

	if (!fits || f->is_array || f->is_text != is_text ||
	    (is_text && f->size != 4))
		return false;
	ret->offset = (uint16_t)f->offset;
	ret->size = (uint8_t)f->size;
	ret->is_signed = f->is_signed;
	return true;
}

static int find_places(const struct pdet_trace_format *f,
		       struct pdet_kmem_layout *l)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(fields); i++) {
		const struct pdet_trace_field *field;
		struct pdet_kmem_place *to =
			(void *)((char *)l + fields[i].to);
		const bool is_text = to == &l->cache;

		if (!(fields[i].may >> l->kind & 1))
			continue;
		field = pdet_trace_field(f, fields[i].name);
		if (field && place(field, is_text, to))
			l->bytes = PDET_MAX(l->bytes, field->offset +
						      field->size);
		else if (fields[i].must >> l->kind & 1)
			return -EBADMSG;
	}
	return 0;
}

int pdet_kmem_learn(struct pdet_kmem_layouts *l,
		    const struct pdet_trace_format *f)
{
	struct pdet_kmem_layout layout = {
		.kind = (uint8_t)pdet_kmem_kind(f->name, strlen(f->name))
	};
	const struct pdet_trace_field *type =
		pdet_trace_field(f, "common_type");
	struct pdet_kmem_place id = { 0 };
	int r;

	if (!type || !place(type, false, &id) || id.size > 2 ||
	    f->id >= PDET_COUNT(l->of) || l->of[f->id] ||
	    (l->id.size &&
	     (id.offset != l->id.offset || id.size != l->id.size)))
		return -EBADMSG;
	id.is_signed = false;
	l->id = id;
	if (layout.kind == PDET_KMEM_OTHER) {
		l->of[f->id] = OTHER;
		return 0;
	}
	if (l->n == PDET_COUNT(l->data))
		return -EBADMSG;
	r = find_places(f, &layout);
	if (r < 0)
		return r;
	l->data[l->n++] = layout;
	l->of[f->id] = (uint8_t)l->n;
	return 0;
}

static uint64_t number(const unsigned char *record, struct pdet_kmem_place p,
		       bool big_endian)
{
	const uint64_t v = pdet_ring_number(record + p.offset, p.size,
					    big_endian);
	const unsigned unused = 64 - 8u * p.size;

	return p.is_signed && unused < 64 ?
		       (uint64_t)((int64_t)(v << unused) >> unused) : v;
}

static void take_cache(const unsigned char *record, uint32_t len,
		       struct pdet_kmem_place p, bool big_endian,
		       struct pdet_kmem_event *ret)
{
	const uint32_t where = (uint32_t)number(record, p, big_endian);
	const uint32_t at = where & 0xffff, n = where >> 16;

	if (!p.size || at > len || n > len - at)
		return;
	ret->cache = (const char *)record + at;
	ret->cache_len = (uint32_t)strnlen(ret->cache, n);
}

int pdet_kmem_take(const struct pdet_kmem_layouts *l,
		   const unsigned char *record, uint32_t len, bool big_endian,
		   struct pdet_kmem_event *ret)
{
	const struct pdet_kmem_layout *layout;
	unsigned of;

	ret->object = 0;
	if (!l->id.size)
		return -ENOENT;
	if (len < (uint32_t)l->id.offset + l->id.size)
		return -EBADMSG;
	ret->object = number(record, l->id, big_endian);
	of = l->of[ret->object];
	if (!of)
		return -ENOENT;
	ret->kind = PDET_KMEM_OTHER;
	if (of == OTHER)
		return 0;
	layout = &l->data[of - 1];
	ret->kind = layout->kind;
	if (len < layout->bytes)
		return -EBADMSG;
	ret->pid = (int32_t)number(record, layout->pid, big_endian);
	ret->object = number(record, layout->object, big_endian);
	ret->site = number(record, layout->site, big_endian);
	ret->requested = number(record, layout->requested, big_endian);
	ret->allocated = number(record, layout->allocated, big_endian);
	ret->gfp = layout->gfp.size ? number(record, layout->gfp, big_endian) :
				      PDET_KMEM_NO_GFP;
	ret->node = layout->node.size ?
			    (int32_t)number(record, layout->node, big_endian) :
			    PDET_KMEM_NO_NUMBER;
	ret->migratetype = layout->migratetype.size ?
		(int32_t)number(record, layout->migratetype, big_endian) :
		PDET_KMEM_NO_NUMBER;
	ret->order = (uint8_t)PDET_MIN(number(record, layout->order,
					      big_endian), 255);
	/* It is -1 where there was none, in 4 or 8 bytes. */
	if (layout->kind == PDET_KMEM_PAGE_ALLOC &&
	    ret->object == UINT64_MAX >> (64 - 8 * layout->object.size))
		ret->object = 0;
	ret->stack = 0;
	ret->cache = NULL;
	ret->cache_len = 0;
	take_cache(record, len, layout->cache, big_endian, ret);
	return 0;
}
