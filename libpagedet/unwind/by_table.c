/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Follows tables alone, as libunwind.c does; it has the same limits and
 * reasons. A register that a function may change has no value in its caller,
 * unless a table says where it was saved.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/by_table.h"
#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/eh_search.h"
#include "unwind/dwarf/expression.h"
#include "unwind/unwind_end.h"

#define MOST_READS 100000
#define MOST_SIGNALS 16
#define BIT(n) ((uint64_t)1 << (n))

struct unwinding;

/* What code a handler of a signal returns to: that of x86 has two frames. */
enum frame { NO_FRAME, OLD_FRAME, RT_FRAME };

struct machine {
	unsigned word;		/* bytes of an address */
	unsigned regs, sp, ip;	/* numbers of registers */
	uint64_t kept;		/* a bit for each that calls keep */
	uint64_t lost;		/* and for each that a call has changed */
	bool signatures;	/* addresses may have one */
	bool believed;		/* its tables lead from a handler to what was
				 * interrupted */
	enum frame (*frame)(const struct pdet_unwind_target *t, uint64_t ip);
	/* Sets the registers that a frame has. */
	int (*leave)(struct unwinding *u, enum frame is);
};

struct unwinding {
	const struct pdet_unwind_target *target;
	const struct machine *machine;
	uint64_t reg[PDET_CFI_REGS];
	uint64_t known;		/* a bit for each register */
	unsigned address_bits;	/* as in struct pdet_user_regs */
	unsigned reads;
	const char *why;	/* the first failure; NULL: none */
	struct pdet_frame_pair own; /* records that were read */
};

/* Addresses wrap. */
static uint64_t wrap(const struct unwinding *u, uint64_t v)
{
	return u->machine->word == sizeof(uint32_t) ? (uint32_t)v : v;
}

static int refuse(struct unwinding *u, const char *why)
{
	if (!u->why)
		u->why = why;
	return -EINVAL;
}

static int refuse_table(struct unwinding *u, int error)
{
	return refuse(u, error == -ENOTSUP ? PDET_UNWIND_UNKNOWN_FORM :
					     PDET_UNWIND_DAMAGED_TABLE);
}

static int read_bytes(void *arg, uint64_t addr, void *buf, size_t n)
{
	struct unwinding *u = arg;
	int r;

	if (u->reads++ >= MOST_READS)
		return refuse(u, PDET_UNWIND_DAMAGED_TABLE);
	r = u->target->read(u->target->arg, wrap(u, addr), buf, n);
	return r < 0 ? refuse(u, pdet_unwind_unread(r)) : 0;
}

static int read_word(void *arg, uint64_t addr, uint64_t *ret)
{
	struct unwinding *u = arg;

	*ret = 0;
	return read_bytes(u, addr, ret, u->machine->word);
}

static int read_register(void *arg, uint64_t number, uint64_t *ret)
{
	struct unwinding *u = arg;

	if (number >= u->machine->regs || !(u->known & BIT(number)))
		return refuse(u, PDET_UNWIND_NO_REGISTER);
	*ret = u->reg[number];
	return 0;
}

/* --- the table --- */

static int search_index(const struct pdet_unwind_code *code, uint64_t ip,
			uint64_t *fde)
{
	const struct pdet_eh_entry *e =
		pdet_eh_frame_before(code->frames, (int32_t)(ip - code->base));

	*fde = code->base + (uint64_t)(int64_t)(e ? e->fde : 0);
	return e ? 0 : -ENOENT;
}

/* @at: the address of the process that has the FDE of the pair. */
static int row_of(struct unwinding *u, const struct pdet_frame_pair *p,
		  uint64_t at, uint64_t ip, struct pdet_cfi_row *ret)
{
	struct pdet_frame_rest cie, fde;
	int r;

	if (!pdet_frame_record(p->bytes, p->n, 0, &cie) ||
	    !pdet_frame_record(p->bytes, p->n, p->fde, &fde))
		return refuse_table(u, -EBADMSG);
	r = pdet_cfi_row(cie, fde, at + sizeof(uint32_t), ip, u->machine->word,
			 ret);
	return r == 0 || r == -ENOENT ? r : refuse_table(u, r);
}

