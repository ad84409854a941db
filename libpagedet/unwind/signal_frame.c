/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The stack pointer is at the struct ucontext of arch/x86, which has the
 * registers of the interrupted code.
 */
#include <string.h>

#include "unwind/signal_frame.h"

enum { DW_CFA_def_cfa_expression = 0x0f, DW_CFA_expression = 0x10,
       DW_OP_deref = 0x06, DW_OP_breg_sp = 0x77 };

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

static void put1(struct pdet_frame_pair *p, unsigned v)
{
	p->bytes[p->n++] = (uint8_t)v;
}

static void put(struct pdet_frame_pair *p, const void *from, size_t n)
{
	memcpy(p->bytes + p->n, from, n);
	p->n += n;
}

/* An expression: where struct ucontext has a register. */
static void put_place(struct pdet_frame_pair *p, unsigned reg, bool value)
{
	put1(p, value ? 4 : 3);	/* bytes */
	put1(p, DW_OP_breg_sp);
	put1(p, 0x80 | (place[reg] & 0x7f));
	put1(p, place[reg] >> 7);
	if (value)
		put1(p, DW_OP_deref);
}

static void put_length(struct pdet_frame_pair *p, size_t start)
{
	const uint32_t n = (uint32_t)(p->n - start - sizeof(n));

	memcpy(p->bytes + start, &n, sizeof(n));
}

void pdet_signal_pair(uint64_t ip, struct pdet_frame_pair *ret)
{
	/* Version, units of code and data, register of the return address,
	 * addresses of eight bytes. */
	static const uint8_t cie[] = "\0\0\0\0\0\0\0\0\1zRS\0\1\x78\x10\1\4";
	const uint64_t bytes = 1;
	uint32_t back;
	unsigned i;

	ret->n = 0;
	put(ret, cie, sizeof(cie) - 1);
	put1(ret, DW_CFA_def_cfa_expression);
	put_place(ret, SP, true);
	for (i = 0; i < sizeof(place); i++) {
		if (i == SP)
			continue;
		put1(ret, DW_CFA_expression);
		put1(ret, i);
		put_place(ret, i, false);
	}
	put_length(ret, 0);
	ret->fde = ret->n;
	back = (uint32_t)ret->n + 4;
	put(ret, "\0\0\0", 4);
	put(ret, &back, sizeof(back));
	put(ret, &ip, sizeof(ip));
	put(ret, &bytes, sizeof(bytes));
	put(ret, "\0\0\0", 4);	/* no augmentation, no instructions */
	put_length(ret, ret->fde);
}
