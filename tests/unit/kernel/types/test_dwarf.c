/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests types from debug information. It uses this program's own, because the
 * compiler knows the right layout. It is built twice, with the newest DWARF
 * version and an old one.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/types/dwarf.h"
#include "../../unit.h"

enum sample_signed { SAMPLE_LESS = -3, SAMPLE_MORE = 200 };
enum sample_plain { SAMPLE_BYTE = 0xf0, SAMPLE_WIDE = 0x80000000u };
enum sample_large { SAMPLE_HUGE = 0x123456789abcll };

typedef struct { int counter; } sample_counter_t;

struct sample_inner {
	char letter;
	volatile long number;
};

struct sample {
	char first;
	union {
		unsigned long word;
		struct {
			unsigned short low;
			unsigned short high;
		};
	};
	unsigned int a : 3, b : 11, : 2, c : 16;
	unsigned long wide : 40;
	struct sample_inner inner;
	struct sample *next;
	sample_counter_t count;
	int grid[3][5];
	enum sample_signed how;
	enum sample_large large;
	int (*call)(struct sample *s);
	struct sample_unknown *unknown;
	char rest[];
};

union sample_union {
	char byte;
	struct sample_inner inner;
};

/* An unused type has no debug information. */
struct sample sample_used = { .how = SAMPLE_LESS, .large = SAMPLE_HUGE };
union sample_union sample_union_used;
enum sample_plain sample_plain_used = SAMPLE_WIDE;

static struct pdet_env env;
static struct pdet_btf *btf;

#ifdef HAVE_LIBDW

static int fd;

static void set_up(void)
{
	env.root = (char *)"";
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_msg(pdet_dwarf_types(&env, fd, &btf) == 0, "%s", env.error);
}

static void tear_down(void)
{
	pdet_btf_free(btf);
	close(fd);
}

static void ck_member(const char *path, uint64_t offset, uint64_t size)
{
	struct pdet_btf_member m;
	uint64_t bytes;

	ck_assert_msg(pdet_btf_member(btf, path, &m), "%s", path);
	ck_assert_msg(m.bit_offset == offset * 8, "%s: %u", path, m.bit_offset);
	ck_assert_uint_eq(m.bit_size, 0);
	ck_assert_msg(pdet_btf_type_size(btf, m.type, &bytes), "%s", path);
	ck_assert_msg(bytes == size, "%s: %llu", path,
		      (unsigned long long)bytes);
}

#define CK_MEMBER(member) \
	ck_member("sample." #member, offsetof(struct sample, member), \
		  sizeof(sample_used.member))

START_TEST(members_are_where_they_are)
{
	uint64_t size;

	set_up();
	ck_assert(pdet_btf_struct_size(btf, "sample", &size));
	ck_assert_uint_eq(size, sizeof(struct sample));
	CK_MEMBER(first);
	CK_MEMBER(word);
	CK_MEMBER(low);
	CK_MEMBER(high);
	CK_MEMBER(inner);
	CK_MEMBER(inner.letter);
	CK_MEMBER(inner.number);
	CK_MEMBER(next);
	CK_MEMBER(count);
	CK_MEMBER(count.counter);
	CK_MEMBER(grid);
	CK_MEMBER(how);
	CK_MEMBER(large);
	CK_MEMBER(call);
	CK_MEMBER(unknown);
	ck_member("sample.rest", offsetof(struct sample, rest), 0);
	ck_assert(pdet_btf_is_whole(btf, "sample"));
	tear_down();
}
END_TEST

/* The bits that are set if only this member is. */
static void ck_bits(const char *path, const struct sample *s)
{
	const unsigned char *bytes = (const unsigned char *)s;
	struct pdet_btf_member m;
	uint32_t i;

	ck_assert_msg(pdet_btf_member(btf, path, &m), "%s", path);
	ck_assert_uint_ne(m.bit_size, 0);
	for (i = 0; i < sizeof(*s) * 8; i++)
		ck_assert_msg((bytes[i / 8] >> i % 8 & 1) ==
			      (i >= m.bit_offset &&
			       i < m.bit_offset + m.bit_size),
			      "%s: bit %u", path, i);
}

