/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes unwinding of user stacks in any memory. The input has the offsets of
 * the instruction and of the stack, of two bytes each; then the memory, which
 * is code and begins with the table for it.
 */
#include <errno.h>

#include "fuzz.h"
#include "unwind/libunwind.h"

#define BASE 0x10000000ull
#define FRAMES 32

static int read_bytes(void *arg, uint64_t addr, void *buf, size_t n)
{
	return addr >= BASE && fuzz_read_at(arg, buf, n, addr - BASE) ==
	       (ssize_t)n ? 0 : -EIO;
}

static int find_code(void *arg, uint64_t ip, struct pdet_unwind_code *ret)
{
	const struct fuzz_file *in = arg;

	*ret = (struct pdet_unwind_code){
		.first = BASE, .end = BASE + in->size, .header = BASE
	};
	return ip >= BASE && ip - BASE < in->size ? 0 : -ENOENT;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pdet_unwinder *unwinder;
	static bool tried;
	struct pdet_env env = { .root = NULL };
	struct pdet_unwind_step steps[FRAMES];
	struct pdet_user_regs regs = { 0 };
	struct fuzz_file in;
	const struct pdet_unwind_target t = { read_bytes, find_code, &in };
	const char *end;
	size_t n;

	if (!tried && pdet_unwinder_new(&env, &unwinder) < 0)
		unwinder = NULL;
	tried = true;
	if (!unwinder)
		return 0;
	regs.reg[PDET_USER_IP] = BASE + fuzz_number(&data, &size, 2);
	regs.reg[PDET_USER_SP] = BASE + fuzz_number(&data, &size, 2);
	regs.reg[PDET_USER_BP] = regs.reg[PDET_USER_SP];
	in = (struct fuzz_file){ data, size };
	n = pdet_unwind(unwinder, &t, &regs, steps, FRAMES, &end);
	MUST(n <= FRAMES);
	MUST(n || end);
	return 0;
}
