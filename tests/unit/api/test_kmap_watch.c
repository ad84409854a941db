/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests the functions of watches as a program calls them, on the running
 * kernel. tests/cli/kmap-watch*.sh compare what they count with the truth.
 */
#include <errno.h>
#include <fcntl.h>
#include <pagedet.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "handle.h"

static void set_up(void)
{
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
}

static void tear_down(void)
{
	pagedet_free(pd);
}

/* Opens the running kernel, or skips the test. */
static struct pagedet_kmap_cache *find_filp(uint64_t seed)
{
	struct pagedet_kmap_cache *c = NULL;
	int r = pagedet_open(pd, NULL);

	ck_assert_msg(r == 0, "%s", pagedet_error(pd));
	r = pagedet_kmap_cache(pd, "filp", seed, &c);
	if (r == -ENOTSUP || r == -EACCES || r == -ENOENT)
		unit_skip("objects of a cache are not found here");
	ck_assert_msg(r == 0, "%s", pagedet_error(pd));
	return c;
}

static struct pagedet_kmap_cache_total total_of(struct pagedet_kmap_cache *c)
{
	struct pagedet_kmap_cache_total t = { .size = sizeof(t) };

	ck_assert_int_eq(pagedet_kmap_cache_total(c, &t), 0);
	return t;
}

START_TEST(closed)
{
	struct pagedet_kmap_watch_options o = PAGEDET_KMAP_WATCH_OPTIONS_INIT;
	struct pagedet_kmap_watch *w = NULL;
	struct pagedet_kmap_cache *c = NULL;

	refused(pagedet_kmap_cache(pd, "filp", 1, &c), EINVAL, "not open");
	refused(pagedet_kmap_watch(pd, &o, &w), EINVAL, "not open");
	ck_assert_ptr_null(c);
	ck_assert_ptr_null(w);
	pagedet_kmap_cache_free(NULL);
	pagedet_kmap_watch_free(NULL);
}
END_TEST

/* A copy of a machine has no objects that run. */
START_TEST(copied)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet_kmap_cache *c = NULL;

	o.root = "/.";
	ck_assert_msg(pagedet_open(pd, &o) == 0, "%s", pagedet_error(pd));
	refused(pagedet_kmap_cache(pd, "filp", 1, &c), ENOTSUP,
		"no open source");
	ck_assert_ptr_null(c);
}
END_TEST

START_TEST(drawn)
{
	struct pagedet_kmap_cache *c = find_filp(3), *none = NULL;
	struct pagedet_kmap_drawn o = { .size = 0 };
	struct pagedet_kmap_cache_total t = total_of(c);
	int r;

	ck_assert_str_eq(pagedet_kmap_cache_name(c), "filp");
	ck_assert_uint_gt(t.pages, 0);
	ck_assert_uint_gt(t.room, t.pages);
	ck_assert_uint_gt(t.bytes, 100);
	/* Nothing is drawn for a struct of no size. */
	refused(pagedet_kmap_cache_draw(c, &o), EINVAL, "size");
	t = total_of(c);
	ck_assert_uint_eq(t.drawn + t.free + t.unknown + t.elsewhere, 0);
	o.size = sizeof(o);
	r = pagedet_kmap_cache_draw(c, &o);
	ck_assert_msg(r >= 0, "%s", pagedet_error(pd));
	t = total_of(c);
	ck_assert_uint_eq(t.drawn, r);
	if (r == 1) {
		ck_assert_uint_ge(o.address, 1ull << 63);
		ck_assert_uint_eq(o.address % 8, 0);
		ck_assert_uint_eq(o.bytes, t.bytes);
	} else {
		ck_assert_uint_eq(t.free + t.unknown + t.elsewhere, 1024);
	}
	refused(pagedet_kmap_cache(pd, "flip", 1, &none), ENOENT, "flip");
	ck_assert_ptr_nonnull(strstr(pagedet_advice(pd), "'filp'"));
	pagedet_kmap_cache_free(c);
}
END_TEST

