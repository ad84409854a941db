/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Provides a huge page of 2 MiB during a test, if it runs as root and the
 * kernel has the memory. The pool belongs to the whole machine. Programs that
 * change it take turns, tests/live/planter among them, and each restores it.
 */
#ifndef TESTS_HUGE_H
#define TESTS_HUGE_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <unistd.h>

#include "unit.h"

#define HUGE_POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/"

/* The lock of tests/live/planter_keep.c, in one of two places. */
#define HUGE_LOCK "pagedet-test-plant"
/* So long a turn of another one may take: 0.1 s each. */
#define HUGE_TRIES 6000

static struct {
	int fd;			/* nr_hugepages */
	int lock;
	unsigned long before;
} huge_pool;

static inline bool huge_read(int fd, unsigned long *ret)
{
	char text[32];
	const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	*ret = strtoul(text, NULL, 10);
	return true;
}

static inline void huge_write(unsigned long pages)
{
	char text[32];
	const int n = snprintf(text, sizeof(text), "%lu", pages);

	/* The kernel may add fewer pages; the user of the page notices. */
	(void)!pwrite(huge_pool.fd, text, (size_t)n, 0);
}

static inline unsigned long huge_free_pages(void)
{
	const int fd = open(HUGE_POOL "free_hugepages", O_RDONLY | O_CLOEXEC);
	unsigned long n = 0;

	if (fd < 0)
		return 0;
	huge_read(fd, &n);
	close(fd);
	return n;
}

/* Whether it is our turn. Where there can be no lock there is none. */
static inline bool huge_lock(void)
{
	const int how = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
	int i;

	huge_pool.lock = open("/run/lock/" HUGE_LOCK, how, 0600);
	if (huge_pool.lock < 0)
		huge_pool.lock = open("/tmp/" HUGE_LOCK, how, 0600);
	for (i = 0; huge_pool.lock >= 0 && i < HUGE_TRIES; i++) {
		if (!flock(huge_pool.lock, LOCK_EX | LOCK_NB))
			return true;
		usleep(100000);
	}
	return huge_pool.lock < 0;
}

static inline void huge_unlock(void)
{
	if (huge_pool.lock >= 0)
		close(huge_pool.lock);
}

static void huge_set_up(void)
{
	huge_pool.fd = open(HUGE_POOL "nr_hugepages", O_RDWR | O_CLOEXEC);
	if (huge_pool.fd < 0)
		return;
	if (!huge_lock() || !huge_read(huge_pool.fd, &huge_pool.before)) {
		huge_unlock();
		close(huge_pool.fd);
		huge_pool.fd = -1;
		return;
	}
	if (!huge_free_pages())
		huge_write(huge_pool.before + 1);
}

static void huge_tear_down(void)
{
	if (huge_pool.fd < 0)
		return;
	huge_write(huge_pool.before);
	close(huge_pool.fd);
	huge_unlock();
}

/* Adds a test that needs such a page. The pool is restored even if it fails. */
static inline void huge_test(Suite *suite, const char *name,
			     const TTest *test)
{
	TCase *tc = tcase_create(name);

	tcase_add_unchecked_fixture(tc, huge_set_up, huge_tear_down);
	tcase_add_test(tc, test);
	suite_add_tcase(suite, tc);
}

#endif
