/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which numbers of a sequence are missing, whatever their order. */
#include "base/vec.h"
#include "trace/kmem.h"
#include "trace/old/holes.h"
#include "../unit.h"

#define NUMBERS 300u

static struct pdet_old_holes holes;

static void add(uint64_t number)
{
	ck_assert(pdet_old_holes_add(&holes, number));
}

static void hole(size_t i, uint64_t first, uint64_t last)
{
	ck_assert_uint_lt(i, holes.list.n);
	ck_assert_uint_eq(holes.list.data[i].first, first);
	ck_assert_uint_eq(holes.list.data[i].last, last);
}

START_TEST(in_order)
{
	memset(&holes, 0, sizeof(holes));
	ck_assert(pdet_old_holes_end(&holes));
	ck_assert_uint_eq(holes.list.n, 0);
	add(5);
	add(6);
	add(8);
	add(12);
	ck_assert(pdet_old_holes_end(&holes));
	ck_assert_uint_eq(holes.list.n, 2);
	hole(0, 7, 7);
	hole(1, 9, 11);
	pdet_old_holes_free(&holes);
}
END_TEST

/* What comes late was not lost; one number may come twice. */
START_TEST(late)
{
	memset(&holes, 0, sizeof(holes));
	add(10);
	add(20);
	add(15);
	add(11);
	add(19);
	add(15);
	add(7);
	add(20);
	ck_assert(pdet_old_holes_end(&holes));
	ck_assert_uint_eq(holes.list.n, 3);
	hole(0, 8, 9);
	hole(1, 12, 14);
	hole(2, 16, 18);
	pdet_old_holes_free(&holes);
}
END_TEST

static void check_all(const bool *has, unsigned first, unsigned last)
{
	size_t at = 0;
	unsigned i, end;

	for (i = first; i <= last; i = end + 1) {
		end = i;
		if (has[i])
			continue;
		while (!has[end + 1])
			end++;
		hole(at++, i, end);
	}
	ck_assert_uint_eq(holes.list.n, at);
}

START_TEST(any_order)
{
	unsigned round, i, number, first, last;

	srand(1);
	for (round = 0; round < 300; round++) {
		bool has[NUMBERS + 1] = { false };

		memset(&holes, 0, sizeof(holes));
		first = NUMBERS;
		last = 0;
		for (i = 0; i <= round; i++) {
			number = 1 + (unsigned)rand() % (NUMBERS - 1);
			has[number] = true;
			first = number < first ? number : first;
			last = number > last ? number : last;
			add(number);
		}
		ck_assert(pdet_old_holes_end(&holes));
		check_all(has, first, last);
		pdet_old_holes_free(&holes);
	}
}
END_TEST

/* Bits are kept of parts that are not complete, and no others. */
START_TEST(parts)
{
	const uint64_t from = ((uint64_t)1 << 32) - 100;
	uint64_t i;

	memset(&holes, 0, sizeof(holes));
	for (i = 0; i < 1000000; i++)
		if (i != 3 && i != 500000)
			add(from + (i ^ 1));
	ck_assert_uint_le(holes.with_bits, 4);
	ck_assert(pdet_old_holes_end(&holes));
	ck_assert_uint_eq(holes.list.n, 2);
	hole(0, from + 2, from + 2);
	hole(1, from + 500001, from + 500001);
	pdet_old_holes_free(&holes);
}
END_TEST

/* So many parts do not come from a kernel. None of them is called lost. */
START_TEST(many_parts)
{
	uint64_t i;

	memset(&holes, 0, sizeof(holes));
	for (i = 1; i < 20000; i++)
		add(i << 20);
	ck_assert(holes.unknown);
	add(1 << 20);
	ck_assert(pdet_old_holes_end(&holes));
	ck_assert_uint_eq(holes.list.n, 0);
	pdet_old_holes_free(&holes);
}
END_TEST

static int find(void *arg, struct pdet_old_holes *h)
{
	const int *now = arg;
	unsigned i;

	for (i = 0; i < 1000; i++)
		ck_assert(pdet_old_holes_add(h, 10 + 4 * i));
	return *now;
}

/* How many are lost is known without their rows. */
START_TEST(later)
{
	int now = 0;
	struct pdet_trace_stream *s = pdet_old_losses(find, &now);

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(s->more(s), 0);
	ck_assert_uint_eq(s->loss.lost, 0);
	ck_assert_uint_eq(s->loss.unknown, 1);
	ck_assert(pdet_old_losses_end(s));
	ck_assert_uint_eq(s->loss.lost, 3 * 999);
	ck_assert_uint_eq(s->loss.lost_ns, 10);
	ck_assert_uint_eq(s->loss.unknown, 0);
	s->close(s);
}
END_TEST

START_TEST(stream)
{
	uint64_t lost = 0, last = 0;
	int now = 1;
	struct pdet_trace_stream *s = pdet_old_losses(find, &now);
	size_t i;

	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(s->more(s), 1);
	ck_assert_uint_eq(s->loss.lost, 3 * 999);
	ck_assert_uint_eq(s->loss.lost_ns, 10);
	ck_assert_uint_eq(s->loss.unknown, 0);
	do
		for (i = 0; i < s->piece.n; i++) {
			const struct pdet_kmem_event *e = s->piece.data[i];

			ck_assert_uint_eq(e->kind, PDET_KMEM_LOST);
			ck_assert_uint_eq(e->object, 3);
			ck_assert_int_eq(e->node, PDET_KMEM_NO_NUMBER);
			ck_assert_uint_eq(e->ns - e->requested, 3);
			ck_assert_uint_gt(e->ns, last);
			last = e->ns;
			lost += e->object;
		}
	while (s->piece.n = 0, s->more(s) > 0);
	ck_assert_uint_eq(lost, s->loss.lost);
	s->close(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("holes");

	unit_test(s, in_order);
	unit_test(s, late);
	unit_test(s, any_order);
	unit_test(s, parts);
	unit_test(s, many_parts);
	unit_test(s, later);
	unit_test(s, stream);
	return unit_main(s);
}
