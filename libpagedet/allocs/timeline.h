/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The events of a trace that concern some page frames: allocations and frees of
 * blocks that have one of them, and of objects that lie in them.
 */
#ifndef PDET_ALLOCS_TIMELINE_H
#define PDET_ALLOCS_TIMELINE_H

#include "allocs/holes.h"
#include "allocs/keys.h"
#include "allocs/live.h"

/* The largest number of frames. */
#define PDET_TIMELINE_FRAMES ((uint64_t)1 << 26)
#define PDET_TIMELINE_NO_GROUP UINT32_MAX

struct pdet_timeline_row {
	uint64_t ns;
	uint64_t number;	/* in the order of all rows */
	uint64_t object;	/* address of the object, or first page frame
				 * number of the block */
	uint64_t bytes;		/* of an object, 0 not known; or events that
				 * were lost, UINT64_MAX not known */
	uint64_t lifetime;	/* ns, or PDET_LIFETIME_UNKNOWN */
	uint32_t group;		/* of the keys, or NO_GROUP */
	uint8_t kind;		/* PAGEDET_EVENT_* */
	uint8_t effect;		/* PAGEDET_EFFECT_* */
	uint8_t order;		/* of a block */
};

/* The first rows, or a ring of the last ones. */
struct pdet_timeline_list {
	struct pdet_timeline_row *data;
	size_t n, cap;
	size_t oldest;		/* index in the ring */
	uint64_t events;	/* rows that there were, without losses */
};

/* Set up by the caller: begins with frames; zeroed but for that. */
struct pdet_timeline {
	uint64_t first, frames;
	size_t most;		/* rows that are kept, at least 1 */
	bool keeps_first;	/* of more rows; else the last ones */
	bool has_addresses;	/* objects are looked for */
	uint64_t start, bytes;	/* addresses that the frames have */
	uint64_t direct, memory; /* all addresses that memory has; 0 bytes: not
				 * known */
	uint64_t outside;	/* events of objects elsewhere */
	uint64_t *since;	/* by frame: time of its allocation plus 1; 0:
				 * it is not known to be allocated */
	struct pdet_live_table objects;
	uint64_t reach;		/* the farthest that an object began before
				 * start, and reached it */
	uint64_t numbers;	/* rows so far */
	struct pdet_timeline_list of_pages, of_objects;
	uint64_t lost;		/* rows about losses */
	struct pdet_holes holes;
	bool has_pages;		/* the trace has events of pages at all */
	uint64_t unplaced;	/* events of objects, of which it is not known
				 * in which frame they are; known at the end */
	struct pdet_timeline_row *rows; /* the result */
	size_t n;
};

/* pdet_timeline_begin - frames and most are set. -ENOMEM. */
int pdet_timeline_begin(struct pdet_timeline *t);

/*
 * pdet_timeline_add - the add of a struct pdet_alloc_sink; @arg is a struct
 * pdet_timeline. -ENOMEM.
 */
int pdet_timeline_add(void *arg, struct pdet_alloc_keys *keys,
		      const struct pdet_kmem_event *const *e, size_t n);

/*
 * pdet_timeline_end - join the rows. @are_here: addresses of objects were those
 * of the frames; else the rows of objects are left out. -ENOMEM.
 */
int pdet_timeline_end(struct pdet_timeline *t, bool are_here);

void pdet_timeline_free(struct pdet_timeline *t);

#endif
