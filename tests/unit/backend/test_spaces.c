/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests which tasks share an address space, by the numbers of a source, by its
 * order, and if the order is not known for some. Thread T has space T / 10.
 */
#include <errno.h>

#include "backend/spaces.h"
#include "../fake.h"
#include "../unit.h"

struct world {
	struct pdet_backend backend;
	struct pdet_session session;
	struct pdet_spaces spaces;
	bool orderless;		/* spaces differ, without an order */
	uint32_t strange;	/* a space that cannot be compared; 0: none */
	uint32_t ended;		/* a thread without memory */
	int asked;		/* calls of order() */
};

static enum pdet_space_order order(struct pdet_session *s, uint32_t tid,
				   uint32_t other)
{
	struct world *w = PDET_CONTAINER(s, struct world, session);

	w->asked++;
	if (w->strange && (tid / 10 == w->strange || other / 10 == w->strange))
		return PDET_SPACE_UNKNOWN;
	if (tid / 10 == other / 10)
		return PDET_SPACE_SAME;
	return w->orderless ? PDET_SPACE_OTHER : tid / 10 < other / 10 ?
			      PDET_SPACE_BEFORE : PDET_SPACE_AFTER;
}

static int has_memory(struct pdet_session *s, uint32_t tid)
{
	return tid != PDET_CONTAINER(s, struct world, session)->ended;
}

static const struct pdet_backend_ops orders = {
	.name = "orders", .space_order = order, .has_memory = has_memory,
}, numbers = {
	.name = "numbers",
};

static void init(struct world *w, const struct pdet_backend_ops *ops)
{
	memset(w, 0, sizeof(*w));
	w->backend.ops = ops;
	w->session.backend = &w->backend;
}

static struct pdet_task task(const struct world *w, uint32_t thread)
{
	return (struct pdet_task){
		.thread = thread,
		.space = w->backend.ops == &numbers ? thread / 10 : 0,
	};
}

static int add(struct world *w, uint32_t thread)
{
	const struct pdet_task t = task(w, thread);

	return pdet_spaces_add(&w->spaces, &w->session, &t);
}

static bool has(struct world *w, uint32_t thread)
{
	const struct pdet_task t = task(w, thread);

	return pdet_spaces_has(&w->spaces, &w->session, &t);
}

/* In any order of tasks, for each kind of source. */
START_TEST(each_counts_once)
{
	static const uint32_t list[] = { 50, 10, 90, 30, 70, 20, 60 };
	struct world w;
	size_t i;

	init(&w, _i ? &orders : &numbers);
	w.orderless = _i == 2;
	for (i = 0; i < PDET_COUNT(list); i++) {
		ck_assert(!has(&w, list[i]));
		ck_assert_int_eq(add(&w, list[i]), PDET_SPACE_NEW);
		ck_assert_int_eq(add(&w, list[i] + 1), PDET_SPACE_SHARED);
	}
	for (i = 0; i < PDET_COUNT(list); i++) {
		ck_assert(has(&w, list[i] + 2));
		ck_assert_int_eq(add(&w, list[i] + 3), PDET_SPACE_SHARED);
	}
	ck_assert(!has(&w, 80));
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* In order, few are compared. */
START_TEST(few_are_compared)
{
	struct world w;
	uint32_t i;

	init(&w, &orders);
	for (i = 1; i <= 100; i++)
		ck_assert_int_eq(add(&w, i * 7919 % 1000 * 10),
				 PDET_SPACE_NEW);
	w.asked = 0;
	ck_assert(has(&w, 7919 % 1000 * 10));
	ck_assert_int_le(w.asked, 7);
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* One that cannot be compared may be shared with any other. */
START_TEST(some_are_not_known)
{
	struct world w;

	init(&w, &orders);
	w.strange = 3;
	ck_assert_int_eq(add(&w, 50), PDET_SPACE_NEW);
	ck_assert_int_eq(add(&w, 30), PDET_SPACE_UNSURE);
	ck_assert_int_eq(add(&w, 51), PDET_SPACE_SHARED);
	ck_assert_int_eq(add(&w, 20), PDET_SPACE_UNSURE);
	ck_assert(!has(&w, 31));
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* A task that ends may leave its memory to one that then is not found. */
START_TEST(all_remain)
{
	struct world w;

	init(&w, &orders);
	add(&w, 50);
	add(&w, 10);
	ck_assert(pdet_spaces_remain(&w.spaces, &w.session));
	w.ended = 50;
	ck_assert(!pdet_spaces_remain(&w.spaces, &w.session));
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* A source that tells nothing has none that are shared. */
START_TEST(none_is_told)
{
	struct world w;
	struct pdet_task t = { .thread = 5 };

	init(&w, &numbers);
	ck_assert_int_eq(pdet_spaces_add(&w.spaces, &w.session, &t),
			 PDET_SPACE_NEW);
	ck_assert_int_eq(pdet_spaces_add(&w.spaces, &w.session, &t),
			 PDET_SPACE_NEW);
	ck_assert(!pdet_spaces_has(&w.spaces, &w.session, &t));
	pdet_spaces_free(&w.spaces);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spaces");

	unit_loop(s, each_counts_once, 3);
	unit_test(s, few_are_compared);
	unit_test(s, some_are_not_known);
	unit_test(s, all_remain);
	unit_test(s, none_is_told);
	return unit_main(s);
}
