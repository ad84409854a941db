/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests registers of user code at the top of a kernel stack. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "../kmem.h"
#include "../structs.h"
#include "symbol/user_regs.h"

#define STACK 0xffffc90000010000ull
#define AREA_AT 0xffff888000200000ull
#define BYTES 16384

enum { T_PID = 8, T_CPU = 12, T_ON_CPU = 16, T_SWITCHES = 24, T_FORCED = 32,
       T_STACK = 40, T_AREA = 48, T_THREAD = 64, TASK = 256, A_PAGES = 16,
       AREA = 32, WORDS = 21, ORIG_AX = 15, IP = 16, CS = 17, FLAGS = 18,
       SP = 19, SS = 20 };

struct world {
	struct kmem *k;
	struct structs s;
	struct pdet_task_stacks t;
	uint64_t task;
	struct pdet_user_regs regs;
};

static void add_types(struct structs *s)
{
	static const struct structs_member x86[] = { { "sp", 16, 0, 0, 8 } };
	static const struct structs_member frame[] = {
		{ "bp", 40, 0, 0, 8 }, { "ret_addr", 48, 0, 0, 8 },
	}, pages[] = { { "nr_pages", A_PAGES, 0, 0, 4 } };
	uint32_t thread;

	structs_init(s);
	structs_add(s, "vm_struct", AREA, pages, 1);
	structs_add(s, "inactive_task_frame", 56, frame, 2);
	thread = structs_add(s, "thread_struct", 32, x86, 1);
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

		structs_add(s, "task_struct", TASK, task, 8);
	}
}

/* A task that sleeps in a system call. @above: bytes above its registers. */
static struct world *start(uint64_t above)
{
	const struct pdet_orc_table none = { 0 };
	struct world *w = calloc(1, sizeof(*w));
	uint64_t at = STACK + BYTES - above - WORDS * 8, i;

	ck_assert_ptr_nonnull(w);
	w->k = kmem_new();
	add_types(&w->s);
	ck_assert(!pdet_task_rest_known(&w->t));
	ck_assert(pdet_task_stacks_init(&w->t, &w->k->p, structs_btf(&w->s),
					&none, NULL));
	ck_assert(pdet_task_rest_known(&w->t));
	w->task = kmem_object(w->k, TASK);
	kmem_u64(w->k, w->task + T_STACK, STACK);
	kmem_u64(w->k, w->task + T_AREA, AREA_AT);
	kmem_u64(w->k, w->task + T_SWITCHES, 5);
	kmem_u64(w->k, w->task + T_FORCED, 2);
	kmem_u32(w->k, AREA_AT + A_PAGES, BYTES / 4096);
	for (i = 0; i < above; i += 8)
		kmem_u64(w->k, STACK + BYTES - above + i, 0);
	for (i = 0; i < WORDS; i++)
		kmem_u64(w->k, at + i * 8, 100 + i);
	kmem_u64(w->k, at + ORIG_AX * 8, 230);
	kmem_u64(w->k, at + IP * 8, 0x401000);
	kmem_u64(w->k, at + CS * 8, 0x33);
	kmem_u64(w->k, at + FLAGS * 8, 0x246);
	kmem_u64(w->k, at + SP * 8, 0x7fff0000);
	kmem_u64(w->k, at + SS * 8, 0x2b);
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

static void set(struct world *w, unsigned word, uint64_t value)
{
	kmem_u64(w->k, STACK + BYTES - WORDS * 8 + word * 8, value);
}

/* Kernels with FRED leave 16 bytes above. */
START_TEST(system_calls)
{
	struct world *w = start(_i * 16);

	ck_assert_int_eq(ask(w), 0);
	ck_assert_uint_eq(w->regs.reg[PDET_USER_IP], 0x401000);
	ck_assert_uint_eq(w->regs.reg[PDET_USER_SP], 0x7fff0000);
	ck_assert_uint_eq(w->regs.reg[PDET_USER_BP], 104);
	ck_assert_uint_eq(w->regs.reg[3], 105);		/* rbx */
	ck_assert_uint_eq(w->regs.reg[15], 100);	/* r15 */
	ck_assert_uint_eq(w->regs.switches, 7);
	end(w);
}
END_TEST

START_TEST(exceptions)
{
	struct world *w = start(0);

	set(w, ORIG_AX, (uint64_t)-1);
	/* FRED keeps facts of its own above the selectors. */
	set(w, CS, 0x10033);
	set(w, SS, 0x1234002b);
	ck_assert_int_eq(ask(w), 0);
	end(w);
}
END_TEST

/* They have the same places. */
START_TEST(of_32_bit_code)
{
	struct world *w = start(0);

	ck_assert_int_eq(ask(w), 0);
	ck_assert(!w->regs.compat);
	set(w, CS, 0x23);
	ck_assert_int_eq(ask(w), 0);
	ck_assert(w->regs.compat);
	ck_assert_uint_eq(w->regs.reg[PDET_USER_IP], 0x401000);
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
		{ CS, 0x10, -EBADMSG },		/* the kernel */
		{ SS, 0x18, -EBADMSG },
		{ FLAGS, 0x46, -EBADMSG },	/* without interrupts */
		{ IP, 0xffffffff81000000, -EBADMSG },
		{ SP, 0xffffc90000010000, -EBADMSG },
	};
	struct world *w = start(0);

