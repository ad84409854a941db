/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests reading the running kernel's page_owner with several threads. A file
 * replaces it, which gives the first record from an offset on, as the kernel's
 * does. The program is linked with --wrap, which redirects reads to this test.
 * Each record is counted once, whichever thread reads it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "owners/owners.h"
#include "../unit.h"

/* No descriptor has this number. */
#define FD 1000000

#define MAX_RECORDS 20000

/* The simulated page_owner. */
static struct {
	struct {
		uint64_t pfn;
		unsigned order, stack;
		const char *comm;
	} record[MAX_RECORDS];
	size_t n;
	uint64_t unwritable;	/* the record of this page; 0: none */
	int short_of_memory;	/* number of reads that fail */
	uint64_t failing;	/* EIO from this page on; 0: none */
	bool modes;		/* it can write numbers of stacks */
	bool numbers;		/* it does */
	unsigned asked;		/* how often it was told to */
	atomic_uint stacks;	/* records written with their stacks */
	atomic_uint numbered;	/* and with their numbers */
	pthread_mutex_t lock;
} kernel = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct pdet_env env;

ssize_t __real_pread64(int fd, void *buf, size_t size, off_t at);
ssize_t __wrap_pread64(int fd, void *buf, size_t size, off_t at);

static int fail_with(int error)
{
	errno = error;
	return -1;
}

static bool memory_is_short(void)
{
	bool is;

	pthread_mutex_lock(&kernel.lock);
	is = kernel.short_of_memory > 0;
	kernel.short_of_memory -= is;
	pthread_mutex_unlock(&kernel.lock);
	return is;
}

ssize_t __wrap_pread64(int fd, void *buf, size_t size, off_t at)
{
	const uint64_t pfn = (uint64_t)at;
	size_t low = 0, high = kernel.n, mid;

	if (fd != FD)
		return __real_pread64(fd, buf, size, at);
	while (low < high) {
		mid = (low + high) / 2;
		if (kernel.record[mid].pfn < pfn)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == kernel.n)
		return 0;
	if (memory_is_short() || (kernel.unwritable &&
	    kernel.record[low].pfn == kernel.unwritable))
		return fail_with(ENOMEM);
	if (kernel.failing && kernel.record[low].pfn >= kernel.failing)
		return fail_with(EIO);
	kernel.stacks += !kernel.numbers;
	kernel.numbered += kernel.numbers;
	return snprintf(buf, size, "Page allocated via order %u, mask "
			"0xcc0(GFP_KERNEL), pid 7, tgid 6 (%s), ts %llu ns\n"
			"PFN 0x%llx type Movable Block 7 type Movable "
			"Flags 0x17(locked)\n%s%u%s\n",
			kernel.record[low].order, kernel.record[low].comm,
			(unsigned long long)kernel.record[low].pfn,
			(unsigned long long)kernel.record[low].pfn,
			kernel.numbers ? "handle: 9" : " function_",
			kernel.record[low].stack,
			kernel.numbers ? "\n" : "+0x1/0x2\n");
}

static char stacks[512];

/* Lists the stacks, as the kernel's file does. */
static void list_stacks(unsigned without)
{
	FILE *f = fopen(stacks, "w");
	unsigned i;

	ck_assert_ptr_nonnull(f);
	for (i = 0; i < 64; i++)
		if (i != without)
			fprintf(f, " function_%u+0x1/0x2\nhandle: 9%u\n\n", i,
				i);
	fclose(f);
}

ssize_t __real_write(int fd, const void *buf, size_t n);
ssize_t __wrap_write(int fd, const void *buf, size_t n);

ssize_t __wrap_write(int fd, const void *buf, size_t n)
{
	static const char number[] = "mode=handle", stack[] = "mode=stack";

	if (fd != FD)
		return __real_write(fd, buf, n);
	if (!kernel.modes)
		return fail_with(EINVAL);
	if (n == sizeof(number) - 1 && !memcmp(buf, number, n)) {
		kernel.numbers = true;
		kernel.asked++;
	} else if (n == sizeof(stack) - 1 && !memcmp(buf, stack, n)) {
		kernel.numbers = false;
	} else {
		return fail_with(EINVAL);
	}
	return (ssize_t)n;
}

static void add(uint64_t pfn, unsigned order, unsigned stack)
{
	ck_assert_uint_lt(kernel.n, MAX_RECORDS);
	ck_assert(!kernel.n || kernel.record[kernel.n - 1].pfn < pfn);
	kernel.record[kernel.n].pfn = pfn;
	kernel.record[kernel.n].order = order;
	kernel.record[kernel.n].stack = stack;
	kernel.record[kernel.n++].comm = "cat";
}

