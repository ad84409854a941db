/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the memory use of a process as counted by the kernel, with one read of
 * smaps_rollup. That file needs permission to trace the process; status is
 * always readable.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backend/procfs/task.h"
#include "base/text/text.h"
#include "kernel/text/smaps.h"

/* Both have a few dozen lines; status has at most 65536 groups. */
#define MAX_TEXT (1 << 20)

static struct pdet_scan scan_of(const struct pdet_text *text)
{
	return (struct pdet_scan){ text->data, text->data + text->len };
}

/* True if the process exists without an address space, or in a captured tree
 * that lacks files. */
static int is_there(struct pdet_env *env, uint32_t pid)
{
	const int fd = pdet_open(env, "/proc/%u", pid);

	if (fd < 0)
		return fd == -ENOENT || fd == -ESRCH ? 0 : fd;
	close(fd);
	return 1;
}

/* Use status, which is always readable, if smaps_rollup gave @error. */
static int from_status(struct pdet_env *env, uint32_t pid, int error,
		       struct pdet_usage *ret)
{
	struct pdet_text text;
	bool memory;
	int r;

	r = pdet_slurp(env, &text, MAX_TEXT, "/proc/%u/status", pid);
	if (r == -ENOENT || r == -ESRCH) {
		r = error == -ENOENT ? is_there(env, pid) : 0;
		return r < 0 ? r : r ? -ENOTSUP : -ESRCH;
	}
	if (r < 0)
		return r;
	/* Returns -ENOENT if the process exists, but the kernel or the captured
	 * tree does not have smaps_rollup. */
	memory = pdet_status_memory(scan_of(&text), error == -ENOENT ?
				    PAGEDET_UNSUPPORTED : PAGEDET_NO_ACCESS,
				    &ret->row);
	pdet_text_free(&text);
	if (!memory)
		return 0;
	return error == -ENOENT ? -ENOTSUP : 1;
}

static int read_thread(struct pdet_env *env, uint32_t pid,
		       struct pdet_usage *ret)
{
	struct pdet_text text;
	bool whole;
	int r;

	ret->thread = pid;
	ret->space_key = procfs_key_of(env, pid);
	r = pdet_slurp(env, &text, MAX_TEXT, "/proc/%u/smaps_rollup", pid);
	if (r == -ESRCH) {
		r = is_there(env, pid);
		return r > 0 ? 0 : r ? r : -ESRCH;
	}
	if (r == -EACCES || r == -ENOENT)
		return from_status(env, pid, r, ret);
	if (r < 0)
		return r;
	/* Older kernels give an empty file for a kernel thread. */
	whole = text.len && pdet_smaps_rollup(scan_of(&text), &ret->row);
	r = whole ? 1 : text.len ? -EBADMSG : 0;
	pdet_text_free(&text);
	return r;
}

/* Reads those of another thread, if the main thread alone has ended. */
static int read_sums(struct pdet_env *env, uint32_t pid,
		     struct pdet_usage *ret)
{
	int r = read_thread(env, pid, ret);
	uint32_t tid = 0;

	if (r > 0 || !procfs_main_ended(env, pid))
		return r;
	do {
		tid = procfs_other_thread(env, pid, tid);
		r = tid ? read_thread(env, tid, ret) : r;
	} while (tid && (r == 0 || r == -ESRCH));
	return r;
}

static void read_name(struct pdet_env *env, uint32_t pid,
		      struct pdet_usage *ret)
{
	struct pdet_text text;

	if (pdet_slurp(env, &text, 4096, "/proc/%u/comm", pid) < 0)
		return;
	/* The kernel adds one newline; any other belongs to the name. */
	if (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	ret->comm_len = PDET_MIN(text.len, sizeof(ret->comm) - 1);
	memcpy(ret->comm, text.data, ret->comm_len);
	ret->named = true;
	pdet_text_free(&text);
}

int procfs_usage(struct pdet_backend *b, struct pdet_env *env, uint32_t pid,
		 struct pdet_usage *ret)
{
	int r;

	(void)b;
	r = read_sums(env, pid, ret);
	if (r <= 0 && ret->row.state[PAGEDET_SUM_RSS] != PAGEDET_HAVE)
		return r;
	ret->row.source = PAGEDET_SOURCE_PROCFS;
	read_name(env, pid, ret);
	return r;
}
