/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes rows about mappings of the kernel. These belong to no task. Only the
 * page itself shows to which file it belongs.
 */
#include <errno.h>

#include "query/walk/kernel_rows.h"

/* For a mapping of a task, the VMA answers these. */
static const uint8_t file_fields[] = {
	PAGEDET_FIELD_DEV, PAGEDET_FIELD_INODE, PAGEDET_FIELD_INDEX,
	PAGEDET_FIELD_PATH,
};
static const uint8_t task_fields[] = {
	PAGEDET_FIELD_PID, PAGEDET_FIELD_TGID, PAGEDET_FIELD_COMM,
	PAGEDET_FIELD_SWAP_TYPE, PAGEDET_FIELD_SWAP_OFFSET,
};

void pdet_kernel_rows_init(struct pdet_kernel_rows *r,
			   const struct pdet_walk *w)
{
	const struct pdet_iter *it = w->it;
	const struct pdet_plan *plan = &it->plan;
	unsigned i;

	*r = (struct pdet_kernel_rows){ w->backend, w->index, w->source };
	if (w->backend->ops->kernel_mappings)
		return;
	r->backend = NULL;
	for (i = 0; i < plan->n_steps; i++) {
		const struct pdet_step *step = &plan->steps[i];

		if (!pdet_fields_has(&step->fields,
				     PAGEDET_FIELD_KERNEL_MAPS) ||
		    !it->backends[step->backend]->ops->kernel_mappings)
			continue;
		r->backend = it->backends[step->backend];
		r->index = step->backend;
		r->source = step->source;
		return;
	}
}

/* The batch's columns that describe the page's file. */
static struct pdet_fields wanted_files(const struct pdet_batch *b)
{
	struct pdet_fields want = { { 0, 0 } };
	size_t i;

	for (i = 0; i < PDET_COUNT(file_fields); i++)
		if (pdet_batch_has(b, file_fields[i]))
			pdet_fields_add(&want, file_fields[i]);
	return want;
}

static int put_files(const struct pdet_kernel_rows *r, struct pdet_worker *k,
		     struct pdet_batch *b, uint32_t first)
{
	const struct pdet_fields want = wanted_files(b);
	struct pdet_fields fields = want;
	struct pdet_batch sub;
	uint32_t row;
	unsigned f;
	int e;

	if (pdet_fields_empty(&want))
		return 0;
	pdet_fields_add(&fields, PAGEDET_FIELD_PFN);
	if (!pdet_batch_init(&sub, &fields, b->n - first,
			     k->it->q.string_bytes))
		return -ENOMEM;
	pdet_batch_grow(&sub, b->n - first);
	for (row = 0; row < sub.n; row++)
		pdet_batch_copy_cell(&sub, row, b, first + row,
				     PAGEDET_FIELD_PFN);
	e = r->backend->ops->fill(k->session[r->index], &sub, &want,
				  r->source);
	for (row = 0; e == 0 && row < sub.n; row++)
		pdet_fields_for(f, &want)
			pdet_batch_copy_cell(b, first + row, &sub, row, f);
	pdet_batch_free(&sub);
	return e;
}

static void put_row(const struct pdet_kernel_rows *r, struct pdet_worker *k,
		    struct pdet_batch *b, const struct pdet_kernel_found *f,
		    uint64_t ask)
{
	const uint32_t row = b->n;
	size_t i;

	pdet_batch_grow(b, 1);
	pdet_put(b, row, PAGEDET_FIELD_ASK, ask, PAGEDET_SOURCE_DERIVED);
	pdet_put(b, row, PAGEDET_FIELD_PFN, f->pfn, r->source);
	pdet_put(b, row, PAGEDET_FIELD_VADDR, f->vaddr, r->source);
	pdet_put(b, row, PAGEDET_FIELD_PTE, f->pte, r->source);
	pdet_put(b, row, PAGEDET_FIELD_PTE_KNOWN, f->pte_known, r->source);
	pdet_put(b, row, PAGEDET_FIELD_PTE_LEVEL, f->level, r->source);
	if (f->map)
		pdet_put(b, row, PAGEDET_FIELD_MAP, f->map, r->source);
	else
		pdet_put_lost(b, row, PAGEDET_FIELD_MAP, PAGEDET_UNSUPPORTED,
			      r->source);
	for (i = 0; i < PDET_COUNT(task_fields); i++)
		pdet_put_none(b, row, task_fields[i], r->source);
	r->backend->ops->kernel_area(k->session[r->index], f->vaddr, b, row);
}

int pdet_kernel_rows_put(const struct pdet_kernel_rows *r,
			 struct pdet_worker *k, struct pdet_batch *b,
			 const struct pdet_kernel_found *found,
			 const uint64_t *ask, uint32_t n)
{
	const uint32_t first = b->n;
	uint32_t i;

	for (i = 0; i < n; i++)
		put_row(r, k, b, &found[i], ask[i]);
	return n ? put_files(r, k, b, first) : 0;
}
