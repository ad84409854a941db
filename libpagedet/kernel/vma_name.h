/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What a VMA is called in /proc/PID/maps (fs/proc/task_mmu.c). */
#ifndef PDET_KERNEL_VMA_NAME_H
#define PDET_KERNEL_VMA_NAME_H

#include "kernel/mm.h"
#include "kernel/path.h"

struct pdet_vma_names {
	struct pdet_struct anon;
	/* vm_ops of [vdso] and the like, and the function in them that names
	 * them; each may be 0. Names are in what vm_private_data points to. */
	uint64_t special_ops, special_function;
	struct pdet_struct special, ops;
};

void pdet_vma_names_init(struct pdet_vma_names *n, const struct pdet_btf *btf,
			 uint64_t special_mapping_vmops,
			 uint64_t special_mapping_name);

/* pdet_vma_name - its length; 0: it has none. Or a result of
 * memory/memory.h. */
ssize_t pdet_vma_name(struct pdet_space *space, const struct pdet_vma_names *n,
		      const struct pdet_paths *paths, const struct pdet_mm *mm,
		      const struct pdet_vm_area *vma, char buf[PDET_PATH]);

#endif
