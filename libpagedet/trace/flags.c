/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * __print_flags(REC->FIELD, "|", {MASK, "NAME"}, {MASK, "NAME"} ...): a mask is
 * an expression of C, as the preprocessor left it.
 */
#include <string.h>

#include "base/env.h"
#include "trace/flags.h"

/* A hostile format may nest for ever. */
#define MOST_DEPTH 64u

struct expression {
	struct pdet_scan s;
	unsigned depth;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static bool symbol(struct expression *e, const char *what)
{
	pdet_scan_blanks(&e->s);
	return pdet_scan_word(&e->s, what);
}

/* Steps over a type in parentheses; sets the bits that a number keeps in it. */
static bool take_cast(struct expression *e, uint64_t *bits)
{
	static const struct {
		const char *name;
		uint64_t bits;
	} types[] = {
		{ "gfp_t", UINT32_MAX }, { "unsigned int", UINT32_MAX },
		{ "unsigned long long", UINT64_MAX },
		{ "unsigned long", UINT64_MAX },
	};
	const struct pdet_scan before = e->s;
	size_t i;

	for (i = 0; i < PDET_COUNT(types); i++) {
		e->s = before;
		if (symbol(e, "(") && symbol(e, types[i].name) &&
		    symbol(e, ")")) {
			*bits = types[i].bits;
			return true;
		}
	}
	e->s = before;
	return false;
}

static bool take_number(struct expression *e, uint64_t *ret)
{
	bool good;

	pdet_scan_blanks(&e->s);
	good = pdet_scan_word(&e->s, "0x") ? pdet_scan_hex(&e->s, ret) :
					     pdet_scan_dec(&e->s, ret);
	while (good && e->s.at < e->s.end && strchr("uUlL", *e->s.at))
		e->s.at++;
	return good && (e->s.at == e->s.end || !is_word(*e->s.at));
}

static bool evaluate(struct expression *e, unsigned least, uint64_t *ret);

static bool take_operand(struct expression *e, uint64_t *ret)
{
	uint64_t bits;
	bool good;

	if (++e->depth > MOST_DEPTH)
		return false;
	if (take_cast(e, &bits)) {
		good = take_operand(e, ret);
		*ret &= bits;
	} else if (symbol(e, "~")) {
		good = take_operand(e, ret);
		*ret = ~*ret;
	} else if (symbol(e, "(")) {
		good = evaluate(e, 0, ret) && symbol(e, ")");
	} else {
		good = take_number(e, ret);
	}
	e->depth--;
	return good;
}

/* In C's order: the last ones bind most. */
static const char *const operators[] = { "|", "^", "&", "<<", ">>" };
#define SHIFT 3u

static bool is_last_operand(struct expression *e, unsigned least, unsigned *op)
{
	const struct pdet_scan before = e->s;

	for (*op = 0; *op < PDET_COUNT(operators); ++*op)
		if (symbol(e, operators[*op]))
			break;
	if (*op < PDET_COUNT(operators) && PDET_MIN(*op, SHIFT) >= least)
		return false;
	e->s = before;
	return true;
}

static bool apply(unsigned op, uint64_t *left, uint64_t right)
{
	if (op >= SHIFT && right > 63)
		return false;
	switch (op) {
	case 0:
		*left |= right;
		break;
	case 1:
		*left ^= right;
		break;
	case 2:
		*left &= right;
		break;
	case SHIFT:
		*left <<= right;
		break;
	default:
		*left >>= right;
	}
	return true;
}

/* What operators of at least @least join. False: it is not a number. */
static bool evaluate(struct expression *e, unsigned least, uint64_t *ret)
{
	uint64_t right = 0;
	unsigned op;

	*ret = 0;
	if (!take_operand(e, ret))
		return false;
	while (!is_last_operand(e, least, &op))
		if (!evaluate(e, PDET_MIN(op, SHIFT) + 1, &right) ||
		    !apply(op, ret, right))
			return false;
	return true;
}

/* {MASK, "NAME"}; false: the list ends here. */
static bool take_entry(struct pdet_scan *s, struct pdet_scan *mask,
		       struct pdet_scan *name)
{
	const char *quote, *end;

	pdet_scan_blanks(s);
	pdet_scan_char(s, ',');
	pdet_scan_blanks(s);
	if (!pdet_scan_char(s, '{'))
		return false;
	quote = memchr(s->at, '"', (size_t)(s->end - s->at));
	end = quote ? memchr(quote + 1, '"', (size_t)(s->end - quote - 1)) :
		      NULL;
	if (!end)
		return false;
	*mask = (struct pdet_scan){ s->at, quote };
	*name = (struct pdet_scan){ quote + 1, end };
	s->at = end + 1;
	pdet_scan_blanks(s);
	return pdet_scan_char(s, '}');
}

static void add(struct pdet_gfp_names *names, struct pdet_scan mask,
		struct pdet_scan name)
{
	struct expression e = { mask, 0 };
	const size_t len = (size_t)(name.end - name.at);
	const char *at;
	uint64_t bits;

	if (names->n == PDET_GFP_NAMES || !len || len >= PDET_OWNER_NAME ||
	    !evaluate(&e, 0, &bits) || !symbol(&e, ","))
		return;
	for (at = name.at; at < name.end; at++)
		if (!is_word(*at))
			return;
	memcpy(names->entry[names->n].name, name.at, len);
	names->entry[names->n++].mask = bits;
}

/* Steps to behind the list's head. */
static bool find_list(struct pdet_scan *s, const char *field)
{
	static const char head[] = "__print_flags(REC->";
	const char *at;

	while ((at = memmem(s->at, (size_t)(s->end - s->at), head,
			    sizeof(head) - 1))) {
		s->at = at + sizeof(head) - 1;
		if (pdet_scan_word(s, field) && pdet_scan_char(s, ',')) {
			pdet_scan_blanks(s);
			return pdet_scan_word(s, "\"|\"");
		}
	}
	return false;
}

void pdet_trace_flags(struct pdet_scan format, const char *field,
		      struct pdet_gfp_names *ret)
{
	struct pdet_scan mask, name;

	memset(ret, 0, sizeof(*ret));
	if (find_list(&format, field))
		while (take_entry(&format, &mask, &name))
			add(ret, mask, name);
}
