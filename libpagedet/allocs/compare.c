/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A value is a number or the hash of a text, so it is the same in both traces.
 * Only an address in a text may be another place after a boot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocs/compare.h"
#include "base/hash.h"

#define MARK " (before)"

static bool is_one_kernel(const struct pdet_trace_kernel *a,
			  const struct pdet_trace_kernel *b)
{
	return *a->symbol && !strcmp(a->symbol, b->symbol) &&
	       a->address == b->address && a->end == b->end;
}

/* Modules can be elsewhere although the kernel is at the same place. */
static bool is_same_place(const struct pdet_alloc_matching *m,
			  const char *address)
{
	const struct pdet_trace_kernel *k = m->kernel;
	const uint64_t v = strtoull(address, NULL, 16);

	return is_one_kernel(k, m->kernel_before) && v >= k->address &&
	       v < k->end;
}

/* A place without a name is an address; a function cannot begin like that. */
static bool is_address(const char *text)
{
	return text[0] == '0' && text[1] == 'x';
}

/* Whether no place, or frame of a stack, in the text may be another one now. */
static bool is_known(const struct pdet_alloc_matching *m, const char *text)
{
	const char *frame;

	for (frame = text; frame; frame = strchr(frame, ';')) {
		frame += *frame == ';';
		if (is_address(frame) && !is_same_place(m, frame))
			return false;
	}
	return true;
}

/* The id of the text with a mark behind it; 0 without memory. */
static uint64_t mark(struct pdet_groups *g, const char *text, size_t len)
{
	char *marked = malloc(len + sizeof(MARK));
	uint64_t id;

	if (!marked)
		return 0;
	memcpy(marked, text, len);
	memcpy(marked + len, MARK, sizeof(MARK));
	len += sizeof(MARK) - 1;
	id = pdet_hash(marked, len);
	if (!pdet_groups_keep(g, id, marked, len))
		id = 0;
	free(marked);
	return id;
}

/* What a value is now; *other is set if that differs. */
static bool translate(const struct pdet_alloc_matching *m, uint64_t *value,
		      bool *other)
{
	size_t len = 0;
	const char *text = pdet_groups_text(&m->keys_before->groups, *value,
					    &len);

	if (!text || is_known(m, text))
		return true;
	*other = true;
	*value = mark(&m->keys->groups, text, len);
	return *value;
}

static bool has_places(uint32_t key)
{
	return key == PAGEDET_ALLOC_SITE || key == PAGEDET_ALLOC_STACK;
}

/* The group now, or -1 without memory. */
static int64_t find(struct pdet_alloc_matching *m, size_t group)
{
	const struct pdet_groups *g = &m->keys_before->groups;
	const uint8_t *state = pdet_groups_state(g, group);
	uint64_t value[PAGEDET_ALLOC_KEYS];
	bool other = false;
	unsigned i;

	memcpy(value, pdet_groups_value(g, group), g->n_keys * sizeof(*value));
	for (i = 0; i < g->n_keys; i++)
		if (has_places(m->keys->by[i]) &&
		    state[i] == PAGEDET_HAVE &&
		    !translate(m, &value[i], &other))
			return -1;
	m->unmatched += other;
	return pdet_groups_find(&m->keys->groups, value, state);
}

/* Has sums of 0 for all groups there are. */
static bool fill(struct pdet_alloc_sums *s, size_t n)
{
	const struct pdet_alloc_parts none = { { { 0 } } };

	while (s->n < n)
		if (!pdet_vec_push(s, none))
			return false;
	return true;
}

int pdet_alloc_match(struct pdet_alloc_matching *m)
{
	const struct pdet_alloc_sums *from = m->sums_before;
	const size_t n = m->sums->n;
	bool ok = pdet_groups_add_texts(&m->keys->groups,
					&m->keys_before->groups);
	int64_t at;
	size_t i;

	for (i = 0; ok && i < from->n; i++) {
		if (pdet_alloc_is_empty(&from->data[i]))
			continue;
		at = find(m, i);
		ok = at >= 0 && fill(&m->ret, (size_t)at + 1) &&
		     pdet_alloc_keys_add_families(m->keys, (size_t)at,
			pdet_alloc_keys_families(m->keys_before, i));
		if (ok)
			m->ret.data[at] = from->data[i];
	}
	ok = ok && fill(&m->ret, m->keys->groups.n) &&
	     fill(m->sums, m->keys->groups.n);
	if (ok)
		return 0;
	m->sums->n = n;
	pdet_vec_free(&m->ret);
	return -ENOMEM;
}
