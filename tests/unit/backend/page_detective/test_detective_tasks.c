/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests addresses of several tasks, some repeated, through page_detective's
 * file "query": some tasks have ended, some changed their name. Also tests
 * whether pids in files below a root are valid here.
 */
#include <errno.h>
#include <unistd.h>

#include "backend/page_detective/page_detective.h"
#include "../../driver.h"

#define PAGE(pid, addr, pfn)                                              \
	"page pid=" pid " virt=" addr " level=pte entry=0x8000000000" pfn \
	"867 phys=0x" pfn "000 pfn=0x" pfn " state=have head=0x" pfn      \
	" refcount=1 flags=0x0 kpageflags=0x5828 order=0 mapcount=1\\n"
#define MAP(comm, pfn)                                               \
	"map kind=user level=pte entry=0x8000000000" pfn "867 "      \
	"addr=0x1000 pid=100 comm=" comm "\\n"
#define SUM(pfn, n) "maps pfn=0x" pfn " kernel=0 user=" n " complete=1\\n"

static void make(const char *plan)
{
	driver_make(plan);
	driver_write("sys/kernel/debug/page_detective/query", "");
}

#define STATE(row, field) PAGEDET_CELL_STATE((row).cell[field])

static const struct {
	const char *name, *plan;
} ends[] = {
	{ "before", "{\"query\": ["
	  "[\"virt 100 \", \"" PAGE("100", "0x1000", "11") "end\\n\", 0], "
	  "[\"virt 300 \", \"" PAGE("300", "0x1000", "31") "end\\n\", 0], "
	  "[\"virt 200 \", \"\", 3]]}" },
	{ "after its first page", "{\"query\": ["
	  "[\"virt 100 \", \"" PAGE("100", "0x1000", "11") "end\\n\", 0], "
	  "[\"virt 300 \", \"" PAGE("300", "0x1000", "31") "end\\n\", 0], "
	  "[\"virt 200 0x1000 \", \"" PAGE("200", "0x1000", "21")
	  "end\\n\", 0, 1], [\"virt 200 \", \"\", 3]]}" },
};

/* An ended task does not prevent answers about the others. */
START_TEST(ended)
{
	const struct pagedet_item items[] = {
		{ 0x1000, 1, 100, 0 }, { 0x1000, 0x3000, 200, 0 },
		{ 0x1000, 1, 300, 0 },
	};
	struct pagedet_coverage c = { .size = sizeof(c) };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet *pd = pagedet_new();
	struct pagedet_page rows[8];
	struct pagedet_iter *it;
	int n, r;

	make(ends[_i].plan);
	driver_open(pd);
	q.target = PAGEDET_TARGET_VIRT;
	q.items = items;
	q.n_items = 3;
	q.options = PAGEDET_Q_CHEAP;
	ck_assert_int_eq(pagedet_query(pd, &q, &it), 0);
	for (n = 0; n < 8; n += r) {
		r = (int)pagedet_next(it, rows + n, 8 - (size_t)n);
		ck_assert_msg(r >= 0, "%s: %s", ends[_i].name,
			      pagedet_error(pd));
		if (!r)
			break;
	}
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(rows[0].pfn, 0x11);
	ck_assert_uint_eq(rows[1].pfn, 0x31);
	ck_assert_int_eq(pagedet_coverage(it, &c), 0);
	ck_assert_uint_eq(c.tasks_gone, 1);
	pagedet_iter_free(it);
	pagedet_free(pd);
	driver_remove();
}
END_TEST

/* The task of the last question was replaced, or has another name. */
START_TEST(renamed)
{
	const struct pagedet_item item = { 0x1000, 1, 100, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet *pd = pagedet_new();
	static const char *const names[] = { "old", "new", NULL };
	struct pagedet_page row;
	struct pagedet_iter *it;
	const char *comm;
	size_t i, len;

	make("{\"query\": ["
	     "[\"phys 0x11000 walk\", \"" PAGE("100", "0x1000", "11")
	     MAP("old", "11") SUM("11", "1") "end\\n\", 0, 1], "
	     "[\"phys 0x11000 walk\", \"" PAGE("100", "0x1000", "11")
	     MAP("new", "11") SUM("11", "1") "end\\n\", 0, 1], "
	     "[\"phys 0x11000 walk\", \"" PAGE("100", "0x1000", "11")
	     SUM("11", "0") "end\\n\", 0], "
	     "[\"virt \", \"" PAGE("100", "0x1000", "11") "end\\n\", 0]]}");
	driver_open(pd);
	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	q.fields[PAGEDET_FIELD_COMM / 64] |=
		UINT64_C(1) << PAGEDET_FIELD_COMM % 64;
	q.fields[PAGEDET_FIELD_USER_MAPS / 64] |=
		UINT64_C(1) << PAGEDET_FIELD_USER_MAPS % 64;
	ck_assert_int_eq(pagedet_query(pd, &q, &it), 0);
	for (i = 0; i < 3; i++) {
		if (i)
			ck_assert_int_eq(pagedet_iter_retarget(it, &item, 1),
					 0);
		ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
		if (!names[i]) {
			ck_assert_int_eq(STATE(row, PAGEDET_FIELD_COMM),
					 PAGEDET_UNSUPPORTED);
			continue;
		}
		ck_assert_int_eq(STATE(row, PAGEDET_FIELD_COMM), PAGEDET_HAVE);
		comm = pagedet_string(it, row.comm, &len);
		ck_assert_ptr_nonnull(comm);
		ck_assert_str_eq(comm, names[i]);
	}
	pagedet_iter_free(it);
	pagedet_free(pd);
	driver_remove();
}
END_TEST

/* --- numbers --- */

/* %ld is a pid of this namespace. */
static const struct {
	const char *name, *self, *status;
	bool otherwise;
} roots[] = {
	{ "ours", "%ld", "Name:\tx\nNSpid:\t%ld\n", false },
	{ "a kernel with one namespace", "%ld", "Name:\tx\n", false },
	{ "the one above ours", "1%ld", "NSpid:\t1%ld\t%ld\n", true },
	{ "by chance the same number", "%ld", "NSpid:\t%ld\t%ld\n", true },
	{ "one that we are not in", NULL, NULL, true },
	{ "no status", "%ld", NULL, true },
};

START_TEST(numbers)
{
	const long own = getpid();
	char path[PATH_MAX], text[256];
	struct pdet_env env = { .root = driver_root };

	ck_assert_ptr_nonnull(mkdtemp(driver_root));
	snprintf(path, sizeof(path), "%s/proc", driver_root);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	if (roots[_i].self) {
		snprintf(path, sizeof(path), "%s/proc/self", driver_root);
		snprintf(text, sizeof(text), roots[_i].self, own);
		ck_assert_int_eq(symlink(text, path), 0);
		snprintf(path, sizeof(path), "%s/proc/%s", driver_root, text);
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	if (roots[_i].status) {
		snprintf(text, sizeof(text), roots[_i].status, own, own);
		driver_write("proc/self/status", text);
	}
	ck_assert_msg(page_detective_counts_otherwise(&env) ==
		      roots[_i].otherwise, "%s", roots[_i].name);
	driver_remove();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("detective_tasks");

	unit_loop(s, ended, 2);
	unit_test(s, renamed);
	unit_loop(s, numbers, (int)(sizeof(roots) / sizeof(*roots)));
	return unit_main(s);
}
