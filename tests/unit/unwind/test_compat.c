/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests unwinding of 32-bit code by tables that are made by hand, for code at
 * CODE. Each stack ends, with a reason unless it is complete.
 */
#include <errno.h>

#include "../unit.h"
#include "unwind/by_table.h"
#include "unwind/dwarf/expression.h"
#include "unwind/unwind_end.h"

#define CODE 0x400000u
#define HEADER 0x500000u	/* .eh_frame_hdr, then .eh_frame */
#define CIE_AT 0x20u		/* after HEADER */
#define STACK 0x600000u
#define RETURN 0x700000u	/* code that ends handlers, without a table */
#define BYTES 4096

enum { DW_CFA_undefined = 0x07, DW_CFA_def_cfa = 0x0c,
       DW_CFA_offset_ra = 0x80 | 8 };

struct world {
	unsigned char table[BYTES], stack[BYTES], code[32];
	size_t at;		/* in table */
	unsigned reads;
	struct pdet_frame_pair *pair; /* for addresses without a table */
	int lost;		/* why the stack cannot be read; 0: it can */
	struct pdet_unwind_step steps[32];
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

static void push(struct world *w, unsigned word, uint32_t v)
{
	memcpy(w->stack + word * sizeof(v), &v, sizeof(v));
}

/* A CIE with these instructions, and an FDE for 4096 bytes at CODE. */
static void start(struct world *w, const void *code, size_t n)
{
	size_t begin, fde;

	memset(w, 0, sizeof(*w));
	w->at = CIE_AT;
	begin = w->at;
	put4(w, 0);
	put4(w, 0);
	put1(w, 1);
	put(w, "zR", 3);
	put1(w, 1);		/* unit of code */
	put1(w, 0x7c);		/* of data: -4 */
	put1(w, 8);		/* the return address */
	put1(w, 1);
	put1(w, 0x1b);		/* relative, 4 bytes */
	put(w, code, n);
	while (w->at % 4)
		put1(w, 0);
	memcpy(w->table + begin, &(uint32_t){ (uint32_t)(w->at - begin - 4) },
	       4);
	fde = w->at;
	put4(w, 16);
	put4(w, (uint32_t)(w->at - begin));
	put4(w, (uint32_t)(CODE - HEADER - w->at));
	put4(w, 4096);
	put4(w, 0);
	w->at = 0;
	put(w, "\1\x1b\3\x3b", 4);
	put4(w, CIE_AT - 4);
	put4(w, 1);
	put4(w, CODE - HEADER);
	put4(w, (uint32_t)fde);
}

/* That of a function that has pushed nothing. */
static void start_plain(struct world *w)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 4, 4, DW_CFA_offset_ra, 1
	};

	start(w, code, sizeof(code));
}

static int read_bytes(void *arg, uint64_t addr, void *buf, size_t n)
{
	struct world *w = arg;

	w->reads++;
	if (addr - HEADER < BYTES - n)
		memcpy(buf, w->table + (addr - HEADER), n);
	else if (n < sizeof(w->code) && addr - RETURN < sizeof(w->code) - n)
		memcpy(buf, w->code + (addr - RETURN), n);
	else if (w->lost)
		return w->lost;
	else if (addr - STACK < BYTES - n)
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

static const struct pdet_frame_pair *find_pair(void *arg, uint64_t ip)
{
	const struct world *w = arg;

	return ip - CODE >= 4096 ? w->pair : NULL;
}

static size_t unwind(struct world *w, uint32_t ip, const char **end)
{
	const struct pdet_unwind_target t = {
		read_bytes, find_code, w, find_pair, NULL
	};
	struct pdet_user_regs regs = { .compat = true };

	regs.reg[PDET_USER_IP] = ip;
	regs.reg[PDET_USER_SP] = STACK;
	/* What 64-bit code left in the upper half is not a part of it. */
	regs.reg[PDET_USER_BP] = (uint64_t)1 << 32;
	return pdet_table_unwind(&t, &regs, w->steps,
				  PDET_COUNT(w->steps), end);
}

START_TEST(complete)
{
	struct world w;
	const char *end;

	start_plain(&w);
	push(&w, 0, CODE + 0x20);
	push(&w, 1, CODE + 0x30);
	ck_assert_uint_eq(unwind(&w, CODE, &end), 3);
	ck_assert_ptr_null(end);
	ck_assert_uint_eq(w.steps[0].ip, CODE);
	ck_assert(w.steps[0].exact);
	ck_assert_uint_eq(w.steps[1].ip, CODE + 0x20);
	ck_assert(!w.steps[1].exact);
	ck_assert_uint_eq(w.steps[2].ip, CODE + 0x30);
}
END_TEST

START_TEST(without_a_caller)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 4, 4, DW_CFA_undefined, 8
	};
	struct world w;
	const char *end;

	start(&w, code, sizeof(code));
	push(&w, 0, CODE + 0x20);
	ck_assert_uint_eq(unwind(&w, CODE, &end), 1);
	ck_assert_ptr_null(end);
}
END_TEST

