/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Looking for one enum. Parsing all 100,000 types of a kernel takes 5-7 ms; a
 * question about one page must not pay for that. So: find the first member's
 * name among the strings, then the one place among the types that refers to
 * it and is preceded by the header of an enum of the right name.
 */
#include <string.h>

#include "kernel/btf_enum.h"

#define BTF_MAGIC 0xeb9f
#define BTF_KIND_ENUM 6

struct btf_header {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint32_t hdr_len;
	uint32_t type_off;
	uint32_t type_len;
	uint32_t str_off;
	uint32_t str_len;
};

/* Offset of the string "\0name\0" among the strings; 0 if there is none. */
static uint32_t find_string(const char *strings, size_t len, const char *name)
{
	size_t n = strlen(name);
	const char *at = strings, *end = strings + len;

	while ((at = memmem(at, (size_t)(end - at), name, n))) {
		if (at > strings && at[-1] == '\0' && at + n < end &&
		    at[n] == '\0')
			return (uint32_t)(at - strings);
		at++;
	}
	return 0;
}

static bool string_is(const struct pdet_btf_enum *e, uint32_t offset,
		      const char *name)
{
	size_t n = strlen(name) + 1;

	return offset < e->strings_len && e->strings_len - offset >= n &&
	       !memcmp(e->strings + offset, name, n);
}

bool pdet_btf_enum_find(const void *btf, size_t size, const char *name,
			const char *first, struct pdet_btf_enum *ret)
{
	const char *bytes = btf;
	struct btf_header h;
	const uint32_t *word;
	struct pdet_btf_enum e;
	uint32_t wanted;
	size_t words, i;

	if (size < sizeof(h))
		return false;
	memcpy(&h, btf, sizeof(h));
	if (h.magic != BTF_MAGIC || h.version != 1 || h.hdr_len < sizeof(h) ||
	    h.hdr_len > size || h.hdr_len % 4 || h.type_off % 4 ||
	    h.type_off > size - h.hdr_len ||
	    h.type_len > size - h.hdr_len - h.type_off ||
	    h.str_off > size - h.hdr_len ||
	    h.str_len > size - h.hdr_len - h.str_off)
		return false;
	e.strings = bytes + h.hdr_len + h.str_off;
	e.strings_len = h.str_len;
	wanted = find_string(e.strings, e.strings_len, first);
	if (!wanted)
		return false;

	/* struct btf_type is three words: name, info, size; then the pairs. */
	word = (const uint32_t *)(const void *)(bytes + h.hdr_len +
						h.type_off);
	words = h.type_len / 4;
	for (i = 3; i < words; i++) {
		uint32_t info;

		if (word[i] != wanted)
			continue;
		info = word[i - 2];
		e.n = info & 0xffff;
		if ((info >> 24 & 31) != BTF_KIND_ENUM || !e.n ||
		    (words - i) / 2 < e.n || !string_is(&e, word[i - 3], name))
			continue;
		e.members = word + i;
		*ret = e;
		return true;
	}
	return false;
}

bool pdet_btf_enum_value(const struct pdet_btf_enum *e, const char *member,
			 uint32_t *ret)
{
	uint32_t i;

	for (i = 0; i < e->n; i++) {
		if (!string_is(e, e->members[2 * i], member))
			continue;
		*ret = e->members[2 * i + 1];
		return true;
	}
	return false;
}
