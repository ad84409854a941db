/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the registers that a thread had when it entered the kernel. They are a
 * struct pt_regs at the top of its kernel stack (arch/x86/entry/entry_64.S,
 * asm/processor.h: task_pt_regs). A dump also has those of processors that were
 * in user mode.
 */
#ifndef PDET_SYMBOL_USER_REGS_H
#define PDET_SYMBOL_USER_REGS_H

#include "symbol/task_stack.h"

/* By the numbers that DWARF gives to the registers of x86-64, also those of
 * 32-bit code. */
enum { PDET_USER_BP = 6, PDET_USER_SP = 7, PDET_USER_IP = 16, PDET_USER_REGS };

/* Those of arm64: x0 to x30, and what has no number there. */
enum { PDET_ARM64_FP = 29, PDET_ARM64_LR, PDET_ARM64_SP, PDET_ARM64_PC,
       PDET_ARM64_REGS };

struct pdet_user_regs {
	uint64_t reg[PDET_ARM64_REGS];
	uint64_t switches;	/* if these are the same later, the thread has
				 * not run meanwhile */
	bool stopped;		/* the thread was, for them */
	bool compat;		/* it runs 32-bit code of x86 */
	bool arm64;		/* it runs code of arm64, and has those */
	uint8_t address_bits;	/* of arm64: in the bits above, an address may
				 * have a signature */
};

/*
 * pdet_user_regs - read those of the task_struct at @task, which has an address
 * space. Returns 0, -EAGAIN if it runs, unless a dump proves which registers
 * are its own, -ENODATA if the size of its kernel stack or of its registers is
 * not known, -EBADMSG if there are no registers, -ENOTSUP if it runs 32-bit
 * code of arm64, or a result of memory/memory.h.
 */
int pdet_user_regs(struct pdet_space *space, const struct pdet_task_stacks *t,
		   uint64_t task, struct pdet_user_regs *ret);

#endif
