/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which events concern frames, and what they do, on events that were made
 * up, and on random ones that a slow model follows frame by frame. */
#include "allocs/pairing.h"
#include "allocs/timeline.h"
#include "../unit.h"

#define FIRST 160u
#define FRAMES 8u
#define SHIFT 12u
#define START 0xffff888000000000ull
#define AT(frame, offset) (START + ((uint64_t)(frame) << SHIFT) + (offset))

static struct pdet_timeline t;
static struct pdet_alloc_keys keys;

static void begin(size_t most, bool keeps_first)
{
	memset(&t, 0, sizeof(t));
	memset(&keys, 0, sizeof(keys));
	keys.by[0] = PAGEDET_ALLOC_CPU;
	keys.by[1] = PAGEDET_ALLOC_FAMILY;
	keys.by[2] = PAGEDET_ALLOC_GFP;
	keys.by[3] = PAGEDET_ALLOC_BYTES_REQ;
	keys.by[4] = PAGEDET_ALLOC_SITE;
	keys.groups.n_keys = 5;
	t.first = FIRST;
	t.frames = FRAMES;
	t.most = most;
	t.keeps_first = keeps_first;
	t.has_addresses = true;
	t.start = AT(FIRST, 0);
	t.bytes = FRAMES << SHIFT;
	t.direct = START;
	t.memory = (uint64_t)1 << 32;
	ck_assert_int_eq(pdet_timeline_begin(&t), 0);
}

static void add(unsigned kind, uint64_t ns, uint64_t object, uint64_t bytes)
{
	const struct pdet_kmem_event e = {
		.kind = (uint8_t)kind, .ns = ns, .object = object, .cpu = 3,
		.allocated = bytes, .requested = bytes, .gfp = 0xcc0,
	}, *events = &e;

	ck_assert_int_eq(pdet_timeline_add(&t, &keys, &events, 1), 0);
}

static void block(unsigned kind, uint64_t ns, uint64_t pfn, unsigned order)
{
	const struct pdet_kmem_event e = {
		.kind = (uint8_t)kind, .ns = ns, .object = pfn,
		.order = (uint8_t)order, .gfp = PDET_KMEM_NO_GFP,
	}, *events = &e;

	ck_assert_int_eq(pdet_timeline_add(&t, &keys, &events, 1), 0);
}

static void end(void)
{
	ck_assert_int_eq(pdet_timeline_end(&t, true), 0);
}

static void done(void)
{
	pdet_timeline_free(&t);
	pdet_alloc_keys_free(&keys);
}

static void is_row(size_t i, uint64_t ns, unsigned effect, uint64_t lifetime)
{
	ck_assert_uint_lt(i, t.n);
	ck_assert_uint_eq(t.rows[i].ns, ns);
	ck_assert_uint_eq(t.rows[i].effect, effect);
	ck_assert_uint_eq(t.rows[i].lifetime, lifetime);
}

#define NONE PDET_LIFETIME_UNKNOWN

