/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests lines of a KMAP: what fits a dialect, and what its codes mean. */
#include "../unit.h"
#include "kmap/object.h"

static struct pdet_scan scan(const char *text)
{
	return (struct pdet_scan){ text, text + strlen(text) };
}

#define NUMBERS "ffffffff81000010,7,ffff888100000000,64,10,20,ffffffff81000020"

START_TEST(columns)
{
	static const char *const lines[] = {
		NUMBERS ",bash", NUMBERS ",KMALLOC,bash",
		NUMBERS ",KMALLOC,bash,kmalloc-64",
		NUMBERS ",KMALLOC,bash,kmalloc-64,",
	};
	struct pdet_kmap_line l;
	unsigned dialect;

	ck_assert_uint_eq(pdet_kmap_dialect(scan(lines[_i])), _i + 1);
	for (dialect = 1; dialect <= 4; dialect++)
		ck_assert_int_eq(pdet_kmap_object_line(scan(lines[_i]),
						       dialect, &l),
				 dialect == (unsigned)_i + 1);
	ck_assert(pdet_kmap_object_line(scan(lines[_i]), (unsigned)_i + 1,
					&l));
	ck_assert_uint_eq(l.site.address, 0xffffffff81000010);
	ck_assert_int_eq(l.pid, 7);
	ck_assert_uint_eq(l.va.address, 0xffff888100000000);
	ck_assert_uint_eq(l.bytes, 64);
	ck_assert_uint_eq(l.alloc_index, 10);
	ck_assert_uint_eq(l.free_index, 20);
	ck_assert(pdet_scan_is(&l.command, "bash"));
	ck_assert(pdet_scan_is(&l.type, _i ? "KMALLOC" : ""));
	ck_assert(pdet_scan_is(&l.cache, _i > 1 ? "kmalloc-64" : ""));
}
END_TEST

START_TEST(no_dialect)
{
	static const char *const texts[] = {
		"", "text\n", "  ffffffff81000010,1,2\n",
		NUMBERS "\n",			/* too few columns */
		NUMBERS ",a,b,c,d,e\n",		/* too many */
		NUMBERS ",a,b\n",		/* a type, or a command? */
		NUMBERS ",BRAND_NEW,bash\n",
		NUMBERS ",KMALLOC,bash,kmalloc-64,x\n",
		/* a comma in the first command */
		NUMBERS ",KMALLOC,a,b\n" NUMBERS ",KMALLOC,a\n",
		NUMBERS ",KMALLOC,a,b\n" NUMBERS ",KMALLOC,c,d\n"
		NUMBERS ",KMALLOC,a\n" NUMBERS ",KMALLOC,b\n",
	};

	ck_assert_uint_eq(pdet_kmap_dialect(scan(texts[_i])), 0);
}
END_TEST

START_TEST(first_line_decides)
{
	ck_assert_uint_eq(pdet_kmap_dialect(scan(
		"c4,6883,ffff8881404d7000\n"	/* cut at the front */
		"  ffffffff81000010,1,2\n"
		NUMBERS ",KMALLOC,bash\n" NUMBERS ",bash\n"
		NUMBERS ",UNKNOWN_GLOBAL,bash\n")),
		PAGEDET_KMAP_TYPED);
	/* The last one is cut. */
	ck_assert_uint_eq(pdet_kmap_dialect(scan(
		NUMBERS ",UNKNOWN_GLOBAL,bash\n" NUMBERS ",KMA")),
		PAGEDET_KMAP_TYPED);
}
END_TEST

START_TEST(strange_objects)
{
	static const char *const lines[] = {
		"", "x", NUMBERS ",KMALLOC", NUMBERS ",,bash,",
		"-1,7,0,64,10,20,0,KMALLOC,bash",
		"1,7,0,-64,10,20,0,KMALLOC,bash",
		"1,7,0,64,18446744073709551616,20,0,KMALLOC,bash",
		"11111111111111111,7,0,64,1,20,0,KMALLOC,bash",
		"1,4294967296,0,64,1,20,0,KMALLOC,bash",
		"1,7,0,64,1,20,0,kmalloc,bash",
		"1;7,0,64,1,20,0,KMALLOC,bash",
		"(nil),7,0,64,1,20,0,KMALLOC,bash",
		"1,-1,0,64,1,20,0,KMALLOC,bash",
	};
	struct pdet_kmap_line l;

	ck_assert(!pdet_kmap_object_line(scan(lines[_i]), PAGEDET_KMAP_TYPED,
					 &l));
}
END_TEST

