/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinding of kernel stacks on x86-64 by the tables that the kernel has for
 * itself (Documentation/arch/x86/orc-unwinder.rst, arch/x86/include/asm/
 * orc_types.h, arch/x86/kernel/unwind_orc.c).
 */
#ifndef PDET_KERNEL_ORC_H
#define PDET_KERNEL_ORC_H

#include "kernel/fields.h"
#include "kernel/modules.h"

/* One table: entry i is about addresses from ip i to ip i + 1. */
struct pdet_orc_table {
	uint64_t ips;		/* address of offsets, of 32 bits each */
	uint64_t entries;
	uint64_t n;
};

struct pdet_orc {
	struct pdet_orc_table kernel;
	const struct pdet_modules *modules; /* they have their own; or NULL */
	struct pdet_struct entry, module, regs;
	uint64_t size;		/* bytes of an entry */
	bool old;		/* numbers of types are those of before 6.4 */
};

/* pdet_orc_init - @kernel by the symbols __start_orc_unwind_ip and
 * __start_orc_unwind. False: types do not say enough. */
bool pdet_orc_init(struct pdet_orc *o, const struct pdet_btf *btf,
		   const struct pdet_orc_table *kernel,
		   const struct pdet_modules *modules);

/* Registers, as far as they are known. */
struct pdet_orc_state {
	uint64_t ip, sp, bp;
	uint64_t regs;		/* address of a whole pt_regs; 0: none */
	bool signal;		/* ip is where an interrupt came, not where a
				 * call goes back to */
};

/* pdet_orc_next - the frame that called. 1, 0 there is none: the stack ends, or
 * a result of memory/memory.h: -ENOENT nothing is known of this ip, -EBADMSG
 * it leads nowhere. */
int pdet_orc_next(struct pdet_space *space, const struct pdet_orc *o,
		  struct pdet_orc_state *s);

#endif
