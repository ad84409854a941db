/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Keeps a list of address spaces, sorted by the order that the source gives. If
 * it gives none, each new one is compared with all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/spaces.h"

static enum pdet_space_order order_of(struct pdet_session *s,
				      const struct pdet_task_space *a,
				      const struct pdet_task_space *b)
{
	if (a->number && b->number)
		return a->number == b->number ? PDET_SPACE_SAME :
		       a->number < b->number ? PDET_SPACE_BEFORE :
					       PDET_SPACE_AFTER;
	return s->backend->ops->space_order(s, a->thread, b->thread);
}

/*
 * Looks for @space among those in order. Returns PDET_SPACE_SAME, _OTHER with
 * its place, or _UNKNOWN if they have no order.
 */
static enum pdet_space_order look(const struct pdet_spaces *spaces,
				  struct pdet_session *s,
				  const struct pdet_task_space *space,
				  size_t *at)
{
	size_t low = 0, high = spaces->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		switch (order_of(s, space, &spaces->data[mid])) {
		case PDET_SPACE_SAME:
			return PDET_SPACE_SAME;
		case PDET_SPACE_BEFORE:
			high = mid;
			break;
		case PDET_SPACE_AFTER:
			low = mid + 1;
			break;
		default:
			return PDET_SPACE_UNKNOWN;
		}
	}
	*at = low;
	return PDET_SPACE_OTHER;
}

static enum pdet_space_order compare_all(const struct pdet_spaces *spaces,
					 struct pdet_session *s,
					 const struct pdet_task_space *space)
{
	enum pdet_space_order found = PDET_SPACE_OTHER, order;
	size_t i;

	for (i = 0; i < spaces->n; i++) {
		order = order_of(s, space, &spaces->data[i]);
		if (order == PDET_SPACE_SAME)
			return order;
		if (order == PDET_SPACE_UNKNOWN)
			found = order;
	}
	return found;
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

/* Returns PDET_SPACE_SAME, _OTHER or _UNKNOWN. *at: where to insert it;
 * SIZE_MAX if they have no order. */
static enum pdet_space_order search(const struct pdet_spaces *spaces,
				    struct pdet_session *s,
				    const struct pdet_task_space *space,
				    size_t *at)
{
	enum pdet_space_order found = PDET_SPACE_UNKNOWN;

	if (!spaces->unordered)
		found = look(spaces, s, space, at);
	if (found != PDET_SPACE_UNKNOWN)
		return found;
	*at = SIZE_MAX;
	return compare_all(spaces, s, space);
}

/* Whether the source tells spaces apart. */
static bool is_told(const struct pdet_session *s, const struct pdet_task *task)
{
	return task->space || s->backend->ops->space_order;
}

bool pdet_spaces_has(const struct pdet_spaces *spaces, struct pdet_session *s,
		     const struct pdet_task *task)
{
	const struct pdet_task_space space = { task->space, task->thread };
	size_t at;

	return is_told(s, task) &&
	       search(spaces, s, &space, &at) == PDET_SPACE_SAME;
}

int pdet_spaces_add(struct pdet_spaces *spaces, struct pdet_session *s,
		    const struct pdet_task *task)
{
	const struct pdet_task_space space = { task->space, task->thread };
	enum pdet_space_order found;
	size_t at = 0;

	if (!is_told(s, task))
		return PDET_SPACE_NEW;
	found = search(spaces, s, &space, &at);
	if (found == PDET_SPACE_SAME)
		return PDET_SPACE_SHARED;
	spaces->unordered |= at == SIZE_MAX;
	if (!insert(spaces, &space, PDET_MIN(at, spaces->n)))
		return -ENOMEM;
	return found == PDET_SPACE_OTHER ? PDET_SPACE_NEW : PDET_SPACE_UNSURE;
}

bool pdet_spaces_remain(const struct pdet_spaces *spaces,
			struct pdet_session *s)
{
	size_t i;

	for (i = 0; i < spaces->n; i++)
		if (!spaces->data[i].number &&
		    s->backend->ops->has_memory(s, spaces->data[i].thread) != 1)
			return false;
	return true;
}

void pdet_spaces_free(struct pdet_spaces *spaces)
{
	pdet_vec_free(spaces);
}
