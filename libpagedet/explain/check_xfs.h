/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The log of the xfs on a device, and what a replay would make of a file. */
#ifndef PDET_EXPLAIN_CHECK_XFS_H
#define PDET_EXPLAIN_CHECK_XFS_H

#include "explain/check_device.h"
#include "kernel/xfs_log.h"

struct pdet_check_xfs {
	bool open;
	const struct pdet_check_device *device;
	struct pdet_check_device other; /* that has the log, if it is another */
	struct pdet_xfs fs;
	struct pdet_xfs_log log;
	struct pdet_xfs_inode inode; /* after a replay */
	uint64_t ino;		/* 0: of none */
	uint64_t read_ns;	/* CLOCK_MONOTONIC when it was read, and */
	uint64_t took_ns;	/* how long that took */
	char why[160];		/* it could not be */
};

/* pdet_xfs_journal_open - of the file that is checked, or of the device itself.
 * 0, or negative errno: why says what is wrong; -EBADMSG it is none, or one
 * that cannot be replayed here. */
int pdet_xfs_journal_open(struct pdet_check_xfs *x,
			  const struct pdet_check_device *device,
			  const struct pdet_checked *c);
/* pdet_xfs_journal_again - as it is now. */
int pdet_xfs_journal_again(struct pdet_check_xfs *x);
void pdet_xfs_journal_close(struct pdet_check_xfs *x);

/* pdet_xfs_journal_text - where it begins and ends. */
void pdet_xfs_journal_text(const struct pdet_check_xfs *x, char *buf,
			   size_t size);

#endif
