/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds a few symbols in one pass over the tables. It keeps only one piece of
 * the names, and reads only the addresses found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/kallsyms.h"
#include "symbol/kallsyms_tables.h"

#define ROOM ((size_t)128 << 10)

/* Drop the bytes before @at. */
static void drop(struct pdet_kallsyms_bytes *b, size_t at)
{
	memmove(b->data, b->data + at, b->n - at);
	b->n -= at;
	b->addr += at;
}

static int go_through(struct pdet_kallsyms_search *s,
		      struct pdet_kallsyms_bytes *b, struct pdet_space *space,
		      const struct pdet_kallsyms_tables *t)
{
	int r = 0;

	while (r == 0 && s->i < t->n && s->left) {
		/* No name is as long as half of the buffer. */
		r = pdet_kallsyms_read_names(b, space, t);
		drop(b, pdet_kallsyms_search_names(s, b->data, b->n, t->n));
	}
	return r;
}

static int find_names(struct pdet_space *space,
		      const struct pdet_kallsyms_tables *t,
		      struct pdet_symbol *symbols, size_t n)
{
	struct pdet_kallsyms_bytes b = { .addr = t->names, .cap = ROOM };
	struct pdet_kallsyms_tokens tokens = { .text = NULL };
	struct pdet_kallsyms_search search;
	int r;

	b.data = malloc(ROOM);
	if (!b.data)
		return -ENOMEM;
	r = pdet_kallsyms_read_tokens(&tokens, space, t);
	if (r == 0) {
		pdet_kallsyms_search_init(&search, &tokens, symbols, n);
		r = go_through(&search, &b, space, t);
	}
	free(tokens.text);
	free(b.data);
	return r;
}

static int read_offset(struct pdet_space *space,
		       const struct pdet_kallsyms_tables *t, uint32_t i,
		       int32_t *ret)
{
	return pdet_space_read(space, t->offsets + (uint64_t)i * sizeof(*ret),
			       ret, sizeof(*ret));
}

static int find_addresses(struct pdet_space *space,
			  struct pdet_kallsyms_tables *t,
			  const struct pdet_symbol *known,
			  struct pdet_symbol *symbols, size_t n)
{
	int32_t offset;
	size_t j;
	int r;

	r = known->found ? read_offset(space, t, known->i, &offset) : -EBADMSG;
	if (r == 0 && !pdet_kallsyms_find_coding(t, known->i, offset))
		r = -EBADMSG;
	for (j = 0; r == 0 && j < n; j++) {
		if (!symbols[j].found)
			continue;
		r = read_offset(space, t, symbols[j].i, &offset);
		if (r == 0)
			symbols[j].address = pdet_kallsyms_decode(
				t, symbols[j].i, offset);
	}
	return r;
}

int pdet_kallsyms_pick(struct pdet_space *space,
		       const struct pdet_vmcoreinfo *info,
		       struct pdet_symbol *symbols, size_t n)
{
	struct pdet_symbol all[PDET_KALLSYMS_PICKED + 1];
	struct pdet_kallsyms_tables t;
	int r;

	if (n > PDET_KALLSYMS_PICKED)
		return -EINVAL;
	if (!pdet_kallsyms_find_tables(&t, info))
		return -ENODATA;
	memcpy(all, symbols, n * sizeof(*symbols));
	all[n] = (struct pdet_symbol){ .name = PDET_KALLSYMS_KNOWN };
	r = pdet_kallsyms_read_tables(&t, space);
	if (r == 0)
		r = find_names(space, &t, all, n + 1);
	if (r == 0)
		r = find_addresses(space, &t, &all[n], all, n);
	if (r == 0)
		memcpy(symbols, all, n * sizeof(*symbols));
	return r;
}
