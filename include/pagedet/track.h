/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: tracks which pages of this process were written. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Write tracking: which pages of this process were written
 */

enum pagedet_track_method {
	PAGEDET_TRACK_UFFD = 1,	/* userfaultfd with asynchronous
				 * write-protection, and PAGEMAP_SCAN */
	PAGEDET_TRACK_SOFT_DIRTY = 2 /* clear_refs: clears the bits of the whole
				 * process, also for their other users */
};

#define PAGEDET_TRACK_BIT(method) ((uint32_t)1 << (method))

/* The ways to write a page, as bit numbers. */
enum pagedet_track_writer {
	PAGEDET_WRITER_STORE = 0, /* a store of any thread through the range */
	PAGEDET_WRITER_KERNEL = 1, /* the kernel through these addresses:
				 * read(2), also with O_DIRECT, io_uring,
				 * vhost */
	PAGEDET_WRITER_MEM_FILE = 2, /* /proc/PID/mem, ptrace */
	PAGEDET_WRITER_GIVE_BACK = 3, /* MADV_DONTNEED of private memory */
	PAGEDET_WRITER_OTHER_MAPPING = 4, /* the same memory mapped elsewhere */
	PAGEDET_WRITER_OTHER_PROCESS = 5,
	PAGEDET_WRITER_FILE = 6, /* write(2) to the mapped file */
	PAGEDET_WRITER_PUNCH = 7, /* a hole in the file, or its end moved */
	PAGEDET_WRITER_DEVICE = 8, /* into pages pinned before arming: VFIO,
				 * buffers registered with io_uring */
	PAGEDET_WRITER_VCPU = 9	/* a KVM guest that uses this memory */
};

enum pagedet_track_state {
	PAGEDET_TRACK_UNKNOWN = 1,
	PAGEDET_TRACK_WRITTEN = 2
};

/* Why libpagedet does not know whether pages were written. */
enum pagedet_track_why {
	PAGEDET_TRACK_NOT_ARMED = 1, /* pagedet_track_arm() was not called */
	PAGEDET_TRACK_UNMAPPED = 2,
	PAGEDET_TRACK_REMAPPED = 3, /* mapped after arming */
	PAGEDET_TRACK_TAKEN = 4, /* another userfaultfd is registered there */
	PAGEDET_TRACK_KIND = 5,	/* the kernel does not track this kind of
				 * memory */
	PAGEDET_TRACK_READ_ONLY = 6, /* this mapping cannot write */
	PAGEDET_TRACK_CUT = 7,	/* the range ends within a huge page */
	PAGEDET_TRACK_NO_ENTRY = 8, /* no page: there never was one, or it was
				 * freed, which soft-dirty bits do not show */
	PAGEDET_TRACK_FAILED = 9 /* the kernel's scan failed */
};

enum pagedet_track_option {
	PAGEDET_TRACK_COUNT_HUGE = 1 /* when arming; costs two more scans of the
				 * range */
};

struct pagedet_track_options {
	uint64_t size;		/* sizeof(struct pagedet_track_options) */
	uint32_t methods;	/* allowed PAGEDET_TRACK_BIT()s; 0 is only
				 * PAGEDET_TRACK_UFFD */
	uint32_t options;	/* PAGEDET_TRACK_COUNT_HUGE */
};

#define PAGEDET_TRACK_OPTIONS_INIT \
	{ sizeof(struct pagedet_track_options), 0, 0 }

/* One range of pages. Used as an array element, so it will never grow. */
struct pagedet_track_range {
	uint64_t start;		/* address */
	uint64_t end;		/* address behind the last byte */
	uint32_t state;		/* PAGEDET_TRACK_WRITTEN or _UNKNOWN */
	uint32_t why;		/* PAGEDET_TRACK_*, if unknown */
};

