/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A file in the /tmp of another process, which may have other mounts and
 * another root, and may change both at any time. Nothing that is done here
 * waits for a server.
 */
#ifndef PDET_UNWIND_PROCESS_TMP_H
#define PDET_UNWIND_PROCESS_TMP_H

#include "base/env.h"

/*
 * pdet_process_tmp_open - open the file @name of the process of thread @tid,
 * with O_PATH, of any type. Returns a descriptor, -EREMOTE: it is on a
 * filesystem that may not answer, or that is not known; -ELOOP: a symbolic link
 * is in its way; -EXDEV: something is mounted on it; or another negative errno.
 */
int pdet_process_tmp_open(const struct pdet_env *env, uint32_t tid,
			  const char *name);

#endif
