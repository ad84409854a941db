/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests ELF dumps: every block is read right wherever the headers are, also
 * with overlapping segments. Dumps are cut after every byte of the headers, and
 * every bit of them is flipped. Files that are not a supported dump are named.
 */
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"
#include "made.h"
#include "memory/note.h"
#include "../unit.h"

#define FRAMES 200

static char notes[8192];

static struct dump_elf with_notes(bool vmcoreinfo)
{
	struct dump_elf elf = { .machine = EM_X86_64, .notes = notes };
	char registers[336] = "";

	elf.notes_len = dump_note(notes, 0, "CORE", NT_PRSTATUS, registers,
				  sizeof(registers));
	elf.notes_len = dump_note(notes, elf.notes_len, "QEMU", 0, registers,
				  30);
	if (vmcoreinfo)
		elf.notes_len = dump_note(notes, elf.notes_len, "VMCOREINFO",
					  0, made_vmcoreinfo,
					  strlen(made_vmcoreinfo));
	return elf;
}

static struct made memory(void)
{
	return (struct made){ .seed = 1, .frames = FRAMES, .block = 4096 };
}

static struct pdet_memory *must_open(int fd)
{
	char error[512];
	struct pdet_memory *m = made_open(&fd, 1, error, sizeof(error), NULL);

	ck_assert_msg(m != NULL, "%s", error);
	return m;
}

static struct pdet_reader *reader(struct pdet_memory *m, size_t cache)
{
	struct pdet_reader *r;

	ck_assert_int_eq(m->ops->reader_new(m, cache, &r), 0);
	return r;
}

static void check_ranges(const struct made *made, const struct pdet_memory *m)
{
	uint64_t i;
	size_t k;

	for (i = 0; i < made->frames; i++) {
		bool in = false;

		for (k = 0; k < m->ranges.n; k++)
			in |= m->ranges.data[k].first <= i * made->block &&
				m->ranges.data[k].last / made->block >= i;
		ck_assert_int_eq(in, made_state(made, i) != DUMP_NOTHING);
	}
	for (k = 1; k < m->ranges.n; k++)
		ck_assert_uint_gt(m->ranges.data[k].first,
				  m->ranges.data[k - 1].last + 1);
}

static void check_all(struct made *made, int fd)
{
	struct pdet_memory *m = must_open(fd);
	struct pdet_reader *r;
	struct made_counts c;

	ck_assert_uint_eq(m->machine, EM_X86_64);
	ck_assert_str_eq(m->release, "6.12.0-made");
	ck_assert_str_eq(m->vmcoreinfo, made_vmcoreinfo);
	ck_assert_uint_eq(m->missing, 0);
	ck_assert(!m->live && !m->big_endian);
	check_ranges(made, m);
	r = reader(m, 16 * 4096);
	c = made_compare(made, r);
	ck_assert_uint_eq(c.right, made->frames + 10);
	ck_assert_uint_eq(c.wrong, 0);
	ck_assert_uint_eq(c.steps, made->frames + 10 - c.excluded - c.nothing);
	ck_assert_uint_eq(made_compare_odd(made, r), 0);
	m->ops->reader_free(r);
	pdet_memory_close(m);
	close(fd);
}

START_TEST(every_block)
{
	struct dump_elf elf = with_notes(true);
	struct made made = memory();

	check_all(&made, made_elf(&made, &elf, false));
	check_all(&made, made_elf(&made, &elf, true));
}
END_TEST

/* QEMU has section headers at 64 and program headers at 192. */
START_TEST(headers_anywhere)
{
	struct dump_elf elf = with_notes(true);
	struct made made = memory();

	elf.phoff = 192;
	check_all(&made, made_elf(&made, &elf, false));
	elf.xnum = true;
	check_all(&made, made_elf(&made, &elf, false));
	elf.phoff = 0;
	check_all(&made, made_elf(&made, &elf, true));
	elf.phoff = 1000001;
	check_all(&made, made_elf(&made, &elf, false));
}
END_TEST

/*
 * The part of a segment that is only in memory was left out, and is not zero.
 */
START_TEST(excluded_is_not_zero)
{
	struct dump_elf elf = with_notes(true);
	struct made made = memory();
	int fd = made_elf(&made, &elf, false);
	struct pdet_memory *m = must_open(fd);
	struct pdet_reader *r = reader(m, 0);
	struct made_counts c = made_compare(&made, r);
	uint64_t i, excluded = 0;

	for (i = 0; i < made.frames; i++)
		excluded += made_state(&made, i) == DUMP_EXCLUDED;
	ck_assert_uint_gt(excluded, 20);
	ck_assert_uint_eq(c.right, made.frames + 10);
	ck_assert_uint_eq(c.excluded, excluded);
	ck_assert_uint_eq(c.wrong + c.io + c.bad, 0);
	ck_assert_uint_eq(made_compare_odd(&made, r), 0);
	m->ops->reader_free(r);
	pdet_memory_close(m);
	close(fd);
}
END_TEST

