/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the text of a stack by its id. An id is a hash, so rows with it may be
 * copied, counted and kept. The source that gave the id is asked for the text
 * only when the caller wants it.
 */
#include <errno.h>

#include "query/stacks.h"

void pdet_stacks_clear(struct pdet_stacks *s)
{
	size_t i;

	for (i = 0; i < s->list.n; i++)
		pdet_text_free(&s->list.data[i].text);
	pdet_vec_free(&s->list);
	pdet_pairs_free(&s->by_id);
}

static int ask(const struct pdet_iter *it, uint64_t id, struct pdet_text *ret)
{
	/* the caller's worker */
	const struct pdet_worker *k = &it->workers[0];
	int r = -ENOENT;
	size_t i;

	if (it->walk->ops->stack)
		r = it->walk->ops->stack(it->walk, id, ret);
	for (i = 0; i < it->n_backends && r == -ENOENT; i++)
		if (k->session[i] && it->backends[i]->ops->stack)
			r = it->backends[i]->ops->stack(k->session[i], id,
							ret);
	return r;
}

/* Each line becomes a text of its own. */
static uint32_t cut(struct pdet_text *text)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < text->len; i++) {
		if (text->data[i] != '\n')
			continue;
		text->data[i] = '\0';
		n++;
	}
	return n;
}

static int find(struct pdet_iter *it, uint64_t id,
		struct pdet_stack_text *ret)
{
	struct pdet_stacks *s = &it->stacks;
	uint64_t i;
	int r;

	if (pdet_pairs_get(&s->by_id, id, &i)) {
		*ret = s->list.data[i];
		return 0;
	}
	r = ask(it, id, &ret->text);
	if (r < 0)
		return r;
	ret->n = cut(&ret->text);
	i = s->list.n;
	if (!pdet_vec_push(&s->list, *ret)) {
		pdet_text_free(&ret->text);
		return -ENOMEM;
	}
	return pdet_pairs_set(&s->by_id, id, i) ? 0 : -ENOMEM;
}

int pdet_stacks_get(struct pdet_iter *it, uint64_t id, const char **frames,
		    uint32_t n)
{
	struct pdet_stack_text stack;
	const char *at;
	uint32_t i;
	int r = find(it, id, &stack);

	if (r < 0)
		return r;
	for (i = 0, at = stack.text.data; i < PDET_MIN(n, stack.n);
	     i++, at += strlen(at) + 1)
		frames[i] = at;
	return (int)stack.n;
}
