/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Follows tables alone, as libunwind.c does; it has the same limits and
 * reasons. A register that a function may change has no value in its caller,
 * unless a table says where it was saved.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/compat.h"
#include "unwind/dwarf/cfi.h"
#include "unwind/dwarf/eh_search.h"
#include "unwind/dwarf/expression.h"
#include "unwind/unwind_end.h"

#define MOST_READS 100000
#define MOST_SIGNALS 16

struct unwinding {
	const struct pdet_unwind_target *target;
	uint32_t reg[PDET_X86_REGS];
	uint16_t known;		/* a bit for each register */
	unsigned reads;
	const char *why;	/* the first failure; NULL: none */
	struct pdet_frame_pair own; /* records that were read */
};

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
	r = u->target->read(u->target->arg, (uint32_t)addr, buf, n);
	return r < 0 ? refuse(u, pdet_unwind_unread(r)) : 0;
}

static int read_word(void *arg, uint32_t addr, uint32_t *ret)
{
	return read_bytes(arg, addr, ret, sizeof(*ret));
}

static int read_register(void *arg, uint64_t number, uint32_t *ret)
{
	struct unwinding *u = arg;

	if (number >= PDET_X86_REGS || !(u->known & 1u << number))
		return refuse(u, PDET_UNWIND_NO_REGISTER);
	*ret = u->reg[number];
	return 0;
}

/* --- the table --- */

static int search_index(const struct pdet_unwind_code *code, uint32_t ip,
			uint64_t *fde)
{
	const uint32_t base = (uint32_t)code->base;
	const struct pdet_eh_entry *e =
		pdet_eh_frame_before(code->frames, (int32_t)(ip - base));

	*fde = base + (uint32_t)(e ? e->fde : 0);
	return e ? 0 : -ENOENT;
}

/* @at: the address of the process that has the FDE of the pair. */
static int row_of(struct unwinding *u, const struct pdet_frame_pair *p,
		  uint64_t at, uint32_t ip, struct pdet_cfi_row *ret)
{
	struct pdet_frame_rest cie, fde;
	int r;

	if (!pdet_frame_record(p->bytes, p->n, 0, &cie) ||
	    !pdet_frame_record(p->bytes, p->n, p->fde, &fde))
		return refuse_table(u, -EBADMSG);
	r = pdet_cfi_row(cie, fde, at + sizeof(uint32_t), ip, sizeof(uint32_t),
			 ret);
	return r == 0 || r == -ENOENT ? r : refuse_table(u, r);
}

