/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the rows of one side by place: directly if they come in the order of
 * frames, otherwise copied, sorted and read again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diff/side.h"
#include "snapshot/read.h"

/* Rows per allocation. */
#define CHUNK 4096

static int no_memory(struct pdet_diff_side *s)
{
	return pdet_fail(s->it->env, ENOMEM, "cannot compare: no memory");
}

static bool have(const struct pdet_batch *b, uint32_t row, unsigned f)
{
	return pdet_batch_state(b, row, f) == PAGEDET_HAVE;
}

/* Counts values that may occur only once. */
static void watch(struct pdet_diff_side *s)
{
	const struct pdet_batch *b = s->b;
	uint32_t row;

	for (row = 0; s->seen.once && row < b->n; row++)
		if (have(b, row, s->watched))
			pdet_seen_add(&s->seen, b->value[s->watched][row]);
}

/* Rows without a frame cannot be compared. */
static int drop_unplaced(struct pdet_diff_side *s)
{
	struct pdet_batch *b = s->b;
	const uint16_t *cell = b->cell[PAGEDET_FIELD_PFN];
	uint8_t *keep;
	uint32_t row;

	if ((cell[0] & 0xff) == PAGEDET_HAVE &&
	    (b->n == 1 || !memcmp(cell, cell + 1, (b->n - 1) * sizeof(*cell))))
		return 0;
	keep = malloc(b->n);
	if (!keep)
		return no_memory(s);
	for (row = 0; row < b->n; row++) {
		keep[row] = have(b, row, PAGEDET_FIELD_PFN);
		s->unplaced += !keep[row];
	}
	pdet_batch_keep(b, keep);
	free(keep);
	return 0;
}

/* The file may claim that frames are in order; this is not trusted. */
static int check_order(struct pdet_diff_side *s)
{
	const uint64_t *pfn = s->b->value[PAGEDET_FIELD_PFN];
	const uint32_t n = s->b->n;
	uint64_t wrong = 0;
	uint32_t row;

	for (row = 1; row < n; row++)
		wrong |= pfn[row] <= pfn[row - 1];
	if (wrong || (n && (pfn[0] < s->next || pfn[n - 1] == UINT64_MAX)))
		return pdet_fail(s->it->env, EBADMSG, "cannot compare: rows "
				 "are not in the order of frames");
	s->next = n ? pfn[n - 1] + 1 : s->next;
	return 0;
}

/*
 * This includes rows that a filter left out as unknown, even if that was before
 * they were saved.
 */
void pdet_side_cover(struct pdet_diff_side *s)
{
	const struct pdet_iter *it = s->it;
	struct pdet_cover cover;

	pdet_iter_cover(s->it, &cover);
	s->partial |= it->walk->partial || cover.partial || cover.undecided ||
		      cover.tasks_denied || cover.tasks_damaged ||
		      cover.files_denied ||
		      (it->saved &&
		       pdet_snapshot_end(it->saved)->coverage.undecided);
}

static int take_batch(struct pdet_diff_side *s)
{
	int r;

	s->at = 0;
	do {
		r = pdet_iter_step(s->it, &s->b);
		pdet_side_cover(s);
		if (r <= 0) {
			s->b = NULL;
			s->ended = true;
			return r;
		}
		s->rows += s->b->n;
		watch(s);
		r = drop_unplaced(s);
		if (r == 0)
			r = check_order(s);
		if (r < 0)
			return r;
	} while (!s->b->n);
	return 1;
}

static int next_gathered(struct pdet_diff_side *s)
{
	const struct pdet_side_row *row;

	if (s->done == s->order.n) {
		s->b = NULL;
		s->ended = true;
		return 0;
	}
	row = &s->order.data[s->done++];
	s->b = &s->chunks.data[row->chunk];
	s->at = row->row;
	s->place = row->place;
	return 1;
}

int pdet_side_next(struct pdet_diff_side *s)
{
	if (s->ended)
		return 0;
	if (s->gathered)
		return next_gathered(s);
	if (s->b && s->at < s->b->n)
		return 1;
	return take_batch(s);
}

/* --- gathering --- */

/* Makes the place of a row. Returns false if it has none. */
static bool place_of(const struct pdet_diff_side *s,
		     const struct pdet_batch *b, uint32_t row,
		     struct pdet_place *p)
{
	const bool parts = !s->whole_path;

