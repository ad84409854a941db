/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Address spaces of processes (include/linux/mm_types.h): mm_struct and its
 * VMAs, in a maple tree or, until 6.0, in a red-black tree.
 */
#ifndef PDET_KERNEL_MM_H
#define PDET_KERNEL_MM_H

#include "kernel/maple.h"

struct pdet_mms {
	struct pdet_struct mm, vma;
	bool has_maple;
	struct pdet_maple maple;
	/* Of the red-black tree, bytes: in mm_struct, vm_area_struct and
	 * rb_node. */
	int32_t rb_root, rb_node, rb_left, rb_right;
};

/* pdet_mms_init - false: the types do not say enough. */
bool pdet_mms_init(struct pdet_mms *m, const struct pdet_btf *btf);

struct pdet_mm {
	uint64_t addr;
	uint64_t pgd;		/* virtual address of the highest table */
	uint64_t map_count;	/* VMAs */
	uint64_t total_vm;	/* pages */
	uint64_t exe_file;	/* struct file; 0: none */
	uint64_t start_code, end_code, start_brk, brk, start_stack;
	uint64_t arg_start, arg_end, env_start, env_end;
	uint64_t owner;		/* task_struct; 0: none, or unknown */
};

/* pdet_mm_read - 0, or a result of memory/memory.h; -EBADMSG there is none. */
int pdet_mm_read(struct pdet_space *space, const struct pdet_mms *m,
		 uint64_t addr, struct pdet_mm *ret);

struct pdet_vm_area {
	uint64_t addr;
	uint64_t start, end;	/* end is behind it */
	uint64_t flags;		/* VM_* */
	uint64_t pgoff;
	/* addresses; 0: none */
	uint64_t mm, file, anon_vma, anon_name, ops, private_data;
};

/* Of VMAs and of pages in them (include/linux/mm.h). */
#define PDET_VM_READ 1
#define PDET_VM_WRITE 2
#define PDET_VM_EXEC 4
#define PDET_VM_MAYSHARE 0x80
#define PDET_VM_HUGETLB 0x400000
#define PDET_VM_SOFTDIRTY 0x8000000	/* 0 without CONFIG_MEM_SOFT_DIRTY */

struct pdet_vma_visit {
	/* Not 0 ends it. */
	int (*vma)(void *arg, const struct pdet_vm_area *vma);
	/* [start, end) is lost, or end is 0 and reaches to where addresses
	 * end; a result of memory/memory.h. The same. */
	int (*lost)(void *arg, uint64_t start, uint64_t end, int error);
	void *arg;
};

/* pdet_vma_each - those with an address in start .. last, ascending. 0, or what
 * a visit returned. */
int pdet_vma_each(struct pdet_space *space, const struct pdet_mms *m,
		  uint64_t mm, uint64_t start, uint64_t last,
		  const struct pdet_vma_visit *visit);

/* pdet_vma_next - the one around an address, or else the first behind it. 1, 0
 * there is none, or negative: why that is not sure. */
int pdet_vma_next(struct pdet_space *space, const struct pdet_mms *m,
		  uint64_t mm, uint64_t address, struct pdet_vm_area *ret);

#endif