START_TEST(blocks)
{
	begin(100, false);
	block(PDET_KMEM_PAGE_ALLOC, 10, FIRST - 8, 3);	/* ends before them */
	block(PDET_KMEM_PAGE_ALLOC, 11, FIRST - 32, 6);	/* has all of them */
	block(PDET_KMEM_PAGE_ALLOC, 12, FIRST + 8, 3);	/* behind them */
	block(PDET_KMEM_PAGE_BATCHED, 19, FIRST + 1, 0);
	block(PDET_KMEM_PAGE_FREE, 20, FIRST + 1, 0);	/* one of the block */
	block(PDET_KMEM_PAGE_FREE, 21, FIRST + 1, 0);	/* again */
	block(PDET_KMEM_PAGE_ALLOC, 22, FIRST + 1, 0);
	block(PDET_KMEM_PAGE_ALLOC, 30, FIRST + 2, 1);	/* no free */
	block(PDET_KMEM_PAGE_FREE, 40, FIRST, 2);	/* of several times */
	block(PDET_KMEM_PAGE_FREE, 41, FIRST + 4, 2);
	block(PDET_KMEM_PAGE_ALLOC, 50, 0, 0);		/* failed */
	block(PDET_KMEM_PAGE_ALLOC, 51, FIRST - 16, 200); /* not an order */
	block(PDET_KMEM_PAGE_ALLOC, 60, FIRST + 7, 0);
	block(PDET_KMEM_PAGE_FREE, 59, FIRST + 7, 0);	/* before it */
	end();
	is_row(0, 11, PAGEDET_EFFECT_ALLOCATED, NONE);
	is_row(1, 20, PAGEDET_EFFECT_FREED, 9);
	is_row(2, 21, PAGEDET_EFFECT_FREED_UNKNOWN, NONE);
	is_row(3, 22, PAGEDET_EFFECT_ALLOCATED, NONE);
	is_row(4, 30, PAGEDET_EFFECT_ALLOCATED_AGAIN, NONE);
	is_row(5, 40, PAGEDET_EFFECT_FREED, NONE);
	is_row(6, 41, PAGEDET_EFFECT_FREED, 30);
	is_row(7, 60, PAGEDET_EFFECT_ALLOCATED, NONE);
	is_row(8, 59, PAGEDET_EFFECT_FREED, NONE);
	ck_assert_uint_eq(t.n, 9);
	ck_assert_uint_eq(t.of_pages.events, 9);
	done();
}
END_TEST

START_TEST(objects)
{
	const uint64_t tagged = AT(FIRST, 64) & UINT64_MAX >> 8;

	begin(100, false);
	add(PDET_KMEM_KMALLOC, 10, AT(FIRST, 0), 64);
	add(PDET_KMEM_KMALLOC, 11, AT(FIRST, -64), 64);	/* ends before them */
	add(PDET_KMEM_KMALLOC, 12, AT(FIRST, -64), 65);	/* reaches them */
	add(PDET_KMEM_KFREE, 13, AT(FIRST, -32), 0);	/* another one */
	add(PDET_KMEM_KFREE, 14, AT(FIRST, -64), 0);
	add(PDET_KMEM_CACHE_ALLOC, 15, AT(FIRST + FRAMES, -8), 8);
	add(PDET_KMEM_CACHE_ALLOC, 16, AT(FIRST + FRAMES, 0), 8);
	add(PDET_KMEM_CACHE_FREE, 17, AT(FIRST + FRAMES, -8), 0);
	add(PDET_KMEM_CACHE_FREE, 18, AT(FIRST + FRAMES, -8), 0);
	add(PDET_KMEM_KMALLOC, 19, AT(FIRST, 0), 64);	/* again */
	add(PDET_KMEM_KMALLOC, 20, tagged, 64);
	add(PDET_KMEM_KMALLOC, 21, 0, 64);		/* failed */
	add(PDET_KMEM_KFREE, 22, 0, 0);
	add(PDET_KMEM_KFREE, 22, 16, 0);		/* of kmalloc(0) */
	add(PDET_KMEM_KMALLOC, 23, FIRST, 64);		/* a frame's number */
	end();
	is_row(0, 10, PAGEDET_EFFECT_OBJECT_ALLOCATED, NONE);
	is_row(1, 12, PAGEDET_EFFECT_OBJECT_ALLOCATED, NONE);
	is_row(2, 14, PAGEDET_EFFECT_OBJECT_FREED, 2);
	ck_assert_uint_eq(t.rows[2].bytes, 65);
	is_row(3, 15, PAGEDET_EFFECT_OBJECT_ALLOCATED, NONE);
	is_row(4, 17, PAGEDET_EFFECT_OBJECT_FREED, 2);
	is_row(5, 18, PAGEDET_EFFECT_OBJECT_UNKNOWN, NONE);
	ck_assert_uint_eq(t.rows[5].bytes, 0);
	is_row(6, 19, PAGEDET_EFFECT_OBJECT_AGAIN, NONE);
	is_row(7, 20, PAGEDET_EFFECT_OBJECT_ALLOCATED, NONE);
	ck_assert_uint_eq(t.n, 8);
	ck_assert_uint_eq(t.unplaced, 0);
	ck_assert_uint_eq(t.outside, 1);
	done();
}
END_TEST

