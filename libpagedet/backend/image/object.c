/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Names the object at a kernel address: a symbol, a struct page, a slab object,
 * a per-CPU variable. Other memory has no name.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/image/kernel.h"
#include "kernel/address/kernel_entry.h"

struct object {
	unsigned state;		/* PAGEDET_HAVE, or why there is no text */
	unsigned use_state;	/* the same of use */
	uint64_t use;		/* PAGEDET_OBJECT_* */
	enum pdet_at_kind kind;
	int64_t within;		/* where in an object of a slab, from the part
				 * of its user on */
	size_t len;
	char text[IMAGE_SYMBOL + 64];
};

static void set_text(struct object *o, enum pdet_at_kind kind, size_t len)
{
	o->state = PAGEDET_HAVE;
	o->kind = kind;
	o->len = PDET_MIN(len, sizeof(o->text) - 1);
}

/* --- the memory map --- */

static bool find_struct_page(const struct image_session *s, uint64_t va,
			     struct object *o)
{
	uint64_t pfn, within;
	int n;

	if (s->image->pages.error ||
	    !pdet_memmap_find(&s->image->memmap, va, &pfn, &within))
		return false;
	n = snprintf(o->text, sizeof(o->text), "struct page of pfn %llu",
		     (unsigned long long)pfn);
	if (within)
		n += snprintf(o->text + n, sizeof(o->text) - (size_t)n,
			      " +0x%llx", (unsigned long long)within);
	set_text(o, PDET_AT_OTHER, (size_t)n);
	return true;
}

/* --- code and data --- */

/* Kernels without CONFIG_KALLSYMS_ALL name only executable addresses. */
static bool is_nameable(const struct image *im, const struct image_address *a)
{
	const struct pdet_range *named = &im->kernel.named;

	if (named->last)
		return a->va >= named->first && a->va <= named->last;
	return a->mapped &&
	       pdet_kernel_entry(&im->paging, a->leaf.entry) &
		       PAGEDET_PTE(PAGEDET_PTE_EXEC);
}

static void find_symbol(struct image_session *s, const struct image_address *a,
			struct object *o)
{
	const struct image *im = s->image;
	size_t len;

	if (im->symbols.error) {
		o->state = PAGEDET_NO_TYPES;
	} else if (!is_nameable(im, a)) {
		o->state = im->kernel.named.last ? PAGEDET_NONE :
						   PAGEDET_NO_KERNEL;
	} else {
		len = pdet_image_code(s, a->va, o->text);
		if (len)
			set_text(o, PDET_AT_NAMED, len);
	}
}

/* --- per-CPU data --- */

static bool find_percpu(const struct image *im, uint64_t va, struct object *o)
{
	const struct pdet_percpu *p = &im->kernel.percpu;
	const struct pdet_range *symbols = &im->kernel.percpu_symbols;
	char symbol[IMAGE_SYMBOL];
	uint64_t at;
	uint32_t i;

	for (i = 0; symbols->last && i < p->n; i++) {
		at = va - p->offset[i];
		if (at < symbols->first || at > symbols->last ||
		    !pdet_image_symbol(im, at, symbol))
			continue;
		set_text(o, PDET_AT_NAMED,
			 (size_t)snprintf(o->text, sizeof(o->text),
					  "%s of processor %u", symbol, i));
		return true;
	}
	return false;
}

/* --- slabs --- */

/* Whether a page is one of a slab, with the first page of that. Returns a
 * state: PAGEDET_HAVE if that is known. */
static unsigned is_slab(struct image_session *s, uint64_t pfn, uint64_t *head,
			bool *ret)
{
	unsigned kind;
	int r, error;

	*ret = false;
	if (s->image->pages.error)
		return PAGEDET_NO_TYPES;
	switch (pdet_memmap_is(&s->image->memmap, pfn, &error)) {
	case PDET_MEMMAP_NONE:
	case PDET_MEMMAP_UNUSED:
		return PAGEDET_HAVE;
	case PDET_MEMMAP_LOST:
		return pdet_image_kernel_reason(s, error);
	default:
		r = pdet_image_folio(s, pfn, head, &kind);
	}
	if (r < 0)
		return pdet_image_kernel_reason(s, r);
	*ret = kind == PAGEDET_KIND_SLAB;
	return PAGEDET_HAVE;
}

static void read_slab(struct image_session *s, uint64_t head)
{
	const struct image *im = s->image;
	struct image_slab *l = &s->slab;
	const uint64_t start = head << im->paging.page_shift;

	l->is_read = true;
	l->head = head;
	l->error = pdet_slab_read(&s->space, &im->slab_types,
				  pdet_memmap_page(&im->memmap, head),
				  &l->slab);
	if (l->error == 0)
		l->error = pdet_slab_cache_read(&s->space, &im->slab_types,
						l->slab.cache, &l->cache);
	if (l->error == 0)
		l->more = pdet_slab_free(&s->space, &im->slab_types, &l->cache,
					 &l->slab,
					 im->kernel.areas.direct + start,
					 &im->kernel.percpu, im->kernel.nodes,
					 &l->free);
}

static void find_in_slab(struct image_session *s, uint64_t addr, uint64_t head,
			 struct object *o)
{
	const struct image *im = s->image;
	const struct image_slab *l = &s->slab;
	const char *state = "";
	uint32_t i;

