/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * One line of /proc/PID/mountinfo (Linux fs/proc_namespace.c, show_mountinfo;
 * Documentation/filesystems/proc.rst 3.5).
 */
#ifndef PDET_KERNEL_MOUNTINFO_H
#define PDET_KERNEL_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* The texts lie in the line and are escaped as the kernel wrote them. */
struct pdet_mount {
	uint64_t id;
	uint64_t parent;
	uint64_t dev;		/* of the superblock, major << 32 | minor */
	struct pdet_scan root;	/* what of the filesystem is mounted */
	struct pdet_scan point;	/* where, seen from the reader's root */
	struct pdet_scan options; /* of this mount */
	struct pdet_scan fstype;
	struct pdet_scan source; /* may be empty */
	struct pdet_scan super_options;
};

/* pdet_mountinfo_line - false if the line is not of that form. */
bool pdet_mountinfo_line(struct pdet_scan line, struct pdet_mount *ret);

/* pdet_mount_has - whether a list of options, joined by commas, has @name. */
bool pdet_mount_has(struct pdet_scan options, const char *name);

/*
 * pdet_mount_shows_owner - whether what maps says of a mapped file, device and
 * inode, is what the kernel has its pages under. False where a filesystem
 * hands a mapping on to a file of another one, and where device nodes are:
 * what is mapped through them is not theirs.
 */
bool pdet_mount_shows_owner(const struct pdet_mount *m);

/*
 * pdet_mountinfo_text - one of the texts without its escapes, NUL-terminated.
 * False, and nothing written, if @size is not more than what the escaped text
 * takes.
 */
bool pdet_mountinfo_text(struct pdet_scan text, char *buf, size_t size,
			 size_t *len);

#endif
