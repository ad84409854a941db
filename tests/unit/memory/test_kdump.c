/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests compressed dumps: every block is right in every form of the file, also
 * with many threads. Dumps are cut anywhere, and every bit of headers and
 * bitmaps is flipped.
 */
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/codec/codec.h"
#include "base/vec.h"
#include "made.h"
#include "../unit.h"

#define FRAMES 300
#define CACHE (8 * 4096)

static struct made memory(void)
{
	return (struct made){ .seed = 3, .frames = FRAMES, .block = 4096 };
}

static struct dump_kdump form(enum dump_codec codec)
{
	return (struct dump_kdump){
		.version = 6, .codec = codec, .machine = "x86_64",
		.release = "6.12.0-made", .vmcoreinfo = made_vmcoreinfo
	};
}

static struct pdet_memory *must_open(const int *fds, size_t n)
{
	char error[512];
	struct pdet_memory *m = made_open(fds, n, error, sizeof(error), NULL);

	ck_assert_msg(m != NULL, "%s", error);
	return m;
}

static struct pdet_reader *reader(struct pdet_memory *m, size_t cache)
{
	struct pdet_reader *r;

	ck_assert_int_eq(m->ops->reader_new(m, cache, &r), 0);
	return r;
}

static void check_ranges(const struct made *made, const struct pdet_memory *m,
			 bool excluded_too)
{
	uint64_t i;
	size_t k;

	for (i = 0; i < made->frames; i++) {
		enum dump_state state = made_state(made, i);
		bool in = false;

		for (k = 0; k < m->ranges.n; k++)
			in |= m->ranges.data[k].first <= i * made->block &&
				m->ranges.data[k].last / made->block >= i;
		ck_assert_int_eq(in, state == DUMP_BLOCK ||
				 (excluded_too && state == DUMP_EXCLUDED));
	}
}

/* Closes the files. */
static void check_all(struct made *made, int *fds, size_t n)
{
	const size_t caches[] = { 0, CACHE, 1 << 20 };
	struct pdet_memory *m = must_open(fds, n);
	struct pdet_reader *r;
	struct made_counts c;
	size_t i;

	ck_assert_uint_eq(m->machine, EM_X86_64);
	ck_assert_str_eq(m->release, "6.12.0-made");
	ck_assert_uint_eq(m->missing, 0);
	check_ranges(made, m, true);
	made_keep(made);
	for (i = 0; i < PDET_COUNT(caches); i++) {
		r = reader(m, caches[i]);
		c = made_compare(made, r);
		ck_assert_uint_eq(c.right, made->frames + 10);
		ck_assert_uint_eq(c.wrong + c.io + c.bad, 0);
		ck_assert_uint_eq(c.steps, made->frames + 10 - c.excluded -
				  c.nothing);
		ck_assert_uint_eq(made_compare_odd(made, r), 0);
		/* The second time from the cache. */
		c = made_compare(made, r);
		ck_assert_uint_eq(c.right, made->frames + 10);
		m->ops->reader_free(r);
	}
	made_forget(made);
	pdet_memory_close(m);
	for (i = 0; i < n; i++)
		close(fds[i]);
}

static void check_form(const struct dump_kdump *kdump, size_t block,
		       bool flattened)
{
	struct made made = memory();
	int fd;

	made.block = block;
	fd = made_kdump(&made, kdump, flattened);
	check_all(&made, &fd, 1);
}

START_TEST(every_block)
{
	struct dump_kdump k = form((enum dump_codec)_i);

	if (!dump_codec_built(k.codec))
		unit_skip("%s is not built in", dump_codec_name(k.codec));
	check_form(&k, 4096, false);
	check_form(&k, 4096, true);
	check_form(&k, 16384, false);
	check_form(&k, 65536, true);
	k.cache = 100;
	check_form(&k, 4096, true);
	k.shuffled = true;
	check_form(&k, 4096, true);
}
END_TEST

