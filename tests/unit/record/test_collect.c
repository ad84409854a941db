/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests rows of sums that processors have apart, and lists of processors. */
#include "base/vec.h"
#include "pagedet.h"
#include "record/collect.h"
#include "../unit.h"

#define NONE PDET_ARGUMENT_NONE
#define CPUS 3

static const struct pdet_signature kmalloc = {
	"kmalloc", PDET_KMEM_KMALLOC, 0, 1, NONE, 2, 3, 4, NONE, NONE, NONE,
	0, 0, 0, false
}, pages = {
	"mm_page_alloc", PDET_KMEM_PAGE_ALLOC, NONE, 0, NONE, NONE, NONE, 2,
	NONE, 1, 3, 0, 0, 0, false
};
static const struct pdet_program_key key = {
	{ PAGEDET_ALLOC_SITE, PAGEDET_ALLOC_NODE, PAGEDET_ALLOC_ORDER,
	  PAGEDET_ALLOC_MIGRATETYPE }, 4, false
}, named = { { PAGEDET_ALLOC_SITE }, 1, true };
static const uint32_t cpus[CPUS] = { 0, 1, 8 };
/* Times, requested, allocated, failed. */
static const uint64_t sums[CPUS][4] = {
	{ 3, 100, 128, 0 }, { 0, 0, 0, 0 }, { 1, 10, 16, 2 },
};

static struct pdet_kmem_sums collect(const struct pdet_signature *s,
				     bool by_cpu)
{
	const struct pdet_collect c = {
		.signature = s, .key = &key, .cpus = cpus, .n_cpus = CPUS,
		.by_cpu = by_cpu, .page_size = 4096,
	};
	const uint64_t words[] = { 0xffffffff81000000, UINT32_MAX, 2, 1 };
	struct pdet_kmem_sums ret = { 0 };

	ck_assert(pdet_collect_add(&c, words, 7, sums, &ret));
	return ret;
}

static void is_sum(const struct pdet_kmem_sum *s, uint64_t times,
		   uint64_t requested, uint64_t allocated, uint64_t failed)
{
	ck_assert_uint_eq(s->times, times);
	ck_assert_uint_eq(s->requested, requested);
	ck_assert_uint_eq(s->allocated, allocated);
	ck_assert_uint_eq(s->failed, failed);
}

START_TEST(all_processors_together)
{
	struct pdet_kmem_sums s = collect(&kmalloc, false);

	ck_assert_uint_eq(s.rows.n, 1);
	is_sum(&s.rows.data[0], 4, 110, 144, 2);
	ck_assert_uint_eq(s.rows.data[0].keys.site, 0xffffffff81000000);
	ck_assert_uint_eq(s.rows.data[0].keys.kind, PDET_KMEM_KMALLOC);
	ck_assert_uint_eq(s.rows.data[0].keys.stack, 7);
	pdet_vec_free(&s.rows);
}
END_TEST

/* What its event does not tell is not known, and not the number 0. */
START_TEST(missing_arguments)
{
	struct pdet_kmem_sums s = collect(&kmalloc, false);
	const struct pdet_kmem_event *e = &s.rows.data[0].keys;

	ck_assert_int_eq(e->node, PDET_KMEM_NO_NUMBER);
	ck_assert_int_eq(e->migratetype, PDET_KMEM_NO_NUMBER);
	ck_assert_uint_eq(e->gfp, PDET_KMEM_NO_GFP);
	ck_assert_int_eq(e->pid, -1);
	pdet_vec_free(&s.rows);
}
END_TEST

START_TEST(each_processor)
{
	struct pdet_kmem_sums s = collect(&kmalloc, true);

	ck_assert_uint_eq(s.rows.n, 2);
	is_sum(&s.rows.data[0], 3, 100, 128, 0);
	ck_assert_uint_eq(s.rows.data[0].keys.cpu, 0);
	is_sum(&s.rows.data[1], 1, 10, 16, 2);
	ck_assert_uint_eq(s.rows.data[1].keys.cpu, 8);
	pdet_vec_free(&s.rows);
}
END_TEST

