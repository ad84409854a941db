/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests sums of what watches have seen of objects of a cache. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit.h"
#include "breakpoint/sums.h"

#define BASE 0xffff888100000000u
#define BYTES 24	/* of an object */

static struct pdet_env env;
static char text[4096];

/* What a watch has seen of 12 bytes from offset 4 on. */
struct seen {
	struct pdet_bp_plan plan;
	struct pdet_bp_hits hits;
	struct pdet_bp_turns turns[8];
	struct pdet_bp_text text;
};

static void begin(struct seen *s, uint64_t base, uint64_t bytes)
{
	size_t i;

	*s = (struct seen){ .plan.n = 0 };
	pdet_bp_hits_init(&s->hits);
	ck_assert_int_eq(pdet_bp_plan_add(&s->plan, &env, base + 4, bytes, 0),
			 0);
	ck_assert_uint_le(s->plan.n, 8);
	for (i = 0; i < s->plan.n; i++)
		s->turns[i].windows = 1;
	s->text = (struct pdet_bp_text){ NULL, s->turns, &s->plan, &s->hits };
}

static void hit(struct seen *s, size_t piece, uint64_t ip, uint64_t tid,
		uint64_t reads, uint64_t writes)
{
	pdet_bp_hits_sum(&s->hits, piece, ip, tid,
			 &(struct pdet_bp_hit){ reads, writes });
}

static void end(struct seen *s)
{
	pdet_bp_plan_free(&s->plan);
	pdet_bp_hits_free(&s->hits);
}

static const char *kmap(const struct pdet_bp_sums *sums)
{
	const int fd = memfd_create("kmap", MFD_CLOEXEC);
	ssize_t n;

	ck_assert_int_eq(pdet_bp_sums_write(sums, &env, fd), 0);
	n = pread(fd, text, sizeof(text) - 1, 0);
	ck_assert_int_ge(n, 0);
	text[n] = 0;
	close(fd);
	return text;
}

/* Of two objects, by the offset: the most frequent first. */
START_TEST(merges)
{
	struct pdet_bp_sums sums;
	struct seen a, b;

	pdet_bp_sums_init(&sums, "a,cache", BYTES);
	begin(&a, BASE, 12);
	hit(&a, 0, 0x10, 7, 3, 0);
	hit(&a, 1, 0x20, 7, 0, 1);
	hit(&a, 1, 0x30, 8, 1, 1);
	begin(&b, BASE + 4096, 12);
	hit(&b, 1, 0x20, 7, 2, 5);
	hit(&b, 1, 0x20, 9, 1, 0);
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &a.text, BASE), 0);
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &b.text, BASE + 4096),
			 0);
	ck_assert_str_eq(kmap(&sums),
		"(____ptrval____),0,4,4,2,1,(null),KMEM_CACHE,,a_cache,\n"
		"  10,0,3,7\n"
		"(____ptrval____),0,8,8,2,1,(null),KMEM_CACHE,,a_cache,\n"
		"  20,6,2,7\n"
		"  30,1,1,8\n"
		"  20,0,1,9\n");
	end(&a);
	end(&b);
	pdet_bp_sums_free(&sums);
}
END_TEST

/* A word that only one of them has watched has a row, without accesses. */
START_TEST(unwatched)
{
	struct pdet_bp_sums sums;
	struct seen a, b;

	pdet_bp_sums_init(&sums, "kmalloc-8", BYTES);
	begin(&a, BASE, 12);
	a.turns[0].windows = a.turns[1].windows = 0;
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &a.text, BASE), 0);
	ck_assert_str_eq(kmap(&sums), "");
	begin(&b, BASE, 12);
	b.turns[0].windows = 0;
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &b.text, BASE), 0);
	ck_assert_str_eq(kmap(&sums),
		"(____ptrval____),0,8,8,2,1,(null),KMALLOC,,kmalloc-8,\n");
	end(&a);
	end(&b);
	pdet_bp_sums_free(&sums);
}
END_TEST

START_TEST(refuses)
{
	struct pdet_bp_sums sums;
	struct seen a, b;

	pdet_bp_sums_init(&sums, "c", BYTES);
	begin(&a, BASE, 12);
	begin(&b, BASE, 20);
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &a.text, BASE + 8),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(env.error, "not in the object"));
	/* Its last byte is outside. A wrong base fixes nothing. */
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &b.text, BASE - 1),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(env.error, "not in the object"));
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &a.text, BASE - 4096),
			 -EINVAL);
	ck_assert_uint_eq(sums.plan.n, 0);
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &a.text, BASE), 0);
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &b.text, BASE), -EINVAL);
	ck_assert_ptr_nonnull(strstr(env.error, "other words"));
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &a.text, BASE - 8),
			 -EINVAL);
	end(&a);
	end(&b);
	pdet_bp_sums_free(&sums);
}
END_TEST

START_TEST(whole)
{
	struct pdet_bp_sums sums;
	struct seen a;

	pdet_bp_sums_init(&sums, "c", BYTES);
	begin(&a, BASE, BYTES - 4);
	ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &a.text, BASE), 0);
	ck_assert_uint_eq(sums.plan.n, 3);
	end(&a);
	pdet_bp_sums_free(&sums);
}
END_TEST

/* However long a run takes, the memory is that of different accesses. */
START_TEST(bounded)
{
	struct pdet_bp_sums sums;
	struct seen a;
	unsigned i;

	pdet_bp_sums_init(&sums, "c", BYTES);
	begin(&a, BASE, 12);
	for (i = 0; i < 100; i++)
		hit(&a, i % 2, i / 2, 7, 1, 0);
	for (i = 0; i < 10000; i++)
		ck_assert_int_eq(pdet_bp_sums_add(&sums, &env, &a.text, BASE),
				 0);
	ck_assert_uint_eq(sums.plan.n, 2);
	ck_assert_uint_eq(sums.hits.sums.n, 100);
	ck_assert_uint_le(sums.hits.sums.cap, 256);
	ck_assert_uint_eq(sums.hits.sums.data[99].reads, 10000);
	end(&a);
	pdet_bp_sums_free(&sums);
}
END_TEST

int main(void)
{
	static char no_root[1];
	Suite *s = suite_create("sums");

	env.root = no_root;
	unit_test(s, merges);
	unit_test(s, unwatched);
	unit_test(s, refuses);
	unit_test(s, whole);
	unit_test(s, bounded);
	return unit_main(s);
}
