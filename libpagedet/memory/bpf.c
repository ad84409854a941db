/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The running kernel's memory through BPF: a program of a few instructions
 * that copies what is asked for into a map, which is mapped here. It is not
 * attached to anything; it runs when bpf(2) is told to run it. Needs CAP_BPF
 * and CAP_PERFMON, and a kernel that is not locked down for confidentiality
 * (Linux Documentation/bpf, kernel/bpf/syscall.c).
 *
 * Where physical memory is mapped is not assumed: a task_struct is in that
 * mapping, and the note whose physical address the kernel tells must be found
 * in it.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "memory/find_vmcoreinfo.h"
#include "memory/memory.h"
#include "pagedet.h"

/* Copied by one call. What is read is copied out at once; what is viewed stays
 * until the next view: a page of struct pages, 64 times. */
#define READ_BYTES ((uint32_t)16 << 10)
#define VIEW_BYTES ((uint32_t)PDET_VIEW_BYTES)

/* What the mapping's beginning is aligned to on x86-64 and arm64, and how far
 * behind it a task_struct is looked for: 16 TiB. */
#define ALIGN ((uint64_t)1 << 30)
#define MOST_STEPS ((uint64_t)1 << 14)

struct bpf_reader;

struct bpf {
	struct pdet_memory m;
	uint64_t base;		/* to be added to a physical address */
	/* what opening needed, for the first who needs one; or NULL */
	_Atomic(struct bpf_reader *) spare;
};

/* A program, and the map that it copies into. */
struct window {
	int map, program;
	char *value;		/* of the map; MAP_FAILED: there is none */
	uint32_t size;
};

struct bpf_reader {
	struct pdet_reader reader;
	/* Making a large one takes as long as reading a lot: the second one is
	 * made when something is viewed. */
	struct window read, view;
};

/* What the program is told. */
struct request {
	uint64_t addr;
	uint64_t size;		/* 0: copy the address of this task */
};

static long sys_bpf(enum bpf_cmd cmd, union bpf_attr *attr, size_t size)
{
	return syscall(SYS_bpf, cmd, attr, size);
}

static bool bpf_probe(struct pdet_env *env, const int *fds, size_t n)
{
	(void)fds;
	/* Another kernel's tree cannot be read with this one's memory. */
	return !n && !*env->root;
}

/* --- map and program --- */

static int make_map(uint32_t size)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_type = BPF_MAP_TYPE_ARRAY;
	a.key_size = 4;
	a.value_size = size;
	a.max_entries = 1;
	a.map_flags = BPF_F_MMAPABLE;
	memcpy(a.map_name, "pagedet", 8);
	return (int)sys_bpf(BPF_MAP_CREATE, &a, sizeof(a));
}

#define INSN(code, dst, src, off, imm) { (code), (dst), (src), (off), (imm) }
#define REG(to, from) INSN(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define CALL(helper) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static int load_program(int map, uint32_t size)
{
	/* r6 = addr, r7 = size, r8 = the value of the map's element */
	const struct bpf_insn insns[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 6, 1, 0, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 7, 1, 8, 0),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		REG(2, 10),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		CALL(BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 12, 0),
		REG(8, 0),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 6, 0),
		INSN(BPF_JMP | BPF_JGT | BPF_K, 7, 0, 9, (int32_t)size),
		REG(1, 8),
		REG(2, 7),
		REG(3, 6),
		CALL(BPF_FUNC_probe_read_kernel),
		EXIT,
		CALL(BPF_FUNC_get_current_task),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 8, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		EXIT,
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, -1),
		EXIT,
	};
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_SYSCALL;
	a.prog_flags = BPF_F_SLEEPABLE;
	a.insns = (uintptr_t)insns;
	a.insn_cnt = sizeof(insns) / sizeof(*insns);
	/* what reads the kernel's memory is for such programs only */
	a.license = (uintptr_t)"Dual BSD/GPL";
	memcpy(a.prog_name, "pagedet", 8);
	return (int)sys_bpf(BPF_PROG_LOAD, &a, sizeof(a));
}

