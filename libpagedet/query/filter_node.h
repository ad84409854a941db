/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The parsed form of a filter. filter_parse.c makes it, filter.c runs it. */
#ifndef PDET_QUERY_FILTER_NODE_H
#define PDET_QUERY_FILTER_NODE_H

#include <regex.h>

#include "base/env.h"
#include "schema/schema.h"

struct pdet_filter_names;

enum pdet_filter_op {
	PDET_OP_AND,
	PDET_OP_OR,
	PDET_OP_NOT,
	PDET_OP_EQ,
	PDET_OP_NE,
	PDET_OP_LT,
	PDET_OP_LE,
	PDET_OP_GT,
	PDET_OP_GE,
	PDET_OP_BIT,		/* a bit of a mask */
	PDET_OP_HAS,		/* a name in a list */
	PDET_OP_MATCH,
	PDET_OP_NO_MATCH,
	PDET_OP_IS_NONE,
	PDET_OP_IS_SOME		/* any value, but not nothing */
};

struct pdet_filter_node {
	uint8_t op;
	uint8_t field;
	uint16_t left, right;	/* AND, OR, NOT: numbers of nodes */
	uint16_t depth;		/* scratch rows needed by this subtree */
	bool has_regex;
	bool is_signed;		/* the number, in two's complement */
	uint64_t number;	/* a number, or the number of a bit */
	char *text;		/* for STRING and LIST */
	regex_t regex;
};

#define PDET_FILTER_NODES 256
#define PDET_FILTER_NESTING 64

struct pdet_filter {
	struct pdet_filter_node node[PDET_FILTER_NODES];
	uint16_t n;
	uint16_t root;
	struct pdet_fields fields;
};

/* In filter_parse.c. @names NULL: fields. */
int pdet_filter_parse(struct pdet_env *env, const char *text,
		      const struct pdet_filter_names *names,
		      struct pdet_filter *f);

#endif
