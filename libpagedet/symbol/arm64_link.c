/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decides whether an interrupted function of arm64 has its own frame record. If
 * not, the record at the frame pointer is its caller's, and only the link
 * register has the return address. (The kernel shows both, and does not know:
 * "L" in its own traces.) What the code does next shows it: it returns or saves
 * both registers in a record, or it loads them from the record or overwrites
 * the link register by a call. All paths through a function agree on that, so
 * that any path may be taken.
 */
#include <errno.h>

#include "symbol/frame_chain.h"

/* Instructions on one path, and paths. Prologues, epilogues and functions
 * without a record are short. */
#define STEPS 128
#define PATHS 16
/* Compilers move a few instructions between those that make a record. */
#define BETWEEN 8

/* Arm Architecture Reference Manual, C4.1. */
#define RET 0xd65f03c0u
#define RETAA 0xd65f0bffu
#define RETAB 0xd65f0fffu
#define MOV_X9_LR 0xaa1e03e9u	/* before a call of the function tracer */
#define PUSH_SHADOW 0xf800865eu	/* str x30, [x18], #8 */
#define POP_SHADOW 0xf85f8e5eu	/* ldr x30, [x18, #-8]! */

enum { FP = 29, LR = 30, SP = 31 };

enum effect {
	ON,		/* neither register changes */
	JUMP,		/* goes on at another place */
	FORK,		/* goes on at either place */
	HAS_LINK,
	HAS_RECORD,
	POINTS,		/* makes the frame pointer point to the record */
	UNCLEAR
};

static bool is(uint32_t code, uint32_t mask, uint32_t value)
{
	return (code & mask) == value;
}

static uint32_t field(uint32_t code, unsigned bit, unsigned bits)
{
	return code >> bit & ((1u << bits) - 1);
}

static uint64_t target(uint64_t at, uint32_t code, unsigned bit, unsigned bits)
{
	const uint64_t sign = (uint64_t)1 << (bits - 1);
	const uint64_t words = (field(code, bit, bits) ^ sign) - sign;

	return at + words * 4;
}

static bool is_call(uint32_t code)
{
	/* bl; blr and, with authentication, blraa, blrab, blraaz, blrabz */
	return is(code, 0xfc000000, 0x94000000) ||
	       is(code, 0xfefff000, 0xd63f0000);
}

/* stp or ldp x29, x30, [sp ...] */
static bool is_pair(uint32_t code, bool load)
{
	/* with any of the three kinds of index */
	return is(code, 0xfe400000, load ? 0xa8400000 : 0xa8000000) &&
	       field(code, 0, 5) == FP && field(code, 10, 5) == LR &&
	       field(code, 5, 5) == SP;
}

/* Whether an instruction that does not branch has one of the two registers
 * where it may be written, or is of a kind that is not known. Stores name their
 * registers there as well: who stores only one of the two is not a compiler. */
static bool may_write(uint32_t code)
{
	const uint32_t rt = field(code, 0, 5), rt2 = field(code, 10, 5);

	/* system: hints, barriers, registers */
	if (is(code, 0xffc00000, 0xd5000000))
		return field(code, 21, 1) && (rt == FP || rt == LR);
	/* pairs of registers, but not those of vectors */
	if (is(code, 0x3e000000, 0x28000000))
		return rt == FP || rt == LR || rt2 == FP || rt2 == LR;
	/* other loads and stores; arithmetic */
	if (is(code, 0x0a000000, 0x08000000) ||
	    is(code, 0x1c000000, 0x10000000) ||
	    is(code, 0x0e000000, 0x0a000000))
		return rt == FP || rt == LR;
	return true;
}

static enum effect effect_of(uint32_t code, uint64_t at, uint64_t *to)
{
	if (code == RET || code == RETAA || code == RETAB ||
	    code == MOV_X9_LR || code == PUSH_SHADOW || code == POP_SHADOW ||
	    is_pair(code, false))
		return HAS_LINK;
	if (is_call(code) || is_pair(code, true))
		return HAS_RECORD;
	if (is(code, 0xfc000000, 0x14000000)) {		/* b */
		*to = target(at, code, 0, 26);
		return JUMP;
	}
	if (is(code, 0xff000000, 0x54000000) ||		/* b.cond */
	    is(code, 0x7e000000, 0x34000000)) {		/* cbz, cbnz */
		*to = target(at, code, 5, 19);
		return FORK;
	}
	if (is(code, 0x7e000000, 0x36000000)) {		/* tbz, tbnz */
		*to = target(at, code, 5, 14);
		return FORK;
	}
	if (is(code, 0xff8003ff, 0x910003fd))	/* add x29, sp, #n */
		return POINTS;
	return may_write(code) ? UNCLEAR : ON;
}

static bool read_code(struct pdet_space *space, uint64_t at, uint32_t *ret)
{
	return !(at & 3) && pdet_is_address(at) &&
	       pdet_space_u32(space, at, ret) == 0;
}

/* Follows one path, and notes those that branch off. */
static enum effect follow(struct pdet_space *space, uint64_t at,
			  uint64_t later[PATHS], unsigned *n)
{
	enum effect e;
	unsigned steps;
	uint32_t code;
	uint64_t to;

	for (steps = 0; steps < STEPS && read_code(space, at, &code); steps++) {
		e = effect_of(code, at, &to);
		switch (e) {
		case FORK:
			if (*n < PATHS)
				later[(*n)++] = to;
			/* fall through */
		case ON:
			at += 4;
			break;
		case JUMP:
			at = to;
			break;
		default:
			return e;
		}
	}
	return UNCLEAR;
}

/* Whether the registers were saved just before, and nothing branched since. */
static bool has_saved(struct pdet_space *space, uint64_t ip)
{
	uint32_t code;
	uint64_t to;
	unsigned i;

	for (i = 1; i <= BETWEEN && read_code(space, ip - 4 * i, &code); i++) {
		if (is_pair(code, false))
			return true;
		if (effect_of(code, 0, &to) != ON)
			break;
	}
	return false;
}

int pdet_arm64_link(struct pdet_space *space, uint64_t ip, uint64_t lr)
{
	enum effect e = UNCLEAR;
	uint64_t later[PATHS];
	unsigned n = 1, i;
	uint32_t code;

	/* It was saved: it is not an address. */
	if (!pdet_is_address(lr))
		return 0;
	/* At the call of the function tracer. */
	if (read_code(space, ip - 4, &code) && code == MOV_X9_LR)
		e = HAS_LINK;
	later[0] = ip;
	for (i = 0; e == UNCLEAR && i < n; i++)
		e = follow(space, later[i], later, &n);
	if (e == POINTS)
		e = has_saved(space, ip) ? HAS_LINK : UNCLEAR;
	if (e == HAS_RECORD)
		return 0;
	return e == HAS_LINK && read_code(space, lr - 4, &code) &&
	       is_call(code) ? 1 : -ENOENT;
}
