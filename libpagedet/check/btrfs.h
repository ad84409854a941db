/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds where btrfs has data on its device. The physical offset of FIEMAP is an
 * address in the logical address space of btrfs. Chunks map these addresses to
 * devices.
 */
#ifndef PDET_CHECK_BTRFS_H
#define PDET_CHECK_BTRFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* DUP has two on one device. */
#define PDET_BTRFS_COPIES 2

struct pdet_btrfs_chunk {
	uint64_t at, bytes;	/* in the space of btrfs */
	uint64_t place[PDET_BTRFS_COPIES]; /* offset of each copy on the
				 * device; 0 if the data is in stripes, or also
				 * on another device */
	unsigned copies;
};

struct pdet_btrfs {
	dev_t dev;		/* its only device */
	unsigned copies;	/* most copies of data */
	struct { struct pdet_btrfs_chunk *data; size_t n, cap; } chunks;
	unsigned cause;		/* PAGEDET_CAUSE_*, and why it is not known */
	const char *why;	/* number of known chunks */
};

/*
 * pdet_btrfs_open - read the chunks of the filesystem of an open file. Returns
 * 0, 1 if they cannot be known, or -ENOMEM. Always close it afterwards.
 */
int pdet_btrfs_open(struct pdet_btrfs *b, int fd);
void pdet_btrfs_close(struct pdet_btrfs *b);

#define PDET_BTRFS_ID 37	/* as in /sys/fs/btrfs/ */

/*
 * pdet_btrfs_subvolumes - get the number of subvolumes and the id of the
 * filesystem of an open file. Returns false if the kernel does not tell.
 */
bool pdet_btrfs_subvolumes(int fd, char id[PDET_BTRFS_ID], uint64_t *ret);

/*
 * pdet_btrfs_place - get the offset on the device of a copy of byte @at of the
 * logical address space; of the last copy if there are fewer. Returns 0 if
 * there is none. *@follow gets how many contiguous bytes follow.
 */
uint64_t pdet_btrfs_place(const struct pdet_btrfs *b, uint64_t at,
			  unsigned copy, uint64_t *follow);

#endif