/*
 * Makes memory with holes, large allocations across chunk borders, and a
 * distant second bank.
 */
static void fill(void)
{
	uint64_t state = 5, pfn;

	add(0, 0, 0);
	for (pfn = 1; pfn < 30000; pfn += 1 + unit_random(&state) % 5)
		add(pfn, 0, (unsigned)(unit_random(&state) % 40));
	add(32768 - 1, 0, 1);
	add(32768, 13, 2);	/* two chunks long */
	add(32768 + 8192, 0, 3);
	add(0x40000000ull - 1, 0, 4);
	add(0x40000000ull, 0, 5);
	add(0x123456789abull, 2, 6);
	add(INT64_MAX - 1, 0, 7);
}

static struct pdet_watch watch;
static struct pdet_owner_asked asked;
static struct pdet_owners_reading got;

static int read_by(unsigned threads, bool numbers)
{
	pdet_watch_init(&watch, 0, NULL, NULL, 0);
	asked = (struct pdet_owner_asked){
		.by = { PAGEDET_OWNER_STACK }, .n_by = 1,
		.source = PAGEDET_SOURCE_PAGE_OWNER,
	};
	got = (struct pdet_owners_reading){
		.env = &env, .asked = &asked, .watch = &watch,
		.threads = threads,
		.sum = { .table = { .groups = { .n_keys = 1 } } },
	};
	return numbers ? pdet_owners_read_numbers(&got, FD, "page_owner",
						  stacks) :
			 pdet_owners_read_live(&got, FD, "page_owner");
}

static const struct pdet_owner_total *group_of(unsigned stack)
{
	char name[64];
	size_t i, len = 0;

	snprintf(name, sizeof(name), "function_%u+0x1/0x2\n", stack);
	for (i = 0; i < got.sum.table.totals.n; i++) {
		const struct pdet_groups *g = &got.sum.table.groups;
		const char *text =
			pdet_groups_text(g, *pdet_groups_value(g, i), &len);

		if (text && !strcmp(text, name))
			return &got.sum.table.totals.data[i];
	}
	return NULL;
}

/* Checks that all records came, except the one at @without. */
static void judge(size_t without)
{
	uint64_t times[64] = { 0 }, pages[64] = { 0 };
	unsigned stack, groups = 0;
	size_t i;

	for (i = 0; i < kernel.n; i++) {
		if (i == without)
			continue;
		times[kernel.record[i].stack]++;
		pages[kernel.record[i].stack] +=
			(uint64_t)1 << kernel.record[i].order;
	}
	for (stack = 0; stack < 64; stack++) {
		const struct pdet_owner_total *t = group_of(stack);

		ck_assert_int_eq(!t, !times[stack]);
		groups += !!t;
		if (!t)
			continue;
		ck_assert_uint_eq(t->times, times[stack]);
		ck_assert_uint_eq(t->pages, pages[stack]);
	}
	ck_assert_uint_eq(got.sum.table.totals.n, groups);
	pdet_owner_count_free(&got.sum);
}

#define ALL SIZE_MAX

START_TEST(each_record_once)
{
	static const unsigned threads[] = { 1, 2, 3, 8 };

	fill();
	ck_assert_int_eq(read_by(threads[_i], false), 0);
	ck_assert(!got.partial && !got.sum.left.damaged);
	judge(ALL);
}
END_TEST

/* Allocations at the first and last pages of chunks. */
START_TEST(at_the_borders)
{
	uint64_t chunk;

	for (chunk = 0; chunk < 10; chunk++) {
		if (chunk)
			add(chunk * 4096 - 1, 0, 1);
		add(chunk * 4096, 0, 2);
		add(chunk * 4096 + 1, 0, 3);
	}
	ck_assert_int_eq(read_by((unsigned)_i + 1, false), 0);
	judge(ALL);
}
END_TEST

START_TEST(memory_is_short_for_a_moment)
{
	fill();
	kernel.short_of_memory = 2;
	ck_assert_int_eq(read_by(1, false), 0);
	ck_assert(!got.partial && !got.sum.left.unprinted);
	judge(ALL);
}
END_TEST

/* It is counted, and all others are present. */
START_TEST(a_record_that_the_kernel_cannot_write)
{
	static const size_t which[] = { 0, 1, 5000, 9000 };
	size_t without = which[_i % 4];

	fill();
	if (_i % 4 == 3)
		without = kernel.n - 3;
	kernel.unwritable = kernel.record[without].pfn;
	if (!kernel.unwritable)
		kernel.unwritable = kernel.record[without = 2].pfn;
	ck_assert_int_eq(read_by(_i < 4 ? 1 : 2, false), 0);
	ck_assert_uint_eq(got.sum.left.unprinted, 1);
	ck_assert(got.partial);
	judge(without);
}
END_TEST

