/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The expressions by which tables of programs say where a value is. */
#ifndef PDET_UNWIND_DWARF_EXPRESSION_H
#define PDET_UNWIND_DWARF_EXPRESSION_H

#include "unwind/dwarf/frame_record.h"

/* What the thread has. Both return 0, or a negative errno that ends the
 * expression. */
struct pdet_values {
	int (*word)(void *arg, uint64_t addr, uint64_t *ret);
	int (*reg)(void *arg, uint64_t number, uint64_t *ret);
	void *arg;
	unsigned bytes;		/* of a word: 4 or 8 */
};

/*
 * pdet_expression - calculate one. It begins with *cfa; NULL: with nothing.
 * Returns 0, -EBADMSG if it is damaged, -ENOTSUP if it does what no table
 * needs, or what a function of @v returned.
 */
int pdet_expression(struct pdet_frame_rest code, const struct pdet_values *v,
		    const uint64_t *cfa, uint64_t *ret);

/*
 * pdet_expression_is_safe - whether libunwind may calculate it: it does no
 * division, which a machine may refuse, takes the values only of registers with
 * numbers below @registers (at most 32), is not the place of a register, and
 * jumps only forward to one of its own operations, so that it ends.
 */
bool pdet_expression_is_safe(struct pdet_frame_rest code, unsigned registers);

#endif
