/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the reading of a KMAP: what belongs to an object, and what to none. */
#include <errno.h>

#include "../unit.h"
#include "kmap/reader.h"

#define OBJECT(pid) "ffffffff81000010," pid ",ffff888100000000,64,1,0,0,a\n"
#define ACCESS(writes, reads) "  ffffffff81000020,1," writes "," reads "\n"

static struct pdet_env env;

struct read {
	struct pdet_kmap_reader r;
	unsigned n;
	struct {
		int64_t pid;
		uint64_t reads, writes, accesses;
	} object[8];
	int result;
};

static struct read read_all(const char *text, size_t n)
{
	struct read a = { .n = 0 };
	struct pdet_text_stream *s;

	ck_assert_int_eq(pdet_text_stream_memory(&env, text, n, "text", &s),
			 0);
	a.result = pdet_kmap_reader_start(&a.r, &env, s, NULL);
	while (a.result == 0 && pdet_kmap_read(&a.r, &env) == 1) {
		const struct pdet_kmap_object *o = &a.r.object;

		ck_assert_uint_lt(a.n, 8);
		ck_assert_uint_eq(o->accesses.n, o->n_accesses);
		a.object[a.n].pid = o->line.pid;
		a.object[a.n].reads = o->reads;
		a.object[a.n].writes = o->writes;
		a.object[a.n++].accesses = o->n_accesses;
	}
	return a;
}

static void is(const struct read *a, unsigned i, int64_t pid, uint64_t writes,
	       uint64_t reads, uint64_t accesses)
{
	ck_assert_uint_gt(a->n, i);
	ck_assert_int_eq(a->object[i].pid, pid);
	ck_assert_uint_eq(a->object[i].writes, writes);
	ck_assert_uint_eq(a->object[i].reads, reads);
	ck_assert_uint_eq(a->object[i].accesses, accesses);
}

START_TEST(whole)
{
	static const char text[] = OBJECT("1") ACCESS("2", "3") ACCESS("4", "5")
		OBJECT("2") OBJECT("3") ACCESS("6", "7");
	struct read a = read_all(text, sizeof(text) - 1);

	ck_assert_uint_eq(a.n, 3);
	is(&a, 0, 1, 6, 8, 2);
	is(&a, 1, 2, 0, 0, 0);
	is(&a, 2, 3, 6, 7, 1);
	ck_assert_uint_eq(a.r.seen.lines, 6);
	ck_assert(!a.r.seen.strange && !a.r.seen.orphans && !a.r.seen.cut);
	pdet_kmap_reader_close(&a.r);
}
END_TEST

/* What is behind a line that was not understood belongs to nothing known. */
START_TEST(strange)
{
	static const char text[] = ACCESS("9", "9") OBJECT("1") "  x\n"
		ACCESS("1", "1") "ffffffff81000010,x\n" ACCESS("2", "2")
		ACCESS("3", "3") OBJECT("2");
	struct read a = read_all(text, sizeof(text) - 1);

	ck_assert_uint_eq(a.n, 2);
	is(&a, 0, 1, 1, 1, 1);
	is(&a, 1, 2, 0, 0, 0);
	ck_assert_uint_eq(a.r.seen.strange, 2);
	ck_assert_uint_eq(a.r.seen.strange_line, 3);
	ck_assert_uint_eq(a.r.seen.orphans, 3);
	ck_assert_uint_eq(a.r.seen.orphan_line, 1);
	pdet_kmap_reader_close(&a.r);
}
END_TEST

/* The last line without a newline never counts, wherever it is cut. */
START_TEST(cut)
{
	static const char text[] = OBJECT("1") ACCESS("2", "3") OBJECT("2")
		ACCESS("4", "50");
	const size_t first = strlen(OBJECT("1"));
	const size_t second = first + strlen(ACCESS("2", "3"));
	const size_t third = second + first;
	size_t n;

	for (n = first; n < sizeof(text); n++) {
		struct read a = read_all(text, n);
		const bool is_whole = n == first || n == second || n == third ||
				   n == sizeof(text) - 1;

		ck_assert_uint_eq(a.n, n < third ? 1 : 2);
		is(&a, 0, 1, n < second ? 0 : 2, n < second ? 0 : 3,
		   n >= second);
		if (a.n == 2)
			is(&a, 1, 2, n < sizeof(text) - 1 ? 0 : 4,
			   n < sizeof(text) - 1 ? 0 : 50,
			   n == sizeof(text) - 1);
		ck_assert_int_eq(a.r.seen.cut, !is_whole);
		ck_assert_uint_eq(a.r.seen.strange, 0);
		pdet_kmap_reader_close(&a.r);
	}
}
END_TEST

START_TEST(saturated)
{
	static const char text[] = OBJECT("1")
		ACCESS("18446744073709551615", "1") ACCESS("1", "1");
	struct read a = read_all(text, sizeof(text) - 1);

	is(&a, 0, 1, UINT64_MAX, 2, 2);
	ck_assert(a.r.seen.saturated);
	pdet_kmap_reader_close(&a.r);
}
END_TEST

/* A line longer than a block is one strange line, and so is its rest. */
START_TEST(endless)
{
	const size_t longest = (size_t)3 << 20;
	char *text = malloc(longest + 1024);
	size_t n = 0;
	struct read a;

	n += (size_t)sprintf(text, OBJECT("1") ACCESS("1", "1"));
	memset(text + n, 'x', longest);
	n += longest;
	n += (size_t)sprintf(text + n, "\n" ACCESS("2", "2") OBJECT("2"));
	a = read_all(text, n);
	ck_assert_uint_eq(a.n, 2);
	is(&a, 0, 1, 1, 1, 1);
	is(&a, 1, 2, 0, 0, 0);
	ck_assert_uint_eq(a.r.seen.strange, 1);
	ck_assert_uint_eq(a.r.seen.strange_line, 3);
	ck_assert_uint_eq(a.r.seen.orphans, 1);
	ck_assert_uint_eq(a.r.seen.lines, 5);
	pdet_kmap_reader_close(&a.r);
	free(text);
}
END_TEST

/* An object goes on in the next block. */
START_TEST(blocks)
{
	const unsigned times = 60000;
	char *text = malloc((size_t)times * 32 + 1024), *at = text;
	struct read a;
	unsigned i;

	at += sprintf(at, OBJECT("1"));
	for (i = 0; i < times; i++)
		at += sprintf(at, ACCESS("1", "2"));
	at += sprintf(at, OBJECT("2"));
	a = read_all(text, (size_t)(at - text));
	ck_assert_uint_eq(a.n, 2);
	is(&a, 0, 1, times, 2 * (uint64_t)times, times);
	ck_assert_uint_eq(a.r.seen.strange + a.r.seen.orphans, 0);
	pdet_kmap_reader_close(&a.r);
	free(text);
}
END_TEST

START_TEST(empty)
{
	struct read a = read_all("", 0);

	ck_assert_int_eq(a.result, 0);
	ck_assert_uint_eq(a.n, 0);
	ck_assert_uint_eq(a.r.dialect, PAGEDET_KMAP_EMPTY);
	pdet_kmap_reader_close(&a.r);
	a = read_all("text\n", 5);
	ck_assert_int_eq(a.result, -EBADMSG);
	pdet_kmap_reader_close(&a.r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reader");

	unit_test(s, whole);
	unit_test(s, strange);
	unit_test(s, cut);
	unit_test(s, saturated);
	unit_test(s, endless);
	unit_test(s, blocks);
	unit_test(s, empty);
	return unit_main(s);
}
