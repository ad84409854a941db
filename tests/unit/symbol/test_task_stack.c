/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests stacks of sleeping tasks on kernels with ORC, with frame pointers, and
 * on arm64.
 */
#include <elf.h>
#include <errno.h>

#include "../kmem.h"
#include "../structs.h"
#include "symbol/task_stack.h"

#define TEXT 0xffffffff81000000ull
#define STACK 0xffffc90000010000ull
#define FRAMES 8

enum { T_PID = 8, T_CPU = 12, T_ON_CPU = 16, T_SWITCHES = 24, T_FORCED = 32,
       T_STACK = 40, T_AREA = 48, T_THREAD = 64, TASK = 256, A_PAGES = 16,
       AREA = 32, C_FP = 8, C_SP = 16, C_PC = 24, F_BP = 40, F_IP = 48 };

struct world {
	struct kmem *k;
	struct structs s;
	struct pdet_task_stacks t;
	uint64_t task;
	struct pdet_frame frames[FRAMES];
	int error;
};

static struct world *start(bool arm64)
{
	static const struct structs_member context[] = {
		{ "fp", C_FP, 0, 0, 8 }, { "sp", C_SP, 0, 0, 8 },
		{ "pc", C_PC, 0, 0, 8 },
	}, x86[] = { { "sp", C_SP, 0, 0, 8 } }, frame[] = {
		{ "bp", F_BP, 0, 0, 8 }, { "ret_addr", F_IP, 0, 0, 8 },
	};
	static const struct structs_member pages[] = {
		{ "nr_pages", A_PAGES, 0, 0, 4 },
	};
	const struct pdet_orc_table none = { 0 };
	struct world *w = calloc(1, sizeof(*w));
	uint32_t thread;

	ck_assert_ptr_nonnull(w);
	w->k = kmem_new();
	structs_init(&w->s);
	structs_add(&w->s, "vm_struct", AREA, pages, 1);
	if (arm64) {
		const struct structs_member in[] = {
			{ "cpu_context", 0, 0, 0, STRUCTS_IN(structs_add(&w->s,
					"cpu_context", 32, context, 3)) },
		};

		thread = structs_add(&w->s, "thread_struct", 32, in, 1);
		w->k->p = tables_arm64(4096, 48, 16);
	} else {
		structs_add(&w->s, "inactive_task_frame", 56, frame, 2);
		thread = structs_add(&w->s, "thread_struct", 32, x86, 1);
	}
	{
		const struct structs_member task[] = {
			{ "pid", T_PID, 0, 0, 4 }, { "cpu", T_CPU, 0, 0, 4 },
			{ "stack", T_STACK, 0, 0, 8 },
			{ "stack_vm_area", T_AREA, 0, 0, 8 },
			{ "on_cpu", T_ON_CPU, 0, 0, 4 },
			{ "nvcsw", T_SWITCHES, 0, 0, 8 },
			{ "nivcsw", T_FORCED, 0, 0, 8 },
			{ "thread", T_THREAD, 0, 0, STRUCTS_IN(thread) },
		};

		structs_add(&w->s, "task_struct", TASK, task, 8);
	}
	ck_assert(pdet_task_stacks_init(&w->t, &w->k->p, structs_btf(&w->s),
					&none, NULL));
	w->task = kmem_object(w->k, TASK);
	return w;
}

static void end(struct world *w)
{
	structs_free(&w->s);
	kmem_free(w->k);
	free(w);
}

static size_t ask(struct world *w, size_t n)
{
	return pdet_task_stack(&w->k->space, &w->t, w->task, w->frames, n,
			       &w->error);
}

static void record(struct world *w, uint64_t at, uint64_t next, uint64_t ip)
{
	kmem_u64(w->k, at, next);
	kmem_u64(w->k, at + 8, ip);
}

/* Three frames, and the record that ends them. */
static void sleep_there(struct world *w, bool arm64)
{
	const uint64_t task = w->task + T_THREAD;

	if (arm64) {
		kmem_u64(w->k, task + C_SP, STACK);
		kmem_u64(w->k, task + C_FP, STACK);
		kmem_u64(w->k, task + C_PC, TEXT + 0x10);
	} else {
		kmem_u64(w->k, task + C_SP, STACK - 56);
		kmem_u64(w->k, STACK - 56 + F_BP, STACK);
		kmem_u64(w->k, STACK - 56 + F_IP, TEXT + 0x10);
	}
	record(w, STACK, STACK + 0x40, TEXT + 0x20);
	record(w, STACK + 0x40, STACK + 0x100, TEXT + 0x30);
	record(w, STACK + 0x100, 0, 0);
}

