/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * cachestat(2), include/uapi/linux/mman.h of 6.5: counts page cache pages
 * without touching them.
 */
#ifndef PDET_DISK_CACHESTAT_H
#define PDET_DISK_CACHESTAT_H

#include <stdint.h>

struct pdet_cachestat {
	uint64_t cached;
	uint64_t dirty;
	uint64_t writeback;
	uint64_t evicted;
	uint64_t recently_evicted;
};

/* pdet_cachestat - count the pages of a file from byte @offset on. If @len is
 * 0, up to the end of the file. Returns 0 or a negative errno. */
int pdet_cachestat(int fd, uint64_t offset, uint64_t len,
		   struct pdet_cachestat *ret);

#endif
