/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The file page_owner of the running kernel: a read at an offset that is a page
 * frame number gives the first record from there on, and nothing else. So parts
 * of it can be read at the same time, through one descriptor.
 */
#ifndef PDET_KERNEL_OWNER_LIVE_H
#define PDET_KERNEL_OWNER_LIVE_H

#include "kernel/owner_text.h"

/* pdet_owner_live_is - @path is such a file, and no copy of one. */
bool pdet_owner_live_is(const char *path);

/* pdet_owner_live_size - no record is longer. */
size_t pdet_owner_live_size(void);

/* pdet_owner_live_at - one read: bytes, 0: there is none from @pfn on, or a
 * negative errno, -ENOMEM: the kernel had no memory for it. No words. */
ssize_t pdet_owner_live_at(int fd, uint64_t pfn, char *buf, size_t size);

/* What of the file is read: records of pages of [at, end). */
struct pdet_owner_part {
	uint64_t at, end;
	uint64_t behind;	/* at first @end; the page of the next record
				 * behind them, if it was seen when all are
				 * read, UINT64_MAX: there is none */
	uint64_t records;	/* that were read */
	uint64_t unwritten;	/* that the kernel could not write */
};

/* pdet_owner_live_block - the next records of @part, as many as fit: bytes, 0:
 * all are read, or a negative errno. No words. */
ssize_t pdet_owner_live_block(int fd, struct pdet_owner_part *part, char *buf,
			      size_t size);

#endif
