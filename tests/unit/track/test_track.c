/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests which pages of this process were written: the writers that each method
 * detects or misses, the reported reasons, and that no write is lost while
 * others continue.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/object/uapi.h"
#include "../tracking.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

#define PAGES 16
#define HUGE ((size_t)2 << 20)

START_TEST(refuses)
{
	struct pagedet_track_options o = PAGEDET_TRACK_OPTIONS_INIT;
	struct pagedet_track_range range;
	struct pagedet_track *t = NULL;
	uint64_t at = 0;
	char *p;

	start();
	p = map_private(PAGES * page);
	ck_assert_int_eq(pagedet_track_new(pd, (uintptr_t)p + 1, page, NULL,
					   &t), -EINVAL);
	ck_assert_int_eq(pagedet_track_new(pd, (uintptr_t)p, page + 1, NULL,
					   &t), -EINVAL);
	ck_assert_int_eq(pagedet_track_new(pd, (uintptr_t)p, 0, NULL, &t),
			 -EINVAL);
	ck_assert_int_eq(pagedet_track_new(pd, (uintptr_t)p,
					   UINT64_MAX & ~(uint64_t)(page - 1),
					   NULL, &t), -EINVAL);
	o.options = 0x80;
	ck_assert_int_eq(pagedet_track_new(pd, (uintptr_t)p, page, &o, &t),
			 -E2BIG);
	o.options = 0;
	o.methods = 1u << 7;
	ck_assert_int_eq(pagedet_track_new(pd, (uintptr_t)p, page, &o, &t),
			 -EINVAL);
	ck_assert_ptr_null(t);
	t = track(p, PAGES * page);
	ck_assert_int_eq(pagedet_track_read(t, &at, 0, &range, 0), -EINVAL);
	ck_assert_int_eq(pagedet_track_read(t, &at, 4, &range, 1), -E2BIG);
	at = (uintptr_t)p + 1;
	ck_assert_int_eq(pagedet_track_read(t, &at, 0, &range, 1), -EINVAL);
	at = (uintptr_t)p + PAGES * page;
	ck_assert_int_eq(pagedet_track_read(t, &at, 0, &range, 1), -EINVAL);
	ck_assert_ptr_null(pagedet_track_why(0));
	ck_assert_ptr_nonnull(pagedet_track_why(PAGEDET_TRACK_FAILED));
	ck_assert_ptr_null(pagedet_track_why(PAGEDET_TRACK_FAILED + 1));
	pagedet_track_free(t);
	pagedet_track_free(NULL);
	pagedet_free(pd);
}
END_TEST

/* Before arming nothing is known, not even that nothing was written. */
START_TEST(not_armed)
{
	struct pagedet_track_info info = { .size = sizeof(info) };
	struct pagedet_track *t;
	char *p;

	start();
	p = map_private(4 * page);
	t = track_by(methods[_i], p, 4 * page, 0);
	p[0] = 1;
	expect(t, 0, "1111");
	ck_assert_int_eq(pagedet_track_info(t, &info), 0);
	ck_assert_uint_eq(info.addr, (uintptr_t)p);
	ck_assert_uint_eq(info.pages, 4);
	ck_assert_uint_eq(info.armed, 0);
	ck_assert_uint_eq(info.arms, 0);
	ck_assert_uint_eq(info.first_ns, 0);
	ck_assert_uint_eq(info.method, methods[_i]);
	ck_assert_uint_eq(info.sees & info.blind, 0);
	ck_assert_uint_eq(info.sees | info.blind,
			  (2u << PAGEDET_WRITER_VCPU) - 1);
	ck_assert_uint_eq(info.huge_state, PAGEDET_NOT_ASKED);
	arm(t, 0);
	ck_assert_int_eq(pagedet_track_info(t, &info), 0);
	ck_assert_uint_eq(info.armed, 4);
	ck_assert_uint_eq(info.arms, 1);
	ck_assert_uint_le(info.first_ns, info.last_ns);
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

static void store_elsewhere(int fd, off_t at)
{
	char *other = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   at);

	ck_assert_ptr_ne(other, MAP_FAILED);
	other[0] = 3;
	munmap(other, page);
}

/*
 * Page n has writer n; bit n of info.sees says whether it is detected. The
 * memory is shared and populated.
 */
