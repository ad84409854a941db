/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: assertions about the cached pages of a file. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Checks: assertions about the cached pages of a file
 */

/* What is asserted. Pinned, as field ids are. */
enum pagedet_check_kind {
	PAGEDET_CHECK_CLEAN = 1, /* no page is dirty or under writeback */
	PAGEDET_CHECK_DISK = 2,	/* what is cached is what is on the disk */
	PAGEDET_CHECK_STABLE = 3, /* no page changes while it is written out */
	PAGEDET_CHECK_ABSENT = 4, /* no page is cached */
	PAGEDET_CHECK_COMMITTED = 5, /* what is cached is what would be on the
				 * disk after a crash now and a replay of the
				 * journal (ext4, xfs) */
	PAGEDET_CHECK_ERRORS = 6 /* no writeback of cached pages failed since a
				 * mark: of a file, of the filesystem that a
				 * directory or device has, or of any */
};

enum pagedet_verdict_id {
	PAGEDET_HOLDS = 1,
	PAGEDET_VIOLATED = 2,
	PAGEDET_CANNOT_TELL = 3
};

/* Why an assertion is violated, or why that cannot be told. */
enum pagedet_cause {
	PAGEDET_CAUSE_NONE = 0,	/* it holds */
	/* violated */
	PAGEDET_CAUSE_DIRTY = 1,
	PAGEDET_CAUSE_WRITEBACK = 2,
	PAGEDET_CAUSE_NOT_WRITTEN = 3, /* differs from the disk, and is dirty */
	PAGEDET_CAUSE_LOST_WRITE = 4, /* differs from the disk, and is clean */
	PAGEDET_CAUSE_DIFFERENT = 5, /* differs; whether it is lost or held back
				 * is not known */
	PAGEDET_CAUSE_CHANGED = 6, /* while it was written out */
	PAGEDET_CAUSE_CACHED = 7,
	PAGEDET_CAUSE_ERROR = 8, /* it was traced, or a counter says so */
	PAGEDET_CAUSE_NOT_COMMITTED = 9, /* neither the disk nor a commit of
				 * the journal has it */
	/* cannot tell */
	PAGEDET_CAUSE_UNKNOWN = 32, /* as the words say */
	PAGEDET_CAUSE_ACCESS = 33, /* a privilege is missing */
	PAGEDET_CAUSE_KERNEL = 34, /* the kernel lacks what it takes */
	PAGEDET_CAUSE_FILESYSTEM = 35, /* it does not say where the data is */
	PAGEDET_CAUSE_NETWORK = 36, /* the disk is another machine's */
	PAGEDET_CAUSE_ENCODED = 37, /* encrypted, compressed, inline */
	PAGEDET_CAUSE_UNWRITTEN = 38, /* no data on the disk yet */
	PAGEDET_CAUSE_JOURNAL = 39, /* the journal has, or may have, a newer
				 * copy */
	PAGEDET_CAUSE_UNREADABLE = 40, /* in the cache, and not up to date */
	PAGEDET_CAUSE_RACED = 41, /* it changed while it was looked at */
	PAGEDET_CAUSE_REPLACED = 42, /* the path names another file now, or the
				 * file became shorter */
	PAGEDET_CAUSE_IO = 43,	/* the disk could not be read */
	PAGEDET_CAUSE_TIMEOUT = 44 /* the deadline came first */
};

/* struct pagedet_check - start from PAGEDET_CHECK_INIT. All that it points to
 * is only read by pagedet_check(). */
struct pagedet_check {
	uint64_t size;		/* sizeof(struct pagedet_check) */
	const char *path;	/* [nullable] a regular file or a block device,
				 * of PAGEDET_CHECK_ERRORS also a directory;
				 * NULL: fd */
	uint64_t first;		/* page offset */
	uint64_t pages;		/* or PAGEDET_TO_END */
	uint64_t deadline_ns;	/* from the call; 0 none */
	uint64_t watch_ns;	/* PAGEDET_CHECK_STABLE: how long to look; 0 is
				 * a second */
	const void *mark;	/* [nullable] [len: mark_size]
				 * PAGEDET_CHECK_ERRORS: of pagedet_mark() or
				 * pagedet_mark_watch() */
	uint64_t mark_size;	/* bytes */
	uint32_t kind;		/* PAGEDET_CHECK_* */
	int32_t fd;		/* without path: open for reading, stays the
				 * caller's; -1 none: PAGEDET_CHECK_ERRORS of
				 * everything */
};

#define PAGEDET_CHECK_INIT \
	{ sizeof(struct pagedet_check), NULL, 0, PAGEDET_TO_END, 0, 0, NULL, \
	  0, 0, -1 }

struct pagedet_checked;

/* What is so in a range of pages: of a file whose folios are large, dirty and
 * writeback are those of the whole folio. */
struct pagedet_verdict {
	uint64_t size;		/* sizeof(struct pagedet_verdict) */
	uint64_t first;		/* page offset */
	uint64_t pages;
	uint64_t looked_at;	/* pages; of PAGEDET_CHECK_STABLE times that a
				 * page was looked at under writeback */
	uint64_t violations;	/* pages, or times; more may have gone unseen
				 * where not all could be looked at */
	uint64_t why;		/* text id for pagedet_checked_text() */
	uint32_t verdict;	/* PAGEDET_HOLDS ... */
	uint32_t cause;		/* PAGEDET_CAUSE_* */
};

