/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads a dump by offsets in its plain form, also if the file is flattened. It
 * uses only pread: a file that is truncated, even during the read, must give an
 * error and not a signal.
 */
#ifndef PDET_MEMORY_DUMP_FILE_H
#define PDET_MEMORY_DUMP_FILE_H

#include "memory/dump_kind.h"
#include "memory/flat.h"

struct pdet_dump_file {
	int fd;			/* owned by the caller */
	bool flattened;
	uint64_t size;
	uint64_t bytes;		/* of the file itself, even if flattened */
	struct pdet_flat flat;
};

/* One reader's position. */
struct pdet_dump_cursor {
	struct pdet_flat_cursor flat;
};

#define PDET_DUMP_CURSOR { PDET_FLAT_CURSOR }

/* pdet_dump_file_form - the form of the plain or flattened dump. */
enum pdet_dump_form pdet_dump_file_form(int fd);

int pdet_dump_file_open(struct pdet_dump_file *file, struct pdet_env *env,
			int fd);
void pdet_dump_file_close(struct pdet_dump_file *file);

/* pdet_dump_file_read - read all @n bytes. -EIO: the file ends before that, or
 * cannot be read; -EBADMSG: it is damaged. @cursor may be NULL. */
int pdet_dump_file_read(const struct pdet_dump_file *file,
			struct pdet_dump_cursor *cursor, void *buf, size_t n,
			uint64_t offset);

/* pdet_dump_file_next - the first offset from @offset on that may not be zero.
 * The bytes before it were never written. If there is no such offset, it is the
 * size of the file. */
uint64_t pdet_dump_file_next(const struct pdet_dump_file *file,
			     uint64_t offset);

#endif