START_TEST(frame_pointers)
{
	struct world *w = start(_i);

	sleep_there(w, _i);
	ck_assert_uint_eq(ask(w, FRAMES), 3);
	ck_assert_int_eq(w->error, 0);
	ck_assert_uint_eq(w->frames[0].ip, TEXT + 0x10);
	ck_assert_uint_eq(w->frames[1].ip, TEXT + 0x20);
	ck_assert_uint_eq(w->frames[2].ip, TEXT + 0x30);
	/* More frames than fit. */
	ck_assert_uint_eq(ask(w, 2), 2);
	ck_assert_int_eq(w->error, -E2BIG);
	end(w);
}
END_TEST

/* arm64 signs return addresses. */
START_TEST(signed_pointers)
{
	struct world *w = start(true);

	sleep_there(w, true);
	record(w, STACK, STACK + 0x40, 0xab95ffff81000020ull);
	ck_assert_uint_eq(ask(w, FRAMES), 3);
	ck_assert_int_eq(w->error, 0);
	ck_assert_uint_eq(w->frames[1].ip, TEXT + 0x20);
	end(w);
}
END_TEST

START_TEST(who_runs_has_none)
{
	struct world *w = start(_i);

	sleep_there(w, _i);
	kmem_u32(w->k, w->task + T_ON_CPU, 1);
	ck_assert_uint_eq(ask(w, FRAMES), 0);
	ck_assert_int_eq(w->error, -EAGAIN);
	end(w);
}
END_TEST

enum { X86_LEN = 336, ARM64_LEN = 392, NOTE = 20 + X86_LEN,
       ARM64_NOTE = 20 + ARM64_LEN };

/* Registers of one processor, as in a dump. */
static void put_note(char *at, uint32_t len, uint32_t pid, const void *regs,
		     size_t n)
{
	const Elf64_Nhdr head = { 5, len, NT_PRSTATUS };

	memset(at, 0, 20 + len);
	memcpy(at, &head, sizeof(head));
	memcpy(at + 12, "CORE", 5);
	memcpy(at + 20 + 32, &pid, sizeof(pid));
	memcpy(at + 20 + 112, regs, n);
}

static void note(char *at, uint32_t pid, uint64_t ip, uint64_t sp, uint64_t bp,
		 bool user)
{
	const uint64_t regs[27] = {
		[4] = bp, [16] = ip, [17] = user ? 0x33 : 0x10, [19] = sp
	};

	put_note(at, X86_LEN, pid, regs, sizeof(regs));
}

static void arm64_note(char *at, uint32_t pid, uint64_t ip, uint64_t sp,
		       uint64_t fp)
{
	const uint64_t regs[34] = {
		[29] = fp, [31] = sp, [32] = ip, [33] = 0x5
	};

	put_note(at, ARM64_LEN, pid, regs, sizeof(regs));
}

/* The task is marked as running on the one processor that the dump has, whose
 * number or task is @pid, and which is at @at. */
static void runs_at(struct world *w, char data[ARM64_NOTE], bool arm64,
		    uint32_t pid, uint64_t at)
{
	kmem_u32(w->k, w->task + T_ON_CPU, 1);
	if (arm64)
		arm64_note(data, pid, TEXT + 0x80, at, at);
	else
		note(data, pid, TEXT + 0x80, at - 8, at, false);
	w->t.cpus = (struct pdet_notes){ data, arm64 ? ARM64_NOTE : NOTE };
}

/*
 * Notes name the task (as the kernel writes them) or the processor (as QEMU
 * does).
 */
