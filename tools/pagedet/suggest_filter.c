/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Rewrites a filter that is written as in another language: "anon && dirty",
 * "dirty=true", "kind in (anon,file)", "path like *.so", "order=9+". The result
 * is suggested only if the library understands it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define TOKENS 64

enum kind { END, WORD, OPERATOR, COMMA, OPEN, CLOSE, JOIN };

struct token {
	enum kind kind;
	char text[64];
};

struct rewriting {
	struct token token[TOKENS + 1]; /* ends with END */
	size_t n, at;
	char *ret;
	size_t size, len;
	bool failed;
};

/* --- tokens --- */

static const char *const joins[][2] = {
	{ "&&", "and" }, { "||", "or" }, { "&", "and" }, { "|", "or" },
	{ "and", "and" }, { "or", "or" }, { "AND", "and" }, { "OR", "or" },
};

static const char *const operators[][2] = {
	{ "==", "=" }, { "is", "=" }, { "in", "in" }, { "like", "like" },
	{ "has", "like" }, { "contains", "like" }, { "matches", "~" },
	{ "=~", "~" }, { "<>", "!=" },
};

static const char *find(const char *const (*pairs)[2], size_t n,
			const char *text)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(pairs[i][0], text))
			return pairs[i][1];
	return NULL;
}

/* Length of the token at @s. */
static size_t length(const char *s)
{
	static const char signs[] = "=!<>~:&|";
	size_t len;

	if (*s == '\'' || *s == '"') {
		len = 1 + strcspn(s + 1, *s == '"' ? "\"" : "'");
		return len + (s[len] != '\0');
	}
	if (strchr(",()", *s) || (*s == '!' && s[1] != '=' && s[1] != '~'))
		return 1;
	len = strspn(s, signs);
	return len ? len : strcspn(s, " \t\n,()=!<>~:&|'\"");
}

static void classify(struct token *t)
{
	const char *join = find(joins, CLI_COUNT(joins), t->text);
	const char *other = find(operators, CLI_COUNT(operators), t->text);

	t->kind = join ? JOIN : strchr("=!<>~:", *t->text) ? OPERATOR :
		  *t->text == ',' ? COMMA : *t->text == '(' ? OPEN :
		  *t->text == ')' ? CLOSE : WORD;
	if (!strcmp(t->text, "!"))
		t->kind = OPEN;
	if (join)
		snprintf(t->text, sizeof(t->text), "%s", join);
	else if (other) {
		t->kind = OPERATOR;
		snprintf(t->text, sizeof(t->text), "%s", other);
	}
}

static bool split(struct rewriting *r, const char *expr)
{
	size_t len;

	for (expr += strspn(expr, " \t\n"); *expr;
	     expr += len, expr += strspn(expr, " \t\n")) {
		struct token *t = &r->token[r->n];

		len = length(expr);
		if (!len || len >= sizeof(t->text) || r->n++ == TOKENS)
			return false;
		snprintf(t->text, sizeof(t->text), "%.*s", (int)len, expr);
		classify(t);
	}
	return r->n != 0;
}

/* --- text --- */

static void put(struct rewriting *r, const char *a, const char *b,
		const char *c)
{
	const size_t room = r->size - r->len;
	int n = snprintf(r->ret + r->len, room, "%s%s%s", a, b, c);

	r->failed |= n < 0 || (size_t)n >= room;
	r->len += r->failed ? 0 : (size_t)n;
}

static bool is_set(const char *field)
{
	return !strcmp(field, "flags") || !strcmp(field, "pte");
}

static bool is(const char *op, const char *which)
{
	return !strcmp(op, which);
}

/* What looks like a number in its values is not one. */
static bool is_text(const char *field)
{
	const int f = pagedet_field_by_name(field);
	const uint32_t type = f < 0 ? PAGEDET_TYPE_NUMBER :
				      pagedet_field((uint32_t)f)->type;

	return type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST;
}

/* "dirty=true" is "dirty", and "dirty!=true" is not. */
static bool put_truth(struct rewriting *r, const char *field, const char *op,
		      const char *value)
{
	const bool yes = !strcmp(value, "true") || !strcmp(value, "yes") ||
			 !strcmp(value, "1");
	const bool no = !strcmp(value, "false") || !strcmp(value, "no") ||
			!strcmp(value, "0");

	if ((!yes && !no) || pagedet_field_by_name(field) >= 0 ||
	    !(is(op, "=") || is(op, ":") || is(op, "!=")))
		return false;
	put(r, no != is(op, "!=") ? "not " : "", field, "");
	return true;
}

