/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests which tasks share an address space, by the numbers of a source, by its
 * keys and its order, and if some have no order or change. Thread T has space
 * T / 10; those of one hundred have one key.
 */
#include <errno.h>

#include "backend/spaces.h"
#include "../fake.h"
#include "../unit.h"

/* Executes another program: its space and key are others then. */
struct change {
	uint32_t thread;	/* 0: none does */
	int after;		/* so many calls of order() */
	bool ends;		/* or it has no memory any more */
};

struct world {
	struct pdet_backend backend;
	struct pdet_session session;
	struct pdet_spaces spaces;
	bool one_key;		/* all spaces have it, as after fork() */
	bool orderless;		/* kcmp() is not allowed */
	uint32_t hidden;	/* a space whose key cannot be read; 0: none */
	struct change change;
	int asked;		/* calls of order() */
	struct pdet_task opened;
};

static bool has_changed(const struct world *w, uint32_t thread)
{
	return w->change.thread && thread == w->change.thread &&
	       w->asked >= w->change.after;
}

/* Those that have ended are before all others. */
static uint32_t space_now(const struct world *w, uint32_t thread)
{
	if (has_changed(w, thread))
		return w->change.ends ? 0 : 9999;
	return thread / 10;
}

static uint64_t key(struct pdet_session *s, uint32_t tid)
{
	const struct world *w = PDET_CONTAINER(s, struct world, session);

	if (has_changed(w, tid))
		return w->change.ends ? 0 : 9999;
	if (w->hidden && tid / 10 == w->hidden)
		return 0;
	return w->one_key ? 1 : tid / 100 + 1;
}

static enum pdet_space_order order(struct pdet_session *s, uint32_t tid,
				   uint32_t other)
{
	struct world *w = PDET_CONTAINER(s, struct world, session);
	uint32_t a, b;

	w->asked++;
	a = space_now(w, tid);
	b = space_now(w, other);
	if (w->orderless)
		return PDET_SPACE_UNKNOWN;
	return a == b ? PDET_SPACE_SAME : a < b ? PDET_SPACE_BEFORE :
						  PDET_SPACE_AFTER;
}

static int open_now(struct pdet_session *s, uint32_t tid,
		    struct pdet_task **ret)
{
	struct world *w = PDET_CONTAINER(s, struct world, session);

	if (has_changed(w, tid) && w->change.ends)
		return -ESRCH;
	w->opened.space = space_now(w, tid);
	*ret = &w->opened;
	return 0;
}

static void close_now(struct pdet_task *t)
{
	t->space = 0;
}

static const struct pdet_backend_ops orders = {
	.name = "orders", .space_key = key, .space_order = order,
}, numbers = {
	.name = "numbers", .task_open = open_now, .task_close = close_now,
};

static void init(struct world *w, const struct pdet_backend_ops *ops)
{
	memset(w, 0, sizeof(*w));
	w->backend.ops = ops;
	w->session.backend = &w->backend;
}

/* As it is opened: before anything changes. */
static struct pdet_task task(struct world *w, uint32_t thread)
{
	const struct change change = w->change;
	struct pdet_task t = { .thread = thread };

	w->change.thread = 0;
	if (w->backend.ops == &numbers)
		t.space = thread / 10;
	else
		t.space_key = key(&w->session, thread);
	w->change = change;
	return t;
}

static int add(struct world *w, uint32_t thread)
{
	const struct pdet_task t = task(w, thread);

	return pdet_spaces_add(&w->spaces, &w->session, &t);
}

static bool may_have(struct world *w, uint32_t thread)
{
	const struct pdet_task t = task(w, thread);

	return pdet_spaces_may_have(&w->spaces, &w->session, &t);
}

