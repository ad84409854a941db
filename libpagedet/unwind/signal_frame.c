/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The stack pointer is at the struct ucontext of arch/x86, which has the
 * registers of the interrupted code.
 */
#include <string.h>

#include "unwind/frame_pair.h"
#include "unwind/signal_frame.h"

enum { DW_OP_deref = 0x06, DW_OP_breg_sp = 0x77 };

/* Offsets in struct ucontext, by numbers of DWARF: rax, rdx, rcx, rbx, rsi,
 * rdi, rbp, rsp, r8 ... r15, rip. */
static const uint8_t place[] = {
	144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96,
	168
};

#define SP 7

bool pdet_is_signal_return(const uint8_t code[PDET_SIGNAL_RETURN])
{
	static const uint8_t known[PDET_SIGNAL_RETURN] = {
		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, /* mov $15,%rax */
		0x0f, 0x05			/* syscall */
	};

	return !memcmp(code, known, sizeof(known));
}

/* An expression: where struct ucontext has a register. */
static void put_place(struct pdet_frame_pair *p, unsigned reg, bool value)
{
	pdet_pair_put(p, value ? 4 : 3);	/* bytes */
	pdet_pair_put(p, DW_OP_breg_sp);
	pdet_pair_put(p, 0x80 | (place[reg] & 0x7f));
	pdet_pair_put(p, place[reg] >> 7);
	if (value)
		pdet_pair_put(p, DW_OP_deref);
}

void pdet_signal_pair(uint64_t ip, struct pdet_frame_pair *ret)
{
	unsigned i;

	pdet_pair_begin(ret, true);
	pdet_pair_put(ret, DW_CFA_def_cfa_expression);
	put_place(ret, SP, true);
	for (i = 0; i < sizeof(place); i++) {
		if (i == SP)
			continue;
		pdet_pair_put(ret, DW_CFA_expression);
		pdet_pair_put(ret, i);
		put_place(ret, i, false);
	}
	pdet_pair_end(ret, ip);
}
