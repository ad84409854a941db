/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the order of the events of two streams, and that a stop ends both. */
#include "base/vec.h"
#include "trace/merge.h"
#include "../unit.h"

/* Each stream has pieces of two events; the times of both alternate. */
#define PIECES 3

static struct made {
	struct pdet_trace_stream s;
	struct pdet_kmem_event events[2];
	unsigned pieces;
} made[2];
static struct pdet_trace_stream *streams[] = { &made[0].s, &made[1].s };
static unsigned asked, most;

static int more(struct pdet_trace_stream *s)
{
	struct made *m = (struct made *)s;
	unsigned i;

	if (m->pieces == PIECES)
		return 0;
	ck_assert(pdet_vec_reserve(&s->piece, 2));
	for (i = 0; i < 2; i++) {
		m->events[i] = (struct pdet_kmem_event){
			.ns = 4 * m->pieces + 2 * i + s->cpu,
			.cpu = s->cpu, .kind = PDET_KMEM_KFREE,
		};
		s->piece.data[s->piece.n++] = &m->events[i];
	}
	m->pieces++;
	return 1;
}

static bool stopped(void *arg)
{
	(void)arg;
	return ++asked > most;
}

/* Returns how many events came. */
static unsigned merge(void)
{
	struct pdet_trace_merge m = { .stopped = stopped };
	const struct pdet_kmem_event *const *e;
	unsigned i, n = 0;
	int got;

	asked = 0;
	for (i = 0; i < 2; i++) {
		memset(&made[i], 0, sizeof(made[i]));
		made[i].s.more = more;
		made[i].s.cpu = (uint16_t)i;
	}
	ck_assert_int_eq(pdet_trace_merge_begin(&m, streams, 2), 0);
	while ((got = pdet_trace_merge_next(&m, &e)) > 0)
		for (i = 0; i < (unsigned)got; i++)
			ck_assert_uint_eq(e[i]->ns, n++);
	ck_assert_int_eq(got, 0);
	pdet_trace_merge_end(&m);
	for (i = 0; i < 2; i++)
		pdet_vec_free(&made[i].s.piece);
	return n;
}

START_TEST(order)
{
	most = 1000;
	ck_assert_uint_eq(merge(), 4 * PIECES);
	ck_assert_uint_eq(made[0].s.loss.disorder + made[1].s.loss.disorder,
			  0);
}
END_TEST

/* The first stream is asked again when its piece of two is used up: the second
 * one still has an event, which must not come. */
START_TEST(stop)
{
	most = 2;
	ck_assert_uint_eq(merge(), 3);
	most = 0;
	ck_assert_uint_eq(merge(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("merge");

	unit_test(s, order);
	unit_test(s, stop);
	return unit_main(s);
}
