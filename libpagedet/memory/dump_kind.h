/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What kind of dump a file is, known by how it begins. */
#ifndef PDET_MEMORY_DUMP_KIND_H
#define PDET_MEMORY_DUMP_KIND_H

#include <stddef.h>

/* Bytes from the beginning of a file that are enough to tell. */
#define PDET_DUMP_HEAD 64

enum pdet_dump_form {
	PDET_DUMP_NONE,
	PDET_DUMP_ELF,
	PDET_DUMP_KDUMP,
	PDET_DUMP_DISKDUMP,
	PDET_DUMP_FLAT,		/* makedumpfile's stream of one of the above */
	PDET_DUMP_GZIP,
	PDET_DUMP_ZSTD,
	PDET_DUMP_XZ,
};

enum pdet_dump_form pdet_dump_form(const void *head, size_t len);

/* pdet_dump_kind - "an ELF dump" ...; NULL if it begins like none. */
const char *pdet_dump_kind(const void *head, size_t len);

#endif
