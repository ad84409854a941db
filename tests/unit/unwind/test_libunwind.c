/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests hostile tables for unwinding: made by hand, for code at CODE. Each must
 * end, with a reason.
 */
#include <errno.h>

#include "../unit.h"
#include "unwind/libunwind.h"
#include "unwind/signal_frame.h"

#ifdef __x86_64__

#define CODE 0x400000ull
#define HEADER 0x500000ull	/* .eh_frame_hdr, then .eh_frame */
#define CIE_AT 0x20u		/* after HEADER */
#define INSTRUCTIONS_AT (CIE_AT + 17)
#define STACK 0x600000ull
#define BYTES 4096
#define DI 5			/* the number of rdi */
#define LATER 16		/* bytes of instructions */

enum { DW_CFA_advance_loc1 = 0x02, DW_CFA_register = 0x09,
       DW_CFA_remember = 0x0a, DW_CFA_recall = 0x0b, DW_CFA_def_cfa = 0x0c,
       DW_CFA_def_cfa_expression = 0x0f, DW_CFA_expression = 0x10,
       DW_CFA_val_offset = 0x14, DW_CFA_val_offset_sf = 0x15,
       DW_CFA_offset_ra = 0x80 | 16, DW_OP_const1s = 0x09,
       DW_OP_const4u = 0x0c, DW_OP_const8u = 0x0e, DW_OP_div = 0x1b,
       DW_OP_skip = 0x2f, DW_OP_lit0, DW_OP_reg0 = 0x50,
       DW_OP_breg_sp = 0x77, DW_OP_breg17 = 0x81, DW_OP_regx = 0x90,
       DW_OP_bregx = 0x92 };

struct world {
	unsigned char table[BYTES], stack[BYTES];
	size_t at;		/* in table */
	unsigned reads;
	uint64_t di;		/* a register */
	struct pdet_frame_pair *pair; /* for addresses without a table */
	struct pdet_frame_rule *rule; /* of all code; NULL: none */
	bool handler;		/* one returns at CODE + 8192 */
	/* The process writes that when the CIE was read as a whole. */
	const unsigned char *later;
	int lost;		/* why the stack cannot be read; 0: it can */
};

static void put(struct world *w, const void *from, size_t n)
{
	memcpy(w->table + w->at, from, n);
	w->at += n;
}

static void put4(struct world *w, uint32_t v)
{
	put(w, &v, sizeof(v));
}

static void put1(struct world *w, unsigned v)
{
	w->table[w->at++] = (unsigned char)v;
}

static const unsigned char relative = 0x1b;	/* to its place, 4 bytes */

/* A CIE with these letters, their data and instructions, and an FDE for 4096
 * bytes at CODE. */
static void start_with(struct world *w, const char *letters,
		       const unsigned char *data, size_t data_n,
		       const unsigned char *code, size_t n)
{
	size_t begin, fde;

	memset(w, 0, sizeof(*w));
	w->at = CIE_AT;
	begin = w->at;
	put4(w, 0);
	put4(w, 0);
	put1(w, 1);
	put(w, letters, strlen(letters) + 1);
	put1(w, 1);		/* unit of code */
	put1(w, 0x78);		/* of data: -8 */
	put1(w, 16);		/* the return address */
	put1(w, (unsigned)data_n);
	put(w, data, data_n);
	put(w, code, n);
	while (w->at % 8)
		put1(w, 0);
	memcpy(w->table + begin, &(uint32_t){ (uint32_t)(w->at - begin - 4) },
	       4);
	fde = w->at;
	put4(w, 20);
	put4(w, (uint32_t)(w->at - begin));
	put4(w, (uint32_t)(CODE - HEADER - w->at));
	put4(w, 4096);
	put4(w, 0);
	put4(w, 0);
	w->at = 0;
	put(w, "\1\x1b\3\x3b", 4);
	put4(w, CIE_AT - 4);
	put4(w, 1);
	put4(w, (uint32_t)(CODE - HEADER));
	put4(w, (uint32_t)fde);
}

static void start(struct world *w, const unsigned char *code, size_t n)
{
	start_with(w, "zR", &relative, 1, code, n);
}

