/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Names of files: dentries up to their filesystem's root, mounts up to the
 * first (fs/d_path.c). As the kernel shows them in /proc/PID/maps, but without
 * its escapes: any byte but NUL and '/' may be in a name.
 */
#ifndef PDET_KERNEL_PATH_H
#define PDET_KERNEL_PATH_H

#include "kernel/fields.h"

/* PATH_MAX, " (deleted)" and a NUL. */
#define PDET_PATH 4112

struct pdet_paths {
	struct pdet_struct file, dentry, vfsmount, mount, inode, super, ops;
	int32_t mount_of_vfsmount; /* bytes; -1 unknown */
	uint32_t alias;		/* bytes: inode.i_dentry to a dentry */
};

/* pdet_paths_init - false: the types do not say enough. */
bool pdet_paths_init(struct pdet_paths *p, const struct pdet_btf *btf);

/*
 * Each puts a path into @buf, with a NUL behind, and gives its length; or a
 * result of memory/memory.h, -EBADMSG also for what never ends, -ENOENT there
 * is none.
 */

/* pdet_path_of_file - of a struct file. */
ssize_t pdet_path_of_file(struct pdet_space *space, const struct pdet_paths *p,
			  uint64_t file, char buf[PDET_PATH]);

/* pdet_path_of_dentry - at mount @vfsmount; with 0 inside of its filesystem. */
ssize_t pdet_path_of_dentry(struct pdet_space *space,
			    const struct pdet_paths *p, uint64_t vfsmount,
			    uint64_t dentry, char buf[PDET_PATH]);

/* pdet_path_of_inode - one of its names, at a mount that is in mount namespace
 * @mnt_ns, if there is one; *mounted says that. */
ssize_t pdet_path_of_inode(struct pdet_space *space,
			   const struct pdet_paths *p, uint64_t inode,
			   uint64_t mnt_ns, char buf[PDET_PATH],
			   bool *mounted);

#endif
