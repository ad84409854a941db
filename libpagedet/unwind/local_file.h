/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Files of programs on this machine. Opening a device can do anything, and a
 * file of another machine or of FUSE may never answer, so neither is touched.
 */
#ifndef PDET_UNWIND_LOCAL_FILE_H
#define PDET_UNWIND_LOCAL_FILE_H

#include <sys/stat.h>

#include "base/io.h"
#include "base/pairs.h"
#include "kernel/text/mountinfo.h"

/* pdet_may_hang - whether a filesystem of that type may never answer. */
bool pdet_may_hang(struct pdet_scan fstype);

/* pdet_open_regular - returns a descriptor, -EBADMSG if it is not a regular
 * file, or another negative errno. */
int pdet_open_regular(const struct pdet_env *env, const char *path,
		      struct stat *st);

/*
 * pdet_check_way - whether @path leads through a mount that may never answer.
 * Returns 0, -EREMOTE: it does, or a negative errno: our mounts cannot be read,
 * so nothing is known.
 */
int pdet_check_way(const char *path);

/*
 * pdet_open_named - the same for a name that a dump has, which may be of
 * another machine. -EREMOTE: its filesystem may not answer. -ENOENT also if a
 * symbolic link is in its way.
 */
int pdet_open_named(const struct pdet_env *env, const char *path,
		    struct stat *st);

#endif