struct pagedet_track_info {
	uint64_t size;		/* sizeof(struct pagedet_track_info) */
	uint64_t addr;
	uint64_t len;		/* bytes */
	uint64_t page_size;	/* bytes */
	uint64_t pages;		/* in the range */
	uint64_t armed;		/* of them, armed by the last arming */
	uint64_t arms;		/* number of armings */
	uint64_t first_ns;	/* CLOCK_REALTIME at begin of the last arming */
	uint64_t last_ns;	/* and at its end; 0 never armed */
	uint64_t huge_before;	/* pages with huge entries before it */
	uint64_t huge_after;	/* and after it; the difference was split */
	uint32_t huge_state;	/* PAGEDET_HAVE, or why they are not known */
	uint32_t method;	/* PAGEDET_TRACK_* */
	uint32_t sees;		/* 1 << PAGEDET_WRITER_*: writes it detects */
	uint32_t blind;		/* and writes that it misses */
	uint32_t rearms;	/* 1: PAGEDET_TRACK_REARM is possible */
	uint32_t reserved;
};

/**
 * pagedet_track_new - prepare to track writes to memory of this process
 * Changes nothing yet. Tracking detects only stores through this mapping and
 * the writes that info.sees names.
 * @pd: [in] for error texts; need not be open
 * @addr: [in] address, a multiple of the page size
 * @len: [in] bytes, a multiple of the page size
 * @options: [in,nullable] NULL is PAGEDET_TRACK_OPTIONS_INIT
 * @ret: [out] [owned: pagedet_track_free] the new tracker
 * Return: 0, or a negative errno.
 * Errors: EINVAL not whole pages, or none, or no such method; E2BIG options has
 *         a non-zero byte that this library does not know; ENOTSUP this kernel
 *         has no method that is allowed; EACCES the process may not use it;
 *         ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_track_new(struct pagedet *pd, uint64_t addr, uint64_t len,
		      const struct pagedet_track_options *options,
		      struct pagedet_track **ret);

/**
 * pagedet_track_arm - start tracking: all pages count as not written
 * Uses UFFDIO_REGISTER and UFFDIO_WRITEPROTECT, or writes 4 to clear_refs.
 * Writes during the call may or may not count. Another call discards the writes
 * that were not read yet.
 * @track: [in] from pagedet_track_new()
 * Return: 0; 1 if part of the range is not armed, and pagedet_track_read() says
 *         which part and why; or a negative errno, and nothing is armed.
 * Errors: ENOTSUP nothing of it can be armed, and pagedet_error() says why;
 *         ESRCH after fork, in the child; EACCES ENOMEM EIO.
 * Since: 0.1
 */
int pagedet_track_arm(struct pagedet_track *track);

/* Options of pagedet_track_read(). */
#define PAGEDET_TRACK_REARM 1u	/* reset written pages, without a gap */

/**
 * pagedet_track_read - list the pages that were written, or may have been
 * Pages between the old and the new *@at that are in no range were not written.
 * @track: [in] from pagedet_track_new()
 * @at: [in,out] 0 to begin; then the value of the last call; 0 again at the end
 * @options: [in] PAGEDET_TRACK_REARM or 0
 * @ranges: [out] [len: n] ascending
 * @n: [in] size of @ranges in elements, at least 1
 * Return: how many elements of @ranges are filled in, or a negative errno.
 * Errors: EINVAL *@at is not of this range, or there is no room; E2BIG unknown
 *         options; ENOTSUP this method cannot read and arm in one step; ESRCH
 *         after fork, in the child; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_track_read(struct pagedet_track *track, uint64_t *at,
		       uint32_t options, struct pagedet_track_range *ranges,
		       uint32_t n);

/**
 * pagedet_track_why - explain why it is not known whether pages were written
 * @why: [in] PAGEDET_TRACK_NOT_ARMED ...
 * Return: the explanation, or NULL if there is no such reason [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_track_why(uint32_t why);

/**
 * pagedet_track_info - describe the method of tracking, and what it detects
 * @track: [in] from pagedet_track_new()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_track_info(const struct pagedet_track *track,
		       struct pagedet_track_info *ret);

/**
 * pagedet_track_free - stop tracking and free the tracker
 * Restores the range, except for huge pages that tracking has split.
 * @track: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_track_free(struct pagedet_track *track);
