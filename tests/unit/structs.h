/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Builds types of simulated kernels: structs by the offsets of their members,
 * and the matching VMCOREINFO.
 */
#ifndef TESTS_UNIT_STRUCTS_H
#define TESTS_UNIT_STRUCTS_H

#include "blob.h"
#include "kernel/text/vmcoreinfo.h"
#include "kernel/types/btf.h"

struct structs_member {
	const char *name;
	uint32_t offset;
	uint32_t bits;		/* width of a bit-field; 0: none */
	uint32_t bit;		/* its first bit */
	uint32_t bytes;		/* 0 means 8 */
};

/* As the bytes of a member: a struct that was added with this id. */
#define STRUCTS_IN(id) (0x80000000u | (id))

#define STRUCTS_MOST 64

struct structs_constant {
	const char *name;
	uint32_t value;
};

struct structs {
	struct blob blob;
	uint32_t byte, word;	/* ids of types */
	char *bytes;
	struct pdet_btf *btf;
};

static inline void structs_init(struct structs *s)
{
	blob_init(&s->blob);
	s->byte = blob_int(&s->blob, "char", 1, 8);
	s->word = blob_int(&s->blob, "unsigned long", 8, 64);
	s->bytes = NULL;
	s->btf = NULL;
}

static inline uint32_t structs_type(struct structs *s, uint32_t bytes)
{
	return bytes >> 31 ? bytes & ~(1u << 31) :
	       !bytes || bytes == 8 ? s->word :
	       bytes == 4 ? blob_int(&s->blob, "int", 4, 32) :
	       blob_array(&s->blob, s->byte, s->word, bytes);
}

/* Returns its id. */
static inline uint32_t structs_add(struct structs *s, const char *name,
				   uint32_t size,
				   const struct structs_member *m, unsigned n)
{
	uint32_t type[STRUCTS_MOST];
	bool bits = false;
	unsigned i;

	ck_assert_uint_le(n, STRUCTS_MOST);
	for (i = 0; i < n; i++) {
		bits |= m[i].bits;
		type[i] = structs_type(s, m[i].bytes);
	}
	blob_type(&s->blob, name, BLOB_STRUCT | (bits ? BLOB_FLAG : 0), n,
		  size);
	for (i = 0; i < n; i++)
		blob_member(&s->blob, m[i].name, type[i],
			    (m[i].offset * 8 + m[i].bit) | m[i].bits << 24);
	return s->blob.n_types;
}

static inline void structs_add_enum(struct structs *s, const char *name,
				    const struct structs_constant *c,
				    unsigned n)
{
	unsigned i;

	blob_type(&s->blob, name, BLOB_ENUM, n, 4);
	for (i = 0; i < n; i++) {
		blob_word(&s->blob, blob_string(&s->blob, c[i].name));
		blob_word(&s->blob, c[i].value);
	}
}

static inline const struct pdet_btf *structs_btf(struct structs *s)
{
	bool damaged;
	size_t size;

	s->bytes = blob_bytes(&s->blob, &size);
	s->btf = pdet_btf_new(s->bytes, size, &damaged);
	ck_assert_ptr_nonnull(s->btf);
	return s->btf;
}

static inline void structs_free(struct structs *s)
{
	pdet_btf_free(s->btf);
	free(s->bytes);
	blob_free(&s->blob);
}

static inline void structs_info(struct pdet_vmcoreinfo *info, const char *text)
{
	ck_assert(pdet_vmcoreinfo_parse(info, text, strlen(text)));
}

#endif
