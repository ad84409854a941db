/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the log of xfs (fs/xfs/libxfs/xfs_log_format.h,
 * fs/xfs/xfs_log_recover.c): its head and tail, and the effect of a replay on
 * one inode. It reads the log of a mounted filesystem as well as one after a
 * crash.
 */
#ifndef PDET_DISK_XFS_LOG_H
#define PDET_DISK_XFS_LOG_H

#include "disk/xfs.h"

struct pdet_xfs_log {
	/*
	 * Reads bytes of the log. Returns fewer only at its end, or a negative
	 * errno.
	 */
	ssize_t (*read_at)(void *arg, void *buf, size_t n, uint64_t offset);
	void *arg;
	const struct pdet_xfs *fs;
	uint32_t sectors;	/* log size in sectors of 512 bytes */
	/* set by pdet_xfs_log_open() */
	uint32_t head;		/* sector to be written next */
	uint64_t tail_lsn;	/* where a replay begins: cycle << 32 |
				 * sector */
	uint64_t last_lsn;	/* of the last record */
	bool empty;		/* never written */
	bool clean;		/* unmounted: nothing to replay */
	/* set by pdet_xfs_log_find() */
	uint32_t records;
	uint32_t checkpoints;	/* number of complete ones */
	bool exchanges;		/* a replay may exchange blocks between files */
};

/* pdet_xfs_log_open - find head and tail; read_at, arg and fs must be set.
 * Returns 0, -EBADMSG if it is damaged or not a log, -ENOMEM, or a failure of
 * read_at. */
int pdet_xfs_log_open(struct pdet_xfs_log *log);

/* pdet_xfs_log_find - apply what a replay would change in inode @ino to its
 * state on the disk. Returns 0, -EBADMSG, -ENOMEM, or a failure of read_at. */
int pdet_xfs_log_find(struct pdet_xfs_log *log, uint64_t ino,
		      struct pdet_xfs_inode *inode);

#endif
