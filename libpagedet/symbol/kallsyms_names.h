/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes symbol names of the kernel (Linux scripts/kallsyms.c). A name has a
 * length of one byte, or two of seven bits each, and then that many bytes. Each
 * byte is a token of several characters. The first character of a name is its
 * type.
 */
#ifndef PDET_SYMBOL_KALLSYMS_NAMES_H
#define PDET_SYMBOL_KALLSYMS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDET_SYMBOL_NAME 512

struct pdet_kallsyms_tokens {
	char *text;		/* tokens, each NUL-terminated */
	size_t text_len;
	uint16_t at[256];	/* offset of each token in text */
	uint32_t len[256];
};

/* A compressed name. */
struct pdet_kallsyms_name {
	const uint8_t *token;
	size_t n;
};

/* A wanted symbol. */
struct pdet_symbol {
	const char *name;
	uint64_t address;
	uint32_t i;
	bool found;
};

/* pdet_kallsyms_name_at - the name at @at in @len bytes. Returns the offset of
 * the next one, or 0 if this one is incomplete. */
size_t pdet_kallsyms_name_at(const uint8_t *names, size_t len, size_t at,
			     struct pdet_kallsyms_name *ret);

/*
 * pdet_kallsyms_name_text - expand a name without its type. Returns its length.
 * @type may be NULL.
 */
size_t pdet_kallsyms_name_text(const struct pdet_kallsyms_tokens *t,
			       const struct pdet_kallsyms_name *name,
			       char text[PDET_SYMBOL_NAME], char *type);

/* State of a search for a few names among a hundred thousand. */
struct pdet_kallsyms_search {
	const struct pdet_kallsyms_tokens *tokens;
	struct pdet_symbol *symbol;
	size_t n, left;		/* symbols wanted; still missing */
	uint32_t i;		/* next symbol to examine */
	/* First and last characters of wanted names, and both combined with the
	 * length. */
	bool first[256], last[256], all[4096];
	/* Three answers for each token. begins: can the token be the type and
	 * the beginning of a wanted name? single: can it follow a token that is
	 * only the type? ends: can it be the end of a wanted name? */
	uint8_t begins[256], single[256], ends[256];
};

/* pdet_kallsyms_search_init - @symbols must have no addresses; the search fills
 * them in. */
void pdet_kallsyms_search_init(struct pdet_kallsyms_search *s,
			       const struct pdet_kallsyms_tokens *t,
			       struct pdet_symbol *symbols, size_t n);

/* pdet_kallsyms_search_names - examine symbols from search->i on, up to @n in
 * total, until @names ends or all are found. Returns where it stopped. The
 * first symbol of each name counts. */
size_t pdet_kallsyms_search_names(struct pdet_kallsyms_search *s,
				  const uint8_t *names, size_t len,
				  uint32_t n);

#endif
