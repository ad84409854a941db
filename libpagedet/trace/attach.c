/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * ftrace writes the stack of an event as a record behind it. An interrupt may
 * write its own events between the two, so that a stack is of the last event in
 * the same context that has none (kernel/trace/trace.c, __ftrace_trace_stack).
 */
#include <string.h>

#include "base/env.h"
#include "trace/pages.h"

/* The kernel has a bound, too; a stack has far fewer. */
#define MOST_FRAMES 256u
/* TRACE_FLAG_NMI, _HARDIRQ and _SOFTIRQ, in common_flags. */
#define NMI 0x40
#define HARDIRQ 0x08
#define SOFTIRQ 0x10
/* Stands for the trampoline of ftrace (FTRACE_TRAMPOLINE_MARKER). */
#define TRAMPOLINE INT32_MAX

static unsigned context_of(const struct pdet_trace_pages *p,
			   const unsigned char *record)
{
	const unsigned flags = record[p->known->stack.flags_at];

	return flags & NMI ? 3 : flags & HARDIRQ ? 2 : flags & SOFTIRQ ? 1 : 0;
}

void pdet_attach_wait(struct pdet_trace_pages *p, const unsigned char *record,
		      uint32_t len)
{
	unsigned c;

	if (len <= p->known->stack.flags_at)
		return;
	c = context_of(p, record);
	p->waiting[c] = p->s.piece.n;
	/* What interrupted it has ended; some events have no stack. */
	while (++c < PDET_TRACE_CONTEXTS)
		p->waiting[c] = 0;
}

bool pdet_attach_take(struct pdet_trace_pages *p, const unsigned char *record,
		      uint32_t len)
{
	const struct pdet_kmem_layouts *l = p->known;
	const unsigned word = p->layout->commit_size;
	const bool big = p->layout->big_endian;
	uint64_t frames[MOST_FRAMES], none = word == 8 ? UINT64_MAX :
							 UINT32_MAX;
	size_t *waiting, at;
	uint64_t count;
	uint32_t n = 0;

	if (len < l->stack.frames_at || len < l->stack.count_at + 4u ||
	    len <= l->stack.flags_at)
		return true;
	waiting = &p->waiting[context_of(p, record)];
	at = *waiting;
	*waiting = 0;
	if (!at)
		return true;
	count = PDET_MIN(pdet_ring_number(record + l->stack.count_at, 4, big),
			 (len - l->stack.frames_at) / word);
	for (record += l->stack.frames_at; count && n < MOST_FRAMES;
	     count--, record += word) {
		frames[n] = pdet_ring_number(record, word, big);
		if (frames[n] == none)
			break;
		n += frames[n] != TRAMPOLINE;
	}
	return pdet_trace_stacks_add(p->stacks, frames, n,
				     &p->decoded.data[at - 1].stack);
}

void pdet_attach_begin(struct pdet_trace_pages *p, bool lost)
{
	struct pdet_trace_kept *kept = p->kept[p->turn];
	size_t i;

	memset(p->waiting, 0, sizeof(p->waiting));
	for (i = 0; i < p->n_kept; i++) {
		p->decoded.data[i] = kept[i].event;
		p->s.piece.data[i] = &p->decoded.data[i];
		if (kept[i].context < PDET_TRACE_CONTEXTS && !lost)
			p->waiting[kept[i].context] = i + 1;
	}
	p->s.piece.n = p->n_kept;
	p->n_kept = 0;
	/* Names of these stay where they are. */
	p->turn ^= 1;
}

static void keep(struct pdet_trace_pages *p, size_t at)
{
	struct pdet_trace_kept *k = &p->kept[p->turn][p->n_kept++];
	unsigned c = 0;

	k->event = p->decoded.data[at];
	while (c < PDET_TRACE_CONTEXTS && p->waiting[c] != at + 1)
		c++;
	k->context = c;
	if (!k->event.cache)
		return;
	k->event.cache_len = PDET_MIN(k->event.cache_len,
				      (uint32_t)sizeof(k->cache));
	memcpy(k->cache, k->event.cache, k->event.cache_len);
	k->event.cache = k->cache;
}

void pdet_attach_end(struct pdet_trace_pages *p)
{
	const size_t n = p->s.piece.n;
	size_t first = n, i;

	for (i = 0; i < PDET_TRACE_CONTEXTS; i++)
		if (p->waiting[i] &&
		    n - (p->waiting[i] - 1) <= PDET_TRACE_WAITING)
			first = PDET_MIN(first, p->waiting[i] - 1);
	for (i = first; i < n; i++)
		keep(p, i);
	p->s.piece.n = first;
}
