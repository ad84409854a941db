/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the bitmaps of a compressed dump, 32 MB each for a terabyte. They are
 * read once completely for counting. After that a reader loads a window of 4096
 * frames when it needs one. Windows are larger if a dump would have too many
 * counters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/kdump.h"

#define WINDOW_MIN ((size_t)512)
#define MAX_WINDOWS ((uint64_t)1 << 20)
#define CHUNK ((size_t)256 << 10)

static uint64_t frames_of(const struct kdump_bitmap *b)
{
	return (uint64_t)b->window * 8;
}

/* Get @n bytes at byte @at of a bitmap. After its end they are zeroes. */
static int read_bytes(const struct kdump_bitmap *b,
		      struct pdet_dump_cursor *cursor, uint64_t bitmap,
		      uint64_t at, void *buf, size_t n)
{
	uint64_t bytes = (b->end + 7) / 8;
	size_t len = 0;

	if (at < bytes)
		len = bytes - at < n ? (size_t)(bytes - at) : n;
	memset((char *)buf + len, 0, n - len);
	return len ? pdet_dump_file_read(b->file, cursor, buf, len,
					 bitmap + at) : 0;
}

/*
 * Clear bits outside of the frames first .. end - 1. @word begins at frame @at.
 */
static uint64_t clip(const struct kdump_bitmap *b, uint64_t word, uint64_t at)
{
	if (at + 64 <= b->first || at >= b->end)
		return 0;
	if (at < b->first)
		word &= ~(uint64_t)0 << (b->first - at);
	if (b->end - at < 64)
		word &= ~(~(uint64_t)0 << (b->end - at));
	return word;
}

/* Bit 0 of the first byte is the first frame. */
static uint64_t to_host(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(word);
#else
	return word;
#endif
}

/* Skip @n empty bytes of a bitmap. @word is called only where windows begin. */
static int skip(const struct kdump_bitmap *b, uint64_t at, size_t n,
		int (*word)(void *arg, uint64_t at, uint64_t bits), void *arg)
{
	uint64_t end = at + n;
	int r = 0;

	for (; r == 0 && at < end; at += b->window)
		r = word(arg, at * 8, 0);
	return r;
}

/* Call @word for each 64 frames of a bitmap from @b->first on. For unwritten
 * parts it is called as seldom as possible. */
static int each_word(const struct kdump_bitmap *b, uint64_t bitmap,
		     int (*word)(void *arg, uint64_t at, uint64_t bits),
		     void *arg)
{
	struct pdet_dump_cursor cursor = PDET_DUMP_CURSOR;
	uint64_t at = b->first / frames_of(b) * b->window, value;
	uint64_t bytes = (b->end + 7) / 8, written = bitmap + at;
	char *buf = malloc(CHUNK);
	size_t n, i;
	int r = buf ? 0 : -ENOMEM;

	for (; r == 0 && at < bytes; at += CHUNK) {
		n = bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK;
		n = (n + 7) & ~(size_t)7;
		if (written <= bitmap + at)
			written = pdet_dump_file_next(b->file, bitmap + at);
		if (written >= bitmap + at + n) {
			r = skip(b, at, n, word, arg);
			continue;
		}
		r = read_bytes(b, &cursor, bitmap, at, buf, n);
		for (i = 0; r == 0 && i < n; i += 8) {
			memcpy(&value, buf + i, sizeof(value));
			value = clip(b, to_host(value), (at + i) * 8);
			r = word(arg, (at + i) * 8, value);
		}
	}
	free(buf);
	return r;
}

static int count(void *arg, uint64_t at, uint64_t bits)
{
	struct kdump_bitmap *b = arg;
	uint64_t base = b->first / frames_of(b);

	if (at % frames_of(b) == 0)
		b->rank[at / frames_of(b) - base] = b->blocks;
	b->blocks += (unsigned)__builtin_popcountll(bits);
	return 0;
}

int pdet_kdump_bitmap_open(struct kdump_bitmap *b, struct pdet_env *env,
			   const struct pdet_dump_file *file,
			   const struct kdump_head *head)
{
	uint64_t bytes = (head->frames + 7) / 8;
	uint64_t blocks = (bytes + head->block - 1) / head->block;
	uint64_t windows;
	int r;

	b->file = file;
	b->first = head->first;
	b->end = head->end;
	b->exists = b->dumped = head->bitmap;
	b->both = head->bitmap_bytes / head->block / 2 >= blocks;
	if (b->both)
		b->dumped += head->bitmap_bytes / 2;
	for (b->window = WINDOW_MIN;; b->window *= 2) {
		windows = (b->end - 1) / frames_of(b) -
			b->first / frames_of(b) + 1;
		if (windows <= MAX_WINDOWS)
			break;
	}
	/* Check before allocating memory for the claimed size. */
	if (file->size < b->dumped || file->size - b->dumped < (b->end + 7) / 8)
		return pdet_fail(env, EIO, "it is a dump that is cut short in "
				 "its bitmaps");
	b->rank = malloc((size_t)windows * sizeof(*b->rank));
	if (!b->rank)
		return pdet_fail(env, ENOMEM, "no memory");
	r = each_word(b, b->dumped, count, b);
	if (r == -ENOMEM)
		return pdet_fail(env, ENOMEM, "no memory");
	if (r < 0)
		return pdet_fail(env, -r, "its bitmaps cannot be read");
	return 0;
}

