/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Kernel interfaces that are newer than the headers of supported build systems.
 * From include/uapi/linux/fs.h: PAGEMAP_SCAN (6.7) and PROCMAP_QUERY (6.11).
 * From include/uapi/linux/userfaultfd.h: asynchronous write-protection (6.7),
 * which tracks writes.
 */
#ifndef PDET_KERNEL_OBJECT_UAPI_H
#define PDET_KERNEL_OBJECT_UAPI_H

#include <linux/ioctl.h>
#include <stdint.h>

struct pdet_pm_region {
	uint64_t start;
	uint64_t end;
	uint64_t categories;
};

struct pdet_pm_scan {
	uint64_t size;
	uint64_t flags;
	uint64_t start;
	uint64_t end;
	uint64_t walk_end;	/* out: end of the scanned range */
	uint64_t vec;
	uint64_t vec_len;
	uint64_t max_pages;
	uint64_t category_inverted;
	uint64_t category_mask;
	uint64_t category_anyof_mask;
	uint64_t return_mask;
};

#define PDET_PM_SCAN _IOWR('f', 16, struct pdet_pm_scan)

/* flags: write-protect the matching pages again atomically; fail with EPERM for
 * areas that cannot be write-protected, instead of skipping them */
#define PDET_PM_SCAN_WP_MATCHING ((uint64_t)1 << 0)
#define PDET_PM_SCAN_CHECK_WPASYNC ((uint64_t)1 << 1)

/* categories */
#define PDET_PM_SCAN_WPALLOWED ((uint64_t)1 << 0)
#define PDET_PM_SCAN_WRITTEN ((uint64_t)1 << 1)
#define PDET_PM_SCAN_FILE ((uint64_t)1 << 2)
#define PDET_PM_SCAN_PRESENT ((uint64_t)1 << 3)
#define PDET_PM_SCAN_SWAPPED ((uint64_t)1 << 4)
#define PDET_PM_SCAN_PFNZERO ((uint64_t)1 << 5)
#define PDET_PM_SCAN_HUGE ((uint64_t)1 << 6)
#define PDET_PM_SCAN_SOFT_DIRTY ((uint64_t)1 << 7)
#define PDET_PM_SCAN_GUARD ((uint64_t)1 << 8)
#define PDET_PM_SCAN_BITS 9

struct pdet_vma_query {
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
	uint32_t vma_name_size;	/* in: room, out: length with NUL; 0: no name */
	uint32_t build_id_size;
	uint64_t vma_name_addr;
	uint64_t build_id_addr;
};

#define PDET_VMA_QUERY _IOWR('f', 17, struct pdet_vma_query)

#define PDET_VMA_READ 0x01
#define PDET_VMA_WRITE 0x02
#define PDET_VMA_EXEC 0x04
#define PDET_VMA_SHARED 0x08
#define PDET_VMA_COVERING_OR_NEXT 0x10

struct pdet_uffd_api {
	uint64_t api;
	uint64_t features;
	uint64_t ioctls;
};

struct pdet_uffd_range {
	uint64_t start;
	uint64_t len;
};

struct pdet_uffd_register {
	uint64_t start;
	uint64_t len;
	uint64_t mode;
	uint64_t ioctls;
};

struct pdet_uffd_protect {
	uint64_t start;
	uint64_t len;
	uint64_t mode;
};

#define PDET_UFFD_USER_MODE_ONLY 1 /* for userfaultfd(2) */
#define PDET_UFFD_API_VERSION ((uint64_t)0xaa)
#define PDET_UFFD_NEW _IO(0xaa, 0x00) /* for /dev/userfaultfd */
#define PDET_UFFD_API _IOWR(0xaa, 0x3f, struct pdet_uffd_api)
#define PDET_UFFD_REGISTER _IOWR(0xaa, 0x00, struct pdet_uffd_register)
#define PDET_UFFD_UNREGISTER _IOR(0xaa, 0x01, struct pdet_uffd_range)
#define PDET_UFFD_PROTECT _IOWR(0xaa, 0x06, struct pdet_uffd_protect)

#define PDET_UFFD_PAGEFAULT_WP ((uint64_t)1 << 0)
#define PDET_UFFD_WP_HUGETLBFS_SHMEM ((uint64_t)1 << 12)
#define PDET_UFFD_WP_UNPOPULATED ((uint64_t)1 << 13)
#define PDET_UFFD_WP_ASYNC ((uint64_t)1 << 15)

#define PDET_UFFD_REGISTER_WP ((uint64_t)1 << 1)
#define PDET_UFFD_PROTECT_WP ((uint64_t)1 << 0)

_Static_assert(sizeof(struct pdet_pm_scan) == 96, "uapi/linux/fs.h");
_Static_assert(sizeof(struct pdet_vma_query) == 104, "uapi/linux/fs.h");

#endif