/**
 * pagedet_check_by_name - find an assertion
 * @name: [in] "clean", "disk", "stable", "absent", "committed", "errors"
 * Return: PAGEDET_CHECK_*, or -ENOENT.
 * Errors: ENOENT.
 * Since: 0.1
 */
int pagedet_check_by_name(const char *name);

/**
 * pagedet_check_name - the name of an assertion
 * @kind: [in] PAGEDET_CHECK_*
 * Return: the name, or NULL for a number that means nothing here
 *         [nullable] [borrowed: the library].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_check_name(uint32_t kind);

/**
 * pagedet_verdict_name - the name of a verdict
 * @verdict: [in] PAGEDET_HOLDS, PAGEDET_VIOLATED, PAGEDET_CANNOT_TELL
 * Return: "holds", "violated", "unknown", or NULL for another number
 *         [nullable] [borrowed: the library].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_verdict_name(uint32_t verdict);

/**
 * pagedet_cause_name - the name of a cause
 * @cause: [in] PAGEDET_CAUSE_*
 * Return: "lost_write" ..., or NULL for a number that means nothing here
 *         [nullable] [borrowed: the library].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_cause_name(uint32_t cause);

/**
 * pagedet_check - check an assertion
 * Nothing is read into the cache, written out or marked. What cannot be told
 * is a verdict, not an error.
 * @pd: [in] opened: the running kernel
 * @check: [in]
 * @ret: [out] [owned: pagedet_checked_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, no such kind, neither path nor fd, an empty range,
 *         fd is not open for reading, what is named is neither a regular file
 *         nor a block device; E2BIG check has a non-zero byte that this library
 *         does not know; ENOENT no such file; EACCES it may not be read;
 *         EBADMSG mark is none, or damaged; ENOTSUP the handle is not of the
 *         running kernel; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_check(struct pagedet *pd, const struct pagedet_check *check,
		  struct pagedet_checked **ret);

/**
 * pagedet_checked_next - the next range that is not as asserted, or unknown
 * @checked: [in]
 * @ret: [in,out] size is the caller's
 * Return: 1, or 0 at the end.
 * Errors: EINVAL size is that of no version.
 * Since: 0.1
 */
int pagedet_checked_next(struct pagedet_checked *checked,
			 struct pagedet_verdict *ret);

/**
 * pagedet_checked_whole - the verdict on all that was asked
 * Violated if a range is; else unknown, if something could not be told.
 * @checked: [in]
 * @ret: [in,out] size is the caller's
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is that of no version.
 * Since: 0.1
 */
int pagedet_checked_whole(const struct pagedet_checked *checked,
			  struct pagedet_verdict *ret);

/**
 * pagedet_checked_text - the words behind a verdict
 * @checked: [in]
 * @id: [in] why of a verdict
 * Return: the words, or NULL: there are none
 *         [nullable] [borrowed: pagedet_checked_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_checked_text(const struct pagedet_checked *checked,
				 uint64_t id);

/**
 * pagedet_checked_free - free what was found
 * @checked: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_checked_free(struct pagedet_checked *checked);

/**
 * pagedet_mark - note how many errors there were, for PAGEDET_CHECK_ERRORS
 * What the kernel counts now: errors_count, warning_count and msg_count of each
 * ext4, error_stats of each btrfs, ioerr_cnt of disks. And for
 * pagedet_collect() those of memory: ce_count and ue_count of each EDAC memory
 * controller, machine check exceptions, memory_failure of each node.
 * @pd: [in] opened: the running kernel
 * @mark: [out,nullable] [len: size]
 * @size: [in] bytes that fit; too few: nothing is written
 * Return: how many bytes it takes, or a negative errno.
 * Errors: EINVAL not open; ENOTSUP the handle is not of the running kernel;
 *         ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_mark(struct pagedet *pd, void *mark, size_t size);

/**
 * pagedet_mark_watch - the same, and trace failed writeback from now on
 * Not each failed write is counted, but the kernel notes each at its file.
 * Begins an instance of tracefs of its own, named in the mark, with at most 128
 * KiB of buffers for each processor, which stays until pagedet_mark_end(): also
 * when the process is gone. Of these there are never more than 8: the next one
 * ends the oldest. Where that cannot be, the mark says why, and has the
 * counters only.
 * Source: filemap_set_wb_err, file_check_and_advance_wb_err
 * (include/trace/events/filemap.h).
 * @pd: [in] opened: the running kernel
 * @mark: [out,nullable] [len: size]
 * @size: [in] bytes that fit; too few: nothing is written, and nothing begins
 * Return: how many bytes it takes, or takes at most if it was not written; or a
 *         negative errno.
 * Errors: EINVAL not open; ENOTSUP the handle is not of the running kernel;
 *         ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_mark_watch(struct pagedet *pd, void *mark, size_t size);

/**
 * pagedet_mark_end - end the trace of a mark
 * Nothing is done for a mark that has none, or whose has ended. The mark stays
 * what it is; the best that it can show from then on is a counter that rose.
 * @pd: [in] opened: the running kernel
 * @mark: [in] [len: size]
 * @size: [in] bytes
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; ENOTSUP the handle is not of the running kernel, or
 *         it has no tracefs; EBADMSG mark is none, or damaged; EACCES it takes
 *         root; EIO somebody reads the trace.
 * Since: 0.1
 */
int pagedet_mark_end(struct pagedet *pd, const void *mark, size_t size);
