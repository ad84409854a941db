/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What a key does not have is not told. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "base/vec.h"
#include "pagedet.h"
#include "record/collect.h"

#define MOST_CPUS 65536u

static void take_word(struct pdet_kmem_event *e, uint32_t word, uint64_t value)
{
	switch (word) {
	case PAGEDET_ALLOC_SITE:
		e->site = value;
		break;
	case PAGEDET_ALLOC_TID:
		e->pid = (int32_t)value;
		break;
	case PAGEDET_ALLOC_GFP:
		e->gfp = value;
		break;
	case PAGEDET_ALLOC_NODE:
		e->node = (int32_t)value;
		break;
	case PAGEDET_ALLOC_ORDER:
		e->order = (uint8_t)value;
		break;
	case PAGEDET_ALLOC_MIGRATETYPE:
		e->migratetype = (int32_t)value;
		break;
	case PAGEDET_ALLOC_BYTES_REQ:
		e->requested = value;
		break;
	case PAGEDET_ALLOC_BYTES_ALLOC:
		e->allocated = value;
		break;
	case PAGEDET_ALLOC_CPU:
		e->cpu = (uint16_t)value;
		break;
	default:
		break;
	}
}

static struct pdet_kmem_event event_of(const struct pdet_collect *c,
				       const uint64_t *words, uint32_t stack)
{
	struct pdet_kmem_event e = {
		.kind = c->signature->kind, .gfp = PDET_KMEM_NO_GFP,
		.pid = -1, .node = PDET_KMEM_NO_NUMBER,
		.migratetype = PDET_KMEM_NO_NUMBER, .stack = stack,
	};
	unsigned i;

	for (i = 0; i < c->key->n; i++) {
		const uint32_t word = c->key->word[i];

		/* A tracepoint may not have it. */
		if ((word == PAGEDET_ALLOC_NODE ||
		     word == PAGEDET_ALLOC_MIGRATETYPE) &&
		    pdet_program_argument(c->signature, word) ==
			    PDET_ARGUMENT_NONE)
			continue;
		take_word(&e, word, words[i]);
	}
	return e;
}

/* One that fills its room may be cut: then it is not known. */
static size_t name_length(const char *name)
{
	const size_t n = strnlen(name, PDET_PROGRAM_NAME);

	return n < PDET_PROGRAM_NAME - 1 ? n : 0;
}

static void take_name(struct pdet_kmem_sum *to, const char *name)
{
	_Static_assert(sizeof(to->cache) == PDET_PROGRAM_NAME, "names");
	to->keys.cache_len = (uint32_t)name_length(name);
	memcpy(to->cache, name, to->keys.cache_len);
}

struct pdet_kmem_event pdet_collect_event(const struct pdet_collect *c,
					  const uint64_t *words, uint32_t stack)
{
	struct pdet_kmem_event e = event_of(c, words, stack);
	const char *name = (const char *)(words + c->key->n);

	if (!c->key->has_name)
		return e;
	e.cache_len = (uint32_t)name_length(name);
	e.cache = e.cache_len ? name : NULL;
	return e;
}

static void add_up(struct pdet_kmem_sum *to,
		   const struct pdet_program_sum *from, uint64_t unit)
{
	to->times += from->times;
	to->requested += from->requested * unit;
	to->allocated += from->allocated * unit;
	to->failed += from->failed;
	to->freed += from->freed;
	to->cross_cpu += from->cross_cpu;
	to->mismatched += from->mismatched;
	to->replaced += from->replaced;
	to->untracked += from->untracked;
	to->gone += from->gone * unit;
}

static bool push(struct pdet_kmem_sums *ret, const struct pdet_kmem_sum *row)
{
	return !(row->times | row->failed) || pdet_vec_push(&ret->rows, *row);
}

bool pdet_collect_add(const struct pdet_collect *c, const uint64_t *words,
		      uint32_t stack, const void *sums,
		      struct pdet_kmem_sums *ret)
{
	const size_t bytes = pdet_program_sum_bytes(c->frees);
	const bool is_page = c->signature->kind == PDET_KMEM_PAGE_ALLOC;
	struct pdet_kmem_sum none = { .keys = event_of(c, words, stack) }, row;
	struct pdet_program_sum sum = { 0 };
	uint32_t i;

	if (c->key->has_name)
		take_name(&none, (const char *)(words + c->key->n));
	row = none;
	for (i = 0; i < c->n_cpus; i++) {
		memcpy(&sum, (const char *)sums + i * bytes, bytes);
		add_up(&row, &sum, is_page ? c->page_size : 1);
		if (!c->by_cpu)
			continue;
		row.keys.cpu = (uint16_t)c->cpus[i];
		if (!push(ret, &row))
			return false;
		row = none;
	}
	return c->by_cpu || push(ret, &row);
}

/* --- processors --- */

struct cpus {
	uint32_t *data;
	size_t n, cap;
};

static int add_range(struct cpus *cpus, uint64_t first, uint64_t last)
{
	if (last < first || last >= MOST_CPUS ||
	    (cpus->n && first <= cpus->data[cpus->n - 1]))
		return -EBADMSG;
	for (; first <= last; first++)
		if (!pdet_vec_push(cpus, (uint32_t)first))
			return -ENOMEM;
	return 0;
}

int pdet_collect_cpus(const char *text, size_t len, uint32_t **ret)
{
	struct pdet_scan s = { text, text + len };
	struct cpus cpus = { 0 };
	uint64_t first, last;
	int r = 0;

	do {
		if (!pdet_scan_dec(&s, &first)) {
			r = -EBADMSG;
			break;
		}
		last = first;
		if (pdet_scan_char(&s, '-') && !pdet_scan_dec(&s, &last))
			r = -EBADMSG;
		if (r == 0)
			r = add_range(&cpus, first, last);
	} while (r == 0 && pdet_scan_char(&s, ','));
	pdet_scan_char(&s, '\n');
	if (r == 0 && s.at != s.end)
		r = -EBADMSG;
	if (r < 0) {
		pdet_vec_free(&cpus);
		return r;
	}
	*ret = cpus.data;
	return (int)cpus.n;
}
