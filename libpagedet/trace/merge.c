/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A heap of streams by the time of their next event. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/vec.h"
#include "trace/merge.h"

static const struct pdet_kmem_event *first(const struct pdet_trace_stream *s)
{
	return s->piece.data[s->piece.next];
}

static bool is_before(const struct pdet_trace_stream *a,
		      const struct pdet_trace_stream *b)
{
	const uint64_t x = first(a)->ns, y = first(b)->ns;

	return x < y || (x == y && a->cpu < b->cpu);
}

/* Moves the stream at @i down to where none below it is before it. */
static void sink(struct pdet_trace_merge *m, size_t i)
{
	struct pdet_trace_stream *moved = m->heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < m->n; i = child) {
		if (child + 1 < m->n &&
		    is_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!is_before(m->heap[child], moved))
			break;
		m->heap[i] = m->heap[child];
	}
	m->heap[i] = moved;
}

/*
 * 1 if the stream has an event that is not merged yet. A stream may have none
 * for long.
 */
static int refill(struct pdet_trace_merge *m, struct pdet_trace_stream *s)
{
	int r = 1;

	while (r > 0 && s->piece.next == s->piece.n) {
		if (m->stopped && m->stopped(m->arg)) {
			m->is_over = true;
			return 0;
		}
		s->piece.next = s->piece.n = 0;
		r = s->more(s);
	}
	return r;
}

int pdet_trace_merge_begin(struct pdet_trace_merge *m,
			   struct pdet_trace_stream *const *streams, size_t n)
{
	size_t i;
	int r;

	m->n = 0;
	m->heap = calloc(n ? n : 1, sizeof(*m->heap));
	if (!m->heap)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		r = refill(m, streams[i]);
		if (r < 0)
			return r;
		if (r > 0)
			m->heap[m->n++] = streams[i];
	}
	for (i = m->n / 2; i-- > 0;)
		sink(m, i);
	return 0;
}

/* The stream that comes next after the first one, or NULL. */
static const struct pdet_trace_stream *second(const struct pdet_trace_merge *m)
{
	if (m->n < 2)
		return NULL;
	return m->n > 2 && is_before(m->heap[2], m->heap[1]) ? m->heap[2] :
							       m->heap[1];
}

/* How many events of @s come before those of @other. At least one does. */
static size_t count(const struct pdet_trace_stream *s,
		    const struct pdet_trace_stream *other)
{
	const struct pdet_kmem_event **e = s->piece.data + s->piece.next;
	const size_t left = PDET_MIN(s->piece.n - s->piece.next,
				     (size_t)INT_MAX / 2);
	uint64_t until;
	size_t n = 1;

	if (!other)
		return left;
	until = first(other)->ns;
	if (s->cpu < other->cpu)
		while (n < left && e[n]->ns <= until)
			n++;
	else
		while (n < left && e[n]->ns < until)
			n++;
	return n;
}

/* Notes disorder, and losses. False without memory. */
static bool note(struct pdet_trace_merge *m, struct pdet_trace_stream *s,
		 size_t n)
{
	const struct pdet_kmem_event **e = s->piece.data + s->piece.next;
	size_t i;

	for (i = 0; i < n; i++) {
		/* A name may be of any time. */
		if (e[i]->kind >= PDET_KMEM_NAME) {
			if (e[i]->kind == PDET_KMEM_LOST &&
			    !pdet_vec_push(&m->lost, e[i]))
				return false;
			continue;
		}
		if (e[i]->ns < s->last_ns && !s->loss.disorder++)
			s->loss.disorder_ns = e[i]->ns;
		s->last_ns = PDET_MAX(s->last_ns, e[i]->ns);
	}
	return true;
}

/* Losses that have begun, and whose end is not merged yet. */
static bool note_begun(struct pdet_trace_merge *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->heap[i]->piece.next < m->heap[i]->piece.n &&
		    first(m->heap[i])->kind == PDET_KMEM_LOST &&
		    !pdet_vec_push(&m->lost, first(m->heap[i])))
			return false;
	return true;
}

/* What the call before has given is merged now. */
static int settle(struct pdet_trace_merge *m)
{
	int r = m->n ? refill(m, m->heap[0]) : 1;

	if (r < 0)
		return r;
	if (m->is_over)
		m->n = 0;
	else if (r == 0)
		m->heap[0] = m->heap[--m->n];
	return 0;
}

/* Goes on until a stream must be read. False without memory. */
static bool merge(struct pdet_trace_merge *m)
{
	struct pdet_trace_stream *s;
	size_t n;

	m->merged.n = m->lost.n = 0;
	do {
		sink(m, 0);
		s = m->heap[0];
		n = count(s, second(m));
		if (!pdet_vec_reserve(&m->merged, n))
			return false;
		memcpy(m->merged.data + m->merged.n,
		       s->piece.data + s->piece.next,
		       n * sizeof(*m->merged.data));
		m->merged.n += n;
		if (!note(m, s, n))
			return false;
		s->piece.next += n;
	} while (s->piece.next < s->piece.n && m->merged.n < INT_MAX / 2);
	return note_begun(m);
}

int pdet_trace_merge_next(struct pdet_trace_merge *m,
			  const struct pdet_kmem_event *const **ret)
{
	int r = settle(m);

	if (r < 0 || !m->n)
		return r;
	if (!merge(m))
		return -ENOMEM;
	*ret = m->merged.data;
	return (int)m->merged.n;
}

void pdet_trace_merge_end(struct pdet_trace_merge *m)
{
	pdet_vec_free(&m->merged);
	pdet_vec_free(&m->lost);
	free(m->heap);
	m->heap = NULL;
	m->n = 0;
}
