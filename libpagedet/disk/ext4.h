/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads ext2, ext3 and ext4 (fs/ext4/ext4.h, ext4_extents.h), as far as needed
 * to find the journal and the blocks of a file. */
#ifndef PDET_DISK_EXT4_H
#define PDET_DISK_EXT4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Blocks of a file that are also contiguous on the disk. */
struct pdet_ext4_run {
	uint64_t at;		/* block in the file */
	uint64_t block;		/* block on the disk */
	uint64_t n;
	bool unwritten;		/* reads as zeroes */
};

struct pdet_ext4_inode {
	uint32_t mode, links, flags, generation;
	uint64_t bytes;
	/* only of a linked regular file without inline data */
	struct { struct pdet_ext4_run *data; size_t n, cap; } runs;
};

#define PDET_EXT4_INODE_BYTES 128 /* size common to all versions */
#define PDET_EXT4_INLINE 0x10000000u /* in flags: inline data */

struct pdet_ext4 {
	/*
	 * Reads bytes of the device. Returns fewer only at its end, or a
	 * negative errno.
	 */
	ssize_t (*read_at)(void *arg, void *buf, size_t n, uint64_t offset);
	void *arg;
	/* from the superblock */
	uint32_t block_size;
	uint64_t blocks;
	uint64_t first_block;	/* 1 with blocks of 1024 bytes */
	uint32_t inodes;
	uint32_t inode_size;
	uint32_t group_inodes;
	uint32_t desc_size;
	uint32_t desc_blocks;	/* at most this many consecutive blocks of
				 * descriptors; others may be elsewhere */
	bool is_64bit;
	bool has_journal;
	bool is_journal;	/* the device is an external journal */
	uint32_t journal_inode;	/* 0: the journal is on another device */
	uint32_t journal_dev;	/* last known device of the journal */
	uint8_t uuid[16], journal_uuid[16];
	struct pdet_ext4_inode journal;
};

/* pdet_ext4_open - read the superblock; read_at and arg must be set. -EBADMSG:
 * not ext2, ext3 or ext4. */
int pdet_ext4_open(struct pdet_ext4 *fs);

/* pdet_ext4_is_block - true if the filesystem has blocks @block .. @block + @n
 * - 1, and a file may use them. */
bool pdet_ext4_is_block(const struct pdet_ext4 *fs, uint64_t block, uint64_t n);

/* pdet_ext4_inode_place - the byte offset of an inode on the device, which
 * never changes. -EBADMSG: the inode cannot exist, or its place is unknown. */
int pdet_ext4_inode_place(const struct pdet_ext4 *fs, uint64_t ino,
			  uint64_t *ret);

/* pdet_ext4_read_inode - read the inode at @place into an empty one. Returns 0,
 * -EBADMSG if it is damaged, or a failure of read_at. The caller frees it in
 * any case. */
int pdet_ext4_read_inode(const struct pdet_ext4 *fs, uint64_t place,
			 struct pdet_ext4_inode *ret);
/* pdet_ext4_inode_head - decode the first PDET_EXT4_INODE_BYTES of an inode;
 * its runs stay unchanged. */
void pdet_ext4_inode_head(const uint8_t *raw, struct pdet_ext4_inode *ret);
void pdet_ext4_inode_free(struct pdet_ext4_inode *inode);

/* pdet_ext4_run_behind - the index of the first run that ends after block @at
 * of the file, or runs.n if there is none. */
size_t pdet_ext4_run_behind(const struct pdet_ext4_inode *inode, uint64_t at);

/* pdet_ext4_find_journal - find the blocks of the journal's inode. -EBADMSG: it
 * is damaged. */
int pdet_ext4_find_journal(struct pdet_ext4 *fs);

/* pdet_ext4_place - the block on the disk of block @at of the journal, and the
 * number of blocks contiguous with it. Returns 0 if there is none. */
uint64_t pdet_ext4_place(const struct pdet_ext4 *fs, uint64_t at,
			 uint64_t *follow);

void pdet_ext4_free(struct pdet_ext4 *fs);

#endif
