/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads records of /dev/kmsg (Documentation/ABI/testing/dev-kmsg), one for each
 * read(2). In a captured tree it may be a pipe or a file of lines.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/page_detective/page_detective.h"
#include "base/io.h"

int page_detective_kmsg_open(struct page_detective_kmsg *k,
			     const struct pdet_env *env)
{
	struct stat st;
	char path[4096];

	if (k->fd >= 0)
		return k->fd;
	if (pdet_path(env, path, sizeof(path), "/dev/kmsg") < 0)
		return -EINVAL;
	k->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	k->n = 0;
	if (k->fd < 0)
		return -errno;
	k->polls = fstat(k->fd, &st) == 0 && !S_ISREG(st.st_mode);
	return k->fd;
}

void page_detective_kmsg_close(struct page_detective_kmsg *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

void page_detective_kmsg_skip(struct page_detective_kmsg *k)
{
	ssize_t n;

	k->n = 0;
	/* A pipe cannot seek to its end. */
	if (lseek(k->fd, 0, SEEK_END) >= 0)
		return;
	do
		n = read(k->fd, k->buf, sizeof(k->buf));
	while (n > 0 || (n < 0 && errno == EINTR));
}

/* Feed complete lines of the buffer. */
static int feed(struct page_detective_kmsg *k, struct pdet_log *log)
{
	char *at = k->buf, *end = k->buf + k->n, *nl;
	int r = 0;

	while (r == 0 && (nl = memchr(at, '\n', (size_t)(end - at)))) {
		r = pdet_log_feed(log, (struct pdet_scan){ at, nl });
		at = nl + 1;
	}
	k->n = (size_t)(end - at);
	/* The kernel writes no line this long. */
	if (k->n == sizeof(k->buf))
		k->n = 0;
	memmove(k->buf, at, k->n);
	return r;
}

int page_detective_kmsg_read(struct page_detective_kmsg *k,
			     struct pdet_log *log)
{
	ssize_t n;
	int r;

	do
		n = read(k->fd, k->buf + k->n, sizeof(k->buf) - k->n);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EPIPE)
		return PAGE_DETECTIVE_OVERRUN;
	/* End of a file, or a pipe that has no writer at present. */
	if (n == 0 || (n < 0 && errno == EAGAIN))
		return PAGE_DETECTIVE_DRAINED;
	if (n < 0)
		return -errno;
	k->n += (size_t)n;
	r = feed(k, log);
	return r < 0 ? r : PAGE_DETECTIVE_LINES;
}