/* A new kernel may have other types. */
START_TEST(later_type)
{
	struct pdet_kmap_line l;

	ck_assert(pdet_kmap_object_line(scan(NUMBERS ",ALLOC_BRAND_NEW,a"),
					PAGEDET_KMAP_TYPED, &l));
	ck_assert(pdet_kmap_object_line(scan(NUMBERS ",ALLOC TYPE NOT FOUND,"),
					PAGEDET_KMAP_TYPED, &l));
}
END_TEST

/* Old kernels print 0 as wide as an address, with blanks before or behind. */
START_TEST(null)
{
	static const char *const lines[] = {
		"          (null),0,          (null),0,1,2,          (null),KMALLOC,a",
		"(null)          ,0,(null)          ,0,1,2,(null)          ,KMALLOC,a",
	};
	struct pdet_kmap_line l;

	ck_assert(!pdet_kmap_is_access(scan(lines[_i])));
	ck_assert(pdet_kmap_object_line(scan(lines[_i]), PAGEDET_KMAP_TYPED,
					&l));
	ck_assert(!l.site.address && !l.va.address && !l.free_site.address);
	ck_assert(!l.site.hidden && !l.site.hashed);
	ck_assert(pdet_kmap_is_access(scan("            (null),0,1,2")));
}
END_TEST

START_TEST(not_told)
{
	struct pdet_kmap_line l;

	ck_assert(pdet_kmap_object_line(scan("(____ptrval____),7,"
		"00000000a1b2c3d4,64,10,20,00000000deadbeef,KMALLOC,bash"),
		PAGEDET_KMAP_TYPED, &l));
	ck_assert(l.site.hidden && !l.site.hashed);
	ck_assert_uint_eq(pdet_kmap_origin(&l, PAGEDET_KMAP_TYPED),
			  PAGEDET_KMAP_UNTOLD);
	ck_assert(l.va.hashed && !l.va.hidden);
	ck_assert(!l.free_site.hashed);
}
END_TEST

/* What is hashed may have been a code. */
START_TEST(hashed)
{
	struct pdet_kmap_line l;

	ck_assert(pdet_kmap_object_line(scan("00000000a1b2c3d5,7,"
		"00000000a1b2c3d4,64,10,20,00000000a1b2c3d6,KMALLOC,bash"),
		PAGEDET_KMAP_TYPED, &l));
	ck_assert(l.site.hashed && l.va.hashed && l.free_site.hashed);
	ck_assert_uint_eq(pdet_kmap_origin(&l, PAGEDET_KMAP_TYPED),
			  PAGEDET_KMAP_UNTOLD);
	ck_assert_uint_eq(pdet_kmap_end(&l), PAGEDET_KMAP_UNKNOWN);
	ck_assert(!pdet_kmap_tells_nested(&l));
	ck_assert(pdet_kmap_object_line(scan("00000000a1b2c3d5,7,"
		"00000000a1b2c3d4,64,10,0,0000000000000000,KMALLOC,bash"),
		PAGEDET_KMAP_TYPED, &l));
	ck_assert_uint_eq(pdet_kmap_end(&l), PAGEDET_KMAP_LIVE);
	ck_assert(pdet_kmap_tells_nested(&l) && !pdet_kmap_is_nested(&l));
}
END_TEST

/* A global that the kernel has registered is an object as any other. */
START_TEST(global)
{
	struct pdet_kmap_line l;

	ck_assert(pdet_kmap_object_line(scan("0000000000000000,0,"
		"ffffffff82a00000,64,1,0,0000000000000000,GLOBAL,swapper"),
		PAGEDET_KMAP_TYPED, &l));
	ck_assert_uint_eq(pdet_kmap_origin(&l, PAGEDET_KMAP_TYPED),
			  PAGEDET_KMAP_UNTOLD);
	l.va.address = 0;
	ck_assert_uint_eq(pdet_kmap_origin(&l, PAGEDET_KMAP_TYPED),
			  PAGEDET_KMAP_CATCH_ALL);
}
END_TEST

