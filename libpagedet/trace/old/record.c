/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One record (kernel/trace/kmemtrace.c of Linux 2.6.35, struct
 * kmemtrace_user_event; mm/kmemtrace.c of the patches before). */
#include <errno.h>
#include <string.h>

#include "base/env.h"
#include "trace/line.h"
#include "trace/old/old.h"
#include "trace/ring.h"

enum { ID_ALLOC, ID_FREE, IDS };
enum { FAMILY_KMALLOC, FAMILY_CACHE, FAMILY_PAGES, FAMILIES };

#define HEAD 4u
/* A form must fit so many records, or all that there are. */
#define LOOK 32u
/* Between records, "CPU:0 [LOST 12 EVENTS]" and the end of the line. */
#define LOST "CPU:"
#define LOST_BYTES 64u

/* Bytes of a record without those that nobody knows. */
static uint32_t bytes_of(const struct pdet_old_form *f, unsigned id)
{
	const uint32_t head = HEAD + 4 + (f->relay ? 0 : 8) + 2u * f->word;

	return id == ID_FREE ? head : head + 2u * f->word + 8;
}

static uint64_t number(const struct pdet_old_form *f,
		       const unsigned char **at, unsigned size)
{
	const uint64_t v = pdet_ring_number(*at, size, f->big_endian);

	*at += size;
	return v;
}

static void take_alloc(const struct pdet_old_form *f, const unsigned char *at,
		       struct pdet_kmem_event *e)
{
	e->requested = number(f, &at, f->word);
	e->allocated = number(f, &at, f->word);
	e->gfp = number(f, &at, 4);
	e->node = (int32_t)number(f, &at, 4);
}

static unsigned kind_of(unsigned id, unsigned family)
{
	static const uint8_t kinds[FAMILIES][IDS] = {
		[FAMILY_KMALLOC] = { PDET_KMEM_KMALLOC, PDET_KMEM_KFREE },
		[FAMILY_CACHE] = { PDET_KMEM_CACHE_ALLOC,
				   PDET_KMEM_CACHE_FREE },
		[FAMILY_PAGES] = { PDET_KMEM_OTHER, PDET_KMEM_OTHER },
	};

	return kinds[family][id];
}

static bool is_lost(const unsigned char *bytes, size_t n)
{
	return n >= HEAD && !memcmp(bytes, LOST, HEAD);
}

/* What the tracer of Linux 2.6.35 writes in front of an event. */
static int take_lost(const unsigned char *bytes, size_t n,
		     struct pdet_kmem_event *e, struct pdet_old_record *ret)
{
	const char *const text = (const char *)bytes;
	const char *end = memchr(text, '\n', PDET_MIN(n, LOST_BYTES));
	struct pdet_trace_line line;

	ret->size = (uint32_t)n + 1;
	if (!end)
		return n < LOST_BYTES ? 0 : -EBADMSG;
	ret->size = (uint32_t)(end - text) + 1;
	if (pdet_trace_line((struct pdet_scan){ text, end }, &line) !=
	    PDET_TRACE_LINE_LOST)
		return -EBADMSG;
	*e = (struct pdet_kmem_event){
		.kind = PDET_KMEM_LOST, .cpu = line.event.cpu,
		.object = line.lost ? line.lost : UINT64_MAX };
	return 1;
}

int pdet_old_take(const struct pdet_old_form *f, const unsigned char *bytes,
		  size_t n, struct pdet_kmem_event *e,
		  struct pdet_old_record *ret)
{
	const unsigned char *at = bytes + HEAD;

	ret->size = HEAD;
	if (n < HEAD)
		return 0;
	if (!f->relay && is_lost(bytes, n))
		return take_lost(bytes, n, e, ret);
	ret->size = (uint32_t)pdet_ring_number(bytes + 2, 2, f->big_endian);
	if (bytes[0] >= IDS || bytes[1] >= FAMILIES ||
	    ret->size != bytes_of(f, bytes[0]) + f->extra)
		return -EBADMSG;
	if (n < ret->size)
		return 0;
	memset(e, 0, sizeof(*e));
	e->pid = -1;
	e->node = e->migratetype = PDET_KMEM_NO_NUMBER;
	e->gfp = PDET_KMEM_NO_GFP;
	e->kind = (uint8_t)kind_of(bytes[0], bytes[1]);
	if (f->relay) {
		ret->sequence = (uint32_t)number(f, &at, 4);
	} else {
		const uint64_t cpu = number(f, &at, 4);

		e->cpu = (uint16_t)cpu;
		e->ns = number(f, &at, 8);
		/* In a record of relay the address of the call is there. */
		if (cpu > UINT16_MAX || e->ns >> 63)
			return -EBADMSG;
	}
	e->site = number(f, &at, f->word);
	e->object = number(f, &at, f->word);
	if (bytes[0] == ID_ALLOC)
		take_alloc(f, at, e);
	return 1;
}

/* Whether all records there have this form. */
static bool fits(const struct pdet_old_form *f, const unsigned char *bytes,
		 size_t n)
{
	struct pdet_old_record record;
	struct pdet_kmem_event e;
	unsigned i;
	int r;

	for (i = 0; i < LOOK; i++) {
		r = pdet_old_take(f, bytes, n, &e, &record);
		if (r <= 0)
			return r == 0 && i;
		bytes += record.size;
		n -= record.size;
	}
	return true;
}

bool pdet_old_form(const unsigned char *bytes, size_t n, bool relay,
		   struct pdet_old_form *ret)
{
	static const uint8_t words[] = { 8, 4 };
	struct pdet_old_record lost;
	struct pdet_kmem_event e;
	unsigned endian, i, size, known;

	/* The first record tells the form. */
	while (!relay && is_lost(bytes, n) &&
	       take_lost(bytes, n, &e, &lost) > 0) {
		bytes += lost.size;
		n -= lost.size;
	}
	if (n < HEAD || bytes[0] >= IDS)
		return false;
	for (endian = 0; endian < 2; endian++)
		for (i = 0; i < (relay ? 1u : PDET_COUNT(words)); i++) {
			*ret = (struct pdet_old_form){
				.relay = relay, .big_endian = endian,
				.word = words[i] };
			size = (unsigned)pdet_ring_number(bytes + 2, 2, endian);
			known = bytes_of(ret, bytes[0]);
			if (size < known || size - known > UINT16_MAX / 2)
				continue;
			ret->extra = (uint16_t)(size - known);
			if (fits(ret, bytes, n))
				return true;
		}
	return false;
}