/* By the table of the file. Returns -ENOENT if it lacks the code. */
static int find_in_table(struct unwinding *u, uint64_t ip,
			 struct pdet_cfi_row *ret)
{
	const struct pdet_eh_memory memory = { read_bytes, u };
	struct pdet_unwind_code code;
	uint64_t fde;
	int r = u->target->code(u->target->arg, ip, &code);

	if (r < 0)
		return -ENOENT;
	r = code.header ? pdet_eh_search(&memory, code.header, ip, &fde) :
			  search_index(&code, ip, &fde);
	if (r == -ENOENT)
		return r;
	if (r == 0)
		r = pdet_eh_records(&memory, fde, &u->own);
	return r < 0 ? refuse_table(u, r) : row_of(u, &u->own, fde, ip, ret);
}

/* Returns -ENOENT if nothing is known of the code. */
static int find_row(struct unwinding *u, uint64_t ip, struct pdet_cfi_row *ret)
{
	const struct pdet_frame_pair *p;
	int r = find_in_table(u, ip, ret);

	if (r != -ENOENT || !u->target->pair)
		return r;
	p = u->target->pair(u->target->arg, ip);
	/* Its addresses are not relative to where it is. */
	return p ? row_of(u, p, 0, ip, ret) : -ENOENT;
}

/* --- frames of signals --- */

static bool is_code(const struct pdet_unwind_target *t, uint64_t ip,
		    const uint8_t *bytes, size_t n)
{
	uint8_t code[8];

	return t->read(t->arg, ip, code, n) == 0 && !memcmp(code, bytes, n);
}

/* What a C library or the vdso has where a handler returns to: the first frame
 * of arch/x86/include/asm/sigframe.h is that of handlers without SA_SIGINFO. */
static enum frame frame_x86(const struct pdet_unwind_target *t, uint64_t ip)
{
	static const uint8_t old[] = { 0x58,	/* pop %eax */
		0xb8, 0x77, 0, 0, 0,		/* mov $119,%eax */
		0xcd, 0x80 };			/* int $0x80 */
	static const uint8_t rt[] = { 0xb8, 0xad, 0, 0, 0, 0xcd, 0x80 };

	return is_code(t, ip, rt, sizeof(rt)) ? RT_FRAME :
	       is_code(t, ip, old, sizeof(old)) ? OLD_FRAME : NO_FRAME;
}

/* Without a table: the words of struct sigcontext_32. */
static int leave_x86(struct unwinding *u, enum frame is)
{
	static const uint8_t place[PDET_X86_REGS] = {
		11, 10, 9, 8, 7, 6, 5, 4, 14
	};
	const uint64_t sp = u->reg[PDET_X86_SP];
	uint64_t at = sp + 4;
	uint32_t word[15];
	int r = 0;
	unsigned i;

	if (is == RT_FRAME) {
		/* After the number and a pointer: that to struct ucontext. */
		r = read_word(u, sp + 8, &at);
		at += 20;
	}
	if (r == 0)
		r = read_bytes(u, at, word, sizeof(word));
	for (i = 0; r == 0 && i < PDET_X86_REGS; i++)
		u->reg[i] = word[place[i]];
	return r;
}

/* Of the vdso, or of a C library. */
static enum frame frame_arm64(const struct pdet_unwind_target *t, uint64_t ip)
{
	static const uint8_t rt[] = { 0x68, 0x11, 0x80, 0xd2, /* mov x8, #139 */
		0x01, 0, 0, 0xd4 };			/* svc #0 */

	return is_code(t, ip, rt, sizeof(rt)) ? RT_FRAME : NO_FRAME;
}

/* struct rt_sigframe (arch/arm64/kernel/signal.c): siginfo has 128 bytes, and
 * of ucontext 176 are before struct sigcontext, and 8 of that. */
static int leave_arm64(struct unwinding *u, enum frame is)
{
	(void)is;
	return read_bytes(u, u->reg[PDET_ARM64_SP] + 128 + 176 + 8, u->reg,
			  PDET_ARM64_REGS * sizeof(*u->reg));
}

