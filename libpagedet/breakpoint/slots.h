/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The breakpoints of the processors: perf events of the type
 * PERF_TYPE_BREAKPOINT, the same on each processor, or on one thread. They
 * cease with the process.
 */
#ifndef PDET_BREAKPOINT_SLOTS_H
#define PDET_BREAKPOINT_SLOTS_H

#include "breakpoint/plan.h"
#include "breakpoint/ring.h"

/* No processor has more. */
#define PDET_BP_SLOTS 16u

/* What a breakpoint reports. */
enum pdet_bp_kind {
	PDET_BP_ANY,		/* reads and writes, or reads only if the
				 * processor can */
	PDET_BP_WRITE
};

struct pdet_bp_slot {
	int fd;
	uint64_t id;
	uint64_t count;		/* hits, and */
	uint64_t ns;		/* time that it was on: up to the last look */
	uint64_t left;		/* hits until the kernel turns it off */
	uint64_t spare_ns;	/* time that gave no hit yet */
	uint64_t new_count, new_ns; /* since the look before */
	bool on, limited;	/* limited: the kernel turned it off */
};

struct pdet_bp_place {
	int cpu;		/* -1: a thread */
	unsigned char *map;
	struct pdet_bp_slot slot[PDET_BP_SLOTS];
};

struct pdet_bp_slots {
	struct pdet_bp_place *data;
	size_t n, cap;
	size_t each;		/* slots of each place */
	size_t per_piece;	/* 2: one of each kind; 1: of writes */
	size_t used;		/* of this turn */
	bool reads_alone;	/* PDET_BP_ANY is of reads only */
	bool first_only;	/* the machine tells one of two breakpoints */
	uint64_t rate;		/* hits a second of a slot, and at once */
	struct pdet_bp_seen seen;
};

/*
 * pdet_bp_slots_open - take as many slots as are free and the plan can use, and
 * share the plan among them. @tid: a thread; 0: all processors. The rest of @s
 * is zero but for per_piece and rate.
 */
int pdet_bp_slots_open(struct pdet_bp_slots *s, struct pdet_env *env,
		       struct pdet_bp_plan *plan, uint32_t tid);

/* pdet_bp_slots_close - give them back; also after a failure. */
void pdet_bp_slots_close(struct pdet_bp_slots *s);

/* pdet_bp_slots_begin - watch the pieces of a turn. */
int pdet_bp_slots_begin(struct pdet_bp_slots *s, struct pdet_env *env,
			const struct pdet_bp_plan *plan, size_t turn);

/* pdet_bp_slots_end - watch nothing. Looks, as the next one. */
void pdet_bp_slots_end(struct pdet_bp_slots *s);

/* pdet_bp_slots_look - set new_count, new_ns and limited. */
void pdet_bp_slots_look(struct pdet_bp_slots *s);

/*
 * pdet_bp_slots_allow - allow as many hits as the rate gives in @ns; turns on
 * again what the kernel has turned off.
 */
void pdet_bp_slots_allow(struct pdet_bp_slots *s, uint64_t ns);

/*
 * pdet_bp_slots_kind - what slot @i of a place is for. That of writes is first:
 * an emulator may tell only the first one that a write hits.
 */
static inline enum pdet_bp_kind
pdet_bp_slots_kind(const struct pdet_bp_slots *s, size_t i)
{
	return s->per_piece == 1 || i % 2 == 0 ? PDET_BP_WRITE : PDET_BP_ANY;
}

/*
 * pdet_bp_slots_take - visit the hits that place @i has in its ring. @slot of
 * the visit: its number there.
 */
void pdet_bp_slots_take(struct pdet_bp_slots *s, size_t i,
			void (*visit)(void *arg, size_t slot,
				      const struct pdet_bp_sample *sample),
			void *arg);

/*
 * pdet_bp_slots_grant - how many hits a slot may have more, so that it has what
 * @ns give, and never more than the rate. Sets *@spare_ns.
 */
uint64_t pdet_bp_slots_grant(uint64_t rate, uint64_t left, uint64_t ns,
			     uint64_t *spare_ns);

#endif