START_TEST(bit_fields_have_their_bits)
{
	struct sample a, b, c, wide;

	set_up();
	memset(&a, 0, sizeof(a));
	b = c = wide = a;
	a.a = 7;
	ck_bits("sample.a", &a);
	b.b = 0x7ff;
	ck_bits("sample.b", &b);
	c.c = 0xffff;
	ck_bits("sample.c", &c);
	wide.wide = 0xffffffffff;
	ck_bits("sample.wide", &wide);
	tear_down();
}
END_TEST

START_TEST(unions_begin_at_once)
{
	uint64_t size;

	set_up();
	ck_assert(pdet_btf_struct_size(btf, "sample_union", &size));
	ck_assert_uint_eq(size, sizeof(union sample_union));
	ck_member("sample_union.byte", 0, 1);
	ck_member("sample_union.inner.number",
		  offsetof(struct sample_inner, number), 8);
	tear_down();
}
END_TEST

START_TEST(arrays_have_a_length)
{
	struct pdet_btf_member m;
	uint64_t n;

	set_up();
	ck_assert(pdet_btf_member(btf, "sample.grid", &m));
	ck_assert(pdet_btf_array_length(btf, m.type, &n));
	ck_assert_uint_eq(n, 3);
	ck_assert(pdet_btf_member(btf, "sample.rest", &m));
	ck_assert(pdet_btf_array_length(btf, m.type, &n));
	ck_assert_uint_eq(n, 0);
	tear_down();
}
END_TEST

static void ck_constant(const char *of, const char *name, int64_t value)
{
	uint64_t is;

	ck_assert_msg(pdet_btf_enumerator(btf, of, name, &is), "%s", name);
	ck_assert_msg((int64_t)is == value, "%s: %lld", name, (long long)is);
}

START_TEST(constants_have_their_sign)
{
	const char *name;
	uint64_t value;

	set_up();
	ck_constant("sample_signed", "SAMPLE_LESS", -3);
	ck_constant("sample_signed", "SAMPLE_MORE", 200);
	ck_constant("sample_plain", "SAMPLE_BYTE", 0xf0);
	ck_constant("sample_plain", "SAMPLE_WIDE", 0x80000000ll);
	ck_constant("sample_large", "SAMPLE_HUGE", 0x123456789abcll);
	ck_assert(pdet_btf_enum_at(btf, "sample_plain", 0, &name, &value));
	ck_assert_str_eq(name, "SAMPLE_BYTE");
	tear_down();
}
END_TEST

START_TEST(what_is_not_there_is_not_found)
{
	struct pdet_btf_member m;
	uint64_t value;

	set_up();
	ck_assert(!pdet_btf_struct_size(btf, "sample_unknown", &value));
	ck_assert(!pdet_btf_struct_size(btf, "sample_nowhere", &value));
	ck_assert(!pdet_btf_struct_size(btf, "x", &value));
	/* The name exists, but for a typedef, an enum, a variable. */
	ck_assert(!pdet_btf_struct_size(btf, "sample_counter_t", &value));
	ck_assert(!pdet_btf_struct_size(btf, "sample_plain", &value));
	ck_assert(!pdet_btf_struct_size(btf, "sample_used", &value));
	ck_assert(!pdet_btf_member(btf, "sample.nowhere", &m));
	ck_assert(!pdet_btf_member(btf, "sample.next.first", &m));
	ck_assert(!pdet_btf_enumerator(btf, "sample_signed", "SAMPLE_BYTE",
				       &value));
	ck_assert(!pdet_btf_enumerator(btf, "sample", "SAMPLE_BYTE", &value));
	/* Members that exist are still found. */
	CK_MEMBER(first);
	tear_down();
}
END_TEST

/*
 * Makes a file with debug information of one struct, whose name is at the end.
 * Without its terminator, the bytes behind it do not belong to it.
 */
