/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests groups of what the kernel has added up, without frees and with them. */
#include <errno.h>

#include "allocs/allocs.h"
#include "base/vec.h"
#include "../unit.h"

static struct pdet_env env;

static void add(struct pdet_kmem_sums *s, unsigned kind, uint64_t site,
		uint64_t times, uint64_t failed)
{
	const struct pdet_kmem_sum one = {
		.keys = { .kind = (uint8_t)kind, .site = site, .pid = -1,
			  .gfp = PDET_KMEM_NO_GFP,
			  .node = PDET_KMEM_NO_NUMBER,
			  .migratetype = PDET_KMEM_NO_NUMBER },
		.times = times, .requested = times * 100,
		.allocated = times * 128, .failed = failed,
	};

	ck_assert(pdet_vec_push(&s->rows, one));
}

static struct pdet_allocs *group(const uint32_t *by, uint64_t n,
				 struct pdet_kmem_sums *from)
{
	static char no_root[1];
	struct pdet_allocs *a;

	env.root = no_root;
	ck_assert_int_eq(pdet_allocs_from_sums(&env, by, n, from, &a), 0);
	pdet_vec_free(&from->rows);
	return a;
}

START_TEST(rows_with_the_same_keys_are_one_group)
{
	static const uint32_t by[] = { PAGEDET_ALLOC_FAMILY };
	struct pdet_kmem_sums s = { .begin_ns = 5, .end_ns = 9, .lost = 4,
				    .uncounted = 2 };
	struct pagedet_alloc_group g;
	struct pagedet_allocs_total t;
	struct pdet_allocs *a;

	add(&s, PDET_KMEM_KMALLOC, 0x1000, 3, 1);
	add(&s, PDET_KMEM_CACHE_ALLOC, 0x1000, 1, 0);
	add(&s, PDET_KMEM_KMALLOC, 0x2000, 4, 0);
	a = group(by, 1, &s);
	ck_assert_int_eq(pdet_allocs_next(a, &g), 1);
	ck_assert_uint_eq(g.times, 7);
	ck_assert_uint_eq(g.requested, 700);
	ck_assert_uint_eq(g.allocated, 896);
	ck_assert_uint_eq(g.failed, 1);
	ck_assert_int_eq(pdet_allocs_next(a, &g), 1);
	ck_assert_uint_eq(g.times, 1);
	ck_assert_int_eq(pdet_allocs_next(a, &g), 0);
	pdet_allocs_total(a, &t);
	ck_assert_uint_eq(t.events, 9);
	ck_assert_uint_eq(t.lost, 4);
	ck_assert_uint_eq(t.uncounted, 2);
	ck_assert_uint_eq(t.begin_ns, 5);
	ck_assert_uint_eq(t.end_ns, 9);
	ck_assert_uint_eq(t.no_frees, 1);
	ck_assert_uint_eq(t.no_events, 1);
	pdet_allocs_free(a);
}
END_TEST

START_TEST(what_needs_frees_is_refused)
{
	static const char *const sums[] = { "live", "live_bytes", "freed",
					    "cross_cpu", "lifetime_ns",
					    "verified_live_bytes" };
	static const uint32_t by[] = { PAGEDET_ALLOC_SITE };
	struct pdet_kmem_sums s = { .lost = 0 };
	struct pdet_allocs *a;
	size_t i;

	add(&s, PDET_KMEM_KMALLOC, 0x1000, 3, 0);
	a = group(by, 1, &s);
	for (i = 0; i < PDET_COUNT(sums); i++)
		ck_assert_int_eq(pdet_allocs_order(a, &env, sums[i]), -EINVAL);
	ck_assert_int_eq(pdet_allocs_order(a, &env, "-waste,site"), 0);
	ck_assert_int_eq(pdet_allocs_compare(a, &env, a), -EINVAL);
	ck_assert_int_eq(pdet_allocs_need_events(a, &env), -EINVAL);
	pdet_allocs_free(a);
}
END_TEST

START_TEST(nothing_was_allocated)
{
	static const uint32_t by[] = { PAGEDET_ALLOC_SITE };
	struct pdet_kmem_sums s = { .lost = 0 };
	struct pagedet_alloc_group g;
	struct pdet_allocs *a = group(by, 1, &s);

	ck_assert_int_eq(pdet_allocs_next(a, &g), 0);
	pdet_allocs_free(a);
}
END_TEST

