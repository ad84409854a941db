/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Kernel interfaces newer than the headers of the systems that we build on:
 * PAGEMAP_SCAN (6.7) and PROCMAP_QUERY (6.11), both of
 * include/uapi/linux/fs.h, and cachestat(2) (6.5).
 */
#ifndef PDET_BACKEND_PROCFS_ABI_H
#define PDET_BACKEND_PROCFS_ABI_H

#include <linux/ioctl.h>
#include <stdint.h>

struct procfs_scan_region {
	uint64_t start;
	uint64_t end;
	uint64_t categories;
};

struct procfs_scan_arg {
	uint64_t size;
	uint64_t flags;
	uint64_t start;
	uint64_t end;
	uint64_t walk_end;	/* out: where it stopped */
	uint64_t vec;
	uint64_t vec_len;
	uint64_t max_pages;
	uint64_t category_inverted;
	uint64_t category_mask;
	uint64_t category_anyof_mask;
	uint64_t return_mask;
};

#define PROCFS_SCAN _IOWR('f', 16, struct procfs_scan_arg)

#define PROCFS_SCAN_WPALLOWED ((uint64_t)1 << 0)
#define PROCFS_SCAN_WRITTEN ((uint64_t)1 << 1)
#define PROCFS_SCAN_FILE ((uint64_t)1 << 2)
#define PROCFS_SCAN_PRESENT ((uint64_t)1 << 3)
#define PROCFS_SCAN_SWAPPED ((uint64_t)1 << 4)
#define PROCFS_SCAN_PFNZERO ((uint64_t)1 << 5)
#define PROCFS_SCAN_HUGE ((uint64_t)1 << 6)
#define PROCFS_SCAN_SOFT_DIRTY ((uint64_t)1 << 7)
#define PROCFS_SCAN_GUARD ((uint64_t)1 << 8)
#define PROCFS_SCAN_BITS 9

struct procfs_vma_query {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start;
	uint64_t vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t vma_name_size;	/* in: room, out: with NUL; 0 none */
	uint32_t build_id_size;
	uint64_t vma_name_addr;
	uint64_t build_id_addr;
};

#define PROCFS_VMA_QUERY _IOWR('f', 17, struct procfs_vma_query)

#define PROCFS_VMA_READ 0x01
#define PROCFS_VMA_WRITE 0x02
#define PROCFS_VMA_EXEC 0x04
#define PROCFS_VMA_SHARED 0x08
#define PROCFS_VMA_COVERING_OR_NEXT 0x10

_Static_assert(sizeof(struct procfs_scan_arg) == 96, "uapi/linux/fs.h");
_Static_assert(sizeof(struct procfs_vma_query) == 104, "uapi/linux/fs.h");

#endif
