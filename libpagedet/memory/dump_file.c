/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads a dump file, plain or flattened. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "memory/dump_file.h"
#include "memory/flat_scan.h"

enum pdet_dump_form pdet_dump_file_form(int fd)
{
	unsigned char head[PDET_DUMP_HEAD];
	ssize_t n = pdet_pread(fd, head, sizeof(head), 0);
	enum pdet_dump_form form;
	size_t len;

	if (n <= 0)
		return PDET_DUMP_NONE;
	form = pdet_dump_form(head, (size_t)n);
	if (form != PDET_DUMP_FLAT)
		return form;
	len = pdet_flat_peek(fd, head, sizeof(head));
	form = pdet_dump_form(head, len);
	/* The start of the dump may come later in the stream. */
	return form == PDET_DUMP_NONE ? PDET_DUMP_FLAT : form;
}

int pdet_dump_file_open(struct pdet_dump_file *file, struct pdet_env *env,
			int fd)
{
	unsigned char head[PDET_DUMP_HEAD];
	struct stat st;
	ssize_t n;
	off_t end;
	int r;

	memset(file, 0, sizeof(*file));
	file->fd = fd;
	if (fstat(fd, &st) < 0)
		return pdet_fail_errno(env, "its size cannot be read");
	end = S_ISREG(st.st_mode) ? st.st_size : lseek(fd, 0, SEEK_END);
	if (end < 0)
		return pdet_fail_errno(env, "its size cannot be read");
	file->size = file->bytes = (uint64_t)end;
	n = pdet_pread(fd, head, sizeof(head), 0);
	if (n < 0) {
		errno = (int)-n;
		return pdet_fail_errno(env, "its beginning cannot be read");
	}
	if (pdet_dump_form(head, (size_t)n) != PDET_DUMP_FLAT)
		return 0;
	r = pdet_flat_open(&file->flat, env, fd, file->size);
	if (r < 0)
		return r;
	file->flattened = true;
	file->size = file->flat.size;
	return 0;
}

void pdet_dump_file_close(struct pdet_dump_file *file)
{
	if (file->flattened)
		pdet_flat_close(&file->flat);
	file->flattened = false;
}

int pdet_dump_file_read(const struct pdet_dump_file *file,
			struct pdet_dump_cursor *cursor, void *buf, size_t n,
			uint64_t offset)
{
	struct pdet_dump_cursor own = PDET_DUMP_CURSOR;

	if (file->flattened)
		return pdet_flat_read(&file->flat,
				      &(cursor ? cursor : &own)->flat, buf, n,
				      offset);
	return pdet_pread(file->fd, buf, n, offset) == (ssize_t)n ? 0 : -EIO;
}

uint64_t pdet_dump_file_next(const struct pdet_dump_file *file, uint64_t offset)
{
	off_t at;

	/* if the stream was cut, unwritten bytes are lost, not zero */
	if (file->flattened)
		return file->flat.lost ? offset :
			pdet_flat_next(&file->flat, offset);
	if (offset >= file->size)
		return file->size;
	at = lseek(file->fd, (off_t)offset, SEEK_DATA);
	if (at < 0)
		return errno == ENXIO ? file->size : offset;
	return (uint64_t)at;
}
