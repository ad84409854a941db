/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A file that a process of a dump had mapped: its pages that were cached, as
 * ELF files are read. A page that was not cached, or is not in the dump, is
 * lost; no other bytes take its place.
 */
#ifndef PDET_UNWIND_CACHED_FILE_H
#define PDET_UNWIND_CACHED_FILE_H

#include "symbol/elf_sections.h"

#define PDET_CACHED_PAGE 4096

struct pdet_cached_source {
	/* Reads a page of the file whose address_space is at @cache. Returns 0,
	 * -ENODATA if it was not cached, or a result of memory/memory.h. */
	int (*page)(void *arg, uint64_t cache, uint64_t index, void *buf);
	void *arg;
};

struct pdet_cached_file {
	const struct pdet_cached_source *source;
	uint64_t cache;
	struct pdet_elf_input in; /* valid until the end */
	uint8_t *loaded;	/* a bit for each page of in.bytes */
	int lost;		/* why the first part that was lost is; 0: none
				 * was */
};

/* pdet_cached_file_open - of @size bytes. Nothing is read yet; the file must
 * stay where it is. Returns 0, -ENODATA if it is not known where its pages are,
 * -EFBIG if it is too large, or -ENOMEM. Close it in all cases. */
int pdet_cached_file_open(struct pdet_cached_file *f,
			  const struct pdet_cached_source *source,
			  uint64_t cache, uint64_t size);
void pdet_cached_file_close(struct pdet_cached_file *f);

#endif
