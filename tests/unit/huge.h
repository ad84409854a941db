/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Provides a huge page of 2 MiB during a test, if it runs as root and the
 * kernel has the memory. The pool belongs to the whole machine. Programs that
 * change it take turns, and each restores it.
 */
#ifndef TESTS_HUGE_H
#define TESTS_HUGE_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <unistd.h>

#include "unit.h"

#define HUGE_POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/"

static struct {
	int fd;			/* nr_hugepages, locked */
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

static void huge_set_up(void)
{
	huge_pool.fd = open(HUGE_POOL "nr_hugepages", O_RDWR | O_CLOEXEC);
	if (huge_pool.fd < 0)
		return;
	if (flock(huge_pool.fd, LOCK_EX) ||
	    !huge_read(huge_pool.fd, &huge_pool.before)) {
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