/* An event of either family, and what an event of a free does not have. */
START_TEST(values)
{
	const uint64_t *value;
	const uint8_t *state;
	size_t len;

	begin(100, false);
	add(PDET_KMEM_KMALLOC, 10, AT(FIRST, 0), 64);
	add(PDET_KMEM_CACHE_FREE, 11, AT(FIRST, 0), 0);
	block(PDET_KMEM_PAGE_FREE, 12, FIRST, 0);
	end();
	ck_assert_uint_eq(t.n, 3);
	value = pdet_groups_value(&keys.groups, t.rows[0].group);
	state = pdet_groups_state(&keys.groups, t.rows[0].group);
	ck_assert_uint_eq(value[0], 3);
	ck_assert_str_eq(pdet_groups_text(&keys.groups, value[1], &len),
			 "kmalloc");
	ck_assert_uint_eq(value[2], 0xcc0);
	ck_assert_uint_eq(value[3], 64);
	ck_assert_uint_eq(state[4], PAGEDET_NONE);
	value = pdet_groups_value(&keys.groups, t.rows[1].group);
	state = pdet_groups_state(&keys.groups, t.rows[1].group);
	ck_assert_str_eq(pdet_groups_text(&keys.groups, value[1], &len),
			 "cache");
	ck_assert_uint_eq(state[2], PAGEDET_NONE);
	ck_assert_uint_eq(state[3], PAGEDET_NONE);
	ck_assert_uint_eq(state[4], PAGEDET_UNSUPPORTED);
	value = pdet_groups_value(&keys.groups, t.rows[2].group);
	state = pdet_groups_state(&keys.groups, t.rows[2].group);
	ck_assert_str_eq(pdet_groups_text(&keys.groups, value[1], &len),
			 "page");
	ck_assert_uint_eq(state[2], PAGEDET_NONE);
	ck_assert_uint_eq(state[4], PAGEDET_NONE);
	done();
}
END_TEST

START_TEST(of_another_boot)
{
	begin(100, false);
	block(PDET_KMEM_PAGE_ALLOC, 10, FIRST, 0);
	add(PDET_KMEM_KMALLOC, 11, AT(FIRST, 0), 64);
	add(PDET_KMEM_KMALLOC, 12, AT(FIRST + 100, 0), 64);
	block(PDET_KMEM_PAGE_FREE, 13, FIRST, 0);
	ck_assert_int_eq(pdet_timeline_end(&t, false), 0);
	is_row(0, 10, PAGEDET_EFFECT_ALLOCATED, NONE);
	is_row(1, 13, PAGEDET_EFFECT_FREED, 3);
	ck_assert_uint_eq(t.n, 2);
	ck_assert_uint_eq(t.of_objects.events, 0);
	ck_assert_uint_eq(t.unplaced, 2);
	done();
}
END_TEST

/* Twelve rows, of which objects are each third. */
static void fill(void)
{
	unsigned i;

	for (i = 0; i < 12; i++)
		if (i % 3)
			block(i % 2 ? PDET_KMEM_PAGE_ALLOC :
				      PDET_KMEM_PAGE_FREE, i, FIRST, 0);
		else
			add(PDET_KMEM_KMALLOC, i, AT(FIRST, 64 * i), 64);
	end();
}

