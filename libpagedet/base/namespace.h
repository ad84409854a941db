/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Namespaces of this process. */
#ifndef PDET_BASE_NAMESPACE_H
#define PDET_BASE_NAMESPACE_H

#include <stdbool.h>

enum pdet_namespace { PDET_NAMESPACE_USER, PDET_NAMESPACE_PID };

/*
 * pdet_first_namespace - whether this process is in the first namespace of a
 * kind, by /proc below @root. Returns 1, 0 if not, or a negative errno.
 */
int pdet_first_namespace(const char *root, enum pdet_namespace kind);

/* pdet_proc_is_ours - whether /proc below @root numbers processes as this one
 * does. */
bool pdet_proc_is_ours(const char *root);
/* pdet_proc_is_others - whether this machine's /proc is of another pid
 * namespace than this process; false also if that cannot be read. */
bool pdet_proc_is_others(void);

#endif
