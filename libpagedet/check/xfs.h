/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The log of an xfs, and a file's state after a replay. */
#ifndef PDET_CHECK_XFS_H
#define PDET_CHECK_XFS_H

#include "check/device.h"
#include "disk/xfs_log.h"

struct pdet_check_xfs {
	bool open;
	const struct pdet_check_device *device;
	struct pdet_check_device other; /* the device of an external log */
	struct pdet_xfs fs;
	struct pdet_xfs_log log;
	struct pdet_xfs_inode inode; /* after a replay */
	int file_fd;		/* of the checked file, */
	uint64_t ino;		/* 0: no file */
	uint64_t read_ns;	/* CLOCK_MONOTONIC of the read */
	uint64_t took_ns;	/* duration of the read */
	char why[160];		/* why it failed */
};

/*
 * pdet_xfs_journal_open - read the log for the checked file, or for the device
 * itself. Returns 0, or negative errno with the explanation in *why. -EBADMSG:
 * it is not a log, or it cannot be replayed here.
 */
int pdet_xfs_journal_open(struct pdet_check_xfs *x,
			  const struct pdet_check_device *device,
			  const struct pdet_checked *c);
/* pdet_xfs_journal_again - read it again. */
int pdet_xfs_journal_again(struct pdet_check_xfs *x);
void pdet_xfs_journal_close(struct pdet_check_xfs *x);

/* pdet_xfs_journal_text - write where it begins and ends. */
void pdet_xfs_journal_text(const struct pdet_check_xfs *x, char *buf,
			   size_t size);

#endif