static const struct window no_window = { -1, -1, MAP_FAILED, 0 };

static void close_window(struct window *w)
{
	if (w->value != MAP_FAILED)
		munmap(w->value, w->size);
	if (w->program >= 0)
		close(w->program);
	if (w->map >= 0)
		close(w->map);
	*w = no_window;
}

static int open_window(struct window *w, uint32_t size)
{
	int error;

	w->size = size;
	w->map = make_map(size);
	if (w->map >= 0)
		w->value = mmap(NULL, size, PROT_READ, MAP_SHARED, w->map, 0);
	if (w->value != MAP_FAILED)
		w->program = load_program(w->map, size);
	if (w->program >= 0)
		return 0;
	error = -errno;
	close_window(w);
	return error;
}

static void bpf_reader_free(struct pdet_reader *base)
{
	struct bpf_reader *r = (struct bpf_reader *)base;

	close_window(&r->read);
	close_window(&r->view);
	free(r);
}

static int bpf_reader_new(struct pdet_memory *m, size_t cache_bytes,
			  struct pdet_reader **ret)
{
	struct bpf *b = (struct bpf *)m;
	struct bpf_reader *r = atomic_exchange(&b->spare, NULL);
	int error;

	(void)cache_bytes;
	if (r) {
		*ret = &r->reader;
		return 0;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->reader.memory = m;
	r->read = r->view = no_window;
	error = open_window(&r->read, READ_BYTES);
	if (error < 0)
		free(r);
	else
		*ret = &r->reader;
	return error;
}

/* --- reading --- */

static int run(const struct window *w, uint64_t addr, uint64_t size)
{
	struct request q = { addr, size };
	union bpf_attr a;

	memset(&a, 0, sizeof(a.test));
	a.test.prog_fd = (uint32_t)w->program;
	a.test.ctx_in = (uintptr_t)&q;
	a.test.ctx_size_in = sizeof(q);
	if (sys_bpf(BPF_PROG_TEST_RUN, &a, sizeof(a.test)) < 0)
		return errno == EPERM || errno == EACCES ? -EACCES : -EIO;
	/* it faults where nothing is mapped */
	return a.test.retval ? -ENOENT : 0;
}

static int bpf_read_kvirt(struct pdet_reader *base, uint64_t addr, void *buf,
			  size_t n)
{
	const struct bpf_reader *r = (const struct bpf_reader *)base;
	char *to = buf;
	size_t some;
	int e;

	for (; n; n -= some, addr += some, to += some) {
		some = PDET_MIN(n, (size_t)READ_BYTES);
		e = run(&r->read, addr, some);
		if (e < 0)
			return e;
		memcpy(to, r->read.value, some);
	}
	return 0;
}

static int bpf_view_kvirt(struct pdet_reader *base, uint64_t addr, size_t n,
			  const char **ret)
{
	struct bpf_reader *r = (struct bpf_reader *)base;
	int e = 0;

	if (r->view.program < 0)
		e = open_window(&r->view, VIEW_BYTES);
	if (e < 0)
		return e == -ENOMEM || e == -EACCES ? e :
		       e == -EPERM ? -EACCES : -EIO;
	*ret = r->view.value;
	return run(&r->view, addr, n);
}

static int bpf_current_task(struct pdet_reader *base, uint64_t *ret)
{
	const struct bpf_reader *r = (const struct bpf_reader *)base;
	int e = run(&r->read, 0, 0);

	if (e == 0)
		memcpy(ret, r->read.value, sizeof(*ret));
	return e;
}

static int bpf_read_phys(struct pdet_reader *r, uint64_t addr, void *buf,
			 size_t n)
{
	const struct bpf *b = (const struct bpf *)r->memory;

	return bpf_read_kvirt(r, b->base + addr, buf, n);
}

/* --- opening --- */

static int refuse(struct pdet_env *env, int error)
{
	const int locked = pdet_is_locked(env);

	if (locked == 1)
		return pdet_fail(env, EACCES,
				 "it is locked down for confidentiality");
	switch (error) {
	case -EPERM:
	case -EACCES:
		pdet_fail(env, EACCES, "BPF is not allowed");
		pdet_advise(env, "needs CAP_BPF and CAP_PERFMON");
		return -EACCES;
	case -ENOMEM:
		return pdet_fail(env, ENOMEM, "no memory");
	case -EINVAL:
	case -ENOSYS:
		pdet_fail(env, ENOTSUP,
			  "its BPF has no programs that read memory");
		/* Locked down it says the same. */
		pdet_advise(env, "needs Linux 5.14, CONFIG_BPF_EVENTS%s",
			    locked < 0 ?
			    " and no lockdown for confidentiality" :
			    " and CONFIG_BPF_SYSCALL");
		return -ENOTSUP;
	default:
		errno = -error;
		return pdet_fail_errno(env, "its BPF fails");
	}
}

/* Physical address of the note that has VMCOREINFO. */
static int note_address(struct pdet_env *env, uint64_t *ret)
{
	struct pdet_text text;
	struct pdet_scan s;
	bool ok;
	int r = pdet_slurp(env, &text, 4096, "/sys/kernel/vmcoreinfo");

	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(env,
				       "cannot read /sys/kernel/vmcoreinfo");
	}
	s = (struct pdet_scan){ text.data, text.data + text.len };
	pdet_scan_word(&s, "0x");
	ok = pdet_scan_hex(&s, ret);
	pdet_text_free(&text);
	return ok ? 0 : pdet_fail(env, EBADMSG, "cannot understand "
				  "/sys/kernel/vmcoreinfo");
}

