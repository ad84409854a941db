/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Validates block descriptors, and counts those whose data is beyond the end of
 * a truncated file.
 */
#include <errno.h>
#include <stdlib.h>

#include "memory/kdump.h"

/* Descriptors in one read. */
#define BATCH ((uint64_t)2048)
/* Descriptors to check at the start. */
#define FIRST ((uint64_t)64)
/*
 * Number of descriptors to check at the end. Blocks of zeroes there share one
 * place.
 */
#define MOST_ZEROES ((uint64_t)8 << 20)

bool pdet_kdump_codec(uint32_t flags, enum pdet_codec_id *ret)
{
	switch (flags & KDUMP_COMPRESSED) {
	case 0:
		*ret = PDET_N_CODECS;
		return true;
	case KDUMP_ZLIB:
		*ret = PDET_CODEC_ZLIB;
		return true;
	case KDUMP_LZO:
		*ret = PDET_CODEC_LZO;
		return true;
	case KDUMP_SNAPPY:
		*ret = PDET_CODEC_SNAPPY;
		return true;
	case KDUMP_ZSTD:
		*ret = PDET_CODEC_ZSTD;
		return true;
	default:
		return false;
	}
}

int pdet_kdump_descriptor_check(const struct kdump_descriptor *d,
				const struct kdump_part *part, size_t block)
{
	if (!d->offset && !d->size)
		return -EIO;
	if (d->offset < part->descriptors || d->offset > INT64_MAX || !d->size)
		return -EBADMSG;
	if (!(d->flags & KDUMP_COMPRESSED))
		return d->size == block ? 0 : -EBADMSG;
	/* limit: the smaller of compressed and plain size, with some slack */
	return d->size <= 2 * block ? 0 : -EBADMSG;
}

static int read_some(const struct kdump_part *part, struct kdump_descriptor *d,
		     uint64_t first, uint64_t n)
{
	struct pdet_dump_cursor cursor = PDET_DUMP_CURSOR;

	return pdet_dump_file_read(part->file, &cursor, d,
				   (size_t)n * sizeof(*d),
				   part->descriptors + first * sizeof(*d));
}

static bool is_possible(const struct kdump_descriptor *d,
			const struct kdump_part *part, size_t block)
{
	enum pdet_codec_id id;

	return pdet_kdump_descriptor_check(d, part, block) == 0 &&
		pdet_kdump_codec(d->flags, &id);
}

/* Data begins where the descriptors end, and one of the first descriptors has
 * the first data. A single damaged one proves nothing. */
bool pdet_kdump_part_agrees(const struct kdump_part *part, size_t block)
{
	uint64_t n = part->bitmap.blocks, some = PDET_MIN(n, FIRST), i;
	uint64_t end = part->descriptors + n * sizeof(struct kdump_descriptor);
	struct kdump_descriptor d[FIRST], last;

	if (part->absent || !n)
		return true;
	/* one more descriptor, which is valid, follows */
	if (read_some(part, &last, n, 1) == 0 && last.offset > end &&
	    is_possible(&last, part, block) &&
	    last.offset < part->file->size)
		return false;
	/* or the last one is already data */
	if (read_some(part, &last, n - 1, 1) < 0 ||
	    read_some(part, d, 0, some) < 0 ||
	    is_possible(&last, part, block))
		return true;
	for (i = 0; i < some; i++)
		if (d[i].offset < end && is_possible(&d[i], part, block))
			return false;
	return true;
}

struct counted {
	uint64_t lost;		/* not written, or beyond the end */
	bool differ;		/* not all at the same place */
	uint64_t end;		/* where those ended that are beyond it */
};

static struct counted count(const struct kdump_part *part,
			    const struct kdump_descriptor *d, size_t n)
{
	struct counted c = { 0, false, 0 };
	uint64_t size = part->file->size;
	size_t i;

	for (i = 0; i < n; i++) {
		if (d[i].offset != d[0].offset)
			c.differ = true;
		if (!d[i].offset && !d[i].size) {
			c.lost++;
		} else if (d[i].offset >= size ||
			   d[i].size > size - d[i].offset) {
			c.lost++;
			if (d[i].offset <= INT64_MAX)
				c.end = PDET_MAX(c.end,
						 d[i].offset + d[i].size);
		}
	}
	return c;
}

/* Data has the order of the blocks, so the last ones are lost first. */
static bool is_cut(const struct kdump_part *part, struct kdump_descriptor *d)
{
	uint64_t end = part->bitmap.blocks, n, seen;
	struct counted c;

	for (seen = 0; seen < end && seen < MOST_ZEROES; seen += n) {
		n = PDET_MIN(end - seen, BATCH);
		if (read_some(part, d, end - seen - n, n) < 0)
			return true;
		c = count(part, d, (size_t)n);
		if (c.lost || c.differ)
			return c.lost;
	}
	return false;
}

/* In a flattened dump any descriptor may be lost. *end: where the file ended
 * before it was cut; 0: a descriptor of that is lost, too. */
static uint64_t count_lost(const struct kdump_part *part,
			   struct kdump_descriptor *d, uint64_t *end)
{
	uint64_t all = part->bitmap.blocks, at = 0, n = BATCH, lost = 0;

	*end = 0;
	while (at < all) {
		n = PDET_MIN(all - at, n);
		if (read_some(part, d, at, n) == 0) {
			const struct counted c = count(part, d, (size_t)n);

			lost += c.lost;
			*end = PDET_MAX(*end, c.end);
			at += n;
			n = PDET_MIN(2 * n, BATCH);
		} else if (!part->file->flattened) {
			*end = 0;
			return lost + (all - at);
		} else if (n > 1) {
			n /= 2;
		} else {
			lost++;
			at++;
		}
	}
	return lost;
}

int pdet_kdump_count_missing(struct kdump *k)
{
	struct kdump_descriptor *d = malloc((size_t)BATCH * sizeof(*d));
	size_t i;

	if (!d)
		return -ENOMEM;
	for (i = 0; i < k->n_parts; i++) {
		const struct kdump_part *part = &k->part[i];
		uint64_t lost = 0, end;

		if (part->absent)
			lost = part->bitmap.blocks;
		else if (is_cut(part, d))
			lost = count_lost(part, d, &end);
		if (lost && !part->absent) {
			k->m.ends_at = part->file->bytes;
			k->m.whole = part->file->flattened ? 0 : end;
		}
		k->m.missing += lost * k->block;
	}
	free(d);
	return 0;
}
