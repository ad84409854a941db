/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* As much of ext2, ext3 and ext4 (fs/ext4/ext4.h, ext4_extents.h) as it takes
 * to find the journal, and the blocks of a file. */
#ifndef PDET_KERNEL_EXT4_H
#define PDET_KERNEL_EXT4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Blocks of a file that follow each other on the disk, too. */
struct pdet_ext4_run {
	uint64_t at;		/* in the file */
	uint64_t block;		/* on the disk */
	uint64_t n;
	bool unwritten;		/* reads as zeroes */
};

struct pdet_ext4_inode {
	uint32_t mode, links, flags, generation;
	uint64_t bytes;
	/* of a regular file that has links, and no data in the inode */
	struct { struct pdet_ext4_run *data; size_t n, cap; } runs;
};

#define PDET_EXT4_INLINE 0x10000000u /* in flags: the data is in the inode */

struct pdet_ext4 {
	/* Bytes of the device; short only at its end; or negative errno. */
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
	uint32_t desc_blocks;	/* one behind the other, at most; there may be
				 * more elsewhere */
	bool is_64bit;
	bool has_journal;
	bool is_journal;	/* a device that is a journal only */
	uint32_t journal_inode;	/* 0: the journal is another device */
	uint32_t journal_dev;	/* that it was last */
	uint8_t uuid[16], journal_uuid[16];
	struct pdet_ext4_inode journal;
};

/* pdet_ext4_open - read the superblock; read_at and arg are set. -EBADMSG: it
 * is none. */
int pdet_ext4_open(struct pdet_ext4 *fs);

/* pdet_ext4_inode_place - byte of the device at which an inode begins, which
 * stays so. -EBADMSG: there is no such place, or it is not known where. */
int pdet_ext4_inode_place(const struct pdet_ext4 *fs, uint64_t ino,
			  uint64_t *ret);

/* pdet_ext4_read_inode - the one that begins there, into an empty one. 0;
 * -EBADMSG: what stands there cannot be; or what reading says. Free it in any
 * case. */
int pdet_ext4_read_inode(const struct pdet_ext4 *fs, uint64_t place,
			 struct pdet_ext4_inode *ret);
void pdet_ext4_inode_free(struct pdet_ext4_inode *inode);

/* pdet_ext4_run_behind - the first run that ends behind block @at of the file,
 * runs.n: there is none. */
size_t pdet_ext4_run_behind(const struct pdet_ext4_inode *inode, uint64_t at);

/* pdet_ext4_find_journal - where the blocks of the journal's inode are, by
 * their place in it. -EBADMSG: what stands there cannot be. */
int pdet_ext4_find_journal(struct pdet_ext4 *fs);

/* pdet_ext4_place - the block of the disk that is block @at of the journal, and
 * how many follow it there; 0: none. */
uint64_t pdet_ext4_place(const struct pdet_ext4 *fs, uint64_t at,
			 uint64_t *follow);

void pdet_ext4_free(struct pdet_ext4 *fs);

#endif
