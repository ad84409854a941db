/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * One thread's reader of a compressed dump: from a frame through the bitmap to
 * its descriptor, and then to the block. Sequential reads find the next
 * descriptors and data in buffers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/block_cache.h"
#include "memory/kdump.h"

#define DESCRIPTORS 128
#define FEW_DESCRIPTORS 8
/* Compressed data read ahead by a sequential reader. */
#define AHEAD ((size_t)64 << 10)
/* Memory for windows, and their largest number. */
#define WINDOW_BYTES ((size_t)1 << 20)
#define MAX_WINDOWS 32

struct kdump_reader {
	struct pdet_reader reader;
	const struct kdump_part *part;
	struct pdet_block_cache cache;
	struct kdump_window window[MAX_WINDOWS];
	size_t n_windows;
	char *windows;		/* buffer of the windows */
	/* Positions in the current part: */
	struct pdet_dump_cursor bits;
	struct pdet_dump_cursor descriptors;
	struct pdet_dump_cursor data;
	struct kdump_descriptor descriptor[DESCRIPTORS];
	uint64_t first_descriptor;
	size_t n_descriptors;
	char *ahead;
	uint64_t ahead_at;
	size_t ahead_len;
	uint64_t next_data;	/* offset after the last decompressed data */
	struct kdump_descriptor last; /* of the last block read */
	struct kdump_descriptor zeroes; /* the descriptor that all blocks of
					 * zeroes share */
	struct pdet_codec *codec[PDET_N_CODECS];
};

static void set_part(struct kdump_reader *r, const struct kdump_part *part)
{
	const struct pdet_dump_cursor none = PDET_DUMP_CURSOR;

	r->part = part;
	r->bits = r->descriptors = r->data = none;
	r->n_descriptors = 0;
	r->ahead_len = 0;
	r->next_data = 0;
	r->last = r->zeroes = (struct kdump_descriptor){ .offset = 0 };
}

void pdet_kdump_reader_free(struct pdet_reader *reader)
{
	struct kdump_reader *r = (struct kdump_reader *)reader;
	size_t i;

	for (i = 0; i < PDET_N_CODECS; i++)
		pdet_codec_close(r->codec[i]);
	pdet_block_cache_free(&r->cache);
	free(r->windows);
	free(r->ahead);
	free(r);
}

static bool make_windows(struct kdump_reader *r, size_t bytes)
{
	/*
	 * both bitmaps, and a count of four bytes for each eight bytes of one
	 * of them
	 */
	size_t size = 2 * bytes + bytes / 2, i;
	char *p;

	r->n_windows = PDET_MIN(MAX_WINDOWS, PDET_MAX(WINDOW_BYTES / size, 1));
	p = r->windows = malloc(r->n_windows * size);
	if (!p)
		return false;
	for (i = 0; i < r->n_windows; i++, p += size) {
		r->window[i].dumped = (uint64_t *)(void *)p;
		r->window[i].exists = (uint64_t *)(void *)(p + bytes);
		r->window[i].before = (uint32_t *)(void *)(p + 2 * bytes);
	}
	return true;
}

int pdet_kdump_reader_new(struct pdet_memory *m, size_t cache_bytes,
			  struct pdet_reader **ret)
{
	const struct kdump *k = (const struct kdump *)m;
	struct kdump_reader *r = calloc(1, sizeof(*r));
	size_t window = 0, i;

	if (!r)
		return -ENOMEM;
	r->reader.memory = m;
	for (i = 0; i < k->n_parts; i++)
		window = PDET_MAX(window, k->part[i].bitmap.window);
	r->ahead = malloc(PDET_MAX(AHEAD, 2 * k->block));
	set_part(r, k->part);
	if (!r->ahead || !make_windows(r, window) ||
	    !pdet_block_cache_init(&r->cache, k->block, cache_bytes)) {
		pdet_kdump_reader_free(&r->reader);
		return -ENOMEM;
	}
	*ret = &r->reader;
	return 0;
}

static void find_part(struct kdump_reader *r, uint64_t frame)
{
	const struct kdump *k = (const struct kdump *)r->reader.memory;
	size_t low = 0, high = k->n_parts - 1, middle;

	if (frame >= r->part->bitmap.first && frame < r->part->bitmap.end)
		return;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (frame >= k->part[middle].bitmap.end)
			low = middle + 1;
		else
			high = middle;
	}
	set_part(r, &k->part[low]);
}

