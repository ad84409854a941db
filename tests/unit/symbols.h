/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Builds a kernel's symbol tables as Linux's scripts/kallsyms.c does: the most
 * profitable pair of characters becomes a token, until there are 256 tokens.
 */
#ifndef TESTS_UNIT_SYMBOLS_H
#define TESTS_UNIT_SYMBOLS_H

#include "symbol/kallsyms.h"
#include "tables.h"

/* How addresses are encoded. */
enum symbols_coding {
	SYMBOLS_PERCPU,		/* CONFIG_KALLSYMS_ABSOLUTE_PERCPU */
	SYMBOLS_BASE,		/* relative to kallsyms_relative_base */
	SYMBOLS_ITSELF,		/* relative to the offset's own address */
	SYMBOLS_CODINGS
};

struct symbols_entry {
	uint64_t address;
	char type;
	const char *name;
};

/* The tables, their addresses, and their entries in VMCOREINFO. */
#define SYMBOLS_NUM 0xffffffff82000100ull
#define SYMBOLS_NAMES 0xffffffff82000108ull
#define SYMBOLS_TOKENS 0xffffffff82200000ull
#define SYMBOLS_INDEX 0xffffffff82210000ull
#define SYMBOLS_OFFSETS 0xffffffff82300000ull
#define SYMBOLS_BASE_AT 0xffffffff82500ff8ull
#define SYMBOLS_STEXT 0xffffffff81000000ull

static const char symbols_info[] =
	"SYMBOL(kallsyms_names)=ffffffff82000108\n"
	"SYMBOL(kallsyms_num_syms)=ffffffff82000100\n"
	"SYMBOL(kallsyms_token_table)=ffffffff82200000\n"
	"SYMBOL(kallsyms_token_index)=ffffffff82210000\n"
	"SYMBOL(kallsyms_offsets)=ffffffff82300000\n"
	"SYMBOL(_stext)=ffffffff81000000\n";
static const char symbols_info_base[] =
	"SYMBOL(kallsyms_relative_base)=ffffffff82500ff8\n";

struct symbols {
	struct physical *m;
	struct pdet_paging p;
	struct pdet_space *space;
	struct pdet_env env;
	char info_text[512];
	struct pdet_vmcoreinfo info;
	/* The symbols during the build: characters or tokens. */
	struct {
		uint16_t *token;
		size_t n;
	} *name;
	char *token[256];
	size_t names_len;
};

/* Writes kernel memory; each page of 4 KiB has a place of its own. */
static inline void symbols_write(struct symbols *s, uint64_t va,
				 const void *data, size_t n)
{
	const char *from = data;
	uint64_t page, addr;

	while (n) {
		const size_t step = PDET_MIN(n, 4096 - (va & 4095));

		page = va & -4096ull;
		addr = 0x10000000 + (page & 0xfffffff);
		tables_map(s->m, &s->p, s->p.root, page, 0,
			   tables_page(&s->p, addr, 0));
		memcpy(physical_at(s->m, addr + (va & 4095)), from, step);
		va += step;
		from += step;
		n -= step;
	}
}

/* The byte at @va, for tests that damage it. */
static inline char *symbols_byte(struct symbols *s, uint64_t va)
{
	return physical_at(s->m, 0x10000000 + (va & 0xfffffff));
}

static inline void symbols_count(struct symbols *s, size_t n, unsigned *pairs)
{
	size_t i, j;

	memset(pairs, 0, 65536 * sizeof(*pairs));
	for (i = 0; i < n; i++)
		for (j = 0; j + 1 < s->name[i].n; j++)
			pairs[s->name[i].token[j] << 8 |
			      s->name[i].token[j + 1]]++;
}

static inline void symbols_replace(struct symbols *s, size_t n, uint16_t a,
				   uint16_t b, uint16_t with)
{
	size_t i, j, to;

	for (i = 0; i < n; i++) {
		uint16_t *t = s->name[i].token;

		for (j = to = 0; j < s->name[i].n; to++) {
			const bool pair = j + 1 < s->name[i].n && t[j] == a &&
					  t[j + 1] == b;

			t[to] = pair ? with : t[j];
			j += pair ? 2 : 1;
		}
		s->name[i].n = to;
	}
}

