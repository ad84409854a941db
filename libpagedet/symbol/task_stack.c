/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds the stack of a task that is not running. The context switch saved its
 * registers, at a different place on each architecture. From there it uses ORC
 * or frame pointers.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "symbol/task_stack.h"

enum { TASK_PID, TASK_ON_CPU, TASK_CPU, TASK_STACK, TASK_AREA, TASK_SWITCHES,
       TASK_FORCED, TASK_SP, TASK_FP, TASK_PC, TASK_FIELDS };
static const pdet_field_names task_names[TASK_FIELDS] = {
	[TASK_PID] = { "task_struct.pid" },
	[TASK_ON_CPU] = { "task_struct.on_cpu" },
	[TASK_CPU] = { "task_struct.thread_info.cpu", "task_struct.cpu" },
	[TASK_STACK] = { "task_struct.stack" },
	[TASK_AREA] = { "task_struct.stack_vm_area" },
	[TASK_SWITCHES] = { "task_struct.nvcsw" },
	[TASK_FORCED] = { "task_struct.nivcsw" },
	[TASK_SP] = { "task_struct.thread.sp",
		      "task_struct.thread.cpu_context.sp" },
	[TASK_FP] = { "task_struct.thread.cpu_context.fp" },
	[TASK_PC] = { "task_struct.thread.cpu_context.pc" },
};

enum { FRAME_BP, FRAME_IP, FRAME_FIELDS };
static const pdet_field_names frame_names[FRAME_FIELDS] = {
	[FRAME_BP] = { "inactive_task_frame.bp" },
	[FRAME_IP] = { "inactive_task_frame.ret_addr" },
};

enum { AREA_PAGES, AREA_FIELDS };
static const pdet_field_names area_names[AREA_FIELDS] = {
	[AREA_PAGES] = { "vm_struct.nr_pages" },
};

bool pdet_task_stacks_init(struct pdet_task_stacks *t,
			   const struct pdet_paging *paging,
			   const struct pdet_btf *btf,
			   const struct pdet_orc_table *orc,
			   const struct pdet_modules *modules)
{
	memset(t, 0, sizeof(*t));
	t->paging = paging;
	pdet_struct_find(&t->task, btf, task_names, TASK_FIELDS);
	pdet_struct_find(&t->frame, btf, frame_names, FRAME_FIELDS);
	pdet_struct_find(&t->area, btf, area_names, AREA_FIELDS);
	pdet_frame_chain_init(&t->chain, paging, btf);
	if (!pdet_struct_has(&t->task, TASK_ON_CPU) ||
	    !pdet_struct_has(&t->task, TASK_SP))
		return false;
	if (paging->arch->machine != EM_X86_64)
		return pdet_struct_has(&t->task, TASK_FP) &&
		       pdet_struct_has(&t->task, TASK_PC);
	if (!pdet_struct_has(&t->frame, FRAME_BP) ||
	    !pdet_struct_has(&t->frame, FRAME_IP))
		return false;
	t->has_orc = orc->n;
	return !orc->n || pdet_orc_init(&t->orc, btf, orc, modules);
}

/* Registers saved by the context switch. */
struct kept {
	uint64_t switches;
	struct pdet_chain_stack stack;
	uint64_t ip, sp, fp, lr;
	bool runs;		/* running: these are the processor's
				 * registers */
	bool user;
	bool proved;		/* the processor in user mode is its own */
	uint32_t note;		/* of the processor */
};

/* A dump may lack processors, so a note's position does not identify one. The
 * kernel writes the pid into each note. QEMU, which has all processors, does
 * not know it and writes 1, 2, 3 ... */
static bool are_numbered(const struct pdet_task_stacks *t)
{
	struct pdet_cpu cpu;
	uint32_t i;

	for (i = 0; pdet_notes_cpu(t->cpus, i, &cpu); i++)
		if (cpu.pid != i + 1)
			return false;
	return true;
}