static int read_bytes(void *arg, uint64_t addr, void *buf, size_t n)
{
	static const uint8_t leave[PDET_SIGNAL_RETURN] = {
		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05
	};
	struct world *w = arg;

	w->reads++;
	if (w->handler && addr == CODE + 8192 && n == sizeof(leave)) {
		memcpy(buf, leave, n);
		return 0;
	}
	if (addr - HEADER < BYTES - n) {
		memcpy(buf, w->table + (addr - HEADER), n);
		if (w->later && addr == HEADER + CIE_AT + 4 && n > 8)
			memcpy(w->table + INSTRUCTIONS_AT, w->later, LATER);
		return 0;
	}
	if (w->lost)
		return w->lost;
	if (addr - STACK < BYTES - n)
		memcpy(buf, w->stack + (addr - STACK), n);
	else
		return -EIO;
	return 0;
}

static int find_code(void *arg, uint64_t ip, struct pdet_unwind_code *ret)
{
	(void)arg;
	*ret = (struct pdet_unwind_code){
		.first = CODE, .end = CODE + 4096, .header = HEADER
	};
	return ip - CODE < 4096 ? 0 : -ENOENT;
}

/* Of code after that with the table. */
static const struct pdet_frame_pair *find_pair(void *arg, uint64_t ip)
{
	const struct world *w = arg;

	return ip - CODE >= 4096 ? w->pair : NULL;
}

static const struct pdet_frame_rule *find_rule(void *arg, uint64_t ip,
					       bool exact)
{
	const struct world *w = arg;

	(void)ip;
	(void)exact;
	return w->rule;
}

static size_t unwind_from(struct world *w, uint64_t ip, const char **end)
{
	const struct pdet_unwind_target t = {
		read_bytes, find_code, w, find_pair, find_rule
	};
	struct pdet_user_regs regs = { 0 };
	struct pdet_unwind_step steps[32];
	struct pdet_env env = { .root = NULL };
	struct pdet_unwinder *u;
	size_t n;

	regs.reg[PDET_USER_IP] = ip;
	regs.reg[PDET_USER_SP] = STACK;
	regs.reg[DI] = w->di;
	ck_assert_int_eq(pdet_unwinder_new(&env, &u), 0);
	n = pdet_unwind(u, &t, &regs, steps, 32, end);
	pdet_unwinder_free(u);
	return n;
}

static size_t unwind(struct world *w, const char **end)
{
	return unwind_from(w, CODE + 16, end);
}

/* The stack has return addresses into the code, and then 0. */
START_TEST(right)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1
	};
	const char *end;
	struct world w;
	unsigned i;

	start(&w, code, sizeof(code));
	for (i = 0; i < 3; i++)
		memcpy(w.stack + 8 * i, &(uint64_t){ CODE + 32 + i }, 8);
	ck_assert_uint_eq(unwind(&w, &end), 4);
	ck_assert_ptr_null(end);
	/* More frames than fit. */
	for (i = 0; i < 40; i++)
		memcpy(w.stack + 8 * i, &(uint64_t){ CODE + 32 + i }, 8);
	ck_assert_uint_eq(unwind(&w, &end), 32);
	ck_assert_str_eq(end, "there are more frames");
	/* A caller without a table. */
	memcpy(w.stack, &(uint64_t){ 0x1234 }, 8);
	ck_assert_uint_eq(unwind(&w, &end), 2);
	ck_assert_str_eq(end, "there is no table for unwinding this code");
}
END_TEST

/* They are not walked a second time, by libunwind. */
START_TEST(most_frames_by_rules)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1
	};
	struct pdet_frame_rule rule = {
		.cfa = 8, .cfa_reg = PDET_USER_SP,
		.is = { [PDET_USER_IP] = PDET_RULE_STORED },
		.at = { [PDET_USER_IP] = -8 },
	};
	const char *end;
	struct world w;
	unsigned i;

	start(&w, code, sizeof(code));
	w.rule = &rule;
	for (i = 0; i < 40; i++)
		memcpy(w.stack + 8 * i, &(uint64_t){ CODE + 32 + i }, 8);
	ck_assert_uint_eq(unwind(&w, &end), 32);
	ck_assert_str_eq(end, "there are more frames");
	ck_assert_uint_eq(w.reads, 32);
	/* Where all of them fit, the stack is complete. */
	memset(w.stack + 8 * 31, 0, 8);
	ck_assert_uint_eq(unwind(&w, &end), 32);
	ck_assert_ptr_null(end);
}
END_TEST

