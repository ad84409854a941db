/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Follows records of frame pointers. On arm64 an entry from the kernel itself
 * leaves a record in its pt_regs: the frame pointer and the program counter of
 * what it interrupted, or since Linux 6.13 two zeros and a type. An entry from
 * user code, and the start of a thread, leaves two zeros at the end of the
 * task's stack.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "symbol/frame_chain.h"

/* Stacks that are not the task's: of interrupts, overflow, SDEI (normal and
 * critical), and the firmware. */
#define STACKS 5

enum { REGS_REGS, REGS_PC, REGS_RECORD, REGS_TYPE, REGS_FIELDS };
static const pdet_field_names regs_names[REGS_FIELDS] = {
	[REGS_REGS] = { "pt_regs.regs" },
	[REGS_PC] = { "pt_regs.pc" },
	[REGS_RECORD] = { "pt_regs.stackframe" },
	/* since 6.13 (c2c6b27b5aa1) */
	[REGS_TYPE] = { "pt_regs.stackframe.type" },
};

/* arch/arm64/include/asm/stacktrace/frame.h */
enum { FINAL = 1, PT_REGS };

enum { FP = 29, LR = 30 };

void pdet_frame_chain_init(struct pdet_frame_chain *c,
			   const struct pdet_paging *paging,
			   const struct pdet_btf *btf)
{
	memset(c, 0, sizeof(*c));
	c->paging = paging;
	pdet_struct_find(&c->regs, btf, regs_names, REGS_FIELDS);
	if (!pdet_struct_has(&c->regs, REGS_PC) ||
	    !pdet_struct_has(&c->regs, REGS_RECORD) ||
	    !c->regs.field[REGS_REGS].read ||
	    c->regs.field[REGS_REGS].size < (LR + 1) * sizeof(uint64_t) ||
	    !pdet_btf_struct_size(btf, "pt_regs", &c->regs_bytes))
		c->regs_bytes = 0;
}

uint64_t pdet_chain_address(const struct pdet_paging *p, uint64_t v)
{
	return p->arch->machine == EM_AARCH64 && v >> 55 & 1 ?
	       v | -((uint64_t)1 << p->va_bits) : v;
}

bool pdet_chain_owns(const struct pdet_chain_stack *stack, uint64_t at)
{
	return stack->at && at - stack->at < (stack->bytes ? stack->bytes :
					      PDET_LEAST_STACK_BYTES);
}

/* Callers are at higher addresses. An interrupt has its own stack at any
 * address, even within the bytes that a larger task stack would use. Its last
 * record points to another one of an exception, or to the task's own stack. No
 * record points back. */
static bool leads_on(struct pdet_chain_stack *stack, uint64_t from, uint64_t to)
{
	const uint64_t most = stack->bytes ? stack->bytes : PDET_STACK_BYTES;

	if (stack->own)
		return to > from && to - stack->at < most;
	stack->own = to > from ? pdet_chain_owns(stack, to) :
		     stack->at && to - stack->at < most;
	if (to > from || stack->own)
		return true;
	return from - to >= PDET_LEAST_STACK_BYTES && stack->left++ < STACKS;
}

/* A processor or an exception stopped an instruction anywhere in a function. */
static int stopped(struct pdet_chain_state *s, uint64_t ip, uint64_t fp,
		   uint64_t lr)
{
	s->ip = ip;
	s->fp = fp;
	s->lr = lr;
	s->is = PDET_FRAME_AT;
	return pdet_is_address(ip) ? 1 : -EBADMSG;
}

/* The two zeros at the end of the stack of a task. */
static bool is_end(const struct pdet_frame_chain *c,
		   const struct pdet_chain_stack *stack, uint64_t at)
{
	return !c->regs_bytes || !stack->at || !stack->bytes ||
	       at == stack->at + stack->bytes - c->regs_bytes +
		     (uint64_t)c->regs.field[REGS_RECORD].at;
}

static uint64_t word_of(const char *bytes, unsigned i)
{
	uint64_t v;

	memcpy(&v, bytes + i * sizeof(v), sizeof(v));
	return v;
}

