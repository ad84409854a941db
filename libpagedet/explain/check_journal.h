/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The journal of the ext4 on a device, on that device or on another one. */
#ifndef PDET_EXPLAIN_CHECK_JOURNAL_H
#define PDET_EXPLAIN_CHECK_JOURNAL_H

#include "explain/check_device.h"
#include "kernel/ext4.h"
#include "kernel/jbd2.h"

struct pdet_check_journal {
	const struct pdet_check_device *device;
	struct pdet_check_device other; /* if it is not on the same one */
	struct pdet_ext4 fs;
	struct pdet_jbd2 log;
	int fd;			/* of the file that is checked, */
	uint64_t ino;		/* 0: of none */
	struct pdet_ext4_inode inode; /* after a replay; without links: the file
				 * is not there then */
	uint64_t super_at;	/* bytes; of its superblock on another device */
	uint64_t read_ns;	/* CLOCK_MONOTONIC when it was read, and */
	uint64_t took_ns;	/* how long that took */
	char why[160];		/* it could not be */
};

/* pdet_journal_open - of the file that is checked, or of the device itself. 0,
 * or negative errno: why says what is wrong; -EBUSY: what the disk has of the
 * inode cannot be read, for it is dirty in the cache of the device. */
int pdet_journal_open(struct pdet_check_journal *j,
		      const struct pdet_check_device *device,
		      const struct pdet_checked *c);
/* pdet_journal_again - as it is now. */
int pdet_journal_again(struct pdet_check_journal *j);
void pdet_journal_close(struct pdet_check_journal *j);

/* pdet_journal_block - what a replay would leave in a block of the device: 1
 * and its bytes, 0: it would not write it; or negative errno. */
int pdet_journal_block(struct pdet_check_journal *j, uint64_t block, void *buf);

/* pdet_journal_is_own - the byte of the device is of the log itself, which goes
 * past the cache. */
bool pdet_journal_is_own(const struct pdet_check_journal *j, uint64_t offset);

#endif
