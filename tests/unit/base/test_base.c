/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests base/: failures and error texts, reading of files, vectors, hashes. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pairs.h"
#include "base/env.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/vec.h"
#include "base/text/words.h"
#include "../unit.h"

static char no_root[] = "";
static char dir[256];

static struct pdet_env env_at(char *root)
{
	struct pdet_env env;

	memset(&env, 0, sizeof(env));
	env.root = root;
	return env;
}

static void make_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/pagedet-base.XXXXXX",
		 tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void remove_dir(void)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/f", dir);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
}

static void write_file(const void *data, size_t len)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/f", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

/* --- errors --- */

static const struct {
	int code;
	int closed;
} codes[] = {
	{ EINVAL, EINVAL }, { E2BIG, E2BIG }, { ENOMEM, ENOMEM },
	{ EACCES, EACCES }, { EPERM, EACCES }, { ENOENT, ENOENT },
	{ ENOTDIR, ENOENT }, { ENODEV, ENOENT }, { ESRCH, ESRCH },
	{ ENODATA, ENODATA }, { EBADMSG, EBADMSG }, { EIO, EIO },
	{ EOVERFLOW, EOVERFLOW }, { ENOTSUP, ENOTSUP }, { ENOTTY, ENOTSUP },
	{ ENOSYS, ENOSYS }, { EINTR, EINTR }, { EAGAIN, EAGAIN },
	{ ETIMEDOUT, ETIMEDOUT }, { ECANCELED, ECANCELED },
	{ EMFILE, ENOMEM }, { EISDIR, EIO }, { ESPIPE, EIO }, { EPIPE, EIO },
	{ 4095, EIO },
};

START_TEST(errno_is_of_the_closed_list)
{
	struct pdet_env env = env_at(no_root);

	ck_assert_int_eq(pdet_errno_closed(codes[_i].code), codes[_i].closed);
	ck_assert_int_eq(pdet_fail(&env, codes[_i].code, "x"),
			 -codes[_i].closed);
}
END_TEST

/* "No memory" does not describe too many open files. */
START_TEST(shortages_are_told_apart_until_they_are_said)
{
	static const int shortages[] = { ENOMEM, EMFILE, ENFILE };
	struct pdet_env env = env_at(no_root);
	size_t i;

	for (i = 0; i < sizeof(shortages) / sizeof(*shortages); i++) {
		ck_assert_int_eq(pdet_errno_kept(shortages[i]), shortages[i]);
		ck_assert(pdet_is_shortage(-shortages[i]));
	}
	ck_assert_int_eq(pdet_errno_kept(EPERM), EACCES);
	ck_assert(!pdet_is_shortage(-EACCES));
	ck_assert(!pdet_is_shortage(0));
	errno = EMFILE;
	ck_assert_int_eq(pdet_fail_errno(&env, "cannot open x"), -ENOMEM);
	ck_assert_str_eq(env.error, "cannot open x: Too many open files");
}
END_TEST

START_TEST(failure_keeps_words_and_forgets_advice)
{
	struct pdet_env env = env_at(no_root);

	pdet_advise(&env, "needs %s", "patience");
	ck_assert_str_eq(env.advice, "needs patience");
	ck_assert_int_eq(pdet_fail(&env, ESRCH, "no task %d", 7), -ESRCH);
	ck_assert_str_eq(env.error, "no task 7");
	ck_assert_str_eq(env.advice, "");
	pdet_advise(&env, "look for task %d", 8);
	pdet_context(&env, "cannot read %s", "it");
	ck_assert_str_eq(env.error, "cannot read it: no task 7");
	ck_assert_str_eq(env.advice, "look for task 8");
	pdet_context(&env, "outer");
	ck_assert_str_eq(env.error, "outer: cannot read it: no task 7");
	pdet_clear(&env);
	ck_assert_str_eq(env.error, "");
	ck_assert_str_eq(env.advice, "");
}
END_TEST

