/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* cachestat(2), include/uapi/linux/mman.h of 6.5: counts without a touch. */
#ifndef PDET_KERNEL_CACHESTAT_H
#define PDET_KERNEL_CACHESTAT_H

#include <stdint.h>

struct pdet_cachestat {
	uint64_t cached;
	uint64_t dirty;
	uint64_t writeback;
	uint64_t evicted;
	uint64_t recently_evicted;
};

/* pdet_cachestat - pages of a file from byte @offset on; @len 0: up to its end.
 * 0 or negative errno. */
int pdet_cachestat(int fd, uint64_t offset, uint64_t len,
		   struct pdet_cachestat *ret);

#endif