static int find_descriptor(struct kdump_reader *r, uint64_t rank,
			   const struct kdump_descriptor **ret)
{
	uint64_t at = r->first_descriptor, left = r->part->bitmap.blocks - rank;
	size_t n = FEW_DESCRIPTORS;
	int result;

	if (rank - at < r->n_descriptors) {
		*ret = &r->descriptor[rank - at];
		return 0;
	}
	if (rank - at <= r->n_descriptors + FEW_DESCRIPTORS)
		n = DESCRIPTORS;
	n = left < n ? (size_t)left : n;
	r->n_descriptors = 0;
	at = r->part->descriptors + rank * sizeof(*r->descriptor);
	result = pdet_dump_file_read(r->part->file, &r->descriptors,
				     r->descriptor,
				     n * sizeof(*r->descriptor), at);
	/* the file may end after this one */
	if (result < 0 && n > 1) {
		n = 1;
		result = pdet_dump_file_read(r->part->file, &r->descriptors,
					     r->descriptor,
					     sizeof(*r->descriptor), at);
	}
	if (result < 0)
		return result;
	r->first_descriptor = rank;
	r->n_descriptors = n;
	*ret = r->descriptor;
	return 0;
}

/* The window of @frame, which must be below k->frames. The reader switches to
 * its part. */
static int find_window(struct kdump_reader *r, uint64_t frame,
		       struct kdump_window **ret)
{
	struct kdump_window *w;
	uint64_t number;

	find_part(r, frame);
	number = frame / ((uint64_t)r->part->bitmap.window * 8);
	*ret = w = &r->window[number % r->n_windows];
	if (w->of == &r->part->bitmap && w->number == number)
		return 0;
	return pdet_kdump_window_load(w, &r->part->bitmap, &r->bits, frame);
}

static int locate(struct kdump_reader *r, uint64_t frame,
		  const struct kdump_descriptor **ret)
{
	const struct kdump *k = (const struct kdump *)r->reader.memory;
	struct kdump_window *w;
	uint64_t rank;
	int result;

	if (frame >= k->frames)
		return -ENOENT;
	result = find_window(r, frame, &w);
	if (result < 0)
		return result;
	result = pdet_kdump_window_rank(w, &r->bits, frame, &rank);
	if (result < 0)
		return result;
	if (r->part->absent)
		return -EIO;
	result = find_descriptor(r, rank, ret);
	if (result < 0)
		return result;
	return pdet_kdump_descriptor_check(*ret, r->part, k->block);
}

uint64_t pdet_kdump_next_phys(struct pdet_reader *reader, uint64_t addr)
{
	struct kdump_reader *r = (struct kdump_reader *)reader;
	const struct kdump *k = (const struct kdump *)reader->memory;
	uint64_t frame = addr >> k->shift, in, next;
	struct kdump_window *w;

	while (frame < k->frames) {
		find_part(r, frame);
		next = r->part->absent ? r->part->bitmap.end :
			pdet_kdump_bitmap_next(&r->part->bitmap, frame);
		if (next > frame) {
			frame = next;
			addr = frame << k->shift;
			continue;
		}
		if (find_window(r, frame, &w) < 0)
			return addr;
		next = pdet_kdump_window_next(w, frame);
		if (next != UINT64_MAX)
			return PDET_MAX(addr, next << k->shift);
		/* the next window, or the next part in this one */
		in = (uint64_t)r->part->bitmap.window * 8;
		frame = PDET_MIN((frame / in + 1) * in, r->part->bitmap.end);
		addr = frame << k->shift;
	}
	return UINT64_MAX;
}

