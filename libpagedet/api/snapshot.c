/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for a snapshot's data about its query and kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/content.h"
#include "api/snapshot.h"
#include "base/clock.h"
#include "snapshot/format.h"

static void about_kernel(struct pagedet *pd, struct pdet_snapshot_about *a)
{
	struct pagedet_info info = { .size = sizeof(info) };
	const struct pdet_kernel_info *k = &pd->info;

	pagedet_info(pd, &info);
	memcpy(a->host, k->host, sizeof(a->host));
	memcpy(a->boot_id, k->boot_id, sizeof(a->boot_id));
	memcpy(a->release, k->release, sizeof(a->release));
	memcpy(a->arch, k->arch, sizeof(a->arch));
	a->page_size = k->page_size;
	a->max_pfn = k->max_pfn;
	a->nodes = k->nodes;
	a->big_endian = k->big_endian;
	a->live = k->live;
	a->first_ns = k->first_ns ? k->first_ns :
				    pdet_clock_ns(CLOCK_REALTIME);
}

static void about_field(const struct pdet_iter *it, unsigned f,
			struct pdet_snapshot_field *ret)
{
	const struct pdet_plan *plan = &it->plan;
	unsigned i;

	ret->why = plan->why[f];
	if (plan->advice[f] && ret->why != PAGEDET_HAVE)
		strncat(ret->advice, plan->advice[f],
			sizeof(ret->advice) - 1);
	for (i = 0; i < plan->n_steps; i++)
		if (pdet_fields_has(&plan->steps[i].fields, f))
			ret->sources |= PAGEDET_SOURCE_BIT(
				plan->steps[i].source);
	/* The walk sets it. */
	if (!ret->sources && ret->why == PAGEDET_HAVE)
		ret->sources = PAGEDET_SOURCE_BIT(it->walk->source);
}

static bool copy_text(const char *from, char **to)
{
	if (from)
		*to = strdup(from);
	return !from || *to;
}

static bool about_question(const struct pdet_question *q,
			   struct pdet_snapshot_about *a)
{
	a->target = q->target;
	a->options = q->options;
	a->n_items = q->n_items;
	a->n_kept = PDET_MIN(q->n_items, (uint64_t)PDET_SNAPSHOT_MAX_ITEMS);
	a->items = calloc(a->n_kept + 1, sizeof(*a->items));
	if (!a->items)
		return false;
	memcpy(a->items, q->items, a->n_kept * sizeof(*a->items));
	return copy_text(q->path, &a->path) && copy_text(q->where, &a->where);
}

int pdet_about_snapshot(struct pagedet_iter *it, struct pdet_snapshot_about *a)
{
	const struct pdet_iter *of = it->it;
	unsigned f;
	int r;

	memset(a, 0, sizeof(*a));
	about_kernel(it->pd, a);
	a->fields = of->plan.wanted;
	/* Rows are found and matched by it. */
	pdet_fields_add(&a->fields, PAGEDET_FIELD_PFN);
	pdet_fields_for(f, &a->fields)
		about_field(of, f, &a->field[f]);
	if (pdet_fields_has(&a->fields, PAGEDET_FIELD_HASH)) {
		r = pagedet_hash_key_id(it->pd, &a->hash_key);
		if (r == 0)
			r = pdet_hash_of_zeroes(it->pd, &a->hash_zero);
		if (r < 0 && r != -ENODATA)
			return r;
		/* Hashes of an older snapshot are saved again as they are. */
		pdet_clear(&it->pd->env);
	}
	if (!about_question(&of->q, a))
		return pdet_fail(&it->pd->env, ENOMEM, "no memory");
	/* Rows that are saved again keep their target. */
	a->target = of->rows_of;
	return 0;
}