START_TEST(a_read_that_fails)
{
	size_t i, n = 0;
	uint64_t times = 0;

	fill();
	kernel.failing = 4096 * 3;
	for (i = 0; i < kernel.n; i++)
		n += kernel.record[i].pfn < kernel.failing;
	ck_assert_int_eq(read_by(1, false), 0);
	ck_assert(got.partial);
	for (i = 0; i < got.sum.table.totals.n; i++)
		times += got.sum.table.totals.data[i].times;
	ck_assert_uint_eq(times, n);
	pdet_owner_count_free(&got.sum);

	kernel.failing = 1;
	kernel.record[0].pfn = 1;
	ck_assert_int_eq(read_by(2, false), -EIO);
	ck_assert_str_eq(env.error, "cannot read page_owner: Input/output "
			 "error");
	pdet_owner_count_free(&got.sum);
}
END_TEST

/* A task name that looks like the line with the page. */
START_TEST(a_name_like_a_page)
{
	fill();
	kernel.record[77].comm = "a\nPFN 0xfffffff";
	kernel.record[78].comm = "(), ts 1 ns\n";
	ck_assert_int_eq(read_by(2, false), 0);
	ck_assert_uint_eq(got.sum.left.damaged, 0);
	judge(ALL);
}
END_TEST

/* A piece of text that is not understood is counted, and reading continues. */
START_TEST(a_record_that_is_damaged)
{
	fill();
	kernel.record[77].comm = "a name that is far too long for a task";
	ck_assert_int_eq(read_by(_i ? 2 : 1, false), 0);
	ck_assert_uint_eq(got.sum.left.damaged, 1);
	ck_assert(got.partial);
	judge(77);
}
END_TEST

/* A kernel that can write the numbers of stacks, and what may go wrong. */
START_TEST(by_number)
{
	static const struct {
		bool modes;
		unsigned without;
		bool numbers;	/* no stack was read */
	} cases[] = {
		{ true, 64, true },	/* all stacks are listed */
		{ true, 3, false },	/* not all, as before it began */
		{ false, 64, false },
	};

	fill();
	ck_assert_int_ge(mkstemp(unit_temp(stacks, sizeof(stacks))), 0);
	kernel.modes = cases[_i].modes;
	list_stacks(cases[_i].without);
	ck_assert_int_eq(read_by(2, true), 0);
	unlink(stacks);
	ck_assert(!got.partial && !got.sum.left.damaged);
	ck_assert_uint_eq(got.sum.left.numbers, 0);
	ck_assert_int_eq(!kernel.stacks, cases[_i].numbers);
	/* The text is not read for the same numbers again. */
	ck_assert_uint_eq(kernel.asked, cases[_i].modes);
	/* Nor to its end, if that has become useless. */
	if (!cases[_i].numbers)
		ck_assert_uint_lt(kernel.numbered, kernel.n / 4);
	judge(ALL);
}
END_TEST

/* The list of stacks is not there, or has another form. */
START_TEST(by_number_without_stacks)
{
	static const char *const texts[] = {
		NULL, "", " f+0x1/0x2\n", " f+0x1/0x2\nhandle: x\n\n",
		"handle: 3\n\n", " f+0x1/0x2\nnr_base_pages: 3\n\n",
	};
	const char *text = texts[_i];
	int fd = mkstemp(unit_temp(stacks, sizeof(stacks)));

	ck_assert_int_ge(fd, 0);
	if (text)
		ck_assert_int_eq(__real_write(fd, text, strlen(text)),
				 (ssize_t)strlen(text));
	else
		unlink(stacks);
	close(fd);
	fill();
	kernel.modes = true;
	ck_assert_int_eq(read_by(1, true), 0);
	unlink(stacks);
	ck_assert(!kernel.numbers);
	judge(ALL);
}
END_TEST

START_TEST(nothing_there)
{
	ck_assert_int_eq(read_by(2, false), -EBADMSG);
	ck_assert_str_eq(env.error, "cannot read page_owner: it is empty");
	pdet_owner_count_free(&got.sum);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("owners_live");

	unit_loop(s, each_record_once, 4);
	unit_loop(s, at_the_borders, 3);
	unit_test(s, memory_is_short_for_a_moment);
	unit_loop(s, a_record_that_the_kernel_cannot_write, 8);
	unit_test(s, a_read_that_fails);
	unit_test(s, a_name_like_a_page);
	unit_loop(s, a_record_that_is_damaged, 2);
	unit_loop(s, by_number, 3);
	unit_loop(s, by_number_without_stacks, 6);
	unit_test(s, nothing_there);
	return unit_main(s);
}