START_TEST(who_ran_when_the_dump_was_written)
{
	const uint32_t other = _i ? 1 : 7, own = _i ? 2 : 42;
	struct world *w = start(false);
	char data[2 * NOTE];

	sleep_there(w, false);
	kmem_u32(w->k, w->task + T_PID, 42);
	kmem_u32(w->k, w->task + T_ON_CPU, 1);
	kmem_u32(w->k, w->task + T_CPU, _i ? 1 : 5);
	kmem_u64(w->k, w->task + T_STACK, STACK - 0x1000);
	w->t.cpus = (struct pdet_notes){ data, sizeof(data) };
	/* On another stack, because of an interrupt. */
	note(data, other, TEXT + 0x70, STACK + 0x100000, 0, false);
	note(data + NOTE, own, TEXT + 0x80, STACK - 0x2000, STACK + 0x40,
	     false);
	ck_assert_uint_eq(ask(w, FRAMES), 2);
	ck_assert_int_eq(w->error, 0);
	ck_assert_uint_eq(w->frames[0].ip, TEXT + 0x80);
	ck_assert_uint_eq(w->frames[1].ip, TEXT + 0x30);
	/* in user code */
	note(data + NOTE, own, 0x401000, 0x7ffc0000, 0, true);
	ck_assert_uint_eq(ask(w, FRAMES), 0);
	ck_assert_int_eq(w->error, 0);
	/* The other task is on its own stack. */
	note(data, other, TEXT + 0x90, STACK - 0x800, STACK, false);
	w->t.cpus.len = NOTE;
	ck_assert_uint_eq(ask(w, FRAMES), 3);
	ck_assert_uint_eq(w->frames[0].ip, TEXT + 0x90);
	/* None of the tasks. */
	note(data, other, TEXT + 0x90, STACK + 0x100000, STACK, false);
	ck_assert_uint_eq(ask(w, FRAMES), 0);
	ck_assert_int_eq(w->error, -EAGAIN);
	end(w);
}
END_TEST

/*
 * An interrupt has its own stack, above or below: its last record leads to the
 * interrupted code.
 */
START_TEST(interrupts_have_a_stack)
{
	static const uint64_t at[] = {
		STACK - 0x100000, STACK + 0x7000, STACK + 0x100000
	};
	const bool arm64 = _i & 1;
	const uint64_t irq = at[_i / 2];
	struct world *w = start(arm64);
	char data[ARM64_NOTE];

	sleep_there(w, arm64);
	kmem_u32(w->k, w->task + T_PID, 42);
	kmem_u64(w->k, w->task + T_STACK, STACK - 0x1000);
	record(w, irq, irq + 0x40, TEXT + 0x81);
	record(w, irq + 0x40, STACK, TEXT + 0x82);
	runs_at(w, data, arm64, 42, irq);
	ck_assert_uint_eq(ask(w, FRAMES), 5);
	ck_assert_int_eq(w->error, 0);
	ck_assert_uint_eq(w->frames[0].ip, TEXT + 0x80);
	ck_assert_uint_eq(w->frames[1].ip, TEXT + 0x81);
	ck_assert_uint_eq(w->frames[2].ip, TEXT + 0x82);
	ck_assert_uint_eq(w->frames[3].ip, TEXT + 0x20);
	ck_assert_uint_eq(w->frames[4].ip, TEXT + 0x30);
	/*
	 * The walk must not return to a stack that it left. If a larger stack
	 * may be there, the walk stops only after some frames.
	 */
	record(w, STACK + 0x40, irq, TEXT + 0x30);
	ck_assert_uint_eq(ask(w, FRAMES), irq == STACK + 0x7000 ? 7 : 5);
	ck_assert_int_eq(w->error, -EBADMSG);
	/* To the stack of another task, below it: that was interrupted. */
	record(w, irq + 0x40, STACK - 0x200000, TEXT + 0x82);
	ck_assert_uint_eq(ask(w, FRAMES), 0);
	ck_assert_int_eq(w->error, -EAGAIN);
	/* it is not known whose */
	kmem_fail(w->k, irq + 0x40, -EIO);
	ck_assert_uint_eq(ask(w, FRAMES), 0);
	ck_assert_int_eq(w->error, -EIO);
	end(w);
}
END_TEST

/* In the middle of a switch both tasks are marked as running there, and the
 * processor is on the stack of the other one already, or still. */
START_TEST(switch_under_way)
{
	const bool arm64 = _i & 1, near = _i & 2;
	const uint64_t other = STACK + (near ? 0x4000 : 0x100000);
	struct world *w = start(arm64);
	char data[ARM64_NOTE];

	sleep_there(w, arm64);
	kmem_u32(w->k, w->task + T_PID, 73);
	kmem_u32(w->k, w->task + T_CPU, 0);
	kmem_u64(w->k, w->task + T_STACK, STACK - 0x1000);
	record(w, other, other + 0x40, TEXT + 0x81);
	record(w, other + 0x40, 0, 0);
	runs_at(w, data, arm64, 1, other);
	ck_assert_uint_eq(ask(w, FRAMES), 0);
	ck_assert_int_eq(w->error, -EAGAIN);
	/* nor are there more of it than fit */
	ck_assert_uint_eq(ask(w, 1), 0);
	ck_assert_int_eq(w->error, -EAGAIN);
	/* in user code nobody switches */
	if (!arm64) {
		note(data, 1, 0x401000, 0x7ffc0000, 0, true);
		ck_assert_uint_eq(ask(w, FRAMES), 0);
		ck_assert_int_eq(w->error, 0);
	}
	end(w);
}
END_TEST