START_TEST(every_version)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();
	struct pdet_memory *m;
	int fd;

	k.version = (unsigned)_i + 1;
	check_form(&k, 4096, false);
	fd = made_kdump(&made, &k, false);
	m = must_open(&fd, 1);
	/* VMCOREINFO came with version 3 */
	if (k.version >= 3)
		ck_assert_str_eq(m->vmcoreinfo, made_vmcoreinfo);
	else
		ck_assert_ptr_null(m->vmcoreinfo);
	pdet_memory_close(m);
	close(fd);
}
END_TEST

START_TEST(format_for_people)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();
	int fd = made_kdump(&made, &k, true);
	struct pdet_memory *m = must_open(&fd, 1);

	ck_assert_str_eq(m->format, "kdump, zlib, flattened");
	pdet_memory_close(m);
	close(fd);
}
END_TEST

/* With one bitmap, a block that is not in the dump may not exist. */
START_TEST(diskdump_has_one_bitmap)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();
	struct pdet_memory *m;
	struct pdet_reader *r;
	struct made_counts c;
	uint64_t i, excluded = 0, buf;
	int fd;

	k.diskdump = true;
	k.version = 1;
	fd = made_kdump(&made, &k, false);
	m = must_open(&fd, 1);
	check_ranges(&made, m, false);
	r = reader(m, CACHE);
	c = made_compare(&made, r);
	for (i = 0; i < FRAMES; i++) {
		if (made_state(&made, i) != DUMP_EXCLUDED)
			continue;
		excluded++;
		ck_assert_int_eq(m->ops->read_phys(r, i * 4096, &buf, 8),
				 -ENOENT);
	}
	ck_assert_uint_eq(c.right + excluded, FRAMES + 10);
	m->ops->reader_free(r);
	pdet_memory_close(m);
	close(fd);
}
END_TEST

/* QEMU does not name some machines; registers identify them. */
START_TEST(machine_from_elsewhere)
{
	char notes[1024], registers[392] = "";
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();
	struct pdet_memory *m;
	char error[512];
	int fd, result;

	k.machine = "Unknown";
	fd = made_kdump(&made, &k, false);
	m = must_open(&fd, 1); /* from VMCOREINFO */
	ck_assert_uint_eq(m->machine, EM_X86_64);
	pdet_memory_close(m);
	close(fd);

	k.notes = notes;
	k.notes_len = dump_note(notes, 0, "CORE", NT_PRSTATUS, registers,
				sizeof(registers));
	fd = made_kdump(&made, &k, false);
	m = must_open(&fd, 1);
	ck_assert_uint_eq(m->machine, EM_AARCH64);
	ck_assert_uint_eq(m->notes_len, k.notes_len);
	ck_assert_mem_eq(m->notes, notes, k.notes_len);
	pdet_memory_close(m);
	close(fd);

	k.notes_len = 0;
	k.vmcoreinfo = NULL;
	fd = made_kdump(&made, &k, false);
	ck_assert_ptr_null(made_open(&fd, 1, error, sizeof(error), &result));
	ck_assert_int_eq(result, -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(error, "kind of machine"));
	close(fd);
}
END_TEST

/* Only in the notes; only in memory, where a scan finds it. */
START_TEST(vmcoreinfo_from_elsewhere)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();
	char notes[4096];
	struct pdet_memory *m;
	int fd;

	k.vmcoreinfo = NULL;
	k.notes = notes;
	k.notes_len = dump_note(notes, 0, "VMCOREINFO", 0, made_vmcoreinfo,
				strlen(made_vmcoreinfo));
	fd = made_kdump(&made, &k, false);
	m = must_open(&fd, 1);
	ck_assert_str_eq(m->vmcoreinfo, made_vmcoreinfo);
	pdet_memory_close(m);
	close(fd);

	k.notes_len = 0;
	k.release = "";
	made.vmcoreinfo = true;
	fd = made_kdump(&made, &k, false);
	m = must_open(&fd, 1);
	ck_assert_str_eq(m->vmcoreinfo, made_vmcoreinfo);
	ck_assert_str_eq(m->release, "6.12.0-made");
	pdet_memory_close(m);
	close(fd);

	/* Blocks are larger than pages. */
	made.block = 65536;
	fd = made_kdump(&made, &k, false);
	m = must_open(&fd, 1);
	ck_assert_str_eq(m->vmcoreinfo, made_vmcoreinfo);
	pdet_memory_close(m);
	close(fd);
}
END_TEST

