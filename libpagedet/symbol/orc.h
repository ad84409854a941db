/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds kernel stacks on x86-64 with the kernel's ORC tables
 * (Documentation/arch/x86/orc-unwinder.rst, arch/x86/include/asm/orc_types.h,
 * arch/x86/kernel/unwind_orc.c).
 */
#ifndef PDET_SYMBOL_ORC_H
#define PDET_SYMBOL_ORC_H

#include "kernel/types/fields.h"
#include "symbol/modules.h"

/* One table: entry i covers addresses from ip i to ip i + 1. */
#define PDET_ORC_VERSION 20

struct pdet_orc_table {
	uint64_t ips;		/* address of the 32-bit ip offsets */
	uint64_t entries;
	uint64_t n;
	/* The contents of __start_orc_header: a hash of the definitions that
	 * the kernel was built with (scripts/orc_hash.sh). Kernels before 6.5
	 * do not have it; then it is all zero. */
	uint8_t version[PDET_ORC_VERSION];
};

struct pdet_orc {
	struct pdet_orc_table kernel;
	const struct pdet_modules *modules; /* modules have their own tables; or
					     * NULL */
	struct pdet_struct entry, module, regs;
	uint64_t size;		/* size of an entry */
	const uint8_t *registers; /* our number of each of the kernel's */
	bool old;		/* type numbers are those before 6.4 */
};

/*
 * pdet_orc_is_known - whether this version of libpagedet knows the register
 * numbers that the table uses, because types do not show them.
 */
bool pdet_orc_is_known(const struct pdet_orc_table *kernel);

/* pdet_orc_init - @kernel comes from the symbols __start_orc_unwind_ip and
 * __start_orc_unwind. Returns false if the types lack something that is
 * needed. */
bool pdet_orc_init(struct pdet_orc *o, const struct pdet_btf *btf,
		   const struct pdet_orc_table *kernel,
		   const struct pdet_modules *modules);

/* The registers that are known. */
struct pdet_orc_state {
	uint64_t ip, sp, bp;
	uint64_t regs;		/* address of a complete pt_regs; 0: none */
	bool signal;		/* ip is the address of an interrupted
				 * instruction, not a return address */
	unsigned left;		/* stacks that were left for a lower one */
};

/* pdet_orc_next - step to the caller's frame. Returns 1, 0 if the stack ends,
 * or a result of memory/memory.h. -ENOENT: the table has no entry for this ip;
 * -EBADMSG: the result is not a valid frame. */
int pdet_orc_next(struct pdet_space *space, const struct pdet_orc *o,
		  struct pdet_orc_state *s);

#endif
