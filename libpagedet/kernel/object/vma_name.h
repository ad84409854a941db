/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the name of a VMA as in /proc/PID/maps (fs/proc/task_mmu.c). */
#ifndef PDET_KERNEL_OBJECT_VMA_NAME_H
#define PDET_KERNEL_OBJECT_VMA_NAME_H

#include "kernel/object/mm.h"
#include "kernel/object/path.h"

struct pdet_vma_names {
	struct pdet_struct anon;
	/* vm_ops of special mappings such as [vdso], and their function that
	 * gives the name; each may be 0. vm_private_data points to the name. */
	uint64_t special_ops, special_function;
	struct pdet_struct special, ops;
};

void pdet_vma_names_init(struct pdet_vma_names *n, const struct pdet_btf *btf,
			 uint64_t special_mapping_vmops,
			 uint64_t special_mapping_name);

/* pdet_vma_name - find the name. Returns its length, 0 if the VMA has no name,
 * or a result of memory/memory.h. */
ssize_t pdet_vma_name(struct pdet_space *space, const struct pdet_vma_names *n,
		      const struct pdet_paths *paths, const struct pdet_mm *mm,
		      const struct pdet_vm_area *vma, char buf[PDET_PATH]);

#endif