static const struct {
	const char *line;
	unsigned dialect;
	int64_t pid;
	uint64_t writes, reads;
} accesses[] = {
	{ "  ffffffff81000010,7,30,138", PAGEDET_KMAP_LINUXKIT, 7, 30, 138 },
	{ "  ffffffff81000010,30,138", PAGEDET_KMAP_LINUXKIT, -1, 30, 138 },
	{ "  ffffffff81000010,30,138", PAGEDET_KMAP_TYPED, -1, 30, 138 },
	{ "  ffffffff81000010,30,138,7", PAGEDET_KMAP_INDEXED, 7, 30, 138 },
	{ "  ffffffff81000010,30,138,-1", PAGEDET_KMAP_INDEXED, -1, 30, 138 },
	{ "  from:ffffffff81000010,30,138", PAGEDET_KMAP_INDEXED, -1, 30, 138 },
	{ "  from:ffffffff81000010,caller:ffffffff81000020,30,138",
	  PAGEDET_KMAP_SLAB, -1, 30, 138 },
};

START_TEST(access_lines)
{
	struct pdet_kmap_access a;

	ck_assert(pdet_kmap_is_access(scan(accesses[_i].line)));
	ck_assert(pdet_kmap_access_line(scan(accesses[_i].line),
					accesses[_i].dialect, &a));
	ck_assert_uint_eq(a.site.address, 0xffffffff81000010);
	ck_assert_int_eq(a.pid, accesses[_i].pid);
	ck_assert_uint_eq(a.writes, accesses[_i].writes);
	ck_assert_uint_eq(a.reads, accesses[_i].reads);
}
END_TEST

static const struct {
	const char *line;
	unsigned dialect;
} strange[] = {
	{ "  ffffffff81000010,1,2,-2", PAGEDET_KMAP_INDEXED },
	{ "  ffffffff81000010,1,2,-1x", PAGEDET_KMAP_INDEXED },
	{ "  ffffffff81000010,1,2,-10", PAGEDET_KMAP_INDEXED },
	{ "  ffffffff81000010,1,2,", PAGEDET_KMAP_INDEXED },
	{ "  ffffffff81000010,1,2,3,4", PAGEDET_KMAP_INDEXED },
	{ "  ffffffff81000010,1,-1,2", PAGEDET_KMAP_INDEXED },
	{ "  ffffffff81000010,1,-1", PAGEDET_KMAP_INDEXED },
	{ "  ffffffff81000010,1,2,4294967296", PAGEDET_KMAP_INDEXED },
	{ "  ffffffff81000010,-1,1,2", PAGEDET_KMAP_LINUXKIT },
};

START_TEST(strange_threads)
{
	struct pdet_kmap_access a;

	ck_assert(!pdet_kmap_access_line(scan(strange[_i].line),
					 strange[_i].dialect, &a));
}
END_TEST

START_TEST(strange_accesses)
{
	static const char *const lines[] = {
		"  ", "  x", "  ffffffff81000010", "  ffffffff81000010,1",
		"  ffffffff81000010,1,", "  ffffffff81000010,1,2,3,4",
		"  ffffffff81000010,1,2 ", "  ffffffff81000010,1,2x",
		"  ffffffff81000010,-1,2", "  ffffffff81000010,a,2",
		"  ffffffff81000010,18446744073709551616,2",
		"  caller:ffffffff81000010,1,2",
		"  ffffffff81000010,4294967296,1,2",
	};
	struct pdet_kmap_access a;

	ck_assert(!pdet_kmap_access_line(scan(lines[_i]),
					 PAGEDET_KMAP_LINUXKIT, &a));
}
END_TEST