/* Get the data of a block into memory. */
static int find_data(struct kdump_reader *r, const struct kdump_descriptor *d,
		     const char **ret)
{
	const struct pdet_dump_file *file = r->part->file;
	bool goes_on = d->offset - r->next_data < KDUMP_BLOCK_MIN;
	size_t n = d->size;
	int result;

	r->next_data = d->offset + d->size;
	if (d->offset >= r->ahead_at && d->size <= r->ahead_len &&
	    d->offset - r->ahead_at <= r->ahead_len - d->size) {
		*ret = r->ahead + (d->offset - r->ahead_at);
		return 0;
	}
	if (d->offset >= file->size)
		return file->flattened && file->flat.lost ?
			file->flat.lost : -EIO;
	if (goes_on && n < AHEAD)
		n = AHEAD;
	n = file->size - d->offset < n ? (size_t)(file->size - d->offset) : n;
	r->ahead_len = 0;
	result = n < d->size ? -EIO :
		pdet_dump_file_read(file, &r->data, r->ahead, n, d->offset);
	/* the error may be behind it */
	if (result < 0 && n > d->size) {
		n = d->size;
		result = pdet_dump_file_read(file, &r->data, r->ahead, n,
					     d->offset);
	}
	if (result < 0)
		return result;
	r->ahead_at = d->offset;
	r->ahead_len = n;
	*ret = r->ahead;
	return 0;
}

static int decompress(struct kdump_reader *r, const struct kdump_descriptor *d,
		      enum pdet_codec_id id, void *out, size_t size)
{
	const char *data = NULL;
	int result;

	if (!r->codec[id]) {
		result = pdet_codec_open(id, NULL, &r->codec[id]);
		if (result < 0)
			return result;
	}
	result = find_data(r, d, &data);
	if (result < 0)
		return result;
	return pdet_codec_run(r->codec[id], data, d->size, out, size);
}

static bool same(const struct kdump_descriptor *a,
		 const struct kdump_descriptor *b)
{
	return a->offset == b->offset && a->size == b->size &&
		a->flags == b->flags;
}

static bool is_zero(const char *data, size_t n)
{
	return !data[0] && !memcmp(data, data + 1, n - 1);
}

static int read_whole(struct kdump_reader *r, const struct kdump_descriptor *d,
		      char *out, size_t block)
{
	enum pdet_codec_id id;
	int result;

	if (!pdet_kdump_codec(d->flags, &id))
		return -EBADMSG;
	if (id == PDET_N_CODECS)
		result = pdet_dump_file_read(r->part->file, &r->data, out,
					     block, d->offset);
	else
		result = decompress(r, d, id, out, block);
	if (result < 0)
		return result;
	/* Two blocks at the same place: only blocks of zeroes share it. */
	if (same(d, &r->last) && is_zero(out, block))
		r->zeroes = *d;
	r->last = *d;
	return 0;
}

/* Read @n bytes of a block that is not cached. If @bulk, they will not be
 * needed again. */
static int read_block(struct kdump_reader *r, uint64_t frame, size_t at,
		      char *out, size_t n, bool bulk)
{
	const struct kdump *k = (const struct kdump *)r->reader.memory;
	const struct kdump_descriptor *d;
	char *slot;
	int result;

	result = locate(r, frame, &d);
	if (result < 0)
		return result;
	if (same(d, &r->zeroes)) {
		memset(out, 0, n);
		return 0;
	}
	if (bulk && n == k->block)
		return read_whole(r, d, out, k->block);
	if (!(d->flags & KDUMP_COMPRESSED) && (bulk || n >= k->block / 2))
		return pdet_dump_file_read(r->part->file, &r->data, out, n,
					   d->offset + at);
	slot = pdet_block_cache_add(&r->cache, frame);
	result = read_whole(r, d, slot, k->block);
	if (result < 0) {
		pdet_block_cache_drop(&r->cache, frame);
		return result;
	}
	memcpy(out, slot + at, n);
	return 0;
}

int pdet_kdump_read_phys(struct pdet_reader *reader, uint64_t addr, void *buf,
			 size_t n)
{
	struct kdump_reader *r = (struct kdump_reader *)reader;
	const struct kdump *k = (const struct kdump *)reader->memory;
	size_t at = addr & (k->block - 1), len;
	bool bulk = n > k->block - at;
	uint64_t frame = addr >> k->shift;
	const char *block;
	char *out = buf;
	int result;

	for (; n; frame++, at = 0, out += len, n -= len) {
		len = PDET_MIN(n, k->block - at);
		block = pdet_block_cache_find(&r->cache, frame);
		if (block) {
			memcpy(out, block + at, len);
			continue;
		}
		result = read_block(r, frame, at, out, len, bulk);
		if (result < 0)
			return result;
	}
	return 0;
}
