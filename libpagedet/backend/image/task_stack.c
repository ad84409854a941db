/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads kernel stacks of threads and names their frames. For user stacks it
 * reads registers and memory.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/kernel.h"
#include "backend/image/task.h"
#include "backend/page_content.h"
#include "base/hash.h"
#include "base/sort.h"
#include "kernel/address/user_entry.h"

/* /proc/PID/stack has at most 64. */
#define FRAMES 256

/* Pages move rarely. */
#define TRIES 4

struct listing {
	uint32_t pid;
	struct {
		uint32_t *data;
		size_t n, cap;
	} tids;
	bool lost, no_memory;
};

static int add_thread(void *arg, const struct pdet_task_struct *task)
{
	struct listing *l = arg;

	if (task->tgid != l->pid || pdet_vec_push(&l->tids, task->pid))
		return 0;
	l->no_memory = true;
	return 1;
}

static void note_lost(void *arg, uint64_t addr, int error)
{
	struct listing *l = arg;

	(void)addr;
	(void)error;
	l->lost = true;
}

int pdet_image_threads(struct pdet_session *base, uint32_t pid, uint32_t **ret,
		       size_t *n)
{
	struct image_session *s = image_session_of(base);
	struct listing l = { .pid = pid };
	const struct pdet_tasks_visit visit = { add_thread, note_lost, &l,
						.processes = false };
	unsigned looks = 0;

	do {
		l.lost = false;
		l.tids.n = 0;
		pdet_tasks_each(&s->space, &s->image->task_types, &visit);
	} while (pdet_image_again(s->image, l.lost && !l.no_memory, &looks));
	if (l.no_memory || !l.tids.n) {
		pdet_vec_free(&l.tids);
		return l.no_memory ?
			pdet_fail(&base->env, ENOMEM, "no memory") : l.lost ?
			pdet_fail(&base->env, EBADMSG, "cannot find the "
				  "threads of %u: the list of tasks %s", pid,
				  pdet_image_broken(s->image)) :
			pdet_fail(&base->env, ESRCH, "there is no process %u",
				  pid);
	}
	pdet_sort_u32(l.tids.data, l.tids.n);
	*ret = l.tids.data;
	*n = l.tids.n;
	return l.lost;
}

/* The return address of a call that never returns may be in the next function.
 * The kernel therefore names the calling instruction (%pB), but not if one was
 * interrupted, which may be the first one of its function. */
static size_t put_name(struct image_session *s, const struct pdet_frame *frame,
		       char *buf)
{
	const unsigned back = frame->is == PDET_FRAME_CALL;
	const uint64_t ip = frame->ip;
	char name[IMAGE_SYMBOL];
	size_t len = pdet_image_code(s, ip - back, name), at;
	unsigned long long offset;
	char *plus = len ? strrchr(name, '+') : NULL, *end;

	if (!plus)
		return (size_t)snprintf(buf, IMAGE_SYMBOL, "0x%llx\n",
					(unsigned long long)ip);
	offset = strtoull(plus + 1, &end, 16);
	at = (size_t)(plus - name);
	return (size_t)snprintf(buf, IMAGE_SYMBOL + 16, "%.*s+0x%llx%s\n",
				(int)at, name, offset + back, end);
}

static int put_frames(struct image_session *s, const struct pdet_frame *frames,
		      size_t n, bool whole, struct pdet_text *ret)
{
	char line[IMAGE_SYMBOL + 32];
	struct {
		char *data;
		size_t n, cap;
	} text = { NULL, 0, 0 };
	size_t i, len;

	for (i = 0; i <= n; i++) {
		if (i < n && frames[i].is != PDET_FRAME_GAP)
			len = put_name(s, &frames[i], line);
		else if (i < n || !whole)
			len = (size_t)snprintf(line, sizeof(line), "?\n");
		else
			break;
		if (!pdet_vec_reserve(&text, len)) {
			pdet_vec_free(&text);
			return -ENOMEM;
		}
		memcpy(text.data + text.n, line, len);
		text.n += len;
	}
	*ret = (struct pdet_text){ text.data, text.n };
	return 0;
}

/* Returns 0 if a word there can be read, -ENXIO: the page is mapped, and the
 * dump does not have it, or another failure. */
static int probe(struct image_session *s, uint64_t addr)
{
	uint64_t phys, len, word;
	int r = pdet_is_address(addr) ?
		pdet_space_phys(&s->space, addr, &phys, &len) : -EBADMSG;

	if (r < 0)
		return r;
	r = pdet_space_read(&s->space, addr & ~(uint64_t)7, &word,
			    sizeof(word));
	return !s->image->memory->live && (r == -ENOENT || r == -ENODATA) ?
	       -ENXIO : r;
}

static const char *damaged(const struct image_session *s)
{
	return s->image->memory->live ? "damaged" :
					"damaged or not in the dump";
}

