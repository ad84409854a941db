/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the order of more events than are kept in memory. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "trace/perf/sorter.h"
#include "../unit.h"

/* Many times what is kept in memory. */
#define MANY 120000u
#define MOST 1000u
#define CPUS 7u
/* As perf reads a buffer. */
#define BUFFER 5000u

static struct pdet_sorter sorter;
static struct pdet_trace_piece piece;
static uint64_t given, wrong, last_ns, last_cpu, last_number;

/* The errno of a file that cannot be used. An assertion for each event would
 * take long. */
static int try_put(uint64_t ns, uint16_t cpu, uint64_t number)
{
	const int r = pdet_sorter_relieve(&sorter);
	struct pdet_kmem_event *e = r < 0 ? NULL : pdet_sorter_room(&sorter);

	if (!e)
		return r;
	*e = (struct pdet_kmem_event){ .ns = ns, .cpu = cpu, .object = number,
				       .cache = "name", .cache_len = 4 };
	return pdet_sorter_add(&sorter) ? 0 : -ENOMEM;
}

static void put(uint64_t ns, uint16_t cpu, uint64_t number)
{
	const int r = try_put(ns, cpu, number);

	if (r == -ENOSPC || r == -EROFS)
		unit_skip("the folder of temporary files takes no more");
	if (r < 0)
		ck_abort_msg("put: %d", r);
}

static bool is_behind_last(const struct pdet_kmem_event *e)
{
	if (!given || e->ns != last_ns)
		return !given || e->ns > last_ns;
	return e->cpu != last_cpu ? e->cpu > last_cpu :
				    e->object > last_number;
}

/* Equal ones are in the order in which they were put. */
static void check_piece(uint64_t until)
{
	const struct pdet_kmem_event *e;
	size_t i;

	for (i = 0; i < piece.n; i++) {
		e = piece.data[i];
		wrong += e->ns > until || !is_behind_last(e) ||
			 memcmp(e->cache, "name", 4);
		last_ns = e->ns;
		last_cpu = e->cpu;
		last_number = e->object;
		given++;
	}
}

static void take(uint64_t until)
{
	int r = pdet_sorter_take(&sorter, until, &piece);

	ck_assert_int_eq(r, 0);
	check_piece(until);
	while (sorter.is_giving) {
		ck_assert_int_eq(pdet_sorter_go_on(&sorter, &piece), 0);
		check_piece(until);
	}
	ck_assert_uint_eq(wrong, 0);
}

static void begin(void)
{
	memset(&sorter, 0, sizeof(sorter));
	sorter.most = sorter.most_alone = MOST;
	given = wrong = 0;
}

static void end(void)
{
	pdet_sorter_free(&sorter);
	pdet_vec_free(&piece);
}

/* Buffers of the processors, one after the other; many times are equal. */
static void put_many(uint64_t *number, uint64_t from)
{
	unsigned i;

	for (i = 0; i < MANY; i++)
		put(from + i / (BUFFER * CPUS) * BUFFER + i % BUFFER / 3,
		    (uint16_t)(i / BUFFER % CPUS), ++*number);
}

START_TEST(one_round)
{
	uint64_t number = 0;

	begin();
	put_many(&number, 0);
	take(UINT64_MAX);
	ck_assert_uint_eq(given, MANY);
	ck_assert_uint_eq(sorter.spill.runs.n, 0);
	end();
}
END_TEST

/* What is later than the end of a round stays, in the file or in memory. */
START_TEST(rounds)
{
	uint64_t number = 0, all;

	begin();
	put(UINT64_MAX - 1, 0, ++number);
	put_many(&number, 0);
	take(500);
	ck_assert_uint_gt(given, 0);
	put(501, 3, ++number);
	take(501);
	ck_assert_uint_eq(last_ns, 501);
	all = given;
	/* Nothing new is until then. */
	take(501);
	ck_assert_uint_eq(given, all);
	put_many(&number, 600);
	take(UINT64_MAX - 2);
	ck_assert_uint_eq(given, number - 1);
	/* A round as usual, while one event is still in the file. */
	ck_assert_uint_gt(sorter.spill.runs.n, 0);
	put(last_ns + 1, 1, ++number);
	take(UINT64_MAX - 2);
	ck_assert_uint_eq(given, number - 1);
	take(UINT64_MAX);
	ck_assert_uint_eq(given, number);
	ck_assert_uint_eq(sorter.spill.runs.n, 0);
	end();
}
END_TEST