/* By the numbers that DWARF gives to the registers. */
static const struct machine x86 = {
	.word = 4, .regs = PDET_X86_REGS, .sp = PDET_X86_SP, .ip = PDET_X86_IP,
	.kept = BIT(PDET_X86_BX) | BIT(PDET_X86_BP) | BIT(PDET_X86_SI) |
		BIT(PDET_X86_DI),
	.believed = true, .frame = frame_x86, .leave = leave_x86,
};

/* A table of the vdso leads to the caller of what was interrupted. */
static const struct machine arm64 = {
	.word = 8, .regs = PDET_ARM64_REGS, .sp = PDET_ARM64_SP,
	.ip = PDET_ARM64_PC,
	.kept = BIT(PDET_ARM64_LR + 1) - BIT(19), .lost = BIT(PDET_ARM64_LR),
	.signatures = true, .frame = frame_arm64, .leave = leave_arm64,
};

static int leave_signal(struct unwinding *u, enum frame is)
{
	int r = u->machine->leave(u, is);

	u->known = BIT(u->machine->regs) - 1;
	return r;
}

/* --- steps --- */

static int find_cfa(struct unwinding *u, const struct pdet_values *v,
		    const struct pdet_cfi_row *row, uint64_t *ret)
{
	int r;

	switch (row->cfa.is) {
	case PDET_CFI_IS:
		r = read_register(u, row->cfa_register, ret);
		*ret = wrap(u, *ret + (uint64_t)row->cfa.n);
		return r;
	case PDET_CFI_IS_CODE:
		return pdet_expression(row->cfa.code, v, NULL, ret);
	default:
		return -EBADMSG;
	}
}

/* The value of a register in the caller. Returns 1 if it has none. */
static int find_value(struct unwinding *u, const struct pdet_values *v,
		      const struct pdet_cfi_rule *rule, unsigned reg,
		      uint64_t cfa, uint64_t *ret)
{
	const uint64_t bit = BIT(reg);
	int r = 0;

	switch (rule->is) {
	case PDET_CFI_NONE:
		*ret = reg == u->machine->sp ? cfa : u->reg[reg];
		return reg != u->machine->sp &&
		       !(u->machine->kept & u->known & bit);
	case PDET_CFI_SAME:
		*ret = u->reg[reg];
		return !(u->known & bit);
	case PDET_CFI_AT:
		return read_word(u, cfa + (uint64_t)rule->n, ret);
	case PDET_CFI_IS:
		*ret = wrap(u, cfa + (uint64_t)rule->n);
		return 0;
	case PDET_CFI_IN:
		return read_register(u, (uint64_t)rule->n, ret);
	case PDET_CFI_AT_CODE:
	case PDET_CFI_IS_CODE:
		r = pdet_expression(rule->code, v, &cfa, ret);
		return r == 0 && rule->is == PDET_CFI_AT_CODE ?
		       read_word(u, *ret, ret) : r;
	default:
		return 1;
	}
}

/* Goes to the return address, which may have a signature. */
static int go_back(struct unwinding *u, const struct pdet_cfi_row *row)
{
	const struct machine *m = u->machine;
	int r = read_register(u, row->ra, &u->reg[m->ip]);

	if (r == 0 && row->signature)
		u->reg[m->ip] &= BIT(u->address_bits) - 1;
	u->known = (u->known | BIT(m->ip)) & ~m->lost;
	return r == 0 ? read_register(u, m->sp, &u->reg[m->sp]) : r;
}

/* Sets the registers of the caller. Returns 1 if there is none. */
static int apply(struct unwinding *u, const struct pdet_cfi_row *row)
{
	const struct machine *m = u->machine;
	const struct pdet_values v = { read_word, read_register, u, m->word };
	uint64_t cfa = 0, value[PDET_CFI_REGS] = { 0 }, known = 0;
	unsigned i;
	int r = find_cfa(u, &v, row, &cfa);

	if (r == 0 && (row->ra >= m->regs ||
		       (row->signature && !m->signatures)))
		r = -ENOTSUP;
	if (r == 0 && row->reg[row->ra].is == PDET_CFI_UNDEFINED)
		return 1;
	for (i = 0; r >= 0 && i < m->regs; i++) {
		r = find_value(u, &v, &row->reg[i], i, cfa, &value[i]);
		known |= (uint64_t)(r == 0) << i;
	}
	if (r < 0)
		return refuse_table(u, r);
	memcpy(u->reg, value, sizeof(value));
	u->known = known;
	return go_back(u, row);
}

