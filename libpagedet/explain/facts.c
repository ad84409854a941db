/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Formats the facts of a finding in the caller's memory. It never reads outside
 * of the evidence, whatever the evidence contains.
 */
#include <inttypes.h>
#include <stdio.h>

#include "explain/evidence.h"
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

const char *pdet_keep(struct pdet_case *c, const char *text, size_t len)
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

const char *pdet_case_reason(const struct pdet_case *c)
{
	return pdet_row_has(&c->here, PAGEDET_FIELD_REASON) ?
	       pdet_case_text(c, c->here.reason) : "";
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
	return pdet_keep(c, text, len);
}

/* Formats from the end, because thousands of hashes need it. */
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
	return pdet_keep(c, at, (size_t)(end - at));
}

static const char *number(struct pdet_case *c, uint64_t value, uint32_t type)
{
	char text[32];
	int len;

	if (type == PAGEDET_TYPE_HEX || type == PAGEDET_TYPE_STACK)
		return digits(c, value, 16);
	if (type != PAGEDET_TYPE_DEV &&
	    (type != PAGEDET_TYPE_SIGNED || !(value >> 63)))
		return digits(c, value, 10);
	len = type == PAGEDET_TYPE_SIGNED ?
	      snprintf(text, sizeof(text), "%" PRId64, (int64_t)value) :
	      snprintf(text, sizeof(text), "%u:%u", (unsigned)(value >> 32),
		       (unsigned)value);
	return pdet_keep(c, text, (size_t)len);
}

static const char *prot(struct pdet_case *c, uint64_t value)
{
	const char text[] = {
		value & PAGEDET_PROT_READ ? 'r' : '-',
		value & PAGEDET_PROT_WRITE ? 'w' : '-',
		value & PAGEDET_PROT_EXEC ? 'x' : '-',
		value & PAGEDET_PROT_SHARED ? 's' : 'p',
	};

	return pdet_keep(c, text, sizeof(text));
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
		return pdet_keep(c, text, strlen(text));
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

	/* Only for a few fields is nothing a fact. */
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
	f->text = pdet_keep(c, word, strlen(word));
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
		"hash_before", "hash_stopped", "hash_stopped", "hash_again",
	};
	static const char *const zero[] = {
		"zero_sent", "zero_now", "zero_again", "zero_peer",
		"zero_before", "zero_stopped", "zero_stopped", "zero_again",
	};
	const struct pdet_version v = pdet_version(&c->e, version);
	const uint32_t side = version == PAGEDET_AS_PEER ||
			      version >= PAGEDET_AS_PEER_STOPPED ?
			      PAGEDET_SIDE_PEER : PAGEDET_SIDE_HERE;

	if (v.state == PAGEDET_HAVE)
		pdet_fact_number(c, hash[version], v.hash, PAGEDET_TYPE_HEX,
				 side, v.ns);
	else
		pdet_fact_known(c, zero[version], v.zero, side);
}

/* Never advises to ask a source that was asked. */
static const char *unless_asked(struct pdet_case *c, const char *what)
{
	const size_t len = strlen(what), end = strlen(PDET_IN_MEMORY);
	char text[256];

	if (len < end || strcmp(what + len - end, PDET_IN_MEMORY) ||
	    !pdet_row_is_from_memory(&c->here))
		return what;
	snprintf(text, sizeof(text), "%.*s (kernel memory does not tell)",
		 (int)(len - end), what);
	return pdet_keep(c, text, strlen(text));
}

void pdet_unknown(struct pdet_case *c, const char *what)
{
	uint32_t i;

	what = unless_asked(c, what);

	for (i = 0; i < c->n_unknown; i++)
		if (c->unknown[i] == what || !strcmp(c->unknown[i], what))
			return;
	if (!c->arena->none && c->n_unknown < PDET_UNKNOWN)
		c->unknown[c->n_unknown++] = what;
}

bool pdet_rest_on(struct pdet_case *c, unsigned field)
{
	pdet_fact_field(c, PAGEDET_SIDE_HERE, field);
	return true;
}

bool pdet_rest_on_kind(struct pdet_case *c, uint32_t kind)
{
	return pdet_row_is(&c->here, kind) &&
	       pdet_rest_on(c, PAGEDET_FIELD_KIND);
}

void pdet_fact_folio(struct pdet_case *c)
{
	if (!pdet_row_is_large(&c->here))
		return;
	pdet_fact_field(c, PAGEDET_SIDE_HERE, PAGEDET_FIELD_ORDER);
	if (c->e.folio_counted == PAGEDET_YES)
		pdet_fact_number(c, "folio_mapcount", c->e.folio_mapcount,
				 PAGEDET_TYPE_NUMBER, PAGEDET_SIDE_HERE, 0);
	else
		pdet_unknown(c, "how many entries map its folio"
			     PDET_IN_MEMORY);
}

void pdet_unknown_report(struct pdet_case *c)
{
	switch (PAGEDET_CELL_STATE(c->here.cell[PAGEDET_FIELD_REPORT])) {
	case PAGEDET_HAVE:
	case PAGEDET_NONE:
		return;
	case PAGEDET_NO_ACCESS:
		pdet_unknown(c, "whether the kernel reported it as a bad page: "
			     "its log cannot be read (CAP_SYSLOG)");
		return;
	case PAGEDET_TIMEOUT:
		pdet_unknown(c, "whether the kernel reported it as a bad page: "
			     "there was no time to read its log");
		return;
	case PAGEDET_EXCLUDED:
		pdet_unknown(c, "whether the kernel reported it as a bad page: "
			     "its log does not mention it, or a part of it is "
			     "lost");
		return;
	case PAGEDET_IO:
	case PAGEDET_CORRUPT:
	case PAGEDET_TOO_COSTLY:
		pdet_unknown(c, "whether the kernel reported it as a bad page: "
			     "its log could be read only in part, or not at "
			     "all");
		return;
	default:
		pdet_unknown(c, "whether the kernel reported it as a bad page: "
			     "its log was not looked at");
	}
}

bool pdet_rest_on_poison(struct pdet_case *c)
{
	if (pdet_row_poisoned(&c->here) != PAGEDET_YES)
		return false;
	pdet_rest_on(c, PAGEDET_FIELD_FLAGS);
	return pdet_rest_on(c, PAGEDET_FIELD_PTE);
}
