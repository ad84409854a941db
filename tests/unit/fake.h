/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A backend with invented answers, which lets query/ be tested alone. Two of
 * them stand for two sources: the first knows some fields of some pages, the
 * second one the rest.
 */
#ifndef TESTS_FAKE_H
#define TESTS_FAKE_H

#include "query/query.h"

/*
 * Behaviour of a fake source. A zeroed plan is a source that knows everything.
 */
struct fake_plan {
	unsigned source;	/* the PAGEDET_SOURCE_* that it claims to be */
	struct pdet_fields fields; /* fields that it can answer */
	uint64_t frames;	/* frames of memory, from 0 */
	unsigned cost;		/* PAGEDET_COST_* of every field */
	/* Returns the state that replaces the answer for row pfn, or 0. */
	unsigned (*loses)(uint64_t pfn, unsigned field);
	/* Returns the value for a call of fill() instead of fake_value(). The
	 * first call is 1. */
	uint64_t (*says)(uint64_t pfn, unsigned field, int call);
	struct pdet_fields word; /* fields that it reads together */
	int quiet_from;		/* first fill() without answers; 0: none */
	uint64_t notes;		/* notes that it sets in every row */
	int fails_at;		/* number of the failing fill(); 0: none */
	int error;		/* the errno of that failure */
	bool dear;		/* as pdet_backend.dear, .bulk */
	uint32_t bulk;
	/* Returns true for rows whose kind is uncertain. */
	bool (*unsure)(uint64_t pfn);
	bool partial;		/* claims to answer only some pages */
	bool shut;		/* claims that access is denied */
	int no_start;		/* prepare() fails with this errno */
};

struct fake {
	struct pdet_backend backend;
	struct fake_plan plan;
	atomic_int fills;	/* calls of fill() so far */
	atomic_int rows;	/* pages that it was asked about */
	int surveys;		/* number of surveys */
	int starts;		/* calls of prepare() */
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

/* The value of a field for a frame, the same for every fake. */
uint64_t fake_value(uint64_t pfn, unsigned field);

void fake_init(struct fake *f, const struct fake_plan *plan);

/* A backend that can look up every field: its survey. */
void fake_able(struct pdet_backend *b, struct pdet_env *env, uint32_t target,
	       unsigned field, unsigned source, struct pdet_ability *ret);
/* Operations of a backend that has nothing to prepare or keep. */
int fake_prepare(struct pdet_backend *b, struct pdet_env *env,
		 const struct pdet_wants *wants);
int fake_session_new(struct pdet_backend *b, struct pdet_env *env,
		     const struct pdet_wants *wants,
		     struct pdet_session **ret);
void fake_session_free(struct pdet_session *s);

#endif
