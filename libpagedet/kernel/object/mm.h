/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads address spaces of processes (include/linux/mm_types.h): mm_struct and
 * its VMAs. The VMAs are in a maple tree, or until 6.0 in a red-black tree.
 */
#ifndef PDET_KERNEL_OBJECT_MM_H
#define PDET_KERNEL_OBJECT_MM_H

#include "kernel/container/maple.h"

struct pdet_mms {
	struct pdet_struct mm, vma, vdso;
	bool has_maple;
	struct pdet_maple maple;
	/* Offsets for the red-black tree in mm_struct, vm_area_struct and
	 * rb_node. */
	int32_t rb_root, rb_node, rb_left, rb_right;
};

/* pdet_mms_init - returns false if the types lack something that is needed. */
bool pdet_mms_init(struct pdet_mms *m, const struct pdet_btf *btf);

struct pdet_mm {
	uint64_t addr;
	uint64_t pgd;		/* virtual address of the root table */
	uint64_t map_count;	/* number of VMAs */
	uint64_t total_vm;	/* in pages */
	uint64_t exe_file;	/* struct file; 0: none */
	uint64_t start_code, end_code, start_brk, brk, start_stack;
	uint64_t arg_start, arg_end, env_start, env_end;
	uint64_t owner;		/* task_struct; 0: none, or unknown */
	uint64_t vdso;		/* its first address */
	uint64_t vdso_image;	/* what is mapped there, on x86; 0: none, or
				 * unknown */
	uint64_t changes;	/* grows when VMAs may change; 0: they are being
				 * changed, or it is unknown */
};

/*
 * pdet_mm_read - returns 0, or a result of memory/memory.h. -EBADMSG: it is not
 * an mm_struct.
 */
int pdet_mm_read(struct pdet_space *space, const struct pdet_mms *m,
		 uint64_t addr, struct pdet_mm *ret);

/*
 * pdet_mm_vdso - where the kernel has the byte of the vdso that the process has
 * at @va. Returns 0, -ENOENT if it is not known or @va is outside, or a result
 * of memory/memory.h.
 */
int pdet_mm_vdso(struct pdet_space *space, const struct pdet_mms *m,
		 const struct pdet_mm *mm, uint64_t va, uint64_t *ret);

struct pdet_vm_area {
	uint64_t addr;
	uint64_t start, end;	/* end is exclusive */
	uint64_t flags;		/* VM_* */
	uint64_t pgoff;
	/* addresses; 0: none */
	uint64_t mm, file, anon_vma, anon_name, ops, private_data;
};

/* Flags of VMAs and of their pages (include/linux/mm.h). */
#define PDET_VM_READ 1
#define PDET_VM_WRITE 2
#define PDET_VM_EXEC 4
#define PDET_VM_MAYSHARE 0x80
#define PDET_VM_HUGETLB 0x400000
#define PDET_VM_SOFTDIRTY 0x8000000	/* 0 without CONFIG_MEM_SOFT_DIRTY */

struct pdet_vma_visit {
	/* Any value but 0 ends the walk. */
	int (*vma)(void *arg, const struct pdet_vm_area *vma);
	/* [start, end) is lost; end 0 is the end of the address space. @error
	 * is a result of memory/memory.h. Any value but 0 ends the walk. */
	int (*lost)(void *arg, uint64_t start, uint64_t end, int error);
	void *arg;
};

/* pdet_vma_each - visit the VMAs that overlap start .. last, ascending. Returns
 * 0, or the result of a visit. */
int pdet_vma_each(struct pdet_space *space, const struct pdet_mms *m,
		  uint64_t mm, uint64_t start, uint64_t last,
		  const struct pdet_vma_visit *visit);

/* pdet_vma_next - find the VMA that contains @address, or the first one after
 * it. Returns 1, 0 if there is none, or a negative reason why that is
 * uncertain. */
int pdet_vma_next(struct pdet_space *space, const struct pdet_mms *m,
		  uint64_t mm, uint64_t address, struct pdet_vm_area *ret);

#endif
