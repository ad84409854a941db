/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests unwinding of stacks made here with a table made here, in the ORC form
 * before 6.4 and the one since.
 */
#include <errno.h>

#include "../kmem.h"
#include "../structs.h"
#include "symbol/orc.h"

#define TEXT 0xffffffff81000000ull
#define STACK 0xffffc90000010000ull
#define TABLE 0xffffffff82000000ull
#define ENTRIES (TABLE + 0x1000)
#define MOST 16

enum { SP = 5, BP = 4, PREV_SP = 1, R10 = 6, BP_INDIRECT = 8, SP_INDIRECT = 9 };
enum { NONE, END, CALL, REGS, PARTIAL };
enum { R_R13 = 16, R_BP = 32, R_R10 = 56, R_DX = 96, R_DI = 112, R_IP = 128,
       R_CS = 136, R_SP = 152, PT_REGS = 168 };

/* The forms of the table: since 6.4, before, and since 7.1, where registers
 * have other numbers and only the version tells. */
enum { FORM_6_4, FORM_OLD, FORM_7_1, FORMS };
#define VERSION_7_1 \
	{ 0x13, 0x7c, 0x36, 0xad, 0x76, 0x27, 0xc4, 0xdd, 0x55, 0x93, \
	  0x21, 0x76, 0xbb, 0x0e, 0xcd, 0xbd, 0x50, 0x41, 0xfc, 0x82 }

struct orc {
	struct kmem *k;
	struct structs s;
	struct pdet_orc o;
	int form;
	unsigned n;
};

static struct orc *start(int form)
{
	static const struct structs_member now[] = {
		{ "sp_offset", 0, 0, 0, 2 }, { "bp_offset", 2, 0, 0, 2 },
		{ "sp_reg", 4, 4, 0, 4 }, { "bp_reg", 4, 4, 4, 4 },
		{ "type", 4, 3, 8, 4 }, { "signal", 4, 1, 11, 4 },
	}, before[] = {
		{ "sp_offset", 0, 0, 0, 2 }, { "bp_offset", 2, 0, 0, 2 },
		{ "sp_reg", 4, 4, 0, 4 }, { "bp_reg", 4, 4, 4, 4 },
		{ "type", 4, 2, 8, 4 }, { "end", 4, 1, 10, 4 },
	}, regs[] = {
		{ "ip", R_IP, 0, 0, 8 }, { "sp", R_SP, 0, 0, 8 },
		{ "bp", R_BP, 0, 0, 8 }, { "cs", R_CS, 0, 0, 2 },
		{ "r10", R_R10, 0, 0, 8 }, { "r13", R_R13, 0, 0, 8 },
		{ "di", R_DI, 0, 0, 8 }, { "dx", R_DX, 0, 0, 8 },
	};
	static const struct pdet_orc_table tables[FORMS] = {
		{ TABLE, ENTRIES, MOST, { 0 } },
		{ TABLE, ENTRIES, MOST, { 0 } },
		{ TABLE, ENTRIES, MOST, VERSION_7_1 },
	};
	struct orc *t = calloc(1, sizeof(*t));
	unsigned i;

	ck_assert_ptr_nonnull(t);
	t->form = form;
	t->k = kmem_new();
	structs_init(&t->s);
	structs_add(&t->s, "orc_entry", 6, form == FORM_OLD ? before : now,
		    6);
	structs_add(&t->s, "pt_regs", PT_REGS, regs, 8);
	ck_assert(pdet_orc_init(&t->o, structs_btf(&t->s), &tables[form],
				NULL));
	/* Up to an address without data, behind everything that a test adds. */
	for (i = 0; i < MOST; i++)
		kmem_u32(t->k, TABLE + 4 * i,
			 (uint32_t)(TEXT + 0x100000 - (TABLE + 4 * i)));
	return t;
}

static void end(struct orc *t)
{
	structs_free(&t->s);
	kmem_free(t->k);
	free(t);
}

/* The number that the form has for a register. */
static unsigned number(const struct orc *t, unsigned reg)
{
	static const unsigned numbers[] = {
		0, 8, 2, 5, 4, 3, 6, 7, 10, 9, 11, 12, 13, 14, 15, 15
	};

	return t->form == FORM_7_1 ? numbers[reg] : reg;
}

