/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests what is kept of objects that are read again and again. */
#include <sys/mman.h>
#include <unistd.h>

#include "../unit.h"
#include "memorizer/merge.h"

/* Of the place, the index of the allocation and that of the free. */
#define OBJECT(va, alloc, freed) "ffffffff81000010,1,ffff8881000000" va \
	",64," alloc "," freed ",0,a\n"
#define ACCESS(writes, reads) "  ffffffff81000020,1," writes "," reads "\n"

static struct pdet_merge m;

static void begin(void)
{
	ck_assert_int_eq(pdet_merge_open(&m, "/tmp"), 0);
}

/* One reading, in pieces of @piece bytes. */
static void read_pieces(const char *text, bool is_last, bool cleared,
			size_t piece)
{
	const size_t n = strlen(text);
	size_t i, some;

	pdet_merge_begin(&m, is_last);
	for (i = 0; i < n; i += some) {
		some = piece < n - i ? piece : n - i;
		ck_assert_int_eq(pdet_merge_feed(&m, text + i, some), 0);
	}
	pdet_merge_end(&m, cleared);
}

static void read_one(const char *text, bool cleared)
{
	read_pieces(text, false, cleared, 4096);
}

static void read_last(const char *text)
{
	read_pieces(text, true, true, 4096);
}

/* Ends it. */
static void is_kept(const char *text)
{
	const size_t n = strlen(text);
	const int fd = memfd_create("kept", MFD_CLOEXEC);
	char *got = calloc(1, n + 2);

	ck_assert_int_eq(pdet_merge_write(&m, fd), 0);
	ck_assert_int_eq(pread(fd, got, n + 1, 0), n);
	ck_assert_str_eq(got, text);
	ck_assert_uint_eq(m.bytes, n);
	free(got);
	close(fd);
	pdet_merge_close(&m);
}

/* As it was at last, and not before. */
START_TEST(live)
{
	begin();
	read_one(OBJECT("10", "1", "0") ACCESS("1", "1")
		 OBJECT("20", "2", "0"), true);
	read_one(OBJECT("10", "1", "0") ACCESS("2", "1")
		 OBJECT("20", "2", "9"), true);
	read_last(OBJECT("10", "1", "0") ACCESS("3", "1"));
	ck_assert_uint_eq(m.objects, 2);
	ck_assert_uint_eq(m.n_live, 1);
	ck_assert_uint_eq(m.accesses, 1);
	ck_assert_uint_eq(m.repeated, 3);
	ck_assert_uint_eq(m.vanished, 0);
	is_kept(OBJECT("20", "2", "9") OBJECT("10", "1", "0")
		ACCESS("3", "1"));
}
END_TEST

/* Nobody has read its end. */
START_TEST(vanished)
{
	begin();
	read_one(OBJECT("10", "1", "0") OBJECT("20", "2", "0"), true);
	read_one(OBJECT("20", "2", "0"), true);
	read_last("");
	ck_assert_uint_eq(m.vanished, 2);
	ck_assert_uint_eq(m.repeated, 1);
	is_kept("");
}
END_TEST

START_TEST(not_cleared)
{
	begin();
	read_one(OBJECT("10", "1", "5") ACCESS("1", "1"), false);
	read_one(OBJECT("10", "1", "5") ACCESS("1", "1")
		 OBJECT("20", "2", "6"), false);
	read_last(OBJECT("10", "1", "5") ACCESS("1", "1")
		  OBJECT("20", "2", "6"));
	ck_assert_uint_eq(m.repeated, 3);
	is_kept(OBJECT("10", "1", "5") ACCESS("1", "1")
		OBJECT("20", "2", "6"));
}
END_TEST

/* Of one reading, or after a clear: an index may count jiffies. */
START_TEST(alike)
{
	begin();
	read_one(OBJECT("10", "1", "1") OBJECT("10", "1", "1"), true);
	read_one(OBJECT("10", "1", "1"), false);
	read_last(OBJECT("10", "1", "1") OBJECT("10", "1", "1"));
	ck_assert_uint_eq(m.objects, 4);
	ck_assert_uint_eq(m.repeated, 1);
	is_kept(OBJECT("10", "1", "1") OBJECT("10", "1", "1")
		OBJECT("10", "1", "1") OBJECT("10", "1", "1"));
}
END_TEST

/* The place of an object that a cache had ready is told later. */
START_TEST(ready)
{
	begin();
	read_one("00000000feedbeef,1,ffff888100000010,64,1,0,0,a\n", true);
	read_last(OBJECT("10", "1", "0"));
	ck_assert_uint_eq(m.repeated, 1);
	ck_assert_uint_eq(m.vanished, 0);
	is_kept(OBJECT("10", "1", "0"));
}
END_TEST

/* What is not told cannot be compared. */
START_TEST(hidden)
{
	static const char one[] = "(____ptrval____),1,(____ptrval____),64,1,2,"
				  "(____ptrval____),a\n";

	begin();
	read_one(one, true);
	ck_assert_uint_eq(m.strange, 0);
	read_one(one, false);
	read_last(one);
	ck_assert_uint_eq(m.strange, 1);
	ck_assert_uint_eq(m.objects, 3);
	ck_assert_uint_eq(m.repeated, 0);
	pdet_merge_close(&m);
}
END_TEST

START_TEST(strange)
{
	begin();
	read_one("text\n" OBJECT("10", "1", "0") ACCESS("1", "1"), true);
	read_last(ACCESS("1", "1") OBJECT("10", "1", "0") "cut");
	ck_assert_uint_eq(m.strange, 1);
	ck_assert(m.cut);
	is_kept("text\n" ACCESS("1", "1") OBJECT("10", "1", "0"));
}
END_TEST

/* Wherever a text is taken apart. */
START_TEST(pieces)
{
	static const char text[] = OBJECT("10", "1", "5") ACCESS("1", "1")
		OBJECT("20", "2", "0") ACCESS("2", "2");

	begin();
	read_pieces(text, false, true, (size_t)_i + 1);
	read_pieces(text, true, true, (size_t)_i + 1);
	ck_assert_uint_eq(m.strange, 0);
	ck_assert(!m.cut);
	ck_assert_uint_eq(m.objects, 3);
	is_kept(OBJECT("10", "1", "5") ACCESS("1", "1")
		OBJECT("10", "1", "5") ACCESS("1", "1")
		OBJECT("20", "2", "0") ACCESS("2", "2"));
}
END_TEST

/* More than the room for a line, and for what is not written yet. */
START_TEST(large)
{
	const size_t longest = PDET_MERGE_LINE + 1;
	char *text = malloc(longest + 2), *all;
	unsigned i;

	begin();
	memset(text, 'x', longest);
	memcpy(text + longest, "\n", 2);
	read_pieces(text, false, true, 1000);
	ck_assert_uint_eq(m.strange, 1);
	ck_assert_uint_eq(m.bytes, 0);
	all = calloc(4000, sizeof(OBJECT("10", "1", "5")));
	for (i = 0; i < 4000; i++)
		strcat(all + i * strlen(OBJECT("10", "1", "5")),
		       OBJECT("10", "1", "5"));
	read_last(all);
	ck_assert_uint_eq(m.objects, 4000);
	is_kept(all);
	free(all);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("merge");

	unit_test(s, live);
	unit_test(s, vanished);
	unit_test(s, not_cleared);
	unit_test(s, alike);
	unit_test(s, ready);
	unit_test(s, hidden);
	unit_test(s, strange);
	unit_loop(s, pieces, 40);
	unit_test(s, large);
	return unit_main(s);
}
