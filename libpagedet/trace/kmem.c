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
#define ALLOCS (OBJECT_ALLOCS | KIND(PAGE_ALLOC))
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
	{ "gfp_flags", 0, ALLOCS, TO(gfp) },
	{ "name", 0, OBJECT_ALLOCS | KIND(CACHE_FREE), TO(cache) },
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

static bool is_number(const struct pdet_trace_field *f)
{
	return f->offset <= UINT16_MAX && f->size && f->size <= 8 &&
	       !(f->size & (f->size - 1)) && !f->is_array;
}

/*
 * False: it is not a number, nor a text where a text is meant. No field that is
 * used is in the first eight bytes alone: the kernel has its own there.
 */
static bool place(const struct pdet_trace_field *f, bool is_text,
		  struct pdet_kmem_place *ret)
{
	if (!is_number(f) || f->offset + f->size < 8 || f->is_text != is_text ||
	    (is_text && f->size != 4))
		return false;
	ret->at = (uint16_t)(f->offset + f->size - 8);
	ret->half = (uint8_t)(4 * (8 - f->size));
	ret->is_there = true;
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
	int r;

	if (!type || !is_number(type) || type->is_text || type->size > 2 ||
	    f->id >= PDET_COUNT(l->of) || l->of[f->id] ||
	    (l->id_size &&
	     (type->offset != l->id_at || type->size != l->id_size)))
		return -EBADMSG;
	l->id_at = (uint16_t)type->offset;
	l->id_size = (uint8_t)type->size;
	if (layout.kind == PDET_KMEM_OTHER) {
		l->of[f->id] = OTHER;
		return 0;
	}
	layout.is_alloc = ALLOCS >> layout.kind & 1;
	if (l->n == PDET_COUNT(l->data))
		return -EBADMSG;
	r = find_places(f, &layout);
	if (r < 0)
		return r;
	l->data[l->n++] = layout;
	l->of[f->id] = (uint8_t)l->n;
	return 0;
}

bool pdet_kmem_names_caches(const struct pdet_kmem_layouts *l)
{
	unsigned i;

	for (i = 0; i < l->n; i++)
		if (l->data[i].kind == PDET_KMEM_CACHE_ALLOC &&
		    l->data[i].cache.is_there)
			return true;
	return false;
}

void pdet_kmem_learn_stack(struct pdet_kmem_layouts *l,
			   const struct pdet_trace_format *f)
{
	const struct pdet_trace_field
		*flags = pdet_trace_field(f, "common_flags"),
		*count = pdet_trace_field(f, "size"),
		*frames = pdet_trace_field(f, "caller");

	if (!flags || flags->size != 1 || flags->offset > UINT16_MAX ||
	    !count || count->size != 4 || count->offset > UINT16_MAX ||
	    !frames || frames->offset > UINT16_MAX || f->id > UINT16_MAX)
		return;
	l->stack.is_known = true;
	l->stack.id = (uint16_t)f->id;
	l->stack.flags_at = (uint16_t)flags->offset;
	l->stack.count_at = (uint16_t)count->offset;
	l->stack.frames_at = (uint16_t)frames->offset;
}

/* Without a branch for the size; and a shift by 64 is not defined. */
static inline uint64_t number(const unsigned char *record,
			      struct pdet_kmem_place p, bool big_endian)
{
	uint64_t v = pdet_ring_number(record + p.at, 8, big_endian);

	/* The byte order puts it at either end. */
	if (big_endian)
		v = v << p.half << p.half;
	return p.is_signed ? (uint64_t)((int64_t)v >> p.half >> p.half) :
			     v >> p.half >> p.half;
}

/* What is not there is 0. */
static inline uint64_t number_or_0(const unsigned char *record,
				   struct pdet_kmem_place p, bool big_endian)
{
	return p.is_there ? number(record, p, big_endian) : 0;
}

static inline void take_cache(const unsigned char *record, uint32_t len,
		       struct pdet_kmem_place p, bool big_endian,
		       struct pdet_kmem_event *ret)
{
	const uint32_t where = (uint32_t)number(record, p, big_endian);
	const uint32_t at = where & 0xffff, n = where >> 16;

	if (at > len || n > len - at)
		return;
	ret->cache = (const char *)record + at;
	ret->cache_len = (uint32_t)strnlen(ret->cache, n);
}

/* What only allocations have. */
static inline void take_alloc(const struct pdet_kmem_layout *l,
			      const unsigned char *record, bool big_endian,
			      struct pdet_kmem_event *ret)
{
	ret->requested = number_or_0(record, l->requested, big_endian);
	ret->allocated = number_or_0(record, l->allocated, big_endian);
	if (l->gfp.is_there)
		ret->gfp = number(record, l->gfp, big_endian);
	if (l->node.is_there)
		ret->node = (int32_t)number(record, l->node, big_endian);
	if (l->migratetype.is_there)
		ret->migratetype =
			(int32_t)number(record, l->migratetype, big_endian);
}

/* The compiler makes two of it, in which nothing asks for the byte order. */
static inline __attribute__((always_inline)) int
take(const struct pdet_kmem_layouts *l, const unsigned char *record,
     uint32_t len, bool big_endian, struct pdet_kmem_event *ret)
{
	const struct pdet_kmem_layout *layout;
	unsigned of;

	ret->object = 0;
	if (!l->id_size)
		return -ENOENT;
	if (len < (uint32_t)l->id_at + l->id_size)
		return -EBADMSG;
	ret->object = pdet_ring_number(record + l->id_at, l->id_size,
				       big_endian);
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
	ret->requested = ret->allocated = 0;
	ret->gfp = PDET_KMEM_NO_GFP;
	ret->stack = 0;
	ret->cache = NULL;
	ret->cache_len = 0;
	ret->node = ret->migratetype = PDET_KMEM_NO_NUMBER;
	ret->pid = (int32_t)number(record, layout->pid, big_endian);
	ret->object = number(record, layout->object, big_endian);
	ret->site = number_or_0(record, layout->site, big_endian);
	ret->order = layout->order.is_there ?
		(uint8_t)PDET_MIN(number(record, layout->order, big_endian),
				  255) : 0;
	if (layout->is_alloc)
		take_alloc(layout, record, big_endian, ret);
	if (layout->cache.is_there && !l->no_caches)
		take_cache(record, len, layout->cache, big_endian, ret);
	/* It is -1 where there was none, in 4 or 8 bytes. */
	if (layout->kind == PDET_KMEM_PAGE_ALLOC &&
	    ret->object == UINT64_MAX >> layout->object.half >>
			   layout->object.half)
		ret->object = 0;
	return 0;
}

int pdet_kmem_take(const struct pdet_kmem_layouts *l,
		   const unsigned char *record, uint32_t len, bool big_endian,
		   struct pdet_kmem_event *ret)
{
	return big_endian ? take(l, record, len, true, ret) :
			    take(l, record, len, false, ret);
}