static inline void symbols_compress(struct symbols *s,
				    const struct symbols_entry *e, size_t n)
{
	unsigned *pairs = malloc(65536 * sizeof(*pairs)), best, k;
	size_t i, j;
	int slot;

	s->name = calloc(n + 1, sizeof(*s->name));
	ck_assert(pairs && s->name);
	for (i = 0; i < n; i++) {
		const size_t len = strlen(e[i].name);

		s->name[i].n = len + 1;
		s->name[i].token = malloc((len + 1) * sizeof(uint16_t));
		ck_assert_ptr_nonnull(s->name[i].token);
		for (j = 0; j <= len; j++) {
			const uint8_t c = (uint8_t)(j ? e[i].name[j - 1] :
							e[i].type);

			s->name[i].token[j] = c;
			if (!s->token[c]) {
				s->token[c] = calloc(1, 2);
				s->token[c][0] = (char)c;
			}
		}
	}
	for (slot = 255; slot >= 0; slot--) {
		if (s->token[slot])
			continue;
		symbols_count(s, n, pairs);
		for (best = k = 0; k < 65536; k++)
			if (pairs[k] > pairs[best])
				best = k;
		if (pairs[best] < 2)
			break;
		s->token[slot] = malloc(strlen(s->token[best >> 8]) +
					strlen(s->token[best & 255]) + 1);
		ck_assert_ptr_nonnull(s->token[slot]);
		strcpy(s->token[slot], s->token[best >> 8]);
		strcat(s->token[slot], s->token[best & 255]);
		symbols_replace(s, n, (uint16_t)(best >> 8),
				(uint16_t)(best & 255), (uint16_t)slot);
	}
	free(pairs);
}

static inline void symbols_write_tokens(struct symbols *s)
{
	char table[65536];
	uint16_t index[256];
	size_t at = 0;
	int i;

	for (i = 0; i < 256; i++) {
		const char *token = s->token[i] ? s->token[i] : "";

		index[i] = (uint16_t)at;
		ck_assert_uint_lt(at + strlen(token), sizeof(table));
		strcpy(table + at, token);
		at += strlen(token) + 1;
	}
	symbols_write(s, SYMBOLS_TOKENS, table, at);
	symbols_write(s, SYMBOLS_INDEX, index, sizeof(index));
}

static inline void symbols_write_names(struct symbols *s, size_t n)
{
	uint8_t bytes[1024];
	size_t i, j, len;

	for (i = 0; i < n; i++) {
		len = 0;
		if (s->name[i].n > 0x7f) {
			bytes[len++] = 0x80 | (s->name[i].n & 0x7f);
			bytes[len++] = (uint8_t)(s->name[i].n >> 7);
		} else {
			bytes[len++] = (uint8_t)s->name[i].n;
		}
		ck_assert_uint_lt(s->name[i].n, 1000);
		for (j = 0; j < s->name[i].n; j++)
			bytes[len++] = (uint8_t)s->name[i].token[j];
		symbols_write(s, SYMBOLS_NAMES + s->names_len, bytes, len);
		s->names_len += len;
	}
}

static inline void symbols_write_offsets(struct symbols *s,
					 const struct symbols_entry *e,
					 size_t n, enum symbols_coding coding)
{
	uint64_t base = e[0].address, at;
	uint32_t offset;
	size_t i;

	for (i = 0; i < n && coding == SYMBOLS_PERCPU; i++)
		if (e[i].address >> 63) {
			base = e[i].address;
			break;
		}
	for (i = 0; i < n; i++) {
		at = SYMBOLS_OFFSETS + i * 4;
		if (coding == SYMBOLS_ITSELF)
			offset = (uint32_t)(e[i].address - at);
		else if (coding == SYMBOLS_BASE)
			offset = (uint32_t)(e[i].address - base);
		else if (e[i].address >> 63)
			offset = (uint32_t)(base - 1 - e[i].address);
		else
			offset = (uint32_t)e[i].address;
		symbols_write(s, at, &offset, sizeof(offset));
	}
	if (coding != SYMBOLS_ITSELF)
		symbols_write(s, SYMBOLS_BASE_AT, &base, sizeof(base));
}

static inline struct symbols *symbols_new(const struct symbols_entry *e,
					  size_t n, enum symbols_coding coding)
{
	struct symbols *s = calloc(1, sizeof(*s));
	uint32_t num = (uint32_t)n;

	ck_assert_ptr_nonnull(s);
	s->m = physical_new(12);
	s->p = tables_x86(4);
	s->space = malloc(sizeof(*s->space));
	ck_assert_ptr_nonnull(s->space);
	physical_at(s->m, s->p.root);
	symbols_compress(s, e, n);
	symbols_write(s, SYMBOLS_NUM, &num, sizeof(num));
	symbols_write_tokens(s);
	symbols_write_names(s, n);
	symbols_write_offsets(s, e, n, coding);
	snprintf(s->info_text, sizeof(s->info_text), "%s%s", symbols_info,
		 coding == SYMBOLS_ITSELF ? "" : symbols_info_base);
	ck_assert(pdet_vmcoreinfo_parse(&s->info, s->info_text,
					strlen(s->info_text)));
	return s;
}

static inline int symbols_read(struct symbols *s, struct pdet_kallsyms *k)
{
	s->env.error[0] = '\0';
	pdet_space_init(s->space, &s->m->reader, &s->p);
	return pdet_kallsyms_read(k, &s->env, s->space, &s->info);
}

static inline void symbols_free(struct symbols *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		free(s->name[i].token);
	for (i = 0; i < 256; i++)
		free(s->token[i]);
	free(s->name);
	free(s->space);
	pdet_vmcoreinfo_free(&s->info);
	physical_free(s->m);
	free(s);
}

#endif
