/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests flattened files against an array into which every chunk was copied:
 * chunks in any order, overlapping, in streams written at the same time, and
 * more than are remembered; cut and damaged anywhere.
 */
#include <endian.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dump_write.h"
#include "memory/dump_file.h"
#include "../unit.h"

#define SPAN 20000

struct made {
	struct dump_sink sink;
	char *truth;
	char *known;	/* one byte per byte: whether it was written */
	uint64_t size;
	uint64_t state;
};

static void start(struct made *m, size_t span)
{
	m->sink = (struct dump_sink){
		.fd = memfd_create("flat", MFD_CLOEXEC), .flattened = true
	};
	ck_assert_int_ge(m->sink.fd, 0);
	m->truth = calloc(1, span);
	m->known = calloc(1, span);
	m->size = 0;
	m->state = 77;
	dump_sink_begin(&m->sink);
}

static void chunk(struct made *m, uint64_t offset, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		m->truth[offset + i] = (char)(unit_random(&m->state) | 1);
	memset(m->known + offset, 1, n);
	dump_sink_write(&m->sink, m->truth + offset, n, offset);
	if (n && offset + n > m->size)
		m->size = offset + n;
}

static void stop(struct made *m)
{
	close(m->sink.fd);
	free(m->truth);
	free(m->known);
}

static struct pdet_env env = { .root = (char []){ "" } };

/* Reads everything in pieces of @n bytes. */
static void compare(struct made *m, const struct pdet_dump_file *file, size_t n)
{
	struct pdet_dump_cursor cursor = PDET_DUMP_CURSOR;
	char buf[4096];
	uint64_t at;

	ck_assert(file->flattened);
	ck_assert_uint_eq(file->size, m->size);
	for (at = 0; at < m->size; at += n) {
		if (n > m->size - at)
			n = m->size - at;
		ck_assert_int_eq(pdet_dump_file_read(file, &cursor, buf, n,
						     at), 0);
		ck_assert_mem_eq(buf, m->truth + at, n);
	}
	ck_assert_int_eq(pdet_dump_file_read(file, NULL, buf, 1, m->size),
			 -EIO);
}

static void check(struct made *m)
{
	struct pdet_dump_file file;

	dump_sink_end(&m->sink);
	ck_assert_msg(pdet_dump_file_open(&file, &env, m->sink.fd) == 0,
		      "%s", env.error);
	compare(m, &file, 1);
	compare(m, &file, 100);
	compare(m, &file, 4096);
	pdet_dump_file_close(&file);
}

START_TEST(any_order)
{
	unsigned round, i;

	for (round = 0; round < 60; round++) {
		struct made m;

		start(&m, SPAN);
		m.state += round;
		for (i = 0; i < 5 + round * 3; i++) {
			size_t n = unit_random(&m.state) %
				(round % 2 ? 1000 : 40);
			uint64_t at = unit_random(&m.state) % (SPAN - n);

			chunk(&m, at, n);
		}
		check(&m);
		stop(&m);
	}
}
END_TEST

/*
 * Parallel streams that partly overlap: only the order of chunks tells what was
 * written last.
 */
START_TEST(streams_at_the_same_time)
{
	unsigned round, i;

	for (round = 0; round < 60; round++) {
		uint64_t at[6];
		struct made m;

		start(&m, SPAN);
		m.state += round;
		for (i = 0; i < 6; i++)
			at[i] = unit_random(&m.state) % (SPAN / 2);
		for (i = 0; i < 300; i++) {
			unsigned k = unit_random(&m.state) %
				(1 + round % 6);
			size_t n = unit_random(&m.state) % 90;

			if (at[k] + n > SPAN)
				continue;
			chunk(&m, at[k], n);
			at[k] += n;
		}
		check(&m);
		stop(&m);
	}
}
END_TEST

/* As writers do: the header again at the end. */
START_TEST(the_later_one_holds)
{
	struct made m;
	unsigned i;

	start(&m, SPAN);
	chunk(&m, 0, 464);
	for (i = 0; i < 20; i++) {
		chunk(&m, 4096 + i * 24, 24);
		chunk(&m, 8192 + i * 100, 100);
	}
	chunk(&m, 0, 464);
	chunk(&m, 8192 + 950, 100);
	check(&m);
	stop(&m);
}
END_TEST

/* More chunks than are remembered, in two streams. */
START_TEST(more_chunks_than_marks)
{
	const uint64_t n = 300000, far = 2 * n;
	struct pdet_dump_cursor cursor = PDET_DUMP_CURSOR;
	struct pdet_dump_file file;
	char *stream, *p, buf[64];
	uint64_t i, k, head[2], state = 1;
	int fd = memfd_create("flat", MFD_CLOEXEC);

	p = stream = calloc(1, 4096 + 2 * n * 17 + 16);
	strcpy(p, "makedumpfile");
	for (p += 4096, i = 0; i < n; i++)
		for (k = 0; k < 2; k++) {
			head[0] = htobe64(k * far + i);
			head[1] = htobe64(1);
			memcpy(p, head, sizeof(head));
			p[16] = (char)(i * 7 + k);
			p += 17;
		}
	memset(p, 0xff, 16);
	p += 16;
	ck_assert_int_eq(write(fd, stream, (size_t)(p - stream)), p - stream);
	free(stream);
	ck_assert_int_eq(pdet_dump_file_open(&file, &env, fd), 0);
	ck_assert_uint_eq(file.size, far + n);
	ck_assert_uint_gt(file.flat.step, 0);
	for (i = 0; i < 300; i++) {
		uint64_t at = i < 100 ? i * 64 :
			unit_random(&state) % (n - sizeof(buf));

		for (k = 0; k < 2; k++) {
			size_t j;

			ck_assert_int_eq(pdet_dump_file_read(&file, &cursor,
					buf, sizeof(buf), k * far + at), 0);
			for (j = 0; j < sizeof(buf); j++)
				ck_assert_int_eq(buf[j],
						 (char)((at + j) * 7 + k));
		}
	}
	/* Between both. */
	ck_assert_int_eq(pdet_dump_file_read(&file, NULL, buf, 4, n + 5), 0);
	ck_assert_mem_eq(buf, "\0\0\0\0", 4);
	pdet_dump_file_close(&file);
	close(fd);
}
END_TEST

