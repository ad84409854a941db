/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads page_owner of the running kernel. A read at an offset that is a PFN
 * returns only the first record from there on. Several threads can therefore
 * read parts of the file through one descriptor.
 */
#ifndef PDET_KERNEL_OWNER_LIVE_H
#define PDET_KERNEL_OWNER_LIVE_H

#include "kernel/owner/text.h"

/*
 * pdet_owner_live_is - true if @path is the running kernel's file, and not a
 * copy.
 */
bool pdet_owner_live_is(const char *path);

/*
 * pdet_owner_live_by_number - records read from @fd, which is open for writing,
 * have the numbers of stacks (@numbers), or the stacks. No other descriptor is
 * affected. Returns false if the kernel does not know such modes.
 */
bool pdet_owner_live_by_number(int fd, bool numbers);

/* pdet_owner_live_size - the largest size of a record. */
size_t pdet_owner_live_size(void);

/* pdet_owner_live_at - read once. Returns the number of bytes, 0 if there is no
 * record from @pfn on, or a negative errno. -ENOMEM: the kernel had no memory
 * for the record. Sets no error text. */
ssize_t pdet_owner_live_at(int fd, uint64_t pfn, char *buf, size_t size);

/* The part of the file to read: records of pages in [at, end). */
struct pdet_owner_part {
	uint64_t at, end;
	uint64_t behind;	/* initially @end. After the last record: the
				 * page of the record that follows, if one was
				 * seen, or UINT64_MAX if no record follows */
	uint64_t records;	/* number of records read */
	uint64_t unwritten;	/* number of records that the kernel could not
				 * write */
};

/* pdet_owner_live_block - read the next records of @part, as many as fit.
 * Returns the number of bytes, 0 if all records are read, or a negative errno.
 * Sets no error text. */
ssize_t pdet_owner_live_block(int fd, struct pdet_owner_part *part, char *buf,
			      size_t size);

#endif
