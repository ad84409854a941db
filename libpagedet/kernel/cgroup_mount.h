/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Where the hierarchy of cgroups that has the memory controller is mounted. */
#ifndef PDET_KERNEL_CGROUP_MOUNT_H
#define PDET_KERNEL_CGROUP_MOUNT_H

#include "base/env.h"

/* pdet_cgroup_mount - into @point, as it is below the root; 0, -ENOENT there is
 * none, or a negative errno, without words. */
int pdet_cgroup_mount(const struct pdet_env *env, char *point, size_t size);

#endif
