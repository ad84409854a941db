/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Files below the root of an env. All descriptors are close-on-exec. */
#ifndef PDET_BASE_IO_H
#define PDET_BASE_IO_H

#include "base/env.h"

/* A small file, read completely and NUL-terminated. */
struct pdet_text {
	char *data;
	size_t len;
};

/*
 * pdet_open - open root + printf(fmt) for reading. Returns the descriptor, or
 * a negative errno (as pdet_errno_kept()) without touching the env's error.
 */
int pdet_open(const struct pdet_env *env, const char *fmt, ...)
	PDET_PRINTF(2, 3);

/*
 * pdet_open_how - openat2() of @path below the descriptor @dir, or AT_FDCWD,
 * with O_* flags and RESOLVE_*. Returns the descriptor, or a negative errno:
 * ENOSYS before Linux 5.6.
 */
int pdet_open_how(int dir, const char *path, int flags, uint64_t resolve);

/* pdet_path - write root + printf(fmt) into @buf; -EINVAL if it is too long. */
int pdet_path(const struct pdet_env *env, char *buf, size_t size,
	      const char *fmt, ...) PDET_PRINTF(4, 5);

/*
 * pdet_slurp - read all of root + printf(fmt), at most @max bytes. Returns 0
 * or a negative errno: EOVERFLOW if there is more. Free with pdet_text_free().
 */
int pdet_slurp(const struct pdet_env *env, struct pdet_text *ret, size_t max,
	       const char *fmt, ...) PDET_PRINTF(4, 5);

/*
 * pdet_slurp_at - the same for a file of the directory @dir, or a path if @dir
 * is AT_FDCWD. It does not wait for the writer of a pipe.
 */
int pdet_slurp_at(int dir, const char *file, struct pdet_text *ret, size_t max);

/* pdet_slurp_fd - the same for an open descriptor, from offset 0. */
int pdet_slurp_fd(int fd, struct pdet_text *ret, size_t max);

void pdet_text_free(struct pdet_text *text);

/*
 * pdet_read_line - read the first line of root + @path, without its end; "" if
 * it cannot be read. A longer one is cut.
 */
void pdet_read_line(const struct pdet_env *env, const char *path, char *ret,
		    size_t size);

/*
 * pdet_pread - read up to @size bytes at @offset; continue after short reads
 * and EINTR. Returns bytes read (short only at the end), or a negative errno.
 */
ssize_t pdet_pread(int fd, void *buf, size_t size, uint64_t offset);

/*
 * pdet_open_nameless - make a file in @folder, to write and read, of which
 * nothing remains when it is closed. Returns the descriptor, or a negative
 * errno.
 */
int pdet_open_nameless(const char *folder);

#endif
