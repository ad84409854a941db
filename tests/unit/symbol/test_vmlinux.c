/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests ELF files with this program, whose symbols and build id are known; also
 * cut and damaged.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "pagedet.h"
#include "symbol/vmlinux.h"
#include "../unit.h"

#define SELF "/proc/self/exe"
#define ID "0123456789abcdef0123456789abcdef01234567"
#define OTHER_ID "0123456789abcdef0123456789abcdef01234568"

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#define NAME "aarch64"
#else
#define MACHINE EM_X86_64
#define NAME "x86_64"
#endif

char vmlinux_sample[64];
int vmlinux_function(void);
int vmlinux_function(void)
{
	return vmlinux_sample[0];
}

static struct pdet_env env = { .root = (char *)"" };
static char said[PDET_ERROR_SIZE];

static void keep(void *user, int level, const char *text)
{
	(void)user;
	(void)level;
	snprintf(said, sizeof(said), "%s", text);
}

static void ck_open(struct pdet_vmlinux *v)
{
	ck_assert_msg(pdet_vmlinux_open(v, &env, SELF) == 0, "%s", env.error);
}

static struct pdet_build_id id_of(const char *text)
{
	struct pdet_vmcoreinfo info;
	struct pdet_build_id id;
	char line[256];
	int n = snprintf(line, sizeof(line), "BUILD-ID=%s\n", text);

	ck_assert(pdet_vmcoreinfo_parse(&info, line, (size_t)n));
	pdet_build_id_info(&id, &info);
	pdet_vmcoreinfo_free(&info);
	return id;
}

START_TEST(a_build_id_is_read)
{
	pdet_build_id_text text;
	struct pdet_vmlinux v;

	ck_open(&v);
	ck_assert_str_eq(pdet_build_id_words(&v.build_id, text), ID);
	ck_assert_int_eq(v.machine, MACHINE);
	pdet_vmlinux_close(&v);
}
END_TEST

START_TEST(a_build_id_that_is_none)
{
	static const char *const none[] = {
		"", "0", "012", "0g", "0X12", " 12",
		ID ID ID ID, /* 80 bytes */
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(none); i++)
		ck_assert_msg(id_of(none[i]).n == 0, "%s", none[i]);
	ck_assert_uint_eq(id_of("01ff").n, 2);
	ck_assert_uint_eq(id_of("01ff").bytes[1], 0xff);
}
END_TEST

START_TEST(another_kernel_is_refused)
{
	const struct pdet_build_id mine = id_of(ID), other = id_of(OTHER_ID);
	struct pdet_build_id none = { .n = 0 };
	struct pdet_vmlinux v;

	env.log = keep;
	env.log_level = PAGEDET_LOG_WARNING;
	ck_open(&v);
	ck_assert_int_eq(pdet_vmlinux_check(&v, &env, "v", 0, &mine), 0);
	ck_assert_int_eq(pdet_vmlinux_check(&v, &env, "v", MACHINE, &mine),
			 0);
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(pdet_vmlinux_check(&v, &env, "v", 0, &other),
			 -EBADMSG);
	ck_assert_str_eq(env.error, "cannot use v: it belongs to another "
			 "kernel: its build id is " ID ", and the kernel's is "
			 OTHER_ID);
	ck_assert_int_eq(pdet_vmlinux_check(&v, &env, "v", EM_S390, &mine),
			 -EBADMSG);
	ck_assert_str_eq(env.error, "cannot use v: it is a kernel of " NAME
			 ", not of s390x");
	/* A kernel without a build id: this is reported. */
	ck_assert_int_eq(pdet_vmlinux_check(&v, &env, "v", 0, &none), 0);
	ck_assert_ptr_nonnull(strstr(said, "does not say its build id (the "
				     "file's: " ID ")"));
	/* A file without one, for a kernel with one. */
	v.build_id.n = 0;
	ck_assert_int_eq(pdet_vmlinux_check(&v, &env, "v", 0, &mine),
			 -EBADMSG);
	ck_assert_ptr_nonnull(strstr(env.error, "its build id is none"));
	pdet_vmlinux_close(&v);
}
END_TEST

/*
 * A program may be loaded anywhere: all symbols have the same distance from the
 * file.
 */
