/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Paths of cgroups, from the root of their hierarchy. */
#ifndef PDET_KERNEL_CGROUP_PATH_H
#define PDET_KERNEL_CGROUP_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define PDET_CGROUP_PATH 4096

/* pdet_cgroup_clean - "/system.slice/" and "/sys/fs/cgroup/system.slice", where
 * that is the mount point @point, both are "/system.slice". */
void pdet_cgroup_clean(const char *point, const char *path,
		       char ret[PDET_CGROUP_PATH]);

/* pdet_cgroup_below - whether it is @top or below it; both clean. */
bool pdet_cgroup_below(const char *path, const char *top);

#endif
