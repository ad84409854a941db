/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Folds neighbouring rows that have the same answers, even if they are in
 * different batches.
 */
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "query/run.h"

struct pdet_run {
	struct pdet_batch out;	/* finished runs, then the open one */
	struct pdet_batch open;	/* the open run, while the caller has @out */
	uint64_t page_size;
	bool handed;		/* the caller has out */
	uint64_t lost;		/* texts lost since the last call */
};

struct pdet_run *pdet_run_new(const struct pdet_fields *columns, uint32_t cap,
			      size_t max_text, uint64_t page_size)
{
	struct pdet_run *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->page_size = page_size;
	if (!pdet_batch_init(&r->out, columns, PDET_MAX(cap, 2u), max_text) ||
	    !pdet_batch_init(&r->open, columns, 1, max_text)) {
		pdet_run_free(r);
		return NULL;
	}
	return r;
}

void pdet_run_free(struct pdet_run *r)
{
	if (!r)
		return;
	pdet_batch_free(&r->out);
	pdet_batch_free(&r->open);
	free(r);
}

/*
 * The step by which a place advances from one page to the next; 0 for other
 * fields.
 */
static uint64_t stride(const struct pdet_run *r, unsigned field)
{
	switch (field) {
	case PAGEDET_FIELD_PFN:
	case PAGEDET_FIELD_INDEX:
	case PAGEDET_FIELD_SWAP_OFFSET:
		return 1;
	case PAGEDET_FIELD_VADDR:
		return r->page_size;
	default:
		return 0;
	}
}

static bool same_text(const struct pdet_batch *a, uint64_t x,
		      const struct pdet_batch *b, uint64_t y)
{
	const char *s = pdet_strtab_get(&a->strings, x, NULL);
	const char *t = pdet_strtab_get(&b->strings, y, NULL);

	return s && t && !strcmp(s, t);
}

/* Whether row @at of @b continues row @row of @a, with equal answers. */
static bool extends(const struct pdet_run *r, const struct pdet_batch *a,
		    uint32_t row, const struct pdet_batch *b, uint32_t at)
{
	uint64_t pages = pdet_batch_get(a, row, PAGEDET_FIELD_PAGES, 1);
	unsigned f;

	pdet_fields_for(f, &a->have) {
		uint64_t x = a->value[f][row], y = b->value[f][at];
		unsigned type = pdet_field_info(f)->type;

		if (f == PAGEDET_FIELD_PAGES || f == PAGEDET_FIELD_TIME_NS)
			continue;
		if (a->cell[f][row] != b->cell[f][at])
			return false;
		if ((a->cell[f][row] & 0xff) != PAGEDET_HAVE)
			continue;
		if (type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST) {
			if (!same_text(a, x, b, y))
				return false;
			continue;
		}
		/* A page that is its own folio is its own head page. */
		if (f == PAGEDET_FIELD_HEAD_PFN && y == x + pages)
			continue;
		if (y != x + pages * stride(r, f))
			return false;
	}
	return true;
}

bool pdet_run_fold(struct pdet_run *r, const struct pdet_batch *b,
		   uint32_t *at, uint64_t string_base)
{
	struct pdet_batch *out = &r->out;

	if (r->handed) {
		r->handed = false;
		pdet_batch_clear(out, string_base);
		if (r->open.n) {
			pdet_batch_grow(out, 1);
			r->lost += pdet_batch_copy_row(out, 0, &r->open, 0);
			pdet_batch_clear(&r->open, 1);
		}
	}
	for (; *at < b->n; ++*at) {
		if (out->n && extends(r, out, out->n - 1, b, *at)) {
			out->value[PAGEDET_FIELD_PAGES][out->n - 1] +=
				pdet_batch_get(b, *at, PAGEDET_FIELD_PAGES, 1);
			continue;
		}
		if (out->n == out->cap)
			return true;
		pdet_batch_grow(out, 1);
		r->lost += pdet_batch_copy_row(out, out->n - 1, b, *at);
	}
	return false;
}

uint64_t pdet_run_lost(struct pdet_run *r)
{
	uint64_t lost = r->lost;

	r->lost = 0;
	return lost;
}

struct pdet_batch *pdet_run_take(struct pdet_run *r, bool last)
{
	r->handed = true;
	if (!last && r->out.n) {
		pdet_batch_clear(&r->open, 1);
		pdet_batch_grow(&r->open, 1);
		r->lost += pdet_batch_copy_row(&r->open, 0, &r->out,
					       r->out.n - 1);
		pdet_batch_cut(&r->out, r->out.n - 1);
	}
	return &r->out;
}

void pdet_run_drop(struct pdet_run *r)
{
	pdet_batch_clear(&r->out, 1);
	pdet_batch_clear(&r->open, 1);
	r->handed = true;
	r->lost = 0;
}
