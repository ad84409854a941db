/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A stack machine for DWARF 4, section 2.5, as far as compilers, linkers and
 * the kernel use it to unwind. It has no jumps, so each byte is read once.
 */
#include <errno.h>

#include "unwind/dwarf/expression.h"

#define DEPTH 16

enum { OP_ADDR = 0x03, OP_DEREF = 0x06, OP_CONST1U = 0x08, OP_CONST1S,
       OP_CONST2U, OP_CONST2S, OP_CONST4U, OP_CONST4S, OP_CONST8U,
       OP_CONST8S, OP_CONSTU, OP_CONSTS, OP_DUP, OP_DROP, OP_OVER, OP_PICK,
       OP_SWAP, OP_XDEREF = 0x18, OP_AND = 0x1a, OP_DIV, OP_MINUS,
       OP_MUL = 0x1e, OP_NEG, OP_NOT, OP_OR, OP_PLUS, OP_PLUS_UCONST, OP_SHL,
       OP_SHR, OP_SHRA, OP_XOR, OP_BRA, OP_EQ, OP_GE, OP_GT, OP_LE, OP_LT,
       OP_NE, OP_SKIP, OP_LIT0, OP_REG0 = 0x50, OP_BREG0 = 0x70,
       OP_BREGX = 0x92, OP_DEREF_SIZE = 0x94, OP_NOP = 0x96 };

#define NUMBERS 32		/* of OP_LIT0 and OP_BREG0 */

struct machine {
	struct pdet_frame_rest rest;
	const struct pdet_values *v;
	uint64_t stack[DEPTH];
	unsigned n;
	int error;
};

static void fail(struct machine *m, int error)
{
	if (!m->error)
		m->error = error;
}

static bool is_narrow(const struct machine *m)
{
	return m->v->bytes == sizeof(uint32_t);
}

static void push(struct machine *m, uint64_t v)
{
	if (m->n == DEPTH)
		fail(m, -EBADMSG);
	else
		m->stack[m->n++] = is_narrow(m) ? (uint32_t)v : v;
}

static uint64_t pop(struct machine *m)
{
	if (m->n)
		return m->stack[--m->n];
	fail(m, -EBADMSG);
	return 0;
}

static void push_word(struct machine *m, uint64_t addr)
{
	uint64_t v = 0;

	if (!m->error)
		fail(m, m->v->word(m->v->arg, addr, &v));
	push(m, v);
}

static void push_register(struct machine *m, uint64_t number)
{
	const int64_t offset = pdet_frame_sleb(&m->rest);
	uint64_t v = 0;

	if (!m->rest.bad)
		fail(m, m->v->reg(m->v->arg, number, &v));
	push(m, v + (uint64_t)offset);
}

static bool constant(struct machine *m, unsigned op)
{
	struct pdet_frame_rest *r = &m->rest;

	switch (op) {
	case OP_CONST1U:
		push(m, pdet_frame_u8(r));
		return true;
	case OP_CONST1S:
		push(m, (uint64_t)(int8_t)pdet_frame_u8(r));
		return true;
	case OP_CONST2U:
		push(m, pdet_frame_u16(r));
		return true;
	case OP_CONST2S:
		push(m, (uint64_t)(int16_t)pdet_frame_u16(r));
		return true;
	case OP_ADDR:
		push(m, is_narrow(m) ? pdet_frame_u32(r) : pdet_frame_u64(r));
		return true;
	case OP_CONST4U:
		push(m, pdet_frame_u32(r));
		return true;
	case OP_CONST4S:
		push(m, (uint64_t)(int32_t)pdet_frame_u32(r));
		return true;
	case OP_CONST8U:
	case OP_CONST8S:
		push(m, pdet_frame_u64(r));
		return true;
	case OP_CONSTU:
		push(m, pdet_frame_uleb(r));
		return true;
	case OP_CONSTS:
		push(m, (uint64_t)pdet_frame_sleb(r));
		return true;
	default:
		return false;
	}
}

static int64_t with_sign(const struct machine *m, uint64_t v)
{
	return is_narrow(m) ? (int32_t)v : (int64_t)v;
}

/* Of the upper two values. */
static bool combine(struct machine *m, unsigned op)
{
	const uint64_t x = m->n > 1 ? m->stack[m->n - 2] : 0;
	const uint64_t y = m->n > 1 ? m->stack[m->n - 1] : 0;
	const int64_t a = with_sign(m, x), b = with_sign(m, y);
	const unsigned bits = 8 * m->v->bytes;
	uint64_t v;

	switch (op) {
	case OP_AND:
		v = x & y;
		break;
	case OP_MINUS:
		v = x - y;
		break;
	case OP_MUL:
		v = x * y;
		break;
	case OP_OR:
		v = x | y;
		break;
	case OP_PLUS:
		v = x + y;
		break;
	case OP_SHL:
		v = y < bits ? x << y : 0;
		break;
	case OP_SHR:
		v = y < bits ? x >> y : 0;
		break;
	case OP_SHRA:
		v = (uint64_t)(a >> (y < bits ? y : bits - 1));
		break;
	case OP_XOR:
		v = x ^ y;
		break;
	case OP_EQ:
		v = x == y;
		break;
	case OP_GE:
		v = a >= b;
		break;
	case OP_GT:
		v = a > b;
		break;
	case OP_LE:
		v = a <= b;
		break;
	case OP_LT:
		v = a < b;
		break;
	case OP_NE:
		v = x != y;
		break;
	default:
		return false;
	}
	pop(m);
	pop(m);
	push(m, v);
	return true;
}