/* Bytes that are not text are not VMCOREINFO. */
START_TEST(vmcoreinfo_that_is_damaged)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();
	struct pdet_memory *m;
	int fd;

	made.vmcoreinfo = true;
	k.vmcoreinfo = "OSRELEASE=5.\x01\n";
	fd = made_kdump(&made, &k, false);
	m = must_open(&fd, 1);
	ck_assert_str_eq(m->vmcoreinfo, made_vmcoreinfo);
	pdet_memory_close(m);
	close(fd);
}
END_TEST

struct parts {
	int fd[4];
};

static struct parts split(struct made *made, bool flattened)
{
	const uint64_t ends[] = { 0, 77, 78, 200, FRAMES };
	struct dump_kdump k = form(DUMP_ZLIB);
	struct parts p;
	unsigned i;

	k.split = true;
	for (i = 0; i < 4; i++) {
		k.first = ends[i];
		k.end = ends[i + 1];
		p.fd[i] = made_kdump(made, &k, flattened);
	}
	return p;
}

START_TEST(parts_in_any_order)
{
	const unsigned orders[][4] = {
		{ 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 },
	};
	struct made made = memory();
	unsigned i, k;

	for (i = 0; i < PDET_COUNT(orders); i++) {
		struct parts p = split(&made, i == 2);
		int fds[4];

		for (k = 0; k < 4; k++)
			fds[k] = p.fd[orders[i][k]];
		check_all(&made, fds, 4);
	}
}
END_TEST

START_TEST(part_of_nothing)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();
	int fds[2];

	k.split = true;
	k.end = FRAMES;
	fds[1] = made_kdump(&made, &k, false);
	k.first = FRAMES;
	fds[0] = made_kdump(&made, &k, false);
	check_all(&made, fds, 2);
}
END_TEST

START_TEST(part_that_is_not_given)
{
	struct made made = memory();
	struct parts p = split(&made, false);
	int fds[2] = { p.fd[3], p.fd[1] };
	struct pdet_memory *m = must_open(fds, 2);
	struct pdet_reader *r = reader(m, CACHE);
	uint64_t i, io = 0;
	char buf[4096];

	for (i = 0; i < FRAMES; i++) {
		bool given = (i >= 77 && i < 78) || i >= 200;
		enum dump_state state = made_state(&made, i);
		int expected = state == DUMP_NOTHING ? -ENOENT :
			state == DUMP_EXCLUDED ? -ENODATA : given ? 0 : -EIO;

		ck_assert_int_eq(m->ops->read_phys(r, i * 4096, buf, 4096),
				 expected);
		io += expected == -EIO;
	}
	ck_assert_uint_gt(io, 50);
	ck_assert_uint_eq(m->missing, io * 4096);
	ck_assert_ptr_nonnull(strstr(m->format, "parts missing"));
	m->ops->reader_free(r);
	pdet_memory_close(m);
	for (i = 0; i < 4; i++)
		close(p.fd[i]);
}
END_TEST

static void refused(const int *fds, size_t n, int code, const char *words)
{
	char error[512];
	int result;

	ck_assert_ptr_null(made_open(fds, n, error, sizeof(error), &result));
	ck_assert_msg(strstr(error, words) != NULL, "%s", error);
	ck_assert_int_eq(result, code);
}

