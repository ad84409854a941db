/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads tasks and their VMAs from /proc/PID: maps as text, or PROCMAP_QUERY.
 * For one address the ioctl takes 0.5 us, for any number of VMAs. For all VMAs
 * the text is twice as fast.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backend/procfs/task.h"
#include "base/io.h"
#include "base/privilege.h"
#include "base/sort.h"
#include "base/text/text.h"
#include "kernel/object/uapi.h"
#include "kernel/text/stat.h"
#include "kernel/text/status.h"

int procfs_list_pids(struct pdet_env *env, const char *path, uint32_t **ret,
		     size_t *n)
{
	struct { uint32_t *data; size_t n, cap; } pids = { 0 };
	struct dirent *entry;
	int code;
	DIR *dir;

	dir = opendir(path);
	if (!dir)
		return pdet_fail_errno(env, "cannot list %s", path);
	while ((errno = 0, entry = readdir(dir))) {
		struct pdet_scan s = { entry->d_name,
				       entry->d_name + strlen(entry->d_name) };
		uint64_t pid;

		if (!pdet_scan_dec(&s, &pid) || s.at != s.end ||
		    pid > INT32_MAX)
			continue;
		if (!pdet_vec_push(&pids, (uint32_t)pid)) {
			closedir(dir);
			pdet_vec_free(&pids);
			return pdet_fail(env, ENOMEM,
					 "no memory for the list of tasks");
		}
	}
	code = errno;
	closedir(dir);
	if (code) {
		pdet_vec_free(&pids);
		errno = code;
		return pdet_fail_errno(env, "cannot list %s", path);
	}
	pdet_sort_u32(pids.data, pids.n);
	*ret = pids.data;
	*n = pids.n;
	return 0;
}

int procfs_tasks(struct pdet_backend *b, struct pdet_env *env, uint32_t **ret,
		 size_t *n, uint64_t *lost)
{
	char path[4096];

	(void)b;
	*lost = 0;
	if (pdet_path(env, path, sizeof(path), "/proc") < 0)
		return pdet_fail(env, EINVAL, "the path of the root directory "
					      "is too long");
	return procfs_list_pids(env, path, ret, n);
}

/* Kernel threads have PF_KTHREAD (include/linux/sched.h) in stat, which is
 * always readable. */
static bool is_kernel_thread(struct pdet_env *env, uint32_t pid)
{
	uint64_t flags;

	return pdet_stat_number(env, pid, PDET_STAT_FLAGS, &flags) == 0 &&
	       flags & 0x00200000;
}

/* A zombie, or a task that is just ending (PF_EXITING), has no memory. Only
 * root is told so; others get EACCES. */
bool procfs_is_ending(struct pdet_env *env, uint32_t pid)
{
	uint64_t flags;

	return pdet_stat_number(env, pid, PDET_STAT_FLAGS, &flags) == 0 &&
	       flags & 0x4;
}

/* Only these mean that the task has ended. A lack of memory or descriptors says
 * nothing about it. */
static bool is_gone(int error)
{
	return error == -ENOENT || error == -ESRCH;
}

/* The reason for a task that cannot be read. A task that ended is not the same
 * as a missing page. */
static uint8_t task_reason(int error)
{
	if (is_gone(error))
		return PAGEDET_RACED;
	return (uint8_t)pdet_reason_of(error);
}

static uint8_t read_comm(struct pdet_env *env, struct pdet_task *t)
{
	struct pdet_text text;
	int r;

	r = pdet_slurp(env, &text, 4096, "/proc/%u/comm", t->pid);
	if (r < 0)
		return task_reason(r);
	/* The kernel adds one newline; any other belongs to the name. */
	if (!text.len) {
		pdet_text_free(&text);
		return PAGEDET_CORRUPT;
	}
	if (text.data[text.len - 1] == '\n')
		text.len--;
	t->comm_len = PDET_MIN(text.len, sizeof(t->comm) - 1);
	memcpy(t->comm, text.data, t->comm_len);
	t->comm[t->comm_len] = '\0';
	pdet_text_free(&text);
	return 0;
}

