/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A trace of failed writeback, which runs from a mark on. */
#ifndef PDET_EXPLAIN_CHECK_WATCH_H
#define PDET_EXPLAIN_CHECK_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/wb_err.h"

/* Of its instance: this, when it began, and who did. */
#define PDET_WATCH_PREFIX "pagedet-mark-"
#define PDET_WATCH_NAME 39

/* pdet_watch_is_name - the name of a watch, and of nothing else. */
bool pdet_watch_is_name(const char *name, size_t len);

/* pdet_watch_arm - begins one. 0 or negative errno: -EACCES; -ENOMEM, -EMFILE,
 * -ENFILE or -ENOSPC: there is no room for it now; or -ENOTSUP: the kernel has
 * no such thing. */
int pdet_watch_arm(char name[PDET_WATCH_NAME]);

/* pdet_watch_end - 0, also if there is none of that name; or negative errno. */
int pdet_watch_end(const char *name);

/* pdet_watch_read - hands each line on; @visit returns false to stop. Sets
 * @lost: events that were dropped. 0; -ENOENT: there is no such watch; -ESTALE:
 * somebody has switched it off; or another negative errno. */
int pdet_watch_read(const char *name,
		    bool (*visit)(void *arg, const struct pdet_wb_err *e),
		    void *arg, uint64_t *lost);

#endif
