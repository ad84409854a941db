/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * An exported symbol has an entry of offsets from themselves: to what it is, to
 * its name (include/linux/export.h, struct kernel_symbol); so who finds the
 * name finds the entry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/fields.h"
#include "kernel/exports.h"

/* Bytes that are looked at together, and how far before the next ones begin
 * again: what is looked for is shorter. */
#define CHUNK ((size_t)1 << 20)
#define OVERLAP 512
#define PAGE 4096
/* No image is larger, and none has such a hole before what is wanted. */
#define MOST_CHUNKS 256
#define MOST_EMPTY 16
#define MOST_NAMES 32
#define MOST_PLACES 64

struct scan {
	/* Of @data the last OVERLAP bytes are the first of the next. Not 0 ends
	 * it. */
	int (*look)(struct scan *s, uint64_t addr, const char *data, size_t n);
	struct pdet_symbol *symbols;
	size_t n;
	/* Where names are; a text may be there several times. */
	struct {
		uint64_t addr;
		size_t symbol;
	} place[MOST_PLACES];
	size_t n_places;
	uint64_t first, last;	/* of these */
};

/* What cannot be read is zeros; *any: something could. */
static int read_chunk(struct pdet_space *space, uint64_t addr, char *data,
		      size_t n, bool *any)
{
	size_t i;
	int r = pdet_space_read(space, addr, data, n);

	*any = !r;
	for (i = 0; r && i < n; i += PAGE) {
		r = pdet_space_read(space, addr + i, data + i,
				    PDET_MIN(n - i, (size_t)PAGE));
		if (r == -ENOMEM || r == -EACCES)
			return r;
		if (r)
			memset(data + i, 0, PDET_MIN(n - i, (size_t)PAGE));
		*any |= !r;
		r = 1;
	}
	return 0;
}

static int scan_image(struct pdet_space *space,
		      const struct pdet_vmcoreinfo *info, struct scan *s)
{
	char *data = malloc(CHUNK + OVERLAP);
	unsigned i, empty = 0;
	uint64_t addr;
	bool any;
	int r = -ENODATA;

	if (!data)
		return -ENOMEM;
	if (pdet_vmcoreinfo_symbol(info, "_stext", &addr))
		r = 0;
	addr &= -(uint64_t)PAGE;
	for (i = 0; !r && i < MOST_CHUNKS && empty < MOST_EMPTY; i++) {
		r = read_chunk(space, addr, data, CHUNK + OVERLAP, &any);
		empty = any ? 0 : empty + 1;
		if (!r && any)
			r = s->look(s, addr, data, CHUNK + OVERLAP);
		addr += CHUNK;
	}
	free(data);
	return r < 0 ? r : 0;
}

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

/* Texts with a NUL behind. The one before may be missing: a name that ends as
 * another one is the end of that. */
static int look_for_names(struct scan *s, uint64_t addr, const char *data,
			  size_t n)
{
	const char *at = data + OVERLAP, *end = data + n, *name;
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

/* The second offset of an entry leads to a name. */
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

static int look_for_entries(struct scan *s, uint64_t addr, const char *data,
			    size_t n)
{
	uint64_t name;
	size_t i;

	for (i = 4; i < n - OVERLAP + 4; i += 4) {
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
	struct scan s = { .look = look_for_names, .symbols = symbols,
			  .n = PDET_MIN(n, (size_t)MOST_NAMES),
			  .first = UINT64_MAX };
	size_t i;
	int r;

	for (i = 0; i < s.n; i++)
		if (!*symbols[i].name || strlen(symbols[i].name) > OVERLAP)
			return -EINVAL;
	r = scan_image(space, info, &s);
	if (r < 0 || !s.n_places)
		return r;
	s.look = look_for_entries;
	return scan_image(space, info, &s);
}