START_TEST(failure_says_what_errno_was)
{
	struct pdet_env env = env_at(no_root);

	errno = EPERM;
	ck_assert_int_eq(pdet_fail_errno(&env, "cannot read %s", "/x"),
			 -EACCES);
	ck_assert_str_eq(env.error, "cannot read /x: Operation not permitted");
}
END_TEST

START_TEST(long_words_are_cut)
{
	struct pdet_env env = env_at(no_root);
	char text[2 * PDET_ERROR_SIZE];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	pdet_fail(&env, EIO, "%s", text);
	ck_assert_uint_eq(strlen(env.error), PDET_ERROR_SIZE - 1);
	pdet_context(&env, "%s", "outer");
	ck_assert_uint_eq(strlen(env.error), PDET_ERROR_SIZE - 1);
	ck_assert(!strncmp(env.error, "outer: aaa", 10));
	pdet_context(&env, "%s", text);
	ck_assert_uint_eq(strlen(env.error), PDET_ERROR_SIZE - 1);
	errno = EIO;
	pdet_fail_errno(&env, "%s", text);
	ck_assert_uint_eq(strlen(env.error), PDET_ERROR_SIZE - 1);
	pdet_advise(&env, "%s", text);
	ck_assert_uint_eq(strlen(env.advice), PDET_ERROR_SIZE - 1);
}
END_TEST

struct said {
	int times;
	int level;
	char text[PDET_ERROR_SIZE];
};

static void listen(void *user, int level, const char *text)
{
	struct said *said = user;

	said->times++;
	said->level = level;
	snprintf(said->text, sizeof(said->text), "%s", text);
}

START_TEST(log_is_said_up_to_the_level)
{
	struct pdet_env env = env_at(no_root);
	struct said said = { 0 };

	pdet_log(&env, 0, "nobody hears it");
	env.log = listen;
	env.log_user = &said;
	env.log_level = 1;
	pdet_log(&env, 2, "too detailed");
	ck_assert_int_eq(said.times, 0);
	pdet_log(&env, 1, "number %d", 5);
	ck_assert_int_eq(said.times, 1);
	ck_assert_int_eq(said.level, 1);
	ck_assert_str_eq(said.text, "number 5");
}
END_TEST

/* --- io --- */

START_TEST(path_is_below_the_root)
{
	char root[] = "/captured", path[32];
	struct pdet_env env = env_at(root);

	ck_assert_int_eq(pdet_path(&env, path, sizeof(path), "/proc/%d", 12),
			 0);
	ck_assert_str_eq(path, "/captured/proc/12");
	/* exactly as long as fits, and one longer */
	ck_assert_int_eq(pdet_path(&env, path, 18, "/proc/%d", 12), 0);
	ck_assert_int_eq(pdet_path(&env, path, 17, "/proc/%d", 12), -EINVAL);
	ck_assert_int_eq(pdet_path(&env, path, 5, "/proc"), -EINVAL);
}
END_TEST

START_TEST(open_answers_from_the_closed_list)
{
	struct pdet_env env;
	int fd;

	make_dir();
	env = env_at(dir);
	write_file("x", 1);
	strcpy(env.error, "untouched");
	ck_assert_int_eq(pdet_open(&env, "/missing"), -ENOENT);
	ck_assert_int_eq(pdet_open(&env, "/f/below-a-file"), -ENOENT);
	ck_assert_str_eq(env.error, "untouched");
	fd = pdet_open(&env, "/%s", "f");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
	remove_dir();
}
END_TEST

/* Sizes around the buffer's steps. */
static const size_t slurp_sizes[] = { 0, 1, 2047, 2048, 4094, 4095, 4096,
				      4097, 8191, 100000 };

