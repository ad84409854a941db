/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests pairs of allocation and free: made-up events, a table that is compared
 * with a slow one, and captures of real kernels, whose sums an independent
 * decoder has computed (expected.json).
 */
#include <errno.h>

#include "allocs/pairing.h"
#include "trace/trace.h"
#include "../unit.h"

/* --- groups by site and kind --- */

static struct {
	uint64_t site;
	uint8_t kind;
} group[1024];
static size_t groups;

static int64_t group_of(void *arg, const struct pdet_kmem_event *e)
{
	size_t i;

	(void)arg;
	for (i = 0; i < groups; i++)
		if (group[i].site == e->site && group[i].kind == e->kind)
			return (int64_t)i;
	ck_assert_uint_lt(groups, 1024);
	group[groups].site = e->site;
	group[groups].kind = e->kind;
	return (int64_t)groups++;
}

static struct pdet_pairing p = { .group = group_of, .page_size = 4096 };

static const struct pdet_alloc_sum *objects(size_t i)
{
	return &p.sums.data[i].of[PDET_OF_OBJECTS];
}

static void add(unsigned kind, uint64_t ns, unsigned cpu, uint64_t object,
		uint64_t bytes)
{
	const struct pdet_kmem_event e = {
		.kind = (uint8_t)kind, .ns = ns, .cpu = (uint16_t)cpu,
		.object = object, .site = 100 + kind, .requested = bytes,
		.allocated = bytes + 1,
	}, *events = &e;

	ck_assert_int_eq(pdet_pairing_add(&p, &events, 1), 0);
}

START_TEST(pairs)
{
	const struct pdet_alloc_sum *s;

	add(PDET_KMEM_KMALLOC, 10, 0, 0x1000, 5);
	add(PDET_KMEM_KMALLOC, 11, 0, 0x2000, 7);
	add(PDET_KMEM_KMALLOC, 12, 0, 0, 7);		/* failed */
	add(PDET_KMEM_KFREE, 20, 1, 0x1000, 0);		/* elsewhere */
	add(PDET_KMEM_KFREE, 21, 1, 0x1000, 0);		/* not known */
	add(PDET_KMEM_KFREE, 22, 1, 0, 0);		/* of nothing */
	add(PDET_KMEM_KFREE, 22, 1, 16, 0);		/* of kmalloc(0) */
	add(PDET_KMEM_KMALLOC, 23, 0, 0x2000, 9);	/* again */
	add(PDET_KMEM_CACHE_FREE, 22, 0, 0x2000, 0);	/* wrong, and early */
	add(PDET_KMEM_CACHE_ALLOC, 30, 0, 0x3000, 1);
	/* A page with the number of an address. */
	add(PDET_KMEM_PAGE_ALLOC, 40, 0, 0x3000, 0);
	add(PDET_KMEM_PAGE_BATCHED, 41, 0, 0x3000, 0);
	add(PDET_KMEM_PAGE_FREE, 42, 0, 0x3000, 0);
	ck_assert_uint_eq(p.sums.n, 3);
	s = objects(0);
	ck_assert_uint_eq(s->times, 3);
	ck_assert_uint_eq(s->requested, 21);
	ck_assert_uint_eq(s->allocated, 24);
	ck_assert_uint_eq(s->failed, 1);
	ck_assert_uint_eq(s->freed, 2);
	ck_assert_uint_eq(s->replaced, 1);
	ck_assert_uint_eq(s->live, 0);
	ck_assert_uint_eq(s->live_bytes, 0);
	ck_assert_uint_eq(s->cross_cpu, 1);
	ck_assert_uint_eq(s->mismatched, 1);
	ck_assert_uint_eq(s->lifetime_ns, 10);
	s = objects(1);
	ck_assert_uint_eq(s->live, 1);
	ck_assert_uint_eq(s->live_bytes, 2);
	s = &p.sums.data[2].of[PDET_OF_PAGES];
	ck_assert_uint_eq(s->times, 1);
	ck_assert_uint_eq(s->freed, 1);
	ck_assert_uint_eq(s->allocated, 4096);
	ck_assert_uint_eq(p.rest.freed_unknown[0], 1);
	ck_assert_uint_eq(p.rest.freed_unknown[1], 0);
	ck_assert_uint_eq(p.rest.freed_nothing, 2);
	ck_assert_uint_eq(p.rest.early, 1);
	ck_assert_uint_eq(p.rest.event[PDET_KMEM_PAGE_BATCHED], 1);
	pdet_pairing_free(&p);
}
END_TEST

