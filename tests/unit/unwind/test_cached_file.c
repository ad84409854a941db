/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests files of a dump, of which only some pages are there, with this
 * program's own file: the truth is what is read of all of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../unit.h"
#include "unwind/cached_file.h"
#include "unwind/elf_file.h"

#define CACHE 0xffff888000001000ull

struct world {
	char root[1];		/* "" */
	struct pdet_env env;
	struct pdet_libelf *libelf;
	int fd;
	uint64_t size, pages;
	uint64_t asked;		/* number of pages */
	/* What is not there: pages first .. last. */
	uint64_t first, last;
	int error;
};

static int read_page(void *arg, uint64_t cache, uint64_t index, void *buf)
{
	struct world *w = arg;

	ck_assert_uint_eq(cache, CACHE);
	ck_assert_uint_lt(index, w->pages);
	w->asked++;
	if (index >= w->first && index <= w->last)
		return w->error;
	memset(buf, 0, PDET_CACHED_PAGE);
	ck_assert_int_gt(pread(w->fd, buf, PDET_CACHED_PAGE,
			       (off_t)(index * PDET_CACHED_PAGE)), 0);
	return 0;
}

static void start(struct world *w)
{
	*w = (struct world){ .first = UINT64_MAX, .error = -ENODATA };
	w->env.root = w->root;
	w->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(w->fd, 0);
	w->size = (uint64_t)lseek(w->fd, 0, SEEK_END);
	w->pages = (w->size + PDET_CACHED_PAGE - 1) / PDET_CACHED_PAGE;
	if (pdet_libelf_new(&w->libelf, &w->env, "ELF") < 0)
		unit_skip("%s", w->env.error);
}

static void end(struct world *w)
{
	pdet_libelf_free(w->libelf);
	close(w->fd);
}

/* Returns as pdet_elf_file_open(); *lost is as in the file. */
static int read_cached(struct world *w, struct pdet_elf_file *e, int *lost)
{
	const struct pdet_cached_source source = { read_page, w };
	struct pdet_cached_file f;
	int r;

	memset(e, 0, sizeof(*e));
	ck_assert_int_eq(pdet_cached_file_open(&f, &source, CACHE, w->size),
			 0);
	r = pdet_elf_file_open(e, w->libelf, &f.in);
	*lost = f.lost;
	pdet_cached_file_close(&f);
	return r;
}

static void read_all(struct world *w, struct pdet_elf_file *e)
{
	const struct pdet_elf_input in = { .fd = w->fd, .size = w->size };

	memset(e, 0, sizeof(*e));
	ck_assert_int_eq(pdet_elf_file_open(e, w->libelf, &in), 0);
}

START_TEST(all_pages)
{
	struct pdet_elf_file found, truth;
	struct world w;
	int lost;

	start(&w);
	read_all(&w, &truth);
	ck_assert_int_eq(read_cached(&w, &found, &lost), 0);
	ck_assert_int_eq(lost, 0);
	ck_assert_uint_gt(found.n_symbols, 0);
	ck_assert_uint_eq(found.n_symbols, truth.n_symbols);
	ck_assert_mem_eq(found.symbols, truth.symbols,
			 truth.n_symbols * sizeof(*truth.symbols));
	ck_assert_uint_eq(found.names_len, truth.names_len);
	ck_assert_mem_eq(found.names, truth.names, truth.names_len);
	ck_assert_uint_eq(found.header, truth.header);
	ck_assert(pdet_build_id_same(&found.build_id, &truth.build_id) ||
		  !truth.build_id.n);
	/* No page twice. */
	ck_assert_uint_le(w.asked, w.pages);
	pdet_elf_file_free(&found);
	pdet_elf_file_free(&truth);
	end(&w);
}
END_TEST

/* The build id costs a few pages at the start. */
START_TEST(build_id_alone)
{
	struct world w;
	const struct pdet_cached_source source = { read_page, &w };
	struct pdet_cached_file f;
	struct pdet_build_id id;
	struct pdet_elf_file truth;

	start(&w);
	read_all(&w, &truth);
	/* The symbols are at the end. */
	w.first = w.pages / 2;
	w.last = w.pages;
	ck_assert_int_eq(pdet_cached_file_open(&f, &source, CACHE, w.size),
			 0);
	ck_assert_int_eq(pdet_elf_file_build_id(&id, w.libelf, &f.in), 0);
	ck_assert(pdet_build_id_same(&id, &truth.build_id) ||
		  !truth.build_id.n);
	pdet_cached_file_close(&f);
	pdet_elf_file_free(&truth);
	end(&w);
}
END_TEST

