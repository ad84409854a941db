/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Paths of cgroups, relative to the root of their hierarchy. */
#ifndef PDET_KERNEL_TEXT_CGROUP_PATH_H
#define PDET_KERNEL_TEXT_CGROUP_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define PDET_CGROUP_PATH 4096

/* pdet_cgroup_clean - normalize a path. "/system.slice/" and
 * "/sys/fs/cgroup/system.slice" both give "/system.slice" if @point is
 * "/sys/fs/cgroup". */
void pdet_cgroup_clean(const char *point, const char *path,
		       char ret[PDET_CGROUP_PATH]);

/* pdet_cgroup_below - true if @path is @top or below it; both normalized. */
bool pdet_cgroup_below(const char *path, const char *top);

#endif
