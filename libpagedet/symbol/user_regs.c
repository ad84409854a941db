/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the pt_regs of an entry from user code. Kernels with CONFIG_X86_FRED
 * leave 16 bytes above it (6.9). The selectors and the interrupt flag show
 * which of both places it is: in the other one, flags are where the stack's
 * selector would be.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "symbol/user_regs.h"

/* Words of struct pt_regs (arch/x86/include/uapi/asm/ptrace.h). */
enum { R15, R14, R13, R12, BP, BX, R11, R10, R9, R8, AX, CX, DX, SI, DI,
       ORIG_AX, IP, CS, FLAGS, SP, SS, WORDS };
_Static_assert((int)WORDS == (int)PDET_X86_WORDS, "notes have this order");

/* Selectors of user code (arch/x86/include/asm/segment.h). FRED uses the bits
 * above them. */
#define SELECTOR 0xffff
#define USER_CS 0x33
#define USER32_CS 0x23
#define USER_DS 0x2b
#define FLAG_IF 0x200

#define USER_END ((uint64_t)1 << 56)

static const uint64_t above[] = { 0, 16 };

static bool is_entry(const uint64_t w[WORDS])
{
	const uint64_t cs = w[CS] & SELECTOR;

	return (cs == USER_CS || cs == USER32_CS) &&
	       (w[SS] & SELECTOR) == USER_DS && w[FLAGS] & FLAG_IF &&
	       w[IP] < USER_END && w[SP] < USER_END;
}

/* Returns -EBADMSG if they are not registers of user code. */
static int use(const uint64_t w[WORDS], struct pdet_user_regs *ret)
{
	static const uint8_t word[PDET_USER_REGS] = {
		AX, DX, CX, BX, SI, DI, BP, SP, R8, R9, R10, R11, R12, R13,
		R14, R15, IP
	};
	unsigned i;

	if (!is_entry(w))
		return -EBADMSG;
	for (i = 0; i < PDET_USER_REGS; i++)
		ret->reg[i] = w[word[i]];
	ret->compat = (w[CS] & SELECTOR) == USER32_CS;
	return 0;
}

/* --- arm64 --- */

/* The mode of the processor, and the interrupts that it does not take: user
 * code has none of these bits (arch/arm64/include/uapi/asm/ptrace.h). */
enum { PSTATE = PDET_ARM64_REGS };
_Static_assert((int)PSTATE + 1 == (int)PDET_ARM64_WORDS, "it is the last one");
#define MODE 0x0f
#define MODE_32 0x10
#define MASKED 0x3c0
/* In 32-bit code the upper one says that data is big-endian. */
#define MASKED_32 0x1c0

static int use_arm64(const struct pdet_task_stacks *t,
		     const uint64_t w[PDET_ARM64_WORDS],
		     struct pdet_user_regs *ret)
{
	const unsigned bits = t->paging->va_bits;
	const bool narrow = w[PSTATE] & MODE_32;

	if (w[PSTATE] & (MODE | (narrow ? MASKED_32 : MASKED)))
		return -EBADMSG;
	if (narrow)
		return -ENOTSUP;
	if (w[PDET_ARM64_PC] >> bits || w[PDET_ARM64_SP] >> bits)
		return -EBADMSG;
	memcpy(ret->reg, w, sizeof(ret->reg));
	ret->arm64 = true;
	ret->address_bits = (uint8_t)bits;
	return 0;
}

/* Its size differs from kernel to kernel, and it begins with user_pt_regs. */
static int read_arm64(struct pdet_space *space,
		      const struct pdet_task_stacks *t,
		      const struct pdet_task_rest *rest,
		      struct pdet_user_regs *ret)
{
	const uint64_t bytes = t->chain.regs_bytes;
	const uint64_t at = rest->stack + rest->bytes - bytes;
	uint64_t w[PDET_ARM64_WORDS];
	int r;

	if (!bytes)
		return -ENODATA;
	if (rest->sp > at)
		return -EAGAIN;
	r = pdet_space_read(space, at, w, sizeof(w));
	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	return use_arm64(t, w, ret);
}

/* Those of a processor of a dump. */
static int read_notes(const struct pdet_task_stacks *t, uint32_t cpu,
		      struct pdet_user_regs *ret)
{
	uint64_t w[PDET_ARM64_WORDS];

	if (t->paging->arch->machine == EM_AARCH64)
		return pdet_notes_arm64(t->cpus, cpu, w) ?
		       use_arm64(t, w, ret) : -EBADMSG;
	return pdet_notes_x86(t->cpus, cpu, w) ? use(w, ret) : -EBADMSG;
}

int pdet_user_regs(struct pdet_space *space, const struct pdet_task_stacks *t,
		   uint64_t task, struct pdet_user_regs *ret)
{
	struct pdet_task_rest rest;
	uint64_t w[WORDS], at;
	unsigned i;
	int r = pdet_task_rest(space, t, task, &rest);

	if (r < 0)
		return r;
	ret->switches = rest.switches;
	ret->compat = ret->arm64 = false;
	if (rest.user)
		return read_notes(t, rest.cpu, ret);
	if (!rest.bytes || !pdet_is_address(rest.stack))
		return rest.bytes ? -EBADMSG : -ENODATA;
	if (t->paging->arch->machine == EM_AARCH64)
		return read_arm64(space, t, &rest, ret);
	for (i = 0; i < PDET_COUNT(above); i++) {
		at = rest.stack + rest.bytes - above[i] - sizeof(w);
		/* The entry is not over, or the exit has begun. */
		if (rest.sp > at)
			return -EAGAIN;
		r = pdet_space_read(space, at, w, sizeof(w));
		if (r < 0)
			return r == -ENOENT ? -EBADMSG : r;
		r = use(w, ret);
		if (r != -EBADMSG)
			return r;
	}
	return -EBADMSG;
}
