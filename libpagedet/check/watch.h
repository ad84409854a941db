/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A trace of failed writeback that begins at a mark. */
#ifndef PDET_CHECK_WATCH_H
#define PDET_CHECK_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/wb_err.h"

/*
 * The name of an instance begins with this. The start time and the creator
 * follow.
 */
#define PDET_WATCH_PREFIX "pagedet-mark-"
#define PDET_WATCH_NAME 39

/* pdet_watch_is_name - whether the text is exactly the name of a watch. */
bool pdet_watch_is_name(const char *name, size_t len);

/*
 * pdet_watch_arm - begin a watch. Returns 0; -EACCES; -ENOTSUP if the kernel
 * does not have tracing; -ENOMEM, -EMFILE, -ENFILE or -ENOSPC if there is no
 * room for a watch now; or another negative errno.
 */
int pdet_watch_arm(char name[PDET_WATCH_NAME]);

/*
 * pdet_watch_end - end a watch. Returns 0, also if there is no watch of that
 * name, or negative errno.
 */
int pdet_watch_end(const char *name);

/*
 * pdet_watch_read - pass each line to @visit, which returns false to stop.
 * *@lost gets the number of dropped events. Returns 0, -ENOENT if the watch
 * does not exist, -ESTALE if someone has switched it off, or another negative
 * errno.
 */
int pdet_watch_read(const char *name,
		    bool (*visit)(void *arg, const struct pdet_wb_err *e),
		    void *arg, uint64_t *lost);

#endif
