/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests cached pages of files that the tests make, on the running kernel. */
#include <linux/falloc.h>
#include <linux/loop.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "backend/procfs/file.h"
#include "../../cache.h"
#include "../../mounts.h"

static struct pdet_file *open_file(struct pdet_session *s, const char *path)
{
	struct pdet_file *f;
	int r = procfs_file_open(s, path, false, &f);

	ck_assert_msg(r == 0, "%s", s->env.error);
	return f;
}

static void next(struct pdet_session *s, struct pdet_file *f, uint64_t *at,
		 uint64_t end, struct pdet_batch *b)
{
	int r;

	pdet_batch_clear(b, 1);
	r = procfs_file_pages(s, f, at, end, b);
	ck_assert_msg(r == 0, "%s", s->env.error);
}

/* The frames of a file, from this process's page tables. */
static void own_pfns(int fd, uint64_t first, uint32_t n, uint64_t *ret)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	volatile char *p = mmap(NULL, n * cache_page, PROT_READ, MAP_SHARED,
				fd, (off_t)(first * cache_page));
	uint32_t i;

	ck_assert_int_ge(pagemap, 0);
	ck_assert_ptr_ne((void *)p, MAP_FAILED);
	for (i = 0; i < n; i++)
		(void)p[i * cache_page];
	ck_assert_int_eq(pread(pagemap, ret, n * 8,
			       (off_t)((uintptr_t)p / cache_page * 8)),
			 (ssize_t)n * 8);
	for (i = 0; i < n; i++)
		ret[i] &= PDET_PM_PFN_MASK;
	munmap((void *)p, n * cache_page);
	close(pagemap);
}

/* Pages that mincore calls resident. */
static uint32_t resident(int fd, uint32_t n, unsigned char *ret)
{
	void *p = mmap(NULL, n * cache_page, PROT_READ, MAP_SHARED, fd, 0);
	uint32_t i, sum = 0;

	ck_assert_ptr_ne(p, MAP_FAILED);
	ck_assert_int_eq(mincore(p, n * cache_page, ret), 0);
	munmap(p, n * cache_page);
	for (i = 0; i < n; i++)
		sum += ret[i] &= 1;
	return sum;
}

/* --- what rows say --- */

/* Counts pages. Returns negative errno on failure. */
static int count_pages(struct pdet_session *s, struct pdet_file *f,
		       uint64_t first, uint64_t n, uint64_t *ret)
{
	struct pdet_file_count count;
	int r = procfs_file_count(s, f, first, n, &count);

	if (r < 0)
		return r;
	ck_assert(!count.lost && !count.why);
	*ret = count.pages;
	return 0;
}

START_TEST(every_page_has_a_row)
{
	enum { PAGES = 5000, STEP = 3 };
	struct pdet_session *s = cache_start();
	const bool sees = cache_sees_pfns();
	uint64_t at = 0, expected = 0, pfn[1];
	struct pdet_batch b;
	struct pdet_file *f;
	struct stat st;
	char path[512];
	uint32_t i;
	int fd;

	/* The facts that prepare() finds. */
	cache_procfs.pfn_hidden = !sees;
	cache_make_dir();
	fd = cache_file(cache_name(path, cache_dir, "f"), PAGES, STEP);
	ck_assert_int_eq(fstat(fd, &st), 0);
	f = open_file(s, path);
	ck_assert_uint_eq(f->pages, PAGES);
	ck_assert_uint_eq(f->kind, PAGEDET_KIND_SHMEM);
	ck_assert(!f->block);
	/* Uses a small batch repeatedly. */
	cache_batch(&b, 100, true);
	while (at < PAGES) {
		next(s, f, &at, PAGES, &b);
		for (i = 0; i < b.n; i++, expected += STEP) {
			ck_assert_uint_eq(cache_value(&b, i,
					  PAGEDET_FIELD_INDEX), expected);
			ck_assert_uint_eq(cache_value(&b, i,
					  PAGEDET_FIELD_KIND),
					  PAGEDET_KIND_SHMEM);
			ck_assert_uint_eq(cache_value(&b, i,
					  PAGEDET_FIELD_INODE), st.st_ino);
			ck_assert_uint_eq(cache_value(&b, i,
					  PAGEDET_FIELD_DEV),
					  (uint64_t)major(st.st_dev) << 32 |
					  minor(st.st_dev));
			ck_assert_str_eq(pdet_strtab_get(&b.strings,
					 cache_value(&b, i,
						     PAGEDET_FIELD_PATH),
					 NULL), path);
			if (!sees) {
				ck_assert_uint_eq(pdet_batch_state(&b, i,
						  PAGEDET_FIELD_NOTES),
						  PAGEDET_NOT_ASKED);
				ck_assert_uint_eq(pdet_batch_state(&b, i,
						  PAGEDET_FIELD_PFN),
						  PAGEDET_NO_ACCESS);
				continue;
			}
			ck_assert_uint_eq(cache_value(&b, i,
					  PAGEDET_FIELD_NOTES),
				PAGEDET_NOTE(PAGEDET_NOTE_PERTURBED));
			own_pfns(fd, expected, 1, pfn);
			ck_assert_uint_ne(*pfn, 0);
			ck_assert_uint_eq(cache_value(&b, i,
					  PAGEDET_FIELD_PFN), *pfn);
		}
		ck_assert_uint_gt(at, expected - STEP);
	}
	ck_assert_uint_eq(expected, (PAGES + STEP - 1) / STEP * STEP);
	pdet_batch_free(&b);
	procfs_file_close(f);
	close(fd);
	cache_remove(cache_dir);
}
END_TEST

