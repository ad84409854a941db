/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the mount point of the cgroup hierarchy that has the memory controller.
 */
#ifndef PDET_KERNEL_TEXT_CGROUP_MOUNT_H
#define PDET_KERNEL_TEXT_CGROUP_MOUNT_H

#include "base/env.h"

/* pdet_cgroup_mount - copy the mount point, as seen below the root, to @point.
 * Returns 0, -ENOENT if there is none, or a negative errno. Sets no error
 * text. */
int pdet_cgroup_mount(const struct pdet_env *env, char *point, size_t size);

#endif