/* Each frame is its own caller. */
START_TEST(circle)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa_expression, 5, DW_OP_const4u, 0x10, 0, 0x60, 0,
		DW_CFA_offset_ra, 1
	};
	const char *end;
	struct world w;

	start(&w, code, sizeof(code));
	memcpy(w.stack + 8, &(uint64_t){ CODE + 32 }, 8);
	ck_assert_uint_eq(unwind(&w, &end), 2);
	ck_assert_str_eq(end, "the stack is damaged");
}
END_TEST

/* An expression that jumps to itself. */
START_TEST(endless)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa_expression, 3, DW_OP_skip, 0xfd, 0xff,
		DW_CFA_offset_ra, 1
	};
	const char *end;
	struct world w;

	start(&w, code, sizeof(code));
	ck_assert_uint_eq(unwind(&w, &end), 1);
	ck_assert_str_eq(end, "the table for unwinding is damaged");
	ck_assert_uint_le(w.reads, 1000000);
}
END_TEST

/* A thread that called a null pointer. It is not one without user code. */
START_TEST(at_zero)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1
	};
	const char *end;
	struct world w;

	start(&w, code, sizeof(code));
	ck_assert_uint_eq(unwind_from(&w, 0, &end), 0);
	ck_assert_str_eq(end, "the thread is at address 0");
}
END_TEST

/* Sizes and numbers of entries that the table does not have. The true caller is
 * found, or none. */
START_TEST(cut_tables)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1
	};
	const char *end;
	struct world w;
	unsigned i, whole = 0, silent = 0;
	size_t n;

	for (i = 0; i < 0x60; i++) {
		start(&w, code, sizeof(code));
		memset(w.table + i, _i ? 0xff : 0, 4);
		memcpy(w.stack, &(uint64_t){ CODE + 32 }, 8);
		n = unwind(&w, &end);
		ck_assert_uint_ge(n, 1);
		ck_assert_uint_le(w.reads, 200000);
		whole += n == 2;
		silent += n != 2 && !end;
	}
	/* Some bytes are not used, and most are. */
	ck_assert_uint_gt(whole, 0);
	ck_assert_uint_lt(whole, 0x60);
	/* A return address in no register ends a stack (DWARF 5, 6.4.4). */
	ck_assert_uint_le(silent, 2);
}
END_TEST

/* The innermost function has taken its return address off the stack; another
 * one may not. */
START_TEST(taken_away)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 7, 0, DW_CFA_register, 16, DI
	};
	const char *end;
	struct world w;

	start(&w, code, sizeof(code));
	w.di = CODE + 32;
	ck_assert_uint_eq(unwind(&w, &end), 2);
	ck_assert_str_eq(end, "the stack is damaged");
}
END_TEST

/* libunwind has an array of the registers, and believes their numbers. */
START_TEST(no_such_register)
{
	static const unsigned char code[][24] = {
		{ DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1, DW_CFA_register, 3,
		  17 },
		{ DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1, DW_CFA_register, 3,
		  0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 8 },
		{ DW_CFA_def_cfa, 7, 8, DW_CFA_register, 16, 0x80, 0x80, 0x80,
		  0x80, 8 },
		{ DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1, DW_CFA_val_offset,
		  DW_CFA_register, 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 8 },
		{ DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1,
		  DW_CFA_val_offset_sf, DW_CFA_register, 3, 0x80, 0x80, 0x80,
		  0x80, 0x80, 0x80, 8 },
	};
	const char *end;
	struct world w;

	start(&w, code[_i], sizeof(code[_i]));
	memcpy(w.stack, &(uint64_t){ CODE + 32 }, 8);
	ck_assert_uint_eq(unwind(&w, &end), 1);
	ck_assert_str_eq(end, "the table for unwinding is damaged");
}
END_TEST

/* It follows what is left of the data where it stops to read the letters, and
 * what is before an aligned pointer. */