	set(w, cases[_i].word, cases[_i].value);
	ck_assert_int_eq(ask(w), cases[_i].error);
	end(w);
}
END_TEST

START_TEST(who_runs_has_none)
{
	struct world *w = start(0);

	kmem_u32(w->k, w->task + T_ON_CPU, 1);
	ck_assert_int_eq(ask(w), -EAGAIN);
	end(w);
}
END_TEST

/* --- who runs, in a dump --- */

enum { STATUS = 336, REGS = 112, PID = 32, QEMU = 440, GS = 432 };

struct cpus {
	char notes[4096];
	size_t n;
	uint64_t areas[2];
	struct pdet_percpu percpu;
};

static char *add_note(struct cpus *c, const char *name, uint32_t type,
		      size_t size)
{
	const Elf64_Nhdr head = {
		(uint32_t)strlen(name) + 1, (uint32_t)size, type
	};
	char *at = c->notes + c->n;

	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), name, strlen(name));
	at += sizeof(head) + (strlen(name) + 4) / 4 * 4;
	c->n = (size_t)(at - c->notes) + size;
	return at;
}

static void add_cpu(struct cpus *c, uint32_t pid, uint64_t cs, uint64_t sp)
{
	char *at = add_note(c, "CORE", NT_PRSTATUS, STATUS) + REGS;
	uint64_t w[WORDS], i;

	memcpy(at - REGS + PID, &pid, sizeof(pid));
	for (i = 0; i < WORDS; i++)
		w[i] = 300 + i;
	w[IP] = 0x402000;
	w[CS] = cs;
	w[FLAGS] = 0x246;
	w[SP] = sp;
	w[SS] = 0x2b;
	memcpy(at, w, sizeof(w));
}

static void add_qemu(struct cpus *c, uint64_t gs)
{
	memcpy(add_note(c, "QEMU", 0, QEMU) + GS, &gs, sizeof(gs));
}

static struct world *start_running(struct cpus *c)
{
	struct world *w = start(0);

	memset(c, 0, sizeof(*c));
	c->areas[0] = 0xffff888010000000;
	c->areas[1] = 0xffff888011000000;
	c->percpu = (struct pdet_percpu){ c->areas, 2 };
	kmem_u32(w->k, w->task + T_ON_CPU, 1);
	kmem_u32(w->k, w->task + T_CPU, 1);
	kmem_u32(w->k, w->task + T_PID, 77);
	w->t.cpus = (struct pdet_notes){ c->notes, 0 };
	w->t.percpu = &c->percpu;
	return w;
}

static int ask_running(struct world *w, struct cpus *c)
{
	w->t.cpus.len = c->n;
	return ask(w);
}

/* QEMU knows no pids. Its second processor runs the task if that has the
 * per-CPU area of the kernel's second one. */
