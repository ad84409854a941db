/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Holes are found as if numbers came in order, then filled by late ones. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/vec.h"
#include "trace/old/holes.h"

/* Files that are not of kmemtrace may have any number of them. */
#define MOST ((size_t)1 << 20)
/* Losses of a piece. */
#define PIECE 64u

static bool add_hole(struct pdet_old_holes *h, uint64_t first, uint64_t last)
{
	if (h->list.n < MOST)
		return pdet_vec_push(&h->list,
				     (struct pdet_old_hole){ first, last });
	h->unknown = true;
	return true;
}

bool pdet_old_holes_add(struct pdet_old_holes *h, uint64_t number)
{
	const uint64_t next = h->next;

	if (!next)
		h->first = number;
	if (next && number < next) {
		h->unknown |= h->late.n == MOST;
		return h->late.n == MOST || pdet_vec_push(&h->late, number);
	}
	h->next = number + 1;
	return !next || number == next || add_hole(h, next, number - 1);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* What is left of a hole. *late: the first number that may be in it. */
static bool fill(struct pdet_old_holes *h, struct pdet_old_hole hole,
		 size_t *late)
{
	uint64_t number;

	for (; *late < h->late.n; ++*late) {
		number = h->late.data[*late];
		if (number > hole.last)
			break;
		if (number > hole.first &&
		    !add_hole(h, hole.first, number - 1))
			return false;
		hole.first = PDET_MAX(hole.first, number + 1);
	}
	return hole.first > hole.last || add_hole(h, hole.first, hole.last);
}

bool pdet_old_holes_end(struct pdet_old_holes *h)
{
	struct pdet_old_hole *const holes = h->list.data;
	const size_t n = h->list.n;
	bool ok = true;
	size_t i, late = 0;

	if (!h->late.n)
		return true;
	qsort(h->late.data, h->late.n, sizeof(*h->late.data), by_number);
	memset(&h->list, 0, sizeof(h->list));
	if (*h->late.data < h->first)
		ok = fill(h, (struct pdet_old_hole){ *h->late.data,
						     h->first - 1 }, &late);
	for (i = 0; i < n && ok; i++)
		ok = fill(h, holes[i], &late);
	free(holes);
	return ok;
}

void pdet_old_holes_free(struct pdet_old_holes *h)
{
	pdet_vec_free(&h->list);
	pdet_vec_free(&h->late);
}

/* --- a stream --- */

struct losses {
	struct pdet_trace_stream s;
	struct pdet_old_holes holes;
	size_t next;
	struct pdet_kmem_event events[PIECE];
};

static int more(struct pdet_trace_stream *s)
{
	struct losses *l = PDET_CONTAINER(s, struct losses, s);
	const struct pdet_old_hole *hole;
	struct pdet_kmem_event *e;

	if (!pdet_vec_reserve(&s->piece, PIECE))
		return -ENOMEM;
	for (; s->piece.n < PIECE && l->next < l->holes.list.n; s->piece.n++) {
		hole = &l->holes.list.data[l->next++];
		e = &l->events[s->piece.n];
		/* It is not known which processor has lost them. */
		*e = (struct pdet_kmem_event){
			.kind = PDET_KMEM_LOST, .node = PDET_KMEM_NO_NUMBER,
			.object = hole->last - hole->first + 1,
			.requested = hole->first - 1, .ns = hole->last };
		s->piece.data[s->piece.n] = e;
	}
	return s->piece.n > 0;
}

static void close_losses(struct pdet_trace_stream *s)
{
	struct losses *l = PDET_CONTAINER(s, struct losses, s);

	pdet_old_holes_free(&l->holes);
	pdet_vec_free(&s->piece);
	free(l);
}

struct pdet_trace_stream *pdet_old_losses(struct pdet_old_holes *h)
{
	struct losses *l = calloc(1, sizeof(*l));
	size_t i;

	if (!l)
		return NULL;
	l->holes = *h;
	memset(h, 0, sizeof(*h));
	l->s.more = more;
	l->s.close = close_losses;
	for (i = 0; i < l->holes.list.n; i++)
		l->s.loss.lost += l->holes.list.data[i].last -
				  l->holes.list.data[i].first + 1;
	if (i)
		pdet_trace_lost_behind(&l->s.loss,
				       l->holes.list.data->first - 1);
	l->s.loss.unknown = l->holes.unknown;
	return &l->s;
}
