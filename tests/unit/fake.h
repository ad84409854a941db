/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A backend that answers out of its head, so that query/ is tested alone. Two
 * of them stand for two sources: the first knows some fields of some pages,
 * the second the rest.
 */
#ifndef TESTS_FAKE_H
#define TESTS_FAKE_H

#include "query/query.h"

/* What a fake is to do; zero is a source that knows everything. */
struct fake_plan {
	unsigned source;	/* PAGEDET_SOURCE_* that it says it is */
	struct pdet_fields fields; /* that it can answer */
	uint64_t frames;	/* of memory, from 0 */
	unsigned cost;		/* PAGEDET_COST_* of every field */
	/* of row pfn: the state that it gives instead of an answer, or 0 */
	unsigned (*loses)(uint64_t pfn, unsigned field);
	/* what it says in a call of fill() instead of fake_value(); the first
	 * call is 1 */
	uint64_t (*says)(uint64_t pfn, unsigned field, int call);
	struct pdet_fields word; /* fields that it reads together */
	int quiet_from;		/* call that says nothing; 0: none */
	uint64_t notes;		/* that it puts into every row */
	int fails_at;		/* call of fill() that fails; 0 never */
	int error;		/* with this errno */
};

struct fake {
	struct pdet_backend backend;
	struct fake_plan plan;
	atomic_int fills;	/* calls of fill() so far */
	atomic_int rows;	/* that it was asked about */
};

/* A set, by its fields. */
static inline struct pdet_fields fields_of(const uint8_t *list, size_t n)
{
	struct pdet_fields set = { { 0, 0 } };
	size_t i;

	for (i = 0; i < n; i++)
		pdet_fields_add(&set, list[i]);
	return set;
}

#define FIELDS(...) \
	fields_of((const uint8_t[]){ __VA_ARGS__ }, \
		  sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* The value that every fake gives for a field of a frame. */
uint64_t fake_value(uint64_t pfn, unsigned field);

void fake_init(struct fake *f, const struct fake_plan *plan);

/* What a backend does that has nothing to prepare or to keep. */
int fake_prepare(struct pdet_backend *b, struct pdet_env *env,
		 const struct pdet_wants *wants);
int fake_session_new(struct pdet_backend *b, struct pdet_env *env,
		     const struct pdet_wants *wants,
		     struct pdet_session **ret);
void fake_session_free(struct pdet_session *s);

#endif
