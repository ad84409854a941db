/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Builds file names from dentries and mounts (fs/d_path.c). The result is that
 * of /proc/PID/maps, but without escapes: a name may contain any byte except
 * NUL and '/'.
 */
#ifndef PDET_KERNEL_OBJECT_PATH_H
#define PDET_KERNEL_OBJECT_PATH_H

#include "kernel/object/file.h"

/* PATH_MAX, " (deleted)" and a NUL */
#define PDET_PATH 4112

struct pdet_paths {
	struct pdet_struct file, dentry, vfsmount, mount, inode, super, ops,
			   bdev;
	int32_t mount_of_vfsmount; /* byte offset; -1 unknown */
	uint32_t alias;		/* byte offset of inode.i_dentry in a dentry */
};

/*
 * pdet_paths_init - returns false if the types lack something that is needed.
 */
bool pdet_paths_init(struct pdet_paths *p, const struct pdet_btf *btf);

/*
 * Each function writes a NUL-terminated path to @buf and returns its length, or
 * a result of memory/memory.h. -EBADMSG: the path is damaged, or its chain is
 * endless; -ENOENT: there is no path; -ENOTSUP: the types do not say where
 * it is.
 */

/* pdet_path_of_file - the path of a struct file. */
ssize_t pdet_path_of_file(struct pdet_space *space, const struct pdet_paths *p,
			  uint64_t file, char buf[PDET_PATH]);

/*
 * pdet_path_of_dentry - the path of a dentry at mount @vfsmount. If that is 0,
 * the path inside the filesystem.
 */
ssize_t pdet_path_of_dentry(struct pdet_space *space,
			    const struct pdet_paths *p, uint64_t vfsmount,
			    uint64_t dentry, char buf[PDET_PATH]);

/* The paths of directories of one mount namespace, so that each file costs only
 * its own name. */
#define PDET_DIRECTORIES 4096	/* 1 << 12 */
struct pdet_directories {
	struct pdet_directory *slot[PDET_DIRECTORIES];
};

void pdet_directories_free(struct pdet_directories *d);

/* pdet_path_of_inode - one of the names of an inode. If there is a mount in
 * mount namespace @mnt_ns, the path uses it, and *@mounted is set. */
ssize_t pdet_path_of_inode(struct pdet_space *space,
			   const struct pdet_paths *p,
			   struct pdet_directories *dirs,
			   const struct pdet_inode *inode, uint64_t mnt_ns,
			   char buf[PDET_PATH], bool *mounted);

/*
 * pdet_path_of_device - the name of a block device in /dev, by the inode that
 * has its pages (in the filesystem bdev).
 */
ssize_t pdet_path_of_device(struct pdet_space *space,
			    const struct pdet_paths *p, uint64_t inode,
			    char buf[PDET_PATH]);

#endif
