/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One line of /proc/PID/maps (Linux fs/proc/task_mmu.c, show_map_vma). */
#ifndef PDET_KERNEL_MAPS_H
#define PDET_KERNEL_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct pdet_vma {
	uint64_t start;
	uint64_t end;
	uint64_t offset;	/* in the file, bytes */
	uint64_t dev;		/* major << 32 | minor */
	uint64_t inode;		/* 0: no file */
	uint32_t prot;		/* PAGEDET_PROT_* */
	bool owner_unproved;	/* dev and inode may not be the page's own:
				 * a filesystem stacked on another */
	bool said;		/* the rows have already what is known of it */
	const char *name;	/* in the line; not NUL-terminated */
	size_t name_len;
};

/* pdet_maps_line - false if the line is not of that form. Names keep the
 * kernel's escape of newline as \012. */
bool pdet_maps_line(struct pdet_scan line, struct pdet_vma *ret);

#endif