/* "9+", "1..5" and "2k" are numbers, or ranges of them. */
static bool put_number(struct rewriting *r, const char *field, const char *op,
		       const char *value)
{
	const int base = strncmp(value, "0x", 2) ? 10 : 16;
	char number[32], *end;
	unsigned long long n = strtoull(value, &end, base), last;

	if (end == value || !*end || *value < '0' || *value > '9' ||
	    is_text(field))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)(end - value), value);
	if (is(end, "+") && is(op, "=")) {
		put(r, field, ">=", number);
		return true;
	}
	if (is(op, "=") && (!strncmp(end, "..", 2) || *end == '-')) {
		const char *from = end + (*end == '.' ? 2 : 1);
		/* "not" binds first. */
		const bool inner = r->len != 0;

		last = strtoull(from, &end, strncmp(from, "0x", 2) ? 10 : 16);
		if (end == from || *end || last < n)
			return false;
		put(r, inner ? "(" : "", field, ">=");
		put(r, number, " and ", field);
		put(r, "<=", from, inner ? ")" : "");
		return true;
	}
	if ((*end != 'k' && *end != 'K' && *end != 'M') || end[1] ||
	    __builtin_mul_overflow(n, *end == 'M' ? 1000000 : 1000, &n))
		return false;
	snprintf(number, sizeof(number), "%llu", n);
	put(r, field, op, number);
	return true;
}

/* "*.so" is what contains ".so". */
static bool put_pattern(struct rewriting *r, const char *field, const char *op,
			const char *value)
{
	const bool equal = is(op, "=") || is(op, "like");
	char part[64];
	size_t len;

	if (!strpbrk(value, "*%") || *value == '\'' || *value == '"' ||
	    (!equal && !is(op, "!=")))
		return false;
	value += strspn(value, "*%");
	len = strcspn(value, "*%");
	if (!len || value[len + strspn(value + len, "*%")])
		return false;
	snprintf(part, sizeof(part), "%.*s", (int)len, value);
	put(r, field, equal ? "~" : "!~", part);
	return true;
}

/* Other words for kinds. */
static const char *kind_of(const char *word)
{
	static const char *const kinds[][2] = {
		{ "anonymous", "anon" }, { "buddy", "free" },
		{ "cache", "file" }, { "files", "file" }, { "huge", "hugetlb" },
		{ "hugepage", "hugetlb" }, { "hugepages", "hugetlb" },
		{ "page-cache", "file" }, { "page_cache", "file" },
		{ "page_table", "pgtable" }, { "pagecache", "file" },
		{ "pagetable", "pgtable" }, { "pagetables", "pgtable" },
		{ "shm", "shmem" }, { "tmpfs", "shmem" },
		{ "zero_page", "zero" },
		{ "zram", "zsmalloc" }, { "zswap", "zsmalloc" },
	};

	return find(kinds, CLI_COUNT(kinds), word);
}

static void put_test(struct rewriting *r, const char *field, const char *op,
		     const char *value)
{
	const bool has = is(op, "=") || is(op, "~") || is(op, ":") ||
			 is(op, "like");

	if (pagedet_field_by_name(field) == PAGEDET_FIELD_KIND &&
	    kind_of(value))
		value = kind_of(value);
	if (put_truth(r, field, op, value) ||
	    put_number(r, field, op, value) ||
	    put_pattern(r, field, op, value))
		return;
	/* A flag is a test by itself; "dirty" of pte is another one. */
	if (is(field, "flags") && has &&
	    !cli_is_value(PAGEDET_FIELD_KIND, value))
		put(r, value, "", "");
	else
		put(r, field, is_set(field) && has ? ":" :
		    is(op, "like") ? "~" : op, value);
}

/* What joins the tests of several values; NULL: nothing does. */
static const char *join_of(const char *field, const char *op)
{
	if (is(op, "!=") || is(op, "!~"))
		return " and ";
	if (is(op, "in"))
		return " or ";
	if (strchr("<>", *op))
		return NULL;
	return is_set(field) ? " and " : " or ";
}

static bool is_operator(const char *op)
{
	static const char *const known[] = {
		"=", "!=", "<", "<=", ">", ">=", ":", "~", "!~", "in", "like",
	};
	size_t i;

	for (i = 0; i < CLI_COUNT(known); i++)
		if (is(op, known[i]))
			return true;
	return false;
}