	o->state = o->use_state = PAGEDET_NO_TYPES;
	if (im->slabs.error)
		return;
	if (!l->is_read || l->head != head)
		read_slab(s, head);
	if (l->error < 0) {
		o->state = o->use_state = pdet_image_kernel_reason(s, l->error);
		return;
	}
	/* past the last object */
	o->state = o->use_state = PAGEDET_NONE;
	if (!pdet_slab_index(&l->cache, &l->slab,
			     addr - (head << im->paging.page_shift), &i,
			     &o->within))
		return;
	o->use_state = PAGEDET_HAVE;
	o->use = PAGEDET_OBJECT_USED;
	if (pdet_slab_has(&l->free, i)) {
		state = ", free";
		o->use = PAGEDET_OBJECT_FREE;
	} else if (l->more < 0) {
		state = ", perhaps free";
		/* Only kernels with CONFIG_KALLSYMS_ALL tell where the data of
		 * processors is. */
		o->use_state = l->more == -ENODATA && !im->kernel.percpu.n ?
			       PAGEDET_NO_TYPES :
			       pdet_image_kernel_reason(s, l->more);
	}
	set_text(o, PDET_AT_OBJECT,
		 (size_t)snprintf(o->text, sizeof(o->text),
				  "object %u of %u in %s %c0x%llx%s", i,
				  l->slab.objects, l->cache.name,
				  o->within < 0 ? '-' : '+', o->within < 0 ?
				  (unsigned long long)-o->within :
				  (unsigned long long)o->within, state));
}

bool pdet_image_slab_object(struct pdet_session *base, uint64_t addr,
			    uint32_t *bytes, bool *begins)
{
	const struct image_session *s = image_session_of(base);
	const struct image *im = s->image;
	const struct image_slab *l = &s->slab;
	const uint64_t start = im->kernel.areas.direct +
			       (l->head << im->paging.page_shift);
	int64_t within;
	uint32_t i;

	if (!l->is_read || l->error < 0 || addr < start ||
	    !pdet_slab_index(&l->cache, &l->slab, addr - start, &i, &within))
		return false;
	*bytes = l->cache.size;
	*begins = !within;
	return true;
}

/* --- all --- */

static void find_in_memory(struct image_session *s,
			   const struct image_address *a, struct object *o)
{
	const struct image *im = s->image;
	uint64_t head;
	bool slab;
	const unsigned known = is_slab(s, a->addr >> im->paging.page_shift,
				       &head, &slab);

	if (slab)
		find_in_slab(s, a->addr, head, o);
	else if (!find_percpu(im, a->va, o) && known != PAGEDET_HAVE)
		o->state = o->use_state = known;
}

static void find_object(struct image_session *s, const struct image_address *a,
			struct object *o)
{
	const struct image *im = s->image;
	const struct pdet_areas *areas = &im->kernel.areas;
	const struct pdet_area *area = a->mapped ?
		pdet_areas_of(areas, a->va, a->addr) :
		pdet_areas_find(areas, a->va);

	o->kind = PDET_AT_OTHER;
	o->state = o->use_state = PAGEDET_NONE;
	if (!a->is_kernel || find_struct_page(s, a->va, o))
		return;
	if (area == &areas->image) {
		find_symbol(s, a, o);
		return;
	}
	if (area && area->pieces) {
		const size_t len = pdet_image_code(s, a->va, o->text);

		if (len)
			set_text(o, PDET_AT_NAMED, len);
		else
			find_percpu(im, a->va, o);
		return;
	}
	if (a->has_addr && area && area->map == PAGEDET_MAP_DIRECT)
		find_in_memory(s, a, o);
}

/* By the kernel's page tables. */
static unsigned map_of(const struct image_session *s,
		       const struct image_address *a)
{
	return a->error ? pdet_image_kernel_reason(s, a->error) :
	       a->mapped ? PAGEDET_HAVE : PAGEDET_NONE;
}

void pdet_image_object_at(struct pdet_session *base, uint64_t addr,
			  struct pdet_at *ret)
{
	struct image_session *s = image_session_of(base);
	struct image_address a;
	struct object o;

	pdet_image_address(s, addr, &a);
	s->slab.is_read = false;
	find_object(s, &a, &o);
	*ret = (struct pdet_at){ .kind = o.kind, .state = o.use_state,
				 .map = map_of(s, &a) };
	if (o.kind != PDET_AT_OBJECT)
		return;
	ret->use = o.use_state == PAGEDET_HAVE ? (unsigned)o.use : 0;
	ret->address = a.va - (uint64_t)o.within;
	ret->kept = !ret->use && s->slab.more == -ENODATA;
	memcpy(ret->cache, s->slab.cache.name, sizeof(ret->cache));
}

void pdet_image_put_object(struct image_session *s, struct pdet_batch *b,
			   uint32_t row, const struct image_address *a)
{
	const unsigned f = PAGEDET_FIELD_OBJECT, source = s->image->source;
	struct object o;

	if (!b->value[f] && !b->value[PAGEDET_FIELD_OBJECT_STATE])
		return;
	/* All rows of a batch are of about one moment. */
	if (!row)
		s->slab.is_read = false;
	find_object(s, a, &o);
	if (o.state == PAGEDET_HAVE)
		pdet_put_text(b, row, f, o.text, o.len, source);
	else
		pdet_put_lost(b, row, f, o.state, source);
	if (o.use_state == PAGEDET_HAVE)
		pdet_put(b, row, PAGEDET_FIELD_OBJECT_STATE, o.use, source);
	else
		pdet_put_lost(b, row, PAGEDET_FIELD_OBJECT_STATE, o.use_state,
			      source);
}
