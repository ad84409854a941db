/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests symbols of this program, and of damaged copies of it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"
#include "unwind/elf_file.h"

/* For a function that stays as it is written. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

/* This program, in memory. */
static char *bytes;
static size_t size;

APART int pdet_test_function(int n);

int pdet_test_function(int n)
{
	return n + 1;
}

static void load(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	size = (size_t)st.st_size;
	bytes = malloc(size);
	ck_assert_ptr_nonnull(bytes);
	ck_assert_int_eq(read(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static int read_bytes(void *arg, uint64_t offset, void *buf, size_t n)
{
	const char *from = arg;

	ck_assert_uint_le(offset, size);
	ck_assert_uint_le(n, size - offset);
	memcpy(buf, from + offset, n);
	return 0;
}

static int open_bytes(struct pdet_elf_file *e, char *from, size_t n)
{
	memset(e, 0, sizeof(*e));
	e->read = read_bytes;
	e->arg = from;
	e->size = n;
	return pdet_elf_file_open(e);
}

/* The address in the file of a function. */
static uint64_t find(const struct pdet_elf_file *e, const char *name)
{
	size_t i;

	for (i = 0; i < e->n_symbols; i++)
		if (!strcmp(e->names + e->symbols[i].name, name))
			return e->symbols[i].value;
	ck_abort_msg("there is no %s", name);
}

START_TEST(own_functions)
{
	struct pdet_elf_file e;
	uint64_t address, offset, length;
	const char *name;

	load();
	ck_assert_int_eq(open_bytes(&e, bytes, size), 0);
	ck_assert(e.whole);
	ck_assert_uint_ne(e.header, 0);
	address = find(&e, "pdet_test_function");
	name = pdet_elf_file_symbol(&e, address + 1, &offset, &length);
	ck_assert_ptr_nonnull(name);
	ck_assert_str_eq(name, "pdet_test_function");
	ck_assert_uint_eq(offset, 1);
	ck_assert_uint_gt(length, 1);
	/* Between two functions nothing is named after the one before. */
	name = pdet_elf_file_symbol(&e, UINT64_MAX, &offset, &length);
	ck_assert_ptr_null(name);
	pdet_elf_file_free(&e);
	free(bytes);
}
END_TEST

static const Elf64_Shdr *find_symtab(const Elf64_Shdr **names)
{
	const Elf64_Shdr *s;
	Elf64_Ehdr h;
	unsigned i;

	memcpy(&h, bytes, sizeof(h));
	s = (const Elf64_Shdr *)(void *)(bytes + h.e_shoff);
	for (i = 0; i < h.e_shnum && s[i].sh_type != SHT_SYMTAB; i++)
		continue;
	ck_assert_uint_lt(i, h.e_shnum);
	*names = &s[s[i].sh_link];
	return &s[i];
}

static bool has_address(const Elf64_Sym *s, const char *name, uint64_t address)
{
	const unsigned type = ELF64_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC ||
		type == STT_NOTYPE) &&
	       s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS && *name &&
	       address - s->st_value < s->st_size;
}

static unsigned beauty(const Elf64_Sym *s, const char *name)
{
	return ELF64_ST_BIND(s->st_info) == STB_LOCAL ? 0 :
	       *name == '_' ? 1 : 2;
}

/* The symbol that the file's table has for an address, by looking at all. */
static const char *look_at_all(uint64_t address)
{
	const Elf64_Shdr *names, *table = find_symtab(&names);
	const Elf64_Sym *s = (const void *)(bytes + table->sh_offset);
	const Elf64_Sym *best = NULL;
	const char *best_name = NULL;
	size_t i;

	for (i = 0; i < table->sh_size / sizeof(*s); i++) {
		const char *name = bytes + names->sh_offset + s[i].st_name;

		if (!has_address(&s[i], name, address) ||
		    (best && s[i].st_value < best->st_value) ||
		    (best && s[i].st_value == best->st_value &&
		     beauty(&s[i], name) <= beauty(best, best_name)))
			continue;
		best = &s[i];
		best_name = name;
	}
	return best_name;
}

START_TEST(as_all_symbols)
{
	struct pdet_elf_file e;
	uint64_t offset, length;
	size_t i, n = 0;

	load();
	ck_assert_int_eq(open_bytes(&e, bytes, size), 0);
	ck_assert_uint_gt(e.n_symbols, 100);
	for (i = 0; i < 3 * e.n_symbols; i += e.n_symbols / 100) {
		const struct pdet_elf_symbol *s = &e.symbols[i / 3];
		const uint64_t at = s->value + i % 3 * s->size / 2;
		const char *truth = look_at_all(at);
		const char *name = pdet_elf_file_symbol(&e, at, &offset,
							&length);

		if (!truth)
			continue;
		ck_assert_ptr_nonnull(name);
		ck_assert_uint_eq(strlen(name), strcspn(truth, "@"));
		ck_assert_int_eq(strncmp(name, truth, strlen(name)), 0);
		n++;
	}
	ck_assert_uint_gt(n, 50);
	pdet_elf_file_free(&e);
	free(bytes);
}
END_TEST

/* All files of a process together have a limit. */
START_TEST(limit)
{
	uint64_t spent = PDET_ELF_BYTES - 8192;
	struct pdet_elf_file e = { .read = read_bytes, .spent = &spent };

	load();
	e.arg = bytes;
	e.size = size;
	ck_assert_int_eq(pdet_elf_file_open(&e), 0);
	ck_assert(e.refused);
	ck_assert_uint_eq(e.n_symbols, 0);
	ck_assert_uint_ne(e.header, 0);
	ck_assert_uint_le(spent, PDET_ELF_BYTES);
	pdet_elf_file_free(&e);
	spent = 0;
	e.refused = false;
	ck_assert_int_eq(pdet_elf_file_open(&e), 0);
	ck_assert(!e.refused);
	ck_assert_uint_gt(spent, e.n_symbols * sizeof(*e.symbols));
	pdet_elf_file_free(&e);
	free(bytes);
}
END_TEST

/* A CIE with @letters letters and a number of @leb bytes, and one FDE. */
static size_t index_of(unsigned letters, unsigned leb)
{
	uint8_t section[128] = "";
	struct pdet_eh_frame frames;
	size_t at = 9, fde;

	section[8] = 1;
	section[at++] = 'z';
	memset(section + at, 'S', letters - 2);
	at += letters - 2;
	section[at++] = 'R';
	section[at++] = 0;
	memset(section + at, 0x81, leb - 1);
	at += leb - 1;
	section[at++] = 1;	/* unit of code */
	section[at++] = 0x78;	/* of data */
	section[at++] = 16;
	section[at++] = 1;
	section[at++] = 0x1b;
	section[0] = (uint8_t)(at - 4);
	fde = at;
	section[fde] = 16;
	section[fde + 4] = (uint8_t)(fde + 4);
	section[fde + 8] = 1;
	ck_assert_int_eq(pdet_eh_frame_index(section, fde + 20, 0x1000,
					     &frames), 0);
	free(frames.entries);
	return frames.n;
}

START_TEST(long_cies)
{
	ck_assert_uint_eq(index_of(2, 1), 1);
	ck_assert_uint_eq(index_of(8, 10), 1);
	ck_assert_uint_eq(index_of(9, 1), 0);
	ck_assert_uint_eq(index_of(2, 11), 0);
}
END_TEST

/* The segment of .eh_frame_hdr, in the bytes of the file. */
static Elf64_Phdr *find_header(char *from)
{
	Elf64_Ehdr h;
	Elf64_Phdr *p;
	unsigned i;

	memcpy(&h, from, sizeof(h));
	p = (Elf64_Phdr *)(void *)(from + h.e_phoff);
	for (i = 0; i < h.e_phnum; i++)
		if (p[i].p_type == PT_GNU_EH_FRAME)
			return &p[i];
	ck_abort_msg("there is no .eh_frame_hdr");
}

/* The linker's index is the truth: its addresses are relative to it. */
START_TEST(without_header)
{
	struct pdet_elf_file e;
	const Elf64_Phdr *p;
	int32_t entry[2];
	uint32_t n, i;
	const char *at;

	load();
	find_header(bytes)->p_type = PT_NULL;
	ck_assert_int_eq(open_bytes(&e, bytes, size), 0);
	ck_assert_uint_eq(e.header, 0);
	for (p = (Elf64_Phdr *)(void *)(bytes + sizeof(Elf64_Ehdr));
	     p->p_type != PT_NULL;)
		p++;
	at = bytes + p->p_offset + 8;
	memcpy(&n, at, sizeof(n));
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_eq(e.frames.n, n);
	for (i = 0; i < n; i++) {
		memcpy(entry, at + 4 + 8 * i, sizeof(entry));
		ck_assert_int_eq(e.frames.entries[i].ip,
				 entry[0] + (int32_t)p->p_vaddr);
		ck_assert_int_eq(e.frames.entries[i].fde,
				 entry[1] + (int32_t)p->p_vaddr);
	}
	pdet_elf_file_free(&e);
	free(bytes);
}
END_TEST

/* An offset that no segment has is not an address. */
START_TEST(addresses)
{
	struct pdet_elf_file e;
	uint64_t address;

	load();
	ck_assert_int_eq(open_bytes(&e, bytes, size), 0);
	ck_assert(pdet_elf_file_address(&e, 0, &address));
	ck_assert(!pdet_elf_file_address(&e, UINT64_MAX, &address));
	pdet_elf_file_free(&e);
	free(bytes);
}
END_TEST

/* Reads stay within what is left of the file. */
START_TEST(cut)
{
	struct pdet_elf_file e;
	uint64_t offset, length;
	size_t n;

	load();
	for (n = 0; n < size; n += n < 1024 ? 1 : size / 64) {
		const int r = open_bytes(&e, bytes, n);

		ck_assert(r == 0 || r == -EBADMSG);
		if (r == 0)
			pdet_elf_file_symbol(&e, 0x1000, &offset, &length);
		pdet_elf_file_free(&e);
	}
	free(bytes);
}
END_TEST

START_TEST(wrong_headers)
{
	unsigned seed = (unsigned)_i + 1, i, j;
	struct pdet_elf_file e;
	uint64_t offset, length;
	char *copy;

	load();
	if (_i % 2)
		find_header(bytes)->p_type = PT_NULL;
	copy = malloc(size);
	ck_assert_ptr_nonnull(copy);
	for (i = 0; i < 100; i++) {
		memcpy(copy, bytes, size);
		for (j = 0; j < 8; j++) {
			size_t at;

			seed = seed * 1103515245 + 12345;
			/* headers, then the table of sections at the end */
			at = seed >> 8 & 1 ? (seed >> 9) % 1024 :
			     size - 1 - (seed >> 9) % 2048;
			copy[at] = (char)(seed >> 16);
		}
		if (open_bytes(&e, copy, size) == 0)
			pdet_elf_file_symbol(&e, 0x1000, &offset, &length);
		pdet_elf_file_free(&e);
	}
	free(copy);
	free(bytes);
}
END_TEST

START_TEST(other_files)
{
	static const char *const heads[] = {
		"", "\x7f" "ELF", "#!/bin/sh\n", "\x7f" "ELF\1\1\1"
	};
	char page[4096] = "";
	struct pdet_elf_file e;

	size = sizeof(page);
	memcpy(page, heads[_i], strlen(heads[_i]));
	ck_assert_int_eq(open_bytes(&e, page, sizeof(page)), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("elf_file");

	if (sizeof(void *) != 8) {
		printf("1..0 # SKIP only for 64-bit programs\n");
		return 0;
	}
	unit_test(s, own_functions);
	unit_test(s, without_header);
	unit_test(s, addresses);
	unit_test(s, as_all_symbols);
	unit_test(s, limit);
	unit_test(s, long_cies);
	unit_test(s, cut);
	unit_loop(s, wrong_headers, 10);
	unit_loop(s, other_files, 4);
	return unit_main(s);
}