START_TEST(hidden_register)
{
	static const struct {
		const char *letters;
		size_t n;
		unsigned char data[24];
	} cases[] = {
		{ "zR", 10, { 0x1b, DW_CFA_register, 3, 0x80, 0x80, 0x80, 0x80,
			      0x80, 0x80, 8 } },
		{ "zRBLLLLL", 6, { 0x1b, DW_CFA_register, 3, 0xff, 0x7f, 0 } },
		{ "zRLLLLLL", 7, { 0x1b, 0, 0, DW_CFA_register, 3, 0x7f, 0 } },
		{ "zRP", 10, { 0x1b, 0x50 } },
	};
	static const unsigned char code[] = {
		DW_CFA_expression, 9, 11, 0, 0, DW_CFA_register, 3, 0x80, 0x80,
		0x80, 0x80, 0x80, 0x80, 8, DW_CFA_def_cfa, 7, 8,
		DW_CFA_offset_ra, 1
	};
	const size_t skip = _i < 3 ? 14 : 0;
	const char *end;
	struct world w;

	start_with(&w, cases[_i].letters, cases[_i].data, cases[_i].n,
		   code + skip, sizeof(code) - skip);
	memcpy(w.stack, &(uint64_t){ CODE + 32 }, 8);
	ck_assert_uint_eq(unwind(&w, &end), 1);
	ck_assert_ptr_nonnull(end);
}
END_TEST

/* Where a row has no CFA, libunwind takes what is at address 0 for an
 * expression, which nobody has checked, or ends the program. */
START_TEST(no_cfa)
{
	static const unsigned char begin[] = { DW_CFA_offset_ra, 1 };
	static const unsigned char code[][7] = {
		{ 0 },
		{ DW_CFA_advance_loc1, 32, DW_CFA_def_cfa, 7, 8 },
		{ DW_CFA_remember, DW_CFA_def_cfa, 7, 8, DW_CFA_recall },
		{ DW_CFA_def_cfa, 7, 8, DW_CFA_advance_loc1, 32 },
	};
	const char *end;
	struct world w;
	uint32_t fde;

	start(&w, begin, sizeof(begin));
	memcpy(&fde, w.table + 16, sizeof(fde));
	memcpy(w.table + fde + 17, code[_i], sizeof(code[_i]));
	memcpy(w.stack, &(uint64_t){ CODE + 32 }, 8);
	ck_assert_uint_eq(unwind(&w, &end), _i == 3 ? 2 : 1);
	if (_i < 3)
		ck_assert_str_eq(end, "the table for unwinding is damaged");
	else
		ck_assert_ptr_null(end);
}
END_TEST

/* It divides the least number by -1: openly, in an operand that it jumps to, or
 * before its start. Old C libraries jump forward to an operation. */
START_TEST(hostile_expression)
{
	static const unsigned char code[][24] = {
		{ DW_CFA_def_cfa_expression, 12, DW_OP_const8u, 0, 0, 0, 0, 0,
		  0, 0, 0x80, DW_OP_const1s, 0xff, DW_OP_div },
		{ DW_CFA_def_cfa_expression, 16, DW_OP_const8u, 0, 0, 0, 0, 0,
		  0, 0, 0x80, DW_OP_const1s, 0xff, DW_OP_skip, 1, 0,
		  DW_OP_const1s, DW_OP_div },
		{ DW_CFA_advance_loc1, DW_OP_div, DW_CFA_def_cfa_expression, 14,
		  DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_const1s, 0xff,
		  DW_OP_skip, 0xef, 0xff },
		{ DW_CFA_def_cfa_expression, 6, DW_OP_skip, 1, 0, DW_OP_lit0,
		  DW_OP_breg_sp, 8, DW_CFA_offset_ra, 1 },
	};
	const char *end;
	struct world w;

	start(&w, code[_i], sizeof(code[_i]));
	memcpy(w.stack, &(uint64_t){ CODE + 32 }, 8);
	ck_assert_uint_eq(unwind(&w, &end), _i == 3 ? 2 : 1);
	if (_i < 3)
		ck_assert_str_eq(end, "the table for unwinding is damaged");
}
END_TEST

/* Its register is one that libunwind does not know, for which it takes rax or
 * what is before an array, or it is the place of a register, for which it takes
 * that of the innermost function. */