static unsigned ends;

/* Groups 1000 and on are those of allocations that have ended. */
static int64_t ended(void *arg, uint32_t g, uint64_t lifetime)
{
	(void)arg;
	ends++;
	ck_assert_uint_lt(g, 2);
	return lifetime == PDET_LIFETIME_UNKNOWN ? 1000 :
	       1001 + (int64_t)lifetime;
}

START_TEST(moves)
{
	const struct pdet_alloc_sum *s;

	groups = 0;
	p.ended = ended;
	add(PDET_KMEM_KMALLOC, 10, 0, 0x1000, 5);
	add(PDET_KMEM_KMALLOC, 11, 0, 0x2000, 7);
	add(PDET_KMEM_KMALLOC, 12, 0, 0x3000, 8);
	add(PDET_KMEM_KFREE, 12, 0, 0x1000, 0);
	add(PDET_KMEM_KMALLOC, 13, 0, 0x2000, 9);	/* again */
	add(PDET_KMEM_KFREE, 11, 0, 0x3000, 0);		/* early */
	ck_assert_uint_eq(ends, 3);
	s = objects(0);
	ck_assert_uint_eq(s->times, 1);
	ck_assert_uint_eq(s->requested, 9);
	ck_assert_uint_eq(s->allocated, 10);
	ck_assert_uint_eq(s->live, 1);
	ck_assert_uint_eq(s->live_bytes, 10);
	ck_assert_uint_eq(s->freed + s->replaced, 0);
	s = objects(1000);
	ck_assert_uint_eq(s->times, 2);
	ck_assert_uint_eq(s->requested, 15);
	ck_assert_uint_eq(s->replaced, 1);
	ck_assert_uint_eq(s->freed, 1);
	ck_assert_uint_eq(s->live, 0);
	s = objects(1003);
	ck_assert_uint_eq(s->times, 1);
	ck_assert_uint_eq(s->allocated, 6);
	ck_assert_uint_eq(s->freed, 1);
	ck_assert_uint_eq(s->lifetime_ns, 2);
	p.ended = NULL;
	pdet_pairing_free(&p);
}
END_TEST

#define OBJECTS 7000u

/* It grows until it is nearly full, and becomes empty again, some times. */
START_TEST(table)
{
	static uint8_t is_live[OBJECTS];
	struct pdet_live_table t = { 0 };
	struct pdet_live l, *entry;
	const struct pdet_live *list;
	uint64_t x = 88172645463325252u, n = 0, i, object;
	bool had;

	for (i = 0; i < 250000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		object = x % OBJECTS;
		if ((x >> 40 & 7) > (i / 50000 % 2 ? 6 : 0)) {
			entry = pdet_live_put(&t, object * 64 + 64, &had);
			ck_assert_ptr_nonnull(entry);
			ck_assert_uint_eq(had, is_live[object]);
			ck_assert(!had || entry->group == object);
			entry->group = (uint32_t)object;
			n += !had;
			is_live[object] = 1;
		} else {
			had = pdet_live_take(&t, object * 64 + 64, &l);
			ck_assert_uint_eq(had, is_live[object]);
			ck_assert(!had || l.group == object);
			n -= had;
			is_live[object] = 0;
		}
		ck_assert_uint_eq(t.n, n);
	}
	ck_assert_uint_gt(n, OBJECTS / 2);
	list = pdet_live_list(&t);
	for (i = 0; i < OBJECTS; i++)
		if (is_live[i]) {
			ck_assert_uint_eq(list->group, i);
			ck_assert_uint_eq(list->object, i * 64 + 64);
			list++;
		}
	pdet_live_free(&t);
}
END_TEST

/* --- captures --- */

static char *expected;

static uint64_t wanted(const char *key)
{
	char name[64];
	const char *value;

	snprintf(name, sizeof(name), "\"%s\": ", key);
	value = strstr(expected, name);
	ck_assert_msg(value != NULL, "%s", key);
	return strtoull(value + strlen(name), NULL, 10);
}

static void read_expected(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n;

	ck_assert_ptr_nonnull(f);
	expected = calloc(1, 1 << 16);
	n = fread(expected, 1, (1 << 16) - 1, f);
	ck_assert_uint_gt(n, 0);
	fclose(f);
}

