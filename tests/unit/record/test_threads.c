/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the names of threads, which are read many times. */
#include "record/threads.h"
#include "../unit.h"

static struct pdet_thread_names names;

static void add(const char *text)
{
	pdet_thread_names_add(&names, text, strlen(text));
}

static void are(const char *want)
{
	size_t len;
	char *text = pdet_thread_names_text(&names, &len);

	ck_assert_ptr_nonnull(text);
	ck_assert_uint_eq(len, strlen(want));
	ck_assert_str_eq(text, want);
	free(text);
	pdet_thread_names_free(&names);
}

START_TEST(the_last_name_counts)
{
	add("30 sh\n7 kworker/0:1\n");
	add("30 make\n4194304 a b c\n");
	are("7 kworker/0:1\n30 make\n4194304 a b c\n");
}
END_TEST

START_TEST(bad_lines)
{
	add("\n1\n2 \nx y\n-3 z\n99999999999 big\n 4 blank\n5 ok");
	are("5 ok\n");
}
END_TEST

START_TEST(long_name)
{
	add("1 0123456789abcdefXYZ\n1 0123456789abcdef\n2 x\n1 y\n");
	add("3 0123456789abcdefXYZ\n");
	are("1 y\n2 x\n3 0123456789abcdef\n");
}
END_TEST

START_TEST(nothing)
{
	are("");
}
END_TEST

/* More than there is room for: the first ones stay, and can change. */
START_TEST(very_many)
{
	char line[64];
	size_t len;
	char *text;
	unsigned i;

	for (i = 300000; i; i--) {
		snprintf(line, sizeof(line), "%u n%u\n", i, i);
		add(line);
	}
	ck_assert_uint_eq(names.n, 262144);
	add("300000 other\n");
	text = pdet_thread_names_text(&names, &len);
	ck_assert_ptr_nonnull(strstr(text, "\n300000 other\n"));
	ck_assert_ptr_null(strstr(text, "\n1 n1\n"));
	free(text);
	pdet_thread_names_free(&names);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("threads");

	unit_test(s, the_last_name_counts);
	unit_test(s, bad_lines);
	unit_test(s, long_name);
	unit_test(s, nothing);
	unit_test(s, very_many);
	return unit_main(s);
}
