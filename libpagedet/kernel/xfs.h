/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * As much of xfs (version 5; fs/xfs/libxfs/xfs_format.h, and "XFS Algorithms &
 * Data Structures") as it takes to find the log, and where a file's data is
 * that an inode names itself.
 */
#ifndef PDET_KERNEL_XFS_H
#define PDET_KERNEL_XFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pdet_xfs {
	/* Bytes of the device; short only at its end; or negative errno. */
	ssize_t (*read_at)(void *arg, void *buf, size_t n, uint64_t offset);
	void *arg;
	/* from the superblock */
	uint32_t block_size;
	uint64_t blocks;
	uint32_t ag_blocks, ag_count;
	unsigned ag_shift;	/* of the number of an allocation group */
	uint32_t inode_size;
	unsigned inode_shift;	/* inodes in a block */
	uint8_t uuid[16];
	uint64_t log_at;	/* bytes; 0: on another device */
	uint64_t log_bytes;
};

/* Blocks of a file that follow each other on the disk, too. */
struct pdet_xfs_run {
	uint64_t at;		/* block of the file */
	uint64_t place;		/* bytes, on the disk */
	uint64_t n;		/* blocks */
	bool unwritten;		/* reads as zeroes */
};

struct pdet_xfs_inode {
	bool known;		/* it stands there, whole */
	uint32_t links;		/* 0: a replay removes it */
	uint64_t size;		/* bytes of the file */
	uint64_t lsn;		/* in the log, of what was written there last */
	uint64_t extents;
	uint8_t format;		/* PDET_XFS_EXTENTS; others are not read */
	bool shares;		/* blocks with other files */
	struct { struct pdet_xfs_run *data; size_t n, cap; } runs;
};

#define PDET_XFS_EXTENTS 2
#define PDET_XFS_CORE_BYTES 176

/* pdet_xfs_open - read the superblock; read_at and arg are set. -EBADMSG: it is
 * none, or of another version. */
int pdet_xfs_open(struct pdet_xfs *fs);

/* pdet_xfs_read_inode - as it stands at its place on the disk, into an empty
 * one; where there is none, one without data. 0: known says whether it is
 * whole; -EBADMSG: there is no such place; or what reading says. */
int pdet_xfs_read_inode(const struct pdet_xfs *fs, uint64_t ino,
			struct pdet_xfs_inode *ret);

/* pdet_xfs_take_core, _take_extents - an inode's core, little-endian as in the
 * log or not; and its extents. False: they cannot be, or there is no memory. */
bool pdet_xfs_take_core(struct pdet_xfs_inode *inode, const uint8_t *core,
			bool little);
bool pdet_xfs_take_extents(const struct pdet_xfs *fs,
			   struct pdet_xfs_inode *inode, const uint8_t *data,
			   size_t n);

void pdet_xfs_inode_free(struct pdet_xfs_inode *inode);

#endif
