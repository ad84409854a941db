/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests unwinding of arm64 code by tables that are made by hand, for code at
 * CODE. tests/live/run compares stacks of dumps with what their guests know.
 */
#include <errno.h>

#include "../unit.h"
#include "unwind/by_table.h"
#include "unwind/unwind_end.h"

#define CODE 0x400000u
#define HEADER 0x500000u	/* .eh_frame_hdr, then .eh_frame */
#define CIE_AT 0x20u		/* after HEADER */
#define STACK 0xffff12340000u
#define RETURN 0x700000u	/* code that ends handlers */
#define BYTES 4096
#define SIGNED ((uint64_t)0x55 << 48)

enum { DW_CFA_def_cfa = 0x0c, DW_CFA_sign = 0x2d, DW_CFA_offset = 0x80, FP = 29,
       LR, SP };

/* A function whose record is at its stack pointer. */
#define RECORD DW_CFA_def_cfa, SP, 16, DW_CFA_offset | FP, 2, \
	DW_CFA_offset | LR, 1

struct world {
	unsigned char table[BYTES], stack[BYTES];
	size_t at;		/* in table */
	struct pdet_user_regs regs;
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

static void push(struct world *w, unsigned word, uint64_t v)
{
	memcpy(w->stack + word * sizeof(v), &v, sizeof(v));
}

/* A CIE with these instructions, which fill 16 bytes, and an FDE for 4096 bytes
 * at CODE. The thread is there. */
static void start_as(struct world *w, const char *letters, const void *code,
		     size_t n)
{
	static const unsigned char head[] = { 32, 0, 0, 0, 0, 0, 0, 0, 1 };
	static const unsigned char more[] = { 4, 0x78, LR, 1, 0x1b };
	const uint32_t fde = CIE_AT + 36;

	memset(w, 0, sizeof(*w));
	put(w, "\1\x1b\3\x3b", 4);
	put4(w, CIE_AT - 4);
	put4(w, 1);
	put4(w, CODE - HEADER);
	put4(w, fde);
	w->at = CIE_AT;
	put(w, head, sizeof(head));
	put(w, letters, strlen(letters) + 1);
	put(w, more, sizeof(more));
	put(w, code, n);
	w->at = fde;
	put4(w, 16);
	put4(w, fde + 4 - CIE_AT);
	put4(w, CODE - HEADER - (fde + 8));
	put4(w, 4096);
	w->regs = (struct pdet_user_regs){ .arm64 = true, .address_bits = 48 };
	w->regs.reg[PDET_ARM64_PC] = CODE;
	w->regs.reg[PDET_ARM64_SP] = STACK;
}

static void start(struct world *w, const void *code, size_t n)
{
	start_as(w, "zR", code, n);
}

static int read_bytes(void *arg, uint64_t addr, void *buf, size_t n)
{
	static const unsigned char back[] = { 0x68, 0x11, 0x80, 0xd2, 1, 0, 0,
					      0xd4 };
	const struct world *w = arg;

	if (addr - HEADER < BYTES - n)
		memcpy(buf, w->table + (addr - HEADER), n);
	else if (addr == RETURN && n <= sizeof(back))
		memcpy(buf, back, n);
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

static size_t unwind(struct world *w, const char **end)
{
	const struct pdet_unwind_target t = {
		read_bytes, find_code, w, NULL, NULL
	};

	return pdet_table_unwind(&t, &w->regs, w->steps, PDET_COUNT(w->steps),
				 end);
}

START_TEST(records)
{
	static const unsigned char code[] = { RECORD };
	struct world w;
	const char *end;

	start(&w, code, sizeof(code));
	push(&w, 1, CODE + 0x20);
	push(&w, 3, CODE + 0x30);
	ck_assert_uint_eq(unwind(&w, &end), 3);
	ck_assert_ptr_null(end);
	ck_assert(w.steps[0].exact);
	ck_assert_uint_eq(w.steps[1].ip, CODE + 0x20);
	ck_assert(!w.steps[1].exact);
	ck_assert_uint_eq(w.steps[2].ip, CODE + 0x30);
}
END_TEST

/* Only where the table says so an address has a signature. */
START_TEST(signatures)
{
	static const unsigned char code[] = {
		RECORD, DW_CFA_sign, DW_CFA_sign
	};
	struct world w;
	const char *end;

	start(&w, code, sizeof(code) - !_i);
	push(&w, 1, SIGNED | (CODE + 0x20));
	ck_assert_uint_eq(unwind(&w, &end), 2);
	ck_assert_uint_eq(w.steps[1].ip, (_i ? SIGNED : 0) | (CODE + 0x20));
	if (_i)
		ck_assert_str_eq(end, PDET_UNWIND_NO_TABLE);
	else
		ck_assert_ptr_null(end);
}
END_TEST

/* A function without a record returns to the link register, if it has called
 * nobody. */
START_TEST(without_a_record)
{
	static const unsigned char code[] = { DW_CFA_def_cfa, SP, 0 };
	struct world w;
	const char *end;

	start(&w, code, sizeof(code));
	w.regs.reg[PDET_ARM64_LR] = CODE + 0x20;
	ck_assert_uint_eq(unwind(&w, &end), 2);
	ck_assert_uint_eq(w.steps[1].ip, CODE + 0x20);
	ck_assert_str_eq(end, PDET_UNWIND_NO_REGISTER);
}
END_TEST

/* What was interrupted has the stack pointer of its caller. */
START_TEST(handlers)
{
	static const unsigned char code[] = { DW_CFA_def_cfa, SP, 0 };
	const unsigned context = (128 + 176 + 8) / 8;
	struct world w;
	const char *end;

	start(&w, code, sizeof(code));
	w.regs.reg[PDET_ARM64_LR] = RETURN;
	push(&w, context + PDET_ARM64_LR, CODE + 0x50);
	push(&w, context + PDET_ARM64_SP, STACK + 800);
	push(&w, context + PDET_ARM64_PC, CODE + 0x40);
	ck_assert_uint_eq(unwind(&w, &end), 4);
	ck_assert_str_eq(end, PDET_UNWIND_NO_REGISTER);
	ck_assert(w.steps[1].signal);
	ck_assert_uint_eq(w.steps[2].ip, CODE + 0x40);
	ck_assert(w.steps[2].exact);
	ck_assert_uint_eq(w.steps[3].ip, CODE + 0x50);
}
END_TEST

/* The page of the vdso that a handler returns to may never have been used, but
 * its table is known. It is about the caller of what was interrupted. */
START_TEST(by_the_table)
{
	static const unsigned char code[] = { RECORD };
	struct world w;
	const char *end;

	start_as(&w, "zRS", code, sizeof(code));
	push(&w, 1, CODE + 0x20);
	ck_assert_uint_eq(unwind(&w, &end), 1);
	ck_assert(w.steps[0].signal);
	ck_assert_str_eq(end, PDET_UNWIND_SIGNAL_AT_0);
}
END_TEST

START_TEST(not_there)
{
	static const unsigned char code[] = { RECORD };
	struct world w;
	const char *end;

	start(&w, code, sizeof(code));
	w.regs.reg[PDET_ARM64_SP] = 0x1000;
	ck_assert_uint_eq(unwind(&w, &end), 1);
	ck_assert_str_eq(end, "memory that is needed cannot be read");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("arm64");

	unit_test(s, records);
	unit_loop(s, signatures, 2);
	unit_test(s, without_a_record);
	unit_test(s, handlers);
	unit_test(s, by_the_table);
	unit_test(s, not_there);
	return unit_main(s);
}