struct walk {
	struct pdet_unwind_step *steps;
	size_t n, most;
	unsigned signals;
	uint64_t sp;
	enum frame frame;	/* of the last step */
};

/* Of the frame that the registers are of. Returns 0, 1 at the end. */
static int take_frame(struct unwinding *u, struct walk *w)
{
	const bool after_signal = w->frame != NO_FRAME;
	const uint64_t ip = u->reg[u->machine->ip];
	const uint64_t sp = u->reg[u->machine->sp];

	if (!ip)
		return !w->n ? refuse(u, PDET_UNWIND_THREAD_AT_0) :
		       !after_signal ? 1 :
		       refuse(u, PDET_UNWIND_SIGNAL_AT_0);
	/* Callers are at higher addresses; a handler may have its own stack,
	 * and a function that was interrupted may have none. */
	if (w->n && !after_signal &&
	    (w->steps[w->n - 1].exact ? sp < w->sp : sp <= w->sp))
		return refuse(u, PDET_UNWIND_DAMAGED_STACK);
	w->frame = u->machine->frame(u->target, ip);
	w->signals += w->frame != NO_FRAME;
	if (w->n == w->most || w->signals > MOST_SIGNALS)
		return refuse(u, PDET_UNWIND_MORE);
	w->steps[w->n] = (struct pdet_unwind_step){
		.ip = ip, .signal = w->frame != NO_FRAME,
		.exact = !w->n || after_signal
	};
	w->n++;
	w->sp = sp;
	return 0;
}

/* To the caller. Returns 0, 1 at the end. */
static int step(struct unwinding *u, struct walk *w)
{
	struct pdet_unwind_step *last = &w->steps[w->n - 1];
	struct pdet_cfi_row row;
	int r;

	if (last->signal && !u->machine->believed)
		return leave_signal(u, w->frame);
	/* A call may be the last instruction of its function. */
	r = find_row(u, last->ip - (last->exact || last->signal ? 0 : 1), &row);
	if (r == 0 && row.signal && !u->machine->believed) {
		/* The code itself could not be read. */
		last->signal = true;
		w->signals++;
		w->frame = RT_FRAME;
		return leave_signal(u, w->frame);
	}
	if (r == 0)
		return apply(u, &row);
	if (r != -ENOENT || u->why)
		return r;
	return last->signal ? leave_signal(u, w->frame) :
			      refuse(u, PDET_UNWIND_NO_TABLE);
}

static void set_registers(struct unwinding *u, const struct pdet_user_regs *r)
{
	/* The numbers of the same registers on x86-64. */
	static const uint8_t number[PDET_X86_REGS] = {
		0, 2, 1, 3, PDET_USER_SP, PDET_USER_BP, 4, 5, PDET_USER_IP
	};
	unsigned i;

	u->machine = r->arm64 ? &arm64 : &x86;
	u->address_bits = r->address_bits;
	for (i = 0; i < u->machine->regs; i++)
		u->reg[i] = wrap(u, r->reg[r->arm64 ? i : number[i]]);
	u->known = BIT(u->machine->regs) - 1;
}

size_t pdet_table_unwind(const struct pdet_unwind_target *t,
			 const struct pdet_user_regs *regs,
			 struct pdet_unwind_step *steps, size_t n,
			 const char **end)
{
	struct walk w = { .steps = steps, .most = n };
	struct unwinding *u = calloc(1, sizeof(*u));

	*end = PDET_UNWIND_NO_MEMORY;
	if (!u)
		return 0;
	u->target = t;
	set_registers(u, regs);
	while (take_frame(u, &w) == 0 && step(u, &w) == 0)
		;
	*end = u->why;
	free(u);
	return w.n;
}
