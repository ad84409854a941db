/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the disk has of a piece of a file. */
#ifndef PDET_EXPLAIN_CHECK_DISK_H
#define PDET_EXPLAIN_CHECK_DISK_H

#include "explain/check_device.h"
#include "explain/check_journal.h"
#include "explain/check_window.h"
#include "explain/check_xfs.h"

struct fiemap;

/* What stands for a page on the disk. */
enum pdet_on_disk {
	PDET_DISK_DATA = 0,	/* is in the buffer */
	PDET_DISK_DIRTY,	/* its device's cache has it, not written yet */
	PDET_DISK_UNKNOWN	/* cause and why say why */
};

struct pdet_disk_page {
	uint8_t state;
	uint8_t cause;		/* PAGEDET_CAUSE_* */
	bool hole;		/* no block: it reads as zeroes */
	bool unwritten;		/* a block, marked so: the same */
	bool scattered;		/* its blocks do not follow each other */
	const char *why;
	uint64_t place;		/* on the device, of its first byte; 0 none */
};

struct pdet_disk {
	struct pdet_checked *c;
	struct pdet_check_device device;
	struct pdet_check_window window;
	struct pdet_check_journal journal; /* for what is committed: ext4, */
	struct pdet_check_xfs xfs; /* or this one, if it is open */
	bool committed;		/* what a replay would leave is compared */
	bool journals_data;	/* of this file */
	bool held_back;		/* who uses the device changes pages that are
				 * not dirty yet, or the disk below them */
	struct fiemap *map;
	char *buf;		/* PDET_WINDOW_PAGES */
	char *block;		/* of the filesystem */
	struct pdet_disk_page page[PDET_WINDOW_PAGES];
};

/* pdet_disk_load - pages @first .. @first + n - 1 of the file into buf and page
 * from page @at on. 0 or negative errno: nothing can be known of the file. */
int pdet_disk_load(struct pdet_disk *d, uint64_t first, size_t n, size_t at);

/* pdet_disk_replayed_bytes - how long a replay would leave the file. */
uint64_t pdet_disk_replayed_bytes(const struct pdet_disk *d);

/* pdet_disk_commit - puts what a replay of the journal would write over it. */
void pdet_disk_commit(struct pdet_disk *d, uint64_t first, size_t n, size_t at);

#endif
