/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Sizes that a file tells are not believed if they are large. */
#include <errno.h>
#include <stdlib.h>

#include "base/env.h"
#include "base/io.h"
#include "trace/chunks.h"
#include "trace/ring.h"

/* Bytes that are read at once. */
#define CHUNK ((size_t)1 << 18)
/* The largest compressed chunk that is believed. trace-cmd makes them of one
 * page, or of 10. */
#define MOST_CHUNK ((uint32_t)1 << 20)
#define MOST_CHUNK_PAGES 16u

static bool make_room(struct pdet_chunk *c, size_t n)
{
	unsigned char *more = n > c->cap ? realloc(c->data, n) : c->data;

	if (!more)
		return false;
	c->data = more;
	c->cap = PDET_MAX(c->cap, n);
	return true;
}

/* At most @n bytes from where the reading is. */
static ssize_t read_on(struct pdet_chunks *c, void *to, size_t n)
{
	const ssize_t r = pdet_pread(c->fd, to, (size_t)
				     PDET_MIN(n, c->end - c->offset),
				     c->offset);

	if (r > 0)
		c->offset += (uint64_t)r;
	return r;
}

static int give_up(struct pdet_chunks *c)
{
	c->damaged = true;
	c->offset = c->end;
	c->left = 0;
	return 0;
}

static int next_plain(struct pdet_chunks *c, struct pdet_chunk *ret)
{
	ssize_t n;

	if (c->offset == c->end)
		return 0;
	if (!make_room(ret, PDET_MAX(CHUNK, (size_t)c->page)))
		return -ENOMEM;
	n = read_on(c, ret->data, ret->cap);
	if (n < 0)
		return (int)n;
	/* It has become shorter meanwhile, or was cut. */
	if ((size_t)n < c->page)
		return give_up(c);
	ret->n = (size_t)n - (size_t)n % c->page;
	c->offset -= (uint64_t)n - ret->n;
	return 1;
}

static int unpack(struct pdet_chunks *c, uint32_t packed, uint32_t size,
		  struct pdet_chunk *ret)
{
	unsigned char *bytes = malloc(packed);
	ssize_t n;
	int r;

	if (!bytes || !make_room(ret, size)) {
		free(bytes);
		return -ENOMEM;
	}
	n = read_on(c, bytes, packed);
	r = n < 0 ? (int)n : (size_t)n < packed ? -EBADMSG :
	    pdet_codec_run(c->codec, bytes, packed, ret->data, size);
	free(bytes);
	if (r == -EBADMSG)
		return give_up(c);
	ret->n = size;
	return r < 0 ? r : 1;
}

static int next_packed(struct pdet_chunks *c, struct pdet_chunk *ret)
{
	const uint32_t most = PDET_MAX(MOST_CHUNK, MOST_CHUNK_PAGES * c->page);
	unsigned char head[8];
	uint32_t packed, size;
	ssize_t n;

	if (!c->begun) {
		c->begun = true;
		n = read_on(c, head, 4);
		if (n < 4)
			return n < 0 ? (int)n : n ? give_up(c) : 0;
		c->left = pdet_ring_number(head, 4, c->big_endian);
	}
	if (!c->left)
		return 0;
	c->left--;
	n = read_on(c, head, 8);
	if (n < 8)
		return n < 0 ? (int)n : give_up(c);
	packed = (uint32_t)pdet_ring_number(head, 4, c->big_endian);
	size = (uint32_t)pdet_ring_number(head + 4, 4, c->big_endian);
	if (!packed || packed > 2 * most || size > most || size < c->page ||
	    size % c->page)
		return give_up(c);
	return unpack(c, packed, size, ret);
}

int pdet_chunks_next(struct pdet_chunks *c, struct pdet_chunk *ret)
{
	ret->n = 0;
	return c->codec ? next_packed(c, ret) : next_plain(c, ret);
}
