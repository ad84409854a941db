/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * How a frame of ordinary code leads to its caller's: what the table of the
 * file says of one instruction. It is the same for all threads.
 */
#ifndef PDET_UNWIND_FRAME_RULE_H
#define PDET_UNWIND_FRAME_RULE_H

#include "symbol/user_regs.h"
#include "unwind/dwarf/eh_search.h"

/* Where the caller's value of a register is. */
enum { PDET_RULE_SAME, PDET_RULE_UNKNOWN, PDET_RULE_STORED };

/* The CFA (DWARF, "Call Frame Information") is the caller's stack pointer. */
struct pdet_frame_rule {
	int32_t cfa;		/* less the value of the register */
	uint8_t cfa_reg;
	uint8_t is[PDET_USER_REGS]; /* PDET_RULE_* */
	int32_t at[PDET_USER_REGS]; /* of a stored one, less the CFA */
};

/*
 * pdet_frame_rule_get - find the rule for the instruction at @ip, in the table
 * whose .eh_frame_hdr is at @header. *fde is the address of the function's
 * record, which is read into *pair. False: there is none, or it is not as
 * simple as that.
 */
bool pdet_frame_rule_get(const struct pdet_eh_memory *m, uint64_t header,
			 uint64_t ip, struct pdet_frame_pair *pair,
			 struct pdet_frame_rule *ret, uint64_t *fde);

/* The registers of a frame, as far as they are known. */
struct pdet_rule_frame {
	uint64_t value[PDET_USER_REGS];	/* or where that is */
	uint8_t is[PDET_USER_REGS];	/* PDET_RULE_* */
};

/* pdet_frame_rule_apply - step to the caller: sets *ip to its address, 0 if
 * there is none, and *sp to its stack pointer. False: something cannot be
 * read, or is not known. */
bool pdet_frame_rule_apply(const struct pdet_frame_rule *rule,
			   const struct pdet_eh_memory *m,
			   struct pdet_rule_frame *f, uint64_t *ip,
			   uint64_t *sp);

#endif
