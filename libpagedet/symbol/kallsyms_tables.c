/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the symbol tables, and detects which of three encodings the offsets
 * have. The kernel does not export that, but one address is known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/kallsyms_tables.h"

/* Far more than any kernel has; limits the effect of damage. */
#define MOST_SYMBOLS (4u << 20)
#define MOST_NAME_BYTES (128u << 20)
/* Size of one read. */
#define PIECE ((size_t)64 << 10)

bool pdet_kallsyms_find_tables(struct pdet_kallsyms_tables *t,
			       const struct pdet_vmcoreinfo *info)
{
	memset(t, 0, sizeof(*t));
	(void)pdet_vmcoreinfo_symbol(info, PDET_KALLSYMS_KNOWN, &t->stext);
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

/* The token table follows the names in all kernels. */
static uint64_t room_for_names(const struct pdet_kallsyms_tables *t)
{
	return t->token_table > t->names ?
	       PDET_MIN(t->token_table - t->names, (uint64_t)MOST_NAME_BYTES) :
	       MOST_NAME_BYTES;
}

int pdet_kallsyms_read_tables(struct pdet_kallsyms_tables *t,
			      struct pdet_space *space)
{
	int r = pdet_space_u32(space, t->num_syms, &t->n);

	if (r == 0 && t->has_base)
		r = pdet_space_u64(space, t->base_at, &t->base);
	if (r < 0)
		return r;
	/* each name has at least one byte */
	return !t->n || t->n > MOST_SYMBOLS || t->n > room_for_names(t) ?
	       -EBADMSG : 0;
}

int pdet_kallsyms_read_tokens(struct pdet_kallsyms_tokens *ret,
			      struct pdet_space *space,
			      const struct pdet_kallsyms_tables *t)
{
	size_t last;
	ssize_t len;
	unsigned i;
	int r;

	r = pdet_space_read(space, t->token_index, ret->at, sizeof(ret->at));
	if (r < 0)
		return r;
	last = ret->at[255];
	ret->text = calloc(1, last + PDET_SYMBOL_NAME);
	if (!ret->text)
		return -ENOMEM;
	r = pdet_space_read(space, t->token_table, ret->text, last);
	if (r < 0)
		return r;
	len = pdet_space_text(space, t->token_table + last, ret->text + last,
			      PDET_SYMBOL_NAME);
	if (len < 0)
		return (int)len;
	ret->text_len = last + (size_t)len + 1;
	for (i = 0; i < 256; i++)
		if (ret->at[i] < ret->text_len)
			ret->len[i] = (uint32_t)strlen(ret->text + ret->at[i]);
	return 0;
}

int pdet_kallsyms_read_names(struct pdet_kallsyms_bytes *b,
			     struct pdet_space *space,
			     const struct pdet_kallsyms_tables *t)
{
	const uint64_t addr = b->addr + b->n;
	const size_t page = 4096 - (addr & 4095);
	size_t n = PDET_MIN(b->cap - b->n, PIECE);
	int r;

	if (addr - t->names >= room_for_names(t))
		return -EBADMSG;
	r = pdet_space_read(space, addr, b->data + b->n, n);
	/* Retry up to the page boundary: the names may end before an unreadable
	 * page. */
	if (r < 0 && n > page) {
		n = page;
		r = pdet_space_read(space, addr, b->data + b->n, n);
	}
	if (r == 0)
		b->n += n;
	return r;
}

static uint64_t decode_as(const struct pdet_kallsyms_tables *t,
			  enum pdet_kallsyms_coding coding, uint32_t i,
			  int32_t offset)
{
	switch (coding) {
	case PDET_KALLSYMS_ABSOLUTE_PERCPU:
		return offset >= 0 ? (uint64_t)offset :
			t->base - 1 - (uint64_t)(int64_t)offset;
	case PDET_KALLSYMS_FROM_BASE:
		return t->base + (uint32_t)offset;
	default:
		return t->offsets + (uint64_t)i * 4 +
		       (uint64_t)(int64_t)offset;
	}
}

bool pdet_kallsyms_find_coding(struct pdet_kallsyms_tables *t, uint32_t i,
			       int32_t offset)
{
	unsigned coding = t->has_base ? 0 : PDET_KALLSYMS_FROM_ITSELF;

	for (; t->stext && coding < PDET_KALLSYMS_CODINGS; coding++) {
		if (decode_as(t, coding, i, offset) != t->stext)
			continue;
		t->coding = coding;
		return true;
	}
	return false;
}

uint64_t pdet_kallsyms_decode(const struct pdet_kallsyms_tables *t, uint32_t i,
			      int32_t offset)
{
	return decode_as(t, t->coding, i, offset);
}
