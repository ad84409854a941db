/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The plan of a query: per wanted field the sources that will be asked, in
 * order of cost, and the reason where there is none.
 */
#ifndef PDET_QUERY_PLAN_H
#define PDET_QUERY_PLAN_H

#include "backend/backend.h"

/* Most backends that one handle can have open. */
#define PDET_BACKENDS 8
#define PDET_CHAIN 8

/* One source is asked for some fields. */
struct pdet_step {
	unsigned backend;	/* index among the handle's */
	unsigned source;
	struct pdet_fields fields;
};

struct pdet_plan {
	struct pdet_fields wanted; /* by the caller */
	struct pdet_fields columns; /* and what is needed inside */
	struct pdet_fields given; /* of columns: the walk writes them */
	struct pdet_fields absent; /* of columns: do not apply to the target */
	struct pdet_fields early; /* of columns: before the filter */
	bool judged_late;	/* the filter looks at what is known last */
	struct pdet_step steps[PDET_CHAIN];
	unsigned n_steps;
	uint8_t why[PDET_FIELDS]; /* PAGEDET_HAVE, or why nobody can */
	char *advice[PDET_FIELDS]; /* NULL none */
};

struct pdet_plan_args {
	struct pdet_env *env;
	struct pdet_backend *const *backends;
	size_t n_backends;
	uint32_t sources;
	uint32_t target;
	bool cheap;		/* also every field that costs nothing */
	bool few;		/* single pages: a read more costs nothing */
	bool single_source;
	bool text_only;		/* nobody is asked about pages of a log */
	bool holes;		/* frames without memory are rows */
	bool counts;		/* mappings of users can be counted */
	const struct pdet_fields *saved; /* rows of a file have these; NULL */
	struct pdet_fields fields;
	struct pdet_fields filter;
	struct pdet_fields group;
};

int pdet_plan_build(const struct pdet_plan_args *args, struct pdet_plan *ret);
void pdet_plan_free(struct pdet_plan *plan);

/* Fields that a target's walk writes, and those that do not apply to it. */
struct pdet_fields pdet_plan_given(uint32_t target);
struct pdet_fields pdet_plan_absent(uint32_t target);

#endif
