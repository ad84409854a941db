/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compilers at run time write no tables. But a short function that only calls
 * another one, as those of Python, shows by its few instructions what it has on
 * the stack. Of others it is known at best that they begin with making a frame
 * pointer.
 */
#include <string.h>

#include "symbol/user_regs.h"
#include "unwind/frame_pair.h"
#include "unwind/plain_code.h"

/* Frames are not so large. */
#define MOST_DEPTH (1 << 20)

enum { BX = 3, R12 = 12, R15 = 15 };

/* What the instructions up to @at have done. */
struct state {
	uint64_t at;
	uint64_t depth;		/* bytes on the stack below the return
				 * address */
	uint64_t bp;		/* the depth at which rbp was saved; 0: it was
				 * not */
	bool has_frame;		/* rbp points to the saved one */
	bool called;		/* the last one was a call */
};

static bool is(const struct pdet_plain_code *c, struct state *s,
	       const char *bytes, size_t n)
{
	if (s->at + n > sizeof(c->head) || memcmp(c->head + s->at, bytes, n))
		return false;
	s->at += n;
	return true;
}

static bool take(const struct pdet_plain_code *c, struct state *s, void *to,
		 size_t n)
{
	if (s->at + n > sizeof(c->head))
		return false;
	memcpy(to, c->head + s->at, n);
	s->at += n;
	return true;
}

static bool push(struct state *s, bool is_bp)
{
	s->depth += 8;
	if (is_bp && !s->bp)
		s->bp = s->depth;
	return true;
}

static bool grow(struct state *s, int32_t bytes)
{
	if (bytes < 0 || bytes % 8)
		return false;
	s->depth += (uint64_t)bytes;
	return true;
}

/* Returns false if the code may have done something else. */
static bool step(const struct pdet_plain_code *c, struct state *s)
{
	bool is_high;
	int32_t word;
	int8_t byte;

	if (s->called || s->depth > MOST_DEPTH)
		return false;
	if (is(c, s, "\xf3\x0f\x1e\xfa", 4))	/* endbr64 */
		return true;
	if (is(c, s, "\x48\x89\xe5", 3) ||	/* mov %rsp,%rbp */
	    is(c, s, "\x48\x8b\xec", 3)) {
		s->has_frame = s->bp && s->bp == s->depth;
		return s->has_frame;
	}
	if (is(c, s, "\x48\x83\xec", 3))	/* sub $byte,%rsp */
		return take(c, s, &byte, sizeof(byte)) && grow(s, byte);
	if (is(c, s, "\x48\x81\xec", 3))	/* sub $word,%rsp */
		return take(c, s, &word, sizeof(word)) && grow(s, word);
	if (is(c, s, "\x89\x84\x24", 3))	/* mov %eax,word(%rsp) */
		return take(c, s, &word, sizeof(word)) && word < 0;
	s->called = true;
	if (is(c, s, "\xe8", 1))		/* call word */
		return take(c, s, &word, sizeof(word));
	is_high = is(c, s, "\x41", 1);		/* of r8 to r15 */
	if (is(c, s, "\xff", 1))		/* call *register */
		return take(c, s, &byte, 1) && (byte & 0xf8) == 0xd0;
	s->called = false;
	return take(c, s, &byte, 1) && (byte & 0xf8) == 0x50 &&
	       push(s, byte == 0x55 && !is_high);
}

static void put_pair(const struct state *s, bool is_proved, uint64_t ip,
		     struct pdet_frame_pair *ret)
{
	unsigned reg;

	pdet_pair_begin(ret, false);
	pdet_pair_put(ret, DW_CFA_def_cfa);
	pdet_pair_put(ret, is_proved ? PDET_USER_SP : PDET_USER_BP);
	pdet_pair_put_number(ret, (is_proved ? s->depth : s->bp) + 8);
	pdet_pair_put(ret, DW_CFA_offset | PDET_USER_IP);
	pdet_pair_put(ret, 1);
	if (s->bp) {
		pdet_pair_put(ret, DW_CFA_offset | PDET_USER_BP);
		pdet_pair_put_number(ret, s->bp / 8 + 1);
	}
	/* What a caller keeps in them, the function may have saved anywhere. */
	for (reg = BX; !is_proved && reg <= R15; reg = reg == BX ? R12 :
							 reg + 1) {
		pdet_pair_put(ret, DW_CFA_undefined);
		pdet_pair_put(ret, reg);
	}
	pdet_pair_end(ret, ip);
}

/* The calls that have no prefix after their first byte. */
static bool is_call(const uint8_t *t)
{
	return t[1] == 0xe8 ||				/* word */
	       (t[4] == 0xff && (t[5] & 0xf8) == 0xd0) || /* *register */
	       (t[3] == 0xff && (t[4] & 0xf8) == 0x50) || /* *byte(register) */
	       (t[0] == 0xff && (t[1] & 0xf8) == 0x90) || /* *word(register) */
	       (t[0] == 0xff && t[1] == 0x15);		/* *word(%rip) */
}

enum pdet_plain pdet_plain_pair(const struct pdet_plain_code *c, uint64_t ip,
				struct pdet_frame_pair *ret)
{
	struct state s = { .at = 0 };
	struct state before;
	bool is_known;

	/* The thread is at the last byte, or has called from before its end. */
	do {
		before = s;
		is_known = s.at + 1 == c->n || (s.called && s.at == c->n);
	} while (!is_known && s.at < c->n && step(c, &s));
	if (is_known) {
		put_pair(&before, true, ip, ret);
		return PDET_PLAIN_PROVED;
	}
	if (!before.has_frame || !is_call(c->tail))
		return PDET_PLAIN_NOT;
	put_pair(&before, false, ip, ret);
	return PDET_PLAIN_LIKELY;
}
