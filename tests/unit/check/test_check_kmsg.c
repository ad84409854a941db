/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests which of ext4's kernel messages are counted, and to which file they
 * belong.
 */
#include "check/kmsg.h"
#include "../unit.h"

#define LOST "EXT4-fs (loop1): Delayed block allocation failed for inode 13 " \
	     "at logical offset 5928 with max blocks 1 with error 28"

static enum pdet_kmsg_says about(uint64_t ino, const char *text)
{
	enum pdet_kmsg_says says = PDET_KMSG_OTHERS;

	ck_assert(pdet_kmsg_line(text, "loop1", ino, &says));
	return says;
}

static void is_no_line(const char *text)
{
	enum pdet_kmsg_says says = PDET_KMSG_OTHERS;

	ck_assert(!pdet_kmsg_line(text, "loop1", 13, &says));
	ck_assert_uint_eq(says, PDET_KMSG_OTHERS);
}

START_TEST(which_file)
{
	ck_assert_uint_eq(about(13, LOST), PDET_KMSG_LOST);
	ck_assert_uint_eq(about(0, LOST), PDET_KMSG_LOST);
	ck_assert_uint_eq(about(1, LOST), PDET_KMSG_OTHERS);
	ck_assert_uint_eq(about(131, LOST), PDET_KMSG_OTHERS);
	ck_assert_uint_eq(about(13, "EXT4-fs (loop1): failed to convert "
				"unwritten extents to written extents -- "
				"potential data loss!  (inode 13, error -5)"),
			  PDET_KMSG_LOST);
	ck_assert_uint_eq(about(13, "EXT4-fs (loop1): This should not happen!! "
				"Data will be lost"), PDET_KMSG_OTHERS);
	ck_assert_uint_eq(about(13, "EXT4-fs (loop1): free_blocks=0"),
			  PDET_KMSG_OTHERS);
}
END_TEST

START_TEST(what_is_not_understood)
{
	enum pdet_kmsg_says says = PDET_KMSG_LOST;

	ck_assert_uint_eq(about(13, "EXT4-fs (loop1): re-mounted r/w"),
			  PDET_KMSG_UNKNOWN);
	ck_assert_uint_eq(about(13, "EXT4-fs (loop1): "), PDET_KMSG_UNKNOWN);
	ck_assert_uint_eq(about(13, "EXT4-fs (loop1): Delayed block "
				"allocation failed for inode x"),
			  PDET_KMSG_UNKNOWN);
	/* A known loss stays. */
	ck_assert(pdet_kmsg_line("EXT4-fs (loop1): re-mounted", "loop1", 13,
				 &says));
	ck_assert_uint_eq(says, PDET_KMSG_LOST);
}
END_TEST

START_TEST(which_lines)
{
	is_no_line("");
	is_no_line("EXT4-fs (loop1");
	is_no_line("EXT4-fs (loop1)");
	is_no_line("EXT4-fs (loop11): free_blocks=0");
	is_no_line("EXT4-fs (loop): free_blocks=0");
	is_no_line("EXT4-fs warning (device loop1): inode 13");
	is_no_line(" EXT4-fs (loop1): free_blocks=0");
}
END_TEST

START_TEST(the_log_of_this_machine)
{
	uint64_t first = 0, next = 0;

	if (!pdet_kmsg_next(&next))
		unit_skip("the kernel log cannot be read");
	ck_assert(pdet_kmsg_next(&first));
	ck_assert_uint_ge(first, next);
	/* No message is about a device that does not exist. */
	ck_assert_uint_eq(pdet_kmsg_about(0, "no such", 0, 13),
			  PDET_KMSG_OTHERS);
	ck_assert_uint_eq(pdet_kmsg_about(0, "no such", 1, 13),
			  PDET_KMSG_UNKNOWN);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("check_kmsg");

	unit_test(s, which_file);
	unit_test(s, what_is_not_understood);
	unit_test(s, which_lines);
	unit_test(s, the_log_of_this_machine);
	return unit_main(s);
}
