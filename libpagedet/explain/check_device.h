/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The block device below a file, read without its page cache. */
#ifndef PDET_EXPLAIN_CHECK_DEVICE_H
#define PDET_EXPLAIN_CHECK_DEVICE_H

#include "explain/check.h"

struct pdet_check_device {
	int fd;			/* O_DIRECT; -1 not open */
	int cached_fd;		/* for what must not be written out */
	int behind;		/* of a loop device: its image, or -1 */
	uint64_t behind_offset;
	char name[64];		/* "/dev/sda1" */
	uint64_t bytes;
	uint32_t sector;	/* bytes; reads begin and end at them */
};

/* pdet_device_open - 0, or negative errno; no words, but name is set where it
 * is known. */
int pdet_device_open(struct pdet_check_device *d, dev_t dev);
void pdet_device_close(struct pdet_check_device *d);

/* pdet_device_read - whole sectors into @buf, which is aligned to 4096 bytes or
 * to a sector. 0, -EBUSY: its page cache has dirty pages there, which reading
 * would write out; or another negative errno. */
int pdet_device_read(const struct pdet_check_device *d, void *buf, size_t n,
		     uint64_t offset);

/* pdet_device_read_at - any bytes; through the page cache where it is dirty.
 * Bytes read, short only at the end; or negative errno. */
ssize_t pdet_device_read_at(const struct pdet_check_device *d, void *buf,
			    size_t n, uint64_t offset);

#endif