/* Unordered chunks take memory each, so their number is limited. */
START_TEST(no_order_is_refused)
{
	const uint64_t n = 270000;
	struct pdet_dump_file file;
	uint64_t i, head[2];
	char *stream, *p;
	int fd = memfd_create("flat", MFD_CLOEXEC);

	p = stream = calloc(1, 4096 + n * 17 + 16);
	strcpy(p, "makedumpfile");
	for (p += 4096, i = 0; i < n; i++, p += 17) {
		head[0] = htobe64(i * 2);
		head[1] = htobe64(1);
		memcpy(p, head, sizeof(head));
	}
	memset(p, 0xff, 16);
	p += 16;
	ck_assert_int_eq(write(fd, stream, (size_t)(p - stream)), p - stream);
	free(stream);
	ck_assert_int_eq(pdet_dump_file_open(&file, &env, fd), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(env.error, "not in order"));
	close(fd);
}
END_TEST

/*
 * Cut after every byte: what is left is right, and what is missing is reported.
 */
START_TEST(cut_anywhere)
{
	struct pdet_dump_file file;
	struct made m;
	uint64_t n, at;
	unsigned i;
	char c;

	start(&m, SPAN);
	for (i = 0; i < 6; i++) {
		chunk(&m, i * 20, 20);
		chunk(&m, 300 + i * 5, 5);
	}
	dump_sink_end(&m.sink);
	for (n = m.sink.end; n-- > 4096;) {
		uint64_t right = 0;

		ck_assert_int_eq(ftruncate(m.sink.fd, (off_t)n), 0);
		ck_assert_int_eq(pdet_dump_file_open(&file, &env, m.sink.fd),
				 0);
		ck_assert_int_eq(file.flat.lost, -EIO);
		for (at = 0; at < m.size; at++) {
			int r = pdet_dump_file_read(&file, NULL, &c, 1, at);

			ck_assert(r == -EIO || (r == 0 && m.known[at] &&
						c == m.truth[at]));
			right += r == 0;
		}
		/* The remaining bytes are headers of chunks. */
		ck_assert_uint_le(right, n - 4096);
		ck_assert_uint_ge(right + 12 * 16 + 16, n - 4096);
		pdet_dump_file_close(&file);
	}
	stop(&m);
}
END_TEST

START_TEST(damaged_head)
{
	struct pdet_dump_file file;
	uint64_t head = htobe64((uint64_t)1 << 63);
	struct made m;
	char buf[100];

	start(&m, SPAN);
	chunk(&m, 0, 100);
	/* The second chunk, in its size field. */
	chunk(&m, 100, 100);
	ck_assert_int_eq(pwrite(m.sink.fd, &head, 8, 4096 + 116 + 8), 8);
	ck_assert_int_eq(pdet_dump_file_open(&file, &env, m.sink.fd), 0);
	ck_assert_int_eq(file.flat.lost, -EBADMSG);
	ck_assert_int_eq(pdet_dump_file_read(&file, NULL, buf, 100, 0), 0);
	ck_assert_mem_eq(buf, m.truth, 100);
	ck_assert_int_eq(pdet_dump_file_read(&file, NULL, buf, 100, 1),
			 -EBADMSG);
	pdet_dump_file_close(&file);
	stop(&m);
}
END_TEST

START_TEST(form_of_what_is_inside)
{
	struct dump_sink sink = {
		.fd = memfd_create("flat", MFD_CLOEXEC), .flattened = true
	};
	const char *kdump = "KDUMP   ....";

	dump_sink_begin(&sink);
	ck_assert_int_eq(pdet_dump_file_form(sink.fd), PDET_DUMP_FLAT);
	dump_sink_write(&sink, "x", 1, 5000);
	ck_assert_int_eq(pdet_dump_file_form(sink.fd), PDET_DUMP_FLAT);
	dump_sink_write(&sink, kdump, strlen(kdump), 0);
	ck_assert_int_eq(pdet_dump_file_form(sink.fd), PDET_DUMP_KDUMP);
	close(sink.fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flat");

	unit_test(suite, any_order);
	unit_test(suite, streams_at_the_same_time);
	unit_test(suite, the_later_one_holds);
	unit_test(suite, more_chunks_than_marks);
	unit_test(suite, no_order_is_refused);
	unit_test(suite, cut_anywhere);
	unit_test(suite, damaged_head);
	unit_test(suite, form_of_what_is_inside);
	return unit_main(suite);
}
