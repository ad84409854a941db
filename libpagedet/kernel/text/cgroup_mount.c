/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the mount of the cgroup hierarchy in mountinfo. */
#include <errno.h>

#include "base/io.h"
#include "kernel/text/cgroup_mount.h"
#include "kernel/text/mountinfo.h"

/* True if this is the hierarchy with the memory controller. */
static bool memory_mount(struct pdet_scan line, bool v1, char *point,
			 size_t size)
{
	struct pdet_mount m;
	size_t len;

	if (!pdet_mountinfo_line(line, &m))
		return false;
	if (!v1)
		return pdet_scan_is(&m.fstype, "cgroup2") &&
		       pdet_mountinfo_text(m.point, point, size, &len);
	return pdet_scan_is(&m.fstype, "cgroup") &&
	       pdet_mount_has(m.super_options, "memory") &&
	       pdet_mountinfo_text(m.point, point, size, &len);
}

int pdet_cgroup_mount(const struct pdet_env *env, char *point, size_t size)
{
	struct pdet_scan all, line;
	struct pdet_text text;
	int v1, r;

	r = pdet_slurp(env, &text, 8 << 20, "/proc/self/mountinfo");
	if (r < 0)
		return r;
	/* v1 first: if a system mounts both, the memory controller is in v1. */
	for (v1 = 1; v1 >= 0; v1--) {
		all.at = text.data;
		all.end = text.data + text.len;
		while (pdet_scan_line(&all, &line))
			if (memory_mount(line, v1, point, size)) {
				pdet_text_free(&text);
				return 0;
			}
	}
	pdet_text_free(&text);
	return -ENOENT;
}
