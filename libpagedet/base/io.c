/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads files, and makes temporary ones. It does not interpret their contents.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

static int vpath(const struct pdet_env *env, char *buf, size_t size,
		 const char *fmt, va_list ap)
{
	size_t root = strlen(env->root);
	int len;

	if (root >= size)
		return -EINVAL;
	memcpy(buf, env->root, root);
	len = vsnprintf(buf + root, size - root, fmt, ap);
	if (len < 0 || (size_t)len >= size - root)
		return -EINVAL;
	return 0;
}

int pdet_path(const struct pdet_env *env, char *buf, size_t size,
	      const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vpath(env, buf, size, fmt, ap);
	va_end(ap);
	return r;
}

static int vopen(const struct pdet_env *env, const char *fmt, va_list ap)
{
	char path[PATH_MAX];
	int r, fd;

	r = vpath(env, path, sizeof(path), fmt, ap);
	if (r < 0)
		return r;
	do {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -pdet_errno_kept(errno) : fd;
}

int pdet_open(const struct pdet_env *env, const char *fmt, ...)
{
	va_list ap;
	int fd;

	va_start(ap, fmt);
	fd = vopen(env, fmt, ap);
	va_end(ap);
	return fd;
}

/* A rename elsewhere may let the kernel lose its way: EAGAIN. */
#define LOST_WAYS 1000

int pdet_open_how(int dir, const char *path, int flags, uint64_t resolve)
{
	const struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = resolve,
	};
	unsigned lost = 0;
	long fd;

	do {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	} while (fd < 0 && (errno == EINTR ||
			    (errno == EAGAIN && ++lost < LOST_WAYS)));
	return fd < 0 ? -errno : (int)fd;
}

int pdet_slurp_fd(int fd, struct pdet_text *ret, size_t max)
{
	size_t size = 4096, len = 0;
	char *data, *bigger;
	ssize_t n;

	data = malloc(size);
	if (!data)
		return -ENOMEM;
	for (;;) {
		n = pread(fd, data + len, size - 1 - len, (off_t)len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int code = errno;

			free(data);
			return -pdet_errno_closed(code);
		}
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > max) {
			free(data);
			return -EOVERFLOW;
		}
		if (size - 1 - len >= 2048)
			continue;
		size *= 2;
		bigger = realloc(data, size);
		if (!bigger) {
			free(data);
			return -ENOMEM;
		}
		data = bigger;
	}
	data[len] = '\0';
	ret->data = data;
	ret->len = len;
	return 0;
}

int pdet_slurp(const struct pdet_env *env, struct pdet_text *ret, size_t max,
	       const char *fmt, ...)
{
	va_list ap;
	int fd, r;

	va_start(ap, fmt);
	fd = vopen(env, fmt, ap);
	va_end(ap);
	if (fd < 0)
		return fd;
	r = pdet_slurp_fd(fd, ret, max);
	close(fd);
	return r;
}

int pdet_slurp_at(int dir, const char *file, struct pdet_text *ret, size_t max)
{
	const int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int r;

	if (fd < 0)
		return -errno;
	r = pdet_slurp_fd(fd, ret, max);
	close(fd);
	return r;
}

void pdet_read_line(const struct pdet_env *env, const char *path, char *ret,
		    size_t size)
{
	struct pdet_text text;

	ret[0] = '\0';
	if (pdet_slurp(env, &text, 4096, "%s", path) < 0)
		return;
	snprintf(ret, size, "%.*s", (int)strcspn(text.data, "\n"), text.data);
	pdet_text_free(&text);
}

void pdet_text_free(struct pdet_text *text)
{
	free(text->data);
	text->data = NULL;
	text->len = 0;
}

/* Continue a read that has @done bytes. */
static ssize_t read_rest(int fd, void *buf, size_t size, uint64_t offset,
			 size_t done)
{
	ssize_t n;

	while (done < size) {
		if (offset + done > INT64_MAX)
			break;
		n = pread(fd, (char *)buf + done, size - done,
			  (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t pdet_pread(int fd, void *buf, size_t size, uint64_t offset)
{
	ssize_t n = offset > INT64_MAX ? 0 :
		pread(fd, buf, size, (off_t)offset);

	/* One call is usually enough. */
	return n == (ssize_t)size ? n :
		read_rest(fd, buf, size, offset, n < 0 ? 0 : (size_t)n);
}

/* Some filesystems do not have files without a name. */
static int open_unlinked(const char *folder)
{
	char *name;
	int fd, code;

	if (asprintf(&name, "%s/.pagedet-XXXXXX", folder) < 0)
		return -ENOMEM;
	fd = mkostemp(name, O_CLOEXEC);
	code = errno;
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd < 0 ? -code : fd;
}

int pdet_open_nameless(const char *folder)
{
	const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? open_unlinked(folder) : fd;
}