START_TEST(symbols_are_found)
{
	struct pdet_symbol s[] = {
		{ .name = "vmlinux_sample" }, { .name = "vmlinux_function" },
		{ .name = "vmlinux_nowhere" },
		{ .name = "main", .found = true, .address = 5 },
	};
	struct pdet_vmlinux v;

	ck_open(&v);
	pdet_vmlinux_find(&v, s, PDET_COUNT(s));
	ck_assert(s[0].found && s[1].found && !s[2].found);
	ck_assert_uint_eq((uintptr_t)vmlinux_sample - s[0].address,
			  (uintptr_t)vmlinux_function - s[1].address);
	ck_assert_uint_eq(s[3].address, 5);
	pdet_vmlinux_close(&v);
}
END_TEST

static void ck_named(const struct pdet_kallsyms *k, uint64_t address,
		     const char *want, uint64_t want_address)
{
	char name[PDET_SYMBOL_NAME], type;
	uint32_t i;

	ck_assert(pdet_kallsyms_at(k, address, &i));
	ck_assert_uint_eq(pdet_kallsyms_name(k, i, name, &type), strlen(want));
	ck_assert_str_eq(name, want);
	ck_assert_uint_eq(k->address[i], want_address);
}

START_TEST(they_are_a_table_as_the_kernels_own)
{
	struct pdet_symbol s[] = {
		{ .name = "vmlinux_sample" }, { .name = "vmlinux_function" },
	}, moved[] = {
		{ .name = "vmlinux_function" }, { .name = "vmlinux_sample" },
	};
	struct pdet_vmlinux_move move = { .by = 0x1000000 };
	struct pdet_vmlinux v;
	struct pdet_kallsyms k;
	uint32_t i;

	ck_open(&v);
	pdet_vmlinux_find(&v, s, 2);
	move.first = s[0].address;
	move.end = s[0].address + sizeof(vmlinux_sample);
	ck_assert_int_eq(pdet_vmlinux_symbols(&v, &move, &k), 0);
	pdet_vmlinux_close(&v);
	/* Only the symbols inside the image are moved. */
	pdet_kallsyms_find(&k, moved, 2);
	ck_assert(moved[0].found && moved[1].found);
	ck_assert_uint_eq(moved[0].address, s[1].address);
	ck_assert_uint_eq(moved[1].address, s[0].address + move.by);
	ck_named(&k, s[1].address + 1, "vmlinux_function", s[1].address);
	ck_named(&k, moved[1].address + 63, "vmlinux_sample",
		 moved[1].address);
	for (i = 1; i < k.n; i++)
		ck_assert_uint_le(k.address[i - 1], k.address[i]);
	pdet_kallsyms_free(&k);
}
END_TEST

START_TEST(other_files_are_refused)
{
	static const struct {
		const char *path, *why;
		int error;
	} files[] = {
		{ "/proc", "cannot read /proc: it is a directory", -EBADMSG },
		{ "/dev/null", "cannot read /dev/null: it is not a regular "
		  "file", -ENOTSUP },
		{ "/proc/self/nowhere", "cannot open /proc/self/nowhere: No "
		  "such file or directory", -ENOENT },
		{ "/etc/passwd", "cannot read /etc/passwd: it is not an ELF "
		  "file", -EBADMSG },
	};
	struct pdet_vmlinux v;
	size_t i;

	for (i = 0; i < PDET_COUNT(files); i++) {
		ck_assert_int_eq(pdet_vmlinux_open(&v, &env, files[i].path),
				 files[i].error);
		ck_assert_str_eq(env.error, files[i].why);
	}
}
END_TEST

/* --- damage --- */

struct copy {
	char path[64];
	struct pdet_text all;
	int fd;
};

static void make_copy(struct copy *c)
{
	strcpy(c->path, "/tmp/pagedet-vmlinux.XXXXXX");
	c->fd = mkstemp(c->path);
	ck_assert_int_ge(c->fd, 0);
	ck_assert_int_eq(pdet_slurp(&env, &c->all, (size_t)64 << 20, SELF), 0);
}

static void write_copy(const struct copy *c, size_t n)
{
	ck_assert_int_eq(ftruncate(c->fd, 0), 0);
	ck_assert_int_eq(pwrite(c->fd, c->all.data, n, 0), (ssize_t)n);
}