START_TEST(parts_that_do_not_fit)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();
	struct parts p = split(&made, false);
	int whole = made_kdump(&made, &k, false);
	int same[] = { p.fd[0], p.fd[1], p.fd[0] };
	int mixed[] = { p.fd[0], whole };
	int other[2] = { p.fd[0], -1 };
	struct parts p2;

	refused(same, 3, -EINVAL, "same part");
	refused(mixed, 2, -EINVAL, "complete dump");
	made.block = 16384;
	p2 = split(&made, false);
	other[1] = p2.fd[1];
	refused(other, 2, -EINVAL, "different dumps");
}
END_TEST

struct worker {
	pthread_t thread;
	const struct made *made;
	struct pdet_memory *m;
	struct made_counts counts;
	uint64_t odd;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct pdet_reader *r;

	if (w->m->ops->reader_new(w->m, CACHE, &r) < 0)
		return NULL;
	w->counts = made_compare(w->made, r);
	w->odd = made_compare_odd(w->made, r);
	w->m->ops->reader_free(r);
	return NULL;
}

START_TEST(threads_read_at_once)
{
	const struct dump_kdump forms[] = {
		form(DUMP_ZLIB), form(DUMP_ZSTD), form(DUMP_RAW)
	};
	struct made made = memory();
	struct worker w[4];
	unsigned i, k;

	for (k = 0; k < PDET_COUNT(forms); k++) {
		struct pdet_memory *m;
		int fd;

		if (!dump_codec_built(forms[k].codec))
			continue;
		fd = made_kdump(&made, &forms[k], k == 1);
		m = must_open(&fd, 1);
		for (i = 0; i < PDET_COUNT(w); i++) {
			w[i] = (struct worker){ .made = &made, .m = m };
			ck_assert_int_eq(pthread_create(&w[i].thread, NULL,
							work, &w[i]), 0);
		}
		for (i = 0; i < PDET_COUNT(w); i++) {
			pthread_join(w[i].thread, NULL);
			ck_assert_uint_eq(w[i].counts.right, FRAMES + 10);
			ck_assert_uint_eq(w[i].odd, 0);
		}
		pdet_memory_close(m);
		close(fd);
	}
}
END_TEST

/*
 * Blocks before the cut are right. Others are reported and counted as missing.
 */
static void cut_at(struct made *made, int fd, uint64_t n, uint64_t *opened)
{
	int cut = made_copy(fd, n), result;
	struct pdet_memory *m;
	struct pdet_reader *r;
	struct made_counts c;
	char error[512];

	m = made_open(&cut, 1, error, sizeof(error), &result);
	if (!m) {
		ck_assert_str_ne(error, "");
		ck_assert(result == -EIO || result == -EBADMSG);
		close(cut);
		return;
	}
	++*opened;
	r = reader(m, CACHE);
	c = made_compare(made, r);
	ck_assert_uint_eq(c.wrong + c.bad, 0);
	ck_assert_uint_eq(c.right + c.io, made->frames + 10);
	ck_assert_uint_gt(c.io, 0);
	ck_assert_uint_eq(c.io, m->missing / made->block);
	m->ops->reader_free(r);
	pdet_memory_close(m);
	close(cut);
}

START_TEST(cut_anywhere)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = { .seed = 4, .frames = 60, .block = 4096 };
	int fd = made_kdump(&made, &k, false);
	uint64_t size = made_size(fd), n, opened = 0;

	made_keep(&made);
	for (n = 0; n < size; n += n > 14000 && n < 20000 ? 1 : 97)
		cut_at(&made, fd, n, &opened);
	/* From the end of the bitmaps on. */
	ck_assert_uint_gt(opened, 1000);
	for (n = size - 30; n < size; n++)
		cut_at(&made, fd, n, &opened);
	made_forget(&made);
	close(fd);
}
END_TEST

