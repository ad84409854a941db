/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A bit for each number; a part of which all have come needs none. */
#include <errno.h>
#include <stdlib.h>

#include "base/env.h"
#include "base/vec.h"
#include "trace/old/holes.h"

#define WORD 64u
/* Numbers of a part: its bits are a page. */
#define PART (4096u * 8)
/* Files that are not of kmemtrace may have any number of these. */
#define MOST ((size_t)1 << 20)
#define MOST_BITS ((size_t)64 << 20)
/* Losses of a piece. */
#define PIECE 64u

/* --- numbers --- */

/* A part that is new. False without memory. */
static bool add_part(struct pdet_old_holes *h, uint64_t at)
{
	struct pdet_old_part part = { .at = at };

	if (h->with_bits >= MOST_BITS / (PART / 8)) {
		h->unknown = true;
		return true;
	}
	part.bits = calloc(PART / WORD, sizeof(*part.bits));
	if (!part.bits || !pdet_pairs_set(&h->part_at, at, h->parts.n) ||
	    !pdet_vec_push(&h->parts, part)) {
		free(part.bits);
		return false;
	}
	h->with_bits++;
	h->latest = h->parts.n - 1;
	return true;
}

static void set(struct pdet_old_holes *h, struct pdet_old_part *part,
		uint32_t i)
{
	uint64_t *const word = &part->bits[i / WORD];
	const uint64_t bit = (uint64_t)1 << i % WORD;

	part->n += !(*word & bit);
	*word |= bit;
	if (part->n < PART)
		return;
	free(part->bits);
	part->bits = NULL;
	h->with_bits--;
}

bool pdet_old_holes_add(struct pdet_old_holes *h, uint64_t number)
{
	const uint64_t at = number / PART;
	uint64_t index;

	if (!h->parts.n || h->parts.data[h->latest].at != at) {
		if (pdet_pairs_get(&h->part_at, at, &index))
			h->latest = (size_t)index;
		else if (!add_part(h, at))
			return false;
		if (h->unknown)
			return true;
	}
	if (h->parts.data[h->latest].bits)
		set(h, &h->parts.data[h->latest], (uint32_t)(number % PART));
	return true;
}

/* --- what is missing --- */

/* From @number on @n have come. False without memory. */
static bool pass(struct pdet_old_holes *h, uint64_t number, unsigned n)
{
	const struct pdet_old_hole hole = { h->next, number - 1 };
	const bool is_hole = h->next && h->next < number;

	h->next = number + n;
	if (!is_hole)
		return true;
	h->unknown |= h->list.n == MOST;
	return h->list.n == MOST || pdet_vec_push(&h->list, hole);
}

static bool pass_word(struct pdet_old_holes *h, uint64_t number, uint64_t word)
{
	bool ok = true;

	if (!~word)
		return pass(h, number, WORD);
	for (; word && ok; word &= word - 1)
		ok = pass(h, number + (unsigned)__builtin_ctzll(word), 1);
	return ok;
}

static bool pass_part(struct pdet_old_holes *h,
		      const struct pdet_old_part *part)
{
	const uint64_t number = part->at * PART;
	bool ok = true;
	unsigned i;

	if (!part->bits)
		return pass(h, number, PART);
	for (i = 0; i < PART / WORD && ok; i++)
		ok = pass_word(h, number + i * WORD, part->bits[i]);
	return ok;
}

static int by_place(const void *a, const void *b)
{
	const struct pdet_old_part *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

bool pdet_old_holes_end(struct pdet_old_holes *h)
{
	bool ok = true;
	size_t i;

	if (h->unknown || !h->parts.n)
		return true;
	qsort(h->parts.data, h->parts.n, sizeof(*h->parts.data), by_place);
	for (i = 0; i < h->parts.n && ok; i++)
		ok = pass_part(h, &h->parts.data[i]);
	return ok;
}

void pdet_old_holes_free(struct pdet_old_holes *h)
{
	size_t i;

	for (i = 0; i < h->parts.n; i++)
		free(h->parts.data[i].bits);
	pdet_vec_free(&h->parts);
	pdet_pairs_free(&h->part_at);
	pdet_vec_free(&h->list);
}

/* --- a stream --- */

struct losses {
	struct pdet_trace_stream s;
	struct pdet_old_holes holes;
	int (*find)(void *arg, struct pdet_old_holes *h);
	void *arg;
	bool asked;
	size_t next;
	struct pdet_kmem_event events[PIECE];
};

/* Rows of those that were found. */
static int list(struct losses *l)
{
	struct pdet_trace_piece *piece = &l->s.piece;
	const struct pdet_old_hole *hole;
	struct pdet_kmem_event *e;

	if (!pdet_vec_reserve(piece, PIECE))
		return -ENOMEM;
	for (; piece->n < PIECE && l->next < l->holes.list.n; piece->n++) {
		hole = &l->holes.list.data[l->next++];
		e = &l->events[piece->n];
		/* It is not known which processor has lost them. */
		*e = (struct pdet_kmem_event){
			.kind = PDET_KMEM_LOST, .node = PDET_KMEM_NO_NUMBER,
			.object = hole->last - hole->first + 1,
			.requested = hole->first - 1, .ns = hole->last };
		piece->data[piece->n] = e;
	}
	return piece->n > 0;
}

static int more(struct pdet_trace_stream *s)
{
	struct losses *l = PDET_CONTAINER(s, struct losses, s);
	int r;

	if (!l->asked) {
		l->asked = true;
		r = l->find(l->arg, &l->holes);
		if (r <= 0)
			return r;
		if (!pdet_old_losses_end(s))
			return -ENOMEM;
	}
	return list(l);
}

static void close_losses(struct pdet_trace_stream *s)
{
	struct losses *l = PDET_CONTAINER(s, struct losses, s);

	pdet_old_holes_free(&l->holes);
	pdet_vec_free(&s->piece);
	free(l);
}

struct pdet_trace_stream *
pdet_old_losses(int (*find)(void *arg, struct pdet_old_holes *h), void *arg)
{
	struct losses *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->find = find;
	l->arg = arg;
	l->s.more = more;
	l->s.close = close_losses;
	/* Until all have come. */
	l->s.loss.unknown = 1;
	return &l->s;
}

bool pdet_old_losses_end(struct pdet_trace_stream *s)
{
	struct losses *l = PDET_CONTAINER(s, struct losses, s);
	size_t i;

	if (!pdet_old_holes_end(&l->holes))
		return false;
	for (i = 0; i < l->holes.list.n; i++)
		s->loss.lost += l->holes.list.data[i].last -
				l->holes.list.data[i].first + 1;
	if (i)
		pdet_trace_lost_behind(&s->loss,
				       l->holes.list.data->first - 1);
	s->loss.unknown = l->holes.unknown;
	return true;
}
