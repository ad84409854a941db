/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Detects the form of a dump by its first bytes. */
#ifndef PDET_MEMORY_DUMP_KIND_H
#define PDET_MEMORY_DUMP_KIND_H

#include <stddef.h>

/* Number of bytes that suffice to detect the form. */
#define PDET_DUMP_HEAD 64

enum pdet_dump_form {
	PDET_DUMP_NONE,
	PDET_DUMP_ELF,
	PDET_DUMP_KDUMP,
	PDET_DUMP_DISKDUMP,
	PDET_DUMP_FLAT,		/* the stream of makedumpfile that contains one
				 * of the forms above */
	PDET_DUMP_GZIP,
	PDET_DUMP_ZSTD,
	PDET_DUMP_XZ,
};

enum pdet_dump_form pdet_dump_form(const void *head, size_t len);

/*
 * pdet_dump_kind - the kind of dump, such as "an ELF dump". NULL if it is not a
 * dump.
 */
const char *pdet_dump_kind(const void *head, size_t len);

#endif