START_TEST(runs_in_qemu)
{
	struct cpus c;
	struct world *w = start_running(&c);

	add_cpu(&c, 1, 0x10, 0xffffc90000abc000);
	add_cpu(&c, 2, 0x33, 0x7fff1000);
	add_qemu(&c, 0);
	add_qemu(&c, c.areas[_i]);
	ck_assert_int_eq(ask_running(w, &c), _i ? 0 : -EAGAIN);
	if (_i) {
		ck_assert_uint_eq(w->regs.reg[PDET_USER_IP], 0x402000);
		ck_assert_uint_eq(w->regs.reg[PDET_USER_SP], 0x7fff1000);
		ck_assert_uint_eq(w->regs.reg[PDET_USER_BP], 304);
	}
	w->t.percpu = NULL;
	ck_assert_int_eq(ask(w), -EAGAIN);
	end(w);
}
END_TEST

/* A kernel that crashes writes the pid that a processor runs. Pids 1, 2 may be
 * numbers that somebody else wrote. */
START_TEST(runs_in_crash)
{
	static const struct {
		uint32_t pids[2];
		uint32_t pid;
		int error;
	} cases[] = {
		{ { 0, 77 }, 77, 0 }, { { 77, 0 }, 77, 0 },
		{ { 0, 78 }, 77, -EAGAIN }, { { 1, 2 }, 2, -EAGAIN },
	};
	struct cpus c;
	struct world *w = start_running(&c);
	unsigned i;

	kmem_u32(w->k, w->task + T_PID, cases[_i].pid);
	for (i = 0; i < 2; i++)
		add_cpu(&c, cases[_i].pids[i], 0x33, 0x7fff1000);
	ck_assert_int_eq(ask_running(w, &c), cases[_i].error);
	if (!cases[_i].error)
		ck_assert_uint_eq(w->regs.reg[PDET_USER_IP], 0x402000);
	end(w);
}
END_TEST

START_TEST(runs_32_bit_code)
{
	struct cpus c;
	struct world *w = start_running(&c);

	add_cpu(&c, 77, 0x23, 0x7fff1000);
	ck_assert_int_eq(ask_running(w, &c), 0);
	ck_assert(w->regs.compat);
	end(w);
}
END_TEST

/* In the kernel, on the task's own stack: what it had at the entry is there,
 * unless the entry is not over. Another stack proves nothing. */
START_TEST(runs_in_the_kernel)
{
	static const struct {
		uint64_t sp;
		int error;
	} cases[] = {
		{ STACK + 8000, 0 },
		{ STACK + BYTES - WORDS * 8, 0 },
		{ STACK + BYTES - WORDS * 8 + 8, -EAGAIN },
		{ STACK + BYTES - 8, -EAGAIN },
		{ STACK + 2 * BYTES, -EAGAIN },
		{ 0xfffffe0000002000, -EAGAIN },
	};
	struct cpus c;
	struct world *w = start_running(&c);

	add_cpu(&c, 77, 0x10, cases[_i].sp);
	ck_assert_int_eq(ask_running(w, &c), cases[_i].error);
	if (!cases[_i].error)
		ck_assert_uint_eq(w->regs.reg[PDET_USER_IP], 0x401000);
	end(w);
}
END_TEST

START_TEST(damaged)
{
	struct world *w = start(0);

	/* The size of the stack is not known, or impossible. */
	kmem_u32(w->k, AREA_AT + A_PAGES, 1 << 20);
	ck_assert_int_eq(ask(w), -ENODATA);
	kmem_u64(w->k, w->task + T_AREA, 0);
	ck_assert_int_eq(ask(w), -ENODATA);
	kmem_u64(w->k, w->task + T_AREA, AREA_AT);
	kmem_u32(w->k, AREA_AT + A_PAGES, BYTES / 4096);
	kmem_u64(w->k, w->task + T_STACK, 0x1000);
	ck_assert_int_eq(ask(w), -EBADMSG);
	kmem_u64(w->k, w->task + T_STACK, STACK);
	kmem_fail(w->k, STACK + BYTES - 4096, -EIO);
	ck_assert_int_eq(ask(w), -EIO);
	end(w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("user_regs");

	unit_loop(s, system_calls, 2);
	unit_test(s, exceptions);
	unit_test(s, of_32_bit_code);
	unit_loop(s, not_these, 5);
	unit_test(s, who_runs_has_none);
	unit_loop(s, runs_in_qemu, 2);
	unit_loop(s, runs_in_crash, 4);
	unit_test(s, runs_32_bit_code);
	unit_loop(s, runs_in_the_kernel, 6);
	unit_test(s, damaged);
	return unit_main(s);
}
