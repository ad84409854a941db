/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reading the tables, and which of three ways of writing offsets they have:
 * the kernel does not say, but one address is known from elsewhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kallsyms.h"

/* Far more than any kernel has; bounds what damage can ask for. */
#define MOST_SYMBOLS (4u << 20)
#define MOST_NAME_BYTES (128u << 20)
/* Read at once. */
#define NAME_PIECE ((size_t)64 << 10)
/* Marks at one address. */
#define MOST_MARKS 64

/* --- the tables --- */

struct tables {
	uint64_t names, num_syms, token_table, token_index, offsets;
	bool has_base;		/* none since offsets count from themselves */
	uint64_t base_at;	/* where it is */
	uint64_t base;
};

static bool find_tables(const struct pdet_vmcoreinfo *info, struct tables *t)
{
	t->has_base = pdet_vmcoreinfo_symbol(info, "kallsyms_relative_base",
					     &t->base_at);
	return pdet_vmcoreinfo_symbol(info, "kallsyms_names", &t->names) &&
	       pdet_vmcoreinfo_symbol(info, "kallsyms_num_syms",
				      &t->num_syms) &&
	       pdet_vmcoreinfo_symbol(info, "kallsyms_token_table",
				      &t->token_table) &&
	       pdet_vmcoreinfo_symbol(info, "kallsyms_token_index",
				      &t->token_index) &&
	       pdet_vmcoreinfo_symbol(info, "kallsyms_offsets", &t->offsets);
}

static int read_tokens(struct pdet_kallsyms *k, struct pdet_space *space,
		       const struct tables *t)
{
	size_t last;
	ssize_t len;
	unsigned i;
	int r;

	r = pdet_space_read(space, t->token_index, k->token, sizeof(k->token));
	if (r < 0)
		return r;
	last = k->token[255];
	k->tokens = calloc(1, last + PDET_SYMBOL_NAME);
	if (!k->tokens)
		return -ENOMEM;
	r = pdet_space_read(space, t->token_table, k->tokens, last);
	if (r < 0)
		return r;
	len = pdet_space_text(space, t->token_table + last, k->tokens + last,
			      PDET_SYMBOL_NAME);
	if (len < 0)
		return (int)len;
	k->tokens_len = last + (size_t)len + 1;
	for (i = 0; i < 256; i++)
		if (k->token[i] < k->tokens_len)
			k->token_len[i] = (uint32_t)strlen(k->tokens +
							   k->token[i]);
	return 0;
}

/* Compressed length of the name at @at, and where it begins behind that: one
 * byte, or two of seven bits. False past the end. */
static bool name_at(const struct pdet_kallsyms *k, size_t at, size_t *begin,
		    size_t *len)
{
	if (at >= k->names_len)
		return false;
	*len = k->names[at++];
	if (*len & 0x80) {
		if (at >= k->names_len)
			return false;
		*len = (*len & 0x7f) | (size_t)k->names[at++] << 7;
	}
	*begin = at;
	return *len <= k->names_len - at;
}

/* The tokens come behind the names, in all kernels. */
static uint64_t room_for_names(const struct tables *t)
{
	return t->token_table > t->names ?
	       PDET_MIN(t->token_table - t->names, (uint64_t)MOST_NAME_BYTES) :
	       MOST_NAME_BYTES;
}

/* The next piece of the names, at most @n bytes; a smaller one, not past a page
 * that they may not reach, where that cannot be read. */
static int read_more(struct pdet_kallsyms *k, struct pdet_space *space,
		     uint64_t names, size_t n)
{
	const uint64_t addr = names + k->names_len;
	uint8_t *to = k->names + k->names_len;
	const size_t page = 4096 - (addr & 4095);
	int r = pdet_space_read(space, addr, to, n);

	if (r < 0 && n > page) {
		n = page;
		r = pdet_space_read(space, addr, to, n);
	}
	if (r == 0)
		k->names_len += n;
	return r;
}

/* How long the names are is known once they have been gone through: they are
 * read in pieces. */