START_TEST(pages_are_bytes)
{
	struct pdet_kmem_sums s = collect(&pages, false);

	is_sum(&s.rows.data[0], 4, 110 * 4096, 144 * 4096, 2);
	ck_assert_uint_eq(s.rows.data[0].keys.order, 2);
	ck_assert_int_eq(s.rows.data[0].keys.migratetype, 1);
	pdet_vec_free(&s.rows);
}
END_TEST

/* The length of the name that a key of this one has. */
static uint32_t name_of(const char *name)
{
	const struct pdet_collect c = {
		.signature = &kmalloc, .key = &named, .cpus = cpus,
		.n_cpus = CPUS,
	};
	uint64_t words[PDET_PROGRAM_KEY] = { 1 };
	struct pdet_kmem_sums s = { 0 };
	uint32_t n;

	memcpy(words + 1, name, strlen(name));
	ck_assert(pdet_collect_add(&c, words, 0, sums, &s));
	n = s.rows.data[0].keys.cache_len;
	ck_assert(!n || !memcmp(s.rows.data[0].cache, name, n));
	pdet_vec_free(&s.rows);
	return n;
}

START_TEST(names_of_caches)
{
	char name[PDET_PROGRAM_NAME + 1] = "";

	ck_assert_uint_eq(name_of("dentry"), 6);
	ck_assert_uint_eq(name_of(""), 0);
	memset(name, 'x', PDET_PROGRAM_NAME - 2);
	ck_assert_uint_eq(name_of(name), PDET_PROGRAM_NAME - 2);
	/* These may be cut. */
	name[PDET_PROGRAM_NAME - 2] = 'x';
	ck_assert_uint_eq(name_of(name), 0);
	name[PDET_PROGRAM_NAME - 1] = 'x';
	ck_assert_uint_eq(name_of(name), 0);
}
END_TEST

/* A sum of another processor has the frees. */
START_TEST(frees)
{
	static const struct pdet_program_sum both[CPUS] = {
		{ .times = 9, .requested = 9, .allocated = 9 }, { 0 },
		{ .freed = 4, .cross_cpu = 3, .mismatched = 2, .replaced = 1,
		  .untracked = 2, .gone = 7 },
	};
	static const struct pdet_program_key by_cpu = {
		{ PAGEDET_ALLOC_SITE, PAGEDET_ALLOC_CPU }, 2, false };
	const struct pdet_collect c = {
		.signature = &pages, .key = &by_cpu, .cpus = cpus,
		.n_cpus = CPUS, .frees = true, .page_size = 4096,
	};
	const uint64_t words[] = { 0, 8 };
	struct pdet_kmem_sums s = { 0 };
	const struct pdet_kmem_sum *sum;

	ck_assert(pdet_collect_add(&c, words, 0, both, &s));
	ck_assert_uint_eq(s.rows.n, 1);
	sum = s.rows.data;
	is_sum(sum, 9, 9 * 4096, 9 * 4096, 0);
	ck_assert_uint_eq(sum->keys.cpu, 8);
	ck_assert_uint_eq(sum->freed, 4);
	ck_assert_uint_eq(sum->cross_cpu, 3);
	ck_assert_uint_eq(sum->mismatched, 2);
	ck_assert_uint_eq(sum->replaced, 1);
	ck_assert_uint_eq(sum->untracked, 2);
	ck_assert_uint_eq(sum->gone, 7 * 4096);
	pdet_vec_free(&s.rows);
}
END_TEST

