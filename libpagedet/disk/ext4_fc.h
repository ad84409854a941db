/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Replays fast commits of ext4 (fs/ext4/fast_commit.h): changes to files since
 * the last transaction, stored after the journal's log.
 */
#ifndef PDET_DISK_EXT4_FC_H
#define PDET_DISK_EXT4_FC_H

#include "disk/ext4.h"
#include "disk/jbd2.h"

/* pdet_ext4_fc_replay - apply fast commits to an inode in its state after a
 * replay of the log. The log must have been walked. Returns the number of
 * complete fast commits. -EBADMSG: they are damaged, or could not be followed;
 * -ENOMEM; or a failure of read_at. */
int pdet_ext4_fc_replay(const struct pdet_jbd2 *log, const struct pdet_ext4 *fs,
			uint64_t ino, struct pdet_ext4_inode *inode);

#endif