START_TEST(too_many)
{
	static const size_t mosts[] = { 1, 2, 5, 11, 12, 13 };
	size_t i, k;

	for (i = 0; i < PDET_COUNT(mosts); i++) {
		const size_t kept = PDET_MIN(mosts[i], (size_t)12);

		begin(mosts[i], false);
		fill();
		ck_assert_uint_eq(t.n, kept);
		for (k = 0; k < kept; k++)
			ck_assert_uint_eq(t.rows[k].ns, 12 - kept + k);
		ck_assert_uint_eq(t.of_pages.events + t.of_objects.events, 12);
		done();
		begin(mosts[i], true);
		fill();
		ck_assert_uint_eq(t.n, kept);
		for (k = 0; k < kept; k++)
			ck_assert_uint_eq(t.rows[k].ns, k);
		ck_assert_uint_eq(t.of_pages.events + t.of_objects.events, 12);
		done();
	}
}
END_TEST

START_TEST(losses)
{
	begin(100, false);
	add(PDET_KMEM_LOST, 5, 7, 0);
	block(PDET_KMEM_PAGE_ALLOC, 10, FIRST, 0);
	add(PDET_KMEM_LOST, 11, 3, 0);
	block(PDET_KMEM_PAGE_ALLOC, 12, FIRST + 100, 0);
	add(PDET_KMEM_LOST, 13, 4, 0);
	add(PDET_KMEM_KMALLOC, 14, AT(FIRST, 0), 64);
	add(PDET_KMEM_LOST, 15, 3, 0);
	add(PDET_KMEM_LOST, 16, UINT64_MAX, 0);
	end();
	is_row(0, 5, PAGEDET_EFFECT_LOST, NONE);
	ck_assert_uint_eq(t.rows[0].bytes, 7);
	is_row(1, 10, PAGEDET_EFFECT_ALLOCATED, NONE);
	is_row(2, 11, PAGEDET_EFFECT_LOST, NONE);
	ck_assert_uint_eq(t.rows[2].bytes, 7);
	is_row(3, 14, PAGEDET_EFFECT_OBJECT_ALLOCATED, NONE);
	is_row(4, 15, PAGEDET_EFFECT_LOST, NONE);
	ck_assert_uint_eq(t.rows[4].bytes, UINT64_MAX);
	ck_assert_uint_eq(t.n, 5);
	ck_assert_uint_eq(t.lost, 3);
	ck_assert_uint_eq(t.of_pages.events + t.of_objects.events, 2);
	done();
	/* They do not concern pages that have no event. */
	begin(100, false);
	add(PDET_KMEM_LOST, 5, 7, 0);
	end();
	ck_assert_uint_eq(t.n + t.lost, 0);
	done();
}
END_TEST

/* What was lost may be a free and another allocation. */
START_TEST(lifetimes_over_losses)
{
	begin(100, false);
	block(PDET_KMEM_PAGE_ALLOC, 10, FIRST, 0);
	add(PDET_KMEM_KMALLOC, 11, AT(FIRST, 0), 64);
	add(PDET_KMEM_LOST, 12, 3, 0);
	block(PDET_KMEM_PAGE_ALLOC, 13, FIRST + 1, 0);
	add(PDET_KMEM_KFREE, 14, AT(FIRST, 0), 0);
	block(PDET_KMEM_PAGE_FREE, 15, FIRST, 0);
	block(PDET_KMEM_PAGE_FREE, 16, FIRST + 1, 0);
	end();
	is_row(4, 14, PAGEDET_EFFECT_OBJECT_FREED, NONE);
	is_row(5, 15, PAGEDET_EFFECT_FREED, NONE);
	is_row(6, 16, PAGEDET_EFFECT_FREED, 3);
	ck_assert_uint_eq(t.n, 7);
	done();
	/* A loss between 60 and 90 of another processor, told at its end. */
	begin(100, false);
	block(PDET_KMEM_PAGE_ALLOC, 10, FIRST, 0);
	block(PDET_KMEM_PAGE_FREE, 50, FIRST, 0);
	block(PDET_KMEM_PAGE_ALLOC, 55, FIRST, 0);
	block(PDET_KMEM_PAGE_FREE, 70, FIRST, 0);
	block(PDET_KMEM_PAGE_ALLOC, 75, FIRST, 0);
	block(PDET_KMEM_PAGE_FREE, 80, FIRST, 0);
	add(PDET_KMEM_LOST, 90, 3, 60);
	block(PDET_KMEM_PAGE_ALLOC, 91, FIRST, 0);
	block(PDET_KMEM_PAGE_FREE, 92, FIRST, 0);
	/* And one inside that. */
	add(PDET_KMEM_LOST, 85, 3, 84);
	end();
	is_row(1, 50, PAGEDET_EFFECT_FREED, 40);
	is_row(3, 70, PAGEDET_EFFECT_FREED, NONE);
	is_row(5, 80, PAGEDET_EFFECT_FREED, NONE);
	is_row(8, 92, PAGEDET_EFFECT_FREED, 1);
	done();
	/* A text tells it with the time of the event in front. */
	begin(100, false);
	block(PDET_KMEM_PAGE_ALLOC, 10, FIRST, 0);
	add(PDET_KMEM_LOST, 10, 3, 0);
	block(PDET_KMEM_PAGE_FREE, 50, FIRST, 0);
	end();
	is_row(2, 50, PAGEDET_EFFECT_FREED, NONE);
	done();
}
END_TEST