START_TEST(slurp_reads_all_and_ends_with_nul)
{
	size_t size = slurp_sizes[_i], i;
	char *data = malloc(size + 1);
	struct pdet_text text;
	struct pdet_env env;

	make_dir();
	env = env_at(dir);
	for (i = 0; i < size; i++)
		data[i] = (char)(i * 7 + i / 256);
	write_file(data, size);
	ck_assert_int_eq(pdet_slurp(&env, &text, size, "/f"), 0);
	ck_assert_uint_eq(text.len, size);
	ck_assert_int_eq(memcmp(text.data, data, size), 0);
	ck_assert_int_eq(text.data[size], '\0');
	pdet_text_free(&text);
	ck_assert_ptr_null(text.data);
	ck_assert_uint_eq(text.len, 0);
	if (size) {
		text.data = data;
		text.len = 77;
		ck_assert_int_eq(pdet_slurp(&env, &text, size - 1, "/f"),
				 -EOVERFLOW);
		ck_assert_ptr_eq(text.data, data);
		ck_assert_uint_eq(text.len, 77);
	}
	free(data);
	remove_dir();
}
END_TEST

START_TEST(slurp_fd_starts_at_the_beginning)
{
	struct pdet_text text;
	struct pdet_env env;
	char byte;
	int fd;

	make_dir();
	env = env_at(dir);
	write_file("abc", 3);
	fd = pdet_open(&env, "/f");
	ck_assert_int_eq(read(fd, &byte, 1), 1);
	ck_assert_int_eq(pdet_slurp_fd(fd, &text, 10), 0);
	ck_assert_str_eq(text.data, "abc");
	pdet_text_free(&text);
	close(fd);
	ck_assert_int_lt(pdet_slurp_fd(fd, &text, 10), 0);
	remove_dir();
}
END_TEST

