/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests a process that may not see page frame numbers, and its descriptors from
 * a process that may.
 */
#include <sys/prctl.h>

#include "../../cache.h"
#include "pagedet.h"

/* Fields of an address that the kernel hides without privilege. */
static const uint32_t hidden[] = {
	PAGEDET_FIELD_PFN, PAGEDET_FIELD_SWAP_TYPE, PAGEDET_FIELD_SWAP_OFFSET,
};

#define HIDDEN (sizeof(hidden) / sizeof(*hidden))

static struct pagedet *pd;
static volatile char *own;	/* a page of this process */

static void start(void)
{
	cache_page = (size_t)sysconf(_SC_PAGESIZE);
	own = mmap(NULL, cache_page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)own, MAP_FAILED);
	own[0] = 1;
	pd = pagedet_new();
	ck_assert_int_eq(pagedet_open(pd, NULL), 0);
}

static struct pagedet_iter *ask(uint32_t target, const char *fields)
{
	const bool page = target == PAGEDET_TARGET_PFN;
	struct pagedet_item item = { page ? 1 : (uintptr_t)own, 1,
				     page ? 0 : (uint32_t)getpid(), 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;

	q.target = target;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(pd, fields, &q), 0);
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	return it;
}

static void ck_survey(uint32_t field, bool can)
{
	struct pagedet_ability a = { .size = sizeof(a) };

	ck_assert_int_eq(pagedet_survey(pd, field, PAGEDET_SOURCE_PROCFS, &a),
			 0);
	ck_assert_int_eq(a.can, can);
	if (!can)
		ck_assert_uint_eq(a.reason, PAGEDET_NO_ACCESS);
	ck_assert_int_eq(!*a.advice, can);
}

static void ck_why(const struct pagedet_iter *it, uint32_t field, bool can)
{
	ck_assert_uint_eq(pagedet_why(it, field),
			  can ? PAGEDET_HAVE : PAGEDET_NO_ACCESS);
	ck_assert_int_eq(!*pagedet_why_advice(it, field), can);
}

static void as_nobody(void)
{
	struct pagedet_page row;
	struct pagedet_iter *it;
	unsigned i;

	/*
	 * After a change of user, /proc files belong to root until this call.
	 */
	if (prctl(PR_SET_DUMPABLE, 1))
		ck_abort();
	start();
	ck_assert(!cache_sees_pfns());
	for (i = 0; i < HIDDEN; i++)
		ck_survey(hidden[i], false);
	ck_survey(PAGEDET_FIELD_MAP, false);
	ck_survey(PAGEDET_FIELD_VADDR, true);
	ck_survey(PAGEDET_FIELD_PTE, true);
	it = ask(PAGEDET_TARGET_VIRT, "pfn,swap_type,swap_offset,pte,kind");
	for (i = 0; i < HIDDEN; i++)
		ck_why(it, hidden[i], false);
	/* The entry and the mapping show some kinds. */
	ck_why(it, PAGEDET_FIELD_KIND, true);
	ck_why(it, PAGEDET_FIELD_PTE, true);
	ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
	ck_assert_uint_eq(PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_PFN]),
			  PAGEDET_NO_ACCESS);
	ck_assert_uint_eq(row.kind, PAGEDET_KIND_ANON);
	pagedet_iter_free(it);
	/*
	 * A page asked for by number has one. Only its flags would tell its
	 * owner.
	 */
	it = ask(PAGEDET_TARGET_PFN, "pfn,dev,path,kind");
	ck_why(it, PAGEDET_FIELD_PFN, true);
	ck_why(it, PAGEDET_FIELD_KIND, false);
	ck_why(it, PAGEDET_FIELD_DEV, false);
	ck_why(it, PAGEDET_FIELD_PATH, false);
	pagedet_iter_free(it);
	pagedet_free(pd);
}

START_TEST(numbers_that_are_hidden)
{
	cache_need_root();
	cache_as_nobody(as_nobody);
}
END_TEST

static int handed;		/* pagemap, opened by root */

static void as_nobody_with_pagemap(void)
{
	struct pagedet_page row;
	struct pagedet_iter *it;
	unsigned i;

	if (prctl(PR_SET_DUMPABLE, 1))
		ck_abort();
	ck_assert_int_eq(pagedet_add_fd(pd, PAGEDET_FD_PAGEMAP,
					(uint32_t)getpid(), handed), 0);
	for (i = 0; i < HIDDEN; i++)
		ck_survey(hidden[i], true);
	it = ask(PAGEDET_TARGET_VIRT, "pfn,swap_type,swap_offset");
	for (i = 0; i < HIDDEN; i++)
		ck_why(it, hidden[i], true);
	ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
	ck_assert_uint_eq(PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_PFN]),
			  PAGEDET_HAVE);
	ck_assert_uint_ne(row.pfn, 0);
	pagedet_iter_free(it);
	pagedet_free(pd);
}

START_TEST(a_descriptor_that_was_handed_in)
{
	int status;
	pid_t pid;

	cache_need_root();
	pid = check_fork();
	if (!pid) {
		handed = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
		if (setgid(NOBODY) || setuid(NOBODY) || handed < 0)
			_exit(EXIT_FAILURE);
		start();
		as_nobody_with_pagemap();
		_exit(EXIT_SUCCESS);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(numbers_that_are_shown)
{
	struct pagedet_iter *it;
	unsigned i;

	start();
	if (!cache_sees_pfns())
		unit_skip("page frame numbers are hidden");
	for (i = 0; i < HIDDEN; i++)
		ck_survey(hidden[i], true);
	ck_survey(PAGEDET_FIELD_MAP, true);
	it = ask(PAGEDET_TARGET_VIRT, "pfn,swap_type,swap_offset");
	for (i = 0; i < HIDDEN; i++)
		ck_why(it, hidden[i], true);
	pagedet_iter_free(it);
	pagedet_free(pd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("procfs_hidden");

	unit_test(s, numbers_that_are_hidden);
	unit_test(s, a_descriptor_that_was_handed_in);
	unit_test(s, numbers_that_are_shown);
	return unit_main(s);
}