static const struct {
	uint64_t site, free_site, free_index;
	unsigned origin, end;
	bool nested;
} codes[] = {
	{ 0xffffffff81000010, 0, 0, PAGEDET_KMAP_CALL, PAGEDET_KMAP_LIVE, 0 },
	{ 0xffffffff81000010, 0xffffffff81000020, 5, PAGEDET_KMAP_CALL,
	  PAGEDET_KMAP_FREED, 0 },
	{ 0xffffffff81000010, 0, 5, PAGEDET_KMAP_CALL, PAGEDET_KMAP_UNKNOWN,
	  0 },
	{ 0xffffffff81000010, 0xffffffff81000020, 0, PAGEDET_KMAP_CALL,
	  PAGEDET_KMAP_UNKNOWN, 0 },
	{ 0xfeedbeef, 0xdeadbeef, 5, PAGEDET_KMAP_PREALLOCATED,
	  PAGEDET_KMAP_MISSED, 0 },
	{ 0, 0xfedbeef, 5, PAGEDET_KMAP_CATCH_ALL, PAGEDET_KMAP_MISSED, 1 },
	{ 0x19, 0, 0, PAGEDET_KMAP_CATCH_ALL, PAGEDET_KMAP_LIVE, 0 },
};

START_TEST(meanings)
{
	const struct pdet_kmap_line l = {
		.site = { .address = codes[_i].site },
		.free_site = { .address = codes[_i].free_site },
		.free_index = codes[_i].free_index,
	};

	ck_assert_uint_eq(pdet_kmap_origin(&l, PAGEDET_KMAP_INDEXED),
			  codes[_i].origin);
	ck_assert_uint_eq(pdet_kmap_origin(&l, PAGEDET_KMAP_LINUXKIT),
			  codes[_i].origin == PAGEDET_KMAP_CATCH_ALL ?
			  PAGEDET_KMAP_UNTOLD : codes[_i].origin);
	ck_assert_uint_eq(pdet_kmap_end(&l), codes[_i].end);
	ck_assert_int_eq(pdet_kmap_is_nested(&l), codes[_i].nested);
}
END_TEST

START_TEST(lifetimes)
{
	struct pdet_kmap_line l = {
		.site = { .address = 0xffffffff81000010 },
		.free_site = { .address = 0xffffffff81000020 },
		.alloc_index = 100, .free_index = 350,
	};
	uint64_t v;

	ck_assert_uint_eq(pdet_kmap_lifetime(&l, PAGEDET_KMAP_SLAB, 0, &v),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(v, 250);
	ck_assert_uint_eq(pdet_kmap_lifetime(&l, PAGEDET_KMAP_SLAB, 250, &v),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(v, 1000000000);
	/* It may be a serial number, unless the user says otherwise. */
	ck_assert_uint_eq(pdet_kmap_lifetime(&l, PAGEDET_KMAP_INDEXED, 0, &v),
			  PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(pdet_kmap_lifetime(&l, PAGEDET_KMAP_INDEXED, 1000,
					     &v), PAGEDET_HAVE);
	ck_assert_uint_eq(v, 250000000);
	l.free_index = 99;
	ck_assert_uint_eq(pdet_kmap_lifetime(&l, PAGEDET_KMAP_SLAB, 0, &v),
			  PAGEDET_UNSUPPORTED);
	l.free_index = 350;
	l.free_site.address = 0xdeadbeef;
	ck_assert_uint_eq(pdet_kmap_lifetime(&l, PAGEDET_KMAP_SLAB, 0, &v),
			  PAGEDET_UNSUPPORTED);
	l.free_index = l.free_site.address = 0;
	ck_assert_uint_eq(pdet_kmap_lifetime(&l, PAGEDET_KMAP_SLAB, 0, &v),
			  PAGEDET_NONE);
	l.alloc_index = 0;
	l.free_index = UINT64_MAX;
	l.free_site.address = 1;
	ck_assert_uint_eq(pdet_kmap_lifetime(&l, PAGEDET_KMAP_SLAB, 1, &v),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(v, UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("line");

	unit_loop(s, columns, 4);
	unit_loop(s, no_dialect, 10);
	unit_test(s, first_line_decides);
	unit_loop(s, strange_objects, 13);
	unit_test(s, later_type);
	unit_loop(s, null, 2);
	unit_test(s, not_told);
	unit_test(s, hashed);
	unit_test(s, global);
	unit_loop(s, access_lines, sizeof(accesses) / sizeof(*accesses));
	unit_loop(s, strange_accesses, 13);
	unit_loop(s, strange_threads, sizeof(strange) / sizeof(*strange));
	unit_loop(s, meanings, sizeof(codes) / sizeof(*codes));
	unit_test(s, lifetimes);
	return unit_main(s);
}
