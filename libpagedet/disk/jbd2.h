/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the journal of ext4 (include/linux/jbd2.h, fs/jbd2/recovery.c): the
 * blocks that a replay would write, and their contents. It reads the log of a
 * mounted filesystem as well as one after a crash.
 */
#ifndef PDET_DISK_JBD2_H
#define PDET_DISK_JBD2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A copy of a filesystem block in the log. */
struct pdet_jbd2_copy {
	uint64_t block;		/* block of the filesystem */
	uint32_t at;		/* block of the log */
	uint32_t sequence;	/* of its transaction */
	uint32_t checksum;
	uint32_t escaped;	/* the log has zero in place of its first
				 * word */
};

struct pdet_jbd2_revoke {
	uint64_t block;
	uint32_t sequence;
	uint32_t reserved;
};

struct pdet_jbd2 {
	/*
	 * Reads bytes of the log. Returns fewer only at its end, or a negative
	 * errno.
	 */
	ssize_t (*read_at)(void *arg, void *buf, size_t n, uint64_t offset);
	void *arg;
	/* from the superblock */
	uint32_t block_size;
	uint32_t max_len, first, last; /* blocks is the total; the log wraps
				        * within first .. last - 1 */
	uint32_t start, sequence; /* where a replay begins; if start is 0, there
				   * is nothing to replay */
	uint32_t incompat;
	uint32_t seed;		/* for checksums */
	bool has_checksums;
	bool fast_commits;	/* fast commits may follow the log: ext4_fc.h */
	/* committed entries of the log, sorted by block, oldest first */
	struct { struct pdet_jbd2_copy *data; size_t n, cap; } copies;
	struct { struct pdet_jbd2_revoke *data; size_t n, cap; } revokes;
	uint32_t transactions;	/* number with a commit block */
	uint32_t uncommitted;	/* blocks of the incomplete one at the end */
	uint32_t next;		/* sequence expected next */
};

/* pdet_jbd2_open - read the superblock; read_at and arg must be set. Returns 0,
 * -EBADMSG if it is not a journal or has an unknown version, or a failure of
 * read_at. */
int pdet_jbd2_open(struct pdet_jbd2 *j);

/* pdet_jbd2_walk - follow the log from its start. Returns 0, -ENOMEM, or a
 * failure of read_at. The end of the log is not an error: a crash may end it
 * anywhere. */
int pdet_jbd2_walk(struct pdet_jbd2 *j);

/*
 * pdet_jbd2_find - the last copy that a replay would write to @block; NULL if
 * there is none.
 */
const struct pdet_jbd2_copy *pdet_jbd2_find(const struct pdet_jbd2 *j,
					    uint64_t block);

/* pdet_jbd2_read - read the block_size bytes of a copy. -EBADMSG: the checksum
 * does not match. */
int pdet_jbd2_read(const struct pdet_jbd2 *j, const struct pdet_jbd2_copy *copy,
		   void *buf);

void pdet_jbd2_free(struct pdet_jbd2 *j);

#endif
