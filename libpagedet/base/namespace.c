/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The inodes of the first namespaces have always been the same. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/namespace.h"

static const struct {
	const char *name, *first;
} kinds[] = {
	[PDET_NAMESPACE_USER] = { "user", "user:[4026531837]" },
	[PDET_NAMESPACE_PID] = { "pid", "pid:[4026531836]" },
};

int pdet_first_namespace(const char *root, enum pdet_namespace kind)
{
	char path[PATH_MAX], name[64];
	ssize_t n;

	if ((size_t)snprintf(path, sizeof(path), "%s/proc/self/ns/%s", root,
			     kinds[kind].name) >= sizeof(path))
		return -ENAMETOOLONG;
	n = readlink(path, name, sizeof(name) - 1);
	if (n < 0)
		return -errno;
	name[n] = '\0';
	return !strcmp(name, kinds[kind].first);
}

/* Returns 1 if /proc/self is this process, 0 if not, or negative errno. A /proc
 * of another namespace has none. */
static int is_self(const char *root)
{
	char path[PATH_MAX], self[32], own[32];
	ssize_t n;

	if ((size_t)snprintf(path, sizeof(path), "%s/proc/self", root) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	n = readlink(path, self, sizeof(self) - 1);
	if (n < 0)
		return -errno;
	self[n] = '\0';
	snprintf(own, sizeof(own), "%ld", (long)getpid());
	return !strcmp(self, own);
}

bool pdet_proc_is_ours(const char *root)
{
	return is_self(root) == 1;
}

bool pdet_proc_is_others(void)
{
	const int r = is_self("");
	struct statfs fs;

	return (r == 0 || r == -ENOENT) && statfs("/proc", &fs) == 0 &&
	       fs.f_type == PROC_SUPER_MAGIC;
}
