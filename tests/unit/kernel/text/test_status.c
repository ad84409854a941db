/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests numbers of /proc/PID/status. */
#include <string.h>

#include "../../unit.h"
#include "kernel/text/status.h"

static const char text[] =
	"Name:\tTgid: 1\nTgid:\t6\nUid:\t1\t2\t3\t4\nNStgid:\t6\t5\t42\n"
	"NSpid:\t\nGroups:\t7 x 8 \nNSsid:\t18446744073709551616\n";

static const struct pdet_scan all = { text, text + sizeof(text) - 1 };

START_TEST(numbers)
{
	static const struct {
		const char *key;
		unsigned place;
		bool has;
		uint64_t number;
	} cases[] = {
		{ "Tgid:", 0, true, 6 }, { "Tgid:", 1, false, 0 },
		{ "Tgid:", PDET_STATUS_LAST, true, 6 },
		{ "Uid:", 1, true, 2 }, { "Uid:", 3, true, 4 },
		{ "Uid:", 4, false, 0 },
		{ "NStgid:", PDET_STATUS_LAST, true, 42 },
		{ "NSpid:", 0, false, 0 },
		{ "NSpid:", PDET_STATUS_LAST, false, 0 },
		{ "Groups:", 0, true, 7 }, { "Groups:", 1, false, 0 },
		{ "NSsid:", 0, false, 0 }, { "Gid:", 0, false, 0 },
	};
	uint64_t number = 0;

	ck_assert_int_eq(pdet_status_number(all, cases[_i].key, cases[_i].place,
					    &number), cases[_i].has);
	if (cases[_i].has)
		ck_assert_uint_eq(number, cases[_i].number);
}
END_TEST

START_TEST(lines)
{
	ck_assert(pdet_status_has(all, "NSpid:"));
	ck_assert(!pdet_status_has(all, "Gid:"));
	ck_assert(!pdet_status_has((struct pdet_scan){ text, text }, "Tgid:"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("status");

	unit_loop(s, numbers, 13);
	unit_test(s, lines);
	return unit_main(s);
}
