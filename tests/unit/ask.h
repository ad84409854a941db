/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One question to query/ alone, on fake sources. */
#ifndef TESTS_ASK_H
#define TESTS_ASK_H

#include "fake.h"
#include "unit.h"

#define F(name) PAGEDET_FIELD_##name
#define FRAMES 20000

static char no_root[] = "";

/* One question to up to two fakes. */
struct ask {
	struct pdet_env env;
	struct fake fake[2];
	struct pdet_backend *list[2];
	size_t n;
	struct pagedet_query q;
	struct pdet_iter *it;
};

static inline void ask_init(struct ask *a)
{
	memset(a, 0, sizeof(*a));
	a->env.root = no_root;
	pagedet_query_init(&a->q, sizeof(a->q), sizeof(struct pagedet_page));
	a->q.target = PAGEDET_TARGET_SCAN;
}

static inline void ask_source(struct ask *a, unsigned source, unsigned cost,
			      struct pdet_fields fields,
			      unsigned (*loses)(uint64_t, unsigned))
{
	struct fake_plan plan = {
		.source = source, .cost = cost, .fields = fields,
		.frames = FRAMES, .loses = loses,
	};

	fake_init(&a->fake[a->n], &plan);
	a->list[a->n] = &a->fake[a->n].backend;
	a->n++;
}

static inline int ask_start(struct ask *a, struct pdet_fields wanted)
{
	struct pdet_iter_args args;

	memset(&args, 0, sizeof(args));
	args.env = &a->env;
	args.backends = a->list;
	args.n_backends = a->n;
	args.sources = ~(uint32_t)0;
	args.query = &a->q;
	args.fields = wanted;
	args.page_size = 4096;
	return pdet_iter_new(&args, &a->it);
}

static inline void must_start(struct ask *a, struct pdet_fields wanted)
{
	int r = ask_start(a, wanted);

	ck_assert_msg(r == 0, "%d: %s", r, a->env.error);
}

#endif
