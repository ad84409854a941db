/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses the text of a filter by recursive descent. The number of nodes and the
 * depth of parentheses are limited.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "query/filter.h"
#include "query/filter_node.h"

#define NO_OPERATOR "expected one of = != < <= > >= : ~ !~"

struct parser {
	struct pdet_env *env;
	struct pdet_filter *f;
	const struct pdet_filter_names *names; /* NULL: fields */
	const char *text;
	struct pdet_scan s;
	unsigned nesting;
	int error;		/* the first error */
};

static int complain(struct parser *p, const char *at, const char *what)
{
	if (!p->error)
		p->error = pdet_fail(p->env, EINVAL,
				     "cannot understand filter at character %u, before \"%.20s\": %s",
				     (unsigned)(at - p->text) + 1, at, what);
	return p->error;
}

static void skip_blanks(struct parser *p)
{
	while (p->s.at < p->s.end &&
	       (*p->s.at == ' ' || *p->s.at == '\t' || *p->s.at == '\n'))
		p->s.at++;
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* Steps over a whole word: "and" but not the start of "android". */
static bool word(struct parser *p, const char *w)
{
	struct pdet_scan before;

	skip_blanks(p);
	before = p->s;
	if (!pdet_scan_word(&p->s, w))
		return false;
	if (p->s.at == p->s.end || !is_name_char(*p->s.at))
		return true;
	p->s = before;
	return false;
}

static int new_node(struct parser *p, unsigned op)
{
	struct pdet_filter_node *n;

	if (p->f->n == PDET_FILTER_NODES)
		return complain(p, p->s.at, "the filter is too long");
	n = &p->f->node[p->f->n];
	n->op = (uint8_t)op;
	n->depth = 1;
	return p->f->n++;
}

static int binary(struct parser *p, unsigned op, int left, int right)
{
	const struct pdet_filter_node *l = &p->f->node[left];
	const struct pdet_filter_node *r = &p->f->node[right];
	int i = new_node(p, op);

	if (i < 0)
		return i;
	p->f->node[i].left = (uint16_t)left;
	p->f->node[i].right = (uint16_t)right;
	/*
	 * The result of left stays in scratch while right is computed above it.
	 */
	p->f->node[i].depth = PDET_MAX(l->depth, (uint16_t)(r->depth + 1));
	return i;
}

/* "<=" must come before "<". */
static const struct {
	char text[3];
	uint8_t op;
} operators[] = {
	{ "!=", PDET_OP_NE }, { "!~", PDET_OP_NO_MATCH },
	{ "<=", PDET_OP_LE }, { ">=", PDET_OP_GE }, { "==", PDET_OP_EQ },
	{ "=", PDET_OP_EQ },  { "<", PDET_OP_LT },  { ">", PDET_OP_GT },
	{ ":", PDET_OP_BIT }, { "~", PDET_OP_MATCH },
};

/* Returns 0 if there is no operator. */
static int operator(struct parser *p)
{
	unsigned i;

	skip_blanks(p);
	for (i = 0; i < PDET_COUNT(operators); i++)
		if (pdet_scan_word(&p->s, operators[i].text))
			return operators[i].op;
	return 0;
}

/* A value, quoted or up to a blank or parenthesis. */
static int value(struct parser *p, struct pdet_scan *ret, bool *quoted)
{
	char quote;

	skip_blanks(p);
	*quoted = p->s.at < p->s.end && (*p->s.at == '\'' || *p->s.at == '"');
	if (*quoted) {
		quote = *p->s.at++;
		ret->at = p->s.at;
		while (p->s.at < p->s.end && *p->s.at != quote)
			p->s.at++;
		if (p->s.at == p->s.end)
			return complain(p, ret->at, "the quote is not closed");
		ret->end = p->s.at++;
		return 0;
	}
	ret->at = p->s.at;
	while (p->s.at < p->s.end && *p->s.at != ' ' && *p->s.at != '\t' &&
	       *p->s.at != '\n' && *p->s.at != ')')
		p->s.at++;
	ret->end = p->s.at;
	return ret->at == ret->end ?
		       complain(p, ret->at, "expected a value") : 0;
}

/*
 * Parses a number, decimal or hex with 0x. A leading zero does not mean octal.
 */
static bool whole_number(struct pdet_scan s, uint64_t *ret)
{
	bool ok = pdet_scan_word(&s, "0x") || pdet_scan_word(&s, "0X") ?
		pdet_scan_hex(&s, ret) : pdet_scan_dec(&s, ret);

	return ok && s.at == s.end;
}

/* The same, optionally with a minus. */
static bool signed_number(struct pdet_scan s, uint64_t *ret)
{
	const bool minus = pdet_scan_char(&s, '-');

	if (!whole_number(s, ret) || *ret > INT64_MAX)
		return false;
	if (minus)
		*ret = -*ret;
	return true;
}

/* "rw-p", as in maps */
static bool protection(struct pdet_scan s, uint64_t *ret)
{
	static const char letters[] = "rwx";
	unsigned i;

	*ret = 0;
	if (s.end - s.at != 4)
		return false;
	for (i = 0; i < 3; i++) {
		if (s.at[i] == letters[i])
			*ret |= 1u << i;
		else if (s.at[i] != '-')
			return false;
	}
	if (s.at[3] == 's')
		*ret |= PAGEDET_PROT_SHARED;
	return s.at[3] == 's' || s.at[3] == 'p';
}

/* A name of @field, or "bit27". */
static bool named(unsigned field, struct pdet_scan s, uint64_t *ret)
{
	int v = pdet_value_by_name(field, s.at, (unsigned)(s.end - s.at));

	if (v >= 0) {
		*ret = (uint64_t)v;
		return true;
	}
	return pdet_field_info(field)->type == PAGEDET_TYPE_MASK &&
	       pdet_scan_word(&s, "bit") && pdet_scan_dec(&s, ret) &&
	       s.at == s.end && *ret < 64;
}

static bool is_ordered(unsigned type)
{
	return type == PAGEDET_TYPE_NUMBER || type == PAGEDET_TYPE_SIGNED ||
	       type == PAGEDET_TYPE_HEX || type == PAGEDET_TYPE_STACK;
}

static bool is_text(unsigned type)
{
	return type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST;
}

/* Returns NULL if @op suits a field of @type, otherwise the reason why not. */
static const char *op_fits(unsigned type, unsigned op)
{
	switch (op) {
	case PDET_OP_EQ:
	case PDET_OP_NE:
		return type == PAGEDET_TYPE_MASK ?
			"a set of flags does not have a single value; use ':'" :
			NULL;
	case PDET_OP_BIT:
		return type == PAGEDET_TYPE_MASK ||
				       type == PAGEDET_TYPE_LIST ?
			NULL : "':' tests one flag of a set";
	case PDET_OP_MATCH:
	case PDET_OP_NO_MATCH:
		return is_text(type) ? NULL : "'~' is for text";
	default:
		return is_ordered(type) ? NULL : "values of this field have no "
						 "order";
	}
}

/*
 * A bare name has one of these meanings, in this order: a kind, a flag of the
 * page, a flag of the page table entry.
 */
static const struct {
	uint8_t field;
	uint8_t op;
} bare[] = {
	{ PAGEDET_FIELD_KIND, PDET_OP_EQ },
	{ PAGEDET_FIELD_FLAGS, PDET_OP_BIT },
	{ PAGEDET_FIELD_PTE, PDET_OP_BIT },
};

/* Names the member of @meant that is nearest to the unknown word. */
static void suggest(struct parser *p, const struct pdet_meant *meant,
		    struct pdet_scan word)
{
	const char *near = pdet_meant(meant, word.at,
				      (size_t)(word.end - word.at));

	if (near)
		pdet_advise(p->env, "did you mean '%s'?", near);
}

static int set_number(struct parser *p, struct pdet_filter_node *n,
		      unsigned type, struct pdet_scan v)
{
	struct pdet_meant meant = { .n = 0 };
	bool ok;

	switch (type) {
	case PAGEDET_TYPE_ENUM:
	case PAGEDET_TYPE_MASK:
		ok = named(n->field, v, &n->number);
		break;
	case PAGEDET_TYPE_DEV:
		ok = pdet_scan_is_device(v, &n->number);
		break;
	case PAGEDET_TYPE_PROT:
		ok = protection(v, &n->number);
		break;
	case PAGEDET_TYPE_SIGNED:
		ok = signed_number(v, &n->number);
		break;
	default:
		ok = whole_number(v, &n->number);
		break;
	}
	if (ok)
		return 0;
	switch (type) {
	case PAGEDET_TYPE_ENUM:
	case PAGEDET_TYPE_MASK:
		complain(p, v.at, "no such name");
		pdet_meant_values(&meant, n->field);
		suggest(p, &meant, v);
		return p->error;
	case PAGEDET_TYPE_DEV:
		return complain(p, v.at, "expected MAJOR:MINOR");
	case PAGEDET_TYPE_PROT:
		return complain(p, v.at, "expected a protection like rw-p");
	default:
		return complain(p, v.at, "expected a number");
	}
}

static int set_text(struct parser *p, struct pdet_filter_node *n,
		    struct pdet_scan v)
{
	n->text = strndup(v.at, (size_t)(v.end - v.at));
	if (!n->text)
		return p->error = pdet_fail(p->env, ENOMEM,
					    "no memory for the filter");
	if (n->op != PDET_OP_MATCH && n->op != PDET_OP_NO_MATCH)
		return 0;
	if (regcomp(&n->regex, n->text, REG_EXTENDED | REG_NOSUB))
		return complain(p, v.at, "it is not a regular expression");
	n->has_regex = true;
	return 0;
}

static int set_leaf(struct parser *p, unsigned op, unsigned field,
		    uint64_t number)
{
	int i = new_node(p, op);

	if (i < 0)
		return i;
	p->f->node[i].field = (uint8_t)field;
	p->f->node[i].number = number;
	pdet_fields_add(&p->f->fields, field);
	return i;
}

/*
 * A test that is a bare name: "dirty", "anon" or "swapped". "mapped" is also
 * one, although no field has such a bit.
 */
static int bare_test(struct parser *p, struct pdet_scan name)
{
	const unsigned len = (unsigned)(name.end - name.at);
	struct pdet_meant meant = { .n = 0 };
	size_t i;
	int v;

	for (i = 0; i < PDET_COUNT(bare); i++) {
		v = pdet_value_by_name(bare[i].field, name.at, len);
		if (v >= 0)
			return set_leaf(p, bare[i].op, bare[i].field,
					(uint64_t)v);
	}
	if (pdet_scan_is(&name, "mapped"))
		return set_leaf(p, PDET_OP_GT, PAGEDET_FIELD_MAPCOUNT, 0);
	if (pdet_field_by_any_name(name.at, len) >= 0)
		return complain(p, p->s.at, NO_OPERATOR);
	complain(p, name.at, "there is no such field, kind or flag");
	pdet_meant_fields(&meant);
	for (i = 0; i < PDET_COUNT(bare); i++)
		pdet_meant_values(&meant, bare[i].field);
	suggest(p, &meant, name);
	return p->error;
}

static int field_of(struct parser *p, struct pdet_scan name, unsigned *type)
{
	const int field = pdet_field_by_any_name(name.at, (unsigned)
						 (name.end - name.at));
	struct pdet_meant meant = { .n = 0 };

	if (field < 0) {
		complain(p, name.at, "there is no such field");
		pdet_meant_fields(&meant);
		suggest(p, &meant, name);
		return p->error;
	}
	*type = pdet_field_info((unsigned)field)->type;
	pdet_fields_add(&p->f->fields, (unsigned)field);
	return field;
}

static int name_of(struct parser *p, struct pdet_scan name, unsigned *type)
{
	bool is_text = false;
	const int number = p->names->find(p->names->arg, name.at, (size_t)
					  (name.end - name.at), &is_text);

	*type = is_text ? PAGEDET_TYPE_STRING : PAGEDET_TYPE_NUMBER;
	return number < 0 ? complain(p, name.at, p->names->none) : number;
}

static int test(struct parser *p)
{
	struct pdet_filter_node *n;
	struct pdet_scan name, v;
	const char *why;
	bool quoted;
	int field, op, i, r;
	unsigned type;

	skip_blanks(p);
	name.at = p->s.at;
	while (p->s.at < p->s.end && is_name_char(*p->s.at))
		p->s.at++;
	name.end = p->s.at;
	if (name.at == name.end)
		return complain(p, name.at, "expected a field");
	op = operator(p);
	if (!op)
		return p->names ? complain(p, p->s.at, NO_OPERATOR) :
				  bare_test(p, name);
	field = p->names ? name_of(p, name, &type) : field_of(p, name, &type);
	if (field < 0)
		return field;
	r = value(p, &v, &quoted);
	if (r < 0)
		return r;
	i = new_node(p, (unsigned)op);
	if (i < 0)
		return i;
	n = &p->f->node[i];
	n->field = (uint8_t)field;
	n->is_signed = type == PAGEDET_TYPE_SIGNED;
	if (!quoted && pdet_scan_is(&v, "none") &&
	    (op == PDET_OP_EQ || op == PDET_OP_NE)) {
		n->op = op == PDET_OP_EQ ? PDET_OP_IS_NONE : PDET_OP_IS_SOME;
		return i;
	}
	why = op_fits(type, (unsigned)op);
	if (why)
		return complain(p, name.at, why);
	if (op == PDET_OP_BIT && type == PAGEDET_TYPE_LIST)
		n->op = PDET_OP_HAS;
	r = is_text(type) ? set_text(p, n, v) : set_number(p, n, type, v);
	return r < 0 ? r : i;
}

static int expression(struct parser *p);

static int factor(struct parser *p)
{
	int i, inner;

	skip_blanks(p);
	if (++p->nesting > PDET_FILTER_NESTING)
		return complain(p, p->s.at, "it is nested too deep");
	if (word(p, "not") || pdet_scan_char(&p->s, '!')) {
		inner = factor(p);
		i = inner < 0 ? inner : new_node(p, PDET_OP_NOT);
		if (i >= 0) {
			p->f->node[i].left = (uint16_t)inner;
			p->f->node[i].depth = p->f->node[inner].depth;
		}
	} else if (pdet_scan_char(&p->s, '(')) {
		i = expression(p);
		skip_blanks(p);
		if (i >= 0 && !pdet_scan_char(&p->s, ')'))
			i = complain(p, p->s.at, "expected ')'");
	} else {
		i = test(p);
	}
	p->nesting--;
	return i;
}

static int term(struct parser *p)
{
	int left = factor(p), right;

	while (left >= 0 && word(p, "and")) {
		right = factor(p);
		left = right < 0 ? right : binary(p, PDET_OP_AND, left, right);
	}
	return left;
}

static int expression(struct parser *p)
{
	int left = term(p), right;

	while (left >= 0 && word(p, "or")) {
		right = term(p);
		left = right < 0 ? right : binary(p, PDET_OP_OR, left, right);
	}
	return left;
}

int pdet_filter_parse(struct pdet_env *env, const char *text,
		      const struct pdet_filter_names *names,
		      struct pdet_filter *f)
{
	struct parser p = {
		.env = env, .f = f, .names = names, .text = text,
		.s = { text, text + strlen(text) },
	};
	int root = expression(&p);

	skip_blanks(&p);
	if (root >= 0 && p.s.at != p.s.end)
		root = complain(&p, p.s.at, "expected \"and\" or \"or\"");
	if (root < 0)
		return root;
	f->root = (uint16_t)root;
	return 0;
}
