/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Recognises the patterns that faults leave: a flipped bit, a cache line or a
 * sector of another version, bytes written to the wrong place. Each pattern
 * takes one or a few passes. The search for shifted copies tries a fixed number
 * of positions.
 */
#include <stdbool.h>
#include <string.h>

#include "base/env.h"
#include "content/content.h"
#include "content/difference.h"

#define LINE 64
#define SECTOR 512

static uint64_t word(const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* --- amount and place --- */

static void count_byte(struct pagedet_difference *d, size_t at, unsigned bits)
{
	if (!bits)
		return;
	if (!d->bytes)
		d->first = at;
	d->last = at;
	d->bytes++;
	d->bits += (unsigned)__builtin_popcount(bits);
}

static void count(const unsigned char *a, const unsigned char *b, size_t n,
		  struct pagedet_difference *d)
{
	size_t i = 0, end;

	while (i < n) {
		end = PDET_MIN(i + sizeof(uint64_t), n);
		if (end - i == sizeof(uint64_t) && word(a + i) == word(b + i)) {
			i = end;
			continue;
		}
		for (; i < end; i++)
			count_byte(d, i, a[i] ^ b[i]);
	}
}

/* True if all differences are in one aligned block of @size bytes. */
static bool within(const struct pagedet_difference *d, uint64_t size)
{
	return d->first / size == d->last / size;
}

/* --- one uniform side --- */

static bool is_filled(const unsigned char *p, size_t n)
{
	return n < 2 || (p[0] == p[n - 1] && !memcmp(p, p + 1, n - 1));
}

static bool is_wiped(const unsigned char *p, size_t n, unsigned side,
		     struct pagedet_difference *d)
{
	if (!is_filled(p, n) || (p[0] && !pdet_content_is_poison(p[0])))
		return false;
	d->shape = p[0] ? PAGEDET_SHAPE_POISONED : PAGEDET_SHAPE_ZEROED;
	d->side = side;
	d->pattern = p[0];
	return true;
}

/* --- moved bytes --- */

static bool is_swapped(const unsigned char *a, const unsigned char *b,
		       size_t n)
{
	const size_t half = n / 2;

	return n && n % 2 == 0 && !memcmp(a, b + half, half) &&
	       !memcmp(a + half, b, half);
}

/* Length of the sequence that is searched for in the other side, and the number
 * of matches that are tried. Zeroes or a pattern could match too often. */
#define ANCHOR 16
#define TRIES 16

/*
 * Find a sequence in the middle half of the page whose bytes are not all equal.
 * Returns n if there is none.
 */
static size_t find_anchor(const unsigned char *a, size_t n)
{
	size_t i, at;

	if (n < 4 * ANCHOR)
		return n;
	/*
	 * start in the middle: from there most bytes can be compared on both
	 * sides
	 */
	for (i = 0; i + ANCHOR <= n / 4; i += ANCHOR) {
		at = n / 2 + i;
		if (!is_filled(a + at, ANCHOR))
			return at;
		at = n / 2 - i - ANCHOR;
		if (!is_filled(a + at, ANCHOR))
			return at;
	}
	return n;
}

static bool is_moved(const unsigned char *a, const unsigned char *b, size_t n,
		     int64_t by)
{
	const size_t left = n - (size_t)(by < 0 ? -by : by);

	return by > 0 ? !memcmp(a, b + by, left) : !memcmp(a - by, b, left);
}

/* Limit the shift to half of @n, so that at least half is compared. */
static bool is_shifted(const unsigned char *a, const unsigned char *b,
		       size_t n, int64_t *ret)
{
	const size_t anchor = find_anchor(a, n);
	const size_t half = n / 2;
	const unsigned char *at, *end;
	unsigned tries;
	int64_t by;

	if (anchor == n)
		return false;
	at = b + (anchor > half ? anchor - half : 0);
	end = b + PDET_MIN(anchor + half + ANCHOR, n);
	for (tries = 0; tries < TRIES; tries++, at++) {
		at = memmem(at, (size_t)(end - at), a + anchor, ANCHOR);
		if (!at)
			return false;
		by = (int64_t)(at - b) - (int64_t)anchor;
		if (by && is_moved(a, b, n, by)) {
			*ret = by;
			return true;
		}
	}
	return false;
}

/* --- different tail --- */

/* Whether a tail differs. Some of its bytes may be equal, by chance or because
 * all versions have them. At most one PART-th of the tail, or LINE bytes if
 * that is more, may be equal in a row. At least one PART-th of the tail must
 * differ. */
#define PART 8

static bool is_tail(const unsigned char *a, const unsigned char *b, size_t n,
		    const struct pagedet_difference *d)
{
	const size_t part = (size_t)(n - d->first) / PART;
	const size_t most = PDET_MAX(part, (size_t)LINE);
	size_t i, same = 0;

	/* The equal part before the tail must be too long for chance. */
	if (d->first < LINE || d->bytes < part)
		return false;
	for (i = d->first; i < n && same <= most; i++)
		same = a[i] == b[i] ? same + 1 : 0;
	return same <= most;
}

/* --- all --- */

static unsigned shape_of(const unsigned char *a, const unsigned char *b,
			 size_t n, struct pagedet_difference *d)
{
	if (!d->bytes)
		return PAGEDET_SHAPE_SAME;
	if (d->bytes == 1)
		return d->bits == 1 ? PAGEDET_SHAPE_BIT : PAGEDET_SHAPE_BYTE;
	if (within(d, sizeof(uint64_t)))
		return PAGEDET_SHAPE_WORD;
	if (within(d, LINE))
		return PAGEDET_SHAPE_LINE;
	if (within(d, SECTOR))
		return PAGEDET_SHAPE_SECTOR;
	if (is_wiped(b, n, PAGEDET_DIFFERS_B, d) ||
	    is_wiped(a, n, PAGEDET_DIFFERS_A, d))
		return d->shape;
	if (is_swapped(a, b, n))
		return PAGEDET_SHAPE_SWAPPED;
	if (is_shifted(a, b, n, &d->shift))
		return PAGEDET_SHAPE_SHIFTED;
	return is_tail(a, b, n, d) ? PAGEDET_SHAPE_TAIL :
				     PAGEDET_SHAPE_SCATTERED;
}

void pdet_compare_bytes(const void *a, const void *b, size_t n,
			struct pagedet_difference *ret)
{
	memset(ret, 0, sizeof(*ret));
	count(a, b, n, ret);
	ret->shape = shape_of(a, b, n, ret);
}

const char *pdet_shape_name(uint32_t shape)
{
	static const char *const names[] = {
		[PAGEDET_SHAPE_SAME] = "same",
		[PAGEDET_SHAPE_BIT] = "one_bit",
		[PAGEDET_SHAPE_BYTE] = "one_byte",
		[PAGEDET_SHAPE_WORD] = "one_word",
		[PAGEDET_SHAPE_LINE] = "cache_line",
		[PAGEDET_SHAPE_SECTOR] = "sector",
		[PAGEDET_SHAPE_ZEROED] = "zeroed",
		[PAGEDET_SHAPE_POISONED] = "poisoned",
		[PAGEDET_SHAPE_SWAPPED] = "swapped_halves",
		[PAGEDET_SHAPE_SHIFTED] = "shifted",
		[PAGEDET_SHAPE_TAIL] = "tail",
		[PAGEDET_SHAPE_SCATTERED] = "scattered",
	};

	return shape < PDET_COUNT(names) ? names[shape] : NULL;
}
