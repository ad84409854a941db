/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What was seen of the words of objects, and how that becomes a KMAP. */
#ifndef PDET_BREAKPOINT_WRITE_H
#define PDET_BREAKPOINT_WRITE_H

#include "breakpoint/hits.h"
#include "kernel/object/slab.h"

/* A range of bytes to watch. */
struct pdet_bp_object {
	uint64_t address, bytes;
	char cache[PDET_SLAB_NAME]; /* its slab cache; "" none, or not known */
	bool is_data;		/* a variable of the kernel */
	unsigned state;		/* PAGEDET_OBJECT_*, or 0: not known, and */
	unsigned why;		/* a PAGEDET_* state */
};

/* --- turns.c --- */
/* How a piece was watched. */
struct pdet_bp_turns {
	uint64_t windows;	/* 0: it never had a turn, and is not written */
	uint64_t ns, limited;
	uint64_t turn_ns, turn_hits; /* of the turn that goes on */
};

/* pdet_bp_turns_add - a piece was watched for @ns more of its turn. */
void pdet_bp_turns_add(struct pdet_bp_turns *t, uint64_t ns, uint64_t hits,
		       bool limited);

/*
 * pdet_bp_turns_end - count the turn. One that took no time and had no hit is
 * none; a thread, @may_sleep, may have slept all the time.
 */
void pdet_bp_turns_end(struct pdet_bp_turns *t, bool may_sleep);

/* --- write.c --- */
/* What was seen of words. */
struct pdet_bp_text {
	const struct pdet_bp_object *objects;
	const struct pdet_bp_turns *turns; /* of each piece */
	const struct pdet_bp_plan *plan;
	const struct pdet_bp_hits *hits;
};

/* pdet_bp_write - write a KMAP whose objects are the words. */
int pdet_bp_write(struct pdet_env *env, int fd, const struct pdet_bp_text *t);

#endif
