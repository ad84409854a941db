/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests text from files and pipes: every byte once and in order, for any
 * compression and any pieces; damaged text up to the damage; lines of any
 * length in bounded memory.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

#include "base/codec/text_stream.h"
#include "dump_write.h"
#include "../../unit.h"

struct bytes {
	char *data;
	size_t n;
};

enum packing { PLAIN, GZIP, ZSTD, XZ, N_PACKINGS };
static const char *const names[N_PACKINGS] = { NULL, "gzip", "zstd", "xz" };

static struct pdet_env env;

/* Numbered lines that differ from each other. */
static struct bytes lines(unsigned n)
{
	struct bytes b = { malloc(n * 80 + 1), 0 };
	uint64_t state = n + 1;
	unsigned i;

	for (i = 0; i < n; i++)
		b.n += (size_t)sprintf(b.data + b.n, "%u %llx%llx\n%s", i,
				       (unsigned long long)unit_random(&state),
				       (unsigned long long)unit_random(&state),
				       i % 5 == 4 ? "\n" : "");
	return b;
}

static struct bytes gzip(const void *data, size_t n)
{
	struct bytes b = { malloc(n + n / 10 + 100), 0 };
	z_stream z = { .next_in = (Bytef *)(uintptr_t)data,
		       .avail_in = (uInt)n, .next_out = (Bytef *)b.data,
		       .avail_out = (uInt)(n + n / 10 + 100) };

	ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8,
				      Z_DEFAULT_STRATEGY), Z_OK);
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	b.n = z.total_out;
	deflateEnd(&z);
	return b;
}

static struct bytes pack(enum packing how, const void *data, size_t n)
{
	struct bytes b = { malloc(n + n / 10 + 200), 0 };

	switch (how) {
	case GZIP:
		free(b.data);
		return gzip(data, n);
	case ZSTD:
		if (!dump_codec_built(DUMP_ZSTD))
			unit_skip("zstd is not built in");
		b.n = dump_compress(DUMP_ZSTD, data, n, b.data,
				    n + n / 10 + 200);
		break;
	case XZ:
#ifdef HAVE_LZMA
		ck_assert_int_eq(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32,
			NULL, data, n, (uint8_t *)b.data, &b.n,
			n + n / 10 + 200), LZMA_OK);
		break;
#else
		unit_skip("xz is not built in");
#endif
	default:
		memcpy(b.data, data, n);
		b.n = n;
	}
	ck_assert_uint_gt(b.n, 0);
	return b;
}

static struct pdet_text_stream *of(struct bytes b)
{
	struct pdet_text_stream *s = NULL;

	ck_assert_int_eq(pdet_text_stream_memory(&env, b.data, b.n, "it", &s),
			 0);
	return s;
}

/* Reads everything line by line. Returns the text and the final status. */
static struct bytes by_lines(struct pdet_text_stream *s, int *end)
{
	struct bytes b = { malloc(1), 0 };
	struct pdet_text_line line;
	size_t n;

	while ((*end = pdet_text_stream_line(s, &env, &line)) == 1) {
		n = (size_t)(line.text.end - line.text.at);
		b.data = realloc(b.data, b.n + n + 1);
		memcpy(b.data + b.n, line.text.at, n);
		b.n += n;
		if (!line.open && !line.cut)
			b.data[b.n++] = '\n';
	}
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), *end);
	return b;
}

/* All blocks but the last one end with the mark, if there is one. */
static struct bytes by_blocks(struct pdet_text_stream *s, size_t size,
			      const char *mark, int *end)
{
	struct bytes b = { malloc(1), 0 };
	size_t len = strlen(mark), last = 0;
	bool ended = true;
	ssize_t n;

	for (;;) {
		b.data = realloc(b.data, b.n + size);
		n = pdet_text_stream_block(s, &env, b.data + b.n, size,
					   (struct pdet_text_mark){ mark,
								    len });
		if (n <= 0)
			break;
		ck_assert(ended || last == size);
		b.n += (size_t)n;
		last = (size_t)n;
		ended = last >= len &&
			!memcmp(b.data + b.n - len, mark, len);
	}
	*end = (int)n;
	ck_assert(pdet_text_stream_ended(s));
	return b;
}

