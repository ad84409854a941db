/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The journal of ext4 (include/linux/jbd2.h, fs/jbd2/recovery.c): which blocks
 * a replay would write, and with what. A log of a filesystem that is in use
 * can be read as well as one after a crash.
 */
#ifndef PDET_KERNEL_JBD2_H
#define PDET_KERNEL_JBD2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A copy of a block of the filesystem, in the log. */
struct pdet_jbd2_copy {
	uint64_t block;		/* of the filesystem */
	uint32_t at;		/* block of the log */
	uint32_t sequence;	/* of its transaction */
	uint32_t checksum;
	uint32_t escaped;	/* its first word is not what stands there */
};

struct pdet_jbd2_revoke {
	uint64_t block;
	uint32_t sequence;
	uint32_t reserved;
};

struct pdet_jbd2 {
	/* Bytes of the log; short only at its end; or negative errno. */
	ssize_t (*read_at)(void *arg, void *buf, size_t n, uint64_t offset);
	void *arg;
	/* from its superblock */
	uint32_t block_size;
	uint32_t max_len, first, last; /* blocks: all; the log goes round in
				 * first .. last - 1 */
	uint32_t start, sequence; /* of what a replay begins with; start 0:
				 * there is nothing to replay */
	uint32_t incompat;
	uint32_t seed;		/* of checksums */
	bool has_checksums;
	bool fast_commits;	/* there may be commits of another form, behind
				 * the log, which are not read */
	/* from the log: what was committed, by block, the last one last */
	struct { struct pdet_jbd2_copy *data; size_t n, cap; } copies;
	struct { struct pdet_jbd2_revoke *data; size_t n, cap; } revokes;
	uint32_t transactions;	/* with a commit block */
	uint32_t uncommitted;	/* blocks of the one without, at the end */
	uint32_t next;		/* sequence of the one that is expected next */
};

/* pdet_jbd2_open - read the superblock; read_at and arg are set. 0, -EBADMSG:
 * it is none, or one that we do not know; or what reading says. */
int pdet_jbd2_open(struct pdet_jbd2 *j);

/* pdet_jbd2_walk - follow the log from its start. 0, -ENOMEM, or what reading
 * says. A log that ends somewhere is no error: a crash ends one. */
int pdet_jbd2_walk(struct pdet_jbd2 *j);

/* pdet_jbd2_find - what a replay would write to @block last; NULL: nothing. */
const struct pdet_jbd2_copy *pdet_jbd2_find(const struct pdet_jbd2 *j,
					    uint64_t block);

/* pdet_jbd2_read - the bytes of a copy, block_size of them. -EBADMSG: they are
 * not what was logged. */
int pdet_jbd2_read(const struct pdet_jbd2 *j, const struct pdet_jbd2_copy *copy,
		   void *buf);

void pdet_jbd2_free(struct pdet_jbd2 *j);

#endif
