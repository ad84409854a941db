/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads a flattened dump. Chunks are small, so a large dump has millions.
 * Consecutive chunks form a run. Only some chunks of a run have a mark; a read
 * walks from a mark to its chunk.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "memory/flat.h"

/*
 * Number of chunks to examine. Headers are written first, but not always from
 * their start.
 */
#define PEEKS 16

void pdet_flat_close(struct pdet_flat *flat)
{
	free(flat->run);
	free(flat->mark);
	free(flat->pieces.data);
}

size_t pdet_flat_peek(int fd, void *buf, size_t n)
{
	struct pdet_flat_head head;
	uint64_t at = PDET_FLAT_HEAD;
	unsigned i;
	ssize_t got;

	for (i = 0; i < PEEKS; i++) {
		if (pdet_pread(fd, &head, sizeof(head), at) != sizeof(head) ||
		    be64toh(head.size) > INT64_MAX - at - sizeof(head))
			return 0;
		at += sizeof(head);
		if (!head.offset && head.size)
			break;
		at += be64toh(head.size);
	}
	if (i == PEEKS)
		return 0;
	if (be64toh(head.size) < n)
		n = (size_t)be64toh(head.size);
	got = pdet_pread(fd, buf, n, at);
	return got < 0 ? 0 : (size_t)got;
}

/* The last mark of a run at or before @offset. */
static const struct pdet_flat_mark *find_mark(const struct pdet_flat *flat,
					      const struct pdet_flat_run *run,
					      uint64_t offset, size_t *ret)
{
	const struct pdet_flat_mark *mark = flat->mark + run->mark;
	size_t low = 0, high = run->n_marks, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (mark[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	*ret = low;
	return mark + low;
}

/* Walk from a mark over the chunks of its run, and skip chunks of other runs in
 * between. */
static int walk(const struct pdet_flat *flat,
		const struct pdet_flat_mark *mark, uint64_t offset,
		struct pdet_flat_cursor *c)
{
	uint64_t at = mark->at, expected = mark->offset;
	struct pdet_flat_head head;
	uint64_t size;

	for (;;) {
		if (pdet_pread(flat->fd, &head, sizeof(head), at) !=
		    sizeof(head))
			return -EIO;
		size = be64toh(head.size);
		/* the file has changed since it was opened */
		if (size > INT64_MAX || at > INT64_MAX - size - sizeof(head))
			return -EBADMSG;
		at += sizeof(head);
		if (be64toh(head.offset) == expected && size) {
			if (offset - expected < size)
				break;
			expected += size;
		}
		at += size;
	}
	c->first = expected;
	c->last = expected + size - 1;
	c->at = at;
	return 0;
}

/* The chunk that holds @offset, cut to its visible part. */
static int find(const struct pdet_flat *flat, const struct pdet_piece *piece,
		uint64_t offset, struct pdet_flat_cursor *c)
{
	const struct pdet_flat_run *run = &flat->run[piece->what];
	const struct pdet_flat_mark *mark;
	size_t i;
	int r;

	mark = find_mark(flat, run, offset, &i);
	if (flat->step == 0) {
		c->first = mark->offset;
		c->last = i + 1 < run->n_marks ? mark[1].offset - 1 : run->last;
		c->at = mark->at + sizeof(struct pdet_flat_head);
	} else {
		r = walk(flat, mark, offset, c);
		if (r < 0) {
			*c = (struct pdet_flat_cursor)PDET_FLAT_CURSOR;
			return r;
		}
	}
	if (c->first < piece->first) {
		c->at += piece->first - c->first;
		c->first = piece->first;
	}
	c->last = PDET_MIN(c->last, piece->last);
	return 0;
}

int pdet_flat_read(const struct pdet_flat *flat, struct pdet_flat_cursor *c,
		   void *buf, size_t n, uint64_t offset)
{
	const struct pdet_piece *piece;
	char *out = buf;
	size_t len;
	int r;

	if (offset > flat->size || n > flat->size - offset)
		return flat->lost ? flat->lost : -EIO;
	for (; n; n -= len, offset += len, out += len) {
		if (offset < c->first || offset > c->last) {
			piece = pdet_overlay_find(&flat->pieces, offset);
			if (!piece || offset < piece->first) {
				if (flat->lost)
					return flat->lost;
				len = n;
				if (piece && piece->first - offset < n)
					len = piece->first - offset;
				memset(out, 0, len);
				continue;
			}
			r = find(flat, piece, offset, c);
			if (r < 0)
				return r;
		}
		len = c->last - offset < n ? (size_t)(c->last - offset) + 1 : n;
		if (pdet_pread(flat->fd, out, len,
			       c->at + (offset - c->first)) != (ssize_t)len)
			return -EIO;
	}
	return 0;
}

uint64_t pdet_flat_next(const struct pdet_flat *flat, uint64_t offset)
{
	const struct pdet_piece *piece = pdet_overlay_find(&flat->pieces,
							   offset);

	return piece ? PDET_MAX(offset, piece->first) : flat->size;
}