START_TEST(cut_anywhere_flattened)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = { .seed = 4, .frames = 60, .block = 4096 };
	uint64_t size, n, opened = 0;
	int fd;

	made_keep(&made);
	k.cache = 500;
	fd = made_kdump(&made, &k, true);
	size = made_size(fd);
	/* The last ones are only in the end mark. */
	for (n = 0; n + 16 < size; n += 59)
		cut_at(&made, fd, n, &opened);
	ck_assert_uint_gt(opened, 100);
	made_forget(&made);
	close(fd);
}
END_TEST

/*
 * The number of blocks that may be wrong undetected: frames that share a byte
 * of the bitmap whose number of bits is unchanged, and the block of an
 * uncompressed descriptor, which has no checksum.
 */
static uint64_t unseen(int fd, uint64_t at, bool all_bits)
{
	uint32_t flags;

	if (at < 4 * 4096)
		return at >= 3 * 4096 && all_bits ? 8 : 0;
	at -= (at - 4 * 4096) % 24;
	ck_assert_int_eq(pread(fd, &flags, 4, (off_t)at + 12), 4);
	return !flags;
}

/*
 * Damages each byte of headers, bitmaps and descriptors: the dump is rejected,
 * or no frame has another one's block.
 */
START_TEST(headers_damaged)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = { .seed = 4, .frames = 60, .block = 4096 };
	int fd = made_kdump(&made, &k, false), copy = made_copy(fd,
							made_size(fd));
	uint64_t at, end = 4 * 4096 + 60 * 24, bit, opened = 0, right = 0;
	char error[512], byte, was;

	made_keep(&made);
	for (at = 0; at < end; at++) {
		if (at == 464) /* unused bytes */
			at = 4096;
		if (at == 4096 + 104 + strlen(made_vmcoreinfo))
			at = 2 * 4096;
		if (at == 2 * 4096 + 8)
			at = 3 * 4096;
		if (at == 3 * 4096 + 8)
			at = 4 * 4096;
		/* One bit, then all. */
		for (bit = 0; bit < 2; bit++) {
			struct pdet_memory *m;
			struct pdet_reader *r;
			struct made_counts c;

			ck_assert_int_eq(pread(fd, &was, 1, (off_t)at), 1);
			byte = was ^ (char)(bit ? 0xff : 1 << at % 8);
			ck_assert_int_eq(pwrite(copy, &byte, 1, (off_t)at), 1);
			m = made_open(&copy, 1, error, sizeof(error), NULL);
			ck_assert_int_eq(pwrite(copy, &was, 1, (off_t)at), 1);
			if (!m) {
				ck_assert_str_ne(error, "");
				continue;
			}
			ck_assert_int_eq(pwrite(copy, &byte, 1, (off_t)at), 1);
			opened++;
			r = reader(m, 0);
			c = made_compare(&made, r);
			right += c.right;
			ck_assert_msg(c.wrong <= unseen(fd, at, bit),
				      "byte %llu", (unsigned long long)at);
			m->ops->reader_free(r);
			pdet_memory_close(m);
			ck_assert_int_eq(pwrite(copy, &was, 1, (off_t)at), 1);
		}
	}
	ck_assert_uint_gt(opened, 2000);
	/* Most bits belong to one frame or to none. */
	ck_assert_uint_gt(right * 100, opened * 70 * 95);
	made_forget(&made);
	close(copy);
	close(fd);
}
END_TEST

/*
 * A bit of the second bitmap shifts the blocks of all frames behind it, which
 * must be detected.
 */
