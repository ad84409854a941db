/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The plan of a query: for each wanted field the sources to ask, in order of
 * cost, or the reason why there is none.
 */
#ifndef PDET_QUERY_PLAN_H
#define PDET_QUERY_PLAN_H

#include "backend/backend.h"

struct pdet_heat;
struct pdet_kmap_pages;

/* Largest number of open backends of a handle. */
#define PDET_BACKENDS 8
#define PDET_CHAIN 8

/* One source, and the fields for which it is asked. */
struct pdet_step {
	unsigned backend;	/* index in the handle's list */
	unsigned source;
	struct pdet_fields fields;
};

struct pdet_plan {
	struct pdet_fields wanted; /* fields that the caller wants */
	struct pdet_fields asked; /* named by the caller, and what these need */
	struct pdet_fields columns; /* wanted, and those needed inside */
	struct pdet_fields given; /* of columns: the walk writes them */
	struct pdet_fields absent; /* of columns: do not apply to the target */
	struct pdet_fields early; /* of columns: filled before the filter */
	struct pdet_fields final; /* no other source can have them either */
	bool judged_late;	/* the filter reads what is known last */
	struct pdet_step steps[PDET_CHAIN];
	unsigned n_steps;
	/*
	 * For a look-up: columns that expensive sources may answer if the steps
	 * leave them open. These sources are asked for a page that lacks a
	 * column of the second set.
	 */
	struct pdet_fields later, worth_it;
	struct pdet_step late[PDET_CHAIN]; /* by pdet_plan_later() */
	unsigned n_late;
	bool kind_whole;	/* cheap sources know every page's kind */
	uint8_t why[PDET_FIELDS]; /* PAGEDET_HAVE, or why no source can */
	char *advice[PDET_FIELDS]; /* NULL: no advice */
};

struct pdet_plan_args {
	struct pdet_env *env;
	struct pdet_backend *const *backends;
	size_t n_backends;
	uint32_t sources;
	uint32_t target;
	bool cheap;		/* also wants all free fields */
	bool few;		/* the query is about single pages: one more
				 * read costs nothing */
	bool many;		/* so many rows that a start does not count */
	bool lookup;		/* few rows, by one thread */
	bool single_source;
	bool text_only;		/* sources are not asked about a log's pages */
	bool holes;		/* frames without memory get rows */
	bool counts;		/* the walk can count user mappings */
	bool live;		/* the running kernel is asked */
	const struct pdet_heat *heat; /* NULL: nobody listened to DAMON */
	const struct pdet_kmap_pages *kmap; /* NULL: none was given */
	const struct pdet_fields *saved; /* fields of a file's rows; NULL: no
				 * file */
	struct pdet_fields fields;
	struct pdet_fields filter;
	struct pdet_fields group;
};

int pdet_plan_build(const struct pdet_plan_args *args, struct pdet_plan *ret);
/*
 * Whether rows about addresses give their page table entries, or something that
 * follows from these.
 */
bool pdet_plan_wants_entries(const struct pdet_plan_args *args);
/*
 * Plans plan->late: the expensive sources for the fields of plan->later.
 * Returns 0, or -ENOMEM with an error text.
 */
int pdet_plan_later(const struct pdet_plan_args *args, struct pdet_plan *plan);
/*
 * pdet_plan_without - make the plan again without @backend, which cannot be
 * used after all. Other sources answer what they can; the other fields get
 * @reason and @advice. Returns 0, or -ENOMEM without an error text.
 */
int pdet_plan_without(struct pdet_plan *plan, unsigned backend,
		      unsigned reason, const char *advice);
void pdet_plan_free(struct pdet_plan *plan);

/*
 * Fields that a struct page shows together with the kind. If one source does
 * not know the kind and another one does, the other one answers all of these
 * fields.
 */
struct pdet_fields pdet_plan_with_kind(void);

/* Fields that do not apply to a target. */
struct pdet_fields pdet_plan_absent(uint32_t target);

/* Whether rows are those of a trace, which needs no source. */
static inline bool pdet_is_of_trace(uint32_t target)
{
	return target == PAGEDET_TARGET_OBJECTS ||
	       target == PAGEDET_TARGET_EVENTS;
}

/* Fields about a kernel address, which a row of a page alone does not have. */
struct pdet_fields pdet_plan_of_kernel(void);

#endif