static int read_names(struct pdet_kallsyms *k, struct pdet_space *space,
		      uint64_t names, uint64_t room)
{
	size_t cap = 0, at = 0, begin, len;
	uint8_t *bigger;
	uint32_t i = 0;
	int r;

	while (i < k->n) {
		if (name_at(k, at, &begin, &len)) {
			k->at[i++] = (uint32_t)at;
			at = begin + len;
			continue;
		}
		if (at >= room)
			return -EBADMSG;
		if (k->names_len == cap) {
			cap = cap ? cap * 2 : 1u << 20;
			bigger = cap > MOST_NAME_BYTES ? NULL :
				realloc(k->names, cap);
			if (!bigger)
				return cap > MOST_NAME_BYTES ? -EBADMSG :
							       -ENOMEM;
			k->names = bigger;
		}
		r = read_more(k, space, names,
			      PDET_MIN(cap - k->names_len, NAME_PIECE));
		if (r < 0)
			return r;
	}
	return 0;
}

size_t pdet_kallsyms_name(const struct pdet_kallsyms *k, uint32_t i,
			  char name[PDET_SYMBOL_NAME], char *type)
{
	size_t begin = 0, len = 0, n = 0, more;
	bool first = true;
	const char *token;

	if (type)
		*type = '?';
	if (!name_at(k, k->at[i], &begin, &len))
		len = 0;
	for (; len; len--, begin++) {
		token = k->tokens + k->token[k->names[begin]];
		more = k->token_len[k->names[begin]];
		/* the first character of all is the type */
		if (first && more) {
			if (type)
				*type = *token;
			token++;
			more--;
			first = false;
		}
		more = PDET_MIN(more, PDET_SYMBOL_NAME - 1 - n);
		memcpy(name + n, token, more);
		n += more;
	}
	name[n] = '\0';
	return n;
}

/* --- names among a hundred thousand --- */

/* What names that are looked for begin and end with, and all that with their
 * length. */
struct filter {
	bool first[256], last[256], all[4096];
	/* By token: could such a name begin with it, behind the type; with its
	 * first character; end with it? */
	enum { NO, YES, ASK_NEXT } begins[256];
	bool single[256], ends[256];
};

static bool *all_of(struct filter *f, char first, char last, size_t len)
{
	return &f->all[((uint8_t)first * 37u + (uint8_t)last * 11u + len) %
		       PDET_COUNT(f->all)];
}

static void add_name(struct filter *f, const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return;
	f->first[(uint8_t)name[0]] = true;
	f->last[(uint8_t)name[len - 1]] = true;
	*all_of(f, name[0], name[len - 1], len) = true;
}

/* What each token says; of one without characters nothing is concluded. */
static void sort_tokens(const struct pdet_kallsyms *k, struct filter *f)
{
	unsigned i;

	for (i = 0; i < 256; i++) {
		const uint32_t len = k->token_len[i];
		const uint8_t *at = (const uint8_t *)k->tokens + k->token[i];

		/* the first character of all is the type */
		f->begins[i] = len == 1 ? ASK_NEXT :
			       !len || f->first[at[1]] ? YES : NO;
		f->single[i] = !len || f->first[at[0]];
		f->ends[i] = !len || f->last[at[len - 1]];
	}
}

/* Can the name of these tokens be one of them? Most cannot, which is seen
 * without putting them together. */
static bool may_be(const struct pdet_kallsyms *k, struct filter *f,
		   const uint8_t *tokens, size_t n)
{
	const uint8_t a = tokens[0], b = tokens[n > 1], z = tokens[n - 1];
	const bool next = f->begins[a] == ASK_NEXT;
	size_t len = 0;

	if (!f->begins[a] || !f->ends[z] || (next && !f->single[b]))
		return false;
	if (!k->token_len[a] || !k->token_len[z] ||
	    (next && (n == 1 || !k->token_len[b])))
		return true;
	while (n)
		len += k->token_len[tokens[--n]];
	return *all_of(f, k->tokens[next ? k->token[b] : k->token[a] + 1],
		       k->tokens[k->token[z] + k->token_len[z] - 1], len - 1);
}

static void find_names(const struct pdet_kallsyms *k, struct pdet_symbol *s,
		       size_t n)
{
	struct filter f;
	size_t left = n, j, begin, len;
	char name[PDET_SYMBOL_NAME];
	uint32_t i;

	memset(&f, 0, sizeof(f));
	for (j = 0; j < n; j++) {
		s[j].found = false;
		add_name(&f, s[j].name);
	}
	sort_tokens(k, &f);
	for (i = 0; i < k->n && left; i++) {
		if (!name_at(k, k->at[i], &begin, &len) || !len ||
		    !may_be(k, &f, k->names + begin, len))
			continue;
		pdet_kallsyms_name(k, i, name, NULL);
		for (j = 0; j < n; j++) {
			if (s[j].found || s[j].name[0] != name[0] ||
			    strcmp(s[j].name, name))
				continue;
			s[j].found = true;
			s[j].i = i;
			left--;
		}
	}
}