START_TEST(slurp_does_not_wait_for_a_pipe)
{
	struct pdet_text text;
	struct pdet_env env;
	char path[512];

	make_dir();
	env = env_at(dir);
	snprintf(path, sizeof(path), "%s/f", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(pdet_slurp(&env, &text, 10, "/f"), -EIO);
	ck_assert_int_eq(pdet_slurp(&env, &text, 10, "/"), -EIO);
	remove_dir();
}
END_TEST

START_TEST(pread_is_short_only_at_the_end)
{
	struct pdet_env env;
	char buf[8];
	int fd;

	make_dir();
	env = env_at(dir);
	write_file("0123456789", 10);
	fd = pdet_open(&env, "/f");
	ck_assert_int_eq(pdet_pread(fd, buf, 8, 0), 8);
	ck_assert_int_eq(pdet_pread(fd, buf, 8, 6), 4);
	ck_assert_int_eq(memcmp(buf, "6789", 4), 0);
	ck_assert_int_eq(pdet_pread(fd, buf, 8, 10), 0);
	ck_assert_int_eq(pdet_pread(fd, buf, 0, 0), 0);
	/* Offsets that no file can have are past the end. */
	ck_assert_int_eq(pdet_pread(fd, buf, 8, (uint64_t)INT64_MAX + 1), 0);
	ck_assert_int_eq(pdet_pread(fd, buf, 8, UINT64_MAX), 0);
	close(fd);
	ck_assert_int_eq(pdet_pread(fd, buf, 8, 0), -EBADF);
	remove_dir();
}
END_TEST

/* --- vec, hash --- */

START_TEST(vec_keeps_what_was_pushed)
{
	struct {
		uint32_t *data;
		size_t n, cap;
	} v = { 0 };
	uint32_t i;

	for (i = 0; i < 10000; i++)
		ck_assert(pdet_vec_push(&v, i * 3));
	ck_assert_uint_eq(v.n, 10000);
	ck_assert_uint_ge(v.cap, v.n);
	for (i = 0; i < 10000; i++)
		ck_assert_uint_eq(v.data[i], i * 3);
	pdet_vec_free(&v);
	ck_assert_ptr_null(v.data);
	ck_assert_uint_eq(v.n + v.cap, 0);
}
END_TEST

START_TEST(vec_refuses_what_does_not_fit)
{
	size_t cap = SIZE_MAX / 8;

	ck_assert_ptr_null(pdet_vec_grow(NULL, &cap, 8));
	ck_assert_uint_eq(cap, SIZE_MAX / 8);
}
END_TEST

START_TEST(equal_words_end_at_the_first_other)
{
	uint64_t word[40] = { 0 };
	uint32_t n, at;

	for (n = 1; n <= 40; n++) {
		ck_assert_uint_eq(pdet_words_equal(word, n), n);
		for (at = 1; at < n; at++) {
			word[at] = (uint64_t)1 << 63;
			ck_assert_uint_eq(pdet_words_equal(word, n), at);
			word[at] = 0;
		}
	}
}
END_TEST

START_TEST(pairs_keep_the_last_value_of_each_key)
{
	struct pdet_pairs pairs = { .n = 0 };
	uint64_t i, got = 7;

	ck_assert(!pdet_pairs_get(&pairs, 0, &got));
	for (i = 0; i < 5000; i++)
		ck_assert(pdet_pairs_set(&pairs, i << 40, i));
	for (i = 0; i < 5000; i += 2)
		ck_assert(pdet_pairs_set(&pairs, i << 40, ~i));
	ck_assert_uint_eq(pairs.n, 5000);
	for (i = 0; i < 5000; i++) {
		ck_assert(pdet_pairs_get(&pairs, i << 40, &got));
		ck_assert_uint_eq(got, i & 1 ? i : ~i);
	}
	got = 7;
	ck_assert(!pdet_pairs_get(&pairs, 1, &got));
	ck_assert_uint_eq(got, 7);
	pdet_pairs_free(&pairs);
}
END_TEST

/* These keys had the same slot in every table, when its hash had no salt. */
START_TEST(pairs_cannot_be_made_to_collide)
{
	const uint64_t factor = 0x9e3779b97f4a7c15;
	struct pdet_pairs pairs = { .n = 0 };
	uint64_t inverse = factor, i, run = 0, longest = 0;

	for (i = 0; i < 6; i++)
		inverse *= 2 - factor * inverse;
	ck_assert_uint_eq(inverse * factor, 1);
	for (i = 0; i < 2000; i++)
		ck_assert(pdet_pairs_set(&pairs, (i << 44) * inverse, i));
	for (i = 0; i < pairs.slots; i++) {
		run = pairs.slot[i].used ? run + 1 : 0;
		longest = PDET_MAX(longest, run);
	}
	ck_assert_uint_lt(longest, 500);
	pdet_pairs_free(&pairs);
}
END_TEST

START_TEST(hash_is_xxh3)
{
	/* the published value for no input and seed 0 */
	ck_assert_uint_eq(pdet_hash("", 0), 0x2d06800538d394c2);
	ck_assert_uint_eq(pdet_hash("page", 4), pdet_hash("pages", 4));
	ck_assert_uint_ne(pdet_hash("page", 4), pdet_hash("pages", 5));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base");

	unit_loop(s, errno_is_of_the_closed_list,
		  sizeof(codes) / sizeof(*codes));
	unit_test(s, shortages_are_told_apart_until_they_are_said);
	unit_test(s, failure_keeps_words_and_forgets_advice);
	unit_test(s, failure_says_what_errno_was);
	unit_test(s, long_words_are_cut);
	unit_test(s, log_is_said_up_to_the_level);
	unit_test(s, path_is_below_the_root);
	unit_test(s, open_answers_from_the_closed_list);
	unit_loop(s, slurp_reads_all_and_ends_with_nul,
		  sizeof(slurp_sizes) / sizeof(*slurp_sizes));
	unit_test(s, slurp_fd_starts_at_the_beginning);
	unit_test(s, slurp_does_not_wait_for_a_pipe);
	unit_test(s, pread_is_short_only_at_the_end);
	unit_test(s, vec_keeps_what_was_pushed);
	unit_test(s, vec_refuses_what_does_not_fit);
	unit_test(s, equal_words_end_at_the_first_other);
	unit_test(s, pairs_keep_the_last_value_of_each_key);
	unit_test(s, pairs_cannot_be_made_to_collide);
	unit_test(s, hash_is_xxh3);
	return unit_main(s);
}