void pdet_kdump_bitmap_close(struct kdump_bitmap *b)
{
	free(b->rank);
}

struct run {
	struct pdet_memory *m;
	size_t block;
	uint64_t first;		/* start of the current run of ones, or
				 * UINT64_MAX if there is none */
};

static int end_run(struct run *run, uint64_t at)
{
	uint64_t first = run->first;

	if (first == UINT64_MAX)
		return 0;
	run->first = UINT64_MAX;
	return pdet_memory_add_range(run->m, first * run->block,
				     at * run->block - 1);
}

static int find_runs(void *arg, uint64_t at, uint64_t bits)
{
	struct run *run = arg;
	unsigned i = 0;
	int r;

	/* Most words are all zeroes or all ones. */
	if (bits == 0)
		return end_run(run, at);
	if (bits == ~(uint64_t)0) {
		if (run->first == UINT64_MAX)
			run->first = at;
		return 0;
	}
	for (; i < 64; i++) {
		if (bits >> i & 1) {
			if (run->first == UINT64_MAX)
				run->first = at + i;
			continue;
		}
		r = end_run(run, at + i);
		if (r < 0)
			return r;
	}
	return 0;
}

int pdet_kdump_bitmap_ranges(const struct kdump_bitmap *b, struct pdet_env *env,
			     struct pdet_memory *m, size_t block)
{
	struct run run = { m, block, UINT64_MAX };
	int r = each_word(b, b->exists, find_runs, &run);

	if (r == 0)
		r = end_run(&run, b->end);
	if (r == -ENOMEM)
		return pdet_fail(env, ENOMEM, "no memory");
	if (r < 0)
		return pdet_fail(env, -r, "its bitmaps cannot be read");
	return 0;
}

uint64_t pdet_kdump_bitmap_next(const struct kdump_bitmap *b, uint64_t frame)
{
	const uint64_t base = b->first / frames_of(b);
	const uint64_t n = (b->end - 1) / frames_of(b) - base + 1;
	uint64_t i = frame / frames_of(b) - base;

	while (i < n && (i + 1 < n ? b->rank[i + 1] : b->blocks) == b->rank[i])
		i++;
	return i == n ? b->end : PDET_MAX(frame, (base + i) * frames_of(b));
}

int pdet_kdump_window_load(struct kdump_window *w, const struct kdump_bitmap *b,
			   struct pdet_dump_cursor *cursor, uint64_t frame)
{
	uint64_t number = frame / frames_of(b);
	size_t i, words = b->window / 8;
	uint32_t before = 0;
	int r;

	w->of = NULL;
	r = read_bytes(b, cursor, b->dumped, number * b->window, w->dumped,
		       b->window);
	if (r < 0)
		return r;
	for (i = 0; i < words; i++) {
		w->dumped[i] = clip(b, to_host(w->dumped[i]),
				    number * frames_of(b) + i * 64);
		w->before[i] = before;
		before += (uint32_t)__builtin_popcountll(w->dumped[i]);
	}
	w->of = b;
	w->number = number;
	w->has_exists = false;
	return 0;
}

/* The frame is not in the dump: find out whether it exists. */
static int absent(struct kdump_window *w, struct pdet_dump_cursor *cursor,
		  uint64_t bit)
{
	const struct kdump_bitmap *b = w->of;
	size_t i;
	int r;

	if (!b->both)
		return -ENOENT;
	if (!w->has_exists) {
		r = read_bytes(b, cursor, b->exists, w->number * b->window,
			       w->exists, b->window);
		if (r < 0)
			return r;
		for (i = 0; i < b->window / 8; i++)
			w->exists[i] = to_host(w->exists[i]);
		w->has_exists = true;
	}
	return w->exists[bit / 64] >> bit % 64 & 1 ? -ENODATA : -ENOENT;
}

int pdet_kdump_window_rank(struct kdump_window *w,
			   struct pdet_dump_cursor *cursor, uint64_t frame,
			   uint64_t *ret)
{
	const struct kdump_bitmap *b = w->of;
	uint64_t bit = frame % frames_of(b);
	uint64_t word = w->dumped[bit / 64];

	if (!(word >> bit % 64 & 1))
		return absent(w, cursor, bit);
	word &= ~(~(uint64_t)0 << bit % 64);
	*ret = b->rank[w->number - b->first / frames_of(b)] +
		w->before[bit / 64] + (unsigned)__builtin_popcountll(word);
	return 0;
}

uint64_t pdet_kdump_window_next(const struct kdump_window *w, uint64_t frame)
{
	uint64_t all = frames_of(w->of), bit = frame % all, word;

	for (; bit < all; bit = (bit | 63) + 1) {
		word = w->dumped[bit / 64] >> bit % 64;
		if (word)
			return w->number * all + bit +
				(unsigned)__builtin_ctzll(word);
	}
	return UINT64_MAX;
}
