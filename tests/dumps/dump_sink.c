/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes a dump to a file, or as the stream of makedumpfile -F. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump_write.h"

#define HEAD 4096

static void put(int fd, const void *data, size_t n, uint64_t offset)
{
	if (pwrite(fd, data, n, (off_t)offset) == (ssize_t)n)
		return;
	perror("dump");
	exit(1);
}

static void put_head(struct dump_sink *s, uint64_t offset, uint64_t size)
{
	uint64_t head[2] = { htobe64(offset), htobe64(size) };

	put(s->fd, head, sizeof(head), s->end);
	s->end += sizeof(head);
}

void dump_sink_begin(struct dump_sink *s)
{
	char head[HEAD] = "makedumpfile";
	uint64_t one = htobe64(1);

	s->end = 0;
	if (!s->flattened)
		return;
	memcpy(head + 16, &one, sizeof(one)); /* type */
	memcpy(head + 24, &one, sizeof(one)); /* version */
	put(s->fd, head, sizeof(head), 0);
	s->end = sizeof(head);
}

void dump_sink_write(struct dump_sink *s, const void *data, size_t n,
		     uint64_t offset)
{
	if (!s->flattened) {
		put(s->fd, data, n, offset);
		return;
	}
	put_head(s, offset, n);
	put(s->fd, data, n, s->end);
	s->end += n;
}

void dump_sink_end(struct dump_sink *s)
{
	if (s->flattened)
		put_head(s, UINT64_MAX, UINT64_MAX);
}