/* The record is in a pt_regs, for sure. */
static int load_regs(struct pdet_space *space, const struct pdet_frame_chain *c,
		     struct pdet_chain_state *s, uint64_t at)
{
	const struct pdet_struct *regs = &c->regs;
	const uint64_t top = at - (uint64_t)regs->field[REGS_RECORD].at;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, regs, top, buf);
	const char *x;

	if (r < 0)
		return r;
	x = pdet_struct_bytes(regs, buf, REGS_REGS);
	s->from = at;
	return stopped(s, pdet_struct_get(regs, buf, REGS_PC),
		       word_of(x, FP),
		       pdet_chain_address(c->paging, word_of(x, LR)));
}

/* Until Linux 6.12 the record has a copy of two registers, and nothing says
 * that it is in a pt_regs, but that these have the same values. */
static bool is_in_regs(struct pdet_space *space,
		       const struct pdet_frame_chain *c, uint64_t at,
		       const uint64_t record[2])
{
	const struct pdet_struct *regs = &c->regs;
	char buf[PDET_STRUCT_BYTES];

	return pdet_struct_read(space, regs, at -
				(uint64_t)regs->field[REGS_RECORD].at,
				buf) == 0 &&
	       pdet_struct_get(regs, buf, REGS_PC) == record[1] &&
	       word_of(pdet_struct_bytes(regs, buf, REGS_REGS), FP) ==
	       record[0];
}

/* A record of two zeros. */
static int special(struct pdet_space *space, const struct pdet_frame_chain *c,
		   struct pdet_chain_state *s, uint64_t at)
{
	const struct pdet_struct *regs = &c->regs;
	uint64_t type = FINAL;
	int r;

	if (c->regs_bytes && pdet_struct_has(regs, REGS_TYPE)) {
		r = pdet_space_u64(space, at +
				   (uint64_t)(regs->field[REGS_TYPE].at -
					      regs->field[REGS_RECORD].at),
				   &type);
		if (r < 0)
			return r == -ENOENT ? -EBADMSG : r;
		if (type == PT_REGS)
			return load_regs(space, c, s, at);
	}
	return type == FINAL && is_end(c, &s->stack, at) ? 0 : -EBADMSG;
}

static int next_record(struct pdet_space *space,
		       const struct pdet_frame_chain *c,
		       struct pdet_chain_state *s)
{
	const uint64_t at = s->fp;
	uint64_t record[2];
	int r;

	/* before Linux 5.12: start of a kernel thread */
	if (!at)
		return 0;
	if (!pdet_is_address(at) || !leads_on(&s->stack, s->from, at) || at % 8)
		return -EBADMSG;
	r = pdet_space_read(space, at, record, sizeof(record));
	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	if (!record[1])
		return record[0] && c->paging->arch->machine == EM_AARCH64 ?
		       -EBADMSG : special(space, c, s, at);
	if (c->regs_bytes && is_in_regs(space, c, at, record))
		return load_regs(space, c, s, at);
	s->from = at;
	s->fp = record[0];
	s->ip = pdet_chain_address(c->paging, record[1]);
	s->is = PDET_FRAME_CALL;
	return pdet_is_address(s->ip) ? 1 : -EBADMSG;
}

/* Whether the record says the same as the link register. */
static bool is_same(struct pdet_space *space, const struct pdet_frame_chain *c,
		    const struct pdet_chain_state *s)
{
	uint64_t ip;

	return pdet_is_address(s->fp) &&
	       pdet_space_u64(space, s->fp + 8, &ip) == 0 &&
	       pdet_chain_address(c->paging, ip) == s->lr;
}

int pdet_chain_next(struct pdet_space *space, const struct pdet_frame_chain *c,
		    struct pdet_chain_state *s)
{
	int r = 0;

	if (s->is == PDET_FRAME_AT && c->paging->arch->machine == EM_AARCH64)
		r = pdet_arm64_link(space, s->ip, s->lr);
	if (r > 0) {
		s->ip = s->lr;
		s->is = PDET_FRAME_CALL;
		return 1;
	}
	if (r < 0 && !is_same(space, c, s)) {
		s->is = PDET_FRAME_GAP;
		return 1;
	}
	return next_record(space, c, s);
}
