/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Lists all tasks visible in /proc with one read of stat each
 * (Documentation/filesystems/proc.rst, table 1-4), which is always readable.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/procfs/task.h"
#include "base/text/text.h"
#include "kernel/text/stat.h"

#define PF_KTHREAD 0x00200000
/* Field numbers of stat. */
enum { STATE = 3, PPID = 4, FLAGS = 9, START = 22, RSS = 24 };

struct listing {
	struct {
		struct pagedet_task *data;
		size_t n, cap;
	} tasks;
	bool live;
	uint64_t tick_ns;
	uint64_t lost;
};

/*
 * A task that has ended is not missing. In a captured tree files may be
 * missing.
 */
static bool has_ended(const struct listing *l, int error)
{
	return l->live && (error == -ENOENT || error == -ESRCH);
}

/* "12 (name) S 1 ...": the name may hold anything, so it ends at the last
 * parenthesis. */
static bool parse(struct listing *l, struct pdet_text *text,
		  struct pagedet_task *t)
{
	const char *open = memchr(text->data, '(', text->len);
	const char *close = memrchr(text->data, ')', text->len);
	uint64_t value[RSS + 1] = { 0 };
	bool has[RSS + 1] = { false };
	struct pdet_scan s, word;
	unsigned field;

	if (!open || !close || close < open)
		return false;
	memcpy(t->comm, open + 1, PDET_MIN((size_t)(close - open - 1),
					   sizeof(t->comm) - 1));
	s.at = close + 1;
	s.end = text->data + text->len;
	for (field = STATE; field <= RSS; field++) {
		pdet_scan_blanks(&s);
		word = pdet_scan_token(&s);
		if (word.at == word.end)
			return false;
		/* Some fields are negative, but none of those used here. */
		if (field != STATE)
			has[field] = pdet_scan_dec(&word, &value[field]);
		else if ((*word.at | 0x20) >= 'a' && (*word.at | 0x20) <= 'z')
			t->state = (unsigned char)*word.at;
	}
	has[START] = has[START] && l->tick_ns &&
		     value[START] <= UINT64_MAX / l->tick_ns;
	if (has[PPID]) {
		t->ppid = (uint32_t)value[PPID];
		t->flags |= PAGEDET_TASK_HAS_PARENT;
	}
	if (has[RSS]) {
		t->rss = value[RSS];
		t->flags |= PAGEDET_TASK_HAS_RSS;
	}
	if (has[START]) {
		t->start_ns = value[START] * l->tick_ns;
		t->flags |= PAGEDET_TASK_HAS_START;
	}
	if (has[FLAGS] && value[FLAGS] & PF_KTHREAD)
		t->flags |= PAGEDET_TASK_KTHREAD;
	return true;
}

/* The pages of a process whose main thread alone has ended. */
static void add_rss(struct pdet_env *env, struct pagedet_task *t)
{
	const uint32_t tid = procfs_main_ended(env, t->pid) ?
			     procfs_other_thread(env, t->pid, 0) : 0;

	if (tid && pdet_stat_number(env, tid, PDET_STAT_RSS, &t->rss) < 0)
		t->flags &= ~(uint32_t)PAGEDET_TASK_HAS_RSS;
}

/* 0, or -ENOMEM without an error text. */
static int add(struct listing *l, struct pdet_env *env, uint32_t tgid,
	       uint32_t pid, bool process)
{
	struct pagedet_task t = { .pid = pid, .tgid = tgid };
	struct pdet_text text;
	bool whole;
	int r;

	r = process ? pdet_slurp(env, &text, 8192, "/proc/%u/stat", pid) :
		pdet_slurp(env, &text, 8192, "/proc/%u/task/%u/stat", tgid,
			   pid);
	if (r < 0) {
		l->lost += !has_ended(l, r);
		return pdet_is_shortage(r) ? -ENOMEM : 0;
	}
	whole = parse(l, &text, &t);
	pdet_text_free(&text);
	if (whole && pid == tgid && t.state == 'Z' && l->live)
		add_rss(env, &t);
	l->lost += !whole;
	return !whole || pdet_vec_push(&l->tasks, t) ? 0 : -ENOMEM;
}

static int add_process(struct listing *l, struct pdet_env *env, uint32_t tgid,
		       bool processes)
{
	char path[4096];
	uint32_t *tids;
	size_t n = 0, i;
	int r;

	if (processes)
		return add(l, env, tgid, tgid, true);
	r = pdet_path(env, path, sizeof(path), "/proc/%u/task", tgid);
	if (r == 0)
		r = procfs_list_pids(env, path, &tids, &n);
	pdet_clear(env);
	if (r == -ENOMEM)
		return r;
	/* One thread exists; whether there are others is unknown. */
	if (r < 0) {
		l->lost += !has_ended(l, r);
		return add(l, env, tgid, tgid, true);
	}
	for (i = 0; r == 0 && i < n; i++)
		r = add(l, env, tgid, tids[i], false);
	free(tids);
	return r;
}

int procfs_list_tasks(struct pdet_backend *b, struct pdet_env *env,
		      bool processes, struct pagedet_task **ret, size_t *n,
		      uint64_t *lost)
{
	const long ticks = sysconf(_SC_CLK_TCK);
	struct listing l = { .live = procfs_of(b)->live };
	uint32_t *pids;
	size_t count, i;
	int r;

	l.tick_ns = 1000000000u / (uint64_t)(ticks > 0 ? ticks : 100);
	r = procfs_tasks(b, env, &pids, &count, &l.lost);
	if (r < 0)
		return r;
	for (i = 0; r == 0 && i < count; i++)
		r = add_process(&l, env, pids[i], processes);
	free(pids);
	if (r < 0) {
		pdet_vec_free(&l.tasks);
		return pdet_fail(env, ENOMEM,
				 "no memory for the list of tasks");
	}
	*ret = l.tasks.data;
	*n = l.tasks.n;
	*lost = l.lost;
	return 0;
}
