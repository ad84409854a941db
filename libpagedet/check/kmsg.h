/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the messages of ext4 in the kernel log since a mark, and the files that
 * they are about.
 */
#ifndef PDET_CHECK_KMSG_H
#define PDET_CHECK_KMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdet_kmsg_says {
	PDET_KMSG_UNKNOWN,	/* some are missing or not understood */
	PDET_KMSG_OTHERS,	/* each one is about another file */
	PDET_KMSG_LOST		/* data of this file was lost */
};

/*
 * pdet_kmsg_next - get the number of the next message. Returns false if the log
 * cannot be read.
 */
bool pdet_kmsg_next(uint64_t *ret);

/*
 * pdet_kmsg_about - judge the messages since @first of the ext4 on device
 * @name, for inode @ino. If none is missing, their number is @n.
 */
enum pdet_kmsg_says pdet_kmsg_about(uint64_t first, const char *name,
				    uint64_t n, uint64_t ino);

/*
 * pdet_kmsg_line - whether one message is of that ext4, and is one of those
 * that are counted. Sets *@says to the first result after PDET_KMSG_OTHERS.
 */
bool pdet_kmsg_line(const char *text, const char *name, uint64_t ino,
		   enum pdet_kmsg_says *says);

#endif