/* In any order of tasks, for each kind of source. */
START_TEST(each_counts_once)
{
	static const uint32_t list[] = { 50, 110, 90, 330, 70, 20, 160 };
	struct world w;
	size_t i;

	init(&w, _i ? &orders : &numbers);
	w.one_key = _i == 2;
	for (i = 0; i < PDET_COUNT(list); i++) {
		ck_assert(!may_have(&w, list[i]));
		ck_assert_int_eq(add(&w, list[i]), PDET_SPACE_NEW);
		ck_assert_int_eq(add(&w, list[i] + 1), PDET_SPACE_SHARED);
	}
	for (i = 0; i < PDET_COUNT(list); i++) {
		ck_assert(may_have(&w, list[i] + 2));
		ck_assert_int_eq(add(&w, list[i] + 3), PDET_SPACE_SHARED);
	}
	ck_assert(!may_have(&w, 80));
	ck_assert(pdet_spaces_remain(&w.spaces, &w.session));
	pdet_spaces_empty(&w.spaces);
	ck_assert(!may_have(&w, list[0]));
	ck_assert_int_eq(add(&w, list[0]), PDET_SPACE_NEW);
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* Different keys are not compared; of equal ones, few. */
START_TEST(few_are_compared)
{
	struct world w;
	uint32_t i;

	init(&w, &orders);
	for (i = 1; i <= 100; i++)
		ck_assert_int_eq(add(&w, i * 100), PDET_SPACE_NEW);
	ck_assert_int_eq(w.asked, 0);
	pdet_spaces_empty(&w.spaces);
	w.one_key = true;
	for (i = 1; i <= 100; i++)
		ck_assert_int_eq(add(&w, i * 7919 % 1000 * 10),
				 PDET_SPACE_NEW);
	w.asked = 0;
	ck_assert(may_have(&w, 7919 % 1000 * 10));
	ck_assert_int_le(w.asked, 7);
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* Without an order, those with another key are told apart, and no others. */
START_TEST(without_an_order)
{
	struct world w;

	init(&w, &orders);
	w.orderless = true;
	ck_assert_int_eq(add(&w, 150), PDET_SPACE_NEW);
	ck_assert_int_eq(add(&w, 250), PDET_SPACE_NEW);
	ck_assert_int_eq(add(&w, 151), PDET_SPACE_UNSURE);
	ck_assert_int_eq(add(&w, 160), PDET_SPACE_UNSURE);
	ck_assert(may_have(&w, 170));
	ck_assert(!may_have(&w, 370));
	ck_assert_int_eq(add(&w, 370), PDET_SPACE_NEW);
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* One whose key cannot be read may be shared with any other. */
START_TEST(some_keys_are_hidden)
{
	struct world w;

	init(&w, &orders);
	w.hidden = 30;
	if (_i) {
		ck_assert_int_eq(add(&w, 150), PDET_SPACE_NEW);
		ck_assert(!may_have(&w, 250));
		ck_assert(may_have(&w, 300));
	}
	ck_assert_int_eq(add(&w, 300), _i ? PDET_SPACE_UNSURE :
					    PDET_SPACE_NEW);
	ck_assert_int_eq(add(&w, 301), PDET_SPACE_UNSURE);
	ck_assert(may_have(&w, 250));
	ck_assert_int_eq(add(&w, 250), PDET_SPACE_UNSURE);
	ck_assert_int_eq(add(&w, 251), PDET_SPACE_SHARED);
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* Compares the members 10, 20, ... 70 of one key, of which one changes. The
 * others are still found, and its address space is not taken for a new one. */
START_TEST(a_member_changes)
{
	const uint32_t changes = (uint32_t)(_i / 4 + 1) * 10;
	struct world w;
	uint32_t i;

	init(&w, &orders);
	w.one_key = true;
	for (i = 10; i <= 70; i += 10)
		ck_assert_int_eq(add(&w, i), PDET_SPACE_NEW);
	w.change = (struct change){ changes, w.asked + _i / 2 % 2, _i % 2 };
	for (i = 10; i <= 70; i += 10)
		ck_assert_int_eq(add(&w, i + 1), i == changes ?
				 PDET_SPACE_UNSURE : PDET_SPACE_SHARED);
	ck_assert(may_have(&w, changes + 1));
	/* Any other may have what it had. */
	ck_assert_int_eq(add(&w, 80), PDET_SPACE_UNSURE);
	ck_assert_int_eq(add(&w, 81), PDET_SPACE_SHARED);
	/* Others are as before. */
	w.one_key = false;
	ck_assert_int_eq(add(&w, 200), PDET_SPACE_NEW);
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* The task itself changes, before it is compared or while it is. */
START_TEST(the_task_changes)
{
	struct world w;

	init(&w, &orders);
	ck_assert_int_eq(add(&w, 110), PDET_SPACE_NEW);
	w.change = (struct change){ 111, _i / 2, _i % 2 };
	ck_assert(may_have(&w, 111));
	w.asked = 0;
	ck_assert_int_eq(add(&w, 111), PDET_SPACE_UNSURE);
	/* Who has the same is still found, others are not known. */
	ck_assert_int_eq(add(&w, 112), PDET_SPACE_SHARED);
	ck_assert_int_eq(add(&w, 120), PDET_SPACE_UNSURE);
	ck_assert_int_eq(add(&w, 220), PDET_SPACE_NEW);
	/* Alone, too. */
	w.change = (struct change){ 330, 0, _i % 2 };
	ck_assert_int_eq(add(&w, 330), PDET_SPACE_UNSURE);
	ck_assert_int_eq(add(&w, 331), PDET_SPACE_UNSURE);
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* A task that changes may leave its memory to one that then is not found. */
START_TEST(all_remain)
{
	struct world w;

	init(&w, &orders);
	add(&w, 50);
	add(&w, 10);
	ck_assert(pdet_spaces_remain(&w.spaces, &w.session));
	w.change = (struct change){ 50, 0, _i };
	ck_assert(!pdet_spaces_remain(&w.spaces, &w.session));
	pdet_spaces_free(&w.spaces);
}
END_TEST

/* A number may be given again, when the task that had it has ended, or executes
 * another program; or another task may still have it. */
START_TEST(a_number_is_given_again)
{
	struct world w;

	init(&w, &numbers);
	ck_assert_int_eq(add(&w, 50), PDET_SPACE_NEW);
	ck_assert_int_eq(add(&w, 70), PDET_SPACE_NEW);
	w.change = (struct change){ 50, 0, _i };
	ck_assert(may_have(&w, 51));
	ck_assert_int_eq(add(&w, 51), PDET_SPACE_UNSURE);
	ck_assert_int_eq(add(&w, 52), PDET_SPACE_SHARED);
	ck_assert_uint_eq(w.spaces.with, 51);
	ck_assert_int_eq(add(&w, 71), PDET_SPACE_SHARED);
	ck_assert_uint_eq(w.spaces.with, 70);
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
	ck_assert(!pdet_spaces_may_have(&w.spaces, &w.session, &t));
	pdet_spaces_free(&w.spaces);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spaces");

	unit_loop(s, each_counts_once, 3);
	unit_test(s, few_are_compared);
	unit_test(s, without_an_order);
	unit_loop(s, some_keys_are_hidden, 2);
	unit_loop(s, a_member_changes, 28);
	unit_loop(s, the_task_changes, 4);
	unit_loop(s, all_remain, 2);
	unit_loop(s, a_number_is_given_again, 2);
	unit_test(s, none_is_told);
	return unit_main(s);
}