static void same(struct bytes a, struct bytes b)
{
	ck_assert_uint_eq(a.n, b.n);
	ck_assert_mem_eq(a.data, b.data, a.n);
}

START_TEST(every_byte_in_its_order)
{
	static const unsigned counts[] = { 1, 10, 20000 };
	unsigned i;
	int end;

	for (i = 0; i < PDET_COUNT(counts); i++) {
		struct bytes text = lines(counts[i]), got;
		struct bytes packed = pack(_i, text.data, text.n);
		struct pdet_text_stream *s = of(packed);

		got = by_lines(s, &end);
		ck_assert_int_eq(end, 0);
		same(got, text);
		ck_assert_uint_eq(pdet_text_stream_bytes(s), text.n);
		if (_i)
			ck_assert_str_eq(pdet_text_stream_packed(s),
					 names[_i]);
		else
			ck_assert_ptr_null(pdet_text_stream_packed(s));
		pdet_text_stream_close(s);
		free(got.data);
		s = of(packed);
		got = by_blocks(s, 5000, "\n\n", &end);
		ck_assert_int_eq(end, 0);
		same(got, text);
		pdet_text_stream_close(s);
		free(got.data);
		free(packed.data);
		free(text.data);
	}
}
END_TEST

/*
 * Concatenated files, as "cat a.gz b.gz" makes them, with zeroes up to the end
 * of a block.
 */
START_TEST(one_behind_the_other)
{
	struct bytes text = lines(3000), a, b, both, got;
	size_t half = text.n / 2;
	struct pdet_text_stream *s;
	int end;

	a = pack(_i, text.data, half);
	b = pack(_i, text.data + half, text.n - half);
	both.n = a.n + b.n + (_i ? 64 : 0);
	both.data = calloc(1, both.n);
	memcpy(both.data, a.data, a.n);
	memcpy(both.data + a.n, b.data, b.n);
	s = of(both);
	got = by_lines(s, &end);
	ck_assert_msg(end == 0, "%s", env.error);
	same(got, text);
	pdet_text_stream_close(s);
	free(got.data);
	free(both.data);
	free(a.data);
	free(b.data);
	free(text.data);
}
END_TEST

/* The intact text comes first, then the error on every further call. */
START_TEST(cut_off)
{
	struct bytes text = lines(20000), got;
	enum packing how = (enum packing)(_i + 1);
	struct bytes packed = pack(how, text.data, text.n);
	struct pdet_text_stream *s;
	int end;

	packed.n -= 20;
	s = of(packed);
	got = by_lines(s, &end);
	ck_assert_int_eq(end, -EBADMSG);
	ck_assert_ptr_nonnull(strstr(env.error, "cannot read it: its "));
	ck_assert_ptr_nonnull(strstr(env.error, names[how]));
	ck_assert_ptr_nonnull(strstr(env.error, "cut off"));
	ck_assert_uint_gt(got.n, text.n / 2);
	ck_assert_uint_le(got.n, text.n);
	ck_assert_mem_eq(got.data, text.data, got.n);
	pdet_text_stream_close(s);
	free(got.data);
	free(packed.data);
	free(text.data);
}
END_TEST

START_TEST(damaged)
{
	struct bytes text = lines(60000), got;
	enum packing how = (enum packing)(_i + 1);
	struct bytes packed = pack(how, text.data, text.n);
	struct pdet_text_stream *s;
	size_t i;
	int end;

	for (i = 0; i < packed.n / 8; i++)
		packed.data[packed.n * 3 / 4 + i] ^= 0x55;
	s = of(packed);
	got = by_blocks(s, 4096, "\n", &end);
	ck_assert_int_eq(end, -EBADMSG);
	ck_assert_ptr_nonnull(strstr(env.error, names[how]));
	ck_assert_ptr_nonnull(strstr(env.error, "damaged"));
	ck_assert_uint_gt(got.n, 0);
	/* Text before the damage is right. */
	ck_assert_mem_eq(got.data, text.data, PDET_MIN(got.n, text.n / 4));
	pdet_text_stream_close(s);
	free(got.data);
	free(packed.data);
	free(text.data);
}
END_TEST