/* Makes a file with these segments. Byte x of the file is x % 251. */
static int by_hand(const Elf64_Phdr *p, size_t n, uint64_t size)
{
	Elf64_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64,
		.e_version = EV_CURRENT, .e_phoff = sizeof(h),
		.e_phentsize = sizeof(*p), .e_phnum = (Elf64_Half)n,
	};
	int fd = memfd_create("elf", MFD_CLOEXEC);
	char *data = malloc(size);
	uint64_t x;

	for (x = 0; x < size; x++)
		data[x] = (char)(x % 251);
	memcpy(data, &h, sizeof(h));
	memcpy(data + sizeof(h), p, n * sizeof(*p));
	ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
	free(data);
	return fd;
}

static int byte_at(struct pdet_reader *r, uint64_t addr)
{
	unsigned char c;
	int result = r->memory->ops->read_phys(r, addr, &c, 1);

	return result < 0 ? result : c;
}

START_TEST(segments_over_each_other)
{
	const Elf64_Phdr p[] = {
		/* This segment is not in the file at all. */
		{ .p_type = PT_LOAD, .p_paddr = 0x1000, .p_memsz = 0x5000 },
		/* The kernel's text, then all of memory. */
		{ .p_type = PT_LOAD, .p_paddr = 0x2000, .p_offset = 0x1000,
		  .p_filesz = 0x800, .p_memsz = 0x800 },
		{ .p_type = PT_LOAD, .p_paddr = 0x1800, .p_offset = 0x2000,
		  .p_filesz = 0x2000, .p_memsz = 0x2000 },
		/* The file ends before it. */
		{ .p_type = PT_LOAD, .p_paddr = 0x3000, .p_offset = 0x100000,
		  .p_filesz = 0x2000, .p_memsz = 0x2000 },
		/* Its place is not known. */
		{ .p_type = PT_LOAD, .p_paddr = UINT64_MAX, .p_offset = 0x1000,
		  .p_filesz = 0x1000, .p_memsz = 0x1000 },
	};
	int fd = by_hand(p, PDET_COUNT(p), 0x5000);
	struct pdet_memory *m = must_open(fd);
	struct pdet_reader *r = reader(m, 65536);
	unsigned char buf[0x1000];
	uint64_t x;

	ck_assert_uint_eq(m->ranges.n, 1);
	ck_assert_uint_eq(m->ranges.data[0].first, 0x1000);
	ck_assert_uint_eq(m->ranges.data[0].last, 0x5fff);
	ck_assert_uint_eq(m->missing, 0x5000 - 0x3800);
	for (x = 0; x < 0x7000; x++) {
		int expected = x < 0x1000 || x >= 0x6000 ? -ENOENT :
			x < 0x1800 ? -ENODATA :
			x < 0x2000 ? (int)((x - 0x1800 + 0x2000) % 251) :
			x < 0x2800 ? (int)((x - 0x2000 + 0x1000) % 251) :
			x < 0x3800 ? (int)((x - 0x1800 + 0x2000) % 251) :
			x < 0x5000 ? -EIO : -ENODATA;

		ck_assert_int_eq(byte_at(r, x), expected);
	}
	/* Across the border of two. */
	ck_assert_int_eq(m->ops->read_phys(r, 0x1c00, buf, 0x1000), 0);
	for (x = 0; x < 0x1000; x++)
		ck_assert_int_eq(buf[x], byte_at(r, 0x1c00 + x));
	ck_assert_int_eq(m->ops->read_phys(r, 0x3000, buf, 0x1000), -EIO);
	m->ops->reader_free(r);
	pdet_memory_close(m);
	close(fd);
}
END_TEST

START_TEST(cut_anywhere)
{
	struct dump_elf elf = with_notes(true);
	struct made made = memory();
	int fd = made_elf(&made, &elf, false), cut, result;
	uint64_t size = made_size(fd), n;
	char error[512];

	for (n = 0; n < size; n += n < 12000 ? 7 : 4099) {
		struct pdet_memory *m;
		struct pdet_reader *r;
		struct made_counts c;

		cut = made_copy(fd, n);
		m = made_open(&cut, 1, error, sizeof(error), &result);
		if (!m) {
			ck_assert_str_ne(error, "");
			ck_assert(result == -EIO || result == -EBADMSG);
			close(cut);
			continue;
		}
		ck_assert_uint_gt(m->missing, 0);
		r = reader(m, 65536);
		c = made_compare(&made, r);
		ck_assert_uint_eq(c.wrong + c.bad, 0);
		ck_assert_uint_eq(c.right + c.io, made.frames + 10);
		/* Whole blocks and a part of one are missing. */
		ck_assert_uint_ge(c.io, m->missing / 4096);
		ck_assert_uint_le(c.io, m->missing / 4096 + 1);
		m->ops->reader_free(r);
		pdet_memory_close(m);
		close(cut);
	}
	close(fd);
}
END_TEST

