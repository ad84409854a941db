/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Calls cachestat(2) by its number, because C libraries may lack it. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "disk/cachestat.h"

#ifndef SYS_cachestat
#ifdef __alpha__
#define SYS_cachestat 561
#else
#define SYS_cachestat 451
#endif
#endif

struct range {
	uint64_t offset;
	uint64_t len;
};

int pdet_cachestat(int fd, uint64_t offset, uint64_t len,
		   struct pdet_cachestat *ret)
{
	struct range range = { offset, len };

	return syscall(SYS_cachestat, fd, &range, ret, 0) ? -errno : 0;
}
