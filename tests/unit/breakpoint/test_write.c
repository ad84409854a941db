/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests that the reader of KMAPs reads what a watch writes, all of it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit.h"
#include "breakpoint/watch.h"
#include "kmap/kmap.h"

#define BASE 0xffff888100000000u

static struct pdet_env env;
static struct pdet_bp_object objects[] = {
	{ BASE, 16, "kmalloc-64", false, PAGEDET_OBJECT_USED, 0 },
	{ BASE + 64, 8, "odd,\nname", false, PAGEDET_OBJECT_FREE, 0 },
	{ BASE + 128, 8, "", true, 0, 0 },
	{ BASE + 256, 4, "", false, 0, 0 },
	{ BASE + 512, 8, "filp", false, PAGEDET_OBJECT_USED, 0 },
};

/* Of the five words, and one that never had a turn. */
static const struct pdet_bp_turns turns[] = {
	{ .windows = 1 }, { .windows = 1 }, { .windows = 2 }, { .windows = 1 },
	{ .windows = 1 }, { .windows = 0 },
};

static void hit(struct pdet_bp_hits *h, size_t piece, uint64_t ip,
		uint32_t tid, unsigned reads, unsigned writes)
{
	const struct pdet_bp_sample s = { .ip = ip, .tid = tid };

	while (reads--)
		pdet_bp_hits_count(h, piece, PDET_BP_ANY, &s);
	while (writes--)
		pdet_bp_hits_count(h, piece, PDET_BP_WRITE, &s);
}

static struct pdet_kmap *write_and_open(void)
{
	struct pagedet_kmap_query q = PAGEDET_KMAP_QUERY_INIT;
	struct pdet_bp_plan plan = { .n = 0 };
	struct pdet_bp_hits hits = { .dropped = 0 };
	const struct pdet_bp_text text = { objects, turns, &plan, &hits };
	const int fd = memfd_create("kmap", MFD_CLOEXEC);
	struct pdet_kmap *k = NULL;
	char path[64];
	uint32_t i;

	pdet_bp_hits_init(&hits);
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(pdet_bp_plan_add(&plan, &env,
						  objects[i].address,
						  objects[i].bytes, i), 0);
	hit(&hits, 1, 0xffffffff81000020, 8, 1, 2);
	hit(&hits, 0, 0xffffffff81000010, 7, 3, 0);
	hit(&hits, 1, 0xffffffff81000030, 9, 5, 0);
	ck_assert_int_eq(pdet_bp_write(&env, fd, &text), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	q.path = path;
	ck_assert_int_eq(pdet_kmap_new(&env, &q, &k), 0);
	pdet_bp_hits_free(&hits);
	pdet_bp_plan_free(&plan);
	close(fd);
	return k;
}

static void has_access(struct pdet_kmap *k, uint64_t site, uint64_t reads,
		       uint64_t writes, int64_t pid)
{
	struct pagedet_kmap_access a;

	ck_assert_int_eq(pdet_kmap_next_access(k, &a), 1);
	ck_assert_uint_eq(a.site, site);
	ck_assert_uint_eq(a.reads, reads);
	ck_assert_uint_eq(a.writes, writes);
	ck_assert_int_eq(a.pid, pid);
}

static void has_word(struct pdet_kmap *k, uint64_t address, uint64_t bytes,
		     const char *type, const char *cache, uint32_t end)
{
	struct pagedet_kmap_object o;
	uint64_t lifetime;

	ck_assert_int_eq(pdet_kmap_next(k, &env, &o), 1);
	ck_assert_uint_eq(o.address, address);
	ck_assert_uint_eq(o.bytes, bytes);
	ck_assert_str_eq(o.type, type);
	ck_assert_str_eq(o.cache, cache);
	ck_assert_uint_eq(o.end, end);
	/* Nothing is known of the allocation. */
	ck_assert_uint_eq(o.origin, PAGEDET_KMAP_UNTOLD);
	ck_assert_str_eq(o.site_name, "");
	ck_assert_str_eq(o.command, "");
	ck_assert_int_eq(o.pid, -1);
	ck_assert_uint_ne(pdet_kmap_lifetime_of(k, &lifetime), PAGEDET_HAVE);
}

START_TEST(all)
{
	struct pdet_kmap *k = write_and_open();
	struct pagedet_kmap_object o;
	struct pagedet_kmap_total t;

	has_word(k, BASE, 8, "KMALLOC", "kmalloc-64", PAGEDET_KMAP_LIVE);
	has_access(k, 0xffffffff81000010, 3, 0, 7);
	has_word(k, BASE + 8, 8, "KMALLOC", "kmalloc-64", PAGEDET_KMAP_LIVE);
	/* The most frequent first. */
	has_access(k, 0xffffffff81000030, 5, 0, 9);
	has_access(k, 0xffffffff81000020, 1, 2, 8);
	has_word(k, BASE + 64, 8, "KMEM_CACHE", "odd__name",
		 PAGEDET_KMAP_UNKNOWN);
	/* It is not known whether these still exist. */
	has_word(k, BASE + 128, 8, "GLOBAL", "", PAGEDET_KMAP_UNKNOWN);
	has_word(k, BASE + 256, 4, "NONE", "", PAGEDET_KMAP_UNKNOWN);
	ck_assert_int_eq(pdet_kmap_next(k, &env, &o), 0);
	pdet_kmap_total(k, &t);
	ck_assert_uint_eq(t.dialect, PAGEDET_KMAP_INDEXED);
	ck_assert_uint_eq(t.objects, 5);
	ck_assert_uint_eq(t.reads, 9);
	ck_assert_uint_eq(t.writes, 2);
	ck_assert_uint_eq(t.strange + t.orphans + t.cut + t.hashed, 0);
	pdet_kmap_free(k);
}
END_TEST

START_TEST(full)
{
	struct pdet_bp_plan plan = { .n = 0 };
	struct pdet_bp_hits hits = { .dropped = 0 };
	const struct pdet_bp_text text = { objects, turns, &plan, &hits };
	const int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		unit_skip("there is no /dev/full");
	pdet_bp_hits_init(&hits);
	ck_assert_int_eq(pdet_bp_plan_add(&plan, &env, BASE, 8, 0), 0);
	ck_assert_int_lt(pdet_bp_write(&env, fd, &text), 0);
	ck_assert_uint_ne(env.error[0], 0);
	pdet_bp_hits_free(&hits);
	pdet_bp_plan_free(&plan);
	close(fd);
}
END_TEST

int main(void)
{
	static char no_root[1];
	Suite *s = suite_create("write");

	env.root = no_root;
	unit_test(s, all);
	unit_test(s, full);
	return unit_main(s);
}