/* Whatever bytes there are, they are read where they end. */
START_TEST(any_bytes)
{
	const uint32_t bytes = pdet_program_sum_bytes(true);
	uint64_t words[PDET_PROGRAM_KEY], *sum;
	struct pdet_program_key all = { .n = PDET_PROGRAM_WORDS,
					.has_name = true };
	struct pdet_collect c = {
		.signature = &kmalloc, .key = &all, .cpus = cpus,
		.n_cpus = CPUS, .frees = true, .page_size = 4096,
	};
	struct pdet_kmem_sums s = { 0 };
	unsigned round, i;

	srandom(1);
	sum = malloc(CPUS * (size_t)bytes);
	for (round = 0; round < 1000; round++) {
		for (i = 0; i < PDET_PROGRAM_WORDS; i++)
			all.word[i] = (uint32_t)random() % 20;
		for (i = 0; i < PDET_PROGRAM_KEY; i++)
			words[i] = round % 3 ? (uint64_t)random() *
					       (uint64_t)random() : UINT64_MAX;
		for (i = 0; i < CPUS * bytes / sizeof(*sum); i++)
			sum[i] = round % 5 ? (uint64_t)random() << 33 :
					     UINT64_MAX;
		c.by_cpu = round % 2;
		ck_assert(pdet_collect_add(&c, words, round, sum, &s));
	}
	for (i = 0; i < s.rows.n; i++)
		ck_assert_uint_lt(s.rows.data[i].keys.cache_len,
				  PDET_PROGRAM_NAME);
	free(sum);
	pdet_vec_free(&s.rows);
}
END_TEST

static int list(const char *text, uint32_t **ret)
{
	return pdet_collect_cpus(text, strlen(text), ret);
}

START_TEST(lists_of_processors)
{
	uint32_t *c;

	ck_assert_int_eq(list("0\n", &c), 1);
	ck_assert_uint_eq(c[0], 0);
	free(c);
	ck_assert_int_eq(list("0-2,8,10-11", &c), 6);
	ck_assert_uint_eq(c[2], 2);
	ck_assert_uint_eq(c[3], 8);
	ck_assert_uint_eq(c[5], 11);
	free(c);
	ck_assert_int_eq(list("0-65535", &c), 65536);
	free(c);
}
END_TEST

START_TEST(bad_lists)
{
	static const char *const bad[] = {
		"", "\n", "x", "0-", "-1", "1,", "3-1", "1,1", "4,2", "0 1",
		"0-65536", "0-99999999999999999999", "0\n1",
	};
	uint32_t *c;
	size_t i;

	for (i = 0; i < PDET_COUNT(bad); i++)
		ck_assert_int_lt(list(bad[i], &c), 0);
}
END_TEST

START_TEST(what_a_key_tells_of_an_object)
{
	struct pdet_collect c = {
		.signature = &kmalloc, .key = &key, .cpus = cpus,
		.n_cpus = CPUS, .frees = true, .page_size = 4096,
	};
	const uint64_t plain[] = { 0xffffffff81000000, UINT32_MAX, 2, 1 };
	uint64_t words[1 + PDET_PROGRAM_NAME / 8] = { 0xffffffff81000000 };
	char *name = (char *)(words + 1);
	struct pdet_kmem_event e = pdet_collect_event(&c, plain, 7);

	ck_assert_uint_eq(e.site, plain[0]);
	ck_assert_uint_eq(e.kind, PDET_KMEM_KMALLOC);
	ck_assert_uint_eq(e.stack, 7);
	ck_assert_ptr_null(e.cache);
	c.key = &named;
	strcpy(name, "filp");
	e = pdet_collect_event(&c, words, PDET_STACK_NONE);
	ck_assert_uint_eq(e.cache_len, 4);
	ck_assert_ptr_eq(e.cache, name);
	/* It may be cut. */
	memset(name, 'x', PDET_PROGRAM_NAME);
	e = pdet_collect_event(&c, words, PDET_STACK_NONE);
	ck_assert_uint_eq(e.cache_len, 0);
	ck_assert_ptr_null(e.cache);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("collect");

	unit_test(s, all_processors_together);
	unit_test(s, missing_arguments);
	unit_test(s, each_processor);
	unit_test(s, pages_are_bytes);
	unit_test(s, names_of_caches);
	unit_test(s, frees);
	unit_test(s, any_bytes);
	unit_test(s, lists_of_processors);
	unit_test(s, bad_lists);
	unit_test(s, what_a_key_tells_of_an_object);
	return unit_main(s);
}
