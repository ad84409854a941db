/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The journal of an ext4, on its own device or on another one. */
#ifndef PDET_CHECK_JOURNAL_H
#define PDET_CHECK_JOURNAL_H

#include "check/device.h"
#include "disk/ext4.h"
#include "disk/jbd2.h"

struct pdet_check_journal {
	const struct pdet_check_device *device;
	struct pdet_check_device other; /* if it is on another device */
	struct pdet_ext4 fs;
	struct pdet_jbd2 log;
	int fd;			/* of the checked file, */
	uint64_t ino;		/* 0: no file */
	struct pdet_ext4_inode inode; /* number of links after a replay; 0: the
				       * file does not exist then */
	int fast_commits;	/* fast commits that were read for it */
	uint64_t super_at;	/* bytes; superblock on the other device */
	uint64_t read_ns;	/* CLOCK_MONOTONIC of the read */
	uint64_t took_ns;	/* duration of the read */
	char why[160];		/* why it failed */
};

/*
 * pdet_journal_open - read the journal for the checked file, or for the device
 * itself. Returns 0, or negative errno with the explanation in *why. -EBUSY:
 * the inode is dirty in the device's cache, so the disk's copy cannot be read.
 */
int pdet_journal_open(struct pdet_check_journal *j,
		      const struct pdet_check_device *device,
		      const struct pdet_checked *c);
/* pdet_journal_again - read it again. */
int pdet_journal_again(struct pdet_check_journal *j);
void pdet_journal_close(struct pdet_check_journal *j);

/*
 * pdet_journal_block - get the bytes that a replay would write to a block of
 * the device. Returns 1 and the bytes, 0 if it would not write the block, or
 * negative errno.
 */
int pdet_journal_block(struct pdet_check_journal *j, uint64_t block, void *buf);

/*
 * pdet_journal_is_own - whether the byte of the device belongs to the log
 * itself, which bypasses the cache.
 */
bool pdet_journal_is_own(const struct pdet_check_journal *j, uint64_t offset);

#endif
