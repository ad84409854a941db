/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests parsing of lines of /proc/PID/maps: the kernel's forms, and hostile
 * names.
 */
#include "kernel/text/maps.h"
#include "pagedet.h"
#include "../../unit.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define R PAGEDET_PROT_READ
#define W PAGEDET_PROT_WRITE
#define X PAGEDET_PROT_EXEC
#define S PAGEDET_PROT_SHARED

struct line {
	const char *text;
	struct pdet_vma vma;
	const char *name;
};

#define DEV(major, minor) ((uint64_t)(major) << 32 | (minor))

static const struct line good[] = {
	{ "00401000-0049a000 r-xp 00001000 00:02 9                           "
	  "       /x/mkpages",
	  { .start = 0x401000, .end = 0x49a000, .offset = 0x1000,
	    .dev = DEV(0, 2), .inode = 9, .prot = R | X }, "/x/mkpages" },
	{ "7f33a1510000-7f33a1520000 rw-p 00000000 00:00 0 ",
	  { .start = 0x7f33a1510000, .end = 0x7f33a1520000, .prot = R | W },
	  "" },
	{ "7f33a1510000-7f33a1520000 rw-p 00000000 00:00 0",
	  { .start = 0x7f33a1510000, .end = 0x7f33a1520000, .prot = R | W },
	  "" },
	{ "7f33a14fd000-7f33a14ff000 rw-s 00000000 00:01 3                   "
	  "       /memfd:a b (deleted)",
	  { .start = 0x7f33a14fd000, .end = 0x7f33a14ff000,
	    .dev = DEV(0, 1), .inode = 3, .prot = R | W | S },
	  "/memfd:a b (deleted)" },
	{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0           "
	  "       [vsyscall]",
	  { .start = 0xffffffffff600000, .end = 0xffffffffff601000,
	    .prot = X }, "[vsyscall]" },
	{ "7f0000000000-7f0000001000 ---p 00000000 00:00 0 ",
	  { .start = 0x7f0000000000, .end = 0x7f0000001000 }, "" },
	{ "7f0000000000-7f0000001000 rwxs 7fffffffff000 103:00 "
	  "18446744073709551615 /x",
	  { .start = 0x7f0000000000, .end = 0x7f0000001000,
	    .offset = 0x7fffffffff000, .dev = DEV(0x103, 0),
	    .inode = UINT64_MAX, .prot = R | W | X | S }, "/x" },
	/*
	 * Names: blanks inside and at the end, an escaped newline, text that
	 * looks like another line.
	 */
	{ "1000-2000 r--p 00000000 fe:01 12 /tmp/a\\012b",
	  { .start = 0x1000, .end = 0x2000, .dev = DEV(0xfe, 1), .inode = 12,
	    .prot = R }, "/tmp/a\\012b" },
	{ "1000-2000 r--p 00000000 fe:01 12 /tmp/a  b  ",
	  { .start = 0x1000, .end = 0x2000, .dev = DEV(0xfe, 1), .inode = 12,
	    .prot = R }, "/tmp/a  b  " },
	{ "1000-2000 r--p 00000000 fe:01 12 "
	  "/3000-4000 rw-p 00000000 00:00 0",
	  { .start = 0x1000, .end = 0x2000, .dev = DEV(0xfe, 1), .inode = 12,
	    .prot = R }, "/3000-4000 rw-p 00000000 00:00 0" },
	{ "1000-2000 rw-p 00000000 00:00 0 [anon:\xff\xfe [x] ]",
	  { .start = 0x1000, .end = 0x2000, .prot = R | W },
	  "[anon:\xff\xfe [x] ]" },
	{ "0-1000 rw-p 0 0:0 0", { .end = 0x1000, .prot = R | W }, "" },
};

static void ck_vma(const struct pdet_vma *vma, const struct line *l)
{
	ck_assert_uint_eq(vma->start, l->vma.start);
	ck_assert_uint_eq(vma->end, l->vma.end);
	ck_assert_uint_eq(vma->offset, l->vma.offset);
	ck_assert_uint_eq(vma->dev, l->vma.dev);
	ck_assert_uint_eq(vma->inode, l->vma.inode);
	ck_assert_uint_eq(vma->prot, l->vma.prot);
}

START_TEST(lines_of_the_kernel)
{
	const struct line *l = &good[_i];
	size_t len = strlen(l->text);
	char *text = unit_exact(l->text, len);
	struct pdet_scan line = { text, text + len };
	struct pdet_vma vma;

	ck_assert(pdet_maps_line(line, &vma));
	ck_vma(&vma, l);
	ck_assert_uint_eq(vma.name_len, strlen(l->name));
	ck_assert_int_eq(memcmp(vma.name, l->name, vma.name_len), 0);
	free(text);
}
END_TEST

