/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for threads and their stacks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/threads.h"
#include "base/sort.h"
#include "emit/cell.h"
#include "query/walk/task_stacks.h"
#include "query/walk/user_stacks.h"

/* No source gives more frames. */
#define MOST_FRAMES 512
/* Of a failure, and of what would help. */
#define WORDS (2 * PDET_ERROR_SIZE + 2)

int pagedet_threads(const struct pagedet_iter *it, uint32_t pid, uint32_t *tids,
		    uint32_t n)
{
	return pdet_threads_get(it->it, pid, tids, n);
}

int pagedet_task_stack(const struct pagedet_iter *it, uint32_t tid,
		       const char **frames, uint32_t n)
{
	return pdet_task_stack_get(it->it, tid, frames, n);
}

int pagedet_user_stack(const struct pagedet_iter *it, uint32_t tid,
		       struct pagedet_frame *frames, uint32_t n)
{
	const struct pagedet_frame *found;
	int r = pdet_user_stack_get(it->it, tid, &found);

	if (r > 0 && n)
		memcpy(frames, found,
		       PDET_MIN((uint32_t)r, n) * sizeof(*frames));
	return r;
}

/* --- output behind rows --- */

bool pdet_pids_asked(struct pdet_pids *pids, const struct pdet_iter *it)
{
	uint64_t i;

	if (it->q.target == PAGEDET_TARGET_MAPPERS)
		return true;
	for (i = 0; i < it->q.n_items; i++)
		if (!pdet_vec_push(pids, it->q.items[i].pid))
			return false;
	pids->n = pdet_sort_once_u32(pids->data, pids->n);
	return true;
}

bool pdet_pids_add(struct pdet_pids *pids, const struct pdet_batch *b)
{
	const size_t n = pids->n;
	uint32_t row;

	if (!pdet_batch_has(b, PAGEDET_FIELD_PID))
		return true;
	for (row = 0; row < b->n; row++)
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PID) ==
			    PAGEDET_HAVE &&
		    !pdet_vec_push(pids, (uint32_t)
				   b->value[PAGEDET_FIELD_PID][row]))
			return false;
	if (pids->n != n)
		pids->n = pdet_sort_once_u32(pids->data, pids->n);
	return true;
}

static uint32_t reason_of(int error)
{
	switch (error) {
	case -EACCES:
		return PAGEDET_DENIED;
	case -ENOTSUP:
		return PAGEDET_NO_KERNEL;
	case -ENOENT:
		return PAGEDET_UNSUPPORTED;
	case -ENODATA:
		return PAGEDET_NO_TYPES;
	default:
		return pdet_reason_of(error);
	}
}

/* A thread that was listed. Its end is not a state of pages. */
static const char *reason_name(int error)
{
	return error == -ESRCH ? "ended" : pdet_reason_name(reason_of(error));
}

/* Which stacks the query asked for. */
static struct pdet_emit_thread thread_of(const struct pagedet_iter *it,
					 uint32_t pid, uint32_t tid)
{
	return (struct pdet_emit_thread){
		.pid = pid, .tid = tid,
		.has_kernel = it->it->q.options & PAGEDET_Q_TASK_STACKS,
		.has_user = it->it->q.options & PAGEDET_Q_USER_STACKS,
	};
}

/* The last failure, and what would help. */
static const char *words_of(const struct pagedet_iter *it, char buf[WORDS])
{
	const struct pdet_env *env = &it->pd->env;

	snprintf(buf, WORDS, "%s%s%s", env->error, *env->advice ? "; " : "",
		 env->advice);
	return buf;
}

static int emit_error(struct pagedet_emitter *emitter, struct pagedet_iter *it,
		      uint32_t pid, int error)
{
	struct pdet_emit_thread t = thread_of(it, pid, pid);
	char words[WORDS];

	t.words = t.user_words = words_of(it, words);
	t.reason = t.has_kernel ? pdet_reason_name(reason_of(error)) : NULL;
	t.user_reason = t.has_user ? pdet_reason_name(reason_of(error)) : NULL;
	return pdet_emit_thread(emitter, &it->pd->env, &t);
}

static void get_kernel(struct pagedet_iter *it, const char **frames,
		       char words[WORDS], struct pdet_emit_thread *t)
{
	int r = pdet_task_stack_get(it->it, t->tid, frames, MOST_FRAMES);

	t->frames = frames;
	t->n = r < 0 ? 0 : PDET_MIN((uint32_t)r, (uint32_t)MOST_FRAMES);
	if (r >= 0)
		return;
	t->reason = reason_name(r);
	t->words = words_of(it, words);
}

static void get_user(struct pagedet_iter *it, char words[WORDS],
		     struct pdet_emit_thread *t)
{
	int r = pdet_user_stack_get(it->it, t->tid, &t->user);

	t->n_user = r < 0 ? 0 : (uint32_t)r;
	t->stopped = it->it->user_stacks.stopped;
	if (r >= 0)
		return;
	t->user_reason = reason_name(r);
	t->user_words = words_of(it, words);
}

static int emit_thread(struct pagedet_emitter *emitter,
		       struct pagedet_iter *it, uint32_t pid, uint32_t tid)
{
	struct pdet_emit_thread t = thread_of(it, pid, tid);
	const char *frames[MOST_FRAMES];
	char words[WORDS], user_words[WORDS];

	if (t.has_kernel)
		get_kernel(it, frames, words, &t);
	if (t.has_user)
		get_user(it, user_words, &t);
	return pdet_emit_thread(emitter, &it->pd->env, &t);
}

static int emit_process(struct pagedet_emitter *emitter,
			struct pagedet_iter *it, uint32_t pid)
{
	uint32_t *tids;
	int n = pdet_threads_get(it->it, pid, NULL, 0), r = 0, i;

	if (n < 0)
		return emit_error(emitter, it, pid, n);
	tids = malloc((size_t)n * sizeof(*tids));
	if (!tids)
		return pdet_fail(&it->pd->env, ENOMEM, "no memory");
	/* There may be more threads by now. */
	r = pdet_threads_get(it->it, pid, tids, (uint32_t)n);
	n = PDET_MIN(n, r);
	if (r < 0)
		r = emit_error(emitter, it, pid, r);
	for (i = 0; i < n && r >= 0; i++)
		r = emit_thread(emitter, it, pid, tids[i]);
	free(tids);
	return PDET_MIN(r, 0);
}

int pdet_threads_emit(struct pagedet_emitter *emitter, struct pagedet_iter *it,
		      const struct pdet_pids *pids)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < pids->n; i++)
		r = emit_process(emitter, it, pids->data[i]);
	/* A running or ended thread is an answer. */
	if (r == 0)
		pdet_clear(&it->pd->env);
	return r;
}