/* Only arm64 has an instruction that says so. */
START_TEST(a_signature)
{
	static const unsigned char code[] = {
		DW_CFA_def_cfa, 4, 4, DW_CFA_offset_ra, 1, 0x2d
	};
	struct world w;
	const char *end;

	start(&w, code, sizeof(code));
	ck_assert_uint_eq(unwind(&w, CODE, &end), 1);
	ck_assert_str_eq(end, PDET_UNWIND_UNKNOWN_FORM);
}
END_TEST

/* The frames of both kinds of handlers, as the kernel writes them. */
START_TEST(signals)
{
	static const struct {
		const char *code;
		unsigned n, context;
	} kinds[] = {
		{ "\x58\xb8\x77\0\0\0\xcd\x80", 8, 2 },
		{ "\xb8\xad\0\0\0\xcd\x80", 7, 45 },
	};
	struct world w;
	const char *end;

	start_plain(&w);
	memcpy(w.code, kinds[_i].code, kinds[_i].n);
	push(&w, 0, RETURN);
	push(&w, 1, 10);
	if (_i) {
		push(&w, 2, STACK + 4 * 30);
		push(&w, 3, STACK + 4 * 40);
	}
	push(&w, kinds[_i].context + 7, STACK + 4 * 100);
	push(&w, kinds[_i].context + 14, CODE + 0x40);
	push(&w, 100, CODE + 0x50);
	ck_assert_uint_eq(unwind(&w, CODE, &end), 4);
	ck_assert_ptr_null(end);
	ck_assert(w.steps[1].signal);
	ck_assert_uint_eq(w.steps[2].ip, CODE + 0x40);
	ck_assert(w.steps[2].exact);
	ck_assert_uint_eq(w.steps[3].ip, CODE + 0x50);
}
END_TEST

/* A byte, or more of them, at an offset of the table. */
START_TEST(damaged)
{
	static const struct {
		unsigned at;
		const char *bytes;
		size_t n;
		const char *why;
	} cases[] = {
		{ 0, "\2", 1, PDET_UNWIND_UNKNOWN_FORM },
		{ 3, "\x1b", 1, PDET_UNWIND_UNKNOWN_FORM },
		{ 8, "\xff\xff\xff\xff", 4,
		  "memory that is needed cannot be read" },
		{ 8, "\0\0\0\0", 4, PDET_UNWIND_NO_TABLE },
		{ 12, "\xff\xff\xff\x7f", 4, PDET_UNWIND_NO_TABLE },
		{ 16, "\xff\xff\xff\x7f", 4,
		  "memory that is needed cannot be read" },
		/* Lengths: of the CIE, and of the FDE. */
		{ CIE_AT, "\xff\xff\xff\xff", 4, PDET_UNWIND_DAMAGED_TABLE },
		{ CIE_AT, "\0\0\0\0", 4, PDET_UNWIND_DAMAGED_TABLE },
		{ CIE_AT + 24, "\xff\xff\xff\xff", 4,
		  PDET_UNWIND_DAMAGED_TABLE },
		{ CIE_AT + 24, "\6\0\0\0", 4, PDET_UNWIND_DAMAGED_TABLE },
		/* The FDE leads nowhere, and it is about no address. */
		{ CIE_AT + 28, "\0\0\0\x40", 4,
		  "memory that is needed cannot be read" },
		{ CIE_AT + 36, "\0\0\0\0", 4, PDET_UNWIND_NO_TABLE },
		/* The letters of the CIE, and registers. */
		{ CIE_AT + 9, "y", 1, PDET_UNWIND_UNKNOWN_FORM },
		{ CIE_AT + 10, "X", 1, PDET_UNWIND_UNKNOWN_FORM },
		{ CIE_AT + 14, "\x09", 1, PDET_UNWIND_UNKNOWN_FORM },
		{ CIE_AT + 18, "\x20", 1, PDET_UNWIND_NO_REGISTER },
	};
	struct world w;
	const char *end;

	start_plain(&w);
	push(&w, 0, CODE + 0x20);
	memcpy(w.table + cases[_i].at, cases[_i].bytes, cases[_i].n);
	ck_assert_uint_eq(unwind(&w, CODE, &end), 1);
	ck_assert_str_eq(end, cases[_i].why);
	ck_assert_uint_lt(w.reads, 100);
}
END_TEST

START_TEST(unreadable)
{
	static const struct {
		int error;
		const char *why;
	} cases[] = {
		{ -ENXIO, "memory that is needed is not present: perhaps "
			  "swapped out" },
		{ -ENODATA, "memory that is needed is not in the dump" },
		{ -EFAULT, "memory that is needed cannot be read" },
	};
	struct world w;
	const char *end;

	start_plain(&w);
	w.lost = cases[_i].error;
	ck_assert_uint_eq(unwind(&w, CODE, &end), 1);
	ck_assert_str_eq(end, cases[_i].why);
}
END_TEST