/* Whether these values are the whole rest. */
static bool is_rest(const struct token *t)
{
	while (t->kind == WORD && t[1].kind == COMMA)
		t += 2;
	t += t->kind == WORD;
	t += t->kind == CLOSE;
	return t->kind == END;
}

/* FIELD OPERATOR VALUE, or FIELD OPERATOR VALUE,VALUE with or without (). */
static void put_tests(struct rewriting *r, const char *field)
{
	const char *op = r->token[r->at++].text, *join = join_of(field, op);
	const struct token *t = &r->token[r->at];
	bool several, open;

	r->failed |= !is_operator(op);
	if (is(op, "in"))
		op = "=";
	/* "is not" */
	if (t->kind == WORD && is(t->text, "not")) {
		r->failed |= !is(op, "=");
		op = "!=";
		join = " and ";
		t++;
		r->at++;
	}
	open = t->kind == OPEN && is(t->text, "(");
	t += open;
	several = t->kind == WORD && t[1].kind == COMMA &&
		  (r->len || !is_rest(t));
	r->at += open;
	if (several)
		put(r, "(", "", "");
	for (;;) {
		t = &r->token[r->at];
		if (t->kind != WORD) {
			r->failed = true;
			return;
		}
		put_test(r, field, op, t->text);
		r->at++;
		if (t[1].kind != COMMA)
			break;
		if (!join) {
			r->failed = true;
			return;
		}
		put(r, join, "", "");
		r->at++;
	}
	if (open && r->token[r->at].kind == CLOSE)
		r->at++;
	else if (open)
		r->failed = true;
	if (several)
		put(r, ")", "", "");
}

static void put_word(struct rewriting *r)
{
	const char *word = r->token[r->at++].text;

	if (r->token[r->at].kind == OPERATOR)
		put_tests(r, word);
	else if (*word == '/')
		put(r, "path~", word, "");
	else if (kind_of(word))
		put(r, kind_of(word), "", "");
	else
		put(r, word, strcmp(word, "not") ? "" : " ", "");
}

/* Whether "and" is missing between this token and the one before it. */
static bool lacks_join(const struct rewriting *r)
{
	const enum kind now = r->token[r->at].kind;
	const struct token *before;

	if (!r->at || (now != WORD && now != OPEN))
		return false;
	before = &r->token[r->at - 1];
	return (before->kind == CLOSE || before->kind == WORD) &&
	       strcmp(before->text, "not") != 0;
}

/* --- words --- */

/* Whether it stands behind an operator, or in the list there. */
static bool is_operand(const struct rewriting *r, size_t i)
{
	while (i > 1 && r->token[i - 1].kind == COMMA)
		i -= 2;
	if (i && r->token[i - 1].kind == OPEN)
		i--;
	return i && r->token[i - 1].kind == OPERATOR;
}

/* "shared!=1" and "shared=no" */
static bool is_denied(const struct token *t)
{
	const bool equal = t[1].kind == OPERATOR && is(t[1].text, "=");

	return (t[1].kind == OPERATOR && strchr("!<", *t[1].text)) ||
	       (equal && (is(t[2].text, "not") || is(t[2].text, "no") ||
			  is(t[2].text, "false") || is(t[2].text, "0")));
}

const char *cli_filter_lead(const char *expr,
			    const char *(*lead)(const char *word))
{
	struct rewriting r = { .n = 0 };
	const char *found = NULL;
	size_t i;

	if (!split(&r, expr))
		return NULL;
	for (i = 0; i < r.n && !found; i++) {
		const struct token *t = &r.token[i];

		/* Where that ends is not known. */
		if (is(t->text, "not") || is(t->text, "!"))
			break;
		if (t->kind == WORD && !is_operand(&r, i) && !is_denied(t))
			found = lead(t->text);
	}
	return found;
}

/* --- */

bool cli_rewrite_filter(struct pagedet *pd, const char *expr, char *ret,
			size_t size)
{
	struct rewriting r = { .n = 0, .ret = ret, .size = size };
	uint64_t fields[2];

	*ret = '\0';
	if (!split(&r, expr))
		return false;
	while (r.at < r.n && !r.failed) {
		const struct token *t = &r.token[r.at];

		if (lacks_join(&r))
			put(&r, " and ", "", "");
		if (t->kind == WORD) {
			put_word(&r);
			continue;
		}
		if (t->kind == JOIN)
			put(&r, " ", t->text, " ");
		else
			put(&r, t->kind == COMMA ? " and " : t->text, "", "");
		r.at++;
	}
	return !r.failed && strcmp(ret, expr) != 0 &&
	       !pagedet_filter_fields(pd, ret, fields);
}
