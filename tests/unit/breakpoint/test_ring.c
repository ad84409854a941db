/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the ring of the kernel: samples, losses, and records that cannot be. */
#include <linux/perf_event.h>

#include "../unit.h"
#include "breakpoint/ring.h"

#define SIZE 256u

static unsigned char data[SIZE];
static const struct pdet_bp_ring ring = { data, SIZE };

struct seen {
	unsigned n;
	struct pdet_bp_sample last;
};

static void visit(void *arg, const struct pdet_bp_sample *s)
{
	struct seen *seen = arg;

	seen->n++;
	seen->last = *s;
}

static void put(uint64_t at, const void *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		data[(at + i) % SIZE] = ((const unsigned char *)from)[i];
}

static uint64_t put_head(uint64_t at, uint32_t type, uint16_t size)
{
	const struct perf_event_header h = { type, 0, size };

	put(at, &h, sizeof(h));
	return at + sizeof(h);
}

static uint64_t put_sample(uint64_t at, uint64_t ip)
{
	const uint64_t v[] = { 7, ip, 0x200000001, 99 };

	at = put_head(at, PERF_RECORD_SAMPLE, 40);
	put(at, v, sizeof(v));
	return at + sizeof(v);
}

static uint64_t put_lost(uint64_t at, uint64_t n)
{
	const uint64_t v[] = { 7, n };

	at = put_head(at, PERF_RECORD_LOST, 24);
	put(at, v, sizeof(v));
	return at + sizeof(v);
}

START_TEST(samples)
{
	/* The last one goes on at the begin. */
	const uint64_t tail = 5 * SIZE - 64 - 24;
	struct pdet_bp_seen all = { 0 };
	struct seen seen = { 0 };
	uint64_t at = put_sample(tail, 1);

	at = put_lost(at, 3);
	at = put_sample(at, 2);
	pdet_bp_ring_take(&ring, tail, at, visit, &seen, &all);
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_uint_eq(all.samples, 2);
	ck_assert_uint_eq(all.lost, 3);
	ck_assert_uint_eq(all.broken, 0);
	ck_assert_uint_eq(seen.last.id, 7);
	ck_assert_uint_eq(seen.last.ip, 2);
	ck_assert_uint_eq(seen.last.pid, 1);
	ck_assert_uint_eq(seen.last.tid, 2);
	ck_assert_uint_eq(seen.last.time, 99);
}
END_TEST

START_TEST(unknown)
{
	struct pdet_bp_seen all = { 0 };
	struct seen seen = { 0 };
	uint64_t at = put_head(0, 9999, 16);

	at = put_sample(at + 8, 5);
	pdet_bp_ring_take(&ring, 0, at, visit, &seen, &all);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(all.broken, 0);
}
END_TEST

START_TEST(empty)
{
	struct pdet_bp_seen all = { 0 };
	struct seen seen = { 0 };

	pdet_bp_ring_take(&ring, 1000, 1000, visit, &seen, &all);
	ck_assert_uint_eq(seen.n + all.samples + all.lost + all.broken, 0);
}
END_TEST

/* What comes before such a record counts, and nothing behind it. */
START_TEST(broken)
{
	static const struct {
		uint32_t type;
		uint16_t size;
	} bad[] = {
		{ PERF_RECORD_SAMPLE, 0 },	/* it would be endless */
		{ PERF_RECORD_SAMPLE, 7 },
		{ PERF_RECORD_SAMPLE, 36 },	/* not a multiple of 8 */
		{ PERF_RECORD_SAMPLE, 32 },	/* too short for a sample */
		{ PERF_RECORD_SAMPLE, 48 },	/* past the head */
		{ PERF_RECORD_LOST, 16 },	/* too short for a count */
		{ 9999, 65528 }, { 9999, 4 },
	};
	struct pdet_bp_seen all = { 0 };
	struct seen seen = { 0 };
	const uint64_t at = put_sample(0, 1);

	put_sample(at, 2);
	put_head(at, bad[_i].type, bad[_i].size);
	pdet_bp_ring_take(&ring, 0, at + 40, visit, &seen, &all);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(all.samples, 1);
	ck_assert_uint_eq(all.broken, 1);
}
END_TEST

START_TEST(cut)
{
	struct pdet_bp_seen all = { 0 };
	struct seen seen = { 0 };

	put_sample(0, 1);
	pdet_bp_ring_take(&ring, 0, (uint64_t)_i, visit, &seen, &all);
	ck_assert_uint_eq(seen.n, 0);
	ck_assert_uint_eq(all.broken, _i > 0);
}
END_TEST

START_TEST(overrun)
{
	struct pdet_bp_seen all = { 0 };
	struct seen seen = { 0 };

	put_sample(0, 1);
	pdet_bp_ring_take(&ring, 0, SIZE + 8, visit, &seen, &all);
	pdet_bp_ring_take(&ring, 40, 0, visit, &seen, &all);
	ck_assert_uint_eq(seen.n, 0);
	ck_assert_uint_eq(all.broken, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ring");

	unit_test(s, samples);
	unit_test(s, unknown);
	unit_test(s, empty);
	unit_loop(s, broken, 8);
	unit_loop(s, cut, 40);
	unit_test(s, overrun);
	return unit_main(s);
}
