/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Trackers of writes in tests: memory to track with each method, and the
 * reported state of each page.
 */
#ifndef TESTS_TRACKING_H
#define TESTS_TRACKING_H

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pagedet.h"
#include "unit.h"

/* Looped tests run with each method, and private and shared memory. */
#define METHOD(i) methods[(i) & 1]
#define SHARED(i) ((i) & 2)

#define UNKNOWN(why) (0x100 | PAGEDET_TRACK_##why)
#define WRITTEN PAGEDET_TRACK_WRITTEN

static const uint32_t methods[] = {
	PAGEDET_TRACK_UFFD, PAGEDET_TRACK_SOFT_DIRTY
};

static struct pagedet *pd;
static size_t page;

static inline void start(void)
{
	const char *valgrind = getenv("PDET_VALGRIND");

	if (valgrind && *valgrind)
		unit_skip("valgrind knows no userfaultfd");
	page = (size_t)sysconf(_SC_PAGESIZE);
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
}

static inline struct pagedet_track *track_by(uint32_t method, const void *at,
					     size_t len, uint32_t options)
{
	struct pagedet_track_options o = PAGEDET_TRACK_OPTIONS_INIT;
	struct pagedet_track *t = NULL;
	int r;

	o.methods = PAGEDET_TRACK_BIT(method);
	o.options = options;
	r = pagedet_track_new(pd, (uintptr_t)at, len, &o, &t);
	if (r == -ENOTSUP || r == -EACCES)
		unit_skip("%s", pagedet_error(pd));
	ck_assert_msg(r == 0, "%d: %s", r, pagedet_error(pd));
	return t;
}

static inline struct pagedet_track *track(const void *at, size_t len)
{
	return track_by(PAGEDET_TRACK_UFFD, at, len, 0);
}

static inline void arm(struct pagedet_track *t, int want)
{
	int r = pagedet_track_arm(t);

	ck_assert_msg(r == want, "%d: %s", r, pagedet_error(pd));
}

static inline char *map(size_t len, int flags, int fd)
{
	char *at = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);

	ck_assert_msg(at != MAP_FAILED, "mmap: %s", strerror(errno));
	return at;
}

static inline char *map_private(size_t len)
{
	return map(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

/* Allocates populated pages; shared: of a file in memory. */
static inline char *filled(size_t pages, bool shared, int byte)
{
	int fd = -1;
	char *p;

	if (shared) {
		fd = memfd_create("tracked", MFD_CLOEXEC);
		ck_assert_int_eq(ftruncate(fd, (off_t)(pages * page)), 0);
	}
	p = map(pages * page, shared ? MAP_SHARED :
		MAP_PRIVATE | MAP_ANONYMOUS, fd);
	memset(p, byte, pages * page);
	return p;
}

/*
 * Gets the state of each page: 0, WRITTEN, UNKNOWN(why). @room ranges per call.
 */
static inline void look(struct pagedet_track *t, uint32_t options,
			uint32_t room, unsigned *states)
{
	struct pagedet_track_info info = { .size = sizeof(info) };
	struct pagedet_track_range ranges[64];
	uint64_t at = 0, last = 0, i;
	int n, k;

	ck_assert_int_eq(pagedet_track_info(t, &info), 0);
	memset(states, 0, info.pages * sizeof(*states));
	do {
		n = pagedet_track_read(t, &at, options, ranges, room);
		ck_assert_msg(n >= 0, "%s", pagedet_error(pd));
		for (k = 0; k < n; k++) {
			ck_assert_uint_ge(ranges[k].start, last);
			ck_assert_uint_ge(ranges[k].start, info.addr);
			ck_assert_uint_gt(ranges[k].end, ranges[k].start);
			ck_assert_uint_le(ranges[k].end, info.addr + info.len);
			last = ranges[k].end;
			for (i = ranges[k].start; i < last; i += page)
				states[(i - info.addr) / page] =
					ranges[k].state == WRITTEN ? WRITTEN :
					0x100 | ranges[k].why;
		}
	} while (at);
}

/*
 * Checks states against @want, one character per page: '.' not written, 'W'
 * written, or the number of the reason why it is not known.
 */
static inline void expect(struct pagedet_track *t, uint32_t options,
			  const char *want)
{
	unsigned states[4096];
	char got[4097];
	size_t i, n = strlen(want);

	look(t, options, 64, states);
	for (i = 0; i < n; i++)
		got[i] = !states[i] ? '.' : states[i] == WRITTEN ? 'W' :
			 (char)('0' + (states[i] & 0xff));
	got[n] = '\0';
	ck_assert_str_eq(got, want);
}

#endif
