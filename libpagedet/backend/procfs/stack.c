/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads kernel stacks of threads from /proc/PID/stack (fs/proc/base.c), which
 * has lines "[<0>] name+0x10/0x40 [module]". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/procfs/task.h"
#include "base/io.h"
#include "base/text/text.h"
#include "kernel/text/stat.h"

#define STACK_BYTES (64u << 10)

/* Returns 1, 0, or a negative errno if it is unknown. */
static int exists(const struct pdet_env *env, uint32_t tid)
{
	int fd = pdet_open(env, "/proc/%u/stat", tid);

	if (fd < 0)
		return fd == -ENOENT || fd == -ESRCH ? 0 : fd;
	close(fd);
	return 1;
}

int procfs_threads(struct pdet_session *s, uint32_t pid, uint32_t **ret,
		   size_t *n)
{
	char path[4096];
	int r;

	if (pdet_path(&s->env, path, sizeof(path), "/proc/%u/task", pid) < 0)
		return pdet_fail(&s->env, EINVAL, "the root's path is too "
						  "long");
	r = procfs_list_pids(&s->env, path, ret, n);
	if (r == -ENOENT && *s->env.root && exists(&s->env, pid) > 0) {
		/* a captured tree without threads */
		*n = 1;
		*ret = malloc(sizeof(**ret));
		if (!*ret)
			return pdet_fail(&s->env, ENOMEM, "no memory");
		**ret = pid;
		return 0;
	}
	if (r == -ENOENT || (r == 0 && !*n))
		return pdet_fail(&s->env, ESRCH, "there is no process %u", pid);
	return r;
}

/* Remove the address before each name, which the kernel hides. arm64 shows 0x0
 * for a thread that runs or has just started: that is not a function. */
static void keep_names(struct pdet_text *text)
{
	struct pdet_scan all = { text->data, text->data + text->len }, line;
	char *to = text->data;

	while (pdet_scan_line(&all, &line)) {
		const char *name = memchr(line.at, ']',
					  (size_t)(line.end - line.at));
		size_t len;

		line.at = name ? name + 1 : line.at;
		pdet_scan_blanks(&line);
		len = (size_t)(line.end - line.at);
		if (len == 3 && !memcmp(line.at, "0x0", 3))
			continue;
		memmove(to, line.at, len);
		to += len;
		*to++ = '\n';
	}
	text->len = (size_t)(to - text->data);
}

static int cannot_read(struct pdet_env *env, uint32_t tid, int error)
{
	const int there = error == -ENOENT ? exists(env, tid) : 0;

	error = there < 0 ? there : error;
	if (there > 0)
		return pdet_fail(env, ENOTSUP, "there is no /proc/%u/stack: "
				 "the kernel was built without "
				 "CONFIG_STACKTRACE", tid);
	if (error == -ENOENT || error == -ESRCH)
		return pdet_fail(env, ESRCH, "there is no thread %u", tid);
	errno = -error;
	pdet_fail_errno(env, "cannot read /proc/%u/stack", tid);
	if (error == -EACCES)
		pdet_advise(env, "needs CAP_SYS_ADMIN");
	return error;
}

int procfs_task_stack(struct pdet_session *s, uint32_t tid,
		      struct pdet_text *ret)
{
	int r = pdet_slurp(&s->env, ret, STACK_BYTES, "/proc/%u/stack", tid);

	if (r < 0)
		return cannot_read(&s->env, tid, r);
	keep_names(ret);
	if (ret->len)
		return 0;
	pdet_text_free(ret);
	if (procfs_has_ended(&s->env, tid))
		return pdet_fail(&s->env, ESRCH, "thread %u has ended", tid);
	return pdet_fail(&s->env, EAGAIN, "thread %u is running: its stack is "
			 "in the registers of a processor", tid);
}
