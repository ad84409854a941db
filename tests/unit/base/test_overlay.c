/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests layers against an array into which each of them was copied. */
#include <errno.h>

#include "base/env.h"
#include "base/overlay.h"
#include "../unit.h"

#define SPAN 200
#define NOTHING UINT32_MAX

static void paint(uint32_t *truth, uint64_t *height,
		  const struct pdet_layer *layers, size_t n)
{
	uint64_t at;
	size_t i;

	for (at = 0; at < SPAN; at++) {
		truth[at] = NOTHING;
		height[at] = 0;
	}
	for (i = 0; i < n; i++)
		for (at = layers[i].first; at <= layers[i].last; at++)
			if (truth[at] == NOTHING ||
			    layers[i].height > height[at]) {
				truth[at] = layers[i].what;
				height[at] = layers[i].height;
			}
}

static void compare(const struct pdet_overlay *o, const uint32_t *truth)
{
	const struct pdet_piece *p;
	uint64_t at;
	size_t i;

	for (i = 0; i + 1 < o->n; i++) {
		ck_assert_uint_lt(o->data[i].last, o->data[i + 1].first);
		ck_assert(o->data[i].what != o->data[i + 1].what ||
			  o->data[i].last + 1 < o->data[i + 1].first);
	}
	for (at = 0; at < SPAN; at++) {
		p = pdet_overlay_find(o, at);
		if (truth[at] == NOTHING) {
			ck_assert(!p || p->first > at);
			continue;
		}
		ck_assert_ptr_nonnull(p);
		ck_assert(p->first <= at && p->last >= at);
		ck_assert_uint_eq(p->what, truth[at]);
	}
}

START_TEST(the_highest_is_seen)
{
	struct pdet_layer layers[40];
	uint32_t truth[SPAN];
	uint64_t height[SPAN], state = 5;
	unsigned round;

	for (round = 0; round < 3000; round++) {
		struct pdet_overlay o;
		size_t n = unit_random(&state) % PDET_COUNT(layers), i;

		for (i = 0; i < n; i++) {
			uint64_t first = unit_random(&state) % SPAN;
			uint64_t len = unit_random(&state) %
				(round % 2 ? 20 : SPAN);

			layers[i] = (struct pdet_layer){
				.first = first,
				.last = PDET_MIN(first + len, SPAN - 1),
				/* all different */
				.height = unit_random(&state) % 1000 * 64 + i,
				.what = (uint32_t)(unit_random(&state) % 8)
			};
		}
		paint(truth, height, layers, n);
		ck_assert_int_eq(pdet_overlay_make(&o, layers, n), 0);
		compare(&o, truth);
		free(o.data);
	}
}
END_TEST

START_TEST(numbers_may_end)
{
	struct pdet_layer layers[] = {
		{ 0, UINT64_MAX, 1, 1 },
		{ UINT64_MAX - 1, UINT64_MAX, 2, 2 },
		{ 5, 5, 3, 3 },
	};
	struct pdet_overlay o;

	ck_assert_int_eq(pdet_overlay_make(&o, layers, 3), 0);
	ck_assert_uint_eq(o.n, 4);
	ck_assert_uint_eq(pdet_overlay_find(&o, 0)->last, 4);
	ck_assert_uint_eq(pdet_overlay_find(&o, 5)->what, 3);
	ck_assert_uint_eq(pdet_overlay_find(&o, UINT64_MAX)->what, 2);
	ck_assert_uint_eq(pdet_overlay_find(&o, UINT64_MAX)->first,
			  UINT64_MAX - 1);
	free(o.data);
}
END_TEST

START_TEST(nothing_is_nothing)
{
	struct pdet_overlay o;

	ck_assert_int_eq(pdet_overlay_make(&o, NULL, 0), 0);
	ck_assert_uint_eq(o.n, 0);
	ck_assert_ptr_null(pdet_overlay_find(&o, 0));
	free(o.data);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("overlay");

	unit_test(suite, the_highest_is_seen);
	unit_test(suite, numbers_may_end);
	unit_test(suite, nothing_is_nothing);
	return unit_main(suite);
}
