/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One processor's pages of the ring buffer, in a file, as a stream. */
#ifndef PDET_TRACE_PAGES_H
#define PDET_TRACE_PAGES_H

#include "trace/ahead.h"
#include "trace/merge.h"
#include "trace/ring.h"
#include "trace/stacks.h"

/* Code runs in one of these, each of which may interrupt those before. */
#define PDET_TRACE_CONTEXTS 4
/* Events that wait for their stacks in the next page. */
#define PDET_TRACE_WAITING 8

/* An event at the end of a page. */
struct pdet_trace_kept {
	struct pdet_kmem_event event;
	unsigned context;	/* or CONTEXTS: it does not wait */
	char cache[64];		/* what the event points to */
};

struct pdet_trace_pages {
	struct pdet_trace_stream s;
	struct pdet_env *env;
	const struct pdet_ring_layout *layout;
	const struct pdet_kmem_layouts *known;
	struct pdet_ahead *ahead; /* NULL: nothing is read ahead */
	struct pdet_ahead_input input;
	size_t at;		/* in its chunk: not decoded yet */
	bool gave_up;		/* the rest of the input is damaged */
	struct {
		struct pdet_kmem_event *data;
		size_t n, cap;
	} decoded;		/* what the piece has */
	struct pdet_trace_stacks *stacks; /* NULL: not wanted */
	size_t waiting[PDET_TRACE_CONTEXTS]; /* event in the piece that waits
				 * for its stack, plus 1; 0: there is none */
	struct pdet_trace_kept kept[2][PDET_TRACE_WAITING]; /* in turns: of the
				 * page before, and of this one */
	unsigned turn;
	size_t n_kept;
	bool counted;		/* there are stats, which count */
	uint64_t lost;		/* that they count */
	uint64_t page_lost, page_gaps; /* that the pages tell */
	uint64_t wanted, events; /* that there should be; that there were */
};

/*
 * pdet_trace_pages_begin - a stream of the pages between two offsets of @fd,
 * which must stay open meanwhile. A rest that is not a whole page counts as
 * damaged. The caller may then set input.chunks.codec, and ahead.
 */
void pdet_trace_pages_begin(struct pdet_trace_pages *p, struct pdet_env *env,
			    uint16_t cpu, const struct pdet_ring_layout *layout,
			    const struct pdet_kmem_layouts *known, int fd,
			    uint64_t offset, uint64_t end);

void pdet_trace_pages_end(struct pdet_trace_pages *p);

/*
 * Stacks, which ftrace writes behind their events (attach.c):
 *
 * pdet_attach_is - whether a record is a stack.
 */
static inline bool pdet_attach_is(const struct pdet_trace_pages *p,
				  const unsigned char *record, uint32_t len,
				  bool big_endian)
{
	const struct pdet_kmem_layouts *l = p->known;

	return l->stack.is_known && len >= (uint32_t)l->id_at + l->id_size &&
	       pdet_ring_number(record + l->id_at, l->id_size, big_endian) ==
	       l->stack.id;
}

/* pdet_attach_wait - the last event of the piece may get one. */
void pdet_attach_wait(struct pdet_trace_pages *p, const unsigned char *record,
		      uint32_t len);

/* pdet_attach_take - give it to its event. False without memory. */
bool pdet_attach_take(struct pdet_trace_pages *p, const unsigned char *record,
		      uint32_t len);

/*
 * pdet_attach_begin, pdet_attach_end - a page begins, and ends: events that
 * wait are kept back until the next one. @lost: events were lost between them.
 */
void pdet_attach_begin(struct pdet_trace_pages *p, bool lost);
void pdet_attach_end(struct pdet_trace_pages *p);

#endif
