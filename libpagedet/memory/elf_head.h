/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads the headers of an ELF core file: a dump, or /proc/kcore. */
#ifndef PDET_MEMORY_ELF_HEAD_H
#define PDET_MEMORY_ELF_HEAD_H

#include "memory/dump_file.h"

/* More segments than any memory has: 14 MB of headers. */
#define PDET_ELF_SEGMENTS_MAX ((size_t)1 << 18)

struct pdet_elf_segment {
	uint32_t type;		/* PT_LOAD or PT_NOTE */
	uint64_t vaddr;
	uint64_t paddr;		/* all ones: unknown */
	uint64_t offset;
	uint64_t filesz;
	uint64_t memsz;
};

struct pdet_elf_head {
	uint16_t machine;
	struct pdet_elf_segment *data;	/* in file order */
	size_t n, cap;
};

/*
 * pdet_elf_head_read - the segments of a 64-bit core file of this byte order.
 * Other files are refused by name. @file is plain or flattened; for /proc/kcore
 * it is a plain file without an end.
 */
int pdet_elf_head_read(struct pdet_elf_head *ret, struct pdet_env *env,
		       const struct pdet_dump_file *file);
void pdet_elf_head_free(struct pdet_elf_head *head);

/* pdet_elf_notes_read - read all readable notes to one buffer, at most
 * PDET_NOTES_MAX bytes. The caller frees *@ret, which is NULL if there are
 * none. Returns 0, 1 if some notes cannot be read, or -ENOMEM. */
int pdet_elf_notes_read(const struct pdet_elf_head *head,
			const struct pdet_dump_file *file, char **ret,
			size_t *len);

#endif
