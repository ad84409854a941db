/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Describes the area of a kernel address like a VMA of a task. The direct map
 * is one area, and each vmalloc area and each module is another.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/image/kernel.h"

struct part {
	const struct pdet_area *area;
	uint64_t start, end;
	unsigned state;		/* PAGEDET_HAVE, or the reason why the values
				 * are unknown */
	char name[IMAGE_SYMBOL + 64];
};

static bool is_wanted(const struct pdet_batch *b)
{
	return b->value[PAGEDET_FIELD_VMA_START] ||
	       b->value[PAGEDET_FIELD_VMA_END] ||
	       b->value[PAGEDET_FIELD_VMA_PROT] ||
	       b->value[PAGEDET_FIELD_VMA_NAME];
}

static bool find_module(struct image_session *s, uint64_t va, struct part *p)
{
	const struct image_kernel *k = &s->image->kernel;
	struct pdet_module m;

	if (!k->has_modules ||
	    pdet_module_find(&s->space, &k->modules, va, &m) < 0)
		return false;
	p->start = m.start;
	p->end = m.end;
	p->state = PAGEDET_HAVE;
	snprintf(p->name, sizeof(p->name), "[module %s]", m.name);
	return true;
}

/* Nothing was found: whether a damaged tree may be the reason. */
static int check_pieces(struct image_session *s)
{
	struct image_kernel *k = &s->image->kernel;
	int r;

	if (s->image->memory->live)
		return 0;
	r = atomic_load(&k->vmaps_state);
	if (!r) {
		r = pdet_vmaps_check(&s->space, &k->vmaps);
		/* Who asks next has more time or memory, perhaps. */
		if (r != -ETIMEDOUT && !pdet_is_shortage(r))
			atomic_store(&k->vmaps_state, r ? r : VMAPS_INTACT);
	}
	return r == VMAPS_INTACT ? 0 : r;
}

static void find_piece(struct image_session *s, uint64_t va, struct part *p)
{
	const struct image_kernel *k = &s->image->kernel;
	char caller[IMAGE_SYMBOL];
	struct pdet_vmap m;
	int r;

	if (find_module(s, va, p))
		return;
	p->state = PAGEDET_NO_TYPES;
	if (!k->has_vmaps)
		return;
	r = pdet_vmap_find(&s->space, &k->vmaps, va, &m);
	if (r == -ENOENT) {
		r = check_pieces(s);
		if (r == 0) {
			p->state = PAGEDET_NONE;
			return;
		}
	}
	if (r < 0) {
		p->state = pdet_image_kernel_reason(s, r);
		*p->name = '\0';
		return;
	}
	p->start = m.start;
	p->end = m.end;
	p->state = PAGEDET_HAVE;
	if (m.caller && pdet_image_code(s, m.caller, caller))
		snprintf(p->name, sizeof(p->name), "[%s] %s",
			 pdet_vmap_kind(&m), caller);
	else
		snprintf(p->name, sizeof(p->name), "[%s]", pdet_vmap_kind(&m));
}

/* Find a section of the image. Returns false if the sections are unknown, or if
 * @va is between them. */
static bool find_section(const struct image_kernel *k, uint64_t va,
			 struct part *p)
{
	size_t i;

	for (i = 0; i < IMAGE_SECTIONS; i++) {
		const struct image_section *s = &k->section[i];

		if (!s->range.last || va < s->range.first || va > s->range.last)
			continue;
		p->start = s->range.first;
		p->end = s->range.last + 1;
		p->state = PAGEDET_HAVE;
		snprintf(p->name, sizeof(p->name), "%s", s->name);
		return true;
	}
	return false;
}

static void find_part(struct image_session *s, const struct image_address *a,
		      struct part *p)
{
	const struct image_kernel *k = &s->image->kernel;

	p->area = a->mapped ? pdet_areas_of(&k->areas, a->va, a->addr) :
			      pdet_areas_find(&k->areas, a->va);
	p->state = PAGEDET_UNSUPPORTED;
	*p->name = '\0';
	if (!p->area)
		return;
	snprintf(p->name, sizeof(p->name), "%s", p->area->name);
	if (!a->is_kernel) {
		p->state = PAGEDET_NONE;
	} else if (p->area == &pdet_area_errors) {
		p->state = PAGEDET_NONE;
		snprintf(p->name, sizeof(p->name), "[error pointer %lld]",
			 (long long)a->va);
	} else if (p->area->pieces) {
		find_piece(s, a->va, p);
	} else if (p->area == &k->areas.image &&
		   find_section(k, a->va, p)) {
		return;
	} else if (p->area->last && !p->area->vague) {
		p->start = p->area->first;
		p->end = p->area->last + 1;
		p->state = PAGEDET_HAVE;
	}
}

void pdet_image_put_kernel_area(struct image_session *s, struct pdet_batch *b,
				uint32_t row, const struct image_address *a)
{
	const unsigned source = s->image->source;
	struct part p;

	if (!is_wanted(b))
		return;
	find_part(s, a, &p);
	if (p.state == PAGEDET_HAVE) {
		pdet_put(b, row, PAGEDET_FIELD_VMA_START, p.start, source);
		pdet_put(b, row, PAGEDET_FIELD_VMA_END, p.end, source);
	} else {
		pdet_put_lost(b, row, PAGEDET_FIELD_VMA_START, p.state, source);
		pdet_put_lost(b, row, PAGEDET_FIELD_VMA_END, p.state, source);
	}
	/* Each entry has its own permissions. */
	pdet_put_none(b, row, PAGEDET_FIELD_VMA_PROT, source);
	if (*p.name)
		pdet_put_text(b, row, PAGEDET_FIELD_VMA_NAME, p.name,
			      strlen(p.name), source);
	else
		pdet_put_lost(b, row, PAGEDET_FIELD_VMA_NAME, p.state, source);
}

void pdet_image_kernel_area(struct pdet_session *base, uint64_t addr,
			    struct pdet_batch *b, uint32_t row)
{
	struct image_session *s = image_session_of(base);
	struct image_address a;

	if (!is_wanted(b))
		return;
	pdet_image_address(s, addr, &a);
	pdet_image_put_kernel_area(s, b, row, &a);
}
