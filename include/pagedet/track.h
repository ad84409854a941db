/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: which pages of this process were written. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Write tracking: which pages of this process were written
 */

enum pagedet_track_method {
	PAGEDET_TRACK_UFFD = 1,	/* userfaultfd, asynchronous write-protection,
				 * and PAGEMAP_SCAN */
	PAGEDET_TRACK_SOFT_DIRTY = 2 /* clear_refs: clears the bits of the whole
				 * process, also for others who use them */
};

#define PAGEDET_TRACK_BIT(method) ((uint32_t)1 << (method))

/* Who can write a page, as a bit number. */
enum pagedet_track_writer {
	PAGEDET_WRITER_STORE = 0, /* of any thread, through the range */
	PAGEDET_WRITER_KERNEL = 1, /* by these addresses: for read(2), also of
				 * O_DIRECT, for io_uring, for vhost */
	PAGEDET_WRITER_MEM_FILE = 2, /* /proc/PID/mem, ptrace */
	PAGEDET_WRITER_GIVE_BACK = 3, /* MADV_DONTNEED of private memory */
	PAGEDET_WRITER_OTHER_MAPPING = 4, /* the same memory mapped elsewhere */
	PAGEDET_WRITER_OTHER_PROCESS = 5,
	PAGEDET_WRITER_FILE = 6, /* write(2) to the file that is mapped */
	PAGEDET_WRITER_PUNCH = 7, /* a hole in it, or its end moved */
	PAGEDET_WRITER_DEVICE = 8, /* into pages pinned before it was armed: for
				 * VFIO, for buffers registered with io_uring */
	PAGEDET_WRITER_VCPU = 9	/* a virtual machine of KVM, whose memory it is
				 */
};

enum pagedet_track_state {
	PAGEDET_TRACK_UNKNOWN = 1,
	PAGEDET_TRACK_WRITTEN = 2
};

/* Why it is not known whether pages were written. */
enum pagedet_track_why {
	PAGEDET_TRACK_NOT_ARMED = 1, /* pagedet_track_arm() was not called */
	PAGEDET_TRACK_UNMAPPED = 2,
	PAGEDET_TRACK_REMAPPED = 3, /* mapped after it was armed */
	PAGEDET_TRACK_TAKEN = 4, /* another userfaultfd is registered there */
	PAGEDET_TRACK_KIND = 5,	/* memory that the kernel does not track */
	PAGEDET_TRACK_READ_ONLY = 6, /* cannot be written by this mapping */
	PAGEDET_TRACK_CUT = 7,	/* the range ends within a huge page */
	PAGEDET_TRACK_NO_ENTRY = 8, /* no page there: never was, or given back,
				 * which soft-dirty bits do not show */
	PAGEDET_TRACK_FAILED = 9 /* the kernel failed to look */
};

enum pagedet_track_option {
	PAGEDET_TRACK_COUNT_HUGE = 1 /* at arming; two more looks at it all */
};

struct pagedet_track_options {
	uint64_t size;		/* sizeof(struct pagedet_track_options) */
	uint32_t methods;	/* PAGEDET_TRACK_BIT()s allowed; 0 is that of
				 * PAGEDET_TRACK_UFFD alone */
	uint32_t options;	/* PAGEDET_TRACK_COUNT_HUGE */
};

#define PAGEDET_TRACK_OPTIONS_INIT \
	{ sizeof(struct pagedet_track_options), 0, 0 }

/* An element of arrays: it will not grow. */
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
	uint64_t armed;		/* pages of them, when last armed */
	uint64_t arms;		/* how often it was armed */
	uint64_t first_ns;	/* CLOCK_REALTIME when arming it last began */
	uint64_t last_ns;	/* and ended; 0 never */
	uint64_t huge_before;	/* pages mapped by huge entries before that */
	uint64_t huge_after;	/* and after it: what is less was split */
	uint32_t huge_state;	/* PAGEDET_HAVE, or why they are not known */
	uint32_t method;	/* PAGEDET_TRACK_* */
	uint32_t sees;		/* 1 << PAGEDET_WRITER_*: who is seen */
	uint32_t blind;		/* and who is not */
	uint32_t rearms;	/* 1: PAGEDET_TRACK_REARM can be had */
	uint32_t reserved;
};

/**
 * pagedet_track_new - prepare to track writes to memory of this process
 * Changes nothing yet. Only stores through this mapping are seen, and those
 * that info.sees names.
 * @pd: [in] for words; need not be open
 * @addr: [in] address, a multiple of the page size
 * @len: [in] bytes, a multiple of the page size
 * @options: [in,nullable]
 * @ret: [out] [owned: pagedet_track_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not whole pages, or none, or no such method; E2BIG options
 *         has a non-zero byte that this library does not know; ENOTSUP this
 *         kernel has no method that is allowed; EACCES the process may not use
 *         it; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_track_new(struct pagedet *pd, uint64_t addr, uint64_t len,
		      const struct pagedet_track_options *options,
		      struct pagedet_track **ret);

/**
 * pagedet_track_arm - from now on, pages count as not written
 * Kernel: UFFDIO_REGISTER, UFFDIO_WRITEPROTECT; or 4 into clear_refs. What is
 * written while it runs may count or not; called again, it forgets what was
 * not read.
 * @track: [in]
 * Return: 0; 1 some of the range is not armed, pagedet_track_read() says what
 *         and why; or a negative errno, and nothing is armed.
 * Errors: ENOTSUP nothing of it can be armed, in words; ESRCH after fork, in
 *         the child; EACCES ENOMEM EIO.
 * Since: 0.1
 */
int pagedet_track_arm(struct pagedet_track *track);

/* Options of pagedet_track_read(). */
#define PAGEDET_TRACK_REARM 1u	/* written pages count anew, without a gap */

/**
 * pagedet_track_read - which pages were written, or may have been
 * What is in no range was not written, from the old *@at to the new.
 * @track: [in]
 * @at: [in,out] 0 begins; then as it was left; 0 again at the end
 * @options: [in] PAGEDET_TRACK_REARM or 0
 * @ranges: [out] [len: n] ascending
 * @n: [in] how many fit, 1 or more
 * Return: how many there are, or a negative errno.
 * Errors: EINVAL *@at is not of this range, or there is no room; E2BIG unknown
 *         options; ENOTSUP this method cannot read and arm in one step; ESRCH
 *         after fork, in the child; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_track_read(struct pagedet_track *track, uint64_t *at,
		       uint32_t options, struct pagedet_track_range *ranges,
		       uint32_t n);

/**
 * pagedet_track_why - words for why it is not known
 * @why: [in] PAGEDET_TRACK_NOT_ARMED ...
 * Return: the words, NULL if there is no such reason [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_track_why(uint32_t why);

/**
 * pagedet_track_info - how it is tracked, who is seen, how much
 * @track: [in]
 * @ret: [in,out] size is set by the caller
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_track_info(const struct pagedet_track *track,
		       struct pagedet_track_info *ret);

/**
 * pagedet_track_free - stop tracking
 * The range is as it was before, but for huge pages that were split.
 * @track: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_track_free(struct pagedet_track *track);
