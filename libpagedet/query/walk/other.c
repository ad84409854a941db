/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Asks a source that reads page tables itself for entries that the source of
 * the walk cannot show.
 */
#include <errno.h>
#include <string.h>

#include "query/walk/other.h"

/* What an entry shows. */
static const uint8_t of_entry[] = {
	PAGEDET_FIELD_PFN, PAGEDET_FIELD_PTE, PAGEDET_FIELD_PTE_KNOWN,
	PAGEDET_FIELD_PTE_LEVEL, PAGEDET_FIELD_SWAP_TYPE,
	PAGEDET_FIELD_SWAP_OFFSET, PAGEDET_FIELD_KIND,
};

static bool sees_all(const struct pdet_iter *it, const struct pdet_backend *b)
{
	return b->sources & it->plan_args.sources && !b->ops->blind &&
	       b->ops->tasks && b->ops->mappings && b->ops->task_open &&
	       b->ops->entries;
}

/*
 * Starts a source for a walk. If it is asked for fields of pages already, it
 * still lacks what tasks need. Returns 1, 0 if it cannot be asked, or a
 * negative errno.
 */
static int start(struct pdet_iter *it, unsigned i)
{
	struct pdet_backend *b = it->backends[i];
	int r = 0;

	it->wants[i].walks = true;
	if (it->asked[i])
		r = b->ops->prepare(b, it->env, &it->wants[i]);
	if (r == 0) {
		r = pdet_iter_start(it, i);
	} else if (!pdet_is_shortage(r)) {
		pdet_clear(it->env);
		r = 0;
	}
	it->wants[i].walks = r > 0;
	return r;
}

int pdet_other_find(struct pdet_other *o, const struct pdet_walk *w)
{
	struct pdet_iter *it = w->it;
	unsigned i;
	int r;

	if (o->looked || !w->backend->ops->blind ||
	    it->plan_args.single_source)
		return o->backend != NULL;
	o->looked = true;
	for (i = 0; i < it->n_backends; i++) {
		if (!sees_all(it, it->backends[i]))
			continue;
		r = start(it, i);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		o->backend = it->backends[i];
		o->index = i;
		o->source = (unsigned)__builtin_ctz(o->backend->sources);
		return 1;
	}
	return 0;
}

static bool is_open(const struct pdet_batch *b, uint32_t row)
{
	const unsigned pte = PAGEDET_FIELD_PTE;

	return pdet_batch_state(b, row, PAGEDET_FIELD_PFN) ==
		       PAGEDET_UNSUPPORTED &&
	       (!b->value[pte] ||
		pdet_batch_state(b, row, pte) == PAGEDET_UNSUPPORTED) &&
	       /* no task has pages in the kernel's half */
	       !(b->value[PAGEDET_FIELD_VADDR][row] >> 63);
}

static void close_task(struct pdet_other *o)
{
	if (o->task)
		o->backend->ops->task_close(o->task);
	o->task = NULL;
}

static int open_task(struct pdet_other *o, struct pdet_session *s,
		     uint32_t pid)
{
	int r;

	if (o->task)
		return 0;
	r = o->backend->ops->task_open(s, pid, &o->task);
	if (r < 0)
		o->task = NULL;
	return r;
}

static void take_entry(const struct pdet_other *o, uint32_t from,
		       struct pdet_batch *b, uint32_t row)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(of_entry); i++)
		if (b->value[of_entry[i]] && o->rows.value[of_entry[i]])
			pdet_batch_copy_cell(b, row, &o->rows, from,
					     of_entry[i]);
}

/* Asks for rows [row, end). */
static int ask(struct pdet_other *o, const struct pdet_walk *w,
	       struct pdet_worker *k, uint32_t pid, struct pdet_batch *b,
	       uint32_t row, uint32_t end)
{
	const uint64_t *vaddr = b->value[PAGEDET_FIELD_VADDR];
	struct pdet_session *s = k->session[o->index];
	uint64_t at = vaddr[row];
	uint32_t i;
	int r;

	pdet_batch_clear(&o->rows, 1);
	r = open_task(o, s, pid);
	if (r == 0)
		r = o->backend->ops->entries(s, o->task, &at, vaddr[end - 1] +
					     w->it->page_size, true, &o->rows);
	if (r < 0) {
		pdet_clear(&s->env);
		return pdet_is_shortage(r) ? r : 0;
	}
	for (i = 0; i < o->rows.n && row < end; i++, row++)
		if (o->rows.value[PAGEDET_FIELD_VADDR][i] == vaddr[row])
			take_entry(o, i, b, row);
	return 0;
}

int pdet_other_entries(struct pdet_other *o, const struct pdet_walk *w,
		       struct pdet_worker *k, uint32_t pid,
		       struct pdet_batch *b, uint32_t row)
{
	const uint64_t page = w->it->page_size;
	const uint64_t *vaddr = b->value[PAGEDET_FIELD_VADDR];
	uint32_t end;
	int r;

	/* The task may have another address space by now. */
	close_task(o);
	for (; row < b->n; row = end) {
		end = row + 1;
		if (!is_open(b, row))
			continue;
		while (end < b->n && is_open(b, end) &&
		       vaddr[end] - vaddr[end - 1] == page)
			end++;
		/* One thread alone has a session for it. */
		r = w->it->n_workers == 1 ? pdet_other_find(o, w) : 0;
		if (r <= 0)
			return r;
		if (!o->rows.memory &&
		    !pdet_batch_init(&o->rows, &w->it->plan.columns, b->cap,
				     w->it->q.string_bytes))
			return -ENOMEM;
		r = ask(o, w, k, pid, b, row, end);
		if (r < 0)
			return r;
	}
	return 0;
}

uint32_t pdet_other_answered(const struct pdet_other *o,
			     const struct pdet_batch *b, uint32_t row,
			     bool *from_it)
{
	const uint16_t *cell = b->cell[PAGEDET_FIELD_PFN];
	uint32_t n;

	*from_it = o->backend && cell[row] >> 8 == o->source;
	for (n = 1; row + n < b->n; n++)
		if ((o->backend && cell[row + n] >> 8 == o->source) !=
		    *from_it)
			break;
	return n;
}

void pdet_other_free(struct pdet_other *o)
{
	close_task(o);
	pdet_batch_free(&o->rows);
}