static uint8_t read_tgid(struct pdet_env *env, struct pdet_task *t)
{
	struct pdet_text text;
	uint64_t tgid;
	bool has;
	int r;

	r = pdet_slurp(env, &text, PDET_STATUS_BYTES, "/proc/%u/status",
		       t->pid);
	if (r < 0)
		return task_reason(r);
	has = pdet_status_number((struct pdet_scan){
		text.data, text.data + text.len }, "Tgid:", 0, &tgid);
	pdet_text_free(&text);
	if (!has || tgid > UINT32_MAX)
		return PAGEDET_CORRUPT;
	/* it was reaped meanwhile */
	if (!tgid)
		return PAGEDET_RACED;
	t->tgid = (uint32_t)tgid;
	return 0;
}

static int open_file(const struct procfs_task *t, struct pdet_env *env,
		     uint32_t kind, const char *name, bool *handed)
{
	int fd = procfs_handed_fd(t->p, kind, t->task.pid);

	*handed = fd >= 0;
	return fd >= 0 ? fd : pdet_open(env, "/proc/%u/%s", t->task.thread,
					name);
}

/* A zombie keeps its entry in /proc. A process whose main thread has ended
 * looks the same, but its other threads have its memory. */
static int fail_gone(struct pdet_env *env, uint32_t pid)
{
	uint64_t threads;

	if (pdet_stat_life(env, pid, &threads) != 'Z')
		return pdet_fail(env, ESRCH,
				 "cannot read task %u: there is no such task",
				 pid);
	if (threads > 1)
		return pdet_fail(env, ESRCH, "cannot read task %u: its main "
				 "thread has ended; its other threads still "
				 "have its memory: ask for one of these (ls "
				 "%s/proc/%u/task)", pid, env->root, pid);
	return pdet_fail(env, ESRCH, "cannot read task %u: it is a zombie: it "
			 "has ended, its parent has not waited for it, and its "
			 "memory is given back", pid);
}

static int open_failed(struct pdet_env *env, uint32_t pid, const char *name,
		       int error)
{
	if (is_gone(error))
		return fail_gone(env, pid);
	errno = -error;
	error = pdet_fail_errno(env,
				"cannot read task %u: cannot open %s/proc/%u/%s",
				pid, env->root, pid, name);
	if (error == -EACCES)
		pdet_advise_trace(env,
				  "needs the task's owner or CAP_SYS_PTRACE");
	return error;
}

/*
 * Whether pagemap is of a task without memory. Older kernels open it also for a
 * zombie, and show nothing.
 */
static bool is_empty(const struct procfs_task *t)
{
	uint64_t word;

	return t->pagemap < 0 ||
	       (t->p->live && !t->pagemap_handed &&
		pdet_pread(t->pagemap, &word, sizeof(word), 0) <= 0);
}

/* Opens pagemap of another thread, if the main thread alone has ended. If all
 * have, fails as for a zombie. */
static void open_other(struct pdet_session *base, struct procfs_task *t)
{
	struct pdet_env *env = &base->env;
	const uint32_t pid = t->task.pid;
	uint64_t threads;
	uint32_t tid = 0;

	if (!t->p->live || pdet_stat_life(env, pid, &threads) != 'Z')
		return;
	if (t->pagemap >= 0)
		close(t->pagemap);
	t->pagemap = -ESRCH;
	if (threads <= 1)
		return;
	while (t->pagemap == -ESRCH &&
	       (tid = procfs_other_thread(env, pid, tid))) {
		t->task.thread = tid;
		t->pagemap = open_file(t, env, PAGEDET_FD_PAGEMAP, "pagemap",
				       &t->pagemap_handed);
		if (t->pagemap >= 0 && is_empty(t)) {
			close(t->pagemap);
			t->pagemap = -ESRCH;
		}
	}
	/* If it executes another program, it becomes the main thread. */
	if (tid && base->wants->target == PAGEDET_TARGET_MAPPERS)
		t->task.space_key = procfs_space_key(base, tid);
}

int procfs_task_open(struct pdet_session *base, uint32_t pid,
		     struct pdet_task **ret)
{
	struct procfs *p = procfs_of(base->backend);
	struct procfs_task *t = calloc(1, sizeof(*t));
	int r = 0;

