/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Asks the backend that walks tasks about their threads, on the calling thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/walk/task_stacks.h"

bool pdet_stacks_asked(struct pdet_iter *it, uint32_t options)
{
	const char *name = options == PAGEDET_Q_TASK_STACKS ?
			   "PAGEDET_Q_TASK_STACKS" :
			   options == PAGEDET_Q_USER_STACKS ?
			   "PAGEDET_Q_USER_STACKS" :
			   "PAGEDET_Q_TASK_STACKS and PAGEDET_Q_USER_STACKS";

	switch (it->q.target) {
	case PAGEDET_TARGET_VIRT:
	case PAGEDET_TARGET_TASK:
	case PAGEDET_TARGET_MAPPERS:
		if (it->q.options & options)
			return true;
		break;
	default:
		break;
	}
	pdet_fail(it->env, EINVAL, "the query was made without %s", name);
	return false;
}

/* Gets the session to ask. Returns NULL, with an error text, if none of these
 * stacks was requested. */
static struct pdet_session *session_of(struct pdet_iter *it, uint32_t options)
{
	return pdet_stacks_asked(it, options) ?
	       pdet_session_of(&it->workers[0], it->walk) : NULL;
}

/* Copies a session's error text to the handle. */
static int hand_on(struct pdet_iter *it, const struct pdet_session *s, int r)
{
	if (r < 0) {
		memcpy(it->env->error, s->env.error, sizeof(it->env->error));
		memcpy(it->env->advice, s->env.advice,
		       sizeof(it->env->advice));
	}
	return r;
}

int pdet_threads_get(struct pdet_iter *it, uint32_t pid, uint32_t *tids,
		     uint32_t n)
{
	struct pdet_session *s = session_of(it, PAGEDET_Q_TASK_STACKS |
						PAGEDET_Q_USER_STACKS);
	uint32_t *found;
	size_t has;
	int r;

	if (!s)
		return -EINVAL;
	r = s->backend->ops->threads(s, pid, &found, &has);
	if (r < 0)
		return hand_on(it, s, r);
	it->workers[0].cover.partial |= r > 0;
	if (n && has)
		memcpy(tids, found, PDET_MIN(n, has) * sizeof(*tids));
	free(found);
	return (int)has;
}

int pdet_task_stack_get(struct pdet_iter *it, uint32_t tid,
			const char **frames, uint32_t n)
{
	struct pdet_session *s = session_of(it, PAGEDET_Q_TASK_STACKS);
	struct pdet_text *text = &it->task_stack;
	uint32_t has = 0;
	char *at, *end;
	int r;

	if (!s)
		return -EINVAL;
	pdet_text_free(text);
	r = s->backend->ops->task_stack(s, tid, text);
	if (r < 0)
		return hand_on(it, s, r);
	for (at = text->data; at < text->data + text->len; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text->data + text->len - at));
		*end = '\0';
		if (has < n)
			frames[has] = at;
		has++;
	}
	return (int)has;
}
