/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses one line of /proc/PID/mountinfo (Linux fs/proc_namespace.c,
 * show_mountinfo; Documentation/filesystems/proc.rst 3.5).
 */
#ifndef PDET_KERNEL_TEXT_MOUNTINFO_H
#define PDET_KERNEL_TEXT_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/text.h"

/* The most that is read of the file. */
#define PDET_MOUNTS_BYTES ((size_t)64 << 20)

/* The texts point into the line, with the kernel's escapes. */
struct pdet_mount {
	uint64_t id;
	uint64_t parent;
	uint64_t dev;		/* superblock, major << 32 | minor */
	struct pdet_scan root;	/* the directory of the filesystem that is
				 * mounted */
	struct pdet_scan point;	/* mount point, seen from the reader's root */
	struct pdet_scan options; /* of this mount */
	struct pdet_scan fstype;
	struct pdet_scan source; /* may be empty */
	struct pdet_scan super_options;
};

/* pdet_mountinfo_line - false if the line has another form. */
bool pdet_mountinfo_line(struct pdet_scan line, struct pdet_mount *ret);

/*
 * pdet_mount_id - get the id of the mount of a descriptor, as mountinfo has it.
 * Its filesystem is not asked, as statx(2) would. Returns 0, -ENODATA: the
 * kernel does not say it, or another negative errno.
 */
int pdet_mount_id(int fd, uint64_t *ret);

/* pdet_mount_has - true if @name is in a comma-separated list of options. */
bool pdet_mount_has(struct pdet_scan options, const char *name);

/*
 * pdet_mount_shows_owner - true if the device and inode that maps shows for a
 * mapped file are those that own its pages. False if the filesystem passes
 * mappings on to a file of another filesystem. Also false for device nodes:
 * pages mapped through them belong to the driver.
 */
bool pdet_mount_shows_owner(const struct pdet_mount *m);

/*
 * pdet_mountinfo_text - copy one of the texts without its escapes,
 * NUL-terminated. @size must exceed the length of the escaped text; otherwise
 * the function returns false and does not write anything.
 */
bool pdet_mountinfo_text(struct pdet_scan text, char *buf, size_t size,
			 size_t *len);

#endif
