/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Keeps a list of address spaces, sorted by their numbers; or by their keys,
 * and those with equal keys in the order that the source gives. A task may get
 * another address space at any time: each key is read again after it was used.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/spaces.h"

static bool has_key(struct pdet_session *s, const struct pdet_task_space *space)
{
	return s->backend->ops->space_key(s, space->thread) == space->key;
}

static enum pdet_space_order order_of(struct pdet_session *s,
				      const struct pdet_task_space *a,
				      const struct pdet_task_space *b)
{
	if (a->number != b->number)
		return a->number < b->number ? PDET_SPACE_BEFORE :
					       PDET_SPACE_AFTER;
	if (a->key != b->key)
		return a->key < b->key ? PDET_SPACE_BEFORE : PDET_SPACE_AFTER;
	return a->number ? PDET_SPACE_SAME :
	       s->backend->ops->space_order(s, a->thread, b->thread);
}

/* Whether an address space with this key was added, and is not in the list. */
static bool is_lost(const struct pdet_spaces *spaces, uint64_t key)
{
	size_t i;

	for (i = 0; i < spaces->lost.n; i++)
		if (spaces->lost.data[i] == key)
			return true;
	return false;
}

/* Returns 0 or -ENOMEM. */
static int lose(struct pdet_spaces *spaces, uint64_t key)
{
	return is_lost(spaces, key) || pdet_vec_push(&spaces->lost, key) ?
	       0 : -ENOMEM;
}

/* Removes one whose task has another address space now. Returns 0 or
 * -ENOMEM. */
static int drop(struct pdet_spaces *spaces, size_t at)
{
	if (lose(spaces, spaces->data[at].key) < 0)
		return -ENOMEM;
	spaces->n--;
	memmove(spaces->data + at, spaces->data + at + 1,
		(spaces->n - at) * sizeof(*spaces->data));
	return 0;
}

/* Whether its task still has the number. If not, on a running kernel, a task
 * that came later shares that, or has got it anew. */
static bool has_number(struct pdet_session *s,
		       const struct pdet_task_space *space)
{
	struct pdet_task *task;
	bool has;

	if (s->backend->ops->task_open(s, space->thread, &task) < 0) {
		pdet_clear(&s->env);
		return false;
	}
	has = task->space == space->number;
	s->backend->ops->task_close(task);
	return has;
}

/*
 * Looks for @space among those in order. Returns PDET_SPACE_SHARED, _NEW with
 * its place, _UNSURE if they have no order, or -ENOMEM.
 */
static int look(struct pdet_spaces *spaces, struct pdet_session *s,
		const struct pdet_task_space *space, size_t *at)
{
	size_t low = 0, high = spaces->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct pdet_task_space *other = &spaces->data[mid];
		const enum pdet_space_order order = order_of(s, space, other);

		if (!space->number && other->key == space->key &&
		    !has_key(s, other)) {
			if (drop(spaces, mid) < 0)
				return -ENOMEM;
			high--;
			continue;
		}
		switch (order) {
		case PDET_SPACE_SAME:
			*at = mid;
			if (space->number && !has_number(s, other))
				return PDET_SPACE_UNSURE;
			spaces->with = other->thread;
			return PDET_SPACE_SHARED;
		case PDET_SPACE_BEFORE:
			high = mid;
			break;
		case PDET_SPACE_AFTER:
			low = mid + 1;
			break;
		default:
			return PDET_SPACE_UNSURE;
		}
	}
	*at = low;
	return PDET_SPACE_NEW;
}

/* Returns an enum pdet_space_is, or -ENOMEM. *at: where to insert it; SIZE_MAX
 * if that is not known. */
static int search(struct pdet_spaces *spaces, struct pdet_session *s,
		  const struct pdet_task_space *space, size_t *at)
{
	int found;

	*at = SIZE_MAX;
	if (!space->number && !space->key)
		return spaces->n + spaces->lost.n ? PDET_SPACE_UNSURE :
						    PDET_SPACE_NEW;
	found = look(spaces, s, space, at);
	if (space->number || found < 0)
		return found;
	if (!has_key(s, space)) {
		*at = SIZE_MAX;
		return PDET_SPACE_UNSURE;
	}
	if (found == PDET_SPACE_NEW &&
	    (is_lost(spaces, 0) || is_lost(spaces, space->key)))
		return PDET_SPACE_UNSURE;
	return found;
}

/* Whether the source tells spaces apart. */
static bool is_told(const struct pdet_session *s, const struct pdet_task *task)
{
	return task->space || s->backend->ops->space_key;
}

static struct pdet_task_space space_of(const struct pdet_task *task)
{
	return (struct pdet_task_space){ task->space, task->space_key,
					 task->thread };
}

bool pdet_spaces_may_have(struct pdet_spaces *spaces, struct pdet_session *s,
			  const struct pdet_task *task)
{
	const struct pdet_task_space space = space_of(task);
	size_t at;

	return is_told(s, task) &&
	       search(spaces, s, &space, &at) != PDET_SPACE_NEW;
}

static bool insert(struct pdet_spaces *spaces,
		   const struct pdet_task_space *space, size_t at)
{
	if (!pdet_vec_push(spaces, *space))
		return false;
	memmove(spaces->data + at + 1, spaces->data + at,
		(spaces->n - 1 - at) * sizeof(*spaces->data));
	spaces->data[at] = *space;
	return true;
}

int pdet_spaces_add(struct pdet_spaces *spaces, struct pdet_session *s,
		    const struct pdet_task *task)
{
	const struct pdet_task_space space = space_of(task);
	size_t at;
	int found;

	if (!is_told(s, task))
		return PDET_SPACE_NEW;
	found = search(spaces, s, &space, &at);
	if (found < 0 || found == PDET_SPACE_SHARED)
		return found;
	if (space.number && found == PDET_SPACE_UNSURE) {
		spaces->data[at] = space;
		return found;
	}
	if (at == SIZE_MAX ? lose(spaces, space.key) < 0 :
			     !insert(spaces, &space, at))
		return -ENOMEM;
	return found;
}

bool pdet_spaces_remain(const struct pdet_spaces *spaces,
			struct pdet_session *s)
{
	size_t i;

	for (i = 0; i < spaces->n; i++)
		if (!spaces->data[i].number && !has_key(s, &spaces->data[i]))
			return false;
	return true;
}

void pdet_spaces_empty(struct pdet_spaces *spaces)
{
	spaces->n = spaces->lost.n = 0;
}

void pdet_spaces_free(struct pdet_spaces *spaces)
{
	pdet_vec_free(spaces);
	pdet_vec_free(&spaces->lost);
}
