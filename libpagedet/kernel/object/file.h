/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads files (include/linux/fs.h): filesystems, their inodes, and the pages in
 * each inode's page cache.
 */
#ifndef PDET_KERNEL_OBJECT_FILE_H
#define PDET_KERNEL_OBJECT_FILE_H

#include "kernel/container/xarray.h"

struct pdet_files {
	struct pdet_struct mapping, inode, super, file, fs, vfsmount;
	struct pdet_xarrays xarrays;
};

/*
 * pdet_files_init - returns false if the types lack something that is needed.
 */
bool pdet_files_init(struct pdet_files *f, const struct pdet_btf *btf);

/* The functions below return 0, or a result of memory/memory.h. */

struct pdet_mapping {
	uint64_t addr;		/* address of its address_space */
	uint64_t inode;		/* 0: none, as for the swap cache */
	uint64_t pages;		/* its own page count */
};

int pdet_mapping_read(struct pdet_space *space, const struct pdet_files *f,
		      uint64_t addr, struct pdet_mapping *ret);

/* pdet_mapping_of_file - the address_space that has the pages of a struct file.
 * For a block device, or if a filesystem is stacked on another, it is not that
 * of the file's own inode. */
int pdet_mapping_of_file(struct pdet_space *space, const struct pdet_files *f,
			 uint64_t file, struct pdet_mapping *ret);

struct pdet_inode {
	uint64_t addr;
	uint64_t ino;
	uint64_t super;
	uint64_t dentry;	/* its first name, as a list node; 0: none */
	uint64_t mapping;	/* address_space with its pages; a block device
				 * uses that of another inode */
	uint64_t size;		/* bytes */
	uint32_t mode;		/* S_IF* and permissions */
	uint64_t rdev;		/* device number of a device file; encoded as
				 * pdet_super.dev */
};

int pdet_inode_read(struct pdet_space *space, const struct pdet_files *f,
		    uint64_t addr, struct pdet_inode *ret);

/* pdet_inode_of_mapping - the inode whose pages an address_space has. -ENOENT:
 * none has. */
int pdet_inode_of_mapping(struct pdet_space *space, const struct pdet_files *f,
			  uint64_t mapping, struct pdet_inode *ret);

struct pdet_super {
	uint64_t addr;
	uint64_t dev;		/* major << 32 | minor */
	uint64_t magic;
};

int pdet_super_read(struct pdet_space *space, const struct pdet_files *f,
		    uint64_t addr, struct pdet_super *ret);

/* pdet_kind_of_fs - the kind of the pages that cache files of a filesystem,
 * PAGEDET_KIND_*, by its magic number. */
unsigned pdet_kind_of_fs(uint64_t magic);

/* pdet_super_of_fs - the filesystem of the root directory in a task's
 * fs_struct; init_task has one on every kernel. */
int pdet_super_of_fs(struct pdet_space *space, const struct pdet_files *f,
		     uint64_t fs, uint64_t *ret);

/* pdet_super_blocks_find - find super_blocks on kernels that do not export its
 * address. It is the head of the list of all filesystems, and @super is in this
 * list. It is the only member outside the direct map, first .. last. */
int pdet_super_blocks_find(struct pdet_space *space, const struct pdet_files *f,
			   uint64_t super, uint64_t first, uint64_t last,
			   uint64_t *ret);

/* pdet_supers_each - visit the address of each super_block. @super_blocks is
 * the address of the list head. Returns as pdet_list_each(). */
int pdet_supers_each(struct pdet_space *space, const struct pdet_files *f,
		     uint64_t super_blocks,
		     int (*visit)(void *arg, uint64_t super), void *arg);

/* pdet_inodes_each - the same for the inodes of a filesystem. */
int pdet_inodes_each(struct pdet_space *space, const struct pdet_files *f,
		     uint64_t super, int (*visit)(void *arg, uint64_t inode),
		     void *arg);

/* pdet_mapping_empty - true: it has no entry, whatever its count says. */
bool pdet_mapping_empty(struct pdet_space *space, const struct pdet_files *f,
			uint64_t mapping);

/* pdet_mapping_last - as pdet_xarray_last(). */
uint64_t pdet_mapping_last(struct pdet_space *space, const struct pdet_files *f,
			   uint64_t mapping);

/* pdet_mapping_each - visit the entries of a page cache: addresses of struct
 * pages (each the head of its folio), and values for evicted pages. */
int pdet_mapping_each(struct pdet_space *space, const struct pdet_files *f,
		      uint64_t mapping, uint64_t first, uint64_t last,
		      const struct pdet_xarray_visit *visit);

#endif