static int why_none(struct image_session *s, const struct pdet_task_struct *t,
		    int error)
{
	const struct pdet_task_stacks *stacks = &s->image->kernel.stacks;
	struct pdet_env *env = &s->session.env;
	struct pdet_task_rest rest;

	if (error == -EAGAIN && !s->image->memory->live)
		return pdet_fail(env, ENOENT, "thread %u was running when the "
				 "dump was written, and the dump has no "
				 "registers of a processor that lead to its "
				 "stack", t->pid);
	if (error == -EAGAIN)
		return pdet_fail(env, EAGAIN, "thread %u is running: its stack "
				 "is in the registers of a processor", t->pid);
	if (pdet_task_rest(&s->space, stacks, t->addr, &rest) == 0 &&
	    probe(s, rest.lowest) == -ENXIO)
		return pdet_fail(env, EIO, "cannot read the stack of thread "
				 "%u: the page where it begins is not in the "
				 "dump", t->pid);
	if (error == -ENOENT || error == -EBADMSG)
		return pdet_fail(env, EBADMSG, "cannot read the stack of "
				 "thread %u: it is %s", t->pid, damaged(s));
	errno = -error;
	return pdet_fail_errno(env, "cannot read the stack of thread %u",
			       t->pid);
}

static int has_ended(struct pdet_env *env, uint32_t tid)
{
	return pdet_fail(env, ESRCH, "thread %u has ended", tid);
}

static int no_types(struct pdet_env *env, uint32_t tid)
{
	return pdet_fail(env, ENODATA, "cannot read the stack of thread %u: "
			 "types or symbols that are needed are not known", tid);
}

int pdet_image_task_stack(struct pdet_session *base, uint32_t tid,
			  struct pdet_text *ret)
{
	struct image_session *s = image_session_of(base);
	const struct image_kernel *k = &s->image->kernel;
	struct pdet_task_struct task;
	struct pdet_frame frames[FRAMES];
	int r = pdet_image_find_task(s, tid, &task), error;
	size_t n;

	if (r < 0)
		return r;
	/* The kernel has taken its stack away. */
	if (task.state == 'Z' || task.state == 'X')
		return has_ended(&base->env, tid);
	if (k->strange_orc)
		return pdet_fail(&base->env, ENODATA, "cannot read the stack "
				 "of thread %u: the kernel's unwind table "
				 "(ORC) is of an unknown version", tid);
	if (!k->has_stacks)
		return no_types(&base->env, tid);
	n = pdet_task_stack(&s->space, &k->stacks, task.addr, frames, FRAMES,
			    &error);
	if (!n && error)
		return why_none(s, &task, error);
	r = put_frames(s, frames, n, !error, ret);
	return r < 0 ? pdet_fail(&base->env, ENOMEM, "no memory") : 0;
}

/* --- user stacks --- */

/* They are at the end of the kernel stack. Returns as probe(); 0 also if it is
 * not known where that is. */
static int probe_regs(struct image_session *s, uint64_t task)
{
	struct pdet_task_rest rest;

	return pdet_task_rest(&s->space, &s->image->kernel.user, task,
			      &rest) < 0 || rest.user || !rest.bytes ? 0 :
	       probe(s, rest.stack + rest.bytes - sizeof(uint64_t));
}

static int why_no_regs(struct image_session *s,
		       const struct pdet_task_struct *t, int error)
{
	const int found = error == -EAGAIN ? 0 : probe_regs(s, t->addr);
	struct pdet_env *env = &s->session.env;

	if (found == -ENXIO)
		return pdet_fail(env, EIO, "cannot read the user stack of "
				 "thread %u: the page of its kernel stack with "
				 "its registers is not in the dump", t->pid);
	if (error == -EBADMSG && found < 0)
		return pdet_fail(env, EBADMSG, "cannot read the user stack of "
				 "thread %u: its kernel stack is %s", t->pid,
				 damaged(s));
	switch (error) {
	case -EAGAIN:
		return !s->image->memory->live ?
			pdet_fail(env, ENOENT, "thread %u was running when the "
				  "dump was written, and the dump does not "
				  "prove which registers are its own", t->pid) :
			pdet_fail(env, EAGAIN, "thread %u is running: its "
				  "registers are in a processor", t->pid);
	case -ENODATA:
		return no_types(env, t->pid);
	case -EBADMSG:
		return pdet_fail(env, EBADMSG, "cannot read the user stack of "
				 "thread %u: its kernel stack has no registers "
				 "of user code", t->pid);
	case -ENOTSUP:
		return pdet_fail(env, ENOENT, "cannot read the user stack of "
				 "thread %u: it runs 32-bit code of arm64",
				 t->pid);
	default:
		errno = -error;
		return pdet_fail_errno(env, "cannot read the user stack of "
				       "thread %u", t->pid);
	}
}

#define PF_EXITING 0x4

/* Threads of the kernel have no program, nor has one that has not executed it
 * yet. The main thread stays until the others have ended. */
static int no_program(struct image_session *s, const struct pdet_task_struct *t)
{
	return t->kthread || !(t->flags & PF_EXITING) ? 0 :
	       has_ended(&s->session.env, t->pid);
}

int pdet_image_user_regs(struct pdet_session *base, struct pdet_task *task,
			 struct pdet_user_regs *ret)
{
	struct image_session *s = image_session_of(base);
	const struct image_task *t = image_task_of(task);
	const struct image *im = s->image;
	int r;

