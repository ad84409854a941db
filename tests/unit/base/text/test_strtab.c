/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests interned strings and the lifetime of their ids. */
#include "base/text/strtab.h"
#include "../../unit.h"

static struct pdet_strtab tab;

static uint64_t add(const char *text)
{
	return pdet_strtab_add(&tab, text, strlen(text));
}

static void ck_text(uint64_t id, const char *text)
{
	size_t len = 12345;
	const char *got = pdet_strtab_get(&tab, id, &len);

	ck_assert_ptr_nonnull(got);
	ck_assert_str_eq(got, text);
	ck_assert_uint_eq(len, strlen(text));
	ck_assert_str_eq(pdet_strtab_get(&tab, id, NULL), text);
}

START_TEST(equal_text_has_one_id)
{
	uint64_t a, b, empty;

	pdet_strtab_init(&tab, 1, 1000);
	ck_assert_uint_eq(pdet_strtab_next(&tab), 1);
	a = add("alpha");
	b = add("beta");
	empty = add("");
	ck_assert_uint_eq(a, 1);
	ck_assert_uint_eq(b, 2);
	ck_assert_uint_eq(empty, 3);
	ck_assert_uint_eq(add("alpha"), a);
	ck_assert_uint_eq(add(""), empty);
	ck_assert_uint_eq(pdet_strtab_next(&tab), 4);
	ck_text(a, "alpha");
	ck_text(b, "beta");
	ck_text(empty, "");
	pdet_strtab_free(&tab);
}
END_TEST

START_TEST(text_ends_at_its_first_nul)
{
	pdet_strtab_init(&tab, 1, 1000);
	ck_assert_uint_eq(pdet_strtab_add(&tab, "ab\0cd", 5), 1);
	ck_text(1, "ab");
	ck_assert_uint_eq(pdet_strtab_add(&tab, "abcd", 2), 1);
	ck_assert_uint_eq(pdet_strtab_add(&tab, "\0x", 2), 2);
	ck_text(2, "");
	pdet_strtab_free(&tab);
}
END_TEST

START_TEST(other_ids_answer_null)
{
	size_t len = 7;

	pdet_strtab_init(&tab, 100, 1000);
	ck_assert_ptr_null(pdet_strtab_get(&tab, 100, &len));
	add("x");
	ck_assert_ptr_null(pdet_strtab_get(&tab, 0, &len));
	ck_assert_ptr_null(pdet_strtab_get(&tab, 99, &len));
	ck_assert_ptr_null(pdet_strtab_get(&tab, 101, &len));
	ck_assert_ptr_null(pdet_strtab_get(&tab, UINT64_MAX, &len));
	ck_assert_uint_eq(len, 7);
	ck_text(100, "x");
	pdet_strtab_free(&tab);
}
END_TEST

START_TEST(stale_ids_answer_null_for_ever)
{
	uint64_t first, step, base, id;
	char text[32];

	pdet_strtab_init(&tab, 1, 1 << 20);
	first = add("first");
	for (step = 0; step < 50; step++) {
		base = pdet_strtab_next(&tab);
		pdet_strtab_clear(&tab, base);
		for (id = 0; id < step % 7; id++) {
			snprintf(text, sizeof(text), "step %d text %d",
				 (int)step, (int)id);
			ck_assert_uint_eq(add(text), base + id);
			ck_text(base + id, text);
		}
		for (id = 0; id < base; id++)
			ck_assert_ptr_null(pdet_strtab_get(&tab, id, NULL));
	}
	ck_assert_ptr_null(pdet_strtab_get(&tab, first, NULL));
	/* the same text again is a new id */
	ck_assert_uint_gt(add("first"), first);
	pdet_strtab_free(&tab);
}
END_TEST

START_TEST(text_is_bounded)
{
	/* two strings of 4 with their NULs */
	pdet_strtab_init(&tab, 1, 10);
	ck_assert_uint_eq(add("abcd"), 1);
	ck_assert_uint_eq(add("efghi"), 0);
	ck_assert_uint_eq(add("efgh"), 2);
	ck_assert_uint_eq(add("x"), 0);
	ck_assert_uint_eq(add(""), 0);
	/* Existing strings are still found. */
	ck_assert_uint_eq(add("abcd"), 1);
	ck_assert_uint_eq(pdet_strtab_next(&tab), 3);
	ck_text(2, "efgh");
	pdet_strtab_clear(&tab, 3);
	ck_assert_uint_eq(add("again"), 3);
	pdet_strtab_free(&tab);
	pdet_strtab_init(&tab, 1, 0);
	ck_assert_uint_eq(add(""), 0);
	pdet_strtab_free(&tab);
}
END_TEST

START_TEST(many_strings_are_all_found)
{
	const unsigned n = 50000;
	char text[32];
	unsigned i, pass;

	pdet_strtab_init(&tab, 1000, 8 << 20);
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < n; i++) {
			snprintf(text, sizeof(text), "/path/%u/%u", i % 17, i);
			ck_assert_uint_eq(add(text), 1000 + i);
		}
	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "/path/%u/%u", i % 17, i);
		ck_text(1000 + i, text);
	}
	pdet_strtab_free(&tab);
	/* usable again, and empty */
	ck_assert_ptr_null(pdet_strtab_get(&tab, 1000, NULL));
	ck_assert_uint_eq(add("new"), 1000);
	pdet_strtab_free(&tab);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("strtab");

	unit_test(s, equal_text_has_one_id);
	unit_test(s, text_ends_at_its_first_nul);
	unit_test(s, other_ids_answer_null);
	unit_test(s, stale_ids_answer_null_for_ever);
	unit_test(s, text_is_bounded);
	unit_test(s, many_strings_are_all_found);
	return unit_main(s);
}
