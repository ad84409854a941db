/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The bytes of a section that may be compressed, as debug sections are. */
#ifndef PDET_UNWIND_ELF_PACKED_H
#define PDET_UNWIND_ELF_PACKED_H

#include "symbol/elf_sections.h"

struct pdet_elf_packed {
	const char *bytes;	/* valid until the end of the sections */
	uint64_t len;
	uint64_t size;		/* when they are unpacked */
	int codec;		/* enum pdet_codec_id; -1: none */
};

/* pdet_elf_packed - find a section. Returns 0, -ENOENT if the file has no such
 * section or its form is not known, or the failure to read it. */
int pdet_elf_packed(const struct pdet_elf_sections *in, const char *name,
		    struct pdet_elf_packed *ret);

/* pdet_elf_unpack - write p->size bytes. Returns 0 or a negative errno:
 * -ENOSYS the library of its codec is not there. */
int pdet_elf_unpack(const struct pdet_elf_packed *p, void *to);

#endif