static void add_paired(struct pdet_kmem_sums *s, uint64_t freed,
		       uint64_t untracked)
{
	struct pdet_kmem_sum *sum;

	add(s, PDET_KMEM_KMALLOC, 0x1000, 10, 0);
	sum = &s->rows.data[s->rows.n - 1];
	sum->freed = freed;
	sum->cross_cpu = 2;
	sum->mismatched = 1;
	sum->replaced = 1;
	sum->untracked = untracked;
	sum->gone = (freed + 1 + untracked) * 128;
	s->has_frees = true;
}

START_TEST(the_rest_of_what_is_freed_is_live)
{
	static const uint32_t by[] = { PAGEDET_ALLOC_SITE };
	struct pdet_kmem_sums s = { .freed_unknown = { 5, 6 },
				    .freed_nothing = 7 };
	struct pagedet_alloc_group g;
	struct pagedet_allocs_total t;
	struct pdet_allocs *a;

	add_paired(&s, 4, 0);
	add_paired(&s, 6, 0);
	a = group(by, 1, &s);
	ck_assert_int_eq(pdet_allocs_order(a, &env, "live_bytes,freed"), 0);
	ck_assert_int_eq(pdet_allocs_order(a, &env, "lifetime_ns"), -EINVAL);
	ck_assert_int_eq(pdet_allocs_next(a, &g), 1);
	ck_assert_uint_eq(g.times, 20);
	ck_assert_uint_eq(g.freed, 10);
	ck_assert_uint_eq(g.replaced, 2);
	ck_assert_uint_eq(g.live, 8);
	ck_assert_uint_eq(g.live_bytes, 8 * 128);
	ck_assert_uint_eq(g.cross_cpu, 4);
	ck_assert_uint_eq(g.mismatched, 2);
	pdet_allocs_total(a, &t);
	ck_assert_uint_eq(t.no_frees, 0);
	ck_assert_uint_eq(t.no_events, 1);
	ck_assert_uint_eq(t.events, 30);
	ck_assert_uint_eq(t.freed_unknown, 5);
	ck_assert_uint_eq(t.pages_unknown, 6);
	ck_assert_uint_eq(t.freed_nothing, 7);
	ck_assert_uint_eq(t.untracked, 0);
	ck_assert_int_eq(pdet_allocs_compare(a, &env, a), -EINVAL);
	ck_assert_int_eq(pdet_allocs_need_events(a, &env), -EINVAL);
	pdet_allocs_free(a);
}
END_TEST

/* Then frees of unknown objects may be theirs. */
START_TEST(what_had_no_room)
{
	static const uint32_t by[] = { PAGEDET_ALLOC_SITE };
	struct pdet_kmem_sums s = { .freed_unknown = { 5, 6 },
				    .freed_nothing = 7, .untracked = 4 };
	struct pagedet_alloc_group g;
	struct pagedet_allocs_total t;
	struct pdet_allocs *a;

	add_paired(&s, 4, 3);
	a = group(by, 1, &s);
	ck_assert_int_eq(pdet_allocs_next(a, &g), 1);
	ck_assert_uint_eq(g.live, 2);
	ck_assert_uint_eq(g.live_bytes, 2 * 128);
	ck_assert_uint_eq(g.untracked, 3);
	pdet_allocs_total(a, &t);
	ck_assert_uint_eq(t.untracked, 7);
	ck_assert_uint_eq(t.freed_unknown, 0);
	ck_assert_uint_eq(t.pages_unknown, 0);
	ck_assert_uint_eq(t.freed_nothing, 7);
	pdet_allocs_free(a);
}
END_TEST

/* A kernel that counts wrong makes nothing live that is not there. */
START_TEST(more_is_freed_than_allocated)
{
	static const uint32_t by[] = { PAGEDET_ALLOC_SITE };
	struct pdet_kmem_sums s = { .lost = 0 };
	struct pagedet_alloc_group g;
	struct pdet_allocs *a;

	add_paired(&s, 11, 0);
	a = group(by, 1, &s);
	ck_assert_int_eq(pdet_allocs_next(a, &g), 1);
	ck_assert_uint_eq(g.live, 0);
	ck_assert_uint_eq(g.live_bytes, 0);
	pdet_allocs_free(a);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sums");

	unit_test(s, rows_with_the_same_keys_are_one_group);
	unit_test(s, what_needs_frees_is_refused);
	unit_test(s, nothing_was_allocated);
	unit_test(s, the_rest_of_what_is_freed_is_live);
	unit_test(s, what_had_no_room);
	unit_test(s, more_is_freed_than_allocated);
	return unit_main(s);
}
