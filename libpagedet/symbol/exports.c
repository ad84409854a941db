/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds exported symbols in a kernel image. Each has an entry with
 * self-relative offsets: to the symbol and to its name (include/linux/export.h,
 * struct kernel_symbol). Finding the name therefore leads to the entry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/types/fields.h"
#include "symbol/exports.h"
#include "symbol/scan.h"

/* It exceeds the length of any name. */
#define OVERLAP PDET_SCAN_OVERLAP
#define MOST_NAMES 32
#define MOST_PLACES 64

struct scan {
	struct pdet_symbol *symbols;
	size_t n;
	/* Addresses of the names; a text may occur several times. */
	struct {
		uint64_t addr;
		size_t symbol;
	} place[MOST_PLACES];
	size_t n_places;
	uint64_t first, last;	/* range of these addresses */
};

static int32_t half(const char *data)
{
	int32_t v;

	memcpy(&v, data, sizeof(v));
	return v;
}

static void add_place(struct scan *s, uint64_t addr, size_t symbol)
{
	if (s->n_places == MOST_PLACES)
		return;
	s->place[s->n_places].addr = addr;
	s->place[s->n_places++].symbol = symbol;
	s->first = PDET_MIN(s->first, addr);
	s->last = PDET_MAX(s->last, addr);
}

/* Search for each name together with the NUL after it. There may be no NUL
 * before the name: a name that is the end of a longer name may share its bytes.
 */
static int look_for_names(void *arg, uint64_t addr, const char *data)
{
	struct scan *s = arg;
	const char *at = data + OVERLAP, *name;
	const char *end = data + PDET_SCAN_PIECE + OVERLAP;
	size_t i, len;

	for (; at < end; at++) {
		at = memchr(at, '\0', (size_t)(end - at));
		if (!at)
			break;
		for (i = 0; at[-1] && i < s->n; i++) {
			name = s->symbols[i].name;
			len = strlen(name);
			if (at[-1] == name[len - 1] && !s->symbols[i].found &&
			    !memcmp(at - len, name, len))
				add_place(s, addr + (size_t)(at - data) - len,
					  i);
		}
	}
	return 0;
}

/* True if the second offset of an entry leads to a name. */
static int try_entry(struct scan *s, uint64_t addr, const char *data,
		     uint64_t name)
{
	struct pdet_symbol *symbol;
	uint64_t value;
	bool all = true;
	size_t i;

	for (i = 0; i < s->n_places; i++) {
		symbol = &s->symbols[s->place[i].symbol];
		if (s->place[i].addr != name || symbol->found)
			continue;
		value = addr - 4 + (uint64_t)(int64_t)half(data - 4);
		if (!pdet_is_address(value))
			continue;
		symbol->address = value;
		symbol->found = true;
	}
	for (i = 0; i < s->n_places; i++)
		all &= s->symbols[s->place[i].symbol].found;
	return all;
}

static int look_for_entries(void *arg, uint64_t addr, const char *data)
{
	struct scan *s = arg;
	uint64_t name;
	size_t i;

	for (i = 4; i < PDET_SCAN_PIECE + 4; i += 4) {
		name = addr + i + (uint64_t)(int64_t)half(data + i);
		if (name - s->first <= s->last - s->first &&
		    try_entry(s, addr + i, data + i, name))
			return 1;
	}
	return 0;
}

int pdet_exports_find(struct pdet_space *space,
		      const struct pdet_vmcoreinfo *info,
		      struct pdet_symbol *symbols, size_t n)
{
	struct scan s = { .symbols = symbols,
			  .n = PDET_MIN(n, (size_t)MOST_NAMES),
			  .first = UINT64_MAX };
	size_t i;
	int r;

	for (i = 0; i < s.n; i++)
		if (!*symbols[i].name || strlen(symbols[i].name) > OVERLAP)
			return -EINVAL;
	r = pdet_scan(space, info, look_for_names, &s);
	if (r < 0 || !s.n_places)
		return r;
	r = pdet_scan(space, info, look_for_entries, &s);
	return PDET_MIN(r, 0);
}