/* Flips each bit of the headers: the dump opens, or the error says why not. */
START_TEST(headers_damaged)
{
	struct dump_elf elf = with_notes(true);
	struct made made = { .seed = 2, .frames = 24, .block = 4096 };
	int fd = made_elf(&made, &elf, false);
	unsigned bit, opened = 0, refused = 0;
	char error[512], buf[4096];
	uint64_t x;

	for (bit = 0; bit < 600 * 8; bit++) {
		struct pdet_memory *m;
		struct pdet_reader *r;
		int copy = made_copy(fd, made_size(fd));
		char byte;

		ck_assert_int_eq(pread(copy, &byte, 1, bit / 8), 1);
		byte ^= (char)(1 << bit % 8);
		ck_assert_int_eq(pwrite(copy, &byte, 1, bit / 8), 1);
		m = made_open(&copy, 1, error, sizeof(error), NULL);
		if (!m) {
			ck_assert_str_ne(error, "");
			refused++;
			close(copy);
			continue;
		}
		opened++;
		r = reader(m, 0);
		for (x = 0; x < made.frames; x++)
			m->ops->read_phys(r, x * 4096, buf, 4096);
		m->ops->reader_free(r);
		pdet_memory_close(m);
		close(copy);
	}
	ck_assert_uint_gt(opened, 1000);
	ck_assert_uint_gt(refused, 50);
	close(fd);
}
END_TEST

static void refused(int fd, int code, const char *words)
{
	char error[512];
	int result;

	ck_assert_ptr_null(made_open(&fd, 1, error, sizeof(error), &result));
	ck_assert_msg(strstr(error, words) != NULL, "%s", error);
	ck_assert_int_eq(result, code);
	close(fd);
}

static void poke(int fd, uint64_t at, unsigned char byte)
{
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
}

static int good(void)
{
	struct dump_elf elf = with_notes(true);
	struct made made = memory();

	return made_elf(&made, &elf, false);
}

START_TEST(refused_by_name)
{
	const Elf64_Phdr process[] = {
		{ .p_type = PT_LOAD, .p_vaddr = 0x400000, .p_offset = 0x1000,
		  .p_filesz = 0x1000, .p_memsz = 0x1000 },
		{ .p_type = PT_LOAD, .p_vaddr = 0x7f0000, .p_offset = 0x2000,
		  .p_filesz = 0x1000, .p_memsz = 0x1000 },
	};
	const Elf64_Phdr note = { .p_type = PT_NOTE };
	int fd = good();

	poke(fd, EI_CLASS, ELFCLASS32);
	refused(fd, -ENOTSUP, "32-bit");
	fd = good();
	poke(fd, EI_DATA, ELFDATA2MSB);
	poke(fd, 16, 0);
	poke(fd, 17, ET_CORE);
	refused(fd, -ENOTSUP, "big-endian");
	fd = good();
	poke(fd, 16, ET_EXEC);
	refused(fd, -EBADMSG, "not a dump");
	refused(by_hand(process, 2, 0x4000), -EBADMSG, "process");
	refused(by_hand(&note, 1, 0x1000), -EBADMSG, "without memory");
	fd = good();
	poke(fd, offsetof(Elf64_Ehdr, e_phnum), 0);
	poke(fd, offsetof(Elf64_Ehdr, e_phnum) + 1, 0);
	refused(fd, -EBADMSG, "no segments");
	fd = good();
	poke(fd, offsetof(Elf64_Ehdr, e_phoff) + 7, 1);
	refused(fd, -EIO, "cut short");
}
END_TEST

START_TEST(one_file_only)
{
	int fds[2] = { good(), good() }, result;
	char error[512];

	ck_assert_ptr_null(made_open(fds, 2, error, sizeof(error), &result));
	ck_assert_int_eq(result, -EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "one file"));
	close(fds[0]);
	close(fds[1]);
}
END_TEST

/*
 * Registers of both architectures, in user code and in the kernel. Shorter
 * notes, and those of another machine, are rejected.
 */
