/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which return addresses are behind calls, and where a kernel was. */
#include <elf.h>
#include <errno.h>

#include "symbol/calls.h"
#include "../unit.h"

#define FIRST 0xffffffff81000000u
#define BYTES ((size_t)8 << 20)
#define FUNCTION (FIRST + 0x40)
#define THUNK (FIRST + 0x80)
#define SITES 12

static unsigned char code[BYTES];
static struct pdet_kallsyms symbols;
static struct pdet_calls calls;

/* "tf" and "t__x86_indirect_thunk_rax", each token a character. */
static void make(uint16_t machine)
{
	static const char table[] = "\1t" "\2tf"
		"\x19t__x86_indirect_thunk_rax";
	static uint8_t names[sizeof(table)];
	static uint32_t at[] = { 0, 2, 5 };
	static uint64_t address[] = { FIRST, FUNCTION, THUNK };
	static char text[512];
	unsigned i;

	memcpy(names, table, sizeof(table));
	symbols = (struct pdet_kallsyms){ .n = 3, .names = names,
					  .names_len = sizeof(table) - 1,
					  .at = at, .address = address,
					  .ascending = true };
	symbols.tokens.text = text;
	symbols.tokens.text_len = sizeof(text);
	for (i = 0; i < 256; i++) {
		text[2 * i] = (char)i;
		symbols.tokens.at[i] = (uint16_t)(2 * i);
		symbols.tokens.len[i] = i ? 1 : 0;
	}
	memset(code, 0, sizeof(code));
	calls = (struct pdet_calls){ machine, { code, FIRST, BYTES },
				     &symbols };
}

/* Whether @at is behind what @bytes are. */
static bool is_behind(size_t at, const char *bytes, size_t n)
{
	const uint64_t site = FIRST + at;
	size_t in;
	bool fits;

	memcpy(code + at - n, bytes, n);
	fits = pdet_calls_fit(&calls, &site, 1, 0, &in);
	memset(code + at - n, 0, n);
	ck_assert(!fits || in == 1);
	return fits;
}

#define BEHIND(at, bytes) is_behind(at, bytes, sizeof(bytes) - 1)

START_TEST(x86)
{
	make(EM_X86_64);
	/* to FUNCTION, behind it, and to the thunk */
	ck_assert(BEHIND(0x1000, "\xe8\x40\xf0\xff\xff"));
	ck_assert(!BEHIND(0x1000, "\xe8\x41\xf0\xff\xff"));
	ck_assert(BEHIND(0x1000, "\xe8\x80\xf0\xff\xff"));
	ck_assert(!BEHIND(0x1000, "\xe9\x40\xf0\xff\xff"));
	/* the same, replaced by a call of 2 or 3 bytes */
	code[0x1000] = code[0x1001] = code[0x1002] = 0xff;
	ck_assert(!BEHIND(0x1000, "\xe8\x7e"));
	memcpy(code + 0x1000, "\xf0\xff\xff", 3);
	ck_assert(BEHIND(0x1000, "\xe8\x7d"));
	ck_assert(!BEHIND(0x1000, "\xe8\x3d"));
	memset(code + 0x1000, 0, 3);
	/* call *%rax, *(%rax), *8(%rax), *8(%rsp), *x(%rip), *x(,%rax,8) */
	ck_assert(BEHIND(0x1000, "\xff\xd0"));
	ck_assert(BEHIND(0x1000, "\xff\x10"));
	ck_assert(BEHIND(0x1000, "\xff\x50\x08"));
	ck_assert(BEHIND(0x1000, "\xff\x54\x24\x08"));
	ck_assert(BEHIND(0x1000, "\xff\x15\x01\x02\x03\x04"));
	ck_assert(BEHIND(0x1000, "\xff\x14\xc5\x01\x02\x03\x04"));
	ck_assert(BEHIND(0x1000, "\xff\x90\x01\x02\x03\x04"));
	/* jumps, and other lengths */
	ck_assert(!BEHIND(0x1000, "\xff\xe0"));
	ck_assert(!BEHIND(0x1000, "\xff\xd0\x08"));
	ck_assert(!BEHIND(0x1000, "\xff\x50"));
	/* the first and the last bytes */
	ck_assert(!BEHIND(0, ""));
	ck_assert(!BEHIND(1, "\xff"));
	ck_assert(BEHIND(2, "\xff\xd0"));
	ck_assert(BEHIND(BYTES - 1, "\xff\xd0"));
}
END_TEST