	if (!t)
		return pdet_fail(&base->env, ENOMEM, "no memory");
	t->task.backend = base->backend;
	t->task.pid = t->task.thread = pid;
	t->p = p;
	t->maps = -1;
	t->sparse = -1;
	if (base->wants->target == PAGEDET_TARGET_MAPPERS)
		t->task.space_key = procfs_space_key(base, pid);
	t->pagemap = open_file(t, &base->env, PAGEDET_FD_PAGEMAP, "pagemap",
			       &t->pagemap_handed);
	if ((t->pagemap == -ESRCH || t->pagemap == -EACCES) &&
	    is_kernel_thread(&base->env, pid))
		t->pagemap = -1;
	if (t->pagemap == -ESRCH || t->pagemap == -EACCES ||
	    (t->pagemap >= 0 && is_empty(t)))
		open_other(base, t);
	if (t->pagemap == -EACCES && t->task.thread == pid &&
	    procfs_is_ending(&base->env, pid))
		t->pagemap = -ESRCH;
	if (t->pagemap < -1) {
		r = open_failed(&base->env, pid, "pagemap", t->pagemap);
		free(t);
		return r;
	}
	/*
	 * Only a task that is kept open must be told from a successor with its
	 * pid.
	 */
	if (base->wants->target != PAGEDET_TARGET_MAPPERS ||
	    base->wants->user_stacks) {
		r = pdet_stat_number(&base->env, pid, PDET_STAT_START,
				     &t->start_time);
		t->has_start = r == 0;
	}
	if (pdet_is_shortage(r)) {
		procfs_task_close(&t->task);
		return open_failed(&base->env, pid, "stat", r);
	}
	*ret = &t->task;
	return 0;
}

void procfs_task_name(struct pdet_session *s, struct pdet_task *t)
{
	t->comm_why = read_comm(&s->env, t);
	t->tgid_why = read_tgid(&s->env, t);
	t->named = true;
}

void procfs_task_close(struct pdet_task *base)
{
	struct procfs_task *t = procfs_task_of(base);

	procfs_release(t);
	if (t->pagemap >= 0 && !t->pagemap_handed)
		close(t->pagemap);
	if (t->maps >= 0 && !t->maps_handed)
		close(t->maps);
	pdet_vec_free(&t->flagged);
	free(t->text);
	free(t);
}

int procfs_task_same(struct pdet_session *s, struct pdet_task *base)
{
	struct procfs_task *t = procfs_task_of(base);
	uint64_t now;
	int r = pdet_stat_number(&s->env, base->pid, PDET_STAT_START, &now);

	if (r == 0 && t->has_start && now == t->start_time)
		return 0;
	if (r == -EBADMSG || (r == 0 && !t->has_start))
		return pdet_fail(&s->env, EBADMSG, "cannot read task %u: "
				 "%s/proc/%u/stat does not say when it "
				 "started", base->pid, s->env.root, base->pid);
	if (r < 0 && !is_gone(r))
		return open_failed(&s->env, base->pid, "stat", r);
	return pdet_fail(&s->env, ESRCH, "task %u has ended", base->pid);
}

static int open_maps(struct pdet_session *s, struct procfs_task *t)
{
	if (t->maps >= 0)
		return 0;
	t->maps = open_file(t, &s->env, PAGEDET_FD_MAPS, "maps",
			    &t->maps_handed);
	return t->maps < 0 ? open_failed(&s->env, t->task.pid, "maps",
					 t->maps) : 0;
}

static bool wants_name(const struct pdet_session *s)
{
	return pdet_fields_has(&s->wants->fields, PAGEDET_FIELD_VMA_NAME) ||
	       pdet_fields_has(&s->wants->fields, PAGEDET_FIELD_PATH);
}

int procfs_query_vma(struct pdet_session *s, struct procfs_task *t,
		     uint64_t addr, struct pdet_vma *ret)
{
	struct pdet_vma_query q;

	memset(&q, 0, sizeof(q));
	q.size = sizeof(q);
	q.query_flags = PDET_VMA_COVERING_OR_NEXT;
	q.query_addr = addr;
	/* The kernel allocates memory for the name. */
	if (wants_name(s)) {
		q.vma_name_size = sizeof(t->name);
		q.vma_name_addr = (uintptr_t)t->name;
	}
	if (ioctl(t->maps, PDET_VMA_QUERY, &q) < 0)
		return errno == ENOENT ? 0 : -errno;
	ret->start = q.vma_start;
	ret->end = q.vma_end;
	ret->offset = q.vma_offset;
	ret->dev = (uint64_t)q.dev_major << 32 | q.dev_minor;
	ret->inode = q.inode;
	ret->prot = (q.vma_flags & PDET_VMA_READ ? PAGEDET_PROT_READ : 0) |
		    (q.vma_flags & PDET_VMA_WRITE ? PAGEDET_PROT_WRITE : 0) |
		    (q.vma_flags & PDET_VMA_EXEC ? PAGEDET_PROT_EXEC : 0) |
		    (q.vma_flags & PDET_VMA_SHARED ? PAGEDET_PROT_SHARED : 0);
	ret->name = t->name;
	ret->name_len = q.vma_name_size ? q.vma_name_size - 1 : 0;
	ret->said = false;
	return 1;
}