static const char *const kinds[PDET_KMEM_KINDS] = {
	[PDET_KMEM_KMALLOC] = "kmalloc",
	[PDET_KMEM_CACHE_ALLOC] = "kmem_cache_alloc",
	[PDET_KMEM_KFREE] = "kfree",
	[PDET_KMEM_CACHE_FREE] = "kmem_cache_free",
	[PDET_KMEM_PAGE_ALLOC] = "mm_page_alloc",
	[PDET_KMEM_PAGE_FREE] = "mm_page_free",
	[PDET_KMEM_PAGE_BATCHED] = "mm_page_free_batched",
};

static void read_all(struct pdet_trace *set)
{
	const struct pdet_kmem_event *const *e;
	struct pdet_trace_merge m = { 0 };
	uint64_t first = 0, last = 0;
	int n, k;

	ck_assert_int_eq(pdet_trace_merge_begin(&m, set->streams,
						set->n_streams), 0);
	while ((n = pdet_trace_merge_next(&m, &e)) > 0) {
		for (k = 0; k < n; k++) {
			ck_assert_uint_ge(e[k]->ns, last);
			last = e[k]->ns;
			first = first ? first : last;
		}
		ck_assert_int_eq(pdet_pairing_add(&p, e, (size_t)n), 0);
	}
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(first, wanted("first_ns"));
	ck_assert_uint_eq(last, wanted("last_ns"));
	pdet_trace_merge_end(&m);
}

static const struct {
	const char *name;
	uint64_t lost;
} captures[] = {
	{ "raw-6.12-x86_64", 0 },
	{ "raw-6.18-x86_64", 0 },
	{ "raw-6.18-lost", 1104 },
	{ "tracedat/g612.v6.dat", 0 },
	{ "tracedat/g612.v7z.dat", 0 },
};

START_TEST(sums_of_captures)
{
	struct pdet_env env = { .root = (char *)"" };
	struct pdet_alloc_sum all = { 0 };
	struct pdet_trace *set;
	uint64_t sites = 0, lost = 0;
	char name[64], path[4096], file[4200];
	size_t i;
	int r;

	snprintf(name, sizeof(name), "tests/fixtures/traces/%s",
		 captures[_i].name);
	unit_source(path, sizeof(path), name);
	if (!strstr(path, ".dat"))
		snprintf(file, sizeof(file), "%s/expected.json", path);
	else
		snprintf(strrchr(strcpy(file, path), '/'), 32,
			 "/expected.json");
	read_expected(file);
	r = pdet_trace_open(&env, path, &set);
	if (r == -ENOSYS)
		unit_skip("%s", env.error);
	ck_assert_msg(!r, "%s", env.error);
	read_all(set);
	for (i = 1; i < PDET_KMEM_NAME; i++)
		ck_assert_uint_eq(p.rest.event[i], wanted(kinds[i]));
	for (i = 0; i < p.sums.n; i++) {
		const struct pdet_alloc_sum *s = objects(i);
		const struct pdet_alloc_sum *pages =
			&p.sums.data[i].of[PDET_OF_PAGES];

		ck_assert_uint_eq(s->times, s->freed + s->replaced + s->live);
		ck_assert_uint_eq(pages->times, pages->freed +
				  pages->replaced + pages->live);
		if (group[i].kind == PDET_KMEM_PAGE_ALLOC) {
			ck_assert_uint_eq(s->times, 0);
			continue;
		}
		ck_assert_uint_eq(pages->times, 0);
		sites += s->times > 0;
		all.requested += s->requested;
		all.allocated += s->allocated;
		all.live += s->live;
		all.live_bytes += s->live_bytes;
		all.replaced += s->replaced;
		all.cross_cpu += s->cross_cpu;
		all.mismatched += s->mismatched;
	}
	ck_assert_uint_eq(sites, wanted("sites"));
	ck_assert_uint_eq(all.requested, wanted("bytes_requested"));
	ck_assert_uint_eq(all.allocated, wanted("bytes_allocated"));
	ck_assert_uint_eq(all.live, wanted("live_objects"));
	ck_assert_uint_eq(all.live_bytes, wanted("live_bytes"));
	ck_assert_uint_eq(all.replaced, wanted("allocated_while_live"));
	ck_assert_uint_eq(all.cross_cpu, wanted("cross_cpu_frees"));
	ck_assert_uint_eq(all.mismatched,
			  wanted("cache_freed_by_kfree") +
			  wanted("kmalloc_freed_by_cache_free"));
	ck_assert_uint_eq(p.rest.freed_unknown[0], wanted("freed_unknown"));
	for (i = 0; i < set->n_streams; i++) {
		const struct pdet_trace_loss *l = &set->streams[i]->loss;

		lost += l->lost;
		ck_assert_uint_eq(l->damaged + l->strange + l->disorder +
				  l->unknown, 0);
	}
	ck_assert_uint_eq(lost, captures[_i].lost);
	pdet_trace_free(set);
	pdet_pairing_free(&p);
	free(expected);
}
END_TEST

