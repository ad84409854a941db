/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Values of eight bytes each come first; then those of variable length. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/env.h"
#include "trace/ring.h"
#include "trace/perf/sample.h"

/* Members of struct perf_event_attr. */
#define ATTR_TYPE 0
#define ATTR_PERIOD 16
#define ATTR_SAMPLE_TYPE 24
#define ATTR_READ_FORMAT 32
#define ATTR_FLAGS 40
#define ATTR_LEAST 48
#define FLAG_FREQ 10
#define FLAG_SAMPLE_ID_ALL 18

/* Values of eight bytes, in their order in a sample. */
static const struct {
	uint64_t has;
	size_t to;
} values[] = {
#define NOWHERE SIZE_MAX
#define TO(member) offsetof(struct pdet_sample_layout, member)
	{ PERF_SAMPLE_IDENTIFIER, TO(id) },
	{ PERF_SAMPLE_IP, NOWHERE },
	{ PERF_SAMPLE_TID, TO(tid) },
	{ PERF_SAMPLE_TIME, TO(ns) },
	{ PERF_SAMPLE_ADDR, NOWHERE },
	{ PERF_SAMPLE_ID, TO(id) },
	{ PERF_SAMPLE_STREAM_ID, NOWHERE },
	{ PERF_SAMPLE_CPU, TO(cpu) },
	{ PERF_SAMPLE_PERIOD, NOWHERE },
}, trailer[] = { /* the last one first */
	{ PERF_SAMPLE_IDENTIFIER, TO(end_id) },
	{ PERF_SAMPLE_CPU, TO(end_cpu) },
	{ PERF_SAMPLE_STREAM_ID, NOWHERE },
	{ PERF_SAMPLE_ID, TO(end_id) },
	{ PERF_SAMPLE_TIME, TO(end_ns) },
};

static void set(struct pdet_sample_layout *l, size_t to, uint16_t offset)
{
	uint16_t *place;

	if (to == NOWHERE)
		return;
	place = (uint16_t *)((char *)l + to);
	if (!*place)
		*place = offset;
}

/* Bit fields begin at the other end. */
static bool flag(uint64_t flags, unsigned bit, bool big_endian)
{
	return flags >> (big_endian ? 63 - bit : bit) & 1;
}

int pdet_sample_learn(struct pdet_sample_layout *l, const unsigned char *attr,
		      size_t n, bool big_endian)
{
	uint64_t flags;
	size_t i;

	if (n < ATTR_LEAST)
		return -EBADMSG;
	memset(l, 0, sizeof(*l));
	l->has = pdet_ring_number(attr + ATTR_SAMPLE_TYPE, 8, big_endian);
	l->read_format = pdet_ring_number(attr + ATTR_READ_FORMAT, 8,
					  big_endian);
	flags = pdet_ring_number(attr + ATTR_FLAGS, 8, big_endian);
	l->is_tracepoint = pdet_ring_number(attr + ATTR_TYPE, 4, big_endian) ==
			   PERF_TYPE_TRACEPOINT;
	l->every = !flag(flags, FLAG_FREQ, big_endian) &&
		   pdet_ring_number(attr + ATTR_PERIOD, 8, big_endian) <= 1;
	l->fixed = 8;
	for (i = 0; i < PDET_COUNT(values); i++) {
		if (!(l->has & values[i].has))
			continue;
		set(l, values[i].to, l->fixed);
		l->fixed += 8;
	}
	if (flag(flags, FLAG_SAMPLE_ID_ALL, big_endian)) {
		uint16_t before = 0;

		for (i = 0; i < PDET_COUNT(trailer); i++)
			if (l->has & trailer[i].has) {
				before += 8;
				set(l, trailer[i].to, before);
			}
	}
	return 0;
}

struct rest {
	const unsigned char *at, *end;
	bool big_endian;
};

/* False: there are less than @n numbers of eight bytes. */
static bool skip(struct rest *r, uint64_t n)
{
	if (n > (uint64_t)(r->end - r->at) / 8)
		return false;
	r->at += 8 * n;
	return true;
}

static bool number(struct rest *r, unsigned size, uint64_t *ret)
{
	if ((size_t)(r->end - r->at) < size)
		return false;
	*ret = pdet_ring_number(r->at, size, r->big_endian);
	r->at += size;
	return true;
}

/* Values of counters. */
static bool skip_read(struct rest *r, uint64_t format)
{
	const uint64_t times =
		!!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		!!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	/* PERF_FORMAT_LOST is 16, since Linux 6.0. */
	const uint64_t each = 1u + !!(format & PERF_FORMAT_ID) +
			      !!(format & 16);
	uint64_t n = 1;

	if (format & PERF_FORMAT_GROUP && !number(r, 8, &n))
		return false;
	return skip(r, times) && n <= UINT16_MAX && skip(r, n * each);
}

int pdet_sample_read(const struct pdet_sample_layout *l,
		     const unsigned char *record, uint32_t size,
		     bool big_endian, struct pdet_sample *ret)
{
	struct rest r = { record + l->fixed, record + size, big_endian };
	uint64_t n;

	if (size < l->fixed)
		return -EBADMSG;
	ret->ns = l->ns ? pdet_ring_number(record + l->ns, 8, big_endian) : 0;
	ret->tid = l->tid ? (int32_t)pdet_ring_number(record + l->tid + 4, 4,
						      big_endian) : -1;
	ret->cpu = l->cpu ? (uint16_t)pdet_ring_number(record + l->cpu, 4,
						       big_endian) : 0;
	ret->raw = ret->chain = NULL;
	if (l->has & PERF_SAMPLE_READ && !skip_read(&r, l->read_format))
		return -EBADMSG;
	if (l->has & PERF_SAMPLE_CALLCHAIN) {
		if (!number(&r, 8, &n))
			return -EBADMSG;
		ret->chain = r.at;
		ret->n_chain = (uint32_t)PDET_MIN(n, UINT32_MAX);
		if (!skip(&r, n))
			return -EBADMSG;
	}
	if (!(l->has & PERF_SAMPLE_RAW))
		return 0;
	if (!number(&r, 4, &n) || n > (uint64_t)(r.end - r.at))
		return -EBADMSG;
	ret->raw = r.at;
	ret->raw_len = (uint32_t)n;
	return 0;
}

size_t pdet_sample_frames(const struct pdet_sample *s, bool big_endian,
			  uint64_t *ret)
{
	bool is_kernel = false;
	uint64_t frame;
	size_t n = 0;
	uint32_t i;

	for (i = 0; s->chain && i < s->n_chain; i++) {
		frame = pdet_ring_number(s->chain + 8 * (size_t)i, 8,
					 big_endian);
		/*
		 * A mark says of whom the next ones are. What follows that of
		 * user space is its own, and may look like a mark.
		 */
		if (frame == (uint64_t)PERF_CONTEXT_USER)
			break;
		if (frame >= (uint64_t)PERF_CONTEXT_MAX)
			is_kernel = frame == (uint64_t)PERF_CONTEXT_KERNEL;
		else if (is_kernel && n < PDET_SAMPLE_FRAMES)
			ret[n++] = frame;
	}
	return n;
}