START_TEST(ranges_are_kept)
{
	struct pdet_session *s = cache_start();
	uint64_t at = 10, count;
	struct pdet_batch b;
	struct pdet_file *f;
	char path[512];

	cache_make_dir();
	close(cache_file(cache_name(path, cache_dir, "f"), 40, 1));
	f = open_file(s, path);
	cache_batch(&b, 64, false);
	next(s, f, &at, 13, &b);
	ck_assert_uint_eq(at, 13);
	ck_assert_uint_eq(b.n, 3);
	ck_assert_uint_eq(cache_value(&b, 0, PAGEDET_FIELD_INDEX), 10);
	ck_assert_uint_eq(cache_value(&b, 2, PAGEDET_FIELD_INDEX), 12);
	/* Nothing was mapped, because no frames are wanted. */
	ck_assert_uint_eq(pdet_batch_state(&b, 0, PAGEDET_FIELD_NOTES),
			  PAGEDET_NOT_ASKED);
	/* Past the end there is nothing. */
	at = 38;
	next(s, f, &at, UINT64_MAX, &b);
	ck_assert_uint_eq(b.n, 2);
	ck_assert_uint_eq(at, 40);
	at = 50;
	next(s, f, &at, 60, &b);
	ck_assert_uint_eq(b.n, 0);
	ck_assert_int_eq(count_pages(s, f, 0, UINT64_MAX, &count), 0);
	ck_assert_uint_eq(count, 40);
	ck_assert_int_eq(count_pages(s, f, 38, 10, &count), 0);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(count_pages(s, f, 40, 10, &count), 0);
	ck_assert_uint_eq(count, 0);
	pdet_batch_free(&b);
	procfs_file_close(f);
	cache_remove(cache_dir);
}
END_TEST

