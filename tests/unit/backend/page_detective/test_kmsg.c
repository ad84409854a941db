/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: page_detective */
/*
 * Tests Page Detective's answers in a log that is overwritten before it is
 * read. The question is asked again, and in the end the answer is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "../../driver.h"

ssize_t __real_read(int fd, void *buf, size_t size);
ssize_t __wrap_read(int fd, void *buf, size_t size);

static char kmsg[128];
static int overruns;		/* number of times that the log overruns */
static int again;		/* number of times that nothing is there yet */

/* Simulates an overrun: -EPIPE, and the next record is the newest. */
ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	struct stat a, b;

	if (fstat(fd, &a) || stat(kmsg, &b) || a.st_ino != b.st_ino ||
	    a.st_dev != b.st_dev || lseek(fd, 0, SEEK_CUR) == b.st_size)
		return __real_read(fd, buf, size);
	if (again) {
		again--;
		errno = EAGAIN;
		return -1;
	}
	if (!overruns)
		return __real_read(fd, buf, size);
	overruns--;
	lseek(fd, 0, SEEK_END);
	errno = EPIPE;
	return -1;
}

static void make_root(const char *plan)
{
	char text[PATH_MAX + 256];

	snprintf(text, sizeof(text), "{\"capture\": \"%s/tests/fixtures/"
		 "page_detective/queries/anon.phys.kmsg\"%s}",
		 driver_top(), plan);
	driver_make(text);
	snprintf(kmsg, sizeof(kmsg), "%s/dev/kmsg", driver_root);
	driver_write("dev/kmsg", "");
}

static int count_asked(void)
{
	char path[PATH_MAX], line[128];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/asked", driver_root);
	f = fopen(path, "r");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	return n;
}

static int warnings;

static void hear(void *user, int level, const char *text)
{
	(void)user;
	(void)level;
	warnings += strstr(text, "was lost") != NULL;
}

/* Asks about the page of the capture. */
static void ask(struct pagedet_page *row)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_item item = { 0x7bee, 1, 0, 0 };
	struct pagedet *pd = pagedet_new();
	struct pagedet_iter *it;

	pagedet_set_log(pd, hear, NULL, PAGEDET_LOG_WARNING);
	driver_open(pd);
	q.target = PAGEDET_TARGET_PFN;
	q.items = &item;
	q.n_items = 1;
	q.options = PAGEDET_Q_CHEAP;
	ck_assert_int_eq(pagedet_query(pd, &q, &it), 0);
	ck_assert_int_eq(pagedet_next(it, row, 1), 1);
	pagedet_iter_free(it);
	pagedet_free(pd);
}

#define STATE(row, field) PAGEDET_CELL_STATE((row).cell[field])

START_TEST(test_lost_and_asked_again)
{
	struct pagedet_page row;

	make_root("");
	/* two overruns in one answer, or one in each of two */
	overruns = 2;
	ask(&row);
	ck_assert_int_eq(STATE(row, PAGEDET_FIELD_REFCOUNT), PAGEDET_HAVE);
	ck_assert_int_eq(row.refcount, 2);
	ck_assert_int_ge(count_asked(), 2);
	ck_assert_int_le(count_asked(), 3);
	ck_assert_int_eq(warnings, 0);
	driver_remove();
}
END_TEST

START_TEST(test_lost)
{
	struct pagedet_page row;

	make_root("");
	overruns = 100;
	ask(&row);
	ck_assert_int_eq(STATE(row, PAGEDET_FIELD_REFCOUNT), PAGEDET_IO);
	ck_assert_int_eq(count_asked(), 3);
	ck_assert_int_eq(warnings, 1);
	driver_remove();
}
END_TEST

START_TEST(test_not_there_yet)
{
	struct pagedet_page row;

	make_root("");
	again = 20;
	ask(&row);
	ck_assert_int_eq(row.refcount, 2);
	ck_assert_int_eq(count_asked(), 1);
	driver_remove();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kmsg");

	unit_test(s, test_lost_and_asked_again);
	unit_test(s, test_lost);
	unit_test(s, test_not_there_yet);
	return unit_main(s);
}
