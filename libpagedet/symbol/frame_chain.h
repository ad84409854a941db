/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds kernel stacks by frame pointers: a record has the caller's record and
 * the return address (arch/arm64/kernel/stacktrace.c,
 * arch/x86/kernel/unwind_frame.c). On arm64 it crosses exceptions and
 * interrupts, whose pt_regs has such a record, too.
 */
#ifndef PDET_SYMBOL_FRAME_CHAIN_H
#define PDET_SYMBOL_FRAME_CHAIN_H

#include "kernel/types/fields.h"

/* Largest and smallest size of a task's stack. */
#define PDET_STACK_BYTES ((uint64_t)64 << 10)
#define PDET_LEAST_STACK_BYTES ((uint64_t)16 << 10)

struct pdet_frame {
	uint64_t ip;
	enum pdet_frame_is {
		PDET_FRAME_CALL, /* ip is a return address */
		PDET_FRAME_AT,	/* ip is an instruction that was interrupted, or
				 * where a processor is */
		PDET_FRAME_GAP	/* no frame: the next one may be that of the
				 * caller, or of the caller's caller */
	} is;
};

/* The stack of a task. */
struct pdet_chain_stack {
	uint64_t at;		/* lowest address; 0: unknown */
	uint64_t bytes;		/* 0: unknown */
	bool own;		/* the chain is there, or was before an
				 * interrupt */
	unsigned left;		/* stacks that it has left, downwards */
};

/* pdet_chain_owns - whether that is in the task's own stack, for sure. */
bool pdet_chain_owns(const struct pdet_chain_stack *stack, uint64_t at);

struct pdet_frame_chain {
	const struct pdet_paging *paging;
	struct pdet_struct regs; /* pt_regs of arm64 */
	uint64_t regs_bytes;	/* 0: unknown */
};

void pdet_frame_chain_init(struct pdet_frame_chain *c,
			   const struct pdet_paging *paging,
			   const struct pdet_btf *btf);

struct pdet_chain_state {
	uint64_t ip, fp;
	uint64_t from;		/* records of callers are above */
	uint64_t lr;		/* of arm64, if @is is PDET_FRAME_AT */
	enum pdet_frame_is is;	/* what ip is */
	struct pdet_chain_stack stack;
};

/* pdet_chain_address - clear a pointer signature of arm64, which uses bits
 * outside the address. */
uint64_t pdet_chain_address(const struct pdet_paging *p, uint64_t v);

/*
 * pdet_chain_next - step to the caller of s->ip. A step may set s->is to
 * PDET_FRAME_GAP. Returns 1, 0 if the stack ends, or a result of
 * memory/memory.h. -EBADMSG: what follows is not a record.
 */
int pdet_chain_next(struct pdet_space *space, const struct pdet_frame_chain *c,
		    struct pdet_chain_state *s);

/*
 * --- arm64_link.c ---
 *
 * pdet_arm64_link - whether the function that has the instruction at @ip will
 * return to the link register @lr (an address without a signature), because it
 * has not made its own record yet, or has none. Returns 1 if so, 0 if its own
 * record is at the frame pointer, and -ENOENT if the code does not show it.
 */
int pdet_arm64_link(struct pdet_space *space, uint64_t ip, uint64_t lr);

#endif
