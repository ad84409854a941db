/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests parsing of lines of /proc/iomem. */
#include "kernel/text/iomem.h"
#include "../../unit.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *text;
	uint64_t first, last;
	const char *name;
	enum pdet_iomem_use use;
} good[] = {
	{ "00001000-0009fbff : System RAM", 0x1000, 0x9fbff, "System RAM",
	  PDET_IOMEM_RAM },
	{ "  03000000-039fffff : Kernel code", 0x3000000, 0x39fffff,
	  "Kernel code", PDET_IOMEM_OTHER },
	{ "100000000-63fffffff : System RAM", 0x100000000, 0x63fffffff,
	  "System RAM", PDET_IOMEM_RAM },
	{ "    febf4000-febf7fff : virtio-pci-modern", 0xfebf4000, 0xfebf7fff,
	  "virtio-pci-modern", PDET_IOMEM_OTHER },
	{ "140000000-23fffffff : System RAM (virtio_mem)", 0x140000000,
	  0x23fffffff, "System RAM (virtio_mem)", PDET_IOMEM_RAM },
	{ "140000000-23fffffff : Persistent Memory", 0x140000000, 0x23fffffff,
	  "Persistent Memory", PDET_IOMEM_DEVICE },
	{ "  140000000-23fffffff : dax0.0", 0x140000000, 0x23fffffff,
	  "dax0.0", PDET_IOMEM_DEVICE },
	{ "00000000-00000fff : Reserved", 0, 0xfff, "Reserved",
	  PDET_IOMEM_OTHER },
	{ "1-1 : ", 1, 1, "", PDET_IOMEM_OTHER },
	{ "fffffffffffff000-ffffffffffffffff : <BAD>", 0xfffffffffffff000,
	  UINT64_MAX, "<BAD>", PDET_IOMEM_OTHER },
	/* A driver may choose any name for its region. */
	{ "1000-1fff : a : b-c : System RAM", 0x1000, 0x1fff,
	  "a : b-c : System RAM", PDET_IOMEM_OTHER },
};

START_TEST(lines_of_the_kernel)
{
	size_t len = strlen(good[_i].text);
	char *text = unit_exact(good[_i].text, len);
	struct pdet_scan line = { text, text + len };
	struct pdet_iomem e;

	ck_assert(pdet_iomem_line(line, &e));
	ck_assert_uint_eq(e.first, good[_i].first);
	ck_assert_uint_eq(e.last, good[_i].last);
	ck_assert_uint_eq(e.name_len, strlen(good[_i].name));
	ck_assert_int_eq(memcmp(e.name, good[_i].name, e.name_len), 0);
	ck_assert_int_eq(pdet_iomem_use(&e), good[_i].use);
	free(text);
}
END_TEST

static const char *const bad[] = {
	"", " ", "00001000", "00001000-", "00001000-0009fbff",
	"00001000-0009fbff System RAM", "00001000-0009fbff :System RAM",
	"00001000 - 0009fbff : System RAM", "2000-1000 : System RAM",
	"x-y : System RAM", "10000000000000000-20000000000000000 : x",
	/* The output for users without privilege. */
	"00000000-00000000 : System RAM", "  00000000-00000000 : Kernel code",
};

START_TEST(other_lines_are_refused)
{
	size_t len = strlen(bad[_i]);
	char *text = unit_exact(bad[_i], len);
	struct pdet_scan line = { text, text + len };
	struct pdet_iomem e;

	ck_assert_msg(!pdet_iomem_line(line, &e), "taken: '%s'", bad[_i]);
	free(text);
}
END_TEST

START_TEST(lines_cut_at_every_byte)
{
	size_t len = strlen(good[_i].text), cut;

	for (cut = 0; cut < len; cut++) {
		char *text = unit_exact(good[_i].text, cut);
		struct pdet_scan line = { text, text + cut };
		struct pdet_iomem e;

		if (pdet_iomem_line(line, &e)) {
			ck_assert_uint_eq(e.first, good[_i].first);
			ck_assert_uint_eq(e.last, good[_i].last);
			ck_assert_ptr_eq(e.name + e.name_len, text + cut);
		}
		free(text);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iomem");

	unit_loop(s, lines_of_the_kernel, COUNT(good));
	unit_loop(s, other_lines_are_refused, COUNT(bad));
	unit_loop(s, lines_cut_at_every_byte, COUNT(good));
	return unit_main(s);
}
