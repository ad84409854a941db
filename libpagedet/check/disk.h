/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The contents on the disk of a part of a file. */
#ifndef PDET_CHECK_DISK_H
#define PDET_CHECK_DISK_H

#include "check/btrfs.h"
#include "check/device.h"
#include "check/journal.h"
#include "check/window.h"
#include "check/xfs.h"

struct fiemap;

/* The state of a page's data on the disk. */
enum pdet_on_disk {
	PDET_DISK_DATA = 0,	/* in the buffer */
	PDET_DISK_DIRTY,	/* in the device's page cache, not yet
				 * written */
	PDET_DISK_UNKNOWN	/* cause and why explain it */
};

struct pdet_disk_page {
	uint8_t state;
	uint8_t cause;		/* PAGEDET_CAUSE_* */
	bool hole;		/* no block: reads as zeroes */
	bool unwritten;		/* an unwritten block: reads as zeroes */
	bool unplaced;		/* reserved room without a block: the same */
	const char *why;
};

struct pdet_disk {
	struct pdet_checked *c;
	struct pdet_check_device device;
	struct pdet_check_window window;
	struct pdet_check_journal journal; /* for COMMITTED: the journal of
				 * ext4, */
	struct pdet_check_xfs xfs; /* or that of xfs, if it is open */
	struct pdet_btrfs btrfs; /* or where btrfs has its data */
	bool is_btrfs;
	unsigned copy;		/* of the data, which is read next */
	unsigned differing;	/* copies of the page that differ from it */
	bool committed;		/* compare with the state after a replay */
	bool journals_data;	/* of this file */
	bool held_back;		/* users of the device change pages that are not
				 * dirty yet, or change the disk below them */
	unsigned waits;		/* for btrfs: repetitions that are left */
	struct fiemap *map;
	char *buf;		/* PDET_WINDOW_PAGES */
	char *block;		/* one block of the filesystem */
	struct pdet_disk_page page[PDET_WINDOW_PAGES];
};

/*
 * pdet_disk_load - read pages @first .. @first + n - 1 from the disk, or as a
 * replay would leave them, to buf and page from page @at on. Of data that the
 * disk has more than once, it reads the copy that is set. Returns 0, or
 * negative errno: nothing can be known of the file.
 */
int pdet_disk_load(struct pdet_disk *d, uint64_t first, size_t n, size_t at);

/* pdet_disk_is_replayed - whether the file exists after a replay. */
bool pdet_disk_is_replayed(const struct pdet_disk *d);

/* pdet_disk_replayed_bytes - size of the file after a replay. */
uint64_t pdet_disk_replayed_bytes(const struct pdet_disk *d);

#endif
