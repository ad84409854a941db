/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests ending the grouping of owners by a deadline or the progress callback.
 * Records read so far are grouped, and the total says that they are a part.
 * Pipes may never end, and FIFOs may never begin.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <pagedet.h>

#include "../unit.h"

#define SECOND_NS 1000000000ull

#define RECORD "Page allocated via order 1, mask 0xcc0(GFP_KERNEL), pid 7, " \
	       "tgid 6 (cat), ts 99 ns\nPFN 0x1f type Movable Block 7 type " \
	       "Movable Flags 0x17(locked)\n do_fault+0x1/0x2\n " \
	       "handle_mm_fault+0x3/0x4\n\n"
#define HALF "Page allocated via order 1, mask 0xcc0(GFP_KERNEL), pid 7, " \
	     "tgid 6 (cat), ts 99 ns\nPFN 0x20 type Movable Block 7 type " \
	     "Movable Flags 0x17(locked)\n do_fault+0x1/0x2\n"

static struct pagedet *pd;
static struct pagedet_owners_query q;
static struct pagedet_owners *owners;
static struct pagedet_owners_total total;
static char path[64];

/* Arguments that the progress callback got. */
static struct {
	pthread_t thread;
	unsigned calls, cancel_at; /* 0: never */
	uint64_t done, total;
} seen;

static int on_progress(void *user, const struct pagedet_progress *p)
{
	ck_assert_ptr_eq(user, &seen);
	ck_assert(pthread_equal(pthread_self(), seen.thread));
	ck_assert_uint_ge(p->done, seen.done);
	seen.done = p->done;
	seen.total = p->total;
	return ++seen.calls == seen.cancel_at;
}

