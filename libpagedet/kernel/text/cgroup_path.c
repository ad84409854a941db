/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Normalizes cgroup paths: users write a directory, or the form of
 * /proc/PID/cgroup.
 */
#include <string.h>

#include "kernel/text/cgroup_path.h"

void pdet_cgroup_clean(const char *point, const char *path,
		       char ret[PDET_CGROUP_PATH])
{
	size_t len = strlen(point);

	if (!strncmp(path, point, len) && (path[len] == '/' || !path[len]))
		path += len;
	while (*path == '/')
		path++;
	len = strnlen(path, PDET_CGROUP_PATH - 2);
	while (len && path[len - 1] == '/')
		len--;
	ret[0] = '/';
	memcpy(ret + 1, path, len);
	ret[len + 1] = '\0';
}

bool pdet_cgroup_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	if (len == 1)
		return true; /* the root */
	return !strncmp(path, top, len) &&
	       (path[len] == '/' || path[len] == '\0');
}
