/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses one line of /proc/PID/maps (Linux fs/proc/task_mmu.c, show_map_vma).
 */
#ifndef PDET_KERNEL_TEXT_MAPS_H
#define PDET_KERNEL_TEXT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/text.h"

struct pdet_vma {
	uint64_t start;
	uint64_t end;
	uint64_t offset;	/* bytes in the file */
	uint64_t dev;		/* major << 32 | minor */
	uint64_t inode;		/* 0: no file */
	uint32_t prot;		/* PAGEDET_PROT_* */
	bool owner_unproved;	/* dev and inode may not own the pages, because
				 * the filesystem may be stacked on another */
	uint64_t cache;		/* struct address_space with the file's pages;
				 * of the vdso, where the kernel has it. 0: not
				 * known, or read from text */
	uint64_t size;		/* bytes of the file, if @cache is known */
	bool said;		/* the rows already have everything that is
				 * known about this VMA */
	const char *name;	/* points into the line; not NUL-terminated */
	size_t name_len;
};

/* pdet_maps_line - false if the line has another form. Names keep the kernel's
 * \012 for a newline. */
bool pdet_maps_line(struct pdet_scan line, struct pdet_vma *ret);

#endif
