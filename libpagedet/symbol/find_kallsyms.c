/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * VMCOREINFO has the addresses of the symbol tables since 6.0. Before, they
 * follow each other (scripts/kallsyms.c, write_src()), each at a multiple of 8:
 * offsets, base, number, names, markers, tokens, index of the tokens. In the
 * tokens each digit is itself, which is found first. The index proves that
 * these are the tokens; a marker for each 256 names leads to the names, and the
 * last names to their number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "kernel/types/fields.h"
#include "symbol/find_kallsyms.h"
#include "symbol/scan.h"

/* Digits with the NUL after each */
#define DIGITS "0\0001\0002\0003\0004\0005\0006\0007\0008\0009"
#define TOKENS 256
#define TOKEN_BYTES 8192
#define NAMES_OF_MARKER 256
#define MOST_MARKERS 16384
/* Most bytes of so many names */
#define LAST_NAMES (NAMES_OF_MARKER * 128)
/* Before the names: the base and the number of symbols. */
#define HEAD 16

struct search {
	struct pdet_space *space;
	struct pdet_kallsyms_tables *t;
};

static uint64_t align(uint64_t v)
{
	return (v + 7) & ~(uint64_t)7;
}

/* --- tokens --- */

/* The begin of the table with a "0" at @at: as many strings before it. */
static const char *first_token(const char *data, const char *at)
{
	unsigned left = '0';

	if (at == data || at[-1])
		return NULL;
	for (at--; at > data; at--)
		if (!at[-1] && !--left)
			return at;
	return NULL;
}

/* Whether the index follows the @n bytes at @text, and agrees with the tokens
 * there. */
static bool has_index(const char *text, size_t n, uint64_t addr,
		      uint64_t *index)
{
	uint16_t at[TOKENS];
	size_t i, end = 0, start[TOKENS];

	for (i = 0; i < TOKENS; i++) {
		start[i] = end;
		end += strnlen(text + end, n - end) + 1;
		if (end >= n)
			return false;
	}
	*index = align(addr + end);
	if (*index - addr + sizeof(at) > n)
		return false;
	memcpy(at, text + (*index - addr), sizeof(at));
	for (i = 0; i < TOKENS; i++)
		if (at[i] != start[i])
			return false;
	return true;
}

static bool find_tokens(struct search *s, uint64_t addr)
{
	char *text = malloc(TOKEN_BYTES);
	bool found;

	found = text && !(addr & 7) &&
		!pdet_space_read(s->space, addr, text, TOKEN_BYTES) &&
		has_index(text, TOKEN_BYTES, addr, &s->t->token_index);
	s->t->token_table = addr;
	free(text);
	return found;
}

/* --- markers --- */

/* The offset of each 256th name ascends from 0. */
static bool find_markers(struct search *s, uint64_t end, uint64_t *start,
			 uint64_t *n, uint64_t *last)
{
	uint32_t value, after;

	if (pdet_space_u32(s->space, end - 4, &after) < 0)
		return false;
	/* it may be padding */
	if (!after) {
		end -= 4;
		if (pdet_space_u32(s->space, end - 4, &after) < 0)
			return false;
	}
	*last = after;
	*start = end - 4;
	for (*n = 1; after && *n < MOST_MARKERS; ++*n) {
		if (pdet_space_u32(s->space, *start - 4, &value) < 0 ||
		    value >= after)
			return false;
		after = value;
		*start -= 4;
	}
	return !after && !(*start & 7);
}

/* --- names --- */

/* Whether @n names begin at @at, and end just before the markers. */
static bool has_names(const uint8_t *bytes, size_t at, uint64_t n)
{
	struct pdet_kallsyms_name name;

	for (; n; n--) {
		at = pdet_kallsyms_name_at(bytes, LAST_NAMES, at, &name);
		if (!at)
			return false;
	}
	return LAST_NAMES - at < 8;
}

/* The names begin @skip bytes before the last 256 of them or fewer, which end
 * at @end. @bytes: LAST_NAMES before @end. */
static bool find_start(struct search *s, const uint8_t *bytes, uint64_t end,
		       uint64_t skip, uint64_t markers)
{
	const uint64_t first = end - LAST_NAMES;
	uint64_t at, num;
	uint32_t n[2];

	/* @at: the last names */
	for (at = end - 1; at >= first; at--) {
		if ((at - skip) & 7 ||
		    pdet_space_read(s->space, at - skip - 8, n, 8) < 0)
			continue;
		num = n[0] - (markers - 1) * NAMES_OF_MARKER;
		if (n[1] || !num || num > NAMES_OF_MARKER ||
		    !has_names(bytes, at - first, num))
			continue;
		s->t->names = at - skip;
		s->t->num_syms = s->t->names - 8;
		s->t->base_at = s->t->names - HEAD;
		s->t->has_base = true;
		s->t->offsets = s->t->base_at - align((uint64_t)n[0] * 4);
		return true;
	}
	return false;
}

static bool find_names(struct search *s)
{
	uint64_t end, markers, last;
	uint8_t *bytes;
	bool found;

	if (!find_markers(s, s->t->token_table, &end, &markers, &last))
		return false;
	bytes = malloc(LAST_NAMES);
	found = bytes && !pdet_space_read(s->space, end - LAST_NAMES, bytes,
					  LAST_NAMES) &&
		find_start(s, bytes, end, last, markers);
	free(bytes);
	return found;
}

/* --- all --- */

static int look(void *arg, uint64_t addr, const char *data)
{
	struct search *s = arg;
	const char *at = data, *first;
	const char *end = data + PDET_SCAN_PIECE + PDET_SCAN_OVERLAP;

	for (; (at = memmem(at, (size_t)(end - at), DIGITS, sizeof(DIGITS)));
	     at++) {
		first = first_token(data, at);
		if (first && find_tokens(s, addr + (size_t)(first - data)) &&
		    find_names(s))
			return 1;
	}
	return 0;
}

int pdet_find_kallsyms(struct pdet_kallsyms_tables *t,
		       struct pdet_space *space,
		       const struct pdet_vmcoreinfo *info)
{
	struct search s = { space, t };
	int r;

	memset(t, 0, sizeof(*t));
	(void)pdet_vmcoreinfo_symbol(info, PDET_KALLSYMS_KNOWN, &t->stext);
	r = pdet_scan(space, info, look, &s);
	return r < 0 ? r : r ? 0 : -ENODATA;
}
