/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the stacks of events: which callers belong to one, and how many fit. */
#include <endian.h>
#include <linux/perf_event.h>

#include "trace/perf/sample.h"
#include "trace/stacks.h"
#include "../unit.h"

#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER ((uint64_t)PERF_CONTEXT_USER)
#define GUEST ((uint64_t)PERF_CONTEXT_GUEST_KERNEL)

START_TEST(each_once)
{
	static const uint64_t a[] = { 1, 2, 3 }, b[] = { 1, 2 };
	struct pdet_trace_stacks s = { 0 };
	uint32_t first, second, again;
	size_t n;

	ck_assert(pdet_trace_stacks_add(&s, a, 3, &first));
	ck_assert(pdet_trace_stacks_add(&s, b, 2, &second));
	ck_assert(pdet_trace_stacks_add(&s, a, 3, &again));
	ck_assert_uint_eq(first, again);
	ck_assert_uint_ne(first, second);
	ck_assert_uint_ne(first, PDET_STACK_NONE);
	ck_assert_uint_eq(pdet_trace_stacks_get(&s, second, &n)[1], 2);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(pdet_trace_stacks_get(&s, first, &n)[2], 3);
	ck_assert_uint_eq(n, 3);
	ck_assert(pdet_trace_stacks_add(&s, a, 0, &again));
	ck_assert_uint_eq(again, PDET_STACK_NONE);
	pdet_trace_stacks_free(&s);
}
END_TEST

START_TEST(too_many)
{
	static uint64_t frames[PDET_SAMPLE_FRAMES];
	struct pdet_trace_stacks s = { 0 };
	uint32_t number = 0, i;

	for (i = 0; i < 2000 && number != PDET_STACK_TOO_MANY; i++) {
		frames[0] = i;
		ck_assert(pdet_trace_stacks_add(&s, frames, PDET_SAMPLE_FRAMES,
						&number));
	}
	ck_assert_uint_eq(number, PDET_STACK_TOO_MANY);
	ck_assert_uint_le(s.frames.n, (size_t)8 << 20);
	frames[0] = 0;
	ck_assert(pdet_trace_stacks_add(&s, frames, PDET_SAMPLE_FRAMES,
					&number));
	ck_assert_uint_eq(number, 1);
	pdet_trace_stacks_free(&s);
}
END_TEST

static size_t frames_of(const uint64_t *chain, uint32_t n, bool big_endian,
			uint64_t *ret)
{
	const struct pdet_sample sample = {
		.chain = (const unsigned char *)chain, .n_chain = n,
	};

	return pdet_sample_frames(&sample, big_endian, ret);
}

START_TEST(kernel_only)
{
	const uint64_t chain[] = {
		htole64(7), htole64(KERNEL), htole64(1), htole64(2),
		htole64(GUEST), htole64(4), htole64(KERNEL), htole64(5),
		htole64(USER), htole64(3), htole64(KERNEL), htole64(8),
	};
	const uint64_t big[] = { htobe64(KERNEL), htobe64(6) };
	static uint64_t ret[PDET_SAMPLE_FRAMES];

	ck_assert_uint_eq(frames_of(chain, 12, false, ret), 3);
	ck_assert_uint_eq(ret[0], 1);
	ck_assert_uint_eq(ret[1], 2);
	ck_assert_uint_eq(ret[2], 5);
	ck_assert_uint_eq(frames_of(big, 2, true, ret), 1);
	ck_assert_uint_eq(ret[0], 6);
	ck_assert_uint_eq(frames_of(NULL, 0, false, ret), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stacks");

	unit_test(s, each_once);
	unit_test(s, too_many);
	unit_test(s, kernel_only);
	return unit_main(s);
}
