/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Sums the RSS counters of a process. There are four, and three of them count
 * resident pages. Until 6.1 each counter is one number. Since 6.2
 * (f1a7941243c1) it is a number plus a delta for each processor.
 */
#include <errno.h>
#include <string.h>

#include "kernel/object/rss.h"

/* include/linux/mm_types_task.h: MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS,
 * MM_SHMEMPAGES */
#define COUNTERS 4
#define SWAPENTS 2
#define MOST_BYTES 1024

static const pdet_field_names mm_names[] = { { "mm_struct.rss_stat" } };

enum { COUNT, COUNTERS_AT, COUNTER_FIELDS };

static const pdet_field_names counter_names[COUNTER_FIELDS] = {
	[COUNT] = { "percpu_counter.count" },
	[COUNTERS_AT] = { "percpu_counter.counters" },
};

static uint32_t one(const struct pdet_rss *r)
{
	return r->mm.field[0].size / COUNTERS;
}

bool pdet_rss_init(struct pdet_rss *r, const struct pdet_btf *btf,
		   const struct pdet_percpu *percpu)
{
	unsigned i;

	memset(r, 0, sizeof(*r));
	pdet_struct_find(&r->mm, btf, mm_names, 1);
	pdet_struct_find(&r->counter, btf, counter_names, COUNTER_FIELDS);
	r->percpu = percpu;
	if (!pdet_struct_has(&r->mm, 0) || one(r) < 8 ||
	    r->mm.field[0].size > MOST_BYTES ||
	    r->mm.field[0].size % COUNTERS)
		return false;
	if (one(r) == 8)
		return true;
	for (i = 0; i < COUNTER_FIELDS; i++)
		if (!pdet_struct_has(&r->counter, i) ||
		    (uint32_t)r->counter.field[i].at + 8 > one(r))
			return false;
	return percpu->n;
}

/* Add the per-CPU deltas of a counter. */
static int add_percpu(struct pdet_space *space, const struct pdet_percpu *p,
		      uint64_t counters, int64_t *sum)
{
	uint32_t cpu, v;
	int r = 0;

	/* The counters of an exiting mm_struct are already freed. */
	for (cpu = 0; counters && r == 0 && cpu < p->n; cpu++) {
		r = pdet_space_u32(space, counters + p->offset[cpu], &v);
		if (r == 0)
			*sum += (int32_t)v;
	}
	return r == -ENOENT ? -EBADMSG : r;
}

int pdet_rss_read(struct pdet_space *space, const struct pdet_rss *r,
		  uint64_t mm, uint64_t *ret)
{
	const uint32_t size = one(r);
	char bytes[MOST_BYTES];
	uint64_t counters;
	int64_t sum = 0, v;
	unsigned i;
	int error;

	error = pdet_space_read(space, pdet_struct_addr(&r->mm, mm, 0), bytes,
				(size_t)size * COUNTERS);
	for (i = 0; error == 0 && i < COUNTERS; i++) {
		const char *at = bytes + (size_t)size * i;

		if (i == SWAPENTS)
			continue;
		if (size > 8)
			at += r->counter.field[COUNT].at;
		memcpy(&v, at, sizeof(v));
		/* More pages than any machine has: damage. */
		if (v > (int64_t)1 << 52 || v < -((int64_t)1 << 52))
			return -EBADMSG;
		sum += v;
		if (size == 8)
			continue;
		memcpy(&counters, bytes + (size_t)size * i +
		       r->counter.field[COUNTERS_AT].at, sizeof(counters));
		error = add_percpu(space, r->percpu, counters, &sum);
	}
	if (error < 0)
		return error == -ENOENT ? -EBADMSG : error;
	*ret = sum > 0 ? (uint64_t)sum : 0;
	return 0;
}