/* Only a header, or what follows the end: neither text nor success. */
START_TEST(what_is_none)
{
	enum packing how = (enum packing)(_i + 1);
	struct bytes packed = pack(how, "abc\n", 4), more;
	struct pdet_text_stream *s;
	struct pdet_text_line line;

	s = of((struct bytes){ packed.data, 8 });
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), -EBADMSG);
	pdet_text_stream_close(s);

	more.n = packed.n + 7;
	more.data = malloc(more.n);
	memcpy(more.data, packed.data, packed.n);
	memcpy(more.data + packed.n, "garbage", 7);
	s = of(more);
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), 1);
	ck_assert(pdet_scan_is(&line.text, "abc"));
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), -EBADMSG);
	pdet_text_stream_close(s);
	free(more.data);
	free(packed.data);
}
END_TEST

START_TEST(ends)
{
	struct pdet_text_stream *s = of((struct bytes){ (char *)"", 0 });
	struct pdet_text_line line;
	struct pdet_scan head;
	char nul[] = "a\0b\n\nlast";

	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), 0);
	pdet_text_stream_close(s);

	s = of((struct bytes){ nul, sizeof(nul) - 1 });
	ck_assert_int_eq(pdet_text_stream_peek(s, &env, 4, &head), 0);
	ck_assert_int_ge(head.end - head.at, 4);
	ck_assert_int_eq(pdet_text_stream_peek(s, &env, 100, &head), 0);
	ck_assert_int_eq(head.end - head.at, sizeof(nul) - 1);
	ck_assert_mem_eq(head.at, nul, sizeof(nul) - 1);
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), 1);
	ck_assert_int_eq(line.text.end - line.text.at, 3);
	ck_assert_mem_eq(line.text.at, "a\0b", 3);
	ck_assert(!line.open && !line.cut);
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), 1);
	ck_assert(pdet_scan_is(&line.text, "") && !line.open);
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), 1);
	ck_assert(pdet_scan_is(&line.text, "last") && line.open);
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), 0);
	pdet_text_stream_close(s);
}
END_TEST

/* Peeks at much, then reads small blocks: nothing is lost or repeated. */
START_TEST(peeked_then_blocks)
{
	struct bytes text = lines(5000), got;
	struct pdet_text_stream *s = of(text);
	struct pdet_scan head;
	int end;

	ck_assert_int_eq(pdet_text_stream_peek(s, &env, 100000, &head), 0);
	ck_assert_int_eq(head.end - head.at, 100000);
	got = by_blocks(s, 777, "\n\n", &end);
	ck_assert_int_eq(end, 0);
	same(got, text);
	pdet_text_stream_close(s);
	free(got.data);
	free(text.data);
}
END_TEST

struct writer {
	int fd;
	struct bytes text;
	size_t piece;
	uint64_t times;
};

static void *write_all(void *arg)
{
	struct writer *w = arg;
	size_t at, n;
	ssize_t r;

	for (; w->times; w->times--)
		for (at = 0; at < w->text.n; at += n) {
			n = PDET_MIN(w->piece, w->text.n - at);
			r = write(w->fd, w->text.data + at, n);
			ck_assert_int_eq(r, n);
		}
	close(w->fd);
	return NULL;
}

/*
 * A pipe gives pieces, a signal may come, and the other end may be
 * non-blocking.
 */
START_TEST(through_a_pipe)
{
	struct bytes text = lines(4000), got;
	struct bytes packed = pack(_i, text.data, text.n);
	struct writer w = { .text = packed, .piece = 13, .times = 1 };
	struct pdet_text_stream *s = NULL;
	pthread_t thread;
	int fds[2], end;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	w.fd = fds[1];
	ck_assert_int_eq(pdet_text_stream_fd(&env, fds[0], "a pipe", &s), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, write_all, &w), 0);
	got = by_lines(s, &end);
	pthread_join(thread, NULL);
	ck_assert_int_eq(end, 0);
	same(got, text);
	pdet_text_stream_close(s);
	/* The descriptor remains the caller's. */
	ck_assert_int_ge(fcntl(fds[0], F_GETFD), 0);
	close(fds[0]);
	free(got.data);
	free(packed.data);
	free(text.data);
}
END_TEST

static void *write_long_line(void *arg)
{
	struct writer *w = arg;
	char block[65536];
	uint64_t i;

	memset(block, 'x', sizeof(block));
	ck_assert_int_eq(write(w->fd, "a\n", 2), 2);
	for (i = 0; i < w->times; i++)
		ck_assert_int_eq(write(w->fd, block, sizeof(block)),
				 sizeof(block));
	ck_assert_int_eq(write(w->fd, "\nb\n", 3), 3);
	close(w->fd);
	return NULL;
}

