/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests registers of user code at the top of a kernel stack of arm64. */
#include <elf.h>
#include <errno.h>

#include "../kmem.h"
#include "../structs.h"
#include "symbol/user_regs.h"

#define STACK 0xffffc90000010000ull
#define AREA_AT 0xffff888000200000ull
#define BYTES 16384

enum { T_PID = 8, T_CPU = 12, T_ON_CPU = 16, T_STACK = 40, T_AREA = 48,
       T_THREAD = 64, TASK = 256, A_PAGES = 16, AREA = 32 };
/* struct pt_regs; words of it */
enum { R_PC = 256, R_RECORD = 304, REGS = 336, LR = 30, SP, PC, PSTATE };

/* An ELF note of a processor. */
enum { NOTE = 12 + 8 + 392, NOTE_PID = 20 + 32, NOTE_REGS = 20 + 112 };

struct world {
	struct kmem *k;
	struct structs s;
	struct pdet_task_stacks t;
	uint64_t task;
	struct pdet_user_regs regs;
};

/* @has_regs: the types have pt_regs. */
static void add_types(struct structs *s, bool has_regs)
{
	static const struct structs_member context[] = {
		{ "fp", 0, 0, 0, 8 }, { "sp", 8, 0, 0, 8 },
		{ "pc", 16, 0, 0, 8 },
	}, pages[] = { { "nr_pages", A_PAGES, 0, 0, 4 } };
	static const struct structs_member regs[] = {
		{ "regs", 0, 0, 0, 248 }, { "pc", R_PC, 0, 0, 8 },
		{ "stackframe", R_RECORD, 0, 0, 16 },
	};
	uint32_t thread;

	structs_init(s);
	if (has_regs)
		structs_add(s, "pt_regs", REGS, regs, 3);
	structs_add(s, "vm_struct", AREA, pages, 1);
	thread = structs_add(s, "cpu_context", 24, context, 3);
	{
		const struct structs_member in[] = {
			{ "cpu_context", 0, 0, 0, STRUCTS_IN(thread) },
		};

		thread = structs_add(s, "thread_struct", 24, in, 1);
	}
	{
		const struct structs_member task[] = {
			{ "pid", T_PID, 0, 0, 4 }, { "cpu", T_CPU, 0, 0, 4 },
			{ "stack", T_STACK, 0, 0, 8 },
			{ "stack_vm_area", T_AREA, 0, 0, 8 },
			{ "on_cpu", T_ON_CPU, 0, 0, 4 },
			{ "thread", T_THREAD, 0, 0, STRUCTS_IN(thread) },
		};

		structs_add(s, "task_struct", TASK, task, 6);
	}
}

static void set(struct world *w, unsigned word, uint64_t value)
{
	kmem_u64(w->k, STACK + BYTES - REGS + word * 8, value);
}

/* A task that sleeps in a system call. */
static struct world *start(bool has_regs)
{
	const struct pdet_orc_table none = { 0 };
	struct world *w = calloc(1, sizeof(*w));
	unsigned i;

	ck_assert_ptr_nonnull(w);
	w->k = kmem_new();
	w->k->p = tables_arm64(4096, 48, 16);
	add_types(&w->s, has_regs);
	ck_assert(pdet_task_stacks_init(&w->t, &w->k->p, structs_btf(&w->s),
					&none, NULL));
	w->task = kmem_object(w->k, TASK);
	kmem_u64(w->k, w->task + T_STACK, STACK);
	kmem_u64(w->k, w->task + T_AREA, AREA_AT);
	kmem_u32(w->k, AREA_AT + A_PAGES, BYTES / 4096);
	for (i = 0; i <= LR; i++)
		set(w, i, 100 + i);
	set(w, SP, 0xfffffff0000);
	set(w, PC, 0xaaaa00001000);
	set(w, PSTATE, 0x60001000);
	return w;
}

static void end(struct world *w)
{
	structs_free(&w->s);
	kmem_free(w->k);
	free(w);
}

static int ask(struct world *w)
{
	return pdet_user_regs(&w->k->space, &w->t, w->task, &w->regs);
}

START_TEST(system_calls)
{
	struct world *w = start(true);

	ck_assert_int_eq(ask(w), 0);
	ck_assert(w->regs.arm64);
	ck_assert(!w->regs.compat);
	ck_assert_uint_eq(w->regs.address_bits, 48);
	ck_assert_uint_eq(w->regs.reg[0], 100);
	ck_assert_uint_eq(w->regs.reg[PDET_ARM64_FP], 129);
	ck_assert_uint_eq(w->regs.reg[PDET_ARM64_LR], 130);
	ck_assert_uint_eq(w->regs.reg[PDET_ARM64_SP], 0xfffffff0000);
	ck_assert_uint_eq(w->regs.reg[PDET_ARM64_PC], 0xaaaa00001000);
	end(w);
}
END_TEST

START_TEST(not_these)
{
	static const struct {
		unsigned word;
		uint64_t value;
		int error;
	} cases[] = {
		{ PSTATE, 0x60000005, -EBADMSG },	/* the kernel */
		{ PSTATE, 0x600003c0, -EBADMSG },	/* no interrupts */
		{ PSTATE, 0x60000010, -ENOTSUP },	/* 32-bit code */
		{ PSTATE, 0x60000210, -ENOTSUP },	/* big-endian */
		{ PSTATE, 0x60000213, -EBADMSG },	/* its supervisor */
		{ PC, 0xffff800010000000, -EBADMSG },
		{ SP, 0xffffc90000010000, -EBADMSG },
	};
	struct world *w = start(true);

	set(w, cases[_i].word, cases[_i].value);
	ck_assert_int_eq(ask(w), cases[_i].error);
	end(w);
}
END_TEST

START_TEST(without_types)
{
	struct world *w = start(false);

	ck_assert_int_eq(ask(w), -ENODATA);
	end(w);
}
END_TEST

/* The kernel, which has crashed, writes whose registers a note has. */
START_TEST(in_a_processor)
{
	static char note[NOTE];
	const uint32_t head[] = { 5, 392, NT_PRSTATUS }, pid = 77;
	struct world *w = start(true);
	uint64_t v[34] = { 0 };

	v[LR] = 0x1234;
	v[SP] = 0x5000;
	v[PC] = 0x6000;
	memcpy(note, head, sizeof(head));
	memcpy(note + sizeof(head), "CORE", 5);
	memcpy(note + NOTE_PID, &pid, sizeof(pid));
	memcpy(note + NOTE_REGS, v, sizeof(v));
	w->t.cpus = (struct pdet_notes){ note, NOTE };
	kmem_u32(w->k, w->task + T_PID, pid);
	kmem_u32(w->k, w->task + T_ON_CPU, 1);
	ck_assert_int_eq(ask(w), 0);
	ck_assert_uint_eq(w->regs.reg[PDET_ARM64_LR], 0x1234);
	ck_assert_uint_eq(w->regs.reg[PDET_ARM64_PC], 0x6000);
	end(w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("user_regs_arm64");

	unit_test(s, system_calls);
	unit_loop(s, not_these, 7);
	unit_test(s, without_types);
	unit_test(s, in_a_processor);
	return unit_main(s);
}
