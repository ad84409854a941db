/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads many pages at once, and decodes one at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/vec.h"
#include "trace/pages.h"

/* A record has 8 bytes or more, with what stands before it. */
#define LEAST_EVENT 8
/* Bytes that are read at once. */
#define CHUNK ((size_t)1 << 18)
/* The largest compressed chunk that is believed. trace-cmd makes them of one
 * page, or of 10. */
#define MOST_CHUNK ((uint32_t)1 << 20)
#define MOST_CHUNK_PAGES 16u

/*
 * A page may tell that there was a loss, and not how large it was; then the
 * stats do, which also know of those behind the last page. If they know of
 * none, they are of another time.
 */
static void note_loss(struct pdet_trace_pages *p, uint64_t lost)
{
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
				       .cpu = p->s.cpu,
				       .kind = PDET_KMEM_LOST };
	p->s.piece.data[p->s.piece.n++] = e;
}

static int no_memory(struct pdet_trace_pages *p)
{
	return pdet_fail(p->env, ENOMEM, "no memory");
}

static bool make_room(unsigned char **bytes, size_t *cap, size_t n)
{
	unsigned char *more = n > *cap ? realloc(*bytes, n) : *bytes;

	if (!more)
		return false;
	*bytes = more;
	*cap = PDET_MAX(*cap, n);
	return true;
}

/* At most @n bytes from where the reading is. */
static ssize_t read_on(struct pdet_trace_pages *p, void *to, size_t n)
{
	const ssize_t r = pdet_pread(p->fd, to, (size_t)
				     PDET_MIN(n, p->s.end - p->s.offset),
				     p->s.offset);

	if (r < 0) {
		errno = (int)-r;
		return pdet_fail_errno(p->env, "cannot read the trace");
	}
	p->s.offset += (uint64_t)r;
	return r;
}

/* The rest of this stream is not what it should be. */
static int give_up(struct pdet_trace_pages *p)
{
	p->s.loss.damaged++;
	p->s.offset = p->s.end;
	p->chunks = p->n = p->at = 0;
	return 0;
}

static int fill_plain(struct pdet_trace_pages *p)
{
	const size_t page = p->layout->bytes;
	const bool any = p->s.offset < p->s.end;
	ssize_t n;

	if (!any)
		return 0;
	if (!make_room(&p->bytes, &p->cap, PDET_MAX(CHUNK, page)))
		return no_memory(p);
	n = read_on(p, p->bytes, p->cap);
	if (n < 0)
		return (int)n;
	/* It has become shorter meanwhile, or was cut. */
	if ((size_t)n < page)
		return give_up(p);
	p->n = (size_t)n - (size_t)n % page;
	p->s.offset -= (uint64_t)n - p->n;
	return 1;
}

static int unpack(struct pdet_trace_pages *p, uint32_t packed, uint32_t size)
{
	unsigned char *bytes = malloc(packed);
	ssize_t n;
	int r;

	if (!bytes || !make_room(&p->bytes, &p->cap, size)) {
		free(bytes);
		return no_memory(p);
	}
	n = read_on(p, bytes, packed);
	r = n < 0 ? (int)n : (size_t)n < packed ? -EBADMSG :
	    pdet_codec_run(p->codec, bytes, packed, p->bytes, size);
	free(bytes);
	if (r == -EBADMSG)
		return give_up(p);
	if (r < 0)
		return r;
	p->n = size;
	return 1;
}

static int fill_packed(struct pdet_trace_pages *p)
{
	const bool big = p->layout->big_endian;
	unsigned char head[8];
	const uint32_t most = PDET_MAX(MOST_CHUNK, MOST_CHUNK_PAGES *
				       p->layout->bytes);
	uint32_t packed, size;
	ssize_t n;

	if (!p->begun) {
		p->begun = true;
		n = read_on(p, head, 4);
		if (n < 4)
			return n < 0 ? (int)n : n ? give_up(p) : 0;
		p->chunks = pdet_ring_number(head, 4, big);
	}
	if (!p->chunks)
		return 0;
	p->chunks--;
	n = read_on(p, head, 8);
	if (n < 8)
		return n < 0 ? (int)n : give_up(p);
	packed = (uint32_t)pdet_ring_number(head, 4, big);
	size = (uint32_t)pdet_ring_number(head + 4, 4, big);
	if (!packed || packed > 2 * most || size > most ||
	    size < p->layout->bytes || size % p->layout->bytes)
		return give_up(p);
	return unpack(p, packed, size);
}

/* Reads on; what is decoded is not needed any more. 1 if there is a page. */
static int refill(struct pdet_trace_pages *p)
{
	if (p->n - p->at >= p->layout->bytes)
		return 1;
	p->at = p->n = 0;
	return p->codec ? fill_packed(p) : fill_plain(p);
}

static int more(struct pdet_trace_stream *s)
{
	struct pdet_trace_pages *p = PDET_CONTAINER(s, struct pdet_trace_pages,
						    s);
	const unsigned char *record;
	struct pdet_ring ring;
	const size_t room = p->layout->bytes / LEAST_EVENT +
			    PDET_TRACE_WAITING + 1;
	uint32_t len;
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
	r = pdet_ring_begin(&ring, p->layout, p->bytes + p->at);
	p->at += p->layout->bytes;
	note_loss(p, ring.lost);
	if (p->stacks)
		pdet_attach_begin(p, ring.lost);
	if (r == 0 && ring.lost)
		tell_loss(p, &ring);
	if (r == 0)
		while ((r = pdet_ring_next(&ring, &record, &len)) > 0)
			if (!take(p, &ring, record, len))
				return no_memory(p);
	s->loss.damaged += r < 0;
	if (p->stacks)
		pdet_attach_end(p);
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
	p->env = env;
	p->layout = layout;
	p->known = known;
	p->fd = fd;
	p->s.offset = offset;
	p->s.end = end;
}

void pdet_trace_pages_end(struct pdet_trace_pages *p)
{
	pdet_vec_free(&p->s.piece);
	pdet_vec_free(&p->decoded);
	free(p->bytes);
	if (p->codec)
		pdet_codec_close(p->codec);
}
