/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Evaluates a parsed filter over the columns of a batch, node by node. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/filter.h"
#include "query/filter_node.h"

int pdet_filter_new(struct pdet_env *env, const char *text,
		    struct pdet_filter **ret)
{
	return pdet_filter_of(env, text, NULL, ret);
}

int pdet_filter_of(struct pdet_env *env, const char *text,
		   const struct pdet_filter_names *names,
		   struct pdet_filter **ret)
{
	struct pdet_filter *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return pdet_fail(env, ENOMEM, "no memory for the filter");
	r = pdet_filter_parse(env, text, names, f);
	if (r < 0) {
		pdet_filter_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

void pdet_filter_free(struct pdet_filter *f)
{
	unsigned i;

	if (!f)
		return;
	for (i = 0; i < f->n; i++) {
		free(f->node[i].text);
		if (f->node[i].has_regex)
			regfree(&f->node[i].regex);
	}
	free(f);
}

struct pdet_fields pdet_filter_fields(const struct pdet_filter *f)
{
	return f->fields;
}

static void node_range(const struct pdet_filter *f, unsigned at,
		       unsigned field, uint64_t *first, uint64_t *last)
{
	const struct pdet_filter_node *n = &f->node[at];
	uint64_t low = 0, high = UINT64_MAX;

	if (n->op == PDET_OP_AND) {
		node_range(f, n->left, field, first, last);
		node_range(f, n->right, field, first, last);
		return;
	}
	if (n->op < PDET_OP_EQ || n->field != field)
		return;
	switch (n->op) {
	case PDET_OP_EQ:
		low = high = n->number;
		break;
	case PDET_OP_LT:
		if (n->number)
			high = n->number - 1;
		else
			low = UINT64_MAX, high = 0;
		break;
	case PDET_OP_LE:
		high = n->number;
		break;
	case PDET_OP_GT:
		if (n->number < UINT64_MAX)
			low = n->number + 1;
		else
			low = UINT64_MAX, high = 0;
		break;
	case PDET_OP_GE:
		low = n->number;
		break;
	default:
		break;
	}
	*first = PDET_MAX(*first, low);
	*last = PDET_MIN(*last, high);
}

void pdet_filter_range(const struct pdet_filter *f, unsigned field,
		       uint64_t *first, uint64_t *last)
{
	*first = 0;
	*last = UINT64_MAX;
	node_range(f, f->root, field, first, last);
}

size_t pdet_filter_scratch(const struct pdet_filter *f, uint32_t rows)
{
	return (size_t)f->node[f->root].depth * rows;
}

static uint8_t truth(bool yes)
{
	return yes ? PDET_TRUE : PDET_FALSE;
}

/* The result of a test on a cell that is nothing. */
static uint8_t of_nothing(unsigned op)
{
	return truth(op == PDET_OP_NE || op == PDET_OP_NO_MATCH ||
		     op == PDET_OP_IS_NONE);
}

static void test_numbers(const struct pdet_filter_node *n,
			 const uint64_t *value, uint32_t rows, uint8_t *out)
{
	const uint64_t number = n->number;
	/* Numbers in two's complement have the order of these. */
	const uint64_t flip = n->is_signed ? (uint64_t)1 << 63 : 0;
	const uint64_t limit = number ^ flip;
	uint32_t i;

#define EACH(condition)                                                   \
	for (i = 0; i < rows; i++)                                        \
		out[i] = (condition) ? PDET_TRUE : PDET_FALSE;            \
	break
	switch (n->op) {
	case PDET_OP_EQ:
		EACH(value[i] == number);
	case PDET_OP_NE:
		EACH(value[i] != number);
	case PDET_OP_LT:
		EACH((value[i] ^ flip) < limit);
	case PDET_OP_LE:
		EACH((value[i] ^ flip) <= limit);
	case PDET_OP_GT:
		EACH((value[i] ^ flip) > limit);
	case PDET_OP_GE:
		EACH((value[i] ^ flip) >= limit);
	case PDET_OP_BIT:
		EACH(value[i] >> number & 1);
	case PDET_OP_IS_SOME:
		EACH(true);
	default:
		EACH(false);
	}
#undef EACH
}

/* Is @name one of "A|B|C"? */
static bool list_has(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (;;) {
		const char *end = strchrnul(list, '|');

		if ((size_t)(end - list) == len && !memcmp(list, name, len))
			return true;
		if (!*end)
			return false;
		list = end + 1;
	}
}

static uint8_t test_text(const struct pdet_filter_node *n, const char *text)
{
	switch (n->op) {
	case PDET_OP_EQ:
		return truth(!strcmp(text, n->text));
	case PDET_OP_NE:
		return truth(strcmp(text, n->text));
	case PDET_OP_HAS:
		return truth(list_has(text, n->text));
	case PDET_OP_MATCH:
		return truth(!regexec(&n->regex, text, 0, NULL, 0));
	case PDET_OP_NO_MATCH:
		return truth(regexec(&n->regex, text, 0, NULL, 0));
	default:
		return truth(n->op == PDET_OP_IS_SOME);
	}
}

static void test_texts(const struct pdet_filter_node *n,
		       const struct pdet_batch *b, uint8_t *out)
{
	uint64_t last = 0;
	uint8_t last_truth = PDET_UNKNOWN;
	uint32_t i;

	/* Neighbours usually have the same text. */
	for (i = 0; i < b->n; i++) {
		uint64_t id = b->value[n->field][i];
		const char *text;

		if (id != last) {
			text = pdet_strtab_get(&b->strings, id, NULL);
			last_truth = text ? test_text(n, text) : PDET_UNKNOWN;
			last = id;
		}
		out[i] = last_truth;
	}
}

/* Corrects rows without an answer, and rows whose bit is not known. */
static void three_valued(const struct pdet_filter_node *n,
			 const struct pdet_batch *b, uint8_t *out)
{
	const uint16_t *cell = b->cell[n->field];
	unsigned known = pdet_known_field(n->field);
	uint32_t i;

	for (i = 0; i < b->n; i++) {
		unsigned state = cell[i] & 0xff;

		if (state == PAGEDET_NONE)
			out[i] = of_nothing(n->op);
		else if (state != PAGEDET_HAVE)
			out[i] = PDET_UNKNOWN;
	}
	if (n->op != PDET_OP_BIT || known == n->field || !b->value[known])
		return;
	for (i = 0; i < b->n; i++)
		if ((cell[i] & 0xff) == PAGEDET_HAVE &&
		    !(b->value[known][i] >> n->number & 1))
			out[i] = PDET_UNKNOWN;
}

static void eval(const struct pdet_filter *f, unsigned at,
		 const struct pdet_batch *b, uint8_t *out)
{
	const struct pdet_filter_node *n = &f->node[at];
	uint8_t *other = out + b->n;
	unsigned type;
	uint32_t i;

	switch (n->op) {
	case PDET_OP_AND:
	case PDET_OP_OR:
		eval(f, n->left, b, out);
		eval(f, n->right, b, other);
		for (i = 0; i < b->n; i++)
			out[i] = n->op == PDET_OP_AND ?
				PDET_MIN(out[i], other[i]) :
				PDET_MAX(out[i], other[i]);
		return;
	case PDET_OP_NOT:
		eval(f, n->left, b, out);
		for (i = 0; i < b->n; i++)
			out[i] = PDET_TRUE - out[i];
		return;
	default:
		break;
	}
	if (!b->value[n->field]) {
		memset(out, PDET_UNKNOWN, b->n);
		return;
	}
	type = pdet_field_info(n->field)->type;
	if (type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST)
		test_texts(n, b, out);
	else
		test_numbers(n, b->value[n->field], b->n, out);
	three_valued(n, b, out);
}

void pdet_filter_eval(const struct pdet_filter *f, const struct pdet_batch *b,
		      uint8_t *scratch)
{
	eval(f, f->root, b, scratch);
}

static uint8_t test_cell(const struct pdet_filter_node *n,
			 const struct pdet_filter_cell *cell)
{
	uint8_t out;

	if (cell->state != PAGEDET_HAVE)
		return cell->state == PAGEDET_NONE ? of_nothing(n->op) :
						     PDET_UNKNOWN;
	if (cell->text)
		return test_text(n, cell->text);
	if (cell->negative)
		return truth(n->op == PDET_OP_NE || n->op == PDET_OP_LT ||
			     n->op == PDET_OP_LE || n->op == PDET_OP_IS_SOME);
	test_numbers(n, &cell->number, 1, &out);
	return out;
}

enum pdet_truth pdet_filter_test(const struct pdet_filter *f,
				 void (*get)(void *arg, unsigned name,
					     struct pdet_filter_cell *ret),
				 void *arg)
{
	uint8_t truth[PDET_FILTER_NODES] = { 0 };
	struct pdet_filter_cell cell;
	unsigned i;

	/* What a node joins stands before it. */
	for (i = 0; i < f->n; i++) {
		const struct pdet_filter_node *n = &f->node[i];
		const uint8_t left = truth[n->left], right = truth[n->right];

		if (n->op == PDET_OP_AND) {
			truth[i] = PDET_MIN(left, right);
		} else if (n->op == PDET_OP_OR) {
			truth[i] = PDET_MAX(left, right);
		} else if (n->op == PDET_OP_NOT) {
			truth[i] = PDET_TRUE - left;
		} else {
			cell = (struct pdet_filter_cell){ 0 };
			get(arg, n->field, &cell);
			truth[i] = test_cell(n, &cell);
		}
	}
	return truth[f->root];
}
