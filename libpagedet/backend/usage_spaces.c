/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the processes whose address space is that of another one. Only those
 * with equal keys need to be compared, and these are few: the key is drawn by
 * lot when a program is executed.
 */
#include <errno.h>
#include <stdlib.h>

#include "backend/spaces.h"
#include "backend/usage_spaces.h"

static int by_key(const void *a, const void *b)
{
	const struct pdet_usage *x = *(struct pdet_usage *const *)a;
	const struct pdet_usage *y = *(struct pdet_usage *const *)b;

	if (x->space_key != y->space_key)
		return x->space_key < y->space_key ? -1 : 1;
	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	return (x->row.pid > y->row.pid) - (x->row.pid < y->row.pid);
}

static bool may_be_one(const struct pdet_usage *a, const struct pdet_usage *b)
{
	return a->space_key == b->space_key && a->space == b->space;
}

/* Why it is not known whether the address space is that of another one. */
static unsigned why_unsure(struct pdet_session *s, const struct pdet_usage *u)
{
	if (u->space ||
	    s->backend->ops->space_key(s, u->thread) != u->space_key)
		return PAGEDET_RACED;
	return PAGEDET_UNSUPPORTED;
}

/* Compares rows that may all have one address space. */
static int compare(struct pdet_session *s, struct pdet_usage **rows, size_t n)
{
	struct pdet_spaces spaces = { 0 };
	size_t i, j;
	int is = 0;

	for (i = 0; i < n && is >= 0; i++) {
		struct pagedet_usage *row = &rows[i]->row;
		const struct pdet_task task = {
			.space = rows[i]->space, .thread = rows[i]->thread,
			.space_key = rows[i]->space_key,
		};

		is = pdet_spaces_add(&spaces, s, &task);
		if (is == PDET_SPACE_UNSURE)
			row->same_as_state = why_unsure(s, rows[i]);
		for (j = 0; is == PDET_SPACE_SHARED && j < i; j++) {
			if (rows[j]->thread != spaces.with)
				continue;
			row->same_as = rows[j]->row.pid;
			row->same_as_state = PAGEDET_HAVE;
			break;
		}
	}
	pdet_spaces_free(&spaces);
	return PDET_MIN(is, 0);
}

/* What is known of a row alone. */
static unsigned alone(const struct pdet_usage *u)
{
	return u->space || u->space_key ? PAGEDET_NONE :
	       u->row.state[PAGEDET_SUM_PSS] == PAGEDET_NO_ACCESS ?
	       PAGEDET_NO_ACCESS : PAGEDET_UNSUPPORTED;
}

static void set_states(struct pdet_usage **rows, size_t n, unsigned state)
{
	size_t i;

	for (i = 0; i < n; i++)
		rows[i]->row.same_as_state = state;
}

static int compare_all(struct pdet_backend *b, struct pdet_env *env,
		       struct pdet_usage **rows, size_t n)
{
	const struct pdet_wants wants = { .target = PAGEDET_TARGET_TASK };
	struct pdet_session *s = NULL;
	size_t at, end;
	int r = 0;

	for (at = 0; at < n && r == 0; at = end) {
		for (end = at + 1; end < n && may_be_one(rows[at], rows[end]);
		     end++)
			;
		if (end == at + 1 || !(rows[at]->space || rows[at]->space_key))
			continue;
		if (!s)
			r = b->ops->session_new(b, env, &wants, &s);
		if (r == 0) {
			r = compare(s, rows + at, end - at);
		} else if (!pdet_is_shortage(r)) {
			set_states(rows + at, end - at, PAGEDET_IO);
			pdet_clear(env);
			r = 0;
		}
	}
	if (s)
		b->ops->session_free(s);
	return r;
}

int pdet_usage_spaces(struct pdet_backend *b, struct pdet_env *env,
		      struct pdet_usage *rows, size_t n)
{
	struct pdet_usage **sorted = calloc(n + 1, sizeof(*sorted));
	size_t i;
	int r;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		sorted[i] = &rows[i];
		rows[i].row.same_as_state = alone(&rows[i]);
	}
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_key);
	r = compare_all(b, env, sorted, n);
	free(sorted);
	return r;
}
