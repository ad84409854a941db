/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests what code without a table says of its stack. */
#include "../unit.h"
#include "unwind/plain_code.h"

#define IP 0x7f0000000123ull

static struct pdet_frame_pair pair;

static enum pdet_plain plain(const char *code, size_t n, uint64_t all)
{
	struct pdet_plain_code c = { .n = all };
	size_t i;

	memset(&pair, 0, sizeof(pair));
	memcpy(c.head, code, n < sizeof(c.head) ? n : sizeof(c.head));
	for (i = 0; i < sizeof(c.tail) && i < n; i++)
		c.tail[sizeof(c.tail) - 1 - i] = (uint8_t)code[n - 1 - i];
	return pdet_plain_pair(&c, IP, &pair);
}

#define CODE(text) text, sizeof(text) - 1

/* The instructions of the CIE come after its 17 bytes. */
START_TEST(codes)
{
	static const struct {
		const char *code;
		size_t n;
		enum pdet_plain is;
		const char *rule; /* how it begins */
	} cases[] = {
		/* The end of a call, and no stack. */
		{ CODE("\xff\xd1"), PDET_PLAIN_PROVED, "\x0c\x07\x08\x90\1" },
		/* sub $8,%rsp; call *%rcx: as Python 3.12 */
		{ CODE("\x48\x83\xec\x08\xff\xd1"), PDET_PLAIN_PROVED,
		  "\x0c\x07\x10\x90\1" },
		/* with a frame pointer: as Python 3.14 */
		{ CODE("\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\xff\xd1"),
		  PDET_PLAIN_PROVED, "\x0c\x07\x10\x90\1\x86\2" },
		/* push %r12; push %rbp; push %r13; sub $256,%rsp; call *%r8 */
		{ CODE("\x41\x54\x55\x41\x55\x48\x81\xec\0\1\0\0\x41\xff\xd0"),
		  PDET_PLAIN_PROVED, "\x0c\x07\xa0\x02\x90\1\x86\3" },
		/* call word */
		{ CODE("\x50\xe8\1\2\3\4"), PDET_PLAIN_PROVED,
		  "\x0c\x07\x10\x90\1" },
		/* push %rbp; where it is interrupted, one byte more */
		{ CODE("\x55\x48"), PDET_PLAIN_PROVED,
		  "\x0c\x07\x10\x90\1\x86\2" },
		/* at its first instruction */
		{ CODE("\x90"), PDET_PLAIN_PROVED, "\x0c\x07\x08\x90\1" },
		/* push %rbp; mov %rsp,%rbp; nop; call *%rdi */
		{ CODE("\x55\x48\x89\xe5\x90\xff\xd7"), PDET_PLAIN_LIKELY,
		  "\x0c\x06\x10\x90\1\x86\2\x07\3\x07\x0c" },
		/* the same with %rbx before, and the other form of mov */
		{ CODE("\x53\x55\x48\x8b\xec\x90\xff\x50\x18"),
		  PDET_PLAIN_LIKELY, "\x0c\x06\x18\x90\1\x86\3\x07\3" },
		/* the same, but not at a call */
		{ CODE("\x55\x48\x89\xe5\x90\x90\x90"), PDET_PLAIN_NOT, "" },
		/* rbp is not that of the caller */
		{ CODE("\x48\x89\xe5\xff\xd7"), PDET_PLAIN_NOT, "" },
		{ CODE("\x41\x55\x48\x89\xe5\x90\xff\xd7"), PDET_PLAIN_NOT,
		  "" },
		/* push %rbp; push %rax; mov %rsp,%rbp */
		{ CODE("\x55\x50\x48\x89\xe5\x90\xff\xd7"), PDET_PLAIN_NOT,
		  "" },
		/* nop; call *%rdi */
		{ CODE("\x90\xff\xd7"), PDET_PLAIN_NOT, "" },
		/* sub $-8,%rsp; sub $4,%rsp */
		{ CODE("\x48\x83\xec\xf8\xff\xd7"), PDET_PLAIN_NOT, "" },
		{ CODE("\x48\x83\xec\x04\xff\xd7"), PDET_PLAIN_NOT, "" },
		/* call *%rdi, twice: the first may have done anything */
		{ CODE("\xff\xd7\xff\xd7"), PDET_PLAIN_NOT, "" },
		/* ret */
		{ CODE("\xc3\xff\xd7"), PDET_PLAIN_NOT, "" },
	};
	const size_t n = strlen(cases[_i].rule);

	ck_assert_int_eq(plain(cases[_i].code, cases[_i].n, cases[_i].n),
			 cases[_i].is);
	ck_assert(!pair.n == !n);
	if (n)
		ck_assert_mem_eq(pair.bytes + 17, cases[_i].rule, n);
}
END_TEST

/* More than the head is not decoded. */
START_TEST(long_code)
{
	char code[PDET_PLAIN_HEAD + 1];

	memset(code, 0x50, sizeof(code));
	ck_assert_int_eq(plain(code, sizeof(code), sizeof(code)),
			 PDET_PLAIN_PROVED);
	ck_assert_int_eq(plain(code, sizeof(code), sizeof(code) + 1),
			 PDET_PLAIN_NOT);
	ck_assert_int_eq(plain(code, sizeof(code), UINT64_MAX),
			 PDET_PLAIN_NOT);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plain_code");

	unit_loop(s, codes, 18);
	unit_test(s, long_code);
	return unit_main(s);
}
