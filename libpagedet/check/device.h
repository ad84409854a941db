/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads the block device below a file, past its page cache. */
#ifndef PDET_CHECK_DEVICE_H
#define PDET_CHECK_DEVICE_H

#include "check/check.h"

struct pdet_check_device {
	int fd;			/* O_DIRECT; -1: not open */
	int cached_fd;		/* for parts that must not be written out */
	int behind;		/* image of a loop device, or -1 */
	uint64_t behind_offset;
	char name[64];		/* "/dev/sda1" */
	uint64_t bytes;
	uint32_t sector;	/* bytes; alignment of reads */
};

/*
 * pdet_device_open - open a device. Returns 0, or negative errno without an
 * error text. The name is set if it is known.
 */
int pdet_device_open(struct pdet_check_device *d, dev_t dev);
void pdet_device_close(struct pdet_check_device *d);

/*
 * pdet_device_is_divided - whether the device has partitions or is below other
 * devices. @dir is its directory in /sys. True also if this is not known.
 */
bool pdet_device_is_divided(const char *dir);

/*
 * pdet_device_read - read whole sectors to @buf, which is aligned to 4096 bytes
 * or a sector. Returns 0, -EBUSY, -EAGAIN, or another negative errno. -EBUSY:
 * the page cache of the device has dirty pages there, which the read would
 * write out. -EAGAIN: that is not known.
 */
int pdet_device_read(const struct pdet_check_device *d, void *buf, size_t n,
		     uint64_t offset);

/*
 * pdet_device_is_clean - without cachestat(2): whether it is known that the
 * page cache of the device has no dirty page there. Reads the device to @buf.
 */
bool pdet_device_is_clean(const struct pdet_check_device *d, void *buf,
			  size_t n, uint64_t offset);

/*
 * pdet_device_read_at - read any bytes, through the page cache if it is dirty.
 * Returns the bytes read, fewer only at the end, or negative errno.
 */
ssize_t pdet_device_read_at(const struct pdet_check_device *d, void *buf,
			    size_t n, uint64_t offset);

#endif
