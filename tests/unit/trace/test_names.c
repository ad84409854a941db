/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which return addresses the borders of a kernel allow. */
#include "trace/names.h"
#include "../unit.h"

static struct pdet_trace_names names;

static void take(const char *text)
{
	ck_assert_int_eq(pdet_trace_names_read(&names, strdup(text),
					       strlen(text)), 0);
}

#define ALLOW(site, function) \
	pdet_trace_marks_allow(&names.marks, site, function)

#define TEXT "ffffffff81000000 T _text\nffffffff81000000 T _stext\n" \
	     "ffffffff81000100 t f\nffffffff82000000 T _etext\n"
#define INIT "ffffffff83000000 T _sinittext\nffffffff83100000 T _einittext\n"
#define END "ffffffff84000000 B _end\n"
#define X86 "ffffffff81000080 T entry_SYSCALL_64\n"
#define MODULE "ffffffffc0000000 t _etext\t[m]\nffffffffc0000100 t _end\t[m]\n"

START_TEST(functions)
{
	take("ffffffff81000100 t f\nffffffff81000200 t g\n");
	ck_assert(ALLOW(0xffffffff81000101, 0xffffffff81000100));
	ck_assert(!ALLOW(0xffffffff81000100, 0xffffffff81000100));
	/* Without borders nothing else is known. */
	ck_assert(ALLOW(0xffffffff91000100, 0));
	ck_assert(ALLOW(0x1234, 0));
	pdet_trace_names_free(&names);
}
END_TEST

START_TEST(borders)
{
	take(TEXT MODULE);
	ck_assert(ALLOW(0xffffffff81000101, 0xffffffff81000100));
	ck_assert(!ALLOW(0xffffffff81000101, 0));
	/* Code of the start may be there. */
	ck_assert(ALLOW(0xffffffff82000001, 0));
	ck_assert(ALLOW(0xffffffffc0000001, 0xffffffffc0000000));
	pdet_trace_names_free(&names);
	take(TEXT INIT END MODULE);
	ck_assert(ALLOW(0xffffffff83000001, 0xffffffff83000000));
	ck_assert(!ALLOW(0xffffffff82000001, 0));
	ck_assert(!ALLOW(0xffffffff83200001, 0));
	ck_assert(ALLOW(0xffffffff84000001, 0));
	pdet_trace_names_free(&names);
}
END_TEST

START_TEST(x86)
{
	take(TEXT INIT END X86 MODULE);
	ck_assert(ALLOW(0xffffffff81000101, 0xffffffff81000100));
	ck_assert(!ALLOW(0xffffffff84000001, 0));
	ck_assert(!ALLOW(0xffffffff80000001, 0));
	/* Modules can be there. */
	ck_assert(ALLOW(0xffffffffa0000001, 0));
	ck_assert(ALLOW(0xffff888000000001, 0));
	pdet_trace_names_free(&names);
	take(TEXT X86);
	ck_assert(ALLOW(0xffffffff84000001, 0));
	pdet_trace_names_free(&names);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("names");

	unit_test(s, functions);
	unit_test(s, borders);
	unit_test(s, x86);
	return unit_main(s);
}
