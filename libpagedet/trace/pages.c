/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Decodes one page at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/vec.h"
#include "trace/pages.h"

/* A record has 8 bytes or more, with what stands before it. */
#define LEAST_EVENT 8
/* Events of a piece, after which no further page is decoded into it: many go
 * through faster together, and all are still in the cache then. */
#define ENOUGH 160u

/*
 * A page may tell that there was a loss, and not how large it was; then the
 * stats do, which also know of those behind the last page. If they know of
 * none, they are of another time.
 */
static void note_loss(struct pdet_trace_pages *p, uint64_t lost)
{
	if (lost)
		pdet_trace_lost_behind(&p->s.loss, p->s.last_ns);
	if (lost == PDET_RING_LOST_UNKNOWN)
		p->page_gaps++;
	else
		p->page_lost += lost;
	p->s.loss.lost = PDET_MAX(p->lost, p->page_lost);
	p->s.loss.unknown = p->lost ? 0 : p->page_gaps;
}

/* False without memory. */
static bool take(struct pdet_trace_pages *p, const struct pdet_ring *r,
		 const unsigned char *record, uint32_t len)
{
	struct pdet_kmem_event *e = &p->decoded.data[p->s.piece.n];

	p->events++;
	if (pdet_attach_is(p, record, len, r->big_endian))
		return !p->stacks || pdet_attach_take(p, record, len);
	e->ns = r->ns;
	e->cpu = p->s.cpu;
	switch (pdet_kmem_take(p->known, record, len, r->big_endian, e)) {
	case 0:
		if (e->kind == PDET_KMEM_OTHER)
			p->s.loss.other++;
		else
			p->s.piece.data[p->s.piece.n++] = e;
		if (p->stacks && e->kind != PDET_KMEM_OTHER)
			pdet_attach_wait(p, record, len);
		break;
	case -ENOENT:
		p->s.loss.strange++;
		pdet_trace_strange(&p->s.loss, (uint32_t)e->object);
		break;
	default:
		p->s.loss.damaged++;
	}
	return true;
}

/* Where events are missing: before the page. */
static void tell_loss(struct pdet_trace_pages *p, const struct pdet_ring *r)
{
	struct pdet_kmem_event *e = &p->decoded.data[p->s.piece.n];

	*e = (struct pdet_kmem_event){ .ns = r->ns, .object = r->lost,
				       .requested = p->s.last_ns,
				       .cpu = p->s.cpu,
				       .kind = PDET_KMEM_LOST };
	p->s.piece.data[p->s.piece.n++] = e;
}

static int no_memory(struct pdet_trace_pages *p)
{
	return pdet_fail(p->env, ENOMEM, "no memory");
}

/* Reads on; what is decoded is not needed any more. 1 if there is a page. */
static int refill(struct pdet_trace_pages *p)
{
	bool damaged;
	int r;

	if (p->input.chunk.n - p->at >= p->layout->bytes)
		return 1;
	p->at = 0;
	/* The byte order may be found after the pages. */
	if (!p->input.is_asked) {
		p->input.chunks.page = p->layout->bytes;
		p->input.chunks.big_endian = p->layout->big_endian;
	}
	r = pdet_ahead_next(p->ahead, &p->input, &p->s.offset, &damaged);
	/* The rest of this stream is not what it should be. */
	p->s.loss.damaged += r == 0 && damaged && !p->gave_up;
	p->gave_up |= damaged;
	if (r >= 0)
		return r;
	if (r == -ENOMEM)
		return no_memory(p);
	errno = -r;
	return pdet_fail_errno(p->env, "cannot read the trace");
}

/* False without memory. */
static bool decode_page(struct pdet_trace_pages *p)
{
	const unsigned char *record;
	struct pdet_ring ring;
	uint32_t len;
	int r = pdet_ring_begin(&ring, p->layout, p->input.chunk.data + p->at);

	p->at += p->layout->bytes;
	note_loss(p, ring.lost);
	if (p->stacks)
		pdet_attach_begin(p, ring.lost);
	if (r == 0 && ring.lost)
		tell_loss(p, &ring);
	if (r == 0)
		while ((r = pdet_ring_next(&ring, &record, &len)) > 0)
			if (!take(p, &ring, record, len))
				return false;
	p->s.loss.damaged += r < 0;
	if (p->stacks)
		pdet_attach_end(p);
	return true;
}

/*
 * Whether the next page is decoded into the same piece. A loss is told with the
 * time of what was merged before it, and a stack waits for the next piece.
 */
static bool goes_on(const struct pdet_trace_pages *p)
{
	struct pdet_ring next;

	return !p->stacks && p->s.piece.n < ENOUGH &&
	       p->input.chunk.n - p->at >= p->layout->bytes &&
	       pdet_ring_begin(&next, p->layout,
			       p->input.chunk.data + p->at) == 0 &&
	       !next.lost;
}

static int more(struct pdet_trace_stream *s)
{
	struct pdet_trace_pages *p = PDET_CONTAINER(s, struct pdet_trace_pages,
						    s);
	const size_t room = p->layout->bytes / LEAST_EVENT +
			    PDET_TRACE_WAITING + 1 + ENOUGH;
	int r = refill(p);

	if (r == 0) {
		s->loss.uncounted = !p->counted;
		s->loss.missing = p->wanted - PDET_MIN(p->wanted, p->events);
	}
	if (r == 0 && p->n_kept) {
		pdet_attach_begin(p, true);
		return 1;
	}
	if (r <= 0)
		return r;
	if (!pdet_vec_reserve(&s->piece, room) ||
	    !pdet_vec_reserve(&p->decoded, room))
		return no_memory(p);
	do
		if (!decode_page(p))
			return no_memory(p);
	while (goes_on(p));
	return 1;
}

void pdet_trace_pages_begin(struct pdet_trace_pages *p, struct pdet_env *env,
			    uint16_t cpu, const struct pdet_ring_layout *layout,
			    const struct pdet_kmem_layouts *known, int fd,
			    uint64_t offset, uint64_t end)
{
	memset(p, 0, sizeof(*p));
	p->s.more = more;
	p->s.cpu = cpu;
	p->s.has_cpu = true;
	p->env = env;
	p->layout = layout;
	p->known = known;
	p->input.chunks = (struct pdet_chunks){
		.fd = fd, .offset = offset, .end = end };
	p->s.offset = offset;
	p->s.end = end;
}

void pdet_trace_pages_end(struct pdet_trace_pages *p)
{
	pdet_vec_free(&p->s.piece);
	pdet_vec_free(&p->decoded);
	pdet_ahead_free(&p->input);
}