/* By the table of the file. Returns -ENOENT if it lacks the code. */
static int find_in_table(struct unwinding *u, uint32_t ip,
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
static int find_row(struct unwinding *u, uint32_t ip, struct pdet_cfi_row *ret)
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

/* What a C library or the vdso has where a handler returns to: the first frame
 * of arch/x86/include/asm/sigframe.h is that of handlers without SA_SIGINFO. */
enum frame { NO_FRAME, OLD_FRAME, RT_FRAME };

static enum frame signal_frame(struct unwinding *u, uint32_t ip)
{
	static const uint8_t old[] = { 0x58,	/* pop %eax */
		0xb8, 0x77, 0, 0, 0,		/* mov $119,%eax */
		0xcd, 0x80 };			/* int $0x80 */
	static const uint8_t rt[] = { 0xb8, 0xad, 0, 0, 0, 0xcd, 0x80 };
	uint8_t code[sizeof(old)];

	if (u->target->read(u->target->arg, ip, code, sizeof(rt)) < 0)
		return NO_FRAME;
	if (!memcmp(code, rt, sizeof(rt)))
		return RT_FRAME;
	return u->target->read(u->target->arg, ip, code, sizeof(old)) == 0 &&
	       !memcmp(code, old, sizeof(old)) ? OLD_FRAME : NO_FRAME;
}

/* Without a table: the words of struct sigcontext_32. */
static int leave_signal(struct unwinding *u, enum frame is)
{
	static const uint8_t place[PDET_X86_REGS] = {
		11, 10, 9, 8, 7, 6, 5, 4, 14
	};
	const uint32_t sp = u->reg[PDET_X86_SP];
	uint32_t at = sp + 4, word[15];
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
	u->known = (1u << PDET_X86_REGS) - 1;
	return r;
}

/* --- steps --- */

static int find_cfa(struct unwinding *u, const struct pdet_values *v,
		    const struct pdet_cfi_row *row, uint32_t *ret)
{
	int r;

	switch (row->cfa.is) {
	case PDET_CFI_IS:
		r = read_register(u, row->cfa_register, ret);
		*ret += (uint32_t)row->cfa.n;
		return r;
	case PDET_CFI_IS_CODE:
		return pdet_expression(row->cfa.code, v, NULL, ret);
	default:
		return -EBADMSG;
	}
}

/* Calls keep these. */
static bool is_kept(unsigned reg)
{
	return reg == PDET_X86_BX || reg == PDET_X86_BP || reg == PDET_X86_SI ||
	       reg == PDET_X86_DI;
}

/* The value of a register in the caller. Returns 1 if it has none. */
static int find_value(struct unwinding *u, const struct pdet_values *v,
		      const struct pdet_cfi_rule *rule, unsigned reg,
		      uint32_t cfa, uint32_t *ret)
{
	int r = 0;

	switch (rule->is) {
	case PDET_CFI_NONE:
		*ret = reg == PDET_X86_SP ? cfa : u->reg[reg];
		return reg != PDET_X86_SP &&
		       !(is_kept(reg) && u->known & 1u << reg);
	case PDET_CFI_SAME:
		*ret = u->reg[reg];
		return !(u->known & 1u << reg);
	case PDET_CFI_AT:
		return read_word(u, cfa + (uint32_t)rule->n, ret);
	case PDET_CFI_IS:
		*ret = cfa + (uint32_t)rule->n;
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

/* Sets the registers of the caller. Returns 1 if there is none. */
static int apply(struct unwinding *u, const struct pdet_cfi_row *row)
{
	const struct pdet_values v = { read_word, read_register, u };
	uint32_t cfa = 0, value[PDET_X86_REGS] = { 0 };
	uint16_t known = 0;
	unsigned i;
	int r = find_cfa(u, &v, row, &cfa);

	if (r == 0 && row->ra >= PDET_X86_REGS)
		r = -ENOTSUP;
	if (r == 0 && row->reg[row->ra].is == PDET_CFI_UNDEFINED)
		return 1;
	for (i = 0; r >= 0 && i < PDET_X86_REGS; i++) {
		r = find_value(u, &v, &row->reg[i], i, cfa, &value[i]);
		known |= (uint16_t)((r == 0) << i);
	}
	if (r < 0)
		return refuse_table(u, r);
	memcpy(u->reg, value, sizeof(value));
	u->known = known;
	r = read_register(u, row->ra, &u->reg[PDET_X86_IP]);
	return r == 0 ? read_register(u, PDET_X86_SP, &u->reg[PDET_X86_SP]) : r;
}

struct walk {
	struct pdet_unwind_step *steps;
	size_t n, most;
	unsigned signals;
	uint32_t sp;
	enum frame frame;	/* of the last step */
};

/* Of the frame that the registers are of. Returns 0, 1 at the end. */
static int take_frame(struct unwinding *u, struct walk *w)
{
	const bool after_signal = w->frame != NO_FRAME;
	const uint32_t ip = u->reg[PDET_X86_IP], sp = u->reg[PDET_X86_SP];

	if (!ip)
		return !w->n ? refuse(u, PDET_UNWIND_THREAD_AT_0) :
		       !after_signal ? 1 :
		       refuse(u, PDET_UNWIND_SIGNAL_AT_0);
	/* Callers are at higher addresses; a handler may have its own stack. */
	if (w->n && !after_signal && (w->n > 1 ? sp <= w->sp : sp < w->sp))
		return refuse(u, PDET_UNWIND_DAMAGED_STACK);
	w->frame = signal_frame(u, ip);
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
static int step(struct unwinding *u, const struct walk *w)
{
	const struct pdet_unwind_step *last = &w->steps[w->n - 1];
	struct pdet_cfi_row row;
	/* A call may be the last instruction of its function. */
	int r = find_row(u, (uint32_t)last->ip -
			 (last->exact || last->signal ? 0 : 1), &row);

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

	for (i = 0; i < PDET_X86_REGS; i++)
		u->reg[i] = (uint32_t)r->reg[number[i]];
	u->known = (1u << PDET_X86_REGS) - 1;
}

size_t pdet_compat_unwind(const struct pdet_unwind_target *t,
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