START_TEST(arm64)
{
	make(EM_AARCH64);
	/* bl FUNCTION, blr x8, blraa x8, x9; b, br, a bl to nowhere */
	ck_assert(BEHIND(0x1000, "\x11\xfc\xff\x97"));
	ck_assert(BEHIND(0x1000, "\x00\x01\x3f\xd6"));
	ck_assert(BEHIND(0x1000, "\x09\x09\x3f\xd7"));
	ck_assert(!BEHIND(0x1000, "\x11\xfc\xff\x17"));
	ck_assert(!BEHIND(0x1000, "\x00\x01\x1f\xd6"));
	ck_assert(!BEHIND(0x1000, "\x12\xfc\xff\x97"));
	ck_assert(!BEHIND(0x1002, "\x00\x01\x3f\xd6"));
	ck_assert(!BEHIND(0, ""));
}
END_TEST

/* Sites behind calls, moved by @by. */
static void scatter(uint64_t by, uint64_t site[SITES])
{
	size_t i, at;

	for (i = 0; i < SITES; i++) {
		at = 0x1234 + i * 0x51230 + i;
		at &= calls.machine == EM_AARCH64 ? ~(size_t)3 : ~(size_t)0;
		memcpy(code + at - 4, calls.machine == EM_AARCH64 ?
		       "\x00\x01\x3f\xd6" : "\x0f\x1f\xff\xd0", 4);
		site[i] = FIRST + at + by;
	}
}

START_TEST(offsets)
{
	uint64_t site[SITES], by;

	make(EM_X86_64);
	scatter(0x600000, site);
	ck_assert_int_eq(pdet_calls_find(&calls, site, SITES, &by), 0);
	ck_assert_uint_eq(by, 0x600000);
	/* One that is of a module, and one that is nowhere. */
	site[3] = 0xffffffffc0001234;
	ck_assert_int_eq(pdet_calls_find(&calls, site, SITES, &by), 0);
	ck_assert_uint_eq(by, 0x600000);
	site[3] = 0xffffffff9f001234;
	ck_assert_int_eq(pdet_calls_find(&calls, site, SITES, &by), -ENOENT);
	scatter(0x600000, site);
	ck_assert_int_eq(pdet_calls_find(&calls, site, PDET_CALLS_LEAST - 1,
					 &by), -ENOENT);
	site[5]++;
	ck_assert_int_eq(pdet_calls_find(&calls, site, SITES, &by), -ENOENT);
	scatter(0x610000, site);
	ck_assert_int_eq(pdet_calls_find(&calls, site, SITES, &by), -ENOENT);
	ck_assert_int_eq(pdet_calls_find(&calls, site, 0, &by), -ENOENT);
	make(EM_AARCH64);
	scatter(0x123450000, site);
	ck_assert_int_eq(pdet_calls_find(&calls, site, SITES, &by), 0);
	ck_assert_uint_eq(by, 0x123450000);
}
END_TEST

START_TEST(several)
{
	uint64_t site[SITES], by;
	size_t i;

	make(EM_X86_64);
	/* The same calls 2 MB apart. */
	for (i = 0; i < SITES; i++) {
		memcpy(code + 0x1000 * (i + 1), "\xff\xd0", 2);
		memcpy(code + 0x201000 + 0x1000 * i, "\xff\xd0", 2);
		site[i] = FIRST + 0x1000 * (i + 1) + 2;
	}
	ck_assert_int_eq(pdet_calls_find(&calls, site, SITES, &by), -E2BIG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("calls");

	unit_test(s, x86);
	unit_test(s, arm64);
	unit_test(s, offsets);
	unit_test(s, several);
	return unit_main(s);
}