START_TEST(register_of_expression)
{
	static const unsigned char code[][24] = {
		{ DW_CFA_def_cfa_expression, 2, DW_OP_breg17, 0,
		  DW_CFA_offset_ra, 1 },
		{ DW_CFA_def_cfa_expression, 3, DW_OP_bregx, 17, 0,
		  DW_CFA_offset_ra, 1 },
		{ DW_CFA_def_cfa_expression, 7, DW_OP_bregx, 0x80, 0x80, 0x80,
		  0x80, 8, 0, DW_CFA_offset_ra, 1 },
		{ DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1, DW_CFA_expression,
		  3, 1, DW_OP_reg0 },
		{ DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1, DW_CFA_expression,
		  3, 2, DW_OP_regx, 0 },
		{ DW_CFA_def_cfa_expression, 3, DW_OP_bregx, 7, 8,
		  DW_CFA_offset_ra, 1 },
	};
	const char *end;
	struct world w;

	start(&w, code[_i], sizeof(code[_i]));
	memcpy(w.stack, &(uint64_t){ CODE + 32 }, 8);
	ck_assert_uint_eq(unwind(&w, &end), _i == 5 ? 2 : 1);
	if (_i < 5)
		ck_assert_str_eq(end, "the table for unwinding is damaged");
	else
		ck_assert_ptr_null(end);
}
END_TEST

/* libunwind follows what was checked, not what the process has there now. */
START_TEST(written_later)
{
	static const unsigned char code[LATER] = {
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1
	}, later[LATER] = {
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1, DW_CFA_register, 3,
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 8
	};
	const char *end;
	struct world w;

	start(&w, code, sizeof(code));
	ck_assert_mem_eq(w.table + INSTRUCTIONS_AT, code, sizeof(code));
	w.later = later;
	memcpy(w.stack, &(uint64_t){ CODE + 32 }, 8);
	ck_assert_uint_eq(unwind(&w, &end), 2);
	/* The next function's was read anew. */
	ck_assert_str_eq(end, "the table for unwinding is damaged");
}
END_TEST

/* The CIE that is looked at is that one which libunwind follows. */
START_TEST(cie_behind)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1
	};
	const uint32_t place = 0x200;
	const char *end;
	uint32_t fde, back;
	struct world w;

	start(&w, code, sizeof(code));
	memcpy(&fde, w.table + 16, sizeof(fde));
	memcpy(w.table + place, w.table + CIE_AT, fde - CIE_AT);
	memset(w.table + CIE_AT, 0xff, fde - CIE_AT);
	back = fde + 4 - place;
	memcpy(w.table + fde + 4, &back, sizeof(back));
	memcpy(w.stack, &(uint64_t){ CODE + 32 }, 8);
	ck_assert_uint_eq(unwind(&w, &end), 2);
	ck_assert_ptr_null(end);
}
END_TEST

static struct pdet_frame_pair *pair_of_debug_frame(uint64_t base)
{
	/* Version 4: addresses of eight bytes, the form of .debug_frame. */
	static const uint8_t section[] = {
		19, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 1, 0x78, 16,
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1, 0, 0, 0,
		20, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0,
		0x20, 0, 0, 0, 0, 0, 0, 0
	};
	static struct pdet_frame_pair pair;
	struct pdet_debug_frame f = {
		.bytes = malloc(sizeof(section)), .size = sizeof(section)
	};

	ck_assert_ptr_nonnull(f.bytes);
	memcpy(f.bytes, section, sizeof(section));
	ck_assert_int_eq(pdet_debug_frame_index(&f), 0);
	ck_assert_uint_eq(f.n, 1);
	ck_assert(!pdet_debug_frame_get(&f, 0xf, base, &pair));
	ck_assert(!pdet_debug_frame_get(&f, 0x30, base, &pair));
	ck_assert(pdet_debug_frame_get(&f, 0x2f, base, &pair));
	pdet_debug_frame_free(&f);
	return &pair;
}