static int find_base(struct bpf *b, struct pdet_env *env,
		     struct bpf_reader *r)
{
	uint64_t note, task = 0, i;
	int e;

	e = note_address(env, &note);
	if (e < 0)
		return e;
	e = bpf_current_task(&r->reader, &task);
	if (e < 0)
		return pdet_fail(env, -e, "its BPF does not run");
	b->base = task & ~(ALIGN - 1);
	for (i = 0; i < MOST_STEPS; i++, b->base -= ALIGN) {
		e = pdet_vmcoreinfo_at(&b->m, &r->reader, note);
		if (e < 0)
			return pdet_fail(env, ENOMEM, "no memory");
		if (b->m.vmcoreinfo)
			return 0;
	}
	return pdet_fail(env, ENODATA, "where it maps physical memory cannot "
			 "be found");
}

static int bpf_open(struct pdet_memory *m, struct pdet_env *env,
		    const int *fds, size_t n)
{
	struct bpf *b = (struct bpf *)m;
	struct pdet_reader *r;
	int e;

	(void)fds;
	(void)n;
	m->live = true;
	snprintf(m->format, sizeof(m->format), "BPF");
	e = bpf_reader_new(m, 0, &r);
	if (e < 0)
		return refuse(env, e);
	e = find_base(b, env, (struct bpf_reader *)r);
	if (e < 0)
		bpf_reader_free(r);
	else
		atomic_store(&b->spare, (struct bpf_reader *)r);
	return e;
}

static void bpf_close(struct pdet_memory *m)
{
	struct bpf_reader *r = atomic_exchange(&((struct bpf *)m)->spare, NULL);

	if (r)
		bpf_reader_free(&r->reader);
}

const struct pdet_memory_ops pdet_memory_bpf = {
	.name = "BPF",
	.source = PAGEDET_SOURCE_BPF,
	.size = sizeof(struct bpf),
	.probe = bpf_probe,
	.open = bpf_open,
	.close = bpf_close,
	.reader_new = bpf_reader_new,
	.reader_free = bpf_reader_free,
	.read_phys = bpf_read_phys,
	.read_kvirt = bpf_read_kvirt,
	.view_kvirt = bpf_view_kvirt,
	.current_task = bpf_current_task,
};
