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
	uint64_t super_at;	/* bytes; of its superblock on another device */
	uint64_t read_ns;	/* CLOCK_MONOTONIC when it was read */
	char why[160];		/* it could not be */
};

/* pdet_journal_open - 0, or negative errno: why says what is wrong. */
int pdet_journal_open(struct pdet_check_journal *j,
		      const struct pdet_check_device *device);
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
