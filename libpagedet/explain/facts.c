/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What a finding rests on, put into words in the caller's memory. Whatever the
 * evidence holds, nothing is read outside of it.
 */
#include <stdio.h>

#include "explain/explain.h"

void *pdet_arena_take(struct pdet_arena *arena, size_t size, size_t align)
{
	const size_t gap = -(uintptr_t)arena->at & (align - 1);
	char *at;

	if ((size_t)(arena->end - arena->at) < gap ||
	    (size_t)(arena->end - arena->at) - gap < size) {
		arena->full = true;
		return NULL;
	}
	at = arena->at + gap;
	arena->at = at + size;
	return at;
}

static const char *keep(struct pdet_case *c, const char *text, size_t len)
{
	char *copy;

	if (c->arena->none)
		return "";
	copy = pdet_arena_take(c->arena, len + 1, 1);
	if (!copy)
		return "";
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static struct pagedet_fact *add(struct pdet_case *c)
{
	if (c->arena->none || c->n_facts == PDET_FACTS)
		return NULL;
	return &c->facts[c->n_facts++];
}

const char *pdet_case_text(const struct pdet_case *c, uint64_t id)
{
	if (!id || id >= sizeof(c->e.texts) ||
	    !memchr(c->e.texts + id, 0, sizeof(c->e.texts) - id))
		return "";
	return c->e.texts + id;
}

static uint64_t value_of(const struct pagedet_page *row,
			 const struct pagedet_field_info *info)
{
	const char *at = (const char *)row + info->offset;
	uint64_t wide;
	uint32_t narrow;

	if (info->width == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

/* The longest list of names: 64 of them. */
#define LIST 1280

static size_t put(char *to, size_t len, const char *text)
{
	const size_t more = strlen(text);

	if (LIST - len <= more)
		return len;
	memcpy(to + len, text, more + 1);
	return len + more;
}

static const char *bit_names(struct pdet_case *c, unsigned field, uint64_t bits)
{
	char text[LIST], nameless[16];
	size_t len = 0;

	text[0] = '\0';
	for (; bits; bits &= bits - 1) {
		const unsigned bit = (unsigned)__builtin_ctzll(bits);
		const char *name = pdet_value_name(field, bit);

		snprintf(nameless, sizeof(nameless), "bit%02u", bit);
		len = put(text, len, len ? "|" : "");
		len = put(text, len, name ? name : nameless);
	}
	return keep(c, text, len);
}

/* Written from the end; thousands of hashes are. */
static const char *digits(struct pdet_case *c, uint64_t value, unsigned base)
{
	char text[24], *end = text + sizeof(text), *at = end;

	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (base == 16) {
		*--at = 'x';
		*--at = '0';
	}
	return keep(c, at, (size_t)(end - at));
}

static const char *number(struct pdet_case *c, uint64_t value, uint32_t type)
{
	char text[32];
	int len;

	if (type == PAGEDET_TYPE_HEX || type == PAGEDET_TYPE_STACK)
		return digits(c, value, 16);
	if (type != PAGEDET_TYPE_DEV)
		return digits(c, value, 10);
	len = snprintf(text, sizeof(text), "%u:%u", (unsigned)(value >> 32),
		       (unsigned)value);
	return keep(c, text, (size_t)len);
}

static const char *prot(struct pdet_case *c, uint64_t value)
{
	const char text[] = {
		value & PAGEDET_PROT_READ ? 'r' : '-',
		value & PAGEDET_PROT_WRITE ? 'w' : '-',
		value & PAGEDET_PROT_EXEC ? 'x' : '-',
		value & PAGEDET_PROT_SHARED ? 's' : 'p',
	};

	return keep(c, text, sizeof(text));
}

static const char *words(struct pdet_case *c, unsigned field, uint32_t type,
			 uint64_t value)
{
	const char *text;

	switch (type) {
	case PAGEDET_TYPE_ENUM:
		text = pdet_value_name(field, value);
		return text ? text : number(c, value, PAGEDET_TYPE_NUMBER);
	case PAGEDET_TYPE_MASK:
		return bit_names(c, field, value);
	case PAGEDET_TYPE_STRING:
	case PAGEDET_TYPE_LIST:
		text = pdet_case_text(c, value);
		return keep(c, text, strlen(text));
	case PAGEDET_TYPE_PROT:
		return prot(c, value);
	default:
		return number(c, value, type);
	}
}

void pdet_fact_field(struct pdet_case *c, uint32_t side, unsigned field)
{
	const struct pagedet_page *row = side == PAGEDET_SIDE_PEER ? &c->peer :
								     &c->here;
	const struct pagedet_field_info *info = pdet_field_info(field);
	const char *source = pdet_source_name(
		PAGEDET_CELL_SOURCE(row->cell[field]));
	struct pagedet_fact *f;

	/* That there is nothing says something of few fields only. */
	if (!pdet_row_has(row, field) &&
	    !(pdet_row_lacks(row, field) && field == PAGEDET_FIELD_MEMCG_INO))
		return;
	f = add(c);
	if (!f)
		return;
	f->field = info->name;
	f->type = info->type;
	f->side = side;
	f->source = source ? source : "unknown";
	f->time_ns = pdet_row_has(row, PAGEDET_FIELD_TIME_NS) ? row->time_ns :
								0;
	f->value = 0;
	f->text = "none";
	if (pdet_row_lacks(row, field))
		return;
	f->value = value_of(row, info);
	f->text = words(c, field, info->type, f->value);
}

void pdet_fact_number(struct pdet_case *c, const char *name, uint64_t value,
		      uint32_t type, uint32_t side, uint64_t time_ns)
{
	struct pagedet_fact *f = add(c);

	if (!f)
		return;
	f->field = name;
	f->type = type;
	f->side = side;
	f->source = "evidence";
	f->time_ns = time_ns;
	f->value = value;
	f->text = number(c, value, type);
}

void pdet_fact_word(struct pdet_case *c, const char *name, uint64_t value,
		    const char *word, uint32_t side)
{
	struct pagedet_fact *f = add(c);

	if (!f)
		return;
	f->field = name;
	f->type = PAGEDET_TYPE_ENUM;
	f->side = side;
	f->source = "evidence";
	f->time_ns = 0;
	f->value = value;
	f->text = keep(c, word, strlen(word));
}

void pdet_fact_known(struct pdet_case *c, const char *name, uint32_t known,
		     uint32_t side)
{
	if (known == PAGEDET_YES || known == PAGEDET_NO)
		pdet_fact_word(c, name, known,
			       known == PAGEDET_YES ? "yes" : "no", side);
}

void pdet_fact_hash(struct pdet_case *c, uint32_t version)
{
	static const char *const hash[] = {
		"hash_sent", "hash_now", "hash_again", "hash_peer",
	};
	static const char *const zero[] = {
		"zero_sent", "zero_now", "zero_again", "zero_peer",
	};
	const uint32_t side = version == PAGEDET_AS_PEER ? PAGEDET_SIDE_PEER :
							   PAGEDET_SIDE_HERE;

	if (c->e.hash_state[version] == PAGEDET_HAVE)
		pdet_fact_number(c, hash[version], c->e.hash[version],
				 PAGEDET_TYPE_HEX, side,
				 c->e.hash_ns[version]);
	else
		pdet_fact_known(c, zero[version], c->e.zero[version], side);
}

void pdet_unknown(struct pdet_case *c, const char *what)
{
	if (!c->arena->none && c->n_unknown < PDET_UNKNOWN)
		c->unknown[c->n_unknown++] = what;
}

void pdet_lower(struct pdet_case *c, const char *what)
{
	pdet_unknown(c, what);
	if (c->confidence > PAGEDET_CONFIDENCE_LOW)
		c->confidence--;
}

bool pdet_rest_on(struct pdet_case *c, unsigned field, uint32_t confidence)
{
	c->confidence = confidence;
	pdet_fact_field(c, PAGEDET_SIDE_HERE, field);
	return true;
}

bool pdet_rest_on_kind(struct pdet_case *c, uint32_t kind, uint32_t confidence)
{
	return pdet_row_is(&c->here, kind) &&
	       pdet_rest_on(c, PAGEDET_FIELD_KIND, confidence);
}

bool pdet_rest_on_poison(struct pdet_case *c)
{
	if (pdet_row_poisoned(&c->here) != PAGEDET_YES)
		return false;
	pdet_rest_on(c, PAGEDET_FIELD_FLAGS, PAGEDET_CONFIDENCE_CERTAIN);
	return pdet_rest_on(c, PAGEDET_FIELD_PTE, PAGEDET_CONFIDENCE_CERTAIN);
}