/* How large a stack is, its area says: of 32 KB the upper half is the task's
 * own, too, and what lies behind it is not. */
START_TEST(large_stacks)
{
	const bool arm64 = _i;
	struct world *w = start(arm64);
	uint64_t area = kmem_object(w->k, AREA);
	char data[ARM64_NOTE];

	sleep_there(w, arm64);
	kmem_u32(w->k, w->task + T_PID, 42);
	kmem_u64(w->k, w->task + T_STACK, STACK - 0x6000);
	kmem_u64(w->k, w->task + T_AREA, area);
	kmem_u32(w->k, area + A_PAGES, 8);
	runs_at(w, data, arm64, 42, STACK);
	ck_assert_uint_eq(ask(w, FRAMES), 3);
	ck_assert_int_eq(w->error, 0);
	/* 16 KB only: that is somebody else's */
	kmem_u32(w->k, area + A_PAGES, 4);
	ck_assert_uint_eq(ask(w, FRAMES), 0);
	ck_assert_int_eq(w->error, -EAGAIN);
	/* it cannot be: then no more than what all have */
	kmem_u32(w->k, area + A_PAGES, 4000);
	ck_assert_uint_eq(ask(w, FRAMES), 0);
	ck_assert_int_eq(w->error, -EAGAIN);
	end(w);
}
END_TEST

/* Frames before the damage are returned, and that there are more. */
START_TEST(damaged_stacks)
{
	struct world *w = start(_i);

	sleep_there(w, _i);
	/* Records that are cyclic, below, misaligned, or in user memory. */
	record(w, STACK + 0x40, STACK + 0x40, TEXT + 0x30);
	ck_assert_uint_eq(ask(w, FRAMES), 3);
	ck_assert_int_eq(w->error, -EBADMSG);
	record(w, STACK + 0x40, STACK, TEXT + 0x30);
	ck_assert_uint_eq(ask(w, FRAMES), 3);
	ck_assert_int_eq(w->error, -EBADMSG);
	record(w, STACK + 0x40, STACK + 0x101, TEXT + 0x30);
	ck_assert_uint_eq(ask(w, FRAMES), 3);
	ck_assert_int_eq(w->error, -EBADMSG);
	record(w, STACK + 0x40, 0x7ffff000, TEXT + 0x30);
	ck_assert_uint_eq(ask(w, FRAMES), 3);
	ck_assert_int_eq(w->error, -EBADMSG);
	/* An invalid return address. */
	record(w, STACK + 0x40, STACK + 0x100, 0x401000);
	ck_assert_uint_eq(ask(w, FRAMES), 2);
	ck_assert_int_eq(w->error, -EBADMSG);
	/* A part that is lost. */
	record(w, STACK + 0x40, STACK + 0x10000, TEXT + 0x30);
	kmem_fail(w->k, STACK + 0x10000, -EIO);
	ck_assert_uint_eq(ask(w, FRAMES), 3);
	ck_assert_int_eq(w->error, -EIO);
	end(w);
}
END_TEST

START_TEST(damaged_tasks)
{
	struct world *w = start(_i);

	/* Where nothing was ever written. */
	ck_assert_uint_eq(ask(w, FRAMES), 0);
	ck_assert_int_eq(w->error, -EBADMSG);
	sleep_there(w, _i);
	kmem_fail(w->k, w->task, -EIO);
	ck_assert_uint_eq(ask(w, FRAMES), 0);
	ck_assert_int_eq(w->error, -EIO);
	end(w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("task_stack");

	unit_loop(s, frame_pointers, 2);
	unit_test(s, signed_pointers);
	unit_loop(s, who_runs_has_none, 2);
	unit_loop(s, who_ran_when_the_dump_was_written, 2);
	unit_loop(s, interrupts_have_a_stack, 6);
	unit_loop(s, switch_under_way, 4);
	unit_loop(s, large_stacks, 2);
	unit_loop(s, damaged_stacks, 2);
	unit_loop(s, damaged_tasks, 2);
	return unit_main(s);
}
