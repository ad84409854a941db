/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * How the kernel writes the names of its symbols (Linux scripts/kallsyms.c):
 * a length of one byte, or two of seven bits; then that many bytes, each of
 * them a token of several characters. The first character of all is the type.
 */
#ifndef PDET_KERNEL_KALLSYMS_NAMES_H
#define PDET_KERNEL_KALLSYMS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDET_SYMBOL_NAME 512

struct pdet_kallsyms_tokens {
	char *text;		/* one after the other, each with its NUL */
	size_t text_len;
	uint16_t at[256];	/* in text: where each begins */
	uint32_t len[256];
};

/* A name as it is written. */
struct pdet_kallsyms_name {
	const uint8_t *token;
	size_t n;
};

/* A symbol that somebody needs. */
struct pdet_symbol {
	const char *name;
	uint64_t address;
	uint32_t i;
	bool found;
};

/* pdet_kallsyms_name_at - the name at @at of @len bytes; where the next one
 * begins, or 0 where this one is not whole. */
size_t pdet_kallsyms_name_at(const uint8_t *names, size_t len, size_t at,
			     struct pdet_kallsyms_name *ret);

/* pdet_kallsyms_name_text - without its type; its length. @type may be NULL. */
size_t pdet_kallsyms_name_text(const struct pdet_kallsyms_tokens *t,
			       const struct pdet_kallsyms_name *name,
			       char text[PDET_SYMBOL_NAME], char *type);

/* Looking for a few names among a hundred thousand. */
struct pdet_kallsyms_search {
	const struct pdet_kallsyms_tokens *tokens;
	struct pdet_symbol *symbol;
	size_t n, left;		/* symbols; those that are not found yet */
	/* What names that are looked for begin and end with, and all that with
	 * their length. */
	bool first[256], last[256], all[4096];
	/* By token: could such a name begin with it, behind the type; with its
	 * first character; end with it? */
	uint8_t begins[256];
	bool single[256], ends[256];
};

/* pdet_kallsyms_search_init - @symbols is filled in as they are found; none
 * of them is so far. */
void pdet_kallsyms_search_init(struct pdet_kallsyms_search *s,
			       const struct pdet_kallsyms_tokens *t,
			       struct pdet_symbol *symbols, size_t n);

/* pdet_kallsyms_search_try - is @name, of symbol @i, one of them? The first one
 * of each name is taken. */
void pdet_kallsyms_search_try(struct pdet_kallsyms_search *s,
			      const struct pdet_kallsyms_name *name,
			      uint32_t i);

#endif