START_TEST(nowhere)
{
	struct world w;
	const char *end;

	start_plain(&w);
	ck_assert_uint_eq(unwind(&w, 0, &end), 0);
	ck_assert_str_eq(end, PDET_UNWIND_THREAD_AT_0);
	push(&w, 0, 0x123456);
	ck_assert_uint_eq(unwind(&w, CODE, &end), 2);
	ck_assert_str_eq(end, PDET_UNWIND_NO_TABLE);
}
END_TEST

/* A function of .debug_frame. */
START_TEST(by_debug_frame)
{
	static uint8_t section[] =
		"\x10\0\0\0\xff\xff\xff\xff\4\0\4\0\1\x7c\x8\xc\4\4\x88\1"
		"\x0c\0\0\0\0\0\0\0\x10\0\0\0\x20\0\0";
	struct pdet_debug_frame f = { section, sizeof(section), true, NULL, 0 };
	static struct pdet_frame_pair pair;
	struct world w;
	const char *end;

	ck_assert_int_eq(pdet_debug_frame_index(&f), 0);
	ck_assert_uint_eq(f.n, 1);
	ck_assert(!pdet_debug_frame_get(&f, 0x30, CODE + 4096, &pair));
	ck_assert(pdet_debug_frame_get(&f, 0x2f, CODE + 4096, &pair));
	free(f.entries);
	start_plain(&w);
	w.pair = &pair;
	push(&w, 0, CODE + 0x20);
	ck_assert_uint_eq(unwind(&w, CODE + 4096 + 0x10, &end), 2);
	ck_assert_ptr_null(end);
	/* It has no more addresses. */
	ck_assert_uint_eq(unwind(&w, CODE + 4096 + 0x30, &end), 1);
	ck_assert_str_eq(end, PDET_UNWIND_NO_TABLE);
}
END_TEST

/* --- expressions --- */

static int word_at(void *arg, uint64_t addr, uint64_t *ret)
{
	(void)arg;
	*ret = addr + 1;
	return addr == 0xbad ? -EIO : 0;
}

static int reg_of(void *arg, uint64_t number, uint64_t *ret)
{
	(void)arg;
	*ret = 0x1000 * number;
	return number > 8 ? -ENXIO : 0;
}

START_TEST(expressions)
{
	static const struct {
		const char *code;
		size_t n;
		int error;
		uint32_t result;
	} cases[] = {
		/* Of linkers, for the jumps to other files. */
		{ "\x74\4\x78\0\x3f\x1a\x3b\x2a\x32\x24\x22", 11, 0, 0x4004 },
		{ "\x74\x7c\6", 3, 0, 0x3ffd },		/* breg4 -4, deref */
		{ "\x92\3\1", 3, 0, 0x3001 },		/* bregx 3, 1 */
		{ "\x08\xff\x09\xff\x22", 5, 0, 0xfe },	/* 255 + -1 */
		{ "\x0a\1\2\x0b\xff\xff\x1c", 7, 0, 0x202 },
		{ "\x0c\1\2\3\4", 5, 0, 0x4030201 },
		{ "\x10\x80\1\x11\x7f\x1e", 6, 0, 0xffffff80 },
		{ "\x33\x35\x16\x1c", 4, 0, 2 },	/* 5 - 3 */
		{ "\x33\x35\x14\x13\x21\x12\x27", 7, 0, 0 },
		{ "\x31\x4f\x24\x4f\x25", 5, 0, 1 },	/* 1 << 31 >> 31 */
		{ "\x31\x4f\x24\x4f\x26\x20", 6, 0, 0 },
		{ "\x33\x23\2\x1f", 4, 0, 0xfffffffb },
		{ "\x31\x1f\x31\x2d", 4, 0, 1 },	/* -1 < 1 */
		{ "\x31\x32\x29\x31\x31\x2e\x22", 7, 0, 0 },
		{ "", 0, -EBADMSG, 0 },
		{ "\x22", 1, -EBADMSG, 0 },
		{ "\x31\x22", 2, -EBADMSG, 0 },
		{ "\x0c\1\2", 3, -EBADMSG, 0 },
		{ "\x79\0", 2, -ENXIO, 0 },
		{ "\x0a\xad\x0b\6", 4, -EIO, 0 },
		{ "\x2f\xfd\xff", 3, -ENOTSUP, 0 },
		{ "\x97", 1, -ENOTSUP, 0 },
	};
	const uint8_t *code = (const uint8_t *)cases[_i].code;
	const struct pdet_values v = { word_at, reg_of, NULL, 4 };
	uint64_t result;

	ck_assert_int_eq(pdet_expression((struct pdet_frame_rest){
				code, code + cases[_i].n, false }, &v, NULL,
				&result), cases[_i].error);
	if (!cases[_i].error)
		ck_assert_uint_eq(result, cases[_i].result);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("compat");

	unit_test(s, complete);
	unit_test(s, without_a_caller);
	unit_test(s, a_signature);
	unit_loop(s, signals, 2);
	unit_loop(s, damaged, 16);
	unit_loop(s, unreadable, 3);
	unit_test(s, nowhere);
	unit_test(s, by_debug_frame);
	unit_loop(s, expressions, 22);
	return unit_main(s);
}
