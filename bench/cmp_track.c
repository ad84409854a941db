/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes to 1 GiB of our own memory: arming it, reading which pages were
 * written, against the calls of the kernel that do it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compare.h"
#include "probe_uapi.h"

#define LEN ((size_t)1 << 30)
#define ROOM 4096
#define MOST 1.1

struct uapi_uffd {
	uint64_t word[4];
};

#define UFFD_API _IOC(_IOC_READ | _IOC_WRITE, 0xaa, 0x3f, 24)
#define UFFD_REGISTER _IOC(_IOC_READ | _IOC_WRITE, 0xaa, 0x00, 32)
#define UFFD_PROTECT _IOC(_IOC_READ | _IOC_WRITE, 0xaa, 0x06, 24)
#define UFFD_FEATURES (1 | 1 << 12 | 1 << 13 | 1 << 15)
#define SCAN_MATCHING 3 /* PM_SCAN_WP_MATCHING | PM_SCAN_CHECK_WPASYNC */
#define SCAN_CHECK 2
#define PAGE_WRITTEN 2

struct tracked {
	char *at;
	size_t page, step;	/* every step-th page is written */
	uint64_t seen;
	bool rearm;
	/* the raw calls */
	int uffd, pagemap;
	/* the library */
	struct pagedet *pd;
	struct pagedet_track *t;
	union {
		struct uapi_scan_region raw[ROOM];
		struct pagedet_track_range ours[ROOM];
	} ranges;
};

static void write_pages(struct tracked *t)
{
	size_t i;

	for (i = 0; i < LEN; i += t->page * t->step)
		((volatile char *)t->at)[i]++;
}

static void raw_protect(struct tracked *t)
{
	struct uapi_uffd u = { { (uintptr_t)t->at, LEN, 1 } };

	if (ioctl(t->uffd, UFFD_PROTECT, &u))
		probe_die("UFFDIO_WRITEPROTECT: %s", strerror(errno));
}

static void raw_open(struct tracked *t)
{
	struct uapi_uffd u = { { 0xaa, UFFD_FEATURES } };

	t->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1);
	t->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (t->uffd < 0 || t->pagemap < 0 || ioctl(t->uffd, UFFD_API, &u))
		probe_die("this kernel cannot track writes: %s",
			  strerror(errno));
	u = (struct uapi_uffd){ { (uintptr_t)t->at, LEN, 2 } };
	if (ioctl(t->uffd, UFFD_REGISTER, &u))
		probe_die("UFFDIO_REGISTER: %s", strerror(errno));
	raw_protect(t);
}

static uint64_t run_raw_arm(void *arg)
{
	struct tracked *t = arg;
	uint64_t start;

	write_pages(t);
	start = probe_ns();
	raw_protect(t);
	return probe_ns() - start;
}

static uint64_t run_raw_read(void *arg)
{
	struct tracked *t = arg;
	struct uapi_scan_arg a = {
		.size = sizeof(a), .flags = t->rearm ? SCAN_MATCHING :
						       SCAN_CHECK,
		.start = (uintptr_t)t->at, .end = (uintptr_t)t->at + LEN,
		.vec = (uintptr_t)t->ranges.raw, .vec_len = ROOM,
		.all_of = PAGE_WRITTEN, .return_mask = PAGE_WRITTEN
	};
	uint64_t start;
	int n, i;

	write_pages(t);
	t->seen = 0;
	start = probe_ns();
	for (; a.start < a.end; a.start = a.walk_end) {
		n = ioctl(t->pagemap, UAPI_PAGEMAP_SCAN, &a);
		if (n < 0)
			probe_die("PAGEMAP_SCAN: %s", strerror(errno));
		for (i = 0; i < n; i++)
			t->seen += t->ranges.raw[i].end -
				   t->ranges.raw[i].start;
	}
	return probe_ns() - start;
}

static void library_arm(struct tracked *t)
{
	if (pagedet_track_arm(t->t))
		probe_die("%s", pagedet_error(t->pd));
}

static void library_open(struct tracked *t)
{
	t->pd = pagedet_new();
	if (!t->pd || pagedet_track_new(t->pd, (uintptr_t)t->at, LEN, NULL,
					&t->t))
		probe_die("%s", t->pd ? pagedet_error(t->pd) : "no memory");
	library_arm(t);
}

static uint64_t run_library_arm(void *arg)
{
	struct tracked *t = arg;
	uint64_t start;

	write_pages(t);
	start = probe_ns();
	library_arm(t);
	return probe_ns() - start;
}

static uint64_t run_library_read(void *arg)
{
	struct tracked *t = arg;
	uint64_t start, at = 0;
	int n, i;

	write_pages(t);
	t->seen = 0;
	start = probe_ns();
	do {
		n = pagedet_track_read(t->t, &at, t->rearm ?
				       PAGEDET_TRACK_REARM : 0,
				       t->ranges.ours, ROOM);
		if (n < 0)
			probe_die("%s", pagedet_error(t->pd));
		for (i = 0; i < n; i++)
			t->seen += t->ranges.ours[i].end -
				   t->ranges.ours[i].start;
	} while (at);
	return probe_ns() - start;
}

/* Each side has 1 GiB of its own: one userfaultfd may have a range. */
static char *gib(void)
{
	char *at = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		probe_die("1 GiB: %s", strerror(errno));
	madvise(at, LEN, MADV_NOHUGEPAGE);
	memset(at, 1, LEN);
	return at;
}

static void compare(const char *work, struct tracked *raw,
		    struct tracked *library, bool arm, bool rearm, size_t step)
{
	struct trial t = {
		.work = work,
		.bound = { arm ? "UFFDIO_WRITEPROTECT" : "PAGEMAP_SCAN",
			   arm ? run_raw_arm : run_raw_read, raw },
		.library = { arm ? "pagedet_track_arm" : "pagedet_track_read",
			     arm ? run_library_arm : run_library_read,
			     library },
		.bound_most = MOST, .tight = true
	};

	raw->step = library->step = step;
	raw->rearm = library->rearm = rearm;
	/* what the last one left */
	raw_protect(raw);
	library_arm(library);
	trial_run(&t);
	if (!arm)
		compare_same(work, library->seen, raw->seen);
}

int compare_track(int argc, char **argv)
{
	static struct tracked raw, library;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)argv;
	if (argc)
		return 64;
	raw.page = library.page = page;
	raw.at = gib();
	library.at = gib();
	raw_open(&raw);
	library_open(&library);
	compare("1 GiB, all pages written: arm", &raw, &library, true, false,
		1);
	compare("1 GiB, every 2nd page written: read", &raw, &library, false,
		false, 2);
	compare("1 GiB, every 2nd page written: read and arm", &raw, &library,
		false, true, 2);
	compare("1 GiB, every 512th page written: read and arm", &raw,
		&library, false, true, 512);
	pagedet_track_free(library.t);
	pagedet_free(library.pd);
	return 0;
}
