/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads xfs (version 5; fs/xfs/libxfs/xfs_format.h, and "XFS Algorithms & Data
 * Structures"). It reads only enough to find the log, and the data of a file
 * with extents in its inode.
 */
#ifndef PDET_DISK_XFS_H
#define PDET_DISK_XFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pdet_xfs {
	/*
	 * Reads bytes of the device. Returns fewer only at its end, or a
	 * negative errno.
	 */
	ssize_t (*read_at)(void *arg, void *buf, size_t n, uint64_t offset);
	void *arg;
	/* from the superblock */
	uint32_t block_size;
	uint64_t blocks;
	uint32_t ag_blocks, ag_count;
	unsigned ag_shift;	/* block >> this is its allocation group */
	uint32_t inode_size;
	unsigned inode_shift;	/* log2 of the inodes in a block */
	uint8_t uuid[16];
	uint64_t log_at;	/* bytes; 0: on another device */
	uint64_t log_bytes;
};

/* Blocks of a file that are also contiguous on the disk. */
struct pdet_xfs_run {
	uint64_t at;		/* block in the file */
	uint64_t place;		/* byte offset on the disk */
	uint64_t n;		/* number of blocks */
	bool unwritten;		/* reads as zeroes */
};

struct pdet_xfs_inode {
	bool known;		/* complete on the disk */
	uint32_t links;		/* 0: a replay removes it */
	uint32_t generation;	/* differs if the inode number was reused */
	uint64_t size;		/* file size in bytes */
	uint64_t lsn;		/* position in the log of its last change on the
				 * disk */
	uint64_t extents;
	uint8_t format;		/* PDET_XFS_EXTENTS; others are not supported */
	bool shares;		/* shares blocks with other files */
	struct { struct pdet_xfs_run *data; size_t n, cap; } runs;
};

#define PDET_XFS_EXTENTS 2
#define PDET_XFS_CORE_BYTES 176

/* pdet_xfs_open - read the superblock; read_at and arg must be set. -EBADMSG:
 * not xfs, or of another version. */
int pdet_xfs_open(struct pdet_xfs *fs);

/* pdet_xfs_read_inode - read an inode from the disk into an empty one; an
 * unused inode has no data. Returns 0 if the inode was read; @known then says
 * whether it is complete. -EBADMSG: the inode cannot exist. Or a failure of
 * read_at. */
int pdet_xfs_read_inode(const struct pdet_xfs *fs, uint64_t ino,
			struct pdet_xfs_inode *ret);

/* pdet_xfs_take_core, pdet_xfs_take_extents - decode the core of an inode,
 * which is little-endian in the log, and its extents. Return false if they are
 * damaged, or if memory is short. */
bool pdet_xfs_take_core(struct pdet_xfs_inode *inode, const uint8_t *core,
			bool little);
bool pdet_xfs_take_extents(const struct pdet_xfs *fs,
			   struct pdet_xfs_inode *inode, const uint8_t *data,
			   size_t n);

void pdet_xfs_inode_free(struct pdet_xfs_inode *inode);

#endif