START_TEST(truth)
{
	static const char by_uffd[] = "WWW......", by_bits[] = "WWW....8.";
	struct pagedet_track_info info = { .size = sizeof(info) };
	struct pagedet_track *t;
	int fd, mem, ends[2];
	const char *want;
	unsigned i;
	pid_t child;
	char *p;

	start();
	fd = memfd_create("truth", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(fd, (off_t)(9 * page)), 0);
	p = map(9 * page, MAP_SHARED, fd);
	for (i = 0; i < 9; i++)
		p[i * page] = 1;
	t = track_by(methods[_i], p, 9 * page, 0);
	arm(t, 0);

	p[PAGEDET_WRITER_STORE * page] = 2;
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "abc", 3), 3);
	ck_assert_int_eq(read(ends[0], p + PAGEDET_WRITER_KERNEL * page, 3),
			 3);
	mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(mem, 0);
	if (pwrite(mem, "x", 1, (off_t)(uintptr_t)
		   (p + PAGEDET_WRITER_MEM_FILE * page)) != 1)
		unit_skip("/proc/self/mem cannot be written to");
	/* For shared memory, this discards nothing. */
	ck_assert_int_eq(madvise(p + PAGEDET_WRITER_GIVE_BACK * page, page,
				 MADV_DONTNEED), 0);
	ck_assert_int_eq(p[PAGEDET_WRITER_GIVE_BACK * page], 1);
	store_elsewhere(fd, (off_t)(PAGEDET_WRITER_OTHER_MAPPING * page));
	child = fork();
	if (child == 0) {
		p[PAGEDET_WRITER_OTHER_PROCESS * page] = 5;
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(pwrite(fd, "x", 1,
				(off_t)(PAGEDET_WRITER_FILE * page)), 1);
	ck_assert_int_eq(fallocate(fd, FALLOC_FL_PUNCH_HOLE |
				   FALLOC_FL_KEEP_SIZE,
				   (off_t)(PAGEDET_WRITER_PUNCH * page),
				   (off_t)page), 0);

	want = methods[_i] == PAGEDET_TRACK_UFFD ? by_uffd : by_bits;
	expect(t, 0, want);
	ck_assert_int_eq(pagedet_track_info(t, &info), 0);
	for (i = 0; want[i]; i++)
		if (i != PAGEDET_WRITER_GIVE_BACK)
			ck_assert_int_eq(info.sees >> i & 1, want[i] == 'W');
	/* And all of them did write. */
	for (i = PAGEDET_WRITER_OTHER_MAPPING; i < PAGEDET_WRITER_DEVICE; i++)
		ck_assert_int_ne(p[i * page], 1);
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

/* Some kernels give whoever reads untouched memory a page of its own instead
 * of the zero page. pagemap's bit 56 tells them apart: only one process maps
 * the page. */
static bool reads_get_zero_page(void)
{
	volatile char *p = map_private(page);
	uint64_t word = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	(void)*p;
	if (fd >= 0) {
		ck_assert_int_eq(pread(fd, &word, 8, (off_t)((uintptr_t)p /
							     page * 8)), 8);
		close(fd);
	}
	munmap((void *)p, page);
	return !(word >> 56 & 1);
}

/* Private memory: a discarded page has changed. */
START_TEST(private_memory)
{
	const char *soft_dirty = "W8..W8";
	struct pagedet_track *t;
	volatile char *p;
	bool zero_page;

	start();
	/* before it is armed: when a new area is joined to an old one,
	 * soft-dirty bits call all of both written */
	zero_page = reads_get_zero_page();
	p = map_private(6 * page);
	p[0] = p[page] = p[2 * page] = 1;
	t = track_by(methods[_i], (void *)p, 6 * page, 0);
	arm(t, 0);
	p[0] = 2;
	madvise((void *)(p + page), page, MADV_DONTNEED);
	/* A read of what was never there writes nothing. Soft-dirty bits call
	 * every new page written, so that one of its own must not come here. */
	if (methods[_i] == PAGEDET_TRACK_UFFD || zero_page)
		(void)p[3 * page];
	else
		soft_dirty = "W8.8W8";
	p[4 * page] = 1;
	/* Soft-dirty bits do not distinguish untouched from discarded pages. */
	expect(t, 0, methods[_i] == PAGEDET_TRACK_UFFD ? "WW..W." : soft_dirty);
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

START_TEST(rearm)
{
	struct pagedet_track_range range;
	struct pagedet_track *t;
	uint64_t at = 0;
	char *p;

	start();
	p = map_private(PAGES * page);
	memset(p, 1, 8 * page);
	t = track_by(methods[_i], p, 8 * page, 0);
	arm(t, 0);
	expect(t, 0, "........");
	p[page] = p[2 * page] = p[5 * page] = 2;
	expect(t, 0, ".WW..W..");
	expect(t, 0, ".WW..W..");
	if (methods[_i] == PAGEDET_TRACK_UFFD) {
		expect(t, PAGEDET_TRACK_REARM, ".WW..W..");
	} else {
		/* A write between both steps would be lost there. */
		ck_assert_int_eq(pagedet_track_read(t, &at,
						    PAGEDET_TRACK_REARM,
						    &range, 1), -ENOTSUP);
		arm(t, 0);
	}
	expect(t, 0, "........");
	p[2 * page] = p[7 * page] = 3;
	expect(t, 0, "..W....W");
	arm(t, 0);
	expect(t, 0, "........");
	pagedet_track_free(t);
	/* Nothing is left behind. */
	p[0] = 4;
	t = track_by(methods[_i], p, 8 * page, 0);
	arm(t, 0);
	expect(t, 0, "........");
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

/* With room for one range per call nothing is lost or repeated. */
START_TEST(little_room)
{
	unsigned one[256], many[256];
	struct pagedet_track *t;
	size_t i;
	char *p;

	start();
	p = map_private(256 * page);
	memset(p, 1, 256 * page);
	t = track_by(methods[_i], p, 256 * page, 0);
	munmap(p + 100 * page, 3 * page);
	arm(t, 1);
	for (i = 0; i < 100; i += 2)
		p[i * page] = 2;
	munmap(p + 200 * page, 2 * page);
	memset(p + 204 * page, 3, 52 * page);
	look(t, 0, 64, many);
	look(t, methods[_i] == PAGEDET_TRACK_UFFD ? PAGEDET_TRACK_REARM : 0, 1,
	     one);
	ck_assert_mem_eq(one, many, sizeof(one));
	for (i = 0; i < 100; i++)
		ck_assert_uint_eq(one[i], i % 2 ? 0 : WRITTEN);
	ck_assert_uint_eq(one[101], UNKNOWN(UNMAPPED));
	ck_assert_uint_eq(one[200], UNKNOWN(UNMAPPED));
	ck_assert_uint_eq(one[203], 0);
	ck_assert_uint_eq(one[255], WRITTEN);
	if (methods[_i] == PAGEDET_TRACK_UFFD) {
		look(t, 0, 1, one);
		for (i = 0; i < 256; i++)
			ck_assert(!one[i] || one[i] == UNKNOWN(UNMAPPED));
	}
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

/* A new, moved or removed mapping is not the armed one. */
START_TEST(mappings_change)
{
	struct pagedet_track *t;
	char *p, *moved;

	start();
	p = map_private(8 * page);
	memset(p, 1, 8 * page);
	munmap(p + page, page);
	t = track(p, 8 * page);
	arm(t, 1);
	expect(t, 0, ".2......");
	munmap(p + 3 * page, page);
	expect(t, PAGEDET_TRACK_REARM, ".2.2....");
	ck_assert_ptr_eq(mmap(p + 3 * page, page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 p + 3 * page);
	p[0] = p[7 * page] = 2;
	expect(t, PAGEDET_TRACK_REARM, "W2.3...W");
	moved = mremap(p + 5 * page, page, page,
		       MREMAP_MAYMOVE | MREMAP_FIXED, map_private(page));
	ck_assert_ptr_ne(moved, MAP_FAILED);
	expect(t, PAGEDET_TRACK_REARM, ".2.3.2..");
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

static int uffd_of_ours(void)
{
	struct pdet_uffd_api api = { .api = PDET_UFFD_API_VERSION };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK |
			      PDET_UFFD_USER_MODE_ONLY);

	if (fd < 0)
		unit_skip("no userfaultfd: %s", strerror(errno));
	ck_assert_int_eq(ioctl(fd, PDET_UFFD_API, &api), 0);
	return fd;
}

START_TEST(another_userfaultfd)
{
	struct pdet_uffd_register reg = { .mode = 1 /* missing pages */ };
	struct pagedet_track *t, *second;
	int fd;
	char *p;

	start();
	fd = uffd_of_ours();
	p = map_private(8 * page);
	memset(p, 1, 8 * page);
	reg.start = (uintptr_t)(p + 2 * page);
	reg.len = 2 * page;
	ck_assert_int_eq(ioctl(fd, PDET_UFFD_REGISTER, &reg), 0);
	t = track(p, 8 * page);
	arm(t, 1);
	p[0] = p[2 * page] = 2;
	expect(t, 0, "W.44....");
	/* Nor is there room for two trackers. */
	second = track(p, 2 * page);
	arm(second, -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(pagedet_error(pd),
				     "another userfaultfd"));
	ck_assert_str_ne(pagedet_advice(pd), "");
	expect(second, 0, "11");
	pagedet_track_free(second);
	close(fd);
	arm(t, 0);
	p[3 * page] = 3;
	expect(t, 0, "...W....");
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

START_TEST(nothing_there)
{
	struct pagedet_track *t;
	char *p;

	start();
	/* Far from the tracker's own mappings. */
	p = mmap((void *)((uintptr_t)1 << 40), 2 * page, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p, 2 * page);
	t = track_by(methods[_i], p, 2 * page, 0);
	arm(t, -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(pagedet_error(pd),
				     "nothing was mapped there"));
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

/* Any kind of file: on a disk, shared and private, and read-only mappings. */
START_TEST(files)
{
	char name[] = "track-XXXXXX", *p, *q, *r;
	struct pagedet_track *t;
	int fd, reader;

	start();
	fd = mkstemp(name);
	ck_assert_int_ge(fd, 0);
	reader = open(name, O_RDONLY | O_CLOEXEC);
	unlink(name);
	ck_assert_int_eq(ftruncate(fd, (off_t)(4 * page)), 0);
	p = map(4 * page, MAP_SHARED, fd);
	q = map(4 * page, MAP_PRIVATE, fd);
	r = mmap(NULL, 4 * page, PROT_READ, MAP_SHARED, reader, 0);
	ck_assert_ptr_ne(r, MAP_FAILED);

	t = track_by(methods[_i], p, 4 * page, 0);
	memset(p, 1, 4 * page);
	arm(t, 0);
	p[page] = 2;
	ck_assert_int_eq(pwrite(fd, "x", 1, (off_t)(3 * page)), 1);
	expect(t, 0, ".W..");
	pagedet_track_free(t);

	memset(q, 1, 3 * page);
	t = track_by(methods[_i], q, 4 * page, 0);
	arm(t, 0);
	q[0] = q[3 * page] = 2;
	expect(t, 0, "W..W");
	pagedet_track_free(t);

	t = track_by(methods[_i], r, 4 * page, 0);
	arm(t, -ENOTSUP);
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

START_TEST(secret_memory)
{
	struct pagedet_track *t;
	int fd;
	char *p;

	start();
	fd = (int)syscall(SYS_memfd_secret, 0);
	if (fd < 0)
		unit_skip("no memfd_secret: %s", strerror(errno));
	ck_assert_int_eq(ftruncate(fd, (off_t)(2 * page)), 0);
	p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		unit_skip("no secret memory: %s", strerror(errno));
	p[0] = p[page] = 1;
	t = track(p, 2 * page);
	arm(t, 0);
	p[page] = 2;
	expect(t, PAGEDET_TRACK_REARM, ".W");
	expect(t, 0, "..");
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

static char *aligned(char *at)
{
	return at + (-(uintptr_t)at & (HUGE - 1));
}

static void huge_counts(struct pagedet_track *t, uint64_t before,
			uint64_t after)
{
	struct pagedet_track_info info = { .size = sizeof(info) };

	ck_assert_int_eq(pagedet_track_info(t, &info), 0);
	ck_assert_uint_eq(info.huge_state, PAGEDET_HAVE);
	ck_assert_uint_eq(info.huge_before, before);
	ck_assert_uint_eq(info.huge_after, after);
}

static uint64_t huge_before(struct pagedet_track *t)
{
	struct pagedet_track_info info = { .size = sizeof(info) };

	ck_assert_int_eq(pagedet_track_info(t, &info), 0);
	return info.huge_state == PAGEDET_HAVE ? info.huge_before : 0;
}

static unsigned written(const unsigned *states, size_t n)
{
	unsigned sum = 0;

	while (n--)
		sum += states[n] == WRITTEN;
	return sum;
}

/* The first write splits private huge pages, and arming does not. */
START_TEST(transparent_huge)
{
	struct pagedet_track *t;
	unsigned *states;
	size_t n;
	char *p;

	start();
	n = HUGE / page;
	states = calloc(n, sizeof(*states));
	p = aligned(map_private(2 * HUGE));
	madvise(p, HUGE, MADV_HUGEPAGE);
	memset(p, 1, HUGE);
	t = track_by(PAGEDET_TRACK_UFFD, p, HUGE, PAGEDET_TRACK_COUNT_HUGE);
	arm(t, 0);
	if (!huge_before(t))
		unit_skip("no transparent huge page was to be had");
	huge_counts(t, n, n);
	p[3 * page] = 2;
	look(t, PAGEDET_TRACK_REARM, 64, states);
	ck_assert_uint_eq(written(states, n), 1);
	ck_assert_uint_eq(states[3], WRITTEN);
	arm(t, 0);
	huge_counts(t, 0, 0);
	pagedet_track_free(t);
	pagedet_free(pd);
	free(states);
}
END_TEST

/* Arming splits huge pages of shared memory, and this is counted. */
START_TEST(shared_huge)
{
	struct pagedet_track *t;
	unsigned *states;
	size_t n;
	char *p;
	int fd;

	start();
	n = HUGE / page;
	states = calloc(n, sizeof(*states));
	fd = memfd_create("huge", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(fd, 2 * (off_t)HUGE), 0);
	p = map_private(3 * HUGE);
	p = mmap(aligned(p), 2 * HUGE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, fd, 0);
	ck_assert_ptr_ne(p, MAP_FAILED);
	madvise(p, 2 * HUGE, MADV_HUGEPAGE);
	memset(p, 1, 2 * HUGE);
	t = track_by(PAGEDET_TRACK_UFFD, p, HUGE, PAGEDET_TRACK_COUNT_HUGE);
	arm(t, 0);
	if (!huge_before(t))
		unit_skip("shared memory has no huge pages here");
	huge_counts(t, n, 0);
	p[5 * page] = 2;
	look(t, 0, 64, states);
	ck_assert_uint_eq(written(states, n), 1);
	ck_assert_uint_eq(states[5], WRITTEN);
	pagedet_track_free(t);
	pagedet_free(pd);
	free(states);
}
END_TEST

/* A hugetlbfs page is written or not as a whole. */
START_TEST(hugetlb)
{
	struct pagedet_track *t;
	unsigned *states;
	size_t n;
	char *p;

	start();
	n = HUGE / page;
	states = calloc(2 * n, sizeof(*states));
	p = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE,
		 (_i ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_HUGETLB |
		 21 << MAP_HUGE_SHIFT, -1, 0);
	if (p == MAP_FAILED)
		unit_skip("no huge pages are reserved");
	memset(p, 1, 2 * HUGE);
	t = track(p, 2 * HUGE);
	arm(t, 0);
	look(t, 0, 64, states);
	ck_assert_uint_eq(written(states, 2 * n), 0);
	p[HUGE + 5 * page] = 2;
	look(t, PAGEDET_TRACK_REARM, 64, states);
	ck_assert_uint_eq(written(states, n), 0);
	ck_assert_uint_eq(written(states + n, n), n);
	look(t, 0, 64, states);
	ck_assert_uint_eq(written(states, 2 * n), 0);
	pagedet_track_free(t);

	/* Half a huge page is not possible. */
	t = track(p, HUGE + page);
	arm(t, -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(pagedet_error(pd), "huge page"));
	pagedet_track_free(t);
	pagedet_free(pd);
	free(states);
}
END_TEST

/* clear_refs does not clear them. */
START_TEST(hugetlb_by_bits)
{
	struct pagedet_track *t;
	char *p;

	start();
	p = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_HUGETLB | 21 << MAP_HUGE_SHIFT, -1, 0);
	if (p == MAP_FAILED)
		unit_skip("no huge pages are reserved");
	p[0] = 1;
	t = track_by(PAGEDET_TRACK_SOFT_DIRTY, p, HUGE, 0);
	arm(t, -ENOTSUP);
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

/* A child has the descriptors, but not the memory. */
START_TEST(forked)
{
	struct pagedet_track_range range;
	struct pagedet_track *t;
	uint64_t at = 0;
	int status;
	pid_t child;
	char *p;

	start();
	p = map_private(4 * page);
	memset(p, 1, 4 * page);
	t = track_by(methods[_i], p, 4 * page, 0);
	arm(t, 0);
	p[page] = 2;
	child = fork();
	if (child == 0) {
		p[0] = 3;
		status = pagedet_track_arm(t) != -ESRCH ||
			 pagedet_track_read(t, &at, 0, &range, 1) != -ESRCH;
		pagedet_track_free(t);
		_exit(status);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	expect(t, 0, ".W..");
	p[2 * page] = 2;
	expect(t, 0, ".WW.");
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

#define WRITERS 3
#define SLOTS 256
#define ROUNDS 300
#define BURST 100

struct writers {
	char *at;
	atomic_uint round;	/* round of writing; 0: not begun */
	atomic_uint done;	/* finished writers, over all rounds */
};

static _Atomic uint64_t *slot(char *at, size_t n)
{
	return (_Atomic uint64_t *)(void *)(at + n * page);
}

/*
 * Writes a few pages per round, and waits for the next one: a later round must
 * not hide a loss.
 */
static void *write_on(void *arg)
{
	struct writers *w = arg;
	uint64_t random = (uintptr_t)&random;
	unsigned round, i;

	for (round = 1; round <= ROUNDS; round++) {
		while (atomic_load(&w->round) < round)
			sched_yield();
		for (i = 0; i < BURST; i++)
			atomic_fetch_add(slot(w->at, unit_random(&random) %
						     SLOTS), 1);
		atomic_fetch_add(&w->done, 1);
	}
	return NULL;
}

/* Copies the written pages. */
static unsigned copy_written(struct pagedet_track *t, struct writers *w,
			     uint32_t room, uint64_t *copy)
{
	unsigned states[SLOTS];
	size_t i;

	look(t, PAGEDET_TRACK_REARM, room, states);
	for (i = 0; i < SLOTS; i++) {
		ck_assert(!states[i] || states[i] == WRITTEN);
		if (states[i])
			copy[i] = atomic_load(slot(w->at, i));
	}
	return written(states, SLOTS);
}

/*
 * Works like a migration: copies written pages repeatedly while others write.
 * After the writers have paused and the last pages are copied, both sides are
 * equal. A write between reading and rearming would be missing.
 */
START_TEST(no_write_is_lost)
{
	static uint64_t copy[SLOTS];
	unsigned round, copied = 0, last = 0;
	pthread_t threads[WRITERS];
	struct writers w = { 0 };
	struct pagedet_track *t;
	size_t i;
	int fd;

	start();
	if (_i) {
		fd = memfd_create("writers", MFD_CLOEXEC);
		ck_assert_int_eq(ftruncate(fd, (off_t)(SLOTS * page)), 0);
		w.at = map(SLOTS * page, MAP_SHARED, fd);
	} else {
		w.at = map_private(SLOTS * page);
	}
	t = track(w.at, SLOTS * page);
	arm(t, 0);
	for (i = 0; i < WRITERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, write_on,
						&w), 0);
	for (round = 1; round <= ROUNDS; round++) {
		atomic_store(&w.round, round);
		while (atomic_load(&w.done) < round * WRITERS)
			copied += copy_written(t, &w, round % 3 ? 64 : 3, copy);
		last += copy_written(t, &w, 64, copy);
		for (i = 0; i < SLOTS; i++)
			ck_assert_uint_eq(copy[i],
					  atomic_load(slot(w.at, i)));
	}
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_gt(copied + last, ROUNDS);
	ck_assert_uint_eq(copy_written(t, &w, 64, copy), 0);
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("track");

	unit_test(s, refuses);
	unit_loop(s, not_armed, 2);
	unit_loop(s, truth, 2);
	unit_loop(s, private_memory, 2);
	unit_loop(s, rearm, 2);
	unit_loop(s, little_room, 2);
	unit_test(s, mappings_change);
	unit_test(s, another_userfaultfd);
	unit_loop(s, nothing_there, 2);
	unit_loop(s, files, 2);
	unit_test(s, secret_memory);
	unit_test(s, transparent_huge);
	unit_test(s, shared_huge);
	unit_loop(s, hugetlb, 2);
	unit_test(s, hugetlb_by_bits);
	unit_loop(s, forked, 2);
	unit_loop(s, no_write_is_lost, 2);
	return unit_main(s);
}