static bool one(struct machine *m, unsigned op)
{
	uint64_t x, y;

	switch (op) {
	case OP_DEREF:
		push_word(m, pop(m));
		return true;
	case OP_DUP:
		x = pop(m);
		push(m, x);
		push(m, x);
		return true;
	case OP_DROP:
		pop(m);
		return true;
	case OP_OVER:
		y = pop(m);
		x = pop(m);
		push(m, x);
		push(m, y);
		push(m, x);
		return true;
	case OP_SWAP:
		y = pop(m);
		x = pop(m);
		push(m, y);
		push(m, x);
		return true;
	case OP_NEG:
		push(m, -pop(m));
		return true;
	case OP_NOT:
		push(m, ~pop(m));
		return true;
	case OP_PLUS_UCONST:
		push(m, pop(m) + pdet_frame_uleb(&m->rest));
		return true;
	case OP_BREGX:
		push_register(m, pdet_frame_uleb(&m->rest));
		return true;
	case OP_NOP:
		return true;
	default:
		return false;
	}
}

static void run_one(struct machine *m, unsigned op)
{
	if (op >= OP_LIT0 && op < OP_LIT0 + NUMBERS)
		push(m, op - OP_LIT0);
	else if (op >= OP_BREG0 && op < OP_BREG0 + NUMBERS)
		push_register(m, op - OP_BREG0);
	else if (!constant(m, op) && !one(m, op) && !combine(m, op))
		fail(m, -ENOTSUP);
}

/* --- what libunwind may calculate --- */

/* Those of an old C library have three. */
#define MOST_JUMPS 8

struct jumps {
	const uint8_t *to[MOST_JUMPS];
	unsigned n;
};

/* Takes the operands. Returns false if libunwind does not know it, or should
 * not. */
static bool skip_operands(struct pdet_frame_rest *r, unsigned op,
			  unsigned registers)
{
	uint64_t number;

	switch (op) {
	case OP_CONST1U:
	case OP_CONST1S:
	case OP_PICK:
	case OP_DEREF_SIZE:
		pdet_frame_u8(r);
		return true;
	case OP_CONST2U:
	case OP_CONST2S:
		pdet_frame_u16(r);
		return true;
	case OP_CONST4U:
	case OP_CONST4S:
		pdet_frame_u32(r);
		return true;
	case OP_ADDR:
	case OP_CONST8U:
	case OP_CONST8S:
		pdet_frame_u64(r);
		return true;
	case OP_BREGX:
		number = pdet_frame_uleb(r);
		pdet_frame_uleb(r);
		return number < registers;
	case OP_CONSTU:
	case OP_CONSTS:
	case OP_PLUS_UCONST:
		pdet_frame_uleb(r);
		return true;
	case OP_DEREF:
	case OP_NOP:
		return true;
	default:
		if (op >= OP_BREG0 && op < OP_BREG0 + registers) {
			pdet_frame_uleb(r);
			return true;
		}
		return op >= OP_DUP && op < OP_REG0 && op != OP_XDEREF &&
		       op != OP_DIV;
	}
}

/* Forward only. */
static bool take_jump(struct pdet_frame_rest *r, struct jumps *j)
{
	const int16_t bytes = (int16_t)pdet_frame_u16(r);

	if (r->bad || bytes < 0 || bytes > r->end - r->at ||
	    j->n == MOST_JUMPS)
		return false;
	j->to[j->n++] = r->at + bytes;
	return true;
}

/* Whether none leads to what is before @at. Those that lead there are done. */
static bool land(struct jumps *j, const uint8_t *at)
{
	unsigned i, left = 0;

	for (i = 0; i < j->n; i++) {
		if (j->to[i] < at)
			return false;
		if (j->to[i] > at)
			j->to[left++] = j->to[i];
	}
	j->n = left;
	return true;
}

bool pdet_expression_is_safe(struct pdet_frame_rest code, unsigned registers)
{
	struct jumps j = { .n = 0 };
	bool safe = true;
	unsigned op;

	while (safe && code.at < code.end) {
		op = pdet_frame_u8(&code);
		safe = (op == OP_SKIP || op == OP_BRA ? take_jump(&code, &j) :
			skip_operands(&code, op, registers)) && !code.bad &&
		       land(&j, code.at);
	}
	return safe;
}

/* --- one by one --- */

int pdet_expression(struct pdet_frame_rest code, const struct pdet_values *v,
		    const uint64_t *cfa, uint64_t *ret)
{
	struct machine m = { .rest = code, .v = v };

	if (cfa)
		push(&m, *cfa);
	while (!m.error && m.rest.at < m.rest.end) {
		run_one(&m, pdet_frame_u8(&m.rest));
		if (m.rest.bad)
			fail(&m, -EBADMSG);
	}
	*ret = pop(&m);
	return m.error;
}