/* Whether a processor in user mode, which the kernel's number or its note
 * names, runs the task for sure. The kernel writes the pid when it crashes.
 * QEMU has its own numbers for processors, and the kernel has its own: the
 * per-CPU area shows which one it is. */
static bool is_proved(const struct pdet_task_stacks *t, uint32_t note,
		      uint32_t number)
{
	uint64_t gs;

	if (!pdet_notes_qemu_gs(t->cpus, note, &gs))
		return !are_numbered(t);
	return t->percpu && number < t->percpu->n &&
	       t->percpu->offset[number] == gs;
}

/*
 * The processor that is on the task's stack; or the one that the kernel names,
 * which may have left it for an interrupt's - or is in the middle of a switch,
 * where both tasks are marked as running, and on the stack of the other one.
 */
static bool find_cpu(const struct pdet_task_stacks *t, uint32_t pid,
		     uint32_t number, struct kept *ret)
{
	const bool numbered = are_numbered(t);
	struct pdet_cpu cpu;
	uint32_t i;

	for (i = 0; !ret->stack.own && pdet_notes_cpu(t->cpus, i, &cpu); i++) {
		const bool own = !cpu.user &&
				 pdet_chain_owns(&ret->stack, cpu.sp);

		if (!own && (numbered ? i != number : cpu.pid != pid))
			continue;
		ret->runs = true;
		ret->stack.own = own;
		ret->user = cpu.user;
		ret->note = i;
		ret->proved = cpu.user && is_proved(t, i, number);
		ret->ip = cpu.ip;
		ret->sp = cpu.sp;
		ret->fp = cpu.fp;
		ret->lr = cpu.lr;
	}
	return ret->runs;
}

/* 0: not known, as for the first task, whose stack is not an area. */
static uint64_t stack_bytes(struct pdet_space *space,
			    const struct pdet_task_stacks *t, uint64_t area)
{
	uint64_t bytes;

	if (!pdet_is_address(area) || !pdet_struct_has(&t->area, AREA_PAGES) ||
	    pdet_struct_value(space, &t->area, area, AREA_PAGES, &bytes) < 0)
		return 0;
	bytes <<= t->paging->page_shift;
	return bytes < PDET_LEAST_STACK_BYTES ||
	       bytes > PDET_STACK_BYTES ? 0 : bytes;
}

static int read_task(struct pdet_space *space, const struct pdet_task_stacks *t,
		     uint64_t task, struct kept *ret)
{
	const struct pdet_struct *s = &t->task;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, s, task, buf);

	if (r < 0)
		return r;
	*ret = (struct kept){
		.stack.at = pdet_struct_get(s, buf, TASK_STACK),
		.switches = pdet_struct_get(s, buf, TASK_SWITCHES) +
			    pdet_struct_get(s, buf, TASK_FORCED),
		.sp = pdet_struct_get(s, buf, TASK_SP),
		.fp = pdet_struct_get(s, buf, TASK_FP),
		.ip = pdet_struct_get(s, buf, TASK_PC),
	};
	ret->stack.bytes = stack_bytes(space, t,
				       pdet_struct_get(s, buf, TASK_AREA));
	if (!pdet_struct_get(s, buf, TASK_ON_CPU)) {
		ret->stack.own = ret->stack.at;
		return 0;
	}
	return find_cpu(t, (uint32_t)pdet_struct_get(s, buf, TASK_PID),
			(uint32_t)pdet_struct_get(s, buf, TASK_CPU), ret) ?
	       0 : -EAGAIN;
}

/* On x86-64 the other registers are on the stack. */
static int read_frame(struct pdet_space *space,
		      const struct pdet_task_stacks *t, struct kept *k)
{
	const struct pdet_struct *s = &t->frame;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_is_address(k->sp) ?
		pdet_struct_read(space, s, k->sp, buf) : -EBADMSG;

	if (r < 0)
		return r;
	k->fp = pdet_struct_get(s, buf, FRAME_BP);
	k->ip = pdet_struct_get(s, buf, FRAME_IP);
	k->sp += (uint64_t)s->field[FRAME_IP].at + sizeof(uint64_t);
	return 0;
}