/*
 * 1 GB without a newline: returns its beginning, marked as cut, in little
 * memory; then the next line.
 */
START_TEST(a_line_that_does_not_end)
{
	struct pdet_text_stream *s = NULL;
	struct writer w = { .times = 16384 };
	struct rusage before, after;
	struct pdet_text_line line;
	pthread_t thread;
	int fds[2];

	/* a huge page is there as a whole, however little of it is used */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	w.fd = fds[1];
	ck_assert_int_eq(pdet_text_stream_fd(&env, fds[0], "a pipe", &s), 0);
	getrusage(RUSAGE_SELF, &before);
	ck_assert_int_eq(pthread_create(&thread, NULL, write_long_line, &w),
			 0);
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), 1);
	ck_assert(pdet_scan_is(&line.text, "a") && !line.cut);
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), 1);
	ck_assert(line.cut && !line.open);
	ck_assert_int_ge(line.text.end - line.text.at, 65536);
	ck_assert_ptr_null(memchr(line.text.at, '\n', (size_t)
				  (line.text.end - line.text.at)));
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), 1);
	ck_assert(pdet_scan_is(&line.text, "b") && !line.cut);
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), 0);
	ck_assert_uint_eq(pdet_text_stream_bytes(s),
			  w.times * 65536 + 2 + 3);
	pthread_join(thread, NULL);
	pdet_text_stream_close(s);
	close(fds[0]);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 8192);
}
END_TEST

/* Cancels some time after the wait has begun, without a signal. */
struct patience {
	struct timespec end;
	unsigned asked;
};

static int patient(void *arg, int *ms)
{
	struct patience *p = arg;
	struct timespec now;

	p->asked++;
	*ms = -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	/* Not the first time, however late that comes. */
	return p->asked > 1 &&
	       (now.tv_sec > p->end.tv_sec ||
		(now.tv_sec == p->end.tv_sec &&
		 now.tv_nsec > p->end.tv_nsec)) ? ECANCELED : 0;
}

START_TEST(called_off_without_a_signal)
{
	struct patience p = { .asked = 0 };
	const struct pdet_text_watch watch = { patient, &p };
	struct pdet_text_stream *s = NULL;
	struct pdet_text_line line;
	char path[32];
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	clock_gettime(CLOCK_MONOTONIC, &p.end);
	p.end.tv_sec++;
	ck_assert_int_eq(pdet_text_stream_open_watched(&env, path, &watch, &s),
			 0);
	/* It asks before it waits, and again. */
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), -ECANCELED);
	ck_assert_uint_gt(p.asked, 1);
	pdet_text_stream_close(s);
	close(fds[0]);
	close(fds[1]);
}
END_TEST

START_TEST(no_such_file)
{
	struct pdet_text_stream *s = NULL;
	struct pdet_text_line line;

	ck_assert_int_eq(pdet_text_stream_open(&env, "/nowhere/at/all", &s),
			 -ENOENT);
	ck_assert_str_eq(env.error, "cannot open /nowhere/at/all: "
			 "No such file or directory");
	ck_assert_ptr_null(s);
	ck_assert_int_eq(pdet_text_stream_open(&env, "/", &s), 0);
	ck_assert_int_eq(pdet_text_stream_line(s, &env, &line), -EIO);
	ck_assert_str_eq(env.error, "cannot read /: Is a directory");
	pdet_text_stream_close(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text_stream");

	unit_loop(suite, every_byte_in_its_order, N_PACKINGS);
	unit_loop(suite, one_behind_the_other, N_PACKINGS);
	unit_loop(suite, cut_off, N_PACKINGS - 1);
	unit_loop(suite, damaged, N_PACKINGS - 1);
	unit_loop(suite, what_is_none, N_PACKINGS - 1);
	unit_test(suite, ends);
	unit_test(suite, peeked_then_blocks);
	unit_loop(suite, through_a_pipe, N_PACKINGS);
	unit_test(suite, a_line_that_does_not_end);
	unit_test(suite, called_off_without_a_signal);
	unit_test(suite, no_such_file);
	return unit_main(suite);
}
