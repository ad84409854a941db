/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Builds BTF (Documentation/bpf/btf.rst): types, then strings. */
#ifndef TESTS_UNIT_BLOB_H
#define TESTS_UNIT_BLOB_H

#include "unit.h"

enum blob_kind {
	BLOB_INT = 1, BLOB_PTR, BLOB_ARRAY, BLOB_STRUCT, BLOB_UNION, BLOB_ENUM,
	BLOB_FWD, BLOB_TYPEDEF, BLOB_VOLATILE, BLOB_CONST, BLOB_RESTRICT,
	BLOB_FUNC, BLOB_FUNC_PROTO, BLOB_VAR, BLOB_DATASEC, BLOB_FLOAT,
	BLOB_DECL_TAG, BLOB_TYPE_TAG, BLOB_ENUM64
};

#define BLOB_FLAG (1u << 31)	/* kind_flag */

struct blob {
	uint32_t *words;
	unsigned n_words, cap_words;
	char strings[4096];
	uint32_t n_strings;
	uint32_t n_types;
};

static inline void blob_init(struct blob *b)
{
	memset(b, 0, sizeof(*b));
	b->n_strings = 1;
}

static inline void blob_free(struct blob *b)
{
	free(b->words);
}

static inline void blob_word(struct blob *b, uint32_t word)
{
	if (b->n_words == b->cap_words) {
		b->cap_words = b->cap_words * 2 + 64;
		b->words = realloc(b->words, b->cap_words * sizeof(word));
		ck_assert_ptr_nonnull(b->words);
	}
	b->words[b->n_words++] = word;
}

/* Adds a text once, as kernels do. */
static inline uint32_t blob_string(struct blob *b, const char *text)
{
	uint32_t at = 0;

	while (at < b->n_strings && strcmp(b->strings + at, text))
		at += (uint32_t)strlen(b->strings + at) + 1;
	if (at == b->n_strings) {
		ck_assert_uint_lt(at + strlen(text) + 1, sizeof(b->strings));
		strcpy(b->strings + at, text);
		b->n_strings += (uint32_t)strlen(text) + 1;
	}
	return at;
}

/* Adds the three words of a type. Returns its id. */
static inline uint32_t blob_type(struct blob *b, const char *name,
				 uint32_t kind, uint32_t vlen, uint32_t size)
{
	blob_word(b, blob_string(b, name));
	blob_word(b, (kind & BLOB_FLAG) | (kind & 31) << 24 | vlen);
	blob_word(b, size);
	return ++b->n_types;
}

static inline uint32_t blob_int(struct blob *b, const char *name,
				uint32_t size, uint32_t bits)
{
	uint32_t id = blob_type(b, name, BLOB_INT, 0, size);

	blob_word(b, bits);
	return id;
}

static inline uint32_t blob_array(struct blob *b, uint32_t of, uint32_t index,
				  uint32_t n)
{
	uint32_t id = blob_type(b, "", BLOB_ARRAY, 0, 0);

	blob_word(b, of);
	blob_word(b, index);
	blob_word(b, n);
	return id;
}

/* Adds a member, also for a DATASEC, which has type, offset and size. */
static inline void blob_member(struct blob *b, const char *name, uint32_t type,
			       uint32_t bits)
{
	blob_word(b, blob_string(b, name));
	blob_word(b, type);
	blob_word(b, bits);
}

/* Copies the blob to memory of exactly its size, @size bytes. */
static inline char *blob_bytes(const struct blob *b, size_t *size)
{
	const uint32_t types = b->n_words * 4;
	const uint32_t header[] = { 0xeb9f | 1 << 16, 24, 0, types, types,
				    b->n_strings };
	char *bytes;

	*size = sizeof(header) + types + b->n_strings;
	bytes = malloc(*size);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, header, sizeof(header));
	memcpy(bytes + sizeof(header), b->words, types);
	memcpy(bytes + sizeof(header) + types, b->strings, b->n_strings);
	return bytes;
}

#endif
