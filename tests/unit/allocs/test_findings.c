/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the list of what is wrong with a trace. */
#include "allocs/findings.h"
#include "pagedet.h"
#include "../unit.h"

static struct pdet_alloc_findings f;

static void add(uint32_t kind, unsigned cpu, uint64_t ns, uint32_t group)
{
	const struct pdet_alloc_finding one = {
		.kind = kind, .has_cpu = true, .has_group = true,
		.cpu = (uint16_t)cpu, .group = group, .times = 1,
		.first_ns = ns,
	};

	ck_assert(pdet_findings_add(&f, &one));
}

START_TEST(the_first_of_each)
{
	const struct pdet_alloc_finding *one;

	add(PAGEDET_FOUND_TOO_SMALL, 3, 50, 7);
	add(PAGEDET_FOUND_KFREE, 65535, 60, 8);
	add(PAGEDET_FOUND_TOO_SMALL, 3, 70, 9);
	add(PAGEDET_FOUND_TOO_SMALL, 0, 80, 10);
	one = pdet_findings_get(&f, 0);
	ck_assert_uint_eq(one->kind, PAGEDET_FOUND_KFREE);
	ck_assert_uint_eq(one->cpu, 65535);
	one = pdet_findings_get(&f, 1);
	ck_assert_uint_eq(one->cpu, 0);
	ck_assert_uint_eq(one->group, 10);
	one = pdet_findings_get(&f, 2);
	ck_assert_uint_eq(one->cpu, 3);
	ck_assert_uint_eq(one->times, 2);
	ck_assert_uint_eq(one->first_ns, 50);
	ck_assert_uint_eq(one->group, 7);
	ck_assert_ptr_null(pdet_findings_get(&f, 3));
	pdet_findings_free(&f);
}
END_TEST

static void stream(const struct pdet_trace_loss *loss, int cpu)
{
	const struct pdet_trace_stream s = {
		.loss = *loss, .has_cpu = cpu >= 0,
		.cpu = (uint16_t)(cpu < 0 ? 5 : cpu),
	};

	ck_assert(pdet_findings_stream(&f, &s));
}

START_TEST(what_streams_lack)
{
	const struct pdet_alloc_finding *one;

	memset(&f, 0, sizeof(f));
	stream(&(struct pdet_trace_loss){ .other = 9 }, 0);
	ck_assert_ptr_null(pdet_findings_get(&f, 0));
	memset(&f, 0, sizeof(f));
	stream(&(struct pdet_trace_loss){ .lost = 3, .missing = 4,
					  .lost_ns = 77 }, 1);
	stream(&(struct pdet_trace_loss){ .lost = 5, .uncounted = 1 }, 2);
	stream(&(struct pdet_trace_loss){ .unknown = 1, .cut = 100,
					  .damaged = 2, .strange = 6 }, 3);
	stream(&(struct pdet_trace_loss){ .disorder = 8, .disorder_ns = 66 },
	       -1);
	one = pdet_findings_get(&f, 0);
	ck_assert_uint_eq(one->kind, PAGEDET_FOUND_DISORDER);
	ck_assert(!one->has_cpu && !one->uncounted);
	ck_assert_uint_eq(one->times, 8);
	ck_assert_uint_eq(one->first_ns, 66);
	one = pdet_findings_get(&f, 1);
	ck_assert_uint_eq(one->kind, PAGEDET_FOUND_LOST);
	ck_assert(one->has_cpu && !one->uncounted);
	ck_assert_uint_eq(one->cpu, 1);
	ck_assert_uint_eq(one->times, 7);
	ck_assert_uint_eq(one->first_ns, 77);
	one = pdet_findings_get(&f, 2);
	ck_assert(one->has_cpu && one->uncounted);
	ck_assert_uint_eq(one->times, 5);
	one = pdet_findings_get(&f, 3);
	ck_assert(one->has_cpu && one->uncounted);
	ck_assert_uint_eq(one->cpu, 3);
	ck_assert_uint_eq(one->times, 0);
	one = pdet_findings_get(&f, 4);
	ck_assert_uint_eq(one->kind, PAGEDET_FOUND_CUT);
	ck_assert_uint_eq(one->cpu, 3);
	ck_assert_uint_eq(one->times, 3);
	one = pdet_findings_get(&f, 5);
	ck_assert_uint_eq(one->kind, PAGEDET_FOUND_FORMAT);
	ck_assert_uint_eq(one->times, 6);
	ck_assert_ptr_null(pdet_findings_get(&f, 6));
	pdet_findings_free(&f);
}
END_TEST

START_TEST(many_processors)
{
	unsigned cpu, again;
	size_t i;

	memset(&f, 0, sizeof(f));
	for (again = 0; again < 3; again++)
		for (cpu = 0; cpu < 65536; cpu++)
			add(PAGEDET_FOUND_CACHE_FREE, 65535 - cpu, cpu, cpu);
	for (i = 0; i < 65536; i++) {
		ck_assert_uint_eq(pdet_findings_get(&f, i)->cpu, i);
		ck_assert_uint_eq(pdet_findings_get(&f, i)->times, 3);
	}
	ck_assert_ptr_null(pdet_findings_get(&f, i));
	pdet_findings_free(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("findings");

	unit_test(s, the_first_of_each);
	unit_test(s, what_streams_lack);
	unit_test(s, many_processors);
	return unit_main(s);
}
