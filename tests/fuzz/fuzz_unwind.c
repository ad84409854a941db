/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes unwinding of user stacks in any memory. The input has the offsets of
 * the instruction and of the stack, of two bytes each; then the memory, which
 * is code and begins with the table for it. It is the .debug_frame of the code,
 * too, for functions that the table lacks. The same memory is that of 64-bit
 * and of 32-bit code.
 */
#include <errno.h>

#include "fuzz.h"
#include "unwind/by_table.h"

#define BASE 0x10000000ull
#define FRAMES 32

struct memory {
	struct fuzz_file in;
	struct pdet_debug_frame frames;
	struct pdet_frame_pair pair, read;
	struct pdet_frame_rule rule;
};

static int read_bytes(void *arg, uint64_t addr, void *buf, size_t n)
{
	struct memory *m = arg;

	return addr >= BASE && fuzz_read_at(&m->in, buf, n, addr - BASE) ==
	       (ssize_t)n ? 0 : -EIO;
}

static int find_code(void *arg, uint64_t ip, struct pdet_unwind_code *ret)
{
	const struct memory *m = arg;
	const uint8_t *bytes = m->in.data;

	*ret = (struct pdet_unwind_code){
		.first = BASE, .end = BASE + m->in.size, .header = BASE
	};
	/* A .debug_frame begins with another length. */
	return ip >= BASE && ip - BASE < m->in.size && *bytes == 1 ? 0 :
	       -ENOENT;
}

static const struct pdet_frame_pair *find_pair(void *arg, uint64_t ip)
{
	struct memory *m = arg;

	if (!pdet_debug_frame_get(&m->frames, ip - BASE, BASE, &m->pair))
		return NULL;
	MUST(m->pair.n <= sizeof(m->pair.bytes));
	MUST(m->pair.fde < m->pair.n);
	return &m->pair;
}

static const struct pdet_frame_rule *find_rule(void *arg, uint64_t ip,
					       bool exact)
{
	struct memory *m = arg;
	const struct pdet_eh_memory memory = { read_bytes, m };
	uint64_t fde;

	if (!pdet_frame_rule_get(&memory, BASE, ip - !exact, &m->read,
				 &m->rule, &fde))
		return NULL;
	MUST(m->rule.cfa_reg < PDET_USER_IP);
	return &m->rule;
}

static size_t unwind(const struct pdet_unwind_target *t,
		     const struct pdet_user_regs *regs,
		     struct pdet_unwind_step *steps, const char **end)
{
	static struct pdet_unwinder *unwinder;
	static bool tried;
	struct pdet_env env = { .root = NULL };

	if (regs->compat || regs->arm64)
		return pdet_table_unwind(t, regs, steps, FRAMES, end);
	if (!tried && pdet_unwinder_new(&env, &unwinder) < 0)
		unwinder = NULL;
	tried = true;
	*end = "libunwind is not there";
	return unwinder ? pdet_unwind(unwinder, t, regs, steps, FRAMES, end) :
			  0;
}

static void check(struct memory *m, const struct pdet_user_regs *regs)
{
	const struct pdet_unwind_target t = {
		read_bytes, find_code, m, find_pair, find_rule
	};
	struct pdet_unwind_step steps[FRAMES];
	const char *end;
	size_t n;

	m->frames = (struct pdet_debug_frame){
		malloc(m->in.size + 1), m->in.size, regs->compat, NULL, 0
	};
	MUST(m->frames.bytes);
	memcpy(m->frames.bytes, m->in.data, m->in.size);
	MUST(pdet_debug_frame_index(&m->frames) == 0);
	n = unwind(&t, regs, steps, &end);
	MUST(n <= FRAMES);
	MUST(n || end);
	pdet_debug_frame_free(&m->frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_user_regs regs = { .compat = false };
	static struct memory m;

	regs.reg[PDET_USER_IP] = BASE + fuzz_number(&data, &size, 2);
	regs.reg[PDET_USER_SP] = BASE + fuzz_number(&data, &size, 2);
	regs.reg[PDET_USER_BP] = regs.reg[PDET_USER_SP];
	m.in = (struct fuzz_file){ data, size };
	check(&m, &regs);
	regs.compat = true;
	check(&m, &regs);
	regs.compat = false;
	regs.arm64 = true;
	regs.address_bits = 48;
	regs.reg[PDET_ARM64_FP] = regs.reg[PDET_USER_BP];
	regs.reg[PDET_ARM64_SP] = regs.reg[PDET_USER_SP];
	regs.reg[PDET_ARM64_LR] = regs.reg[PDET_USER_IP] + 8;
	regs.reg[PDET_ARM64_PC] = regs.reg[PDET_USER_IP];
	check(&m, &regs);
	return 0;
}
