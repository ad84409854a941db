/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Makes mounts that no other process sees and that end with the test. */
#ifndef TESTS_UNIT_MOUNTS_H
#define TESTS_UNIT_MOUNTS_H

#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <unistd.h>

/*
 * Why mounts are not possible; NULL if they are. If the root of a chroot is not
 * a mount, a mount here might show up elsewhere.
 */
static inline const char *mounts_of_our_own(void)
{
	if (geteuid() || unshare(CLONE_NEWNS))
		return "needs root for mounts of its own";
	return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ?
	       "needs a root directory that is a mount" : NULL;
}

#endif