START_TEST(bitmap_damaged)
{
	struct dump_kdump k = form((enum dump_codec)_i);
	struct made made = { .seed = 5, .frames = 200, .block = 4096 };
	char error[512], byte, was;
	uint64_t frame;
	int fd;

	if (!dump_codec_built(k.codec))
		unit_skip("%s is not built in", dump_codec_name(k.codec));
	fd = made_kdump(&made, &k, false);
	for (frame = 0; frame < 200; frame++) {
		off_t at = 3 * 4096 + (off_t)frame / 8;
		struct pdet_memory *m;

		ck_assert_int_eq(pread(fd, &was, 1, at), 1);
		byte = was ^ (char)(1 << frame % 8);
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
		m = made_open(&fd, 1, error, sizeof(error), NULL);
		ck_assert_msg(!m, "frame %llu", (unsigned long long)frame);
		ck_assert_ptr_nonnull(strstr(error, "contradict"));
		ck_assert_int_eq(pwrite(fd, &was, 1, at), 1);
	}
	close(fd);
}
END_TEST

/* A descriptor that was never written, one with two codecs, ... */
START_TEST(descriptors_damaged)
{
	static const struct {
		uint64_t offset;
		uint32_t size;
		uint32_t flags;
		int result;
	} cases[] = {
		{ 0, 0, 0, -EIO },
		{ 0, 100, 1, -EBADMSG },
		{ 5, 100, 1, -EBADMSG },
		{ UINT64_MAX, 100, 1, -EBADMSG },
		{ 1 << 30, 100, 1, -EIO },
		{ 40000, 0, 1, -EBADMSG },
		{ 40000, 4095, 0, -EBADMSG },
		{ 40000, 8193, 1, -EBADMSG },
		{ 40000, 100, 3, -EBADMSG },
		{ 40000, 100, 1, -EBADMSG },
		{ 40000, UINT32_MAX, 32, -EBADMSG },
	};
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();
	uint64_t first = 0;
	char was[24];
	size_t i;
	int fd;

	made.seed = 9;
	while (made_state(&made, first) != DUMP_BLOCK)
		first++;
	fd = made_kdump(&made, &k, false);
	ck_assert_int_eq(pread(fd, was, 24, 4 * 4096 + 5 * 24), 24);
	for (i = 0; i < PDET_COUNT(cases); i++) {
		char d[24] = "";
		struct pdet_memory *m;
		struct pdet_reader *r;
		struct made_counts c;

		memcpy(d, &cases[i].offset, 8);
		memcpy(d + 8, &cases[i].size, 4);
		memcpy(d + 12, &cases[i].flags, 4);
		ck_assert_int_eq(pwrite(fd, d, 24, 4 * 4096 + 5 * 24), 24);
		m = must_open(&fd, 1);
		r = reader(m, CACHE);
		c = made_compare(&made, r);
		ck_assert_uint_eq(c.wrong, 0);
		ck_assert_uint_eq(c.right, FRAMES + 10 - 1);
		ck_assert_msg((cases[i].result == -EIO ? c.io : c.bad) == 1,
			      "case %zu", i);
		m->ops->reader_free(r);
		pdet_memory_close(m);
	}
	close(fd);
}
END_TEST

static void put32(int fd, uint64_t at, uint32_t value)
{
	ck_assert_int_eq(pwrite(fd, &value, 4, (off_t)at), 4);
}

static int good(void)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();

	return made_kdump(&made, &k, false);
}

static int of_machine(const char *name)
{
	struct dump_kdump k = form(DUMP_ZLIB);
	struct made made = memory();

	k.machine = name;
	return made_kdump(&made, &k, false);
}

/*
 * Headers of a few bytes that claim 16 petabytes: bitmaps of half a terabyte
 * with a few bits set. Reading all of them would take minutes.
 */
