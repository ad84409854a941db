/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Kernel interfaces that the C library's headers do not name yet, as the
 * kernel's include/uapi/linux/fs.h and mman.h lay them out.
 */
#ifndef BENCH_PROBE_UAPI_H
#define BENCH_PROBE_UAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

struct uapi_scan_region {
	uint64_t start, end, categories;
};

struct uapi_scan_arg {
	uint64_t size, flags, start, end, walk_end;
	uint64_t vec, vec_len, max_pages;
	uint64_t inverted, all_of, any_of, return_mask;
};

#define UAPI_PAGEMAP_SCAN _IOWR('f', 16, struct uapi_scan_arg)
#define UAPI_PAGE_IS_PRESENT (1u << 3)
#define UAPI_PAGE_IS_SWAPPED (1u << 4)
#define UAPI_PAGE_IS_ANY 0xffu

struct uapi_procmap_query {
	uint64_t size, query_flags, query_addr;
	uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};

#define UAPI_PROCMAP_QUERY _IOWR('f', 17, struct uapi_procmap_query)
#define UAPI_COVERING_OR_NEXT 0x10

#define UAPI_SYS_CACHESTAT 451

struct uapi_cachestat_range {
	uint64_t off, len;
};

struct uapi_cachestat {
	uint64_t cache, dirty, writeback, evicted, recently_evicted;
};

#endif