static void lose(uint64_t begin, uint64_t end)
{
	const struct pdet_kmem_event e = { .kind = PDET_KMEM_LOST, .ns = end,
					   .requested = begin, .object = 1 };

	ck_assert(pdet_pairing_lost(&p, &e));
}

START_TEST(a_loss_between_makes_lifetimes_unknown)
{
	size_t i;

	groups = 0;
	p.is_one_stream = _i;
	add(PDET_KMEM_KMALLOC, 10, 0, 0x1000, 5);
	add(PDET_KMEM_KMALLOC, 11, 0, 0x2000, 5);
	add(PDET_KMEM_KFREE, 12, 0, 0x1000, 0);		/* 2: in front of it */
	lose(20, 30);
	add(PDET_KMEM_KFREE, 25, 1, 0x2000, 0);
	add(PDET_KMEM_KMALLOC, 31, 0, 0x3000, 5);
	add(PDET_KMEM_KFREE, 35, 0, 0x3000, 0);		/* 4: behind it */
	ck_assert_uint_eq(objects(0)->freed, 3);
	ck_assert_uint_eq(objects(0)->lifetime_ns, 6);
	ck_assert_uint_eq(objects(0)->lifetime_unknown, 1);
	/* It is told later, and has begun before: only one stream does so. */
	if (_i) {
		lose(33, 60);
		ck_assert_uint_eq(objects(0)->lifetime_ns, 2);
		ck_assert_uint_eq(objects(0)->lifetime_unknown, 2);
		/* Twice is the same. */
		lose(33, 60);
		ck_assert_uint_eq(objects(0)->lifetime_unknown, 2);
		for (i = 0; i <= PDET_PAIRING_RECENT; i++) {
			add(PDET_KMEM_KMALLOC, 70, 0, 0x3000, 5);
			add(PDET_KMEM_KFREE, 71, 0, 0x3000, 0);
		}
		lose(71, 80);
		ck_assert_uint_eq(objects(0)->lifetime_ns, 0);
		ck_assert_uint_eq(objects(0)->lifetime_unknown,
				  objects(0)->freed);
	}
	p.is_one_stream = false;
	pdet_pairing_free(&p);
}
END_TEST

START_TEST(holes_that_touch_are_one)
{
	struct pdet_holes h = { 0 };

	ck_assert(!pdet_holes_has(&h, 0, UINT64_MAX));
	ck_assert(pdet_holes_add(&h, 50, 60));
	ck_assert(pdet_holes_add(&h, 10, 20));
	ck_assert(pdet_holes_add(&h, 30, 40));
	ck_assert_uint_eq(h.n, 3);
	ck_assert(!pdet_holes_has(&h, 21, 29));
	ck_assert(pdet_holes_has(&h, 20, 29));
	ck_assert(pdet_holes_has(&h, 21, 30));
	ck_assert(pdet_holes_has(&h, 0, 100));
	ck_assert(!pdet_holes_has(&h, 61, 100));
	ck_assert(pdet_holes_add(&h, 15, 30));
	ck_assert_uint_eq(h.n, 2);
	ck_assert(pdet_holes_has(&h, 21, 29));
	ck_assert(!pdet_holes_has(&h, 41, 49));
	ck_assert(pdet_holes_add(&h, 0, UINT64_MAX));
	ck_assert_uint_eq(h.n, 1);
	pdet_holes_free(&h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pairing");

	unit_test(s, pairs);
	unit_test(s, moves);
	unit_test(s, table);
	unit_loop(s, a_loss_between_makes_lifetimes_unknown, 2);
	unit_test(s, holes_that_touch_are_one);
	unit_loop(s, sums_of_captures, 5);
	return unit_main(s);
}