static int begin(struct pdet_space *space, const struct pdet_task_stacks *t,
		 uint64_t task, struct kept *k)
{
	int r = read_task(space, t, task, k);

	if (r == 0 && !k->runs && t->paging->arch->machine == EM_X86_64)
		r = read_frame(space, t, k);
	return r < 0 ? r : k->user || pdet_is_address(k->ip) ? 0 : -EBADMSG;
}

static size_t by_orc(struct pdet_space *space, const struct pdet_task_stacks *t,
		     struct kept *k, struct pdet_frame *frames, size_t n,
		     int *error)
{
	struct pdet_orc_state s = {
		.ip = k->ip, .sp = k->sp, .bp = k->fp, .signal = k->runs
	};
	size_t i = 0;
	int r;

	do {
		if (i == n) {
			r = -E2BIG;
			break;
		}
		frames[i++] = (struct pdet_frame){
			s.ip, s.signal ? PDET_FRAME_AT : PDET_FRAME_CALL
		};
		r = pdet_orc_next(space, &t->orc, &s);
		k->stack.own |= pdet_chain_owns(&k->stack, s.sp);
	} while (r > 0);
	*error = r;
	return i;
}

static size_t by_chain(struct pdet_space *space,
		       const struct pdet_task_stacks *t, struct kept *k,
		       struct pdet_frame *frames, size_t n, int *error)
{
	struct pdet_chain_state s = {
		.ip = pdet_chain_address(t->paging, k->ip), .fp = k->fp,
		.lr = pdet_chain_address(t->paging, k->lr),
		/* the first record may be exactly at sp */
		.from = k->sp - 1, .stack = k->stack,
		.is = k->runs ? PDET_FRAME_AT : PDET_FRAME_CALL,
	};
	size_t i = 0;
	int r;

	do {
		if (i == n) {
			r = -E2BIG;
			break;
		}
		frames[i++] = (struct pdet_frame){ s.ip, s.is };
		r = pdet_chain_next(space, &t->chain, &s);
	} while (r > 0);
	k->stack = s.stack;
	/* A gap is between two frames. */
	if (i && frames[i - 1].is == PDET_FRAME_GAP) {
		i--;
		r = r ? r : -EBADMSG;
	}
	*error = r;
	return i;
}

size_t pdet_task_stack(struct pdet_space *space,
		       const struct pdet_task_stacks *t, uint64_t task,
		       struct pdet_frame *frames, size_t n, int *error)
{
	struct kept k, again;
	size_t has;
	int r;

	*error = begin(space, t, task, &k);
	if (*error || k.user)
		return 0;
	has = (t->has_orc ? by_orc : by_chain)(space, t, &k, frames, n, error);
	/* As far as is known, it is another task's. */
	if (k.runs && !k.stack.own) {
		if (!*error || *error == -E2BIG || *error == -EBADMSG)
			*error = -EAGAIN;
		return 0;
	}
	/* The saved registers are stale if the task has run meanwhile. */
	r = read_task(space, t, task, &again);
	if (r < 0 || again.switches != k.switches) {
		*error = r < 0 ? r : -EAGAIN;
		return 0;
	}
	return has;
}

bool pdet_task_rest_known(const struct pdet_task_stacks *t)
{
	return t->paging && pdet_struct_has(&t->task, TASK_ON_CPU) &&
	       pdet_struct_has(&t->task, TASK_STACK);
}

int pdet_task_rest(struct pdet_space *space, const struct pdet_task_stacks *t,
		   uint64_t task, struct pdet_task_rest *ret)
{
	struct kept k;
	int r = read_task(space, t, task, &k);

	if (r < 0)
		return r;
	*ret = (struct pdet_task_rest){
		.stack = k.stack.at, .bytes = k.stack.bytes,
		.switches = k.switches,
		.sp = k.runs && k.stack.own ? k.sp : 0,
		.lowest = k.sp,
		.user = k.proved, .cpu = k.note,
	};
	return k.runs && !k.stack.own && !k.proved ? -EAGAIN : 0;
}
