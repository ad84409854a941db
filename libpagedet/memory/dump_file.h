/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The bytes of a dump as its headers count them, be the file plain or
 * flattened. Only ever pread: a dump that is cut short, or is cut while it is
 * read, must end in an error and not in a signal.
 */
#ifndef PDET_MEMORY_DUMP_FILE_H
#define PDET_MEMORY_DUMP_FILE_H

#include "memory/dump_kind.h"
#include "memory/flat.h"

struct pdet_dump_file {
	int fd;			/* the caller's */
	bool flattened;
	uint64_t size;
	struct pdet_flat flat;
};

/* One reader's place in it. */
struct pdet_dump_cursor {
	struct pdet_flat_cursor flat;
};

#define PDET_DUMP_CURSOR { PDET_FLAT_CURSOR }

/* pdet_dump_file_form - what is in the file, or in the flattened file. */
enum pdet_dump_form pdet_dump_file_form(int fd);

int pdet_dump_file_open(struct pdet_dump_file *file, struct pdet_env *env,
			int fd);
void pdet_dump_file_close(struct pdet_dump_file *file);

/* pdet_dump_file_read - all @n bytes, or -EIO: it ends before, or cannot be
 * read; -EBADMSG. @cursor may be NULL. */
int pdet_dump_file_read(const struct pdet_dump_file *file,
			struct pdet_dump_cursor *cursor, void *buf, size_t n,
			uint64_t offset);

/* pdet_dump_file_next - from @offset on, where the first byte may be that is
 * not zero: what comes before was never written. The file's size: nowhere. */
uint64_t pdet_dump_file_next(const struct pdet_dump_file *file,
			     uint64_t offset);

#endif
