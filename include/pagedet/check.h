/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: assertions about the cached pages of a file. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Checks: assertions about the cached pages of a file
 */

/* The assertions. They are part of the ABI, as field ids are. */
enum pagedet_check_kind {
	PAGEDET_CHECK_CLEAN = 1, /* no page is dirty or under writeback */
	PAGEDET_CHECK_DISK = 2,	/* cached pages equal the disk */
	PAGEDET_CHECK_STABLE = 3, /* no page changes during its writeback */
	PAGEDET_CHECK_ABSENT = 4, /* no page is cached */
	PAGEDET_CHECK_COMMITTED = 5, /* cached pages equal what the disk would
				 * have after a crash now and a replay of the
				 * journal (ext4, xfs). If the range includes
				 * the end of the file, so must its size */
	PAGEDET_CHECK_ERRORS = 6 /* no writeback of cached pages has failed
				 * since a mark: for a file, for the filesystem
				 * of a directory or device, or for anything */
};

enum pagedet_verdict_id {
	PAGEDET_HOLDS = 1,
	PAGEDET_VIOLATED = 2,
	PAGEDET_CANNOT_TELL = 3
};

/* Why an assertion is violated, or why the check cannot tell. */
enum pagedet_cause {
	PAGEDET_CAUSE_NONE = 0,	/* it holds */
	/* causes of PAGEDET_VIOLATED */
	PAGEDET_CAUSE_DIRTY = 1,
	PAGEDET_CAUSE_WRITEBACK = 2,
	PAGEDET_CAUSE_NOT_WRITTEN = 3, /* differs from the disk and is dirty */
	PAGEDET_CAUSE_LOST_WRITE = 4, /* differs from the disk and is clean */
	PAGEDET_CAUSE_DIFFERENT = 5, /* differs; it is not known whether the
				 * write is lost or delayed */
	PAGEDET_CAUSE_CHANGED = 6, /* it changed during its writeback */
	PAGEDET_CAUSE_CACHED = 7,
	PAGEDET_CAUSE_ERROR = 8, /* a trace or a counter shows an error */
	PAGEDET_CAUSE_NOT_COMMITTED = 9, /* neither the disk nor a commit in the
				 * journal has it */
	/* causes of PAGEDET_CANNOT_TELL */
	PAGEDET_CAUSE_UNKNOWN = 32, /* the text of the verdict explains it */
	PAGEDET_CAUSE_ACCESS = 33, /* a privilege is missing */
	PAGEDET_CAUSE_KERNEL = 34, /* the kernel lacks a needed feature */
	PAGEDET_CAUSE_FILESYSTEM = 35, /* it does not tell the place of the
				 * data, or has no disk */
	PAGEDET_CAUSE_NETWORK = 36, /* another machine has the disk */
	PAGEDET_CAUSE_ENCODED = 37, /* encrypted, compressed, inline */
	PAGEDET_CAUSE_UNWRITTEN = 38, /* no data on the disk yet */
	PAGEDET_CAUSE_JOURNAL = 39, /* the journal has or may have a newer
				 * copy */
	PAGEDET_CAUSE_UNREADABLE = 40, /* cached, but not up to date */
	PAGEDET_CAUSE_RACED = 41, /* it changed during the check */
	PAGEDET_CAUSE_REPLACED = 42, /* the path now names another file, or the
				 * file became shorter */
	PAGEDET_CAUSE_IO = 43,	/* the disk could not be read */
	PAGEDET_CAUSE_TIMEOUT = 44 /* the deadline passed first */
};

/*
 * struct pagedet_check - start from PAGEDET_CHECK_INIT. pagedet_check() only
 * reads what it points to, and keeps none of it.
 */
struct pagedet_check {
	uint64_t size;		/* sizeof(struct pagedet_check) */
	const char *path;	/* [nullable] a regular file or a block device;
				 * for PAGEDET_CHECK_ERRORS also a directory;
				 * NULL: use fd */
	uint64_t first;		/* page offset */
	uint64_t pages;		/* number of pages, or PAGEDET_TO_END */
	uint64_t deadline_ns;	/* from the call; 0 no deadline */
	uint64_t watch_ns;	/* PAGEDET_CHECK_STABLE: how long to watch; 0 is
				 * one second */
	const void *mark;	/* [nullable] [len: mark_size]
				 * PAGEDET_CHECK_ERRORS: from pagedet_mark() or
				 * pagedet_mark_watch() */
	uint64_t mark_size;	/* bytes */
	uint32_t kind;		/* PAGEDET_CHECK_* */
	int32_t fd;		/* if path is NULL: open for reading, remains
				 * the caller's; -1 with PAGEDET_CHECK_ERRORS:
				 * check everything */
};

#define PAGEDET_CHECK_INIT \
	{ sizeof(struct pagedet_check), NULL, 0, PAGEDET_TO_END, 0, 0, NULL, \
	  0, 0, -1 }

struct pagedet_checked;

/*
 * The verdict on a range of pages. If a file has large folios, dirty and
 * writeback apply to the whole folio.
 */
struct pagedet_verdict {
	uint64_t size;		/* sizeof(struct pagedet_verdict) */
	uint64_t first;		/* page offset */
	uint64_t pages;
	uint64_t looked_at;	/* pages; for PAGEDET_CHECK_STABLE the number of
				 * reads of a page under writeback */
	uint64_t violations;	/* pages, or reads; an incomplete check may have
				 * missed more */
	uint64_t why;		/* text id for pagedet_checked_text() */
	uint32_t verdict;	/* PAGEDET_HOLDS ... */
	uint32_t cause;		/* PAGEDET_CAUSE_* */
};

