/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A kernel's types out of the debug information of its vmlinux. */
#ifndef PDET_KERNEL_DWARF_H
#define PDET_KERNEL_DWARF_H

#include "base/env.h"
#include "kernel/btf.h"

/*
 * pdet_dwarf_types - looked up as they are asked for. @fd is that of the file,
 * and stays open until the types are freed. 0, or negative errno with words
 * that go on after the file's name; -ENOSYS: libdw is not built in, or not
 * installed.
 */
int pdet_dwarf_types(struct pdet_env *env, int fd, struct pdet_btf **ret);

#endif
