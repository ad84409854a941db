/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* An event has five bits of type and 27 of time, and its words behind them. */
#include <errno.h>
#include <string.h>

#include "trace/format.h"
#include "trace/ring.h"

/* Flags of the length, and the bits that are a length. */
#define MISSED ((uint64_t)1 << 31)
#define MISSED_STORED ((uint64_t)1 << 30)
#define LENGTH (MISSED_STORED - 1)

/* The largest page: the kernel counts the bytes of one in 20 bits. */
#define MOST_BYTES ((uint64_t)1 << 20)

/* Values of the five bits of an event that are its type. */
#define TYPE_MOST_WORDS 28	/* and below: the record's length in words */
#define TYPE_PADDING 29
#define TYPE_EXTEND 30
#define TYPE_STAMP 31
#define DELTA_BITS 27
/* Bits that an absolute time does not have. */
#define STAMP_MISSING ((uint64_t)31 << 59)

#define ALIGN4(n) (((n) + 3) & ~3u)

int pdet_ring_layout_parse(const char *text, size_t len, bool big_endian,
			   struct pdet_ring_layout *ret)
{
	/* It has the form of a format file, but no name and no ID. */
	static const char head[] = "name: header_page\nID: 0\n";
	const struct pdet_trace_field *commit, *data;
	struct pdet_trace_format f;
	char whole[4096];

	if (len >= sizeof(whole) - sizeof(head))
		return -EBADMSG;
	memcpy(whole, head, sizeof(head) - 1);
	memcpy(whole + sizeof(head) - 1, text, len);
	if (pdet_trace_format_parse(whole, sizeof(head) - 1 + len, &f) < 0)
		return -EBADMSG;
	commit = pdet_trace_field(&f, "commit");
	data = pdet_trace_field(&f, "data");
	if (!commit || !data || (commit->size != 4 && commit->size != 8) ||
	    commit->offset < 8 || data->size < 64 ||
	    commit->offset + commit->size > data->offset)
		return -EBADMSG;
	if ((uint64_t)data->offset + data->size > MOST_BYTES)
		return -EBADMSG;
	ret->bytes = data->offset + data->size;
	ret->commit_at = commit->offset;
	ret->commit_size = commit->size;
	ret->data_at = data->offset;
	ret->big_endian = big_endian;
	return ret->bytes & (ret->bytes - 1) ? -EBADMSG : 0;
}

static uint64_t commit_of(const struct pdet_ring_layout *l,
			  const unsigned char *page)
{
	return pdet_ring_number(page + l->commit_at, l->commit_size,
				l->big_endian);
}

bool pdet_ring_fits(const struct pdet_ring_layout *l, const unsigned char *page)
{
	const uint64_t commit = commit_of(l, page), high = commit >> 32;

	/* Kernels extend the sign where it has 8 bytes. */
	return (commit & LENGTH) <= l->bytes - l->data_at &&
	       (!high || (high == UINT32_MAX && commit & MISSED));
}

int pdet_ring_begin(struct pdet_ring *r, const struct pdet_ring_layout *layout,
		    const unsigned char *page)
{
	const bool big = layout->big_endian;
	const uint64_t commit = commit_of(layout, page);
	const uint64_t len = commit & LENGTH;
	const uint64_t room = layout->bytes - layout->data_at;

	r->at = r->end = page + layout->data_at;
	r->big_endian = big;
	r->ns = pdet_ring_number(page, 8, big);
	r->lost = commit & MISSED ? PDET_RING_LOST_UNKNOWN : 0;
	if (!pdet_ring_fits(layout, page))
		return -EBADMSG;
	r->end += len;
	/* The count stands behind the data, if it has room there. */
	if (commit & MISSED && commit & MISSED_STORED &&
	    room - len >= layout->commit_size)
		r->lost = pdet_ring_number(r->end, layout->commit_size, big);
	return 0;
}

static uint32_t word(const unsigned char *p, bool big_endian)
{
	return (uint32_t)pdet_ring_number(p, 4, big_endian);
}

/* The compiler makes two of it, in which nothing asks for the byte order. */
static inline __attribute__((always_inline)) int
next(struct pdet_ring *r, bool big_endian, const unsigned char **record,
     uint32_t *len)
{
	uint32_t head, type, more, bytes;
	uint64_t delta;

	for (;;) {
		const size_t left = (size_t)(r->end - r->at);

		if (left < 4)
			return 0;
		head = word(r->at, big_endian);
		/* Bit fields begin at the other end. */
		type = big_endian ? head >> DELTA_BITS : head & 31;
		delta = big_endian ? head & ((1u << DELTA_BITS) - 1) :
				     head >> 5;
		if (type && type <= TYPE_MOST_WORDS) {
			bytes = 4 * type;
			if (left < 4 + bytes)
				return -EBADMSG;
			r->ns += delta;
			*record = r->at + 4;
			*len = bytes;
			r->at += 4 + bytes;
			return 1;
		}
		if (type == TYPE_PADDING && !delta)
			return 0;
		if (left < 8)
			return -EBADMSG;
		more = word(r->at + 4, big_endian);
		if (type == TYPE_EXTEND || type == TYPE_STAMP) {
			delta += (uint64_t)more << DELTA_BITS;
			r->ns = type == TYPE_EXTEND ? r->ns + delta :
				(r->ns & STAMP_MISSING) | delta;
			r->at += 8;
			continue;
		}
		/* A length in the second word, which it includes. */
		if (more < 4 || more > left - 4)
			return -EBADMSG;
		bytes = ALIGN4(more);
		r->ns += delta;
		if (type) {	/* an event that was discarded */
			r->at += bytes < left - 4 ? 4 + bytes : left;
			continue;
		}
		*record = r->at + 8;
		*len = more - 4;
		r->at += bytes < left - 4 ? 4 + bytes : left;
		return 1;
	}
}

int pdet_ring_next(struct pdet_ring *r, const unsigned char **record,
		   uint32_t *len)
{
	return r->big_endian ? next(r, true, record, len) :
			       next(r, false, record, len);
}
