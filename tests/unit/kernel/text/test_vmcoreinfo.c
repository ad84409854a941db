/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests VMCOREINFO, and text that only looks like it. */
#include "kernel/text/vmcoreinfo.h"
#include "../../unit.h"

static const char text[] =
	"OSRELEASE=6.12.117-lab\n"
	"BUILD-ID=461306e13d5c88c6\n"
	"PAGESIZE=4096\n"
	"SYMBOL(init_uts_ns)=ffffffff97454d00\n"
	"OFFSET(page.flags)=0\n"
	"OFFSET(page._refcount)=52\n"
	"SIZE(page)=64\n"
	"LENGTH(mem_section)=4096\n"
	"NUMBER(VMALLOC_START)=0xffff9e8300000000\n"
	"NUMBER(phys_base)=-318767104\n"
	"NUMBER(odd)=12x\n"
	"NUMBER(none)=\n"
	"NUMBER(minus)=-\n"
	"NUMBER(great)=18446744073709551616\n"
	"SYMBOL(odd)=ffffg\n"
	"SYMBOL(twice)=1\n"
	"no line of this kind\n"
	"=nothing\n"
	"\n"
	"SYMBOL(twice)=2\n"
	"KERNELOFFSET=15000000\n"
	"CRASHTIME=1700000000";

static struct pdet_vmcoreinfo parse(const char *from, size_t len)
{
	struct pdet_vmcoreinfo info;

	ck_assert(pdet_vmcoreinfo_parse(&info, from, len));
	return info;
}

START_TEST(values)
{
	char *copy = unit_exact(text, sizeof(text) - 1);
	struct pdet_vmcoreinfo info = parse(copy, sizeof(text) - 1);
	struct pdet_scan s;
	uint64_t v;

	ck_assert(pdet_vmcoreinfo_text(&info, "OSRELEASE", &s));
	ck_assert(pdet_scan_is(&s, "6.12.117-lab"));
	ck_assert(pdet_vmcoreinfo_text(&info, "CRASHTIME", &s));
	ck_assert(pdet_scan_is(&s, "1700000000"));
	ck_assert(pdet_vmcoreinfo_symbol(&info, "init_uts_ns", &v));
	ck_assert_uint_eq(v, 0xffffffff97454d00);
	ck_assert(pdet_vmcoreinfo_offset(&info, "page.flags", &v));
	ck_assert_uint_eq(v, 0);
	ck_assert(pdet_vmcoreinfo_offset(&info, "page._refcount", &v));
	ck_assert_uint_eq(v, 52);
	ck_assert(pdet_vmcoreinfo_size(&info, "page", &v));
	ck_assert_uint_eq(v, 64);
	ck_assert(pdet_vmcoreinfo_length(&info, "mem_section", &v));
	ck_assert_uint_eq(v, 4096);
	ck_assert(pdet_vmcoreinfo_number(&info, "VMALLOC_START", &v));
	ck_assert_uint_eq(v, 0xffff9e8300000000);
	ck_assert(pdet_vmcoreinfo_number(&info, "phys_base", &v));
	ck_assert_int_eq((int64_t)v, -318767104);
	ck_assert(pdet_vmcoreinfo_symbol(&info, "twice", &v));
	ck_assert_uint_eq(v, 2);
	pdet_vmcoreinfo_free(&info);
	free(copy);
}
END_TEST

START_TEST(what_is_not_there)
{
	struct pdet_vmcoreinfo info = parse(text, sizeof(text) - 1);
	struct pdet_scan s;
	uint64_t v = 5;

	ck_assert(!pdet_vmcoreinfo_text(&info, "OSRELEAS", &s));
	ck_assert(!pdet_vmcoreinfo_text(&info, "", &s));
	ck_assert(!pdet_vmcoreinfo_symbol(&info, "init_uts", &v));
	ck_assert(!pdet_vmcoreinfo_symbol(&info, "page", &v));
	ck_assert(!pdet_vmcoreinfo_offset(&info, "page", &v));
	ck_assert(!pdet_vmcoreinfo_size(&info, "page.flags", &v));
	ck_assert(!pdet_vmcoreinfo_number(&info, "odd", &v));
	ck_assert(!pdet_vmcoreinfo_number(&info, "none", &v));
	ck_assert(!pdet_vmcoreinfo_number(&info, "minus", &v));
	ck_assert(!pdet_vmcoreinfo_number(&info, "great", &v));
	ck_assert(!pdet_vmcoreinfo_symbol(&info, "odd", &v));
	ck_assert_uint_eq(v, 5);
	pdet_vmcoreinfo_free(&info);
}
END_TEST

START_TEST(cut_anywhere)
{
	size_t cut;

	for (cut = 0; cut < sizeof(text); cut++) {
		char *copy = unit_exact(text, cut);
		struct pdet_vmcoreinfo info = parse(copy, cut);
		uint64_t v;

		/*
		 * A truncated value is another value: its reader must know
		 * about the cut.
		 */
		pdet_vmcoreinfo_number(&info, "phys_base", &v);
		pdet_vmcoreinfo_free(&info);
		free(copy);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vmcoreinfo");

	unit_test(s, values);
	unit_test(s, what_is_not_there);
	unit_test(s, cut_anywhere);
	return unit_main(s);
}