/* Whichever page is lost, no name is made up: a symbol is one of the file. */
START_TEST(lost_pages)
{
	struct pdet_elf_file found, truth;
	struct world w;
	uint64_t i;
	int r, lost;

	start(&w);
	read_all(&w, &truth);
	for (i = 0; i < w.pages; i += w.pages / 100 + 1) {
		w.first = w.last = i;
		r = read_cached(&w, &found, &lost);
		ck_assert_int_eq(r, i ? 0 : -ENODATA);
		if (r < 0)
			continue;
		ck_assert(found.n_symbols == truth.n_symbols || lost);
		if (found.whole)
			ck_assert_mem_eq(found.symbols, truth.symbols,
					 truth.n_symbols *
					 sizeof(*truth.symbols));
		pdet_elf_file_free(&found);
	}
	pdet_elf_file_free(&truth);
	end(&w);
}
END_TEST

static bool find_libc(struct world *w)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096], path[4096] = "";
	int fd = -1;

	ck_assert_ptr_nonnull(f);
	while (fd < 0 && fgets(line, sizeof(line), f))
		if (strstr(line, "/libc") &&
		    sscanf(line, "%*s %*s %*s %*s %*s %4095s", path) == 1)
			fd = open(path, O_RDONLY | O_CLOEXEC);
	fclose(f);
	if (fd < 0)
		return false;
	close(w->fd);
	w->fd = fd;
	w->size = (uint64_t)lseek(fd, 0, SEEK_END);
	w->pages = (w->size + PDET_CACHED_PAGE - 1) / PDET_CACHED_PAGE;
	return true;
}

/* The list of sections is at the end, which no program reads. The dynamic
 * linker finds its symbols without it. */
START_TEST(lost_sections)
{
	struct pdet_elf_file found, truth;
	struct world w;
	Elf64_Ehdr head;
	int lost;

	start(&w);
	if (!find_libc(&w))
		unit_skip("there is no libc");
	read_all(&w, &truth);
	if (truth.whole)
		unit_skip("this libc has all symbols");
	ck_assert_uint_gt(truth.n_symbols, 1000);
	ck_assert_int_eq(pread(w.fd, &head, sizeof(head), 0), sizeof(head));
	w.first = head.e_shoff / PDET_CACHED_PAGE;
	w.last = w.pages;
	ck_assert_int_eq(read_cached(&w, &found, &lost), 0);
	ck_assert_int_eq(lost, -ENODATA);
	ck_assert_uint_eq(found.n_symbols, truth.n_symbols);
	ck_assert_mem_eq(found.symbols, truth.symbols,
			 truth.n_symbols * sizeof(*truth.symbols));
	ck_assert_mem_eq(found.names, truth.names, truth.names_len);
	ck_assert_uint_eq(found.header, truth.header);
	pdet_elf_file_free(&found);
	pdet_elf_file_free(&truth);
	end(&w);
}
END_TEST

/* A damaged page is not another kind of file, and an address that leads
 * nowhere is a page that the dump lacks. */
START_TEST(reasons)
{
	static const struct {
		int error, said;
	} cases[] = {
		{ -EBADMSG, -EIO }, { -ENOENT, -ENODATA }, { -EIO, -EIO },
		{ -ETIMEDOUT, -ETIMEDOUT },
	};
	struct pdet_elf_file e;
	struct world w;
	int lost;

	start(&w);
	w.first = 0;
	w.last = w.pages;
	w.error = cases[_i].error;
	ck_assert_int_eq(read_cached(&w, &e, &lost), cases[_i].said);
	ck_assert_int_eq(lost, cases[_i].said);
	end(&w);
}
END_TEST

START_TEST(sizes)
{
	const struct pdet_cached_source source = { read_page, NULL };
	static const struct {
		uint64_t cache, size;
		int error;
	} cases[] = {
		{ 0, 4096, -ENODATA }, { CACHE, 0, -ENODATA },
		{ CACHE, (uint64_t)1 << 31, -EFBIG },
		{ CACHE, UINT64_MAX, -EFBIG }, { CACHE, 1, 0 },
		{ CACHE, 1 << 30, 0 },
	};
	struct pdet_cached_file f;

	ck_assert_int_eq(pdet_cached_file_open(&f, &source, cases[_i].cache,
					       cases[_i].size),
			 cases[_i].error);
	pdet_cached_file_close(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cached_file");

	unit_test(s, all_pages);
	unit_test(s, build_id_alone);
	unit_test(s, lost_pages);
	unit_test(s, lost_sections);
	unit_loop(s, reasons, 4);
	unit_loop(s, sizes, 6);
	return unit_main(s);
}