/* Adds an entry from @ip on; the table is ascending. */
static void add(struct orc *t, uint64_t ip, unsigned type, unsigned sp_reg,
		int sp_offset, unsigned bp_reg, int bp_offset, bool signal)
{
	const uint64_t at = TABLE + 4 * t->n;
	const uint16_t words[3] = {
		(uint16_t)sp_offset, (uint16_t)bp_offset,
		(uint16_t)(number(t, sp_reg) | number(t, bp_reg) << 4 |
			   (t->form == FORM_OLD ?
				     (type >= CALL ? type - CALL : 0) << 8 |
				     (type == END) << 10 :
				     type << 8 | (unsigned)signal << 11)),
	};

	ck_assert_uint_lt(t->n, MOST - 1);
	kmem_u32(t->k, at, (uint32_t)(ip - at));
	kmem_write(t->k, ENTRIES + 6 * t->n, words, sizeof(words));
	t->n++;
}

static void call(struct orc *t, uint64_t ip, int sp_offset)
{
	add(t, ip, CALL, SP, sp_offset, 0, 0, false);
}

static int next(struct orc *t, struct pdet_orc_state *s)
{
	return pdet_orc_next(&t->k->space, &t->o, s);
}

START_TEST(calls)
{
	struct orc *t = start(_i);
	struct pdet_orc_state s = {
		.ip = TEXT + 0x10, .sp = STACK, .bp = 0x1234
	};

	call(t, TEXT, 24);
	/* Saves bp below the return address, and uses it for its frame. */
	add(t, TEXT + 0x100, CALL, SP, 32, PREV_SP, -16, false);
	add(t, TEXT + 0x200, CALL, BP, 16, PREV_SP, -16, false);
	add(t, TEXT + 0x300, END, 0, 0, 0, 0, false);
	kmem_u64(t->k, STACK + 16, TEXT + 0x120);
	kmem_u64(t->k, STACK + 40, STACK + 96);
	kmem_u64(t->k, STACK + 48, TEXT + 0x280);
	kmem_u64(t->k, STACK + 96, 0x5678);
	/* Behind a call that does not return, so in the next function. */
	kmem_u64(t->k, STACK + 104, TEXT + 0x301);

	ck_assert_int_eq(next(t, &s), 1);
	ck_assert_uint_eq(s.ip, TEXT + 0x120);
	ck_assert_uint_eq(s.sp, STACK + 24);
	ck_assert_uint_eq(s.bp, 0x1234);
	ck_assert_int_eq(next(t, &s), 1);
	ck_assert_uint_eq(s.ip, TEXT + 0x280);
	ck_assert_uint_eq(s.sp, STACK + 56);
	ck_assert_uint_eq(s.bp, STACK + 96);
	ck_assert_int_eq(next(t, &s), 1);
	ck_assert_uint_eq(s.ip, TEXT + 0x301);
	ck_assert_uint_eq(s.sp, STACK + 112);
	ck_assert_uint_eq(s.bp, 0x5678);
	ck_assert_int_eq(next(t, &s), 0);
	end(t);
}
END_TEST

/* A call from the last instruction returns to the next function. */
START_TEST(the_call_counts_not_what_follows)
{
	struct orc *t = start(_i);
	struct pdet_orc_state s = { .ip = TEXT + 0x100, .sp = STACK };

	call(t, TEXT, 8);
	add(t, TEXT + 0x100, END, 0, 0, 0, 0, false);
	kmem_u64(t->k, STACK, TEXT + 0x180);
	ck_assert_int_eq(next(t, &s), 1);
	ck_assert_uint_eq(s.ip, TEXT + 0x180);
	ck_assert_int_eq(next(t, &s), 0);
	/* An interrupt came before that instruction. */
	s = (struct pdet_orc_state){ .ip = TEXT + 0x100, .sp = STACK,
				     .signal = true };
	ck_assert_int_eq(next(t, &s), 0);
	end(t);
}
END_TEST

START_TEST(system_calls_are_the_end)
{
	struct orc *t = start(_i);
	struct pdet_orc_state s = { .ip = TEXT + 0x10, .sp = STACK };

	add(t, TEXT, REGS, SP, 8, 0, 0, true);
	kmem_u64(t->k, STACK + 8 + R_IP, 0x401000);
	kmem_u64(t->k, STACK + 8 + R_SP, 0x7ffc0000);
	kmem_u64(t->k, STACK + 8 + R_CS, 0x33);
	ck_assert_int_eq(next(t, &s), 0);
	end(t);
}
END_TEST

/*
 * The kernel was interrupted on another stack: all registers are known, and the
 * instruction was not executed yet.
 */