START_TEST(registers)
{
	enum { X86 = 336, ARM64 = 392, RISCV = 376, HEAD = 20 };
	static const size_t sizes[] = { X86, ARM64, RISCV };
	struct pdet_cpu cpu;
	struct pdet_notes all;
	char data[3 * (HEAD + ARM64)] = { 0 }, *at = data;
	size_t i;

	for (i = 0; i < PDET_COUNT(sizes); i++) {
		const Elf64_Nhdr head = { 5, (uint32_t)sizes[i], NT_PRSTATUS };
		uint64_t reg;
		unsigned n;

		memcpy(at, &head, sizeof(head));
		memcpy(at + sizeof(head), "CORE", 5);
		for (n = 0; n < 27; n++) {
			reg = 0xffff800000000000 + n * 16 + i;
			memcpy(at + HEAD + 112 + n * 8, &reg, sizeof(reg));
		}
		at += HEAD + sizes[i];
	}
	/* cs of user code; arm64's comes later and is zero: level 0. */
	data[HEAD + 112 + 17 * 8] |= 3;
	all = (struct pdet_notes){ data, (size_t)(at - data) };
	ck_assert(pdet_notes_cpu(all, 0, &cpu));
	ck_assert_uint_eq(cpu.ip, 0xffff800000000100);
	ck_assert_uint_eq(cpu.sp, 0xffff800000000130);
	ck_assert_uint_eq(cpu.fp, 0xffff800000000040);
	ck_assert(cpu.user);
	data[HEAD + 112 + 17 * 8] &= ~3;
	ck_assert(pdet_notes_cpu(all, 0, &cpu));
	ck_assert(!cpu.user);

	ck_assert(pdet_notes_cpu(all, 1, &cpu));
	ck_assert(cpu.user);
	data[HEAD + X86 + HEAD + 112 + 33 * 8] = 5;
	data[HEAD + X86 + HEAD + 112 + 32 * 8] = 7;
	data[HEAD + X86 + HEAD + 112 + 31 * 8] = 9;
	data[HEAD + X86 + HEAD + 112 + 29 * 8] = 11;
	ck_assert(pdet_notes_cpu(all, 1, &cpu));
	ck_assert(!cpu.user);
	ck_assert_uint_eq(cpu.ip, 7);
	ck_assert_uint_eq(cpu.sp, 9);
	ck_assert_uint_eq(cpu.fp, 11);
	ck_assert(!pdet_notes_cpu(all, 2, &cpu));
	ck_assert(!pdet_notes_cpu(all, 3, &cpu));
}
END_TEST

/* Every note is read as written; truncated or overlong ones are not read. */
START_TEST(notes_one_by_one)
{
	struct dump_elf elf = with_notes(true);
	struct pdet_notes all = { notes, elf.notes_len }, rest;
	struct pdet_note note;
	const char *text;
	char *cut;
	size_t len;

	ck_assert(pdet_notes_next(&all, &note));
	ck_assert(pdet_note_is(&note, "CORE", NT_PRSTATUS));
	ck_assert(!pdet_note_is(&note, "CORE", NT_PRPSINFO));
	ck_assert(!pdet_note_is(&note, "COR", NT_PRSTATUS));
	ck_assert_uint_eq(note.desc_len, 336);
	ck_assert(pdet_notes_next(&all, &note));
	ck_assert(pdet_note_is(&note, "QEMU", 0));
	ck_assert_uint_eq(note.desc_len, 30);
	ck_assert(pdet_notes_next(&all, &note));
	ck_assert_mem_eq(note.desc, made_vmcoreinfo, strlen(made_vmcoreinfo));
	ck_assert(!pdet_notes_next(&all, &note));

	rest = (struct pdet_notes){ notes, elf.notes_len };
	ck_assert_uint_eq(pdet_notes_machine(rest), EM_X86_64);
	ck_assert(pdet_notes_vmcoreinfo(rest, &text, &len));
	ck_assert_uint_eq(len, strlen(made_vmcoreinfo));
	for (len = 0; len < elf.notes_len - 3; len++) {
		size_t n;

		cut = unit_exact(notes, len);
		rest = (struct pdet_notes){ cut, len };
		for (n = 0; pdet_notes_next(&rest, &note); n++)
			;
		ck_assert_uint_lt(n, 3);
		free(cut);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("elf");

	unit_test(suite, every_block);
	unit_test(suite, headers_anywhere);
	unit_test(suite, excluded_is_not_zero);
	unit_test(suite, segments_over_each_other);
	unit_test(suite, cut_anywhere);
	unit_test(suite, headers_damaged);
	unit_test(suite, refused_by_name);
	unit_test(suite, one_file_only);
	unit_test(suite, registers);
	unit_test(suite, notes_one_by_one);
	return unit_main(suite);
}
