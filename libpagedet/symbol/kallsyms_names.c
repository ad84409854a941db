/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Expands symbol names, and finds a few names without expanding the others. */
#include <string.h>

#include "base/env.h"
#include "symbol/kallsyms_names.h"

size_t pdet_kallsyms_name_at(const uint8_t *names, size_t len, size_t at,
			     struct pdet_kallsyms_name *ret)
{
	size_t n;

	if (at >= len)
		return 0;
	n = names[at++];
	if (n & 0x80) {
		if (at >= len)
			return 0;
		n = (n & 0x7f) | (size_t)names[at++] << 7;
	}
	if (n > len - at)
		return 0;
	ret->token = names + at;
	ret->n = n;
	return at + n;
}

size_t pdet_kallsyms_name_text(const struct pdet_kallsyms_tokens *t,
			       const struct pdet_kallsyms_name *name,
			       char text[PDET_SYMBOL_NAME], char *type)
{
	size_t n = 0, more, i;
	bool first = true;
	const char *token;

	if (type)
		*type = '?';
	for (i = 0; i < name->n; i++) {
		token = t->text + t->at[name->token[i]];
		more = t->len[name->token[i]];
		if (first && more) {
			if (type)
				*type = *token;
			token++;
			more--;
			first = false;
		}
		more = PDET_MIN(more, PDET_SYMBOL_NAME - 1 - n);
		memcpy(text + n, token, more);
		n += more;
	}
	text[n] = '\0';
	return n;
}

/* --- search for a few names --- */

/* Answers as bits: yes, or depends on the next token. */
enum { NO = 0, YES = 1, ASK_NEXT = 2, ANY = YES | ASK_NEXT };

static bool *all_of(struct pdet_kallsyms_search *s, char first, char last,
		    size_t len)
{
	return &s->all[((uint8_t)first * 37u + (uint8_t)last * 11u + len) %
		       PDET_COUNT(s->all)];
}

static void add_name(struct pdet_kallsyms_search *s, const char *name)
{
	size_t len = strlen(name);

	if (!len)
		return;
	s->first[(uint8_t)name[0]] = true;
	s->last[(uint8_t)name[len - 1]] = true;
	*all_of(s, name[0], name[len - 1], len) = true;
}

/* Classify each token. An empty token allows any answer. */
static void sort_tokens(struct pdet_kallsyms_search *s)
{
	const struct pdet_kallsyms_tokens *t = s->tokens;
	unsigned i;

	for (i = 0; i < 256; i++) {
		const uint32_t len = t->len[i];
		const uint8_t *at = (const uint8_t *)t->text + t->at[i];

		/* the first character of a name is its type */
		s->begins[i] = len == 1 ? ASK_NEXT :
			       !len || s->first[at[1]] ? YES : NO;
		s->single[i] = !len || s->first[at[0]] ? ANY : YES;
		s->ends[i] = !len || s->last[at[len - 1]] ? ANY : NO;
	}
}

void pdet_kallsyms_search_init(struct pdet_kallsyms_search *s,
			       const struct pdet_kallsyms_tokens *t,
			       struct pdet_symbol *symbols, size_t n)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	s->tokens = t;
	s->symbol = symbols;
	s->n = s->left = n;
	for (i = 0; i < n; i++) {
		symbols[i].found = false;
		add_name(s, symbols[i].name);
	}
	sort_tokens(s);
}

/* True if the name may be a wanted one. Most are rejected without expanding
 * them, and without an unpredictable branch. */
static bool may_be(struct pdet_kallsyms_search *s,
		   const struct pdet_kallsyms_name *name)
{
	const struct pdet_kallsyms_tokens *t = s->tokens;
	const uint8_t *tokens = name->token;
	const uint8_t a = tokens[0], b = tokens[name->n > 1];
	const uint8_t z = tokens[name->n - 1];
	const bool next = s->begins[a] == ASK_NEXT;
	size_t len = 0, i;

	if (!(s->begins[a] & s->single[b] & s->ends[z]))
		return false;
	if (!t->len[a] || !t->len[z] || (next && (name->n == 1 || !t->len[b])))
		return true;
	for (i = 0; i < name->n; i++)
		len += t->len[tokens[i]];
	return *all_of(s, t->text[next ? t->at[b] : t->at[a] + 1],
		       t->text[t->at[z] + t->len[z] - 1], len - 1);
}

/* Compare symbol @i, which may be a wanted one. */
static void try(struct pdet_kallsyms_search *s,
		const struct pdet_kallsyms_name *name, uint32_t i)
{
	char text[PDET_SYMBOL_NAME];
	size_t j;

	pdet_kallsyms_name_text(s->tokens, name, text, NULL);
	for (j = 0; j < s->n; j++) {
		if (s->symbol[j].found || s->symbol[j].name[0] != text[0] ||
		    strcmp(s->symbol[j].name, text))
			continue;
		s->symbol[j].found = true;
		s->symbol[j].i = i;
		s->left--;
	}
}

size_t pdet_kallsyms_search_names(struct pdet_kallsyms_search *s,
				  const uint8_t *names, size_t len,
				  uint32_t n)
{
	struct pdet_kallsyms_name name;
	size_t at = 0, next;

	for (; s->i < n && s->left; s->i++, at = next) {
		next = pdet_kallsyms_name_at(names, len, at, &name);
		if (!next)
			break;
		if (name.n && may_be(s, &name))
			try(s, &name, s->i);
	}
	return at;
}