START_TEST(interrupts)
{
	struct orc *t = start(_i);
	struct pdet_orc_state s = { .ip = TEXT + 0x10, .sp = STACK + 0x8000 };
	const uint64_t regs = STACK + 0x8000;

	add(t, TEXT, REGS, SP, 0, 0, 0, true);
	/* Its frame is in a register that calls do not preserve. */
	add(t, TEXT + 0x100, CALL, R10, 0, 0, 0, false);
	call(t, TEXT + 0x200, 8);
	add(t, TEXT + 0x300, END, 0, 0, 0, 0, false);
	kmem_u64(t->k, regs + R_IP, TEXT + 0x100);
	kmem_u64(t->k, regs + R_SP, STACK);
	kmem_u64(t->k, regs + R_CS, 0x10);
	kmem_u64(t->k, regs + R_BP, 0xabc);
	kmem_u64(t->k, regs + R_R10, STACK + 64);
	kmem_u64(t->k, STACK + 56, TEXT + 0x280);

	ck_assert_int_eq(next(t, &s), 1);
	ck_assert_uint_eq(s.ip, TEXT + 0x100);
	ck_assert_uint_eq(s.sp, STACK);
	ck_assert_int_eq(next(t, &s), 1);
	ck_assert_uint_eq(s.ip, TEXT + 0x280);
	ck_assert_uint_eq(s.sp, STACK + 64);
	ck_assert_uint_eq(s.bp, 0xabc);
	/* A call preserves none of them. */
	ck_assert_uint_eq(s.regs, 0);
	end(t);
}
END_TEST

/* Only what the processor itself pushes is known. */
START_TEST(exceptions)
{
	struct orc *t = start(_i);
	struct pdet_orc_state s = { .ip = TEXT + 0x10, .sp = STACK,
				    .bp = 0x77 };

	add(t, TEXT, PARTIAL, SP, 0, 0, 0, true);
	call(t, TEXT + 0x100, 8);
	kmem_u64(t->k, STACK, TEXT + 0x140);
	kmem_u64(t->k, STACK + R_CS - R_IP, 0x10);
	kmem_u64(t->k, STACK + R_SP - R_IP, STACK + 0x100);
	ck_assert_int_eq(next(t, &s), 1);
	ck_assert_uint_eq(s.ip, TEXT + 0x140);
	ck_assert_uint_eq(s.sp, STACK + 0x100);
	ck_assert_uint_eq(s.bp, 0x77);
	ck_assert(s.signal);
	ck_assert_uint_eq(s.regs, 0);
	end(t);
}
END_TEST

START_TEST(pointers_to_stacks)
{
	struct orc *t = start(_i);
	struct pdet_orc_state s = { .ip = TEXT + 0x10, .sp = STACK,
				    .bp = STACK + 8 };

	add(t, TEXT, CALL, SP_INDIRECT, 8, 0, 0, false);
	add(t, TEXT + 0x100, CALL, BP_INDIRECT, -8, 0, 0, false);
	kmem_u64(t->k, STACK, STACK + 0x100);
	kmem_u64(t->k, STACK + 0x100, TEXT + 0x140);
	ck_assert_int_eq(next(t, &s), 1);
	ck_assert_uint_eq(s.sp, STACK + 0x108);
	ck_assert_uint_eq(s.ip, TEXT + 0x140);
	kmem_u64(t->k, STACK, STACK + 0x200);
	kmem_u64(t->k, STACK + 0x1f8, TEXT + 0x20);
	ck_assert_int_eq(next(t, &s), 1);
	ck_assert_uint_eq(s.sp, STACK + 0x200);
	ck_assert_uint_eq(s.ip, TEXT + 0x20);
	end(t);
}
END_TEST

/* The stack of an interrupt may be above the one that it interrupted. */
START_TEST(the_other_stack_is_above)
{
	struct orc *t = start(_i);
	const uint64_t irq = STACK + 0x8000;
	struct pdet_orc_state s = { .ip = TEXT + 0x10, .sp = irq };
	unsigned n = 0;

	add(t, TEXT, CALL, SP_INDIRECT, 8, 0, 0, false);
	call(t, TEXT + 0x100, 8);
	kmem_u64(t->k, irq, STACK);
	kmem_u64(t->k, STACK, TEXT + 0x140);
	ck_assert_int_eq(next(t, &s), 1);
	ck_assert_uint_eq(s.sp, STACK + 8);
	ck_assert_uint_eq(s.ip, TEXT + 0x140);
	/* A word that leads to itself does not lead on for ever. */
	s = (struct pdet_orc_state){ .ip = TEXT + 0x10, .sp = irq };
	kmem_u64(t->k, irq, irq - 8);
	kmem_u64(t->k, irq - 8, TEXT + 0x20);
	while (next(t, &s) > 0 && n < 100)
		n++;
	ck_assert_uint_lt(n, 10);
	end(t);
}
END_TEST

