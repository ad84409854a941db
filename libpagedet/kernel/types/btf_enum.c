/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds one enum in BTF without a full parse. Reading the 5 MB of a kernel's
 * types takes 1-5 ms, and parsing takes as long again: too slow for a query
 * about one page. It reads the types from the start until a word sequence looks
 * like the head of that enum. It then reads only the strings that this enum
 * refers to. sysfs returns 4 KB a read.
 *
 * bench: page
 */
#include <string.h>

#include "kernel/types/btf.h"
#include "kernel/types/btf_enum.h"

#define BLOCK 4096
#define BTF_KIND_ENUM 6
/* Limits of the search. No kernel has more of either. */
#define BTF_MOST (64u << 20)
#define CANDIDATES_MOST 10000
/* Words of an enum up to its first member's name and value. */
#define HEAD 5
/* Words that are tested together. */
#define STRIDE 32

struct btf {
	const struct pdet_btf_reader *reader;
	uint64_t types, strings; /* offsets */
	uint32_t types_len, strings_len;
	/* the part of the strings that was read last */
	uint32_t text_at;
	size_t text_len;
	char text[BLOCK];
};

/* Read up to @n bytes; fewer only at the end. */
static size_t fetch(const struct btf *b, void *buf, size_t n, uint64_t offset)
{
	size_t got = 0;
	ssize_t r;

	while (got < n) {
		r = b->reader->read(b->reader->arg, (char *)buf + got, n - got,
				    offset + got);
		if (r <= 0)
			break;
		got += (size_t)r;
	}
	return got;
}

/* The kernel requires the parts to be in this order. */
static bool read_header(struct btf *b)
{
	struct pdet_btf_header h;
	char last;

	if (fetch(b, &h, sizeof(h), 0) < sizeof(h) ||
	    h.magic != PDET_BTF_MAGIC || h.version != 1 ||
	    h.hdr_len < sizeof(h) || h.hdr_len > BTF_MOST ||
	    h.hdr_len % 4 || h.type_off % 4 || !h.str_len ||
	    h.str_off > BTF_MOST || h.str_len > BTF_MOST ||
	    h.type_off > h.str_off || h.type_len > h.str_off - h.type_off)
		return false;
	b->types = (uint64_t)h.hdr_len + h.type_off;
	b->types_len = h.type_len;
	b->strings = (uint64_t)h.hdr_len + h.str_off;
	b->strings_len = h.str_len;
	/* Check that the last byte is there and that it is a NUL. */
	return fetch(b, &last, 1, b->strings + h.str_len - 1) == 1 && !last;
}

/* A string, or NULL. Valid until the next call. */
static const char *string(struct btf *b, uint32_t offset)
{
	size_t skip, n;

	if (!offset || offset >= b->strings_len)
		return NULL;
	skip = offset - b->text_at;
	if (offset >= b->text_at && skip < b->text_len &&
	    memchr(b->text + skip, '\0', b->text_len - skip))
		return b->text + skip;
	n = b->strings_len - offset;
	b->text_len = fetch(b, b->text, n < BLOCK ? n : BLOCK,
			    b->strings + offset);
	b->text_at = offset;
	return memchr(b->text, '\0', b->text_len) ? b->text : NULL;
}

static bool string_is(struct btf *b, uint32_t offset, const char *text)
{
	const char *s = string(b, offset);

	return s && !strcmp(s, text);
}

/* Read the @n members at offset @at of the types. */
static bool read_members(struct btf *b, uint64_t at, uint32_t n,
			 struct pdet_btf_enum *ret)
{
	uint32_t pair[2 * PDET_BTF_MEMBERS], i;
	const char *name;

	if (at + n * 8 > b->types_len ||
	    fetch(b, pair, n * 8, b->types + at) < n * 8)
		return false;
	for (i = 0; i < n; i++) {
		name = string(b, pair[2 * i]);
		if (!name)
			return false;
		ret->member[i].name[0] = '\0';
		if (strlen(name) < sizeof(ret->member[i].name))
			strcpy(ret->member[i].name, name);
		ret->member[i].value = pair[2 * i + 1];
	}
	ret->n = n;
	return true;
}

/* A cheap test with few conditions: it runs for every word. */
static bool may_be_enum(const uint32_t *type, uint32_t least)
{
	const uint32_t n = type[1] & 0xffff;

	return (type[1] >> 24 & 31) == BTF_KIND_ENUM && type[2] == 4 && n &&
	       n >= least && n <= PDET_BTF_MEMBERS;
}

/* True if an enum's head may begin at one of the next STRIDE words. Nearly all
 * fail; this loop without branches costs half as much. */
static bool any_may_be_enum(const uint32_t *word)
{
	uint32_t hit = 0, i;

	for (i = 0; i < STRIDE; i++)
		hit |= ((word[i + 1] & 0x1f000000) == BTF_KIND_ENUM << 24) &
		       (word[i + 2] == 4);
	return hit;
}

bool pdet_btf_enum_find(const struct pdet_btf_reader *reader, const char *name,
			const char *first, uint32_t least,
			struct pdet_btf_enum *ret)
{
	struct btf b = { .reader = reader };
	uint32_t word[BLOCK / 4], at, n;
	unsigned candidates = 0;
	size_t words, i;

	if (!read_header(&b))
		return false;
	/* struct btf_type is name, info and size; pairs of name and value
	 * follow. Blocks overlap by a head less one word. */
	for (at = 0; at < b.types_len; at += (words - HEAD + 1) * 4) {
		n = b.types_len - at < BLOCK ? b.types_len - at : BLOCK;
		words = fetch(&b, word, n, b.types + at) / 4;
		if (words < HEAD)
			return false;
		for (i = 0; i + HEAD <= words; i++) {
			while (i % STRIDE == 0 && i + STRIDE + HEAD <= words &&
			       !any_may_be_enum(word + i))
				i += STRIDE;
			if (!may_be_enum(word + i, least))
				continue;
			if (++candidates > CANDIDATES_MOST)
				return false;
			if (string_is(&b, word[i], name) &&
			    string_is(&b, word[i + 3], first))
				return read_members(&b, at + i * 4 + 12,
						    word[i + 1] & 0xffff, ret);
		}
	}
	return false;
}

bool pdet_btf_enum_value(const struct pdet_btf_enum *e, const char *member,
			 uint32_t *ret)
{
	uint32_t i;

	for (i = 0; i < e->n; i++) {
		if (!*member || strcmp(e->member[i].name, member))
			continue;
		*ret = e->member[i].value;
		return true;
	}
	return false;
}
