/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the matching of groups of two traces, above all which addresses mean
 * the same place in both.
 */
#include "allocs/compare.h"
#include "../unit.h"

#define INSIDE 0xffffffff81000100u
#define MODULE 0xffffffffc0000100u

struct trace {
	struct pdet_alloc_keys keys;
	struct pdet_alloc_sums sums;
	struct pdet_trace_kernel kernel;
};

static struct trace kernel_at(uint64_t address, uint64_t end)
{
	return (struct trace){
		.keys = { .by = { PAGEDET_ALLOC_SITE, PAGEDET_ALLOC_CPU },
			  .groups = { .n_keys = 2 } },
		.kernel = { "_text", address, end },
	};
}

static void add(struct trace *t, uint64_t site, uint16_t cpu, uint64_t times)
{
	const struct pdet_kmem_event e = {
		.kind = PDET_KMEM_KMALLOC, .site = site, .cpu = cpu,
	};
	const struct pdet_alloc_parts sum = {
		.of[PDET_OF_OBJECTS].times = times
	};

	ck_assert_int_eq(pdet_alloc_keys_group(&t->keys, &e),
			 (int64_t)t->sums.n);
	ck_assert(pdet_vec_push(&t->sums, sum));
}

/* Matches, and frees the trace before. */
static struct pdet_alloc_matching match(struct trace *now, struct trace *before)
{
	struct pdet_alloc_matching m = {
		&now->keys, &now->sums, &now->kernel, &before->keys,
		&before->sums, &before->kernel, { 0 }, 0
	};

	ck_assert_int_eq(pdet_alloc_match(&m), 0);
	pdet_alloc_keys_free(&before->keys);
	pdet_vec_free(&before->sums);
	ck_assert_uint_eq(m.ret.n, now->sums.n);
	ck_assert_uint_eq(m.ret.n, now->keys.groups.n);
	return m;
}

static void end(struct trace *now, struct pdet_alloc_matching *m)
{
	pdet_vec_free(&m->ret);
	pdet_alloc_keys_free(&now->keys);
	pdet_vec_free(&now->sums);
}

START_TEST(one_place)
{
	struct trace now = kernel_at(0xffffffff81000000, 0xffffffff82000000);
	struct trace before = now;
	struct pdet_alloc_matching m;
	const char *text;
	size_t len;

	add(&now, INSIDE, 0, 1);
	add(&now, INSIDE, 1, 2);
	add(&before, INSIDE, 1, 3);
	add(&before, MODULE, 1, 4);
	add(&before, INSIDE, 2, 5);
	add(&before, INSIDE, 3, 0);	/* empty: not a group */
	m = match(&now, &before);
	ck_assert_uint_eq(m.unmatched, 1);
	ck_assert_uint_eq(m.ret.n, 4);
	ck_assert_uint_eq(m.ret.data[0].of[PDET_OF_OBJECTS].times, 0);
	ck_assert_uint_eq(m.ret.data[1].of[PDET_OF_OBJECTS].times, 3);
	ck_assert_uint_eq(m.ret.data[2].of[PDET_OF_OBJECTS].times, 4);
	ck_assert_uint_eq(m.ret.data[3].of[PDET_OF_OBJECTS].times, 5);
	ck_assert_uint_eq(now.sums.data[3].of[PDET_OF_OBJECTS].times, 0);
	text = pdet_groups_text(&now.keys.groups,
				pdet_groups_value(&now.keys.groups, 2)[0],
				&len);
	ck_assert_str_eq(text, "0xffffffffc0000100 (before)");
	end(&now, &m);
}
END_TEST

/* What is at another place, or is not known, is not the same. */
START_TEST(other_place)
{
	static const struct pdet_trace_kernel others[] = {
		{ "_text", 0xffffffff81000000, 0xffffffff82000010 },
		{ "_text", 0xffffffff80000000, 0xffffffff82000000 },
		{ "_stext", 0xffffffff81000000, 0xffffffff82000000 },
		{ "", 0, 0 },
	};
	struct trace now = kernel_at(0xffffffff81000000, 0xffffffff82000000);
	struct trace before = now;
	struct pdet_alloc_matching m;

	before.kernel = others[_i];
	add(&now, INSIDE, 0, 1);
	add(&before, INSIDE, 0, 2);
	m = match(&now, &before);
	ck_assert_uint_eq(m.unmatched, 1);
	ck_assert_uint_eq(m.ret.n, 2);
	ck_assert_uint_eq(m.ret.data[0].of[PDET_OF_OBJECTS].times, 0);
	ck_assert_uint_eq(m.ret.data[1].of[PDET_OF_OBJECTS].times, 2);
	end(&now, &m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("compare");

	unit_test(s, one_place);
	unit_loop(s, other_place, 4);
	return unit_main(s);
}
