/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests symbols of this program, and of damaged copies of it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
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

static struct pdet_libelf *libelf;

static int open_in(struct pdet_elf_file *e, const struct pdet_elf_input *in)
{
	uint64_t *spent = e->spent;

	memset(e, 0, sizeof(*e));
	e->spent = spent;
	return pdet_elf_file_open(e, libelf, in);
}

/* The bytes end where no memory follows. */
static int open_memory(struct pdet_elf_file *e, const char *from, size_t n)
{
	const size_t room = (n + 4095) & ~(size_t)4095;
	char *map = mmap(NULL, room + 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct pdet_elf_input in = {
		.fd = -1, .bytes = map + room - n, .size = n
	};
	int r;

	ck_assert(map != MAP_FAILED);
	ck_assert_int_eq(mprotect(map + room, 4096, PROT_NONE), 0);
	memcpy(in.bytes, from, n);
	r = open_in(e, &in);
	ck_assert_int_eq(munmap(map, room + 4096), 0);
	return r;
}

static int open_fd(struct pdet_elf_file *e, const char *from, size_t n,
		   size_t said)
{
	const struct pdet_elf_input in = {
		.fd = memfd_create("elf", MFD_CLOEXEC), .size = said
	};
	int r;

	ck_assert_int_ge(in.fd, 0);
	ck_assert_int_eq(write(in.fd, from, n), (ssize_t)n);
	r = open_in(e, &in);
	close(in.fd);
	return r;
}

/* The rest of the file is a hole. */
static int open_sparse(struct pdet_elf_file *e, uint64_t n)
{
	const struct pdet_elf_input in = {
		.fd = memfd_create("elf", MFD_CLOEXEC), .size = n
	};
	int r;

	ck_assert_int_ge(in.fd, 0);
	ck_assert_int_eq(write(in.fd, bytes, size), (ssize_t)size);
	ck_assert_int_eq(ftruncate(in.fd, (off_t)n), 0);
	r = open_in(e, &in);
	close(in.fd);
	return r;
}

/* A file is what its copy in memory is. */
static int open_bytes(struct pdet_elf_file *e, const char *from, size_t n)
{
	struct pdet_elf_file copy = { .spent = NULL };
	int r;

	e->spent = NULL;
	r = open_fd(e, from, n, n);
	ck_assert_int_eq(open_memory(&copy, from, n), r);
	ck_assert_uint_eq(copy.n_symbols, e->n_symbols);
	ck_assert_uint_eq(copy.n_sections, e->n_sections);
	ck_assert_uint_eq(copy.n_segments, e->n_segments);
	ck_assert_uint_eq(copy.frames.n, e->frames.n);
	ck_assert_uint_eq(copy.debug_frame.n, e->debug_frame.n);
	ck_assert_uint_eq(copy.header, e->header);
	pdet_elf_file_free(&copy);
	return r;
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

static Elf64_Shdr *find_symtab(const Elf64_Shdr **names)
{
	Elf64_Ehdr h;
	Elf64_Shdr *s;
	unsigned i;

	memcpy(&h, bytes, sizeof(h));
	s = (Elf64_Shdr *)(void *)(bytes + h.e_shoff);
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
	struct pdet_elf_file e = { .spent = &spent };

	load();
	ck_assert_int_eq(open_fd(&e, bytes, size, size), 0);
	ck_assert(e.refused);
	ck_assert_uint_eq(e.n_symbols, 0);
	ck_assert_uint_ne(e.header, 0);
	ck_assert_uint_le(spent, PDET_ELF_BYTES);
	pdet_elf_file_free(&e);
	spent = 0;
	ck_assert_int_eq(open_fd(&e, bytes, size, size), 0);
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
	ck_assert_int_eq(pdet_eh_frame_index(section, fde + 20, 0x1000, 8,
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

/* A file has shrunk since its size was read. */
START_TEST(shrunk)
{
	struct pdet_elf_file e = { .spent = NULL };
	size_t n;

	load();
	for (n = 0; n < size; n += n < 1024 ? 64 : size / 64) {
		open_fd(&e, bytes, n, size);
		ck_assert_uint_eq(e.n_symbols, 0);
		pdet_elf_file_free(&e);
	}
	free(bytes);
}
END_TEST

/* A table in a hole of a file costs as much as its size says. */
START_TEST(sparse)
{
	uint64_t spent = 0;
	struct pdet_elf_file e = { .spent = &spent };
	const Elf64_Shdr *names;
	Elf64_Shdr *table;

	load();
	table = find_symtab(&names);
	table->sh_size = (uint64_t)1 << (_i ? 62 : 32);
	ck_assert_int_eq(open_sparse(&e, (uint64_t)8 << 30), 0);
	ck_assert(!e.refused);
	ck_assert_uint_eq(e.n_symbols, 0);
	ck_assert_uint_lt(spent, size);
	pdet_elf_file_free(&e);
	free(bytes);
}
END_TEST

/* The number of sections is where libelf would look for it. */
START_TEST(many_sections)
{
	struct pdet_elf_file e;
	Elf64_Ehdr *h;

	load();
	h = (Elf64_Ehdr *)(void *)bytes;
	h->e_shnum = 0;
	((Elf64_Shdr *)(void *)(bytes + h->e_shoff))->sh_size = UINT32_MAX;
	ck_assert_int_eq(open_bytes(&e, bytes, size), -EBADMSG);
	h->e_shoff = UINT64_MAX - 16;
	ck_assert_int_eq(open_bytes(&e, bytes, size), -EBADMSG);
	/* Without a table, there are none. */
	h->e_shoff = 0;
	ck_assert_int_eq(open_bytes(&e, bytes, size), 0);
	ck_assert_uint_ne(e.header, 0);
	ck_assert_uint_gt(e.build_id.n, 0);
	ck_assert_uint_eq(e.n_symbols, 0);
	pdet_elf_file_free(&e);
	h->e_phnum = PN_XNUM;
	ck_assert_int_eq(open_bytes(&e, bytes, size), -EBADMSG);
	free(bytes);
}
END_TEST

/* Compressed sections are not unpacked. */
START_TEST(compressed)
{
	struct pdet_elf_file e;
	const Elf64_Shdr *names;
	Elf64_Shdr *s;
	Elf64_Ehdr h;

	load();
	memcpy(&h, bytes, sizeof(h));
	s = (Elf64_Shdr *)(void *)(bytes + h.e_shoff);
	s[h.e_shstrndx].sh_flags |= SHF_COMPRESSED;
	find_symtab(&names);
	s[names - s].sh_flags |= SHF_COMPRESSED;
	find_header(bytes)->p_type = PT_NULL;
	ck_assert_int_eq(open_bytes(&e, bytes, size), 0);
	/* They are as they were, whatever the flag says. */
	find(&e, "pdet_test_function");
	ck_assert_uint_gt(e.frames.n, 100);
	pdet_elf_file_free(&e);
	free(bytes);
}
END_TEST

/* A section with a name of this length, which few files have, becomes
 * .debug_frame. */
static Elf64_Shdr *take_section(char *from)
{
	static const char name[] = ".gnu.version";
	Elf64_Shdr *s;
	Elf64_Ehdr h;
	unsigned i;
	char *names;

	memcpy(&h, from, sizeof(h));
	s = (Elf64_Shdr *)(void *)(from + h.e_shoff);
	names = from + s[h.e_shstrndx].sh_offset;
	for (i = 0; i < h.e_shnum; i++) {
		if (strcmp(names + s[i].sh_name, name))
			continue;
		memcpy(names + s[i].sh_name, ".debug_frame", sizeof(name));
		return &s[i];
	}
	unit_skip("there is no %s", name);
}

/* A CIE, and an FDE for the bytes 0x1000 ... 0x100f. */
static const uint8_t two_records[] = {
	12, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 1, 0x78, 16, 0, 0, 0,
	20, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0,
	16, 0, 0, 0, 0, 0, 0, 0
};

/* zlib, without compression (RFC 1950, 1951). */
static size_t store(uint8_t *to)
{
	static const uint8_t head[] = {
		0x78, 0x01, 1, sizeof(two_records), 0,
		255 - sizeof(two_records), 255
	};
	uint32_t a = 1, b = 0;
	size_t i, n = sizeof(head) + sizeof(two_records);

	memcpy(to, head, sizeof(head));
	memcpy(to + sizeof(head), two_records, sizeof(two_records));
	for (i = 0; i < sizeof(two_records); i++) {
		a = (a + two_records[i]) % 65521;
		b = (b + a) % 65521;
	}
	to[n++] = (uint8_t)(b >> 8);
	to[n++] = (uint8_t)b;
	to[n++] = (uint8_t)(a >> 8);
	to[n++] = (uint8_t)a;
	return n;
}

START_TEST(packed)
{
	static const struct {
		uint32_t type;
		uint64_t size, cut;
		bool right;
	} cases[] = {
		{ ELFCOMPRESS_ZLIB, sizeof(two_records), 0, true },
		{ ELFCOMPRESS_ZLIB, sizeof(two_records) + 1, 0, false },
		{ ELFCOMPRESS_ZLIB, sizeof(two_records) - 1, 0, false },
		{ ELFCOMPRESS_ZLIB, sizeof(two_records), 1, false },
		{ ELFCOMPRESS_ZLIB, 0, 0, false },
		{ ELFCOMPRESS_ZLIB, (uint64_t)1 << 40, 0, false },
		{ ELFCOMPRESS_ZLIB, UINT64_MAX, 0, false },
		{ 99, sizeof(two_records), 0, false },
		{ ELFCOMPRESS_ZLIB, sizeof(two_records), 75, false },
	};
	const Elf64_Chdr h = {
		.ch_type = cases[_i].type, .ch_size = cases[_i].size
	};
	static struct pdet_frame_pair pair;
	struct pdet_elf_file e;
	Elf64_Shdr *s;
	size_t n;

	load();
	bytes = realloc(bytes, size + 4096);
	ck_assert_ptr_nonnull(bytes);
	s = take_section(bytes);
	memcpy(bytes + size, &h, sizeof(h));
	n = sizeof(h) + store((uint8_t *)bytes + size + sizeof(h));
	s->sh_flags |= SHF_COMPRESSED;
	s->sh_offset = size;
	s->sh_size = n - cases[_i].cut;
	ck_assert_int_eq(open_bytes(&e, bytes, size + n), 0);
	if (cases[_i].right && !e.debug_frame.n)
		unit_skip("zlib is not there");
	ck_assert_uint_eq(e.debug_frame.n, cases[_i].right);
	ck_assert(pdet_debug_frame_get(&e.debug_frame, 0x1008, 0, &pair) ==
		  cases[_i].right);
	pdet_elf_file_free(&e);
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("elf_file");
	struct pdet_env env = { .root = NULL };
	int r;

	if (sizeof(void *) != 8) {
		printf("1..0 # SKIP only for 64-bit programs\n");
		return 0;
	}
	if (pdet_libelf_new(&libelf, &env, "ELF") < 0) {
		printf("1..0 # SKIP %s\n", env.error);
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
	unit_test(s, shrunk);
	unit_loop(s, sparse, 2);
	unit_test(s, many_sections);
	unit_test(s, compressed);
	unit_loop(s, packed, 9);
	r = unit_main(s);
	pdet_libelf_free(libelf);
	return r;
}