static void start(void)
{
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
	q = (struct pagedet_owners_query)PAGEDET_OWNERS_QUERY_INIT;
	q.path = path;
	q.progress_user = &seen;
	q.progress_ns = SECOND_NS / 100;
	memset(&seen, 0, sizeof(seen));
	seen.thread = pthread_self();
	owners = NULL;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

/* Groups the text, and measures the time. */
static uint64_t ask(void)
{
	const uint64_t before = now_ns();
	int r = pagedet_owners(pd, &q, &owners);

	ck_assert_msg(r == 0, "%d %s", r, pagedet_error(pd));
	total.size = sizeof(total);
	ck_assert_int_eq(pagedet_owners_total(owners, &total), 0);
	return now_ns() - before;
}

static void end(void)
{
	pagedet_owners_free(owners);
	pagedet_free(pd);
}

/* Makes a pipe with this text, which stays open. */
static void fill_pipe(int fds[2], const char *text)
{
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(write(fds[1], text, strlen(text)), strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
}

static void close_pipe(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Two whole records, and the beginning of a third. */
START_TEST(a_pipe_that_does_not_end)
{
	int fds[2];
	uint64_t took;

	start();
	fill_pipe(fds, RECORD RECORD HALF);
	q.deadline_ns = SECOND_NS;
	q.threads = (uint32_t)_i + 1;
	took = ask();
	ck_assert_uint_ge(took, SECOND_NS);
	ck_assert_uint_lt(took, 60 * SECOND_NS);
	ck_assert_uint_eq(total.stopped, ETIMEDOUT);
	ck_assert_uint_eq(total.complete, 0);
	ck_assert_uint_eq(total.groups, 1);
	ck_assert_uint_eq(total.times, 2);
	ck_assert_uint_eq(total.pages, 4);
	ck_assert_uint_eq(total.damaged, 0);
	end();
	close_pipe(fds);
}
END_TEST

/* Standard input stays the caller's, and is read in its own mode. */
START_TEST(standard_input)
{
	int fds[2];

	start();
	fill_pipe(fds, RECORD RECORD);
	ck_assert_int_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	q.path = "-";
	q.deadline_ns = SECOND_NS / 10;
	ask();
	ck_assert_uint_eq(total.stopped, ETIMEDOUT);
	ck_assert_uint_eq(fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK, 0);
	end();
	close_pipe(fds);
}
END_TEST

START_TEST(a_pipe_with_nothing_in_it)
{
	struct pagedet_owner_group group = { .size = sizeof(group) };
	int fds[2];

	start();
	fill_pipe(fds, "");
	q.deadline_ns = SECOND_NS / 10;
	q.threads = (uint32_t)_i + 1;
	ask();
	ck_assert_uint_eq(total.stopped, ETIMEDOUT);
	ck_assert_uint_eq(total.complete, 0);
	ck_assert_uint_eq(total.groups, 0);
	ck_assert_int_eq(pagedet_owners_next(owners, &group), 0);
	end();
	close_pipe(fds);
}
END_TEST

static void *write_later(void *arg)
{
	int fd = open(arg, O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	usleep(50000);
	ck_assert_int_eq(write(fd, RECORD, strlen(RECORD)), strlen(RECORD));
	close(fd);
	return NULL;
}

/* No one writes at first; then someone does, but late. */
START_TEST(a_fifo)
{
	char folder[] = "/tmp/pagedet.XXXXXX";
	pthread_t thread;

	start();
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	q.deadline_ns = SECOND_NS / 10;
	ck_assert_uint_lt(ask(), 60 * SECOND_NS);
	ck_assert_uint_eq(total.stopped, ETIMEDOUT);
	pagedet_owners_free(owners);

	q.deadline_ns = 100 * SECOND_NS;
	ck_assert_int_eq(pthread_create(&thread, NULL, write_later, path), 0);
	ask();
	pthread_join(thread, NULL);
	ck_assert_uint_eq(total.stopped, 0);
	ck_assert_uint_eq(total.complete, 1);
	ck_assert_uint_eq(total.times, 1);
	end();
	unlink(path);
	rmdir(folder);
}
END_TEST

/*
 * Also while another thread waits for text. The callback runs only on the
 * caller's thread.
 */
START_TEST(cancelled_while_it_waits)
{
	int fds[2];

	start();
	fill_pipe(fds, RECORD);
	q.progress = on_progress;
	q.threads = (uint32_t)_i + 1;
	seen.cancel_at = 5;
	ck_assert_uint_lt(ask(), 60 * SECOND_NS);
	ck_assert_uint_eq(seen.calls, 5);
	ck_assert_uint_eq(total.stopped, ECANCELED);
	ck_assert_uint_eq(total.complete, 0);
	end();
	close_pipe(fds);
}
END_TEST

/* Makes a file with very many records. */
static uint64_t make_file(unsigned n)
{
	int fd = memfd_create("records", MFD_CLOEXEC);
	char *text = malloc(1000 * strlen(RECORD) + 1), *at = text;
	ssize_t bytes;
	unsigned i;

	ck_assert_int_ge(fd, 0);
	for (i = 0; i < 1000; i++)
		at = stpcpy(at, RECORD);
	bytes = at - text;
	for (i = 0; i < n / 1000; i++)
		ck_assert_int_eq(write(fd, text, (size_t)bytes), bytes);
	free(text);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return (uint64_t)bytes * (n / 1000);
}

/* In the middle: the counts match what the total says was read. */
START_TEST(cancelled_in_the_middle)
{
	uint64_t size;

	start();
	size = make_file(400000);
	q.progress = on_progress;
	q.progress_ns = 1;
	q.threads = (uint32_t)_i + 1;
	seen.cancel_at = 20;
	ask();
	ck_assert_uint_eq(total.stopped, ECANCELED);
	ck_assert_uint_eq(seen.total, size);
	ck_assert_uint_gt(seen.done, 0);
	ck_assert_uint_gt(total.times, 0);
	ck_assert_uint_lt(total.times, 400000);
	ck_assert_uint_eq(total.text_bytes, total.times * strlen(RECORD));
	ck_assert_uint_eq(total.damaged, 0);
	end();
}
END_TEST

START_TEST(nobody_ends_it)
{
	uint64_t size;

	start();
	size = make_file(20000);
	q.progress = on_progress;
	q.progress_ns = 1;
	q.deadline_ns = UINT64_MAX;
	q.threads = (uint32_t)_i + 1;
	ask();
	ck_assert_uint_eq(total.stopped, 0);
	ck_assert_uint_eq(total.complete, 1);
	ck_assert_uint_eq(total.times, 20000);
	ck_assert_uint_eq(total.text_bytes, size);
	/* On the calling thread, to which the other one may leave little. */
	ck_assert_uint_gt(seen.calls, _i ? 0 : 1);
	end();
}
END_TEST

/* It has passed before anything is read. */
START_TEST(a_deadline_that_has_passed)
{
	start();
	make_file(20000);
	q.deadline_ns = 1;
	ask();
	ck_assert_uint_eq(total.stopped, ETIMEDOUT);
	ck_assert_uint_eq(total.times, 0);
	end();
}
END_TEST

/* A program built before these members existed does not know them. */
START_TEST(an_older_program)
{
	start();
	make_file(1000);
	q.size = offsetof(struct pagedet_owners_query, deadline_ns);
	q.deadline_ns = 1;
	ask();
	ck_assert_uint_eq(total.complete, 1);
	ck_assert_uint_eq(total.times, 1000);
	total.size = offsetof(struct pagedet_owners_total, stopped);
	total.stopped = 77;
	ck_assert_int_eq(pagedet_owners_total(owners, &total), 0);
	ck_assert_uint_eq(total.stopped, 77);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("owners_stop");

	unit_loop(s, a_pipe_that_does_not_end, 3);
	unit_test(s, standard_input);
	unit_loop(s, a_pipe_with_nothing_in_it, 2);
	unit_test(s, a_fifo);
	unit_loop(s, cancelled_while_it_waits, 3);
	unit_loop(s, cancelled_in_the_middle, 2);
	unit_loop(s, nobody_ends_it, 2);
	unit_test(s, a_deadline_that_has_passed);
	unit_test(s, an_older_program);
	return unit_main(s);
}