	if (t->has_ended)
		return has_ended(&base->env, task->pid);
	if (!t->has_mm)
		return no_program(s, &t->is);
	if (!pdet_task_rest_known(&im->kernel.user))
		return no_types(&base->env, task->pid);
	r = pdet_user_regs(&s->space, &im->kernel.user, t->is.addr, ret);
	if (r < 0)
		return why_no_regs(s, &t->is, r);
	return ret->arm64 ? ret->reg[PDET_ARM64_PC] || ret->reg[PDET_ARM64_SP] :
			    ret->reg[PDET_USER_IP] || ret->reg[PDET_USER_SP];
}

/* The hardware sets these bits of an entry of x86-64, whatever is read. */
#define ACCESSED 0x60u

static bool is_same(const struct pdet_leaf *a, const struct pdet_leaf *b)
{
	return a->is == b->is && a->start == b->start && a->addr == b->addr &&
	       !((a->entry ^ b->entry) & ~(uint64_t)ACCESSED);
}

/* Whether a page of a task may be read: not device memory, and no page whose
 * read has effects. */
static bool may_read(struct image_session *s, const struct pdet_leaf *leaf,
		     uint64_t addr)
{
	struct image_page page;

	return pdet_user_entry(&s->image->paging, leaf->entry).ordinary &&
	       pdet_image_page(s, addr >> s->image->paging.page_shift,
			       &page) == 0 &&
	       !(page.flags & PDET_UNREADABLE);
}

/* Secret memory is not in the direct map, and /proc/kcore shows zeroes for it.
 * A page of zeroes has nothing that leads on. */
static int read_leaf(struct image_session *s, const struct pdet_leaf *leaf,
		     uint64_t va, void *buf)
{
	static const char zeroes[PDET_USER_PAGE];
	const uint64_t addr = leaf->addr + (va - leaf->start);
	int r;

	switch (leaf->is) {
	case PDET_PT_NONE:
		return -ENOENT;
	case PDET_PT_OTHER:
		return -ENXIO;
	case PDET_PT_PAGE:
		break;
	default:
		return -EBADMSG;
	}
	/* In a dump, nothing has effects. */
	if (!s->image->memory->live)
		return pdet_read_phys(s->reader, addr, buf, PDET_USER_PAGE);
	if (!may_read(s, leaf, addr))
		return -EACCES;
	r = pdet_read_phys(s->reader, addr, buf, PDET_USER_PAGE);
	if (r < 0)
		return r == -ENOENT ? -EACCES : r;
	return s->image->source == PAGEDET_SOURCE_KCORE &&
	       !memcmp(buf, zeroes, sizeof(zeroes)) ? -EACCES : 0;
}

/* The kernel has all pages of the vdso, whoever used them. */
static int read_vdso(struct image_session *s, const struct image_task *t,
		     uint64_t va, void *buf)
{
	uint64_t addr;
	int r = pdet_mm_vdso(&s->space, &s->image->mm_types, &t->mm, va,
			     &addr);

	return r < 0 ? r : pdet_space_read(&s->space, addr, buf,
					   PDET_USER_PAGE);
}

uint64_t pdet_image_user_space(struct pdet_session *base,
			       struct pdet_task *task)
{
	const struct image_task *t = image_task_of(task);

	return image_session_of(base)->image->memory->live ? 0 : t->is.mm;
}

/* An address space that has the place of another one has other addresses. A
 * task that executes a program has another address space. */
uint64_t pdet_image_user_maps(struct pdet_session *base, struct pdet_task *task)
{
	struct image_session *s = image_session_of(base);
	const struct image_task *t = image_task_of(task);
	struct pdet_mm mm;

	if (!s->image->memory->live ||
	    pdet_mm_read(&s->space, &s->image->mm_types, t->is.mm, &mm) < 0 ||
	    !mm.changes || !pdet_image_task_is_same(s, t))
		return 0;
	return pdet_hash(&mm, sizeof(mm));
}

/* The page may move or go away while it is read. An entry that is the same
 * before and after shows that the bytes are those of the task. */
int pdet_image_user_page(struct pdet_session *base, struct pdet_task *task,
			 uint64_t va, void *buf)
{
	struct image_session *s = image_session_of(base);
	const struct image_task *t = image_task_of(task);
	const struct pdet_paging *p = &s->image->paging;
	struct pdet_leaf leaf, again;
	unsigned i;
	int r, walked;

	if (va >> (p->va_bits - p->one_root))
		return -EFAULT;
	r = pdet_paging_walk(s->reader, p, t->root, va, &leaf);
	if (r < 0)
		return r;
	for (i = 0; i < TRIES; i++) {
		r = read_leaf(s, &leaf, va, buf);
		walked = pdet_paging_walk(s->reader, p, t->root, va, &again);
		if (walked < 0)
			return walked;
		if (is_same(&leaf, &again))
			return r != -ENOENT || s->image->memory->live ? r :
			       read_vdso(s, t, va, buf);
		leaf = again;
	}
	return -EAGAIN;
}
