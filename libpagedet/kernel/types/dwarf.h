/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Looks up a kernel's types in the debug information of its vmlinux. */
#ifndef PDET_KERNEL_TYPES_DWARF_H
#define PDET_KERNEL_TYPES_DWARF_H

#include "base/env.h"
#include "kernel/types/btf.h"

/*
 * pdet_dwarf_types - look up types on demand. @fd is the open file, and must
 * stay open until the types are freed. Returns 0, or a negative errno with an
 * error text that follows the name of the file. -ENOSYS: libdw is not built in
 * or not installed.
 */
int pdet_dwarf_types(struct pdet_env *env, int fd, struct pdet_btf **ret);
/* pdet_dwarf_test - whether libdw is built in and installed. Returns 0, or as
 * above. */
int pdet_dwarf_test(struct pdet_env *env);

#endif