static void drop_copy(struct copy *c)
{
	close(c->fd);
	unlink(c->path);
	pdet_text_free(&c->all);
}

START_TEST(one_that_is_cut_is_refused)
{
	struct pdet_vmlinux v;
	struct copy c;
	size_t n;

	make_copy(&c);
	for (n = 0; n < c.all.len; n += n < 1024 ? 1 : c.all.len / 16) {
		write_copy(&c, n);
		ck_assert_int_eq(pdet_vmlinux_open(&v, &env, c.path),
				 -EBADMSG);
		ck_assert_ptr_nonnull(strstr(env.error, n == 0 ? "empty" :
					     n < 16 ? "not an" : "cut short"));
	}
	drop_copy(&c);
}
END_TEST

START_TEST(forms_that_are_no_kernel)
{
	static const struct {
		unsigned at;
		char byte;
		const char *why;
	} forms[] = {
		{ EI_CLASS, ELFCLASS32, "it is a 32-bit ELF file" },
		{ EI_CLASS, 7, "it is a damaged ELF file" },
		{ EI_DATA, ELFDATA2MSB, "it is a big-endian ELF file" },
		{ 16, ET_REL, "it is an object file or module" },
		{ 16, ET_CORE, "it is a core file" },
		{ 16, 0, "it is a damaged ELF file" },
		{ 60, 0, "without a table of sections" },
		{ 58, 1, "without a table of sections" },
	};
	struct pdet_vmlinux v;
	struct copy c;
	size_t i;
	char was;

	make_copy(&c);
	for (i = 0; i < PDET_COUNT(forms); i++) {
		was = c.all.data[forms[i].at];
		c.all.data[forms[i].at] = forms[i].byte;
		write_copy(&c, c.all.len);
		ck_assert_int_eq(pdet_vmlinux_open(&v, &env, c.path),
				 -EBADMSG);
		ck_assert_msg(strstr(env.error, forms[i].why) != NULL, "%s",
			      env.error);
		c.all.data[forms[i].at] = was;
	}
	drop_copy(&c);
}
END_TEST

/* Whatever the headers contain: an answer, or an error text. */
START_TEST(damaged_headers_do_no_harm)
{
	struct pdet_vmlinux_move move = { .by = 0, .end = UINT64_MAX };
	struct pdet_symbol s = { .name = "vmlinux_sample" };
	struct pdet_kallsyms k;
	struct pdet_vmlinux v;
	uint64_t random = 42;
	Elf64_Ehdr head;
	struct copy c;
	size_t at, len;
	unsigned i;
	void *btf;

	make_copy(&c);
	memcpy(&head, c.all.data, sizeof(head));
	write_copy(&c, c.all.len);
	for (i = 0; i < 2000; i++) {
		const char byte = (char)unit_random(&random);

		at = unit_random(&random) %
		     (sizeof(head) + head.e_shnum * sizeof(Elf64_Shdr));
		if (at >= sizeof(head))
			at += head.e_shoff - sizeof(head);
		ck_assert_int_eq(pwrite(c.fd, &byte, 1, (off_t)at), 1);
		if (pdet_vmlinux_open(&v, &env, c.path) == 0) {
			s.found = false;
			pdet_vmlinux_find(&v, &s, 1);
			if (pdet_vmlinux_symbols(&v, &move, &k) == 0)
				pdet_kallsyms_free(&k);
			if (pdet_vmlinux_btf(&v, &btf, &len) == 0)
				free(btf);
			pdet_vmlinux_close(&v);
		} else {
			ck_assert_str_ne(env.error, "");
		}
		ck_assert_int_eq(pwrite(c.fd, c.all.data + at, 1, (off_t)at),
				 1);
	}
	drop_copy(&c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vmlinux");

	unit_test(s, a_build_id_is_read);
	unit_test(s, a_build_id_that_is_none);
	unit_test(s, another_kernel_is_refused);
	unit_test(s, symbols_are_found);
	unit_test(s, they_are_a_table_as_the_kernels_own);
	unit_test(s, other_files_are_refused);
	unit_test(s, one_that_is_cut_is_refused);
	unit_test(s, forms_that_are_no_kernel);
	unit_test(s, damaged_headers_do_no_harm);
	return unit_main(s);
}