/* --- random blocks --- */

/* When each frame was allocated; 0: it was not. */
static uint64_t model[FIRST + 4 * FRAMES];

struct expected {
	bool concerns, known, several;
	uint64_t since;
};

/* What a block finds there, frame by frame. */
static struct expected look(uint64_t pfn, uint64_t n, uint64_t now)
{
	struct expected e = { .concerns = false };
	uint64_t i;

	for (i = pfn; i < pfn + n; i++) {
		if (i < FIRST || i >= FIRST + FRAMES)
			continue;
		e.concerns = true;
		e.several |= e.known && model[i] && model[i] != e.since;
		if (model[i] && !e.known)
			e.since = model[i];
		e.known |= model[i] != 0;
		model[i] = now;
	}
	return e;
}

START_TEST(random_blocks)
{
	uint64_t x = 88172645463325252u, ns, rows = 0;
	static struct {
		struct expected e;
		bool is_alloc;
		uint64_t ns;
	} all[20000];

	begin(sizeof(all) / sizeof(*all), false);
	for (ns = 1; ns <= PDET_COUNT(all); ns++) {
		unsigned order;
		uint64_t pfn;
		bool is_alloc;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		order = x % 5;
		pfn = (FIRST - FRAMES + (x >> 8) % (3 * FRAMES)) >> order
			<< order;
		is_alloc = x >> 40 & 1;
		all[rows].e = look(pfn, 1u << order, is_alloc ? ns : 0);
		all[rows].is_alloc = is_alloc;
		all[rows].ns = ns;
		rows += all[rows].e.concerns;
		block(is_alloc ? PDET_KMEM_PAGE_ALLOC : PDET_KMEM_PAGE_FREE, ns,
		      pfn, order);
	}
	end();
	ck_assert_uint_eq(t.n, rows);
	ck_assert_uint_gt(rows, 5000);
	for (rows = 0; rows < t.n; rows++) {
		const struct expected *e = &all[rows].e;
		const uint64_t age = all[rows].ns - e->since;

		if (all[rows].is_alloc)
			is_row(rows, all[rows].ns, e->known ?
			       PAGEDET_EFFECT_ALLOCATED_AGAIN :
			       PAGEDET_EFFECT_ALLOCATED, NONE);
		else
			is_row(rows, all[rows].ns, e->known ?
			       PAGEDET_EFFECT_FREED :
			       PAGEDET_EFFECT_FREED_UNKNOWN,
			       e->known && !e->several ? age : NONE);
	}
	done();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("timeline");

	unit_test(s, blocks);
	unit_test(s, objects);
	unit_test(s, values);
	unit_test(s, of_another_boot);
	unit_test(s, too_many);
	unit_test(s, losses);
	unit_test(s, lifetimes_over_losses);
	unit_test(s, random_blocks);
	return unit_main(s);
}
