/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Which pieces of memory breakpoints watch, and which of them together: there
 * are fewer slots than words of an object, so that they take turns.
 */
#ifndef PDET_BREAKPOINT_PLAN_H
#define PDET_BREAKPOINT_PLAN_H

#include "base/env.h"

/* Bytes of a piece at most, and of all pieces. */
#define PDET_BP_WORD 8u
#define PDET_BP_MOST_BYTES (1u << 16)

/* A breakpoint takes 1, 2, 4 or 8 bytes that are aligned. */
struct pdet_bp_piece {
	uint64_t address;
	uint32_t bytes;
	uint32_t object;	/* the range that it is of */
};

struct pdet_bp_plan {
	struct pdet_bp_piece *data;
	size_t n, cap;
	size_t together;	/* pieces of a turn */
};

/*
 * pdet_bp_plan_add - add a range of bytes, as pieces of object @object. Returns
 * 0, or a negative errno with an error text.
 */
int pdet_bp_plan_add(struct pdet_bp_plan *p, struct pdet_env *env,
		     uint64_t address, uint64_t bytes, uint32_t object);

/*
 * pdet_bp_plan_share - divide the pieces into turns. @slots: that are free;
 * @each: that a piece needs. False: they are too few for one piece.
 */
bool pdet_bp_plan_share(struct pdet_bp_plan *p, size_t slots, size_t each);

/* pdet_bp_plan_turns - how many turns a pass has. */
static inline size_t pdet_bp_plan_turns(const struct pdet_bp_plan *p)
{
	return (p->n + p->together - 1) / p->together;
}

void pdet_bp_plan_free(struct pdet_bp_plan *p);

#endif
