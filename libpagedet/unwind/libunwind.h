/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds the stack of a thread of another process. Nothing is stopped: the
 * registers and the memory come from the caller.
 */
#ifndef PDET_UNWIND_LIBUNWIND_H
#define PDET_UNWIND_LIBUNWIND_H

#include "base/env.h"
#include "symbol/user_regs.h"
#include "unwind/debug_frame.h"
#include "unwind/dwarf/eh_frame.h"
#include "unwind/frame_rule.h"

/* The code of one file, and its table for unwinding. */
struct pdet_unwind_code {
	uint64_t first, end;	/* addresses that the table is about */
	uint64_t header;	/* address of .eh_frame_hdr; 0: there is none */
	/* In that case: an index, and the address of the file's address 0. */
	const struct pdet_eh_frame *frames;
	uint64_t base;
};

struct pdet_unwind_target {
	/* Reads all bytes. Returns 0, -ENOENT or -EFAULT: no memory was ever
	 * there, -ENXIO: it is not present, -ENODATA: it is not in the dump, or
	 * another negative errno. */
	int (*read)(void *arg, uint64_t addr, void *buf, size_t n);
	/* Finds the code at @ip. Returns 0, or -ENOENT: there is no table. */
	int (*code)(void *arg, uint64_t ip, struct pdet_unwind_code *ret);
	void *arg;
	/* Finds what else is known of the code at @ip, which the table lacks.
	 * It is valid until the next call. NULL: nothing. */
	const struct pdet_frame_pair *(*pair)(void *arg, uint64_t ip);
	/* Finds the rule for a frame that is at @ip, which is exact or a return
	 * address. It is what libunwind would find, and @ip is not where a
	 * signal handler returns to. It is valid until the next call. NULL:
	 * libunwind has to find it. */
	const struct pdet_frame_rule *(*rule)(void *arg, uint64_t ip,
					      bool exact);
};

struct pdet_unwind_step {
	uint64_t ip;
	bool signal;		/* the kernel put this frame there to deliver a
				 * signal */
	bool exact;		/* ip is not a return address, but that of an
				 * instruction that was interrupted */
	bool guessed;		/* the next frame is where the pair for this one
				 * leads, which may be wrong */
};

/* Why a stack ends at code whose pair is a guess, and the guess is wrong. */
#define PDET_UNWIND_ASTRAY \
	"the frame pointer of this code does not lead to its caller"

struct pdet_unwinder;

/* pdet_unwinder_new - load libunwind. Returns 0, or a negative errno with an
 * error text: -ENOSYS if it is not there. */
int pdet_unwinder_new(struct pdet_env *env, struct pdet_unwinder **ret);
void pdet_unwinder_free(struct pdet_unwinder *u);

/*
 * pdet_unwind - get at most @n frames, innermost first. Returns their number.
 * *end is NULL if the stack is complete, or the reason why the rest is not
 * known.
 */
size_t pdet_unwind(const struct pdet_unwinder *lib,
		   const struct pdet_unwind_target *t,
		   const struct pdet_user_regs *regs,
		   struct pdet_unwind_step *steps, size_t n, const char **end);

#endif