/* --- addresses --- */

enum coding {
	ABSOLUTE_PERCPU,	/* below 0: from the base; else the address */
	FROM_BASE,
	FROM_ITSELF,
	CODINGS
};

static uint64_t decode(const struct tables *t, enum coding coding, uint32_t i,
		       int32_t offset)
{
	switch (coding) {
	case ABSOLUTE_PERCPU:
		return offset >= 0 ? (uint64_t)offset :
			t->base - 1 - (uint64_t)(int64_t)offset;
	case FROM_BASE:
		return t->base + (uint32_t)offset;
	default:
		return t->offsets + (uint64_t)i * 4 +
		       (uint64_t)(int64_t)offset;
	}
}

/* The coding that gives _stext the address that VMCOREINFO has for it. */
static bool find_coding(const struct pdet_kallsyms *k, const struct tables *t,
			const struct pdet_vmcoreinfo *info,
			const int32_t *offset, enum coding *ret)
{
	struct pdet_symbol s = { .name = "_stext" };
	uint64_t stext;
	unsigned coding;

	find_names(k, &s, 1);
	if (!s.found || !pdet_vmcoreinfo_symbol(info, "_stext", &stext))
		return false;
	for (coding = t->has_base ? 0 : FROM_ITSELF; coding < CODINGS;
	     coding++) {
		if (decode(t, coding, s.i, offset[s.i]) != stext)
			continue;
		*ret = coding;
		return true;
	}
	return false;
}

static int read_addresses(struct pdet_kallsyms *k, struct pdet_space *space,
			  const struct tables *t,
			  const struct pdet_vmcoreinfo *info)
{
	int32_t *offset = malloc(k->n * sizeof(*offset));
	enum coding coding;
	uint32_t i;
	int r;

	if (!offset)
		return -ENOMEM;
	r = pdet_space_read(space, t->offsets, offset,
			    k->n * sizeof(*offset));
	if (r == 0 && !find_coding(k, t, info, offset, &coding))
		r = -EBADMSG;
	k->ascending = true;
	for (i = 0; r == 0 && i < k->n; i++) {
		k->address[i] = decode(t, coding, i, offset[i]);
		k->ascending &= !i || k->address[i - 1] <= k->address[i];
	}
	free(offset);
	return r;
}

/* --- all --- */

static int read_all(struct pdet_kallsyms *k, struct pdet_space *space,
		    struct tables *t, const struct pdet_vmcoreinfo *info)
{
	const uint64_t room = room_for_names(t);
	int r = pdet_space_u32(space, t->num_syms, &k->n);

	if (r == 0 && t->has_base)
		r = pdet_space_u64(space, t->base_at, &t->base);
	if (r < 0)
		return r;
	/* each has a byte at least */
	if (!k->n || k->n > MOST_SYMBOLS || k->n > room)
		return -EBADMSG;
	k->at = malloc(k->n * sizeof(*k->at));
	k->address = malloc(k->n * sizeof(*k->address));
	if (!k->at || !k->address)
		return -ENOMEM;
	r = read_tokens(k, space, t);
	if (r == 0)
		r = read_names(k, space, t->names, room);
	return r < 0 ? r : read_addresses(k, space, t, info);
}

int pdet_kallsyms_read(struct pdet_kallsyms *ret, struct pdet_env *env,
		       struct pdet_space *space,
		       const struct pdet_vmcoreinfo *info)
{
	struct pdet_kallsyms k = { .n = 0 };
	struct tables t;
	int r;

	if (!find_tables(info, &t))
		return pdet_fail(env, ENODATA,
				 "cannot find the kernel's symbols: VMCOREINFO does not say where they are");
	r = read_all(&k, space, &t, info);
	if (r < 0) {
		pdet_kallsyms_free(&k);
		/* VMCOREINFO says that they are there, so it is damage */
		if (r == -ENOENT)
			return pdet_fail(env, EBADMSG,
					 "cannot read the kernel's symbols: "
					 "nothing is mapped where they are "
					 "said to be");
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
	free(k->tokens);
	memset(k, 0, sizeof(*k));
}

/* --- asking --- */

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

/* Does only a linker script have it? */
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

/* The first symbol at an address not below this one. */
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
	/* They are sorted so that the first is the best, but for marks with
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
