/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The ring that the kernel writes what breakpoints hit into: records, each with
 * a head of its type and length (include/uapi/linux/perf_event.h).
 */
#ifndef PDET_BREAKPOINT_RING_H
#define PDET_BREAKPOINT_RING_H

#include "base/env.h"

/* One hit. */
struct pdet_bp_sample {
	uint64_t id;		/* of the event */
	uint64_t ip;		/* the instruction, or the one behind it */
	uint32_t pid, tid;
	uint64_t time;
};

/* What else was in the ring. */
struct pdet_bp_seen {
	uint64_t samples;
	uint64_t lost;		/* that had no room, as the kernel says */
	uint64_t broken;	/* times that the rest made no sense */
};

struct pdet_bp_ring {
	const unsigned char *data;
	uint64_t size;		/* a power of two */
};

/*
 * pdet_bp_ring_take - visit the samples from @tail to @head, and add to @seen.
 * A record that cannot be ends it: then the rest is not visited.
 */
void pdet_bp_ring_take(const struct pdet_bp_ring *r, uint64_t tail,
		       uint64_t head,
		       void (*visit)(void *arg, const struct pdet_bp_sample *s),
		       void *arg, struct pdet_bp_seen *seen);

#endif
