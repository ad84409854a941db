/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Stores all symbols of a kernel, for lookup by name, index and address. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/find_kallsyms.h"
#include "symbol/kallsyms.h"
#include "symbol/kallsyms_tables.h"

/* Limit of section marks at one address. */
#define MOST_MARKS 64
#define FIRST_ROOM ((size_t)1 << 20)

static int grow(struct pdet_kallsyms_bytes *b)
{
	const size_t cap = b->cap ? b->cap * 2 : FIRST_ROOM;
	uint8_t *bigger = realloc(b->data, cap);

	if (!bigger)
		return -ENOMEM;
	b->data = bigger;
	b->cap = cap;
	return 0;
}

/* The total length of names is known only after reading them, so they are read
 * in pieces. */
static int read_names(struct pdet_kallsyms *k, struct pdet_space *space,
		      const struct pdet_kallsyms_tables *t,
		      struct pdet_kallsyms_bytes *b)
{
	struct pdet_kallsyms_name name;
	size_t at = 0, next;
	uint32_t i = 0;
	int r = 0;

	while (r == 0 && i < k->n) {
		next = pdet_kallsyms_name_at(b->data, b->n, at, &name);
		if (next) {
			k->at[i++] = (uint32_t)at;
			at = next;
			continue;
		}
		if (b->n == b->cap)
			r = grow(b);
		if (r == 0)
			r = pdet_kallsyms_read_names(b, space, t);
	}
	k->names = b->data;
	k->names_len = b->n;
	return r;
}

static struct pdet_kallsyms_name name_of(const struct pdet_kallsyms *k,
					 uint32_t i)
{
	struct pdet_kallsyms_name name = { .n = 0 };

	(void)pdet_kallsyms_name_at(k->names, k->names_len, k->at[i], &name);
	return name;
}

size_t pdet_kallsyms_name(const struct pdet_kallsyms *k, uint32_t i,
			  char name[PDET_SYMBOL_NAME], char *type)
{
	const struct pdet_kallsyms_name is = name_of(k, i);

	return pdet_kallsyms_name_text(&k->tokens, &is, name, type);
}

static void find_names(const struct pdet_kallsyms *k, struct pdet_symbol *s,
		       size_t n)
{
	struct pdet_kallsyms_search search;

	pdet_kallsyms_search_init(&search, &k->tokens, s, n);
	(void)pdet_kallsyms_search_names(&search, k->names, k->names_len,
					 k->n);
}

static int read_addresses(struct pdet_kallsyms *k, struct pdet_space *space,
			  struct pdet_kallsyms_tables *t)
{
	int32_t *offset = malloc(k->n * sizeof(*offset));
	struct pdet_symbol stext = { .name = PDET_KALLSYMS_KNOWN };
	uint32_t i;
	int r;

	if (!offset)
		return -ENOMEM;
	r = pdet_space_read(space, t->offsets, offset,
			    k->n * sizeof(*offset));
	if (r == 0) {
		find_names(k, &stext, 1);
		if (!stext.found || !pdet_kallsyms_find_coding(
				t, stext.i, offset[stext.i]))
			r = -EBADMSG;
	}
	k->ascending = true;
	for (i = 0; r == 0 && i < k->n; i++) {
		k->address[i] = pdet_kallsyms_decode(t, i, offset[i]);
		k->ascending &= !i || k->address[i - 1] <= k->address[i];
	}
	free(offset);
	return r;
}

static int read_all(struct pdet_kallsyms *k, struct pdet_space *space,
		    struct pdet_kallsyms_tables *t)
{
	struct pdet_kallsyms_bytes names = { .addr = t->names };
	int r = pdet_kallsyms_read_tables(t, space);

	if (r < 0)
		return r;
	k->n = t->n;
	k->at = malloc(k->n * sizeof(*k->at));
	k->address = malloc(k->n * sizeof(*k->address));
	if (!k->at || !k->address)
		return -ENOMEM;
	r = pdet_kallsyms_read_tokens(&k->tokens, space, t);
	if (r == 0)
		r = read_names(k, space, t, &names);
	return r < 0 ? r : read_addresses(k, space, t);
}

int pdet_kallsyms_read(struct pdet_kallsyms *ret, struct pdet_env *env,
		       struct pdet_space *space,
		       const struct pdet_vmcoreinfo *info)
{
	struct pdet_kallsyms k = { .n = 0 };
	struct pdet_kallsyms_tables t;
	int r;

	r = pdet_kallsyms_find_tables(&t, info) ? 0 :
	    pdet_find_kallsyms(&t, space, info);
	if (r == -ENODATA)
		return pdet_fail(env, ENODATA, "cannot find the kernel's "
				 "symbols: VMCOREINFO does not say where they "
				 "are, and they are not found in its image");
	if (r == 0)
		r = read_all(&k, space, &t);
	if (r < 0) {
		pdet_kallsyms_free(&k);
		/*
		 * VMCOREINFO has its address, so it must be readable: this is
		 * damage
		 */
		if (r == -ENOENT)
			return pdet_fail(env, EBADMSG,
					 "cannot read the kernel's symbols: "
					 "nothing is mapped at their address");
		errno = -r;
		return pdet_fail_errno(env, "cannot read the kernel's symbols");
	}
	*ret = k;
	return 0;
}

void pdet_kallsyms_free(struct pdet_kallsyms *k)
{
	free(k->names);
	free(k->at);
	free(k->address);
	free(k->tokens.text);
	memset(k, 0, sizeof(*k));
}

/* --- lookups --- */

void pdet_kallsyms_find(const struct pdet_kallsyms *k, struct pdet_symbol *s,
			size_t n)
{
	size_t j;

	find_names(k, s, n);
	for (j = 0; j < n; j++)
		if (s[j].found)
			s[j].address = k->address[s[j].i];
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool ends(const char *name, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && !strcmp(name + len - n, with);
}

/* True for a symbol that only a linker script defines. */
static bool is_mark(const struct pdet_kallsyms *k, uint32_t i)
{
	static const char *const marks[] = {
		"_text", "_stext", "_etext", "_sinittext", "_einittext",
		"_sdata", "_edata", "_end",
	};
	char name[PDET_SYMBOL_NAME];
	size_t len = pdet_kallsyms_name(k, i, name, NULL), j;

	for (j = 0; j < PDET_COUNT(marks); j++)
		if (!strcmp(name, marks[j]))
			return true;
	return begins(name, "__") &&
	       (begins(name + 2, "start_") || begins(name + 2, "stop_") ||
		begins(name + 2, "end_") || ends(name, len, "_start") ||
		ends(name, len, "_end"));
}

/* Index of the first symbol at or above an address. */
static uint32_t first_at(const struct pdet_kallsyms *k, uint64_t address)
{
	uint32_t low = 0, high = k->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (k->address[mid] < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool pdet_kallsyms_at(const struct pdet_kallsyms *k, uint64_t address,
		      uint32_t *ret)
{
	uint32_t first, last, i;

	if (!k->ascending)
		return false;
	first = first_at(k, address);
	if (first == k->n || k->address[first] != address) {
		if (!first)
			return false;
		address = k->address[first - 1];
		first = first_at(k, address);
	}
	/* The first of a group is the best, unless it is a section mark with
	 * few underscores. */
	last = k->n - first > MOST_MARKS ? first + MOST_MARKS : k->n;
	for (i = first; i < last && k->address[i] == address; i++)
		if (!is_mark(k, i)) {
			*ret = i;
			return true;
		}
	*ret = first;
	return true;
}