/**
 * pagedet_check_by_name - find an assertion
 * @name: [in] "clean", "disk", "stable", "absent", "committed", "errors"
 * Return: PAGEDET_CHECK_*, or a negative errno.
 * Errors: ENOENT there is no such assertion.
 * Since: 0.1
 */
int pagedet_check_by_name(const char *name);

/**
 * pagedet_check_name - name an assertion
 * @kind: [in] PAGEDET_CHECK_*
 * Return: the name, or NULL if the number is not an assertion [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_check_name(uint32_t kind);

/**
 * pagedet_verdict_name - name a verdict
 * @verdict: [in] PAGEDET_HOLDS, PAGEDET_VIOLATED, PAGEDET_CANNOT_TELL
 * Return: "holds", "violated", "unknown", or NULL for another number [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_verdict_name(uint32_t verdict);

/**
 * pagedet_cause_name - name a cause
 * @cause: [in] PAGEDET_CAUSE_*
 * Return: "lost_write" ..., or NULL if the number is not a cause [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_cause_name(uint32_t cause);

/**
 * pagedet_check - check an assertion
 * The check reads nothing into the cache, writes nothing out and marks no page.
 * If it cannot tell, that is a verdict and not an error.
 * @pd: [in] opened: the running kernel
 * @check: [in] the assertion and its object
 * @ret: [out] [owned: pagedet_checked_free] the results
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, no such kind, an empty range, fd is not open for
 *         reading; except for PAGEDET_CHECK_ERRORS: neither path nor fd, or
 *         they are neither a regular file nor a block device; E2BIG check has a
 *         non-zero byte that this library does not know; ENOENT no such file;
 *         EACCES it may not be read; EBADMSG mark is not a mark, or damaged;
 *         ENOTSUP the handle is not of the running kernel; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_check(struct pagedet *pd, const struct pagedet_check *check,
		  struct pagedet_checked **ret);

/**
 * pagedet_checked_next - get the next range that is violated or unknown
 * @checked: [in] from pagedet_check()
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_checked_next(struct pagedet_checked *checked,
			 struct pagedet_verdict *ret);

/**
 * pagedet_checked_whole - get the verdict on the whole check
 * It is violated if one range is. Otherwise it is unknown if one range is.
 * @checked: [in] from pagedet_check()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_checked_whole(const struct pagedet_checked *checked,
			  struct pagedet_verdict *ret);

/**
 * pagedet_checked_text - get the explanation of a verdict
 * @checked: [in] from pagedet_check()
 * @id: [in] why of a verdict
 * Return: the explanation, or NULL if there is none [nullable]
 *         [borrowed: pagedet_checked_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_checked_text(const struct pagedet_checked *checked,
				 uint64_t id);

/**
 * pagedet_checked_free - free the results
 * @checked: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_checked_free(struct pagedet_checked *checked);

/**
 * pagedet_mark - record the error counters, for PAGEDET_CHECK_ERRORS
 * The mark holds the kernel's current counters: errors_count, warning_count and
 * msg_count of each ext4; error_stats of each btrfs and the number of its
 * subvolumes; ioerr_cnt of disks. For pagedet_collect() it also holds counters
 * of memory errors: ce_count and ue_count of each EDAC memory controller,
 * machine check exceptions, and memory_failure of each node.
 * @pd: [in] opened: the running kernel
 * @mark: [out,nullable] [len: size] receives the mark
 * @size: [in] bytes of @mark; if too small, nothing is written
 * Return: how many bytes the mark takes, or a negative errno.
 * Errors: EINVAL not open; ENOTSUP the handle is not of the running kernel;
 *         ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_mark(struct pagedet *pd, void *mark, size_t size);

/**
 * pagedet_mark_watch - make a mark, and trace failed writeback from now on
 * The counters miss some failed writes, but the kernel records each one in its
 * file. This call creates a tracefs instance, named in the mark, with at most
 * 128 KiB of buffers per processor. The instance stays until
 * pagedet_mark_end(), even after the process has ended. There are never more
 * than 8 of them: the next one removes the oldest. If the instance cannot be
 * created, the mark says why and holds only the counters. Source:
 * filemap_set_wb_err, file_check_and_advance_wb_err
 * (include/trace/events/filemap.h).
 * @pd: [in] opened: the running kernel
 * @mark: [out,nullable] [len: size] receives the mark
 * @size: [in] bytes of @mark; if too small, nothing is written and no trace
 *        begins
 * Return: how many bytes the mark takes; an upper bound if it was not written;
 *         or a negative errno.
 * Errors: EINVAL not open; ENOTSUP the handle is not of the running kernel;
 *         ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_mark_watch(struct pagedet *pd, void *mark, size_t size);

/**
 * pagedet_mark_end - end the trace of a mark
 * Does nothing if the mark has no trace, or its trace has ended. The mark
 * remains usable, but from then on it can show only a counter that rose.
 * @pd: [in] opened: the running kernel
 * @mark: [in] [len: size] from pagedet_mark_watch()
 * @size: [in] bytes
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; ENOTSUP the handle is not of the running kernel, or
 *         it has no tracefs; EBADMSG mark is not a mark, or damaged; EACCES it
 *         takes root; EIO another process reads the trace.
 * Since: 0.1
 */
int pagedet_mark_end(struct pagedet *pd, const void *mark, size_t size);
