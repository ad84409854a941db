/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the running kernel's memory through BPF. A short program copies the
 * requested bytes into a mapped BPF map. The program is not attached; bpf(2)
 * runs it directly. It needs CAP_BPF and CAP_PERFMON, and a kernel that is not
 * locked down for confidentiality (Linux Documentation/bpf,
 * kernel/bpf/syscall.c).
 *
 * The address of the direct map is not assumed. The direct map contains the
 * task_struct of this task, and the VMCOREINFO note, whose physical address the
 * kernel exports, must be found in it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bpf.h"
#include "base/io.h"
#include "base/text/text.h"
#include "memory/find_vmcoreinfo.h"
#include "memory/memory.h"
#include "pagedet.h"

/* Bytes that one call copies. A read is copied out at once. A view stays until
 * the next one: a page of struct pages, 64 times. */
#define READ_BYTES ((uint32_t)16 << 10)
#define VIEW_BYTES ((uint32_t)PDET_VIEW_BYTES)
/* Layout of the map for pieces: the list of pieces, then their bytes. */
#define LIST_BYTES ((uint32_t)(PDET_GATHER * sizeof(struct pdet_gather)))
#define PIECES_BYTES ((uint32_t)PDET_GATHER * PDET_GATHER_BYTES)

/* Alignment of the direct map on x86-64 and arm64, and how far below a
 * task_struct it may begin: 16 TiB. */
#define ALIGN ((uint64_t)1 << 30)
#define MOST_STEPS ((uint64_t)1 << 14)

struct bpf_reader;

struct bpf {
	struct pdet_memory m;
	uint64_t base;		/* added to a physical address */
	/*
	 * the reader that the opening code used, which becomes the first one
	 * that is requested; or NULL
	 */
	_Atomic(struct bpf_reader *) spare;
};

/* A program, and the map that receives its copies. */
struct window {
	int map, program;
	char *value;		/* mapped value; MAP_FAILED: none */
	uint32_t size;
};

struct bpf_reader {
	struct pdet_reader reader;
	/* Creating a large window takes as long as a large read. The view and
	 * pieces windows are created on first use. */
	struct window read, view, pieces;
	int no_pieces;		/* error of creating pieces; 0: not failed */
	int run_errno;		/* of the last run that the kernel refused; 0:
				 * none */
};

/* The parameters of a program run. */
struct request {
	uint64_t addr;
	uint64_t size;		/* for pieces, their number; 0: copy the address
				 * of this task */
};

static bool bpf_probe(struct pdet_env *env, const int *fds, size_t n)
{
	(void)fds;
	/*
	 * A captured tree of another kernel must not be combined with this
	 * kernel's memory.
	 */
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
	return (int)pdet_bpf(BPF_MAP_CREATE, &a, sizeof(a));
}

#define INSN PDET_INSN
#define REG PDET_INSN_REG
#define CALL PDET_INSN_CALL
#define EXIT PDET_INSN_EXIT

static int load(const struct bpf_insn *insns, uint32_t n)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_SYSCALL;
	a.prog_flags = BPF_F_SLEEPABLE;
	a.insns = (uintptr_t)insns;
	a.insn_cnt = n;
	a.license = (uintptr_t)PDET_BPF_LICENSE;
	memcpy(a.prog_name, "pagedet", 8);
	return (int)pdet_bpf(BPF_PROG_LOAD, &a, sizeof(a));
}

/* Load the program that copies a range, or the address of the task. */
static int load_copy(int map, uint32_t size)
{
	/* r6 = addr, r7 = size, r8 = value of the map's element */
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

	return load(insns, PDET_COUNT(insns));
}

/*
 * Load the program that copies the pieces listed in the map. It records which
 * pieces could not be copied.
 */
static int load_pieces(int map, uint32_t size)
{
	/* r6 = number, r7 = bytes so far, r8 = value of the map's element, r9 =
	 * index of the piece; on the stack: its offset in the list */
	const struct bpf_insn insns[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 6, 1, 8, 0),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		REG(2, 10),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		CALL(BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 24, 0),
		REG(8, 0),
		INSN(BPF_JMP | BPF_JGT | BPF_K, 6, 0, 22, PDET_GATHER),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 7, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 9, 0, 0, 0),
		/* 12: next piece */
		INSN(BPF_JMP | BPF_JLE | BPF_X, 6, 9, 17, 0),
		REG(1, 9),
		INSN(BPF_ALU64 | BPF_LSH | BPF_K, 1, 0, 0, 4),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 1, 8, 0, 0),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 10, 1, -16, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 3, 1, 0, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_W, 2, 1, 8, 0),
		INSN(BPF_JMP | BPF_JGT | BPF_K, 2, 0, 12, PDET_GATHER_BYTES),
		INSN(BPF_JMP | BPF_JGT | BPF_K, 7, 0, 11,
		     (int32_t)(size - LIST_BYTES - PDET_GATHER_BYTES)),
		REG(1, 8),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 1, 7, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, LIST_BYTES),
		INSN(BPF_ALU64 | BPF_ADD | BPF_X, 7, 2, 0, 0),
		CALL(BPF_FUNC_probe_read_kernel),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 1, 10, -16, 0),
		INSN(BPF_STX | BPF_MEM | BPF_W, 1, 0, 12, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 9, 0, 0, 1),
		INSN(BPF_JMP | BPF_JA, 0, 0, -18, 0),
		/* 30: all done */
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		EXIT,
		/* 32: error */
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, -1),
		EXIT,
	};

	return load(insns, PDET_COUNT(insns));
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