static int make_file(bool ended)
{
	static const char names[] = "\0.debug_info\0.debug_abbrev";
	static const unsigned char abbrev[] = {
		/* A unit; a struct: its size, a byte; its name, text. */
		1, 0x11, 1, 0, 0, 2, 0x13, 0, 0x0b, 0x0b, 0x03, 0x08, 0, 0, 0
	};
	/* Length, version 4, 8 bytes per address, the unit, the struct. */
	unsigned char info[] = "\0\0\0\0\4\0\0\0\0\0\10\1\2\7sample_last";
	const uint32_t len = sizeof(info) - !ended, counted = len - 4;
	struct {
		Elf64_Ehdr head;
		Elf64_Shdr section[4];
		char names[32];
		unsigned char abbrev[16], info[64];
	} f = {
		.head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				       ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_EXEC, .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT, .e_ehsize = sizeof(f.head),
			  .e_shoff = sizeof(f.head), .e_shnum = 4,
			  .e_shentsize = sizeof(f.section[0]),
			  .e_shstrndx = 1 },
		.section = {
			[1] = { .sh_type = SHT_STRTAB, .sh_size = sizeof(names),
				.sh_offset = offsetof(__typeof__(f), names) },
			[2] = { .sh_name = 1, .sh_type = SHT_PROGBITS,
				.sh_size = len,
				.sh_offset = offsetof(__typeof__(f), info) },
			[3] = { .sh_name = 13, .sh_type = SHT_PROGBITS,
				.sh_size = sizeof(abbrev),
				.sh_offset = offsetof(__typeof__(f), abbrev) },
		},
	};
	int file = memfd_create("dwarf", MFD_CLOEXEC);

	memcpy(info, &counted, sizeof(counted));
	memcpy(f.names, names, sizeof(names));
	memcpy(f.abbrev, abbrev, sizeof(abbrev));
	memcpy(f.info, info, len);
	ck_assert_int_eq(write(file, &f, sizeof(f)), sizeof(f));
	return file;
}

START_TEST(names_end_where_they_are)
{
	struct pdet_btf *types = NULL;
	uint64_t size;
	int file = make_file(_i);

	ck_assert_msg(pdet_dwarf_types(&env, file, &types) == 0, "%s",
		      env.error);
	ck_assert_int_eq(pdet_btf_struct_size(types, "sample_last", &size), _i);
	if (_i)
		ck_assert_uint_eq(size, 7);
	pdet_btf_free(types);
	close(file);
}
END_TEST

START_TEST(no_debug_information)
{
	static const char *const none[] = { "/dev/null", "/proc/self/maps" };
	struct pdet_btf *types = NULL;
	size_t i;
	int file;

	for (i = 0; i < PDET_COUNT(none); i++) {
		file = open(none[i], O_RDONLY | O_CLOEXEC);
		ck_assert_int_ge(file, 0);
		ck_assert_int_eq(pdet_dwarf_types(&env, file, &types),
				 -EBADMSG);
		ck_assert_str_ne(env.error, "");
		ck_assert_ptr_null(types);
		close(file);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dwarf");

	unit_test(s, members_are_where_they_are);
	unit_test(s, bit_fields_have_their_bits);
	unit_test(s, unions_begin_at_once);
	unit_test(s, arrays_have_a_length);
	unit_test(s, constants_have_their_sign);
	unit_test(s, what_is_not_there_is_not_found);
	unit_loop(s, names_end_where_they_are, 2);
	unit_test(s, no_debug_information);
	return unit_main(s);
}

#else

START_TEST(it_is_said_what_is_missing)
{
	ck_assert_int_eq(pdet_dwarf_types(&env, 0, &btf), -ENOSYS);
	ck_assert_str_eq(env.error, "its debug information cannot be read: "
			 "libdw is not built in");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dwarf");

	unit_test(s, it_is_said_what_is_missing);
	return unit_main(s);
}

#endif
