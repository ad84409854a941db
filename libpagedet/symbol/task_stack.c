/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds the stack of a task that is not running. The context switch saved its
 * registers, at a different place on each architecture. From there it uses ORC
 * or frame pointers: a record with the caller's record and the return address
 * (arch/arm64/kernel/stacktrace.c, arch/x86/kernel/unwind_frame.c).
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
	uint64_t stack;		/* the task's stack; 0: unknown */
	uint64_t bytes;		/* size of that; 0: unknown */
	uint64_t ip, sp, fp;
	bool runs;		/* running: these are the processor's
				 * registers */
	bool user;
	bool own;		/* it is on the task's own stack, or was
				 * before an interrupt */
	bool proved;		/* the processor in user mode is its own */
	uint32_t note;		/* of the processor */
};

/* Largest and smallest size of a task's stack. */
#define STACK_BYTES ((uint64_t)64 << 10)
#define LEAST_STACK_BYTES ((uint64_t)16 << 10)

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

/* Whether that is in the task's own stack, for sure. */
static bool is_own(const struct kept *k, uint64_t at)
{
	return k->stack && at - k->stack < (k->bytes ? k->bytes :
					    LEAST_STACK_BYTES);
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

	for (i = 0; !ret->own && pdet_notes_cpu(t->cpus, i, &cpu); i++) {
		const bool own = !cpu.user && is_own(ret, cpu.sp);

		if (!own && (numbered ? i != number : cpu.pid != pid))
			continue;
		ret->runs = true;
		ret->own = own;
		ret->user = cpu.user;
		ret->note = i;
		ret->proved = cpu.user && is_proved(t, i, number);
		ret->ip = cpu.ip;
		ret->sp = cpu.sp;
		ret->fp = cpu.fp;
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
	return bytes < LEAST_STACK_BYTES || bytes > STACK_BYTES ? 0 : bytes;
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
		.stack = pdet_struct_get(s, buf, TASK_STACK),
		.switches = pdet_struct_get(s, buf, TASK_SWITCHES) +
			    pdet_struct_get(s, buf, TASK_FORCED),
		.sp = pdet_struct_get(s, buf, TASK_SP),
		.fp = pdet_struct_get(s, buf, TASK_FP),
		.ip = pdet_struct_get(s, buf, TASK_PC),
	};
	ret->bytes = stack_bytes(space, t, pdet_struct_get(s, buf, TASK_AREA));
	if (!pdet_struct_get(s, buf, TASK_ON_CPU)) {
		ret->own = ret->stack;
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

/* Clear a pointer signature, which uses bits outside the address. */
static uint64_t without_signature(const struct pdet_paging *p, uint64_t v)
{
	return p->arch->machine == EM_AARCH64 && v >> 55 & 1 ?
	       v | -((uint64_t)1 << p->va_bits) : v;
}

/* Callers are at higher addresses. An interrupt has its own stack at any
 * address, even within the bytes that a larger task stack would use. Its last
 * record points to the task's own stack. No record points back. */
static bool leads_on(struct kept *k, uint64_t from, uint64_t to)
{
	const uint64_t most = k->bytes ? k->bytes : STACK_BYTES;

	if (k->own)
		return to > from && to - k->stack < most;
	k->own = to > from ? is_own(k, to) :
		 k->stack && to - k->stack < most;
	return to > from || k->own;
}

/*
 * Step to the caller of the frame whose record is at s->bp. Returns as
 * pdet_orc_next().
 */
static int next_record(struct pdet_space *space,
		       const struct pdet_task_stacks *t, struct kept *k,
		       struct pdet_orc_state *s)
{
	const uint64_t at = s->bp;
	uint64_t record[2];
	int r;

	/* entry from user code, or start of a kernel thread */
	if (!at)
		return 0;
	if (!pdet_is_address(at) || !leads_on(k, s->sp, at) || at % 8)
		return -EBADMSG;
	r = pdet_space_read(space, at, record, sizeof(record));
	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	s->sp = at;
	s->bp = record[0];
	s->ip = without_signature(t->paging, record[1]);
	return !record[1] ? 0 : pdet_is_address(s->ip) ? 1 : -EBADMSG;
}

size_t pdet_task_stack(struct pdet_space *space,
		       const struct pdet_task_stacks *t, uint64_t task,
		       uint64_t *frames, size_t n, int *error)
{
	struct pdet_orc_state s = { 0 };
	struct kept k, again;
	size_t i = 0;
	int r;

	*error = begin(space, t, task, &k);
	if (*error || k.user)
		return 0;
	s.signal = k.runs;
	s.ip = without_signature(t->paging, k.ip);
	s.sp = k.sp;
	s.bp = k.fp;
	/* the first record may be exactly at sp */
	if (!t->has_orc)
		s.sp--;
	do {
		if (i == n) {
			r = -E2BIG;
			break;
		}
		frames[i++] = s.ip;
		r = t->has_orc ? pdet_orc_next(space, &t->orc, &s) :
				 next_record(space, t, &k, &s);
		k.own = k.own || is_own(&k, s.sp);
	} while (r > 0);
	*error = r;
	/* As far as is known, it is another task's. */
	if (k.runs && !k.own) {
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
	return i;
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
		.stack = k.stack, .bytes = k.bytes, .switches = k.switches,
		.sp = k.runs && k.own ? k.sp : 0,
		.lowest = k.sp,
		.user = k.proved, .cpu = k.note,
	};
	return k.runs && !k.own && !k.proved ? -EAGAIN : 0;
}