static int open_window(struct window *w, uint32_t size, int prot,
		       int (*load_program)(int map, uint32_t size))
{
	int error;

	w->size = size;
	w->map = make_map(size);
	if (w->map >= 0)
		w->value = mmap(NULL, size, prot, MAP_SHARED, w->map, 0);
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
	close_window(&r->pieces);
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
	r->read = r->view = r->pieces = no_window;
	error = open_window(&r->read, READ_BYTES, PROT_READ, load_copy);
	if (error < 0)
		free(r);
	else
		*ret = &r->reader;
	return error;
}

/* --- reading --- */

static int run(struct bpf_reader *r, const struct window *w, uint64_t addr,
	       uint64_t size)
{
	struct request q = { addr, size };
	union bpf_attr a;

	memset(&a, 0, sizeof(a.test));
	a.test.prog_fd = (uint32_t)w->program;
	a.test.ctx_in = (uintptr_t)&q;
	a.test.ctx_size_in = sizeof(q);
	if (pdet_bpf(BPF_PROG_TEST_RUN, &a, sizeof(a.test)) < 0) {
		r->run_errno = errno;
		return errno == EPERM || errno == EACCES ? -EACCES : -EIO;
	}
	/* the probe read faulted: nothing is mapped */
	return a.test.retval ? -ENOENT : 0;
}

static int bpf_read_kvirt(struct pdet_reader *base, uint64_t addr, void *buf,
			  size_t n)
{
	struct bpf_reader *r = (struct bpf_reader *)base;
	char *to = buf;
	size_t some;
	int e;

	for (; n; n -= some, addr += some, to += some) {
		some = PDET_MIN(n, (size_t)READ_BYTES);
		e = run(r, &r->read, addr, some);
		if (e < 0)
			return e;
		memcpy(to, r->read.value, some);
	}
	return 0;
}

/* Create a window on first use. */
static int need_window(struct window *w, uint32_t size, int prot,
		       int (*load_program)(int map, uint32_t size))
{
	int e = w->program < 0 ? open_window(w, size, prot, load_program) : 0;

	return e == -EPERM ? -EACCES :
	       e == 0 || e == -ENOMEM || e == -EACCES ? e : -EIO;
}

static int bpf_view_kvirt(struct pdet_reader *base, uint64_t addr, size_t n,
			  const char **ret)
{
	struct bpf_reader *r = (struct bpf_reader *)base;
	int e = need_window(&r->view, VIEW_BYTES, PROT_READ, load_copy);

	if (e < 0)
		return e;
	*ret = r->view.value;
	return run(r, &r->view, addr, n);
}

static int bpf_gather(struct pdet_reader *base, struct pdet_gather *pieces,
		      size_t n, const char **ret)
{
	struct bpf_reader *r = (struct bpf_reader *)base;
	int e = r->no_pieces;

	if (e == 0)
		e = need_window(&r->pieces, LIST_BYTES + PIECES_BYTES,
				PROT_READ | PROT_WRITE, load_pieces);
	r->no_pieces = e;
	if (e < 0)
		return e;
	memcpy(r->pieces.value, pieces, n * sizeof(*pieces));
	e = run(r, &r->pieces, 0, n);
	if (e < 0)
		return e == -ENOENT ? -EIO : e;
	memcpy(pieces, r->pieces.value, n * sizeof(*pieces));
	*ret = r->pieces.value + LIST_BYTES;
	return 0;
}

static int bpf_current_task(struct pdet_reader *base, uint64_t *ret)
{
	struct bpf_reader *r = (struct bpf_reader *)base;
	int e = run(r, &r->read, 0, 0);

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
		/* Lockdown gives the same error. */
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

/* The physical address of the VMCOREINFO note. */
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

static int not_run(struct pdet_env *env, const struct bpf_reader *r)
{
	if (!r->run_errno)
		return pdet_fail(env, EIO, "its BPF does not run");
	errno = r->run_errno;
	return pdet_fail_errno(env, "its BPF does not run");
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
		return not_run(env, r);
	b->base = task & ~(ALIGN - 1);
	for (i = 0; i < MOST_STEPS; i++, b->base -= ALIGN) {
		e = pdet_vmcoreinfo_at(&b->m, &r->reader, note);
		if (e < 0)
			return pdet_fail(env, ENOMEM, "no memory");
		if (b->m.vmcoreinfo)
			return 0;
		if (r->run_errno)
			return not_run(env, r);
	}
	return pdet_fail(env, ENODATA, "the place where it maps physical "
			 "memory cannot be found");
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
	.gather = bpf_gather,
	.current_task = bpf_current_task,
};