/* Needed only if dev or inode of a page are requested. */
static void judge_owner(struct pdet_session *s, const struct pdet_task *t,
			struct pdet_vma *vma)
{
	const struct pdet_fields *want = &s->wants->fields;

	vma->owner_unproved = vma->inode &&
		(pdet_fields_has(want, PAGEDET_FIELD_DEV) ||
		 pdet_fields_has(want, PAGEDET_FIELD_INODE)) &&
		!procfs_shows_owner(procfs_session_of(s), t->thread, vma->dev);
}

int procfs_vma_at(struct pdet_session *s, struct pdet_task *base,
		  uint64_t addr, struct pdet_vma *ret)
{
	struct procfs_task *t = procfs_task_of(base);
	int r;

	if (t->pagemap < 0)
		return 0;
	r = open_maps(s, t);
	if (r < 0)
		return r;
	if (t->p->procmap_query) {
		r = procfs_query_vma(s, t, addr, ret);
		if (r > 0) {
			judge_owner(s, base, ret);
			return r;
		}
		if (r == -ESRCH)
			return pdet_fail(&s->env, ESRCH,
					 "the address space of task %u is gone",
					 base->pid);
		/* VMAs above the task's own address space, such as [vsyscall],
		 * are only in the text. */
	}
	r = procfs_vma_first(s, base);
	if (r < 0)
		return r;
	while ((r = procfs_vma_next(s, base, ret)) > 0)
		if (ret->end > addr)
			return 1;
	return r;
}

int procfs_vma_first(struct pdet_session *s, struct pdet_task *base)
{
	struct procfs_task *t = procfs_task_of(base);
	int r;

	t->text_at = t->text_len = 0;
	t->text_end = t->pagemap < 0;
	if (t->text_end)
		return 0;
	r = open_maps(s, t);
	if (r < 0)
		return r;
	if (!t->text)
		t->text = malloc(PROCFS_MAPS_BUFFER);
	if (!t->text)
		return pdet_fail(&s->env, ENOMEM, "no memory");
	if (lseek(t->maps, 0, SEEK_SET) < 0)
		return pdet_fail_errno(&s->env, "cannot rewind maps of task %u",
				       base->pid);
	return 0;
}

/* Read more text after the rest of the buffer; 0 at the end. */
static ssize_t more_text(struct procfs_task *t)
{
	ssize_t n;

	t->text_len -= t->text_at;
	memmove(t->text, t->text + t->text_at, t->text_len);
	t->text_at = 0;
	if (t->text_len == PROCFS_MAPS_BUFFER) {
		/* No line is this long, so it is not a maps file. */
		t->text_len = 0;
		return 0;
	}
	do {
		n = read(t->maps, t->text + t->text_len,
			 PROCFS_MAPS_BUFFER - t->text_len);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		t->text_len += (size_t)n;
	return n;
}

int procfs_vma_next(struct pdet_session *s, struct pdet_task *base,
		    struct pdet_vma *ret)
{
	struct procfs_task *t = procfs_task_of(base);
	struct pdet_scan line;
	const char *nl;
	ssize_t n;

	for (;;) {
		if (t->text_end && t->text_at == t->text_len)
			return 0;
		line.at = t->text + t->text_at;
		nl = memchr(line.at, '\n', t->text_len - t->text_at);
		if (!nl && !t->text_end) {
			n = more_text(t);
			if (n < 0)
				return pdet_fail_errno(&s->env,
						       "cannot read maps of task %u",
						       base->pid);
			t->text_end = n == 0;
			continue;
		}
		line.end = nl ? nl : t->text + t->text_len;
		t->text_at = (size_t)(line.end - t->text) + (nl != NULL);
		if (!pdet_maps_line(line, ret))
			continue;
		/*
		 * The ioctl gives names without escapes, so decode the escapes
		 * in the text.
		 */
		ret->name_len = pdet_unescape_octal(
			t->text + (ret->name - t->text), ret->name_len);
		judge_owner(s, base, ret);
		return 1;
	}
}