START_TEST(bitmaps_of_nothing)
{
	const uint64_t frames = (uint64_t)1 << 42, bitmap = frames / 8;
	struct dump_sink sink = { .flattened = _i };
	char head[3 * 4096], bit = 1;
	struct pdet_reader *r;
	struct pdet_memory *m;
	uint64_t i;
	int fd = good();

	put32(fd, 436, (uint32_t)(2 * bitmap / 4096));
	ck_assert_int_eq(pwrite(fd, &frames, 8, 4096 + 96), 8);
	/* VMCOREINFO is then searched in memory. */
	put32(fd, 4096 + 40, 0);
	ck_assert_int_eq(pread(fd, head, sizeof(head), 0), sizeof(head));
	close(fd);
	sink.fd = memfd_create("dump", MFD_CLOEXEC);
	dump_sink_begin(&sink);
	dump_sink_write(&sink, head, sizeof(head), 0);
	for (i = 0; i < 5000; i++)
		dump_sink_write(&sink, &bit, 1,
				2 * 4096 + 1 + bitmap / 5000 * i);
	dump_sink_write(&sink, &bit, 1, 2 * bitmap + (1 << 20));
	dump_sink_end(&sink);
	m = must_open(&sink.fd, 1);
	ck_assert_uint_gt(m->ranges.data[m->ranges.n - 1].last / 4096,
			  frames / 2);
	r = reader(m, 0);
	ck_assert_int_eq(m->ops->read_phys(r, 0, &bit, 1), -ENODATA);
	ck_assert_uint_eq(m->ops->next_phys(r, 0), UINT64_MAX);
	m->ops->reader_free(r);
	pdet_memory_close(m);
	close(sink.fd);
}
END_TEST

START_TEST(refused_by_name)
{
	int fd = of_machine("i686");

	refused(&fd, 1, -ENOTSUP, "32-bit kernel (i686)");
	fd = of_machine("armv7l");
	refused(&fd, 1, -ENOTSUP, "32-bit kernel (armv7l)");
	/* struct timeval has 8 bytes there. */
	fd = of_machine("");
	put32(fd, 416, 4096);
	put32(fd, 428, 24576);
	refused(&fd, 1, -ENOTSUP, "32-bit kernel");
	fd = of_machine("s390x");
	put32(fd, 8, 6u << 24);
	refused(&fd, 1, -ENOTSUP, "other byte order (s390x)");
	fd = good();
	put32(fd, 428, 5000);
	refused(&fd, 1, -EBADMSG, "block_size");
	fd = good();
	put32(fd, 8, 0);
	refused(&fd, 1, -EBADMSG, "version");
	fd = good();
	put32(fd, 436, 0);
	refused(&fd, 1, -EBADMSG, "bitmap");
	fd = good();
	put32(fd, 432, 1 << 20);
	refused(&fd, 1, -EIO, "cut short in its bitmaps");
}
END_TEST

/* A later version appends data. */
START_TEST(version_to_come)
{
	struct made made = memory();
	int fd = good();

	put32(fd, 8, 7);
	check_all(&made, &fd, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kdump");
	struct pdet_codec *kept = NULL;
	int status;

	/* Loaded once, not for each of thousands of dumps. */
	pdet_codec_open(PDET_CODEC_ZLIB, NULL, &kept);

	unit_loop(suite, every_block, DUMP_N_CODECS);
	unit_loop(suite, every_version, 6);
	unit_test(suite, format_for_people);
	unit_test(suite, diskdump_has_one_bitmap);
	unit_test(suite, machine_from_elsewhere);
	unit_test(suite, vmcoreinfo_from_elsewhere);
	unit_test(suite, vmcoreinfo_that_is_damaged);
	unit_test(suite, parts_in_any_order);
	unit_test(suite, part_of_nothing);
	unit_test(suite, part_that_is_not_given);
	unit_test(suite, parts_that_do_not_fit);
	unit_test(suite, threads_read_at_once);
	unit_test(suite, cut_anywhere);
	unit_test(suite, cut_anywhere_flattened);
	unit_test(suite, headers_damaged);
	unit_loop(suite, bitmap_damaged, DUMP_N_CODECS);
	unit_test(suite, descriptors_damaged);
	unit_loop(suite, bitmaps_of_nothing, 2);
	unit_test(suite, refused_by_name);
	unit_test(suite, version_to_come);
	status = unit_main(suite);
	pdet_codec_close(kept);
	return status;
}