/* Puts events until that fails. Returns how many, and what it says. */
static uint64_t put_until(unsigned most, int *ret)
{
	unsigned i;

	for (i = 0, *ret = 0; i < most && *ret == 0; i++)
		*ret = try_put(most - i, (uint16_t)(i % CPUS), i + 1);
	return i;
}

START_TEST(no_folder)
{
	int r;

	setenv("TMPDIR", "/nonexistent", 1);
	begin();
	put_until(MANY, &r);
	ck_assert_int_eq(r, -ENOENT);
	end();
	/* More memory is used before that is an error. */
	begin();
	sorter.most_alone = 10 * MOST;
	ck_assert_uint_gt(put_until(MANY, &r), 10 * MOST);
	ck_assert_int_eq(r, -ENOENT);
	end();
	begin();
	sorter.most_alone = MANY + 1;
	ck_assert_uint_eq(put_until(MANY, &r), MANY);
	ck_assert_int_eq(r, 0);
	take(UINT64_MAX);
	ck_assert_uint_eq(given, MANY);
	end();
	unsetenv("TMPDIR");
}
END_TEST

/* The disk is full while a run is written; later it is not. */
START_TEST(full)
{
	uint64_t number = 0;
	int r;

	begin();
	sorter.most_alone = MANY + 30 * MOST;
	put_many(&number, 0);
	ck_assert(!sorter.is_alone);
	sorter.spill.most = sorter.spill.held + 1;
	put_many(&number, MANY);
	ck_assert(sorter.is_alone);
	ck_assert_uint_gt(sorter.events.n, MOST);
	sorter.spill.most = UINT64_MAX;
	put_many(&number, 2 * MANY);
	ck_assert(!sorter.is_alone);
	take(UINT64_MAX);
	ck_assert_uint_eq(given, number);
	end();
	begin();
	sorter.most_alone = 5 * MOST;
	put_many(&number, 0);
	sorter.spill.most = sorter.spill.held + 1;
	put_until(MANY, &r);
	ck_assert_int_eq(r, -PDET_SPILL_FULL);
	end();
}
END_TEST

/* Whether the filesystem gives back a part of a file. */
static bool makes_holes(void)
{
	return fallocate(sorter.spill.fd, FALLOC_FL_PUNCH_HOLE |
			 FALLOC_FL_KEEP_SIZE, 0, 1) == 0;
}

/* One event stays in the file, all others leave it: the disk gets them back. */
START_TEST(given_back)
{
	const uint64_t event = sizeof(struct pdet_kmem_event);
	uint64_t number = 0;
	struct stat st;
	unsigned i;

	begin();
	put(UINT64_MAX - 1, 0, ++number);
	for (i = 0; i < 20; i++) {
		put_many(&number, (uint64_t)i * MANY);
		if (!i && !makes_holes())
			unit_skip("this filesystem makes no holes");
		ck_assert_int_eq(fstat(sorter.spill.fd, &st), 0);
		/* Each run may keep some blocks. */
		ck_assert_uint_lt((uint64_t)st.st_blocks * 512,
				  3 * MANY * event);
		sorter.spill.most = 3 * MANY * event;
		take(UINT64_MAX - 2);
		ck_assert_uint_eq(given, number - 1);
	}
	take(UINT64_MAX);
	ck_assert_uint_eq(given, number);
	ck_assert_uint_eq(sorter.spill.held, 0);
	end();
}
END_TEST

/* The folder of all unit tests, also if the environment names none. */
static void set_folder(void)
{
	char path[PATH_MAX];

	unit_temp(path, sizeof(path));
	*strrchr(path, '/') = '\0';
	setenv("TMPDIR", path, 1);
}

int main(void)
{
	Suite *s = suite_create("sorter");

	set_folder();
	unit_test(s, one_round);
	unit_test(s, rounds);
	unit_test(s, no_folder);
	unit_test(s, full);
	unit_test(s, given_back);
	return unit_main(s);
}