START_TEST(a_sparse_terabyte_is_quick)
{
	enum { FOUND = 300 };
	struct pdet_session *s = cache_start();
	const uint64_t pages = ((uint64_t)1 << 40) / cache_page;
	const uint64_t step = pages / FOUND;
	uint64_t at = 0, count, rows = 0;
	struct timespec before, after;
	struct pdet_batch b;
	struct pdet_file *f;
	char path[512];
	uint32_t i;

	if (!cache_has_call(CACHE_STAT_CALL))
		unit_skip("needs cachestat(2)");
	cache_make_dir();
	close(cache_file(cache_name(path, cache_dir, "f"), pages, step));
	f = open_file(s, path);
	ck_assert_int_eq(count_pages(s, f, 0, pages, &count), 0);
	cache_batch(&b, 64, true);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	while (at < pages) {
		next(s, f, &at, pages, &b);
		for (i = 0; i < b.n; i++, rows++)
			ck_assert_uint_eq(cache_value(&b, i,
					  PAGEDET_FIELD_INDEX), rows * step);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	ck_assert_uint_ge(count, FOUND);
	ck_assert_uint_eq(rows, count);
	/* Examining each page would take at least 10 s. */
	ck_assert_int_lt(after.tv_sec - before.tv_sec, 3);
	pdet_batch_free(&b);
	procfs_file_close(f);
	cache_remove(cache_dir);
}
END_TEST

struct part {
	struct pdet_file *f;
	uint64_t first, end, rows;
};

static void *walk_part(void *arg)
{
	struct procfs_session s;
	struct part *part = arg;
	uint64_t at = part->first, words[PROCFS_WORDS];
	struct pdet_batch b;
	uint32_t i;

	cache_open_session(&s, words);
	cache_batch(&b, 333, true);
	while (at < part->end) {
		next(&s.session, part->f, &at, part->end, &b);
		for (i = 0; i < b.n; i++, part->rows++)
			ck_assert_uint_eq(cache_value(&b, i,
					  PAGEDET_FIELD_INDEX),
					  part->first + part->rows);
		ck_assert_int_eq(procfs_file_recheck(&s.session, part->f, &b,
						     0, b.n), 0);
	}
	pdet_batch_free(&b);
	return NULL;
}

START_TEST(sessions_run_in_parallel)
{
	enum { PAGES = 20000, THREADS = 4 };
	struct pdet_session *s = cache_start();
	struct part part[THREADS];
	pthread_t thread[THREADS];
	struct pdet_file *f;
	char path[512];
	int i;

	cache_make_dir();
	close(cache_file(cache_name(path, cache_dir, "f"), PAGES, 1));
	f = open_file(s, path);
	for (i = 0; i < THREADS; i++) {
		part[i] = (struct part){ f, PAGES / THREADS * (uint64_t)i,
					 PAGES / THREADS * (uint64_t)(i + 1),
					 0 };
		ck_assert_int_eq(pthread_create(&thread[i], NULL, walk_part,
						&part[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		ck_assert_uint_eq(part[i].rows, PAGES / THREADS);
	}
	procfs_file_close(f);
	cache_remove(cache_dir);
}
END_TEST

/* --- what looking must not do --- */

/* Brings some pages of a file on a disk into the cache, and no others. */
static int half_cached(const char *path, uint32_t pages)
{
	int fd = cache_file(path, pages, 1);
	char byte;
	uint32_t i;

	ck_assert_int_eq(fsync(fd), 0);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (i = 0; i < pages; i += 1 + i % 40)
		ck_assert_int_eq(pread(fd, &byte, 1,
				       (off_t)(i * cache_page)), 1);
	return fd;
}

/* With @lock for mlockall(), before the file is opened or between batches. */
static void look_at_half(struct pdet_session *s, int lock, bool paused)
{
	enum { PAGES = 6000 };
	unsigned char before[PAGES], after[PAGES], row[PAGES] = { 0 };
	uint64_t at = 0;
	struct pdet_batch b;
	struct pdet_file *f;
	char path[512];
	uint32_t i;
	int fd;

	fd = half_cached(cache_name(path, cache_disk, "f"), PAGES);
	resident(fd, PAGES, before);
	/* From here on every new mapping is populated, */
	ck_assert_int_eq(lock && !paused ? mlockall(lock) : 0, 0);
	f = open_file(s, path);
	cache_batch(&b, 512, true);
	while (at < PAGES) {
		next(s, f, &at, PAGES, &b);
		for (i = 0; i < b.n; i++)
			row[cache_value(&b, i, PAGEDET_FIELD_INDEX)] = 1;
		ck_assert_int_eq(procfs_file_recheck(s, f, &b, 0, b.n), 0);
		/* and every existing one. */
		ck_assert_int_eq(lock && paused ? mlockall(lock) : 0, 0);
		paused = false;
	}
	ck_assert_int_eq(munlockall(), 0);
	resident(fd, PAGES, after);
	/* The kernel may drop pages any time, but no one reads any. */
	for (i = 0; i < PAGES; i++) {
		ck_assert_int_le(after[i], before[i]);
		ck_assert_int_le(row[i], before[i]);
		ck_assert_int_ge(row[i], after[i]);
	}
	pdet_batch_free(&b);
	procfs_file_close(f);
	close(fd);
}

START_TEST(no_page_is_brought_in)
{
	struct pdet_session *s = cache_start();

	cache_make_disk();
	look_at_half(s, 0, false);
	cache_remove(cache_disk);
}
END_TEST

/* As in a program that must not wait for its own memory. */
START_TEST(no_page_is_brought_in_under_mlockall)
{
	struct pdet_session *s = cache_start();

	if (geteuid())
		unit_skip("needs to lock memory without limit");
	cache_make_disk();
	look_at_half(s, MCL_FUTURE, false);
	cache_remove(cache_disk);
}
END_TEST

/* A mapping kept until the next batch must not be populated. */
START_TEST(no_page_is_brought_in_by_a_later_mlockall)
{
	struct pdet_session *s = cache_start();

	if (geteuid())
		unit_skip("needs to lock memory without limit");
	cache_make_disk();
	look_at_half(s, MCL_CURRENT | MCL_FUTURE, true);
	cache_remove(cache_disk);
}
END_TEST

/* Reading the mapping past the end would raise a signal and end the test. */
START_TEST(a_file_may_shrink_meanwhile)
{
	enum { PAGES = 1000, LEFT = 10 };
	struct pdet_session *s = cache_start();
	uint64_t words[PAGES];
	uint8_t state[PAGES];
	struct procfs_window w;
	struct procfs_cached *f;
	struct pdet_file *file;
	struct pdet_batch b;
	uint64_t at = 0;
	char path[512];
	uint32_t i;
	int fd;

	cache_make_dir();
	fd = cache_file(cache_name(path, cache_dir, "f"), PAGES, 1);
	file = open_file(s, path);
	f = procfs_cached_of(file);
	ck_assert_int_eq(procfs_window_map(f, 0, PAGES, &w), 0);
	memset(state, PROCFS_CACHED, PAGES);
	ck_assert_int_eq(procfs_window_resident(&w, 0, PAGES, state), 0);
	for (i = 0; i < PAGES; i++)
		ck_assert_uint_eq(state[i], PROCFS_CACHED | PROCFS_RESIDENT);
	ck_assert_int_eq(ftruncate(fd, (off_t)(LEFT * cache_page)), 0);
	ck_assert_int_eq(procfs_window_entries(&w, f->own->pagemap, state,
					       words), 0);
	for (i = 0; i < PAGES; i++) {
		ck_assert_int_eq(words[i] >> 63, i < LEFT);
		ck_assert_uint_eq(state[i] & PROCFS_CACHED, i < LEFT);
	}
	procfs_window_unmap(&w);
	/* The file object still has the former size. */
	cache_batch(&b, PAGES, true);
	next(s, file, &at, PAGES, &b);
	ck_assert_uint_eq(b.n, LEFT);
	ck_assert_uint_eq(at, PAGES);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(procfs_file_recheck(s, file, &b, 0, b.n), 0);
	pdet_batch_free(&b);
	procfs_file_close(file);
	close(fd);
	cache_remove(cache_dir);
}
END_TEST

struct cutter {
	int fd;
	size_t size;
	char *data;
	bool stop;
};

static void *cut_and_grow(void *arg)
{
	struct cutter *c = arg;

	while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED))
		if (ftruncate(c->fd, 1) ||
		    pwrite(c->fd, c->data, c->size, 0) < 0)
			break;
	return NULL;
}

START_TEST(a_file_may_shrink_at_any_time)
{
	enum { PAGES = 600 };
	struct pdet_session *s = cache_start();
	struct cutter cutter = { 0 };
	struct pdet_batch b;
	struct pdet_file *f;
	pthread_t thread;
	char path[512];
	uint64_t at;
	uint32_t i;
	int times;

	cache_make_dir();
	cutter.fd = cache_file(cache_name(path, cache_dir, "f"), PAGES, 1);
	cutter.size = PAGES * cache_page;
	cutter.data = calloc(1, cutter.size);
	ck_assert_ptr_nonnull(cutter.data);
	f = open_file(s, path);
	cache_batch(&b, 100, true);
	ck_assert_int_eq(pthread_create(&thread, NULL, cut_and_grow, &cutter),
			 0);
	for (times = 0; times < 300; times++) {
		for (at = 0; at < PAGES;) {
			next(s, f, &at, PAGES, &b);
			for (i = 0; i < b.n; i++)
				ck_assert_uint_lt(cache_value(&b, i,
						  PAGEDET_FIELD_INDEX), PAGES);
			ck_assert_int_eq(procfs_file_recheck(s, f, &b, 0, b.n),
					 0);
		}
	}
	__atomic_store_n(&cutter.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	pdet_batch_free(&b);
	procfs_file_close(f);
	close(cutter.fd);
	free(cutter.data);
	cache_remove(cache_dir);
}
END_TEST

START_TEST(a_file_without_a_name_has_pages)
{
	struct pdet_session *s = cache_start();
	struct pdet_batch b;
	struct pdet_file *f;
	uint64_t at = 0;
	char path[512];

	cache_make_dir();
	close(cache_file(cache_name(path, cache_dir, "f"), 9, 1));
	f = open_file(s, path);
	ck_assert_int_eq(unlink(path), 0);
	cache_batch(&b, 64, true);
	next(s, f, &at, 9, &b);
	ck_assert_uint_eq(b.n, 9);
	pdet_batch_free(&b);
	procfs_file_close(f);
	cache_remove(cache_dir);
}
END_TEST

/* --- pages that cannot be located --- */

/* fallocate() on tmpfs leaves pages that are not filled yet. */
START_TEST(incomplete_pages_are_not_touched)
{
	enum { PAGES = 700, FILLED = 100 };
	struct pdet_session *s = cache_start();
	unsigned char vec[PAGES];
	uint64_t at = 0, count;
	struct pdet_batch b;
	struct pdet_file *f;
	char path[512];
	uint32_t i;
	int fd;

	if (!cache_has_call(CACHE_STAT_CALL) || !cache_sees_pfns())
		unit_skip("needs cachestat(2) and root");
	cache_make_dir();
	fd = cache_file(cache_name(path, cache_dir, "f"), PAGES, 0);
	for (i = 0; i < FILLED; i++)
		ck_assert_int_eq(pwrite(fd, "x", 1, (off_t)(i * 5 *
							    cache_page)), 1);
	ck_assert_int_eq(fallocate(fd, 0, 0, PAGES * (off_t)cache_page), 0);
	f = open_file(s, path);
	ck_assert_int_eq(count_pages(s, f, 0, PAGES, &count), 0);
	if (resident(fd, PAGES, vec) != FILLED) {
		procfs_file_close(f);
		cache_remove(cache_dir);
		unit_skip("needs folios of one page");
	}
	ck_assert_uint_eq(count, PAGES);
	cache_batch(&b, PAGES, true);
	next(s, f, &at, PAGES, &b);
	ck_assert_uint_eq(b.n, PAGES);
	for (i = 0; i < PAGES; i++) {
		bool filled = i % 5 == 0 && i / 5 < FILLED;

		ck_assert_uint_eq(cache_value(&b, i, PAGEDET_FIELD_INDEX), i);
		ck_assert_uint_eq(pdet_batch_state(&b, i, PAGEDET_FIELD_PFN),
				  filled ? PAGEDET_HAVE : PAGEDET_UNSUPPORTED);
	}
	ck_assert_int_eq(procfs_file_recheck(s, f, &b, 0, b.n), 0);
	ck_assert_uint_eq(resident(fd, PAGES, vec), FILLED);
	pdet_batch_free(&b);
	procfs_file_close(f);
	close(fd);
	cache_remove(cache_dir);
}
END_TEST

START_TEST(pages_that_went_are_torn)
{
	enum { PAGES = 3000 };
	struct pdet_session *s = cache_start();
	const uint64_t torn = PAGEDET_NOTE(PAGEDET_NOTE_TORN);
	struct pdet_batch b;
	struct pdet_file *f;
	uint64_t at = 0;
	char path[512];
	uint32_t i;
	int fd;

	if (!cache_sees_pfns())
		unit_skip("needs to see page frame numbers");
	cache_make_dir();
	fd = cache_file(cache_name(path, cache_dir, "f"), PAGES, 1);
	f = open_file(s, path);
	cache_batch(&b, PAGES, true);
	next(s, f, &at, PAGES, &b);
	ck_assert_uint_eq(b.n, PAGES);
	ck_assert_int_eq(procfs_file_recheck(s, f, &b, 0, b.n), 0);
	for (i = 0; i < PAGES; i++)
		ck_assert_uint_eq(cache_value(&b, i, PAGEDET_FIELD_NOTES) &
				  torn, 0);
	/* Every 7th page is gone, and one has moved. */
	for (i = 0; i < PAGES; i += 7)
		ck_assert_int_eq(fallocate(fd, FALLOC_FL_PUNCH_HOLE |
					   FALLOC_FL_KEEP_SIZE,
					   (off_t)(i * cache_page),
					   (off_t)cache_page), 0);
	b.value[PAGEDET_FIELD_PFN][1000]++;
	/* The first rows are not rechecked. */
	ck_assert_int_eq(procfs_file_recheck(s, f, &b, 14, b.n - 14), 0);
	for (i = 0; i < PAGES; i++)
		ck_assert_uint_eq(cache_value(&b, i, PAGEDET_FIELD_NOTES) &
				  torn,
				  i >= 14 && (i % 7 == 0 || i == 1000) ?
				  torn : 0);
	pdet_batch_free(&b);
	procfs_file_close(f);
	close(fd);
	cache_remove(cache_dir);
}
END_TEST

/* Sets the current flags. */
static uint64_t put_flags(struct pdet_batch *b)
{
	int fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	uint64_t word, all = 0;
	uint32_t i;

	ck_assert_int_ge(fd, 0);
	for (i = 0; i < b->n; i++, all |= word) {
		ck_assert_int_eq(pread(fd, &word, 8,
				 (off_t)cache_value(b, i, PAGEDET_FIELD_PFN) *
				 8), 8);
		pdet_put(b, i, PAGEDET_FIELD_FLAGS, word, PROCFS);
		pdet_put(b, i, PAGEDET_FIELD_FLAGS_KNOWN, ~(uint64_t)0,
			 PROCFS);
	}
	close(fd);
	return all;
}

/* Only one page of a large folio is rechecked, unless it has moved. */
START_TEST(pages_of_large_folios_are_torn)
{
	enum { PAGES = 4096, CHANGED = 1300 };
	struct pdet_session *s = cache_start();
	const uint64_t torn = PAGEDET_NOTE(PAGEDET_NOTE_TORN);
	struct pdet_batch b;
	struct pdet_file *f;
	uint64_t at = 0, flags;
	const char *why;
	char path[512];
	uint32_t i;
	int fd;

	if (!cache_sees_pfns())
		unit_skip("needs root");
	why = mounts_of_our_own();
	if (why)
		unit_skip("%s", why);
	cache_make_dir();
	if (mount("t", cache_dir, "tmpfs", 0, "huge=always")) {
		rmdir(cache_dir);
		unit_skip("needs tmpfs with huge pages");
	}
	fd = cache_file(cache_name(path, cache_dir, "f"), PAGES, 1);
	f = open_file(s, path);
	cache_batch(&b, PAGES, true);
	next(s, f, &at, PAGES, &b);
	ck_assert_uint_eq(b.n, PAGES);
	flags = put_flags(&b);
	ck_assert_int_eq(procfs_file_recheck(s, f, &b, 0, b.n), 0);
	for (i = 0; i < PAGES; i++)
		ck_assert_uint_eq(cache_value(&b, i, PAGEDET_FIELD_NOTES) &
				  torn, 0);
	b.value[PAGEDET_FIELD_PFN][CHANGED]++;
	ck_assert_int_eq(fallocate(fd, FALLOC_FL_PUNCH_HOLE |
				   FALLOC_FL_KEEP_SIZE, 0, (off_t)cache_page),
			 0);
	ck_assert_int_eq(procfs_file_recheck(s, f, &b, 0, b.n), 0);
	for (i = 0; i < PAGES; i++)
		ck_assert_uint_eq(cache_value(&b, i, PAGEDET_FIELD_NOTES) &
				  torn, i == 0 || i == CHANGED ? torn : 0);
	pdet_batch_free(&b);
	procfs_file_close(f);
	close(fd);
	ck_assert_int_eq(umount2(cache_dir, MNT_DETACH), 0);
	cache_remove(cache_dir);
	if (!(flags & KPF(COMPOUND_TAIL)))
		unit_skip("needs a large folio");
}
END_TEST

/*
 * The page was discarded and allocated again; its frame had another use
 * between.
 */
START_TEST(flags_of_another_page_are_torn)
{
	enum { PAGES = 8 };
	static const uint64_t other[PAGES] = {
		[1] = KPF(BUDDY), [2] = KPF(SLAB) | KPF(COMPOUND_TAIL),
		[4] = KPF(PGTABLE), [5] = KPF(ANON) | KPF(LRU),
		[7] = KPF(NOPAGE),
	};
	struct pdet_session *s = cache_start();
	struct pdet_batch b;
	struct pdet_file *f;
	uint64_t at = 0;
	char path[512];
	uint32_t i;
	int fd;

	if (!cache_sees_pfns())
		unit_skip("needs to see page frame numbers");
	cache_make_dir();
	fd = cache_file(cache_name(path, cache_dir, "f"), PAGES, 1);
	f = open_file(s, path);
	cache_batch(&b, PAGES, true);
	next(s, f, &at, PAGES, &b);
	ck_assert_uint_eq(b.n, PAGES);
	put_flags(&b);
	for (i = 0; i < PAGES; i++)
		if (other[i])
			pdet_put(&b, i, PAGEDET_FIELD_FLAGS, other[i], PROCFS);
	ck_assert_int_eq(procfs_file_recheck(s, f, &b, 0, b.n), 0);
	for (i = 0; i < PAGES; i++)
		ck_assert_uint_eq(!!(cache_value(&b, i, PAGEDET_FIELD_NOTES) &
				     PAGEDET_NOTE(PAGEDET_NOTE_TORN)),
				  !!other[i]);
	pdet_batch_free(&b);
	procfs_file_close(f);
	close(fd);
	cache_remove(cache_dir);
}
END_TEST

/*
 * Makes a loop device with some blocks cached, as a filesystem's metadata is.
 */
static int make_loop(char *path, size_t size, const char *image, int *image_fd)
{
	int control, number, fd;

	*image_fd = cache_file(image, 4096, 16);
	control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (control < 0)
		return -1;
	number = ioctl(control, LOOP_CTL_GET_FREE);
	close(control);
	snprintf(path, size, "/dev/loop%d", number);
	fd = number < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -1;
	/* udevd reads no device that somebody else has locked */
	if (flock(fd, LOCK_EX) || ioctl(fd, LOOP_SET_FD, *image_fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

START_TEST(block_devices_have_pages)
{
	enum { PAGES = 4096 };
	struct pdet_session *s = cache_start();
	static unsigned char before[PAGES], after[PAGES];
	uint64_t at = 0, pfn;
	char path[512], device[64], byte;
	struct pdet_file *f;
	struct pdet_batch b;
	uint32_t i, sum;
	int fd, image;

	cache_make_dir();
	fd = make_loop(device, sizeof(device),
		       cache_name(path, cache_dir, "image"), &image);
	if (fd < 0) {
		cache_remove(cache_dir);
		unit_skip("needs a loop device");
	}
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (i = 3; i < PAGES; i += 100)
		ck_assert_int_eq(pread(fd, &byte, 1,
				       (off_t)(i * cache_page)), 1);
	sum = resident(fd, PAGES, before);
	ck_assert_uint_gt(sum, 0);
	ck_assert_int_eq(procfs_file_open(s, device, false, &f), -EINVAL);
	ck_assert_int_eq(procfs_file_open(s, device, true, &f), 0);
	ck_assert_uint_eq(f->pages, PAGES);
	ck_assert(f->block);
	cache_batch(&b, PAGES, true);
	next(s, f, &at, PAGES, &b);
	ck_assert_uint_ge(b.n, sum);
	for (i = 0; i < b.n; i++) {
		uint64_t index = cache_value(&b, i, PAGEDET_FIELD_INDEX);

		/* The inode behind a device is not visible. */
		ck_assert_uint_eq(pdet_batch_state(&b, i, PAGEDET_FIELD_INODE),
				  PAGEDET_UNSUPPORTED);
		if (!before[index] || !cache_sees_pfns())
			continue;
		own_pfns(fd, index, 1, &pfn);
		ck_assert_uint_eq(cache_value(&b, i, PAGEDET_FIELD_PFN), pfn);
	}
	resident(fd, PAGES, after);
	for (i = 0; i < PAGES; i++)
		ck_assert_int_le(after[i], before[i]);
	pdet_batch_free(&b);
	procfs_file_close(f);
	ioctl(fd, LOOP_CLR_FD, 0);
	close(fd);
	close(image);
	cache_remove(cache_dir);
}
END_TEST

/* --- privilege --- */

static char shared_path[512];

static void walk_of_a_stranger(void)
{
	struct pdet_session *s = cache_start();
	struct pdet_file *f = open_file(s, shared_path);
	struct pdet_batch b;
	uint64_t at = 0, n;

	ck_assert_int_eq(count_pages(s, f, 0, 10, &n), -EACCES);
	cache_batch(&b, 64, true);
	ck_assert_int_eq(procfs_file_pages(s, f, &at, 10, &b), -EACCES);
	ck_assert_ptr_nonnull(strstr(s->env.error, shared_path));
	ck_assert_ptr_nonnull(strstr(s->env.error, "permission denied"));
	ck_assert_ptr_nonnull(strstr(s->env.advice, "CAP_FOWNER"));
	ck_assert_uint_eq(b.n, 0);
	pdet_batch_free(&b);
	procfs_file_close(f);
}

/* mincore would call each page of such a file resident. */
START_TEST(a_strangers_file_is_refused)
{
	cache_need_root();
	cache_start();
	cache_make_dir();
	close(cache_file(cache_name(shared_path, cache_dir, "f"), 10, 3));
	cache_as_nobody(walk_of_a_stranger);
	cache_remove(cache_dir);
}
END_TEST

static void walk_of_the_owner(void)
{
	struct pdet_session *s = cache_start();
	struct pdet_file *f = open_file(s, shared_path);
	struct pdet_batch b;
	uint64_t at = 0;
	uint32_t i;

	cache_batch(&b, 64, true);
	next(s, f, &at, 10, &b);
	ck_assert_uint_eq(b.n, 4);
	for (i = 0; i < b.n; i++) {
		ck_assert_uint_eq(cache_value(&b, i, PAGEDET_FIELD_INDEX),
				  i * 3);
		ck_assert_uint_eq(pdet_batch_state(&b, i, PAGEDET_FIELD_PFN),
				  PAGEDET_NO_ACCESS);
	}
	pdet_batch_free(&b);
	procfs_file_close(f);
}

START_TEST(without_privilege_only_numbers_are_missing)
{
	cache_need_root();
	cache_start();
	cache_make_dir();
	close(cache_file(cache_name(shared_path, cache_dir, "f"), 10, 3));
	ck_assert_int_eq(chmod(shared_path, 0666), 0);
	cache_as_nobody(walk_of_the_owner);
	cache_remove(cache_dir);
}
END_TEST

/* --- what cannot be walked --- */

START_TEST(other_things_are_refused)
{
	struct pdet_session *s = cache_start();
	struct pdet_file *f;
	char path[512];
	int r;

	cache_make_dir();
	r = procfs_file_open(s, cache_dir, false, &f);
	ck_assert_int_eq(r, -EINVAL);
	ck_assert_ptr_nonnull(strstr(cache_words(), "is a directory"));
	/* Opening a FIFO for reading would wait for a writer. */
	ck_assert_int_eq(mkfifo(cache_name(path, cache_dir, "p"), 0600), 0);
	r = procfs_file_open(s, path, false, &f);
	ck_assert_int_eq(r, -EINVAL);
	ck_assert_ptr_nonnull(strstr(cache_words(), "is a FIFO"));
	r = procfs_file_open(s, "/dev/null", false, &f);
	ck_assert_int_eq(r, -EINVAL);
	ck_assert_ptr_nonnull(strstr(cache_words(), "character device"));
	close(cache_file(cache_name(path, cache_dir, "f"), 1, 1));
	r = procfs_file_open(s, path, true, &f);
	ck_assert_int_eq(r, -EINVAL);
	ck_assert_ptr_nonnull(strstr(cache_words(), "is a regular file"));
	r = procfs_file_open(s, cache_name(path, cache_dir, "none"), false,
			     &f);
	ck_assert_int_eq(r, -ENOENT);
	ck_assert_ptr_nonnull(strstr(cache_words(), path));
	cache_remove(cache_dir);
}
END_TEST

START_TEST(an_empty_file_has_no_pages)
{
	struct pdet_session *s = cache_start();
	struct pdet_file *f;
	struct pdet_batch b;
	uint64_t at = 0, n = 1;

	/* It reports size 0, and is not opened for reading. */
	f = open_file(s, "/proc/self/maps");
	ck_assert_uint_eq(f->pages, 0);
	cache_batch(&b, 64, true);
	next(s, f, &at, UINT64_MAX, &b);
	ck_assert_uint_eq(b.n, 0);
	ck_assert_int_eq(count_pages(s, f, 0, UINT64_MAX, &n), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(procfs_file_recheck(s, f, &b, 0, 0), 0);
	pdet_batch_free(&b);
	procfs_file_close(f);
	procfs_file_close(NULL);
}
END_TEST

/* --- names --- */

START_TEST(paths_are_below_the_root)
{
	struct pdet_session *s = cache_start();
	struct pdet_file *f;
	char path[512];

	cache_make_dir();
	close(cache_file(cache_name(path, cache_dir, "f"), 2, 1));
	ck_assert_int_eq(symlink("/f", cache_name(path, cache_dir, "link")),
			 0);
	ck_assert_int_eq(symlink("../../../f",
				 cache_name(path, cache_dir, "up")), 0);
	s->env.root = cache_dir;
	f = open_file(s, "/f");
	ck_assert_str_eq(f->path, "/f");
	ck_assert_uint_eq(f->pages, 2);
	procfs_file_close(f);
	f = open_file(s, "f");
	ck_assert_str_eq(f->path, "/f");
	procfs_file_close(f);
	ck_assert_int_eq(procfs_file_open(s, "/proc/self/maps", false, &f),
			 -ENOENT);
	/* Links are followed as if that root were "/". */
	if (cache_has_call(CACHE_OPENAT2_CALL)) {
		f = open_file(s, "/link");
		ck_assert_str_eq(f->path, "/link");
		ck_assert_uint_eq(f->pages, 2);
		procfs_file_close(f);
		f = open_file(s, "/up");
		ck_assert_uint_eq(f->pages, 2);
		procfs_file_close(f);
	}
	cache_remove(cache_dir);
}
END_TEST

START_TEST(relative_paths_become_absolute)
{
	static const char *const names[] = { "a\nb", "./a\nb", ".//./a\nb" };
	struct pdet_session *s = cache_start();
	struct pdet_file *f;
	char path[512];
	size_t i;

	cache_make_dir();
	close(cache_file(cache_name(path, cache_dir, "a\nb"), 2, 1));
	ck_assert_int_eq(chdir(cache_dir), 0);
	for (i = 0; i < 3; i++) {
		f = open_file(s, names[i]);
		ck_assert_str_eq(f->path, path);
		procfs_file_close(f);
	}
	ck_assert_int_eq(chdir("/"), 0);
	f = open_file(s, path + 1);
	ck_assert_str_eq(f->path, path);
	procfs_file_close(f);
	cache_remove(cache_dir);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("procfs_file");

	unit_test(s, every_page_has_a_row);
	unit_test(s, ranges_are_kept);
	unit_test(s, a_sparse_terabyte_is_quick);
	unit_test(s, sessions_run_in_parallel);
	unit_test(s, no_page_is_brought_in);
	unit_test(s, no_page_is_brought_in_under_mlockall);
	unit_test(s, no_page_is_brought_in_by_a_later_mlockall);
	unit_test(s, a_file_may_shrink_meanwhile);
	unit_test(s, a_file_may_shrink_at_any_time);
	unit_test(s, a_file_without_a_name_has_pages);
	unit_test(s, incomplete_pages_are_not_touched);
	unit_test(s, pages_that_went_are_torn);
	unit_test(s, pages_of_large_folios_are_torn);
	unit_test(s, flags_of_another_page_are_torn);
	unit_test(s, block_devices_have_pages);
	unit_test(s, a_strangers_file_is_refused);
	unit_test(s, without_privilege_only_numbers_are_missing);
	unit_test(s, other_things_are_refused);
	unit_test(s, an_empty_file_has_no_pages);
	unit_test(s, paths_are_below_the_root);
	unit_test(s, relative_paths_become_absolute);
	return unit_main(s);
}