static struct pagedet_kmap_watch *watch(const struct pagedet_kmap_watch_options
					*o)
{
	struct pagedet_kmap_watch *w = NULL;
	const int r = pagedet_kmap_watch(pd, o, &w);

	if (r == -ENOTSUP || r == -EACCES || r == -EAGAIN)
		unit_skip("breakpoints cannot be had here");
	ck_assert_msg(r == 0, "%s", pagedet_error(pd));
	return w;
}

/* Whether a watch of an object that is drawn from @c began with one of @of. */
static int watches(struct pagedet_kmap_cache *c,
		   const struct pagedet_kmap_cache *of)
{
	struct pagedet_kmap_watch_options o = PAGEDET_KMAP_WATCH_OPTIONS_INIT;
	struct pagedet_kmap_drawn object = { .size = sizeof(object) };
	struct pagedet_kmap_watch *w = NULL;
	int r = pagedet_kmap_cache_draw(c, &object);

	if (r == 0)
		unit_skip("no object is known to be in use");
	ck_assert_msg(r == 1, "%s", pagedet_error(pd));
	o.address = object.address;
	o.flags = PAGEDET_KMAP_WATCH_WRITES;
	r = pagedet_kmap_watch(pd, &o, &w);
	if (r == -ENOTSUP || r == -EACCES || r == -EAGAIN)
		unit_skip("breakpoints cannot be had here");
	if (r == -ENOENT)
		return 0;
	ck_assert_msg(r == 0, "%s", pagedet_error(pd));
	r = pagedet_kmap_cache_has(of, w);
	pagedet_kmap_watch_free(w);
	return r;
}

/* What is drawn may be freed at once, but not each time. */
START_TEST(of_cache)
{
	struct pagedet_kmap_cache *c = find_filp(3), *other;
	int i, n = 0;

	if (pagedet_kmap_cache(pd, "proc_dir_entry", 3, &other))
		unit_skip("there is no other cache");
	for (i = 0; i < 5; i++) {
		n += watches(c, c);
		ck_assert_int_eq(watches(c, other), 0);
		ck_assert_int_eq(watches(other, c), 0);
	}
	ck_assert_int_gt(n, 0);
	pagedet_kmap_cache_free(other);
	pagedet_kmap_cache_free(c);
}
END_TEST

/* The words of the KMAP in @fd. */
static uint64_t rows_of(int fd, uint64_t *first)
{
	struct pagedet_kmap_query q = PAGEDET_KMAP_QUERY_INIT;
	struct pagedet_kmap_object o = { .size = sizeof(o) };
	struct pagedet_kmap *k;
	uint64_t n = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	q.path = path;
	ck_assert_msg(pagedet_kmap(pd, &q, &k) == 0, "%s", pagedet_error(pd));
	while (pagedet_kmap_next(k, &o) == 1) {
		*first = n ? *first : o.address;
		n++;
	}
	pagedet_kmap_free(k);
	return n;
}