/* Impossible values are damage; missing entries are not known. */
START_TEST(what_is_wrong)
{
	struct orc *t = start(_i);
	struct pdet_orc_state s = { .ip = TEXT + 0x10, .sp = STACK };

	call(t, TEXT, -8);
	add(t, TEXT + 0x100, CALL, R10, 0, 0, 0, false);
	add(t, TEXT + 0x200, CALL, 15, 0, 0, 0, false);
	add(t, TEXT + 0x300, CALL, SP, 8, 9, 0, false);
	add(t, TEXT + 0x400, NONE, 0, 0, 0, 0, false);
	call(t, TEXT + 0x500, 16);
	kmem_u64(t->k, STACK - 16, TEXT + 0x20);
	kmem_u64(t->k, STACK, TEXT + 0x20);

	/* The caller is below, in a register that no one saved, or missing. */
	ck_assert_int_eq(next(t, &s), -EBADMSG);
	s = (struct pdet_orc_state){ .ip = TEXT + 0x110, .sp = STACK };
	ck_assert_int_eq(next(t, &s), -EBADMSG);
	s.ip = TEXT + 0x210;
	ck_assert_int_eq(next(t, &s), -EBADMSG);
	s.ip = TEXT + 0x310;
	ck_assert_int_eq(next(t, &s), -EBADMSG);
	s.ip = TEXT + 0x410;
	ck_assert_int_eq(next(t, &s), -ENOENT);
	/* Returns to user code that it did not come from. */
	s.ip = TEXT + 0x510;
	kmem_u64(t->k, STACK + 8, 0x401000);
	ck_assert_int_eq(next(t, &s), -EBADMSG);
	/* A stack that does not exist, or in unmapped memory. */
	s = (struct pdet_orc_state){ .ip = TEXT + 0x510, .sp = 0x7000 };
	ck_assert_int_eq(next(t, &s), -EBADMSG);
	s.sp = STACK + (1ull << 30);
	ck_assert_int_eq(next(t, &s), -EBADMSG);
	/* Before the first entry, and behind the last one. */
	s = (struct pdet_orc_state){ .ip = TEXT - 8, .sp = STACK };
	ck_assert_int_eq(next(t, &s), -ENOENT);
	s.ip = TEXT + 0x200000;
	ck_assert_int_eq(next(t, &s), -ENOENT);
	end(t);
}
END_TEST

START_TEST(tables_that_cannot_be_read)
{
	struct orc *t = start(_i);
	struct pdet_orc_state s = { .ip = TEXT + 0x10, .sp = STACK };

	call(t, TEXT, 8);
	call(t, TEXT + 0x100, 8);
	kmem_u64(t->k, STACK, TEXT + 0x20);
	kmem_fail(t->k, ENTRIES, -EIO);
	ck_assert_int_eq(next(t, &s), -EIO);
	s.ip = TEXT + 0x10;
	t->o.kernel.ips += 1ull << 30;
	ck_assert_int_eq(next(t, &s), -EBADMSG);
	end(t);
}
END_TEST

START_TEST(types_that_do_not_say_enough)
{
	static const struct structs_member few[] = {
		{ "sp_offset", 0, 0, 0, 2 }, { "bp_offset", 2, 0, 0, 2 },
	};
	const struct pdet_orc_table table = { TABLE, ENTRIES, MOST, { 0 } };
	struct pdet_orc o;
	struct structs s;

	structs_init(&s);
	structs_add(&s, "orc_entry", 6, few, 2);
	ck_assert(!pdet_orc_init(&o, structs_btf(&s), &table, NULL));
	structs_free(&s);
}
END_TEST

/* Numbers of registers may change in any release: an unknown one is refused. */
START_TEST(a_version_that_is_not_known)
{
	struct orc *t = start(FORM_7_1);
	struct pdet_orc_table table = { TABLE, ENTRIES, MOST, VERSION_7_1 };
	struct pdet_orc o;

	ck_assert(pdet_orc_is_known(&table));
	table.version[19]++;
	ck_assert(!pdet_orc_is_known(&table));
	ck_assert(!pdet_orc_init(&o, t->s.btf, &table, NULL));
	end(t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("orc");

	unit_loop(s, calls, FORMS);
	unit_loop(s, the_call_counts_not_what_follows, FORMS);
	unit_loop(s, system_calls_are_the_end, FORMS);
	unit_loop(s, interrupts, FORMS);
	unit_loop(s, exceptions, FORMS);
	unit_loop(s, pointers_to_stacks, FORMS);
	unit_loop(s, the_other_stack_is_above, FORMS);
	unit_loop(s, what_is_wrong, FORMS);
	unit_loop(s, tables_that_cannot_be_read, FORMS);
	unit_test(s, types_that_do_not_say_enough);
	unit_test(s, a_version_that_is_not_known);
	return unit_main(s);
}
