/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the open files of a task (include/linux/fdtable.h). */
#ifndef PDET_KERNEL_OBJECT_OPEN_FILE_H
#define PDET_KERNEL_OBJECT_OPEN_FILE_H

#include "kernel/types/fields.h"

struct pdet_open_files {
	struct pdet_struct task, files, table;
};

/*
 * pdet_open_files_init - returns false if the types lack something that is
 * needed.
 */
bool pdet_open_files_init(struct pdet_open_files *o,
			  const struct pdet_btf *btf);

/* pdet_open_file - find the struct file of descriptor @fd of the task at @task.
 * Returns 0, -ENOENT if the descriptor is not open, or a result of
 * memory/memory.h. */
int pdet_open_file(struct pdet_space *space, const struct pdet_open_files *o,
		   uint64_t task, unsigned fd, uint64_t *ret);

#endif
