/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Files (include/linux/fs.h): filesystems, their inodes, and the pages that
 * belong to each.
 */
#ifndef PDET_KERNEL_FILE_H
#define PDET_KERNEL_FILE_H

#include "kernel/xarray.h"

#define PDET_FS_NAME 32

struct pdet_files {
	struct pdet_struct mapping, inode, super, type, file, fs, vfsmount;
	struct pdet_xarrays xarrays;
};

/* pdet_files_init - false: the types do not say enough. */
bool pdet_files_init(struct pdet_files *f, const struct pdet_btf *btf);

/* What follows gives 0, or a result of memory/memory.h. */

struct pdet_mapping {
	uint64_t addr;		/* of its address_space */
	uint64_t inode;		/* 0: none, as for what is swapped */
	uint64_t pages;		/* as it counts them */
};

int pdet_mapping_read(struct pdet_space *space, const struct pdet_files *f,
		      uint64_t addr, struct pdet_mapping *ret);

/* pdet_mapping_of_file - where the pages of a struct file are, which is not its
 * own inode's for a block device, or where a filesystem is on top of another.
 */
int pdet_mapping_of_file(struct pdet_space *space, const struct pdet_files *f,
			 uint64_t file, struct pdet_mapping *ret);

struct pdet_inode {
	uint64_t addr;
	uint64_t ino;
	uint64_t super;
	uint64_t mapping;	/* where its pages are: of a block device not
				 * in itself */
	uint64_t size;		/* bytes */
	uint32_t mode;		/* S_IF* and permissions */
	uint64_t rdev;		/* of a device file; as pdet_super.dev */
};

int pdet_inode_read(struct pdet_space *space, const struct pdet_files *f,
		    uint64_t addr, struct pdet_inode *ret);

struct pdet_super {
	uint64_t addr;
	uint64_t dev;		/* major << 32 | minor */
	uint64_t magic;
	char type[PDET_FS_NAME]; /* "ext4" */
	char id[PDET_FS_NAME];
};

int pdet_super_read(struct pdet_space *space, const struct pdet_files *f,
		    uint64_t addr, struct pdet_super *ret);

/* pdet_super_of_fs - where a task with that fs_struct has its root; of
 * init_task, which has one on all kernels. */
int pdet_super_of_fs(struct pdet_space *space, const struct pdet_files *f,
		     uint64_t fs, uint64_t *ret);

/* pdet_super_blocks_find - for kernels that do not say where super_blocks is:
 * it is in the list of all filesystems, of which @super is one, and not in the
 * direct map, first .. last, as they are. */
int pdet_super_blocks_find(struct pdet_space *space, const struct pdet_files *f,
			   uint64_t super, uint64_t first, uint64_t last,
			   uint64_t *ret);

/* pdet_supers_each - by the address of super_blocks, which is the head of their
 * list. As pdet_list_each(); the visit gets addresses of super_blocks. */
int pdet_supers_each(struct pdet_space *space, const struct pdet_files *f,
		     uint64_t super_blocks,
		     int (*visit)(void *arg, uint64_t super), void *arg);

/* pdet_inodes_each - of a filesystem; the same. */
int pdet_inodes_each(struct pdet_space *space, const struct pdet_files *f,
		     uint64_t super, int (*visit)(void *arg, uint64_t inode),
		     void *arg);

/* pdet_mapping_each - its entries: addresses of struct pages, the first of
 * their folios, and values for pages that were evicted. */
int pdet_mapping_each(struct pdet_space *space, const struct pdet_files *f,
		      uint64_t mapping, uint64_t first, uint64_t last,
		      const struct pdet_xarray_visit *visit);

#endif