/* A function in .debug_frame that is called by one in .eh_frame. */
START_TEST(pairs)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1
	};
	const char *end;
	struct world w;

	start(&w, code, sizeof(code));
	w.pair = pair_of_debug_frame(CODE + 4096);
	memcpy(w.stack, &(uint64_t){ CODE + 32 }, 8);
	ck_assert_uint_eq(unwind_from(&w, CODE + 4096 + 0x18, &end), 2);
	ck_assert_ptr_null(end);
	/* It is of another function. */
	ck_assert_uint_eq(unwind_from(&w, CODE + 4096 + 0x30, &end), 1);
	ck_assert_str_eq(end, "there is no table for unwinding this code");
}
END_TEST

/* Code that is interrupted by a signal is at an address, not after a call; its
 * stack pointer is any. */
START_TEST(signal_pair)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1
	};
	static struct pdet_frame_pair pair;
	const char *end;
	struct world w;

	start(&w, code, sizeof(code));
	pdet_signal_pair(CODE + 8192, &pair);
	w.pair = &pair;
	memcpy(w.stack + 160, &(uint64_t){ STACK + 1024 }, 8);
	memcpy(w.stack + 168, &(uint64_t){ CODE }, 8);
	memcpy(w.stack + 1024, &(uint64_t){ CODE + 32 }, 8);
	ck_assert_uint_eq(unwind_from(&w, CODE + 8192, &end), 3);
	ck_assert_ptr_null(end);
}
END_TEST

/* The function that it interrupted may have taken its return address off the
 * stack, too. */
START_TEST(taken_away_before_a_signal)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 7, 0, DW_CFA_register, 16, DI
	};
	static struct pdet_frame_pair pair;
	const char *end;
	struct world w;

	start(&w, code, sizeof(code));
	pdet_signal_pair(CODE + 8192, &pair);
	w.pair = &pair;
	w.handler = true;
	memcpy(w.stack + 104, &(uint64_t){ CODE + 32 }, 8);
	memcpy(w.stack + 160, &(uint64_t){ STACK + 1024 }, 8);
	memcpy(w.stack + 168, &(uint64_t){ CODE }, 8);
	ck_assert_uint_eq(unwind_from(&w, CODE + 8192, &end), 3);
	ck_assert_str_eq(end, "the stack is damaged");
}
END_TEST

/* Only where no memory is, a guess was wrong. */
START_TEST(lost_after_a_guess)
{
	static const struct {
		int error;
		const char *end;
	} cases[] = {
		{ -ENOENT, PDET_UNWIND_ASTRAY },
		{ -EFAULT, PDET_UNWIND_ASTRAY },
		{ -EAGAIN, "memory that is needed cannot be read" },
		{ -EACCES, "memory that is needed cannot be read" },
		{ -EIO, "memory that is needed cannot be read" },
		{ -ENXIO, "memory that is needed is not present: perhaps "
			  "swapped out" },
	};
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 7, 8, DW_CFA_offset_ra, 1
	};
	const char *end;
	struct world w;

	start(&w, code, sizeof(code));
	w.pair = pair_of_debug_frame(CODE + 4096);
	w.pair->guessed = true;
	w.lost = cases[_i].error;
	ck_assert_uint_eq(unwind_from(&w, CODE + 4096 + 0x18, &end), 1);
	ck_assert_str_eq(end, cases[_i].end);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("libunwind");
	struct pdet_env env = { .root = NULL };
	struct pdet_unwinder *u;

	if (pdet_unwinder_new(&env, &u) < 0) {
		printf("1..0 # SKIP %s\n", env.error);
		return 0;
	}
	pdet_unwinder_free(u);
	unit_test(s, right);
	unit_test(s, most_frames_by_rules);
	unit_test(s, circle);
	unit_test(s, endless);
	unit_test(s, at_zero);
	unit_loop(s, cut_tables, 2);
	unit_test(s, taken_away);
	unit_loop(s, no_such_register, 5);
	unit_loop(s, hidden_register, 4);
	unit_loop(s, no_cfa, 4);
	unit_loop(s, hostile_expression, 4);
	unit_loop(s, register_of_expression, 6);
	unit_test(s, cie_behind);
	unit_test(s, written_later);
	unit_test(s, pairs);
	unit_test(s, signal_pair);
	unit_test(s, taken_away_before_a_signal);
	unit_loop(s, lost_after_a_guess, 6);
	return unit_main(s);
}

#else

int main(void)
{
	printf("1..0 # SKIP only for x86-64\n");
	return 0;
}

#endif
