/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Draws changes. A cell with changed pages has the colour of their most
 * frequent change. Other cells are pale.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "emit/diff.h"
#include "emit/emitter.h"
#include "emit/svg/svg.h"

struct pdet_diff_picture {
	struct pdet_picture cells;
	struct pdet_svg words;
};

static void ground(void *arg, uint64_t pfn, uint64_t n)
{
	struct pdet_diff_picture *p = arg;

	pdet_picture_ground(&p->cells, pfn, n);
}

static void set_words(struct pdet_diff_emit *x, struct pdet_svg *w)
{
	w->picture = &x->picture->cells;
	w->by = PDET_SVG_CHANGES;
	w->linear = x->e->options & PAGEDET_EMIT_LINEAR;
	w->page_size = x->page_size;
	w->filtered = true;
	snprintf(w->title, sizeof(w->title), "%s", x->e->title ? x->e->title :
		 "What changed in memory");
	pdet_svg_about(x->info, w->about, sizeof(w->about));
}

bool pdet_diff_picture_begin(struct pdet_diff_emit *x)
{
	struct pdet_diff_picture *p = calloc(1, sizeof(*p));

	if (!p || !pdet_picture_init(&p->cells, x->info ? x->info->max_pfn :
							  0)) {
		free(p);
		return false;
	}
	x->picture = p;
	x->d->same = ground;
	x->d->same_arg = p;
	set_words(x, &p->words);
	return true;
}

static int category_of(struct pdet_picture *p, uint32_t change)
{
	struct pdet_picture_category *c;
	int number = pdet_picture_find(p, change);

	if (number >= 0)
		return number;
	number = pdet_picture_new(p, change);
	if (number <= 0)
		return number;
	c = &p->categories.data[number];
	c->state = PAGEDET_HAVE;
	c->value = change;
	snprintf(c->name, sizeof(c->name), "%s", pdet_change_name(change));
	return number;
}

void pdet_diff_picture_step(struct pdet_diff_emit *x,
			    const struct pdet_diff_out *out)
{
	struct pdet_picture *p = &x->picture->cells;
	uint32_t i;

	for (i = 0; i < out->n; i++) {
		const uint32_t change = out->change[i].change;
		const struct pdet_batch *b =
			&out->rows[change != PAGEDET_CHANGE_GONE];
		const int category = category_of(p, change);
		const uint64_t pfn = pdet_batch_get(b, i, PAGEDET_FIELD_PFN,
			pdet_batch_get(&out->rows[0], i, PAGEDET_FIELD_PFN, 0));

		if (category < 0) {
			x->e->out.error = ENOMEM;
			return;
		}
		pdet_picture_ground(p, pfn, 1);
		pdet_picture_add(p, pfn, 1, (unsigned)category, 0);
	}
}

void pdet_diff_picture_end(struct pdet_diff_emit *x)
{
	struct pdet_diff_picture *p = x->picture;

	if (!x->d->totals.complete)
		snprintf(p->words.partial, sizeof(p->words.partial),
			 "Partial: not everything could be compared");
	if (!x->e->out.error &&
	    (!pdet_picture_rank(&p->cells) ||
	     !pdet_svg_draw(&x->e->out, &p->words)))
		x->e->out.error = ENOMEM;
	x->d->same = NULL;
	pdet_picture_free(&p->cells);
	free(p);
	x->picture = NULL;
}