/* A part of our own struct file, alone and as a sum. */
START_TEST(summed)
{
	struct pagedet_kmap_watch_options o = PAGEDET_KMAP_WATCH_OPTIONS_INIT;
	struct pagedet_kmap_watch_total t = { .size = sizeof(t) };
	struct pagedet_kmap_word word = { .size = sizeof(word) };
	const int fd = memfd_create("watched", MFD_CLOEXEC);
	const int alone = memfd_create("alone", MFD_CLOEXEC);
	const int sums = memfd_create("sums", MFD_CLOEXEC);
	struct pagedet_kmap_cache *c = find_filp(3);
	struct pagedet_kmap_watch *w;
	uint64_t first = 0;
	int i;

	o.flags = PAGEDET_KMAP_WATCH_FD | PAGEDET_KMAP_WATCH_WRITES;
	o.pid = (uint32_t)getpid();
	o.fd = (uint32_t)fd;
	o.address = 16;
	o.bytes = 8;
	w = watch(&o);
	ck_assert_int_eq(pagedet_kmap_watch_word(w, 0, &word), 0);
	for (i = 0; i < 100; i++)
		ck_assert_int_eq(lseek(fd, i, SEEK_SET), i);
	ck_assert_int_eq(pagedet_kmap_watch_stop(w), 0);
	ck_assert_int_eq(pagedet_kmap_watch_stop(w), 0);
	ck_assert_int_eq(pagedet_kmap_watch_total(w, &t), 0);
	ck_assert_uint_eq(t.words, 1);
	ck_assert_uint_eq(t.reads, 0);
	/* It is open all the time. */
	ck_assert_uint_eq(t.freed, 0);
	ck_assert_uint_eq(t.unknown, 0);
	ck_assert_uint_eq(t.unknown_why, 0);
	ck_assert_uint_eq(t.mapped, 1);
	ck_assert_int_eq(pagedet_kmap_watch_word(w, 0, &word), 1);
	ck_assert_int_eq(pagedet_kmap_watch_word(w, 1, &word), 0);
	ck_assert_uint_eq(word.bytes, 8);
	ck_assert_uint_eq(word.windows, 1);
	ck_assert_int_eq(pagedet_kmap_watch_write(w, alone), 0);
	ck_assert_uint_eq(rows_of(alone, &first), 1);
	ck_assert_uint_eq(first, word.address);

	refused(pagedet_kmap_cache_add(c, w, word.address + 8), EINVAL,
		"not in the object");
	refused(pagedet_kmap_cache_add(c, w, word.address - total_of(c).bytes),
		EINVAL, "not in the object");
	ck_assert_int_eq(pagedet_kmap_cache_add(c, w, word.address - 16), 0);
	ck_assert_int_eq(pagedet_kmap_cache_add(c, w, word.address - 16), 0);
	refused(pagedet_kmap_cache_add(c, w, word.address), EINVAL,
		"other words");
	ck_assert_int_eq(pagedet_kmap_cache_write(c, sums), 0);
	ck_assert_uint_eq(rows_of(sums, &first), 1);
	ck_assert_uint_eq(first, 16);
	ck_assert_uint_eq(total_of(c).dropped, 0);
	pagedet_kmap_watch_free(w);
	pagedet_kmap_cache_free(c);
	close(fd);
	close(alone);
	close(sums);
}
END_TEST

/* Half of all addresses are of the kernel, but not all of these have memory. */
START_TEST(nothing)
{
	struct pagedet_kmap_watch_options o = PAGEDET_KMAP_WATCH_OPTIONS_INIT;
	struct pagedet_kmap_watch *w = NULL;

	pagedet_kmap_cache_free(find_filp(3));
	o.address = 1ull << 63;
	refused(pagedet_kmap_watch(pd, &o, &w), ENOENT, "no memory mapped");
	o.address = 4096;
	refused(pagedet_kmap_watch(pd, &o, &w), EINVAL, "not an address");
	o.address = 1ull << 63;
	o.bytes = 1 << 20;
	refused(pagedet_kmap_watch(pd, &o, &w), EINVAL, "at most");
	ck_assert_ptr_null(w);
}
END_TEST

static void stop_waiting(int signal)
{
	(void)signal;
}

/*
 * As tap_lock breakpoints: others count those that are free, and have them for
 * some minutes. All tests have it, and wait for it once.
 */
static void lock_breakpoints(void)
{
	const struct sigaction interrupts = { .sa_handler = stop_waiting };
	const int lock = open("/run/lock/pagedet-test-breakpoints",
			      O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (lock < 0)
		return;
	sigaction(SIGALRM, &interrupts, NULL);
	alarm(600);
	if (flock(lock, LOCK_EX))
		puts("# another test has kept the breakpoints for 600 s");
	alarm(0);
	fflush(stdout);
}

static void add(Suite *s, const char *name, const TTest *test)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test);
	suite_add_tcase(s, tc);
}

int main(void)
{
	Suite *s = suite_create("kmap_watch");

	lock_breakpoints();
	add(s, "closed", closed);
	add(s, "copied", copied);
	add(s, "drawn", drawn);
	add(s, "of_cache", of_cache);
	add(s, "summed", summed);
	add(s, "nothing", nothing);
	return unit_main(s);
}