	p->a = p->b = p->c = 0;
	switch (s->by) {
	case PAGEDET_DIFF_BY_PFN:
		p->a = pdet_batch_get(b, row, PAGEDET_FIELD_PFN, 0);
		return have(b, row, PAGEDET_FIELD_PFN);
	case PAGEDET_DIFF_BY_ADDRESS:
		if (parts)
			p->a = pdet_batch_get(b, row, PAGEDET_FIELD_PID, 0);
		p->b = pdet_batch_get(b, row, PAGEDET_FIELD_VADDR, 0);
		return have(b, row, PAGEDET_FIELD_VADDR) &&
		       (!parts || have(b, row, PAGEDET_FIELD_PID));
	default:
		if (parts) {
			p->a = pdet_batch_get(b, row, PAGEDET_FIELD_DEV, 0);
			p->b = pdet_batch_get(b, row, PAGEDET_FIELD_INODE, 0);
		}
		p->c = pdet_batch_get(b, row, PAGEDET_FIELD_INDEX, 0);
		return have(b, row, PAGEDET_FIELD_INDEX) &&
		       (!parts || (have(b, row, PAGEDET_FIELD_DEV) &&
				   have(b, row, PAGEDET_FIELD_INODE)));
	}
}

/* A chunk that has room for a row, or NULL without memory. */
static struct pdet_batch *room(struct pdet_diff_side *s)
{
	struct pdet_batch *last = s->chunks.n ?
		&s->chunks.data[s->chunks.n - 1] : NULL;

	if (last && last->n < last->cap)
		return last;
	if (!pdet_vec_reserve(&s->chunks, 1))
		return NULL;
	last = &s->chunks.data[s->chunks.n];
	if (!pdet_batch_init(last, &s->columns, CHUNK, SIZE_MAX / 2))
		return NULL;
	s->chunks.n++;
	return last;
}

static int keep_row(struct pdet_diff_side *s, uint32_t row)
{
	struct pdet_side_row at;
	struct pdet_batch *to;

	if (!place_of(s, s->b, row, &at.place)) {
		s->unplaced++;
		return 0;
	}
	if (s->order.n == s->max_rows) {
		pdet_fail(s->it->env, EOVERFLOW, "cannot compare: more than "
			  "%llu rows would have to be sorted",
			  (unsigned long long)s->max_rows);
		pdet_advise(s->it->env, "ask about fewer tasks or files at "
			    "once");
		return -EOVERFLOW;
	}
	to = room(s);
	if (!to)
		return no_memory(s);
	at.chunk = (uint32_t)s->chunks.n - 1;
	at.row = (uint32_t)pdet_batch_grow(to, 1);
	pdet_batch_copy_row(to, at.row, s->b, row);
	return pdet_vec_push(&s->order, at) ? 0 : no_memory(s);
}

static int by_place(const void *a, const void *b)
{
	const struct pdet_side_row *x = a, *y = b;
	const int order = pdet_place_cmp(&x->place, &y->place);

	if (order)
		return order;
	return x->chunk != y->chunk ? (x->chunk < y->chunk ? -1 : 1) :
	       x->row != y->row ? (x->row < y->row ? -1 : 1) : 0;
}

/* Keeps only the first of several rows of one place. */
static void drop_repeated(struct pdet_diff_side *s)
{
	struct pdet_side_row *row = s->order.data;
	size_t i, n = 0;

	for (i = 0; i < s->order.n; i++) {
		if (n && !pdet_place_cmp(&row[n - 1].place, &row[i].place))
			continue;
		row[n++] = row[i];
	}
	s->unplaced += s->order.n - n;
	s->order.n = n;
}

int pdet_side_gather(struct pdet_diff_side *s)
{
	uint32_t row;
	int r;

	while ((r = pdet_iter_step(s->it, &s->b)) > 0) {
		s->rows += s->b->n;
		watch(s);
		for (row = 0; row < s->b->n; row++) {
			r = keep_row(s, row);
			if (r < 0)
				return r;
		}
	}
	s->b = NULL;
	pdet_side_cover(s);
	if (s->order.n)
		qsort(s->order.data, s->order.n, sizeof(*s->order.data),
		      by_place);
	drop_repeated(s);
	return r;
}

void pdet_side_free(struct pdet_diff_side *s)
{
	size_t i;

	for (i = 0; i < s->chunks.n; i++)
		pdet_batch_free(&s->chunks.data[i]);
	pdet_vec_free(&s->chunks);
	pdet_vec_free(&s->order);
	pdet_seen_free(&s->seen);
}
