/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The log of xfs (fs/xfs/libxfs/xfs_log_format.h, fs/xfs/xfs_log_recover.c):
 * where it begins and ends, and what a replay would make of one inode. A log of
 * a filesystem that is in use can be read as well as one after a crash.
 */
#ifndef PDET_KERNEL_XFS_LOG_H
#define PDET_KERNEL_XFS_LOG_H

#include "kernel/xfs.h"

struct pdet_xfs_log {
	/* Bytes of the log; short only at its end; or negative errno. */
	ssize_t (*read_at)(void *arg, void *buf, size_t n, uint64_t offset);
	void *arg;
	const struct pdet_xfs *fs;
	uint32_t sectors;	/* of 512 bytes, it goes round in them */
	/* what pdet_xfs_log_open() found */
	uint32_t head;		/* sector that is written next */
	uint64_t tail_lsn;	/* where a replay begins: cycle << 32 and
				 * sector */
	uint64_t last_lsn;	/* of the last record */
	bool empty;		/* never written to */
	bool clean;		/* unmounted: there is nothing to replay */
	/* what pdet_xfs_log_find() found */
	uint32_t records;
	uint32_t checkpoints;	/* that are complete */
	bool exchanges;		/* a replay may swap blocks of files */
};

/* pdet_xfs_log_open - find both ends; read_at, arg and fs are set. 0, -EBADMSG:
 * it is none, or damaged; -ENOMEM, or what reading says. */
int pdet_xfs_log_open(struct pdet_xfs_log *log);

/* pdet_xfs_log_find - put what a replay would change of inode @ino over what
 * the disk has of it. 0, -EBADMSG, -ENOMEM, or what reading says. */
int pdet_xfs_log_find(struct pdet_xfs_log *log, uint64_t ino,
		      struct pdet_xfs_inode *inode);

#endif