/*
 * A line that is cut is rejected. If only the name or the inode's last digits
 * are cut, it gives only what is left.
 */
START_TEST(lines_cut_at_every_byte)
{
	const struct line *l = &good[_i];
	size_t len = strlen(l->text), name = strlen(l->name), cut;

	for (cut = 0; cut < len; cut++) {
		char *text = unit_exact(l->text, cut);
		struct pdet_scan line = { text, text + cut };
		struct pdet_vma vma;

		if (pdet_maps_line(line, &vma)) {
			ck_assert_uint_eq(vma.start, l->vma.start);
			ck_assert_uint_eq(vma.end, l->vma.end);
			ck_assert_uint_eq(vma.dev, l->vma.dev);
			ck_assert_ptr_eq(vma.name + vma.name_len, text + cut);
			ck_assert_uint_le(vma.name_len, name);
		}
		free(text);
	}
}
END_TEST

static const char *const bad[] = {
	"",
	" ",
	"\t1000-2000 rw-p 00000000 00:00 0",
	" 1000-2000 rw-p 00000000 00:00 0",
	"x",
	"1000",
	"1000-",
	"1000-2000",
	"1000-2000 ",
	"1000-2000 rw-",
	"1000-2000 rw-p",
	"1000-2000 rw-x 00000000 00:00 0",
	"1000-2000 wr-p 00000000 00:00 0",
	"1000-2000 rwep 00000000 00:00 0",
	"1000-2000 rw-pp 00000000 00:00 0",
	"1000-2000  rw-p 00000000 00:00 0",
	"1000-2000 rw-p 00000000 0000 0",
	"1000-2000 rw-p 00000000 00: 0",
	"1000-2000 rw-p 00000000 00:00",
	"1000-2000 rw-p 00000000 00:00 ",
	"1000-2000 rw-p 00000000 00:00 -1",
	"1000-2000 rw-p 00000000 00:00 x",
	"1000-2000 rw-p 00000000 100000000:00 0",
	"1000-2000 rw-p 00000000 00:100000000 0",
	"1000-2000 rw-p 10000000000000000 00:00 0",
	"1000-2000 rw-p 00000000 00:00 18446744073709551616",
	"10000000000000000-20000000000000000 rw-p 00000000 00:00 0",
	"0x1000-0x2000 rw-p 00000000 00:00 0",
	"2000-1000 rw-p 00000000 00:00 0",
	"1000-1000 rw-p 00000000 00:00 0",
	"-1000-2000 rw-p 00000000 00:00 0",
	"Size:                  4 kB",
	"VmFlags: rd wr mr mw me ac",
};

START_TEST(other_lines_are_refused)
{
	size_t len = strlen(bad[_i]);
	char *text = unit_exact(bad[_i], len);
	struct pdet_scan line = { text, text + len };
	struct pdet_vma vma, before;

	memset(&vma, 0x5a, sizeof(vma));
	before = vma;
	ck_assert_msg(!pdet_maps_line(line, &vma), "taken: '%s'", bad[_i]);
	ck_assert_int_eq(memcmp(&vma, &before, sizeof(vma)), 0);
	free(text);
}
END_TEST

/* The kernel's text about this process. */
START_TEST(own_maps)
{
	FILE *f = fopen("/proc/self/maps", "r");
	uint64_t here = (uintptr_t)&own_maps, last = 0;
	static char text[1 << 16];
	bool found = false;

	if (!f)
		unit_skip("cannot read /proc/self/maps");
	while (fgets(text, sizeof(text), f)) {
		struct pdet_scan line = { text, text + strlen(text) - 1 };
		struct pdet_vma vma;

		ck_assert_msg(pdet_maps_line(line, &vma), "refused: %s", text);
		ck_assert_uint_ge(vma.start, last);
		last = vma.end;
		if (here >= vma.start && here < vma.end) {
			found = true;
			ck_assert(vma.prot & R && !(vma.prot & S));
			ck_assert_uint_gt(vma.inode, 0);
			ck_assert_int_eq(*vma.name, '/');
		}
	}
	fclose(f);
	ck_assert(found);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("maps");

	unit_loop(s, lines_of_the_kernel, COUNT(good));
	unit_loop(s, lines_cut_at_every_byte, COUNT(good));
	unit_loop(s, other_lines_are_refused, COUNT(bad));
	unit_test(s, own_maps);
	return unit_main(s);
}
