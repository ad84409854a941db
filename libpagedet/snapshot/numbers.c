/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Encodes an array of numbers. One byte gives the form:
 *
 *   SAME    u64
 *   BASE    u8 width, u64 base; each number minus the base in width bytes
 *   DELTA   u8 width, u64 first; each minus the one before, zigzag, the first
 *           one 0
 *   TABLE   u8 numbers - 1, u64s; for each number a byte with its index
 */
#include <string.h>

#include "snapshot/format.h"
#include "snapshot/numbers.h"

enum form { SAME = 0, BASE = 1, DELTA = 2, TABLE = 3 };

#define TABLE_MAX 256
#define SLOTS 1024
/*
 * If there are fewer numbers, a table saves nothing, and has no room while it
 * grows.
 */
#define TABLE_LEAST 512

static unsigned width_of(uint64_t v)
{
	return v >> 32 ? 8 : v >> 16 ? 4 : v >> 8 ? 2 : 1;
}

static uint64_t zigzag(uint64_t delta)
{
	return delta << 1 ^ (delta >> 63 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
}

static char *put_width(char *p, uint64_t v, unsigned width)
{
	switch (width) {
	case 1:
		*p = (char)v;
		return p + 1;
	case 2:
		return pdet_put16(p, (uint16_t)v);
	case 4:
		return pdet_put32(p, (uint32_t)v);
	default:
		return pdet_put64(p, v);
	}
}

static char *put_base(char *p, const uint64_t *value, uint32_t n, uint64_t base,
		      unsigned width)
{
	uint32_t i;

	*p++ = BASE;
	*p++ = (char)width;
	p = pdet_put64(p, base);
	for (i = 0; i < n; i++)
		p = put_width(p, value[i] - base, width);
	return p;
}

static char *put_delta(char *p, const uint64_t *value, uint32_t n,
		       unsigned width)
{
	uint64_t before = value[0];
	uint32_t i;

	*p++ = DELTA;
	*p++ = (char)width;
	p = pdet_put64(p, before);
	for (i = 0; i < n; i++) {
		p = put_width(p, zigzag(value[i] - before), width);
		before = value[i];
	}
	return p;
}

/*
 * Makes a table if there are only a few different numbers. Returns NULL if
 * there are too many.
 */
static char *put_table(char *p, const uint64_t *value, uint32_t n)
{
	uint16_t slot[SLOTS] = { 0 }; /* index in the table + 1 */
	uint64_t table[TABLE_MAX];
	char *index = p + 2 + TABLE_MAX * sizeof(uint64_t);
	unsigned used = 0, at;
	uint32_t i;

	if (n < TABLE_LEAST)
		return NULL;
	for (i = 0; i < n; i++) {
		at = (unsigned)(value[i] * 0x9e3779b97f4a7c15u >> 54);
		while (slot[at] && table[slot[at] - 1] != value[i])
			at = (at + 1) % SLOTS;
		if (!slot[at]) {
			if (used == TABLE_MAX)
				return NULL;
			table[used] = value[i];
			slot[at] = (uint16_t)++used;
		}
		index[i] = (char)(slot[at] - 1);
	}
	*p++ = TABLE;
	*p++ = (char)(used - 1);
	for (at = 0; at < used; at++)
		p = pdet_put64(p, table[at]);
	memmove(p, index, n);
	return p + n;
}

char *pdet_numbers_put(char *p, const uint64_t *value, uint32_t n)
{
	uint64_t low = UINT64_MAX, high = 0, change = 0;
	unsigned base, delta;
	uint32_t i;
	char *end;

	for (i = 0; i < n; i++) {
		low = value[i] < low ? value[i] : low;
		high = value[i] > high ? value[i] : high;
		/* No number has more bits than the widest one. */
		change |= i ? zigzag(value[i] - value[i - 1]) : 0;
	}
	if (!n || low == high) {
		*p++ = SAME;
		return pdet_put64(p, n ? low : 0);
	}
	base = width_of(high - low);
	delta = width_of(change);
	if (base > 1 && delta > 1) {
		end = put_table(p, value, n);
		if (end)
			return end;
	}
	return delta < base ? put_delta(p, value, n, delta) :
			      put_base(p, value, n, low, base);
}

/* --- decoding --- */

#define GET_EACH(type, get, to_value) \
	for (i = 0; i < n; i++) {                                         \
		const uint64_t v = get(p + i * sizeof(type));             \
									  \
		value[i] = (to_value);                                    \
	}

static uint64_t get8(const char *p)
{
	return (unsigned char)*p;
}

static void get_base(const char *p, uint64_t *value, uint32_t n, uint64_t base,
		     unsigned width)
{
	uint32_t i;

	switch (width) {
	case 1:
		GET_EACH(uint8_t, get8, base + v);
		break;
	case 2:
		GET_EACH(uint16_t, pdet_get16, base + v);
		break;
	case 4:
		GET_EACH(uint32_t, pdet_get32, base + v);
		break;
	default:
		GET_EACH(uint64_t, pdet_get64, base + v);
		break;
	}
}

static bool get_table(const char **at, const char *end, uint64_t *value,
		      uint32_t n)
{
	uint64_t table[TABLE_MAX];
	const char *p = *at;
	unsigned used, i;
	uint32_t row;

	if (p == end)
		return false;
	used = (unsigned char)*p++ + 1u;
	if ((size_t)(end - p) < used * sizeof(uint64_t) + n)
		return false;
	for (i = 0; i < used; i++, p += sizeof(uint64_t))
		table[i] = pdet_get64(p);
	for (row = 0; row < n; row++) {
		i = (unsigned char)p[row];
		if (i >= used)
			return false;
		value[row] = table[i];
	}
	*at = p + n;
	return true;
}

bool pdet_numbers_get(const char **at, const char *end, uint64_t *value,
		      uint32_t n)
{
	const char *p = *at;
	unsigned form, width;
	uint64_t first;
	uint32_t i;

	if (p == end)
		return false;
	form = (unsigned char)*p++;
	*at = p;
	if (form == TABLE)
		return get_table(at, end, value, n);
	width = 0;
	if (form != SAME) {
		if ((form != BASE && form != DELTA) || p == end)
			return false;
		width = (unsigned char)*p++;
		if (width != 1 && width != 2 && width != 4 && width != 8)
			return false;
	}
	if ((size_t)(end - p) < sizeof(first) + (size_t)n * width)
		return false;
	first = pdet_get64(p);
	p += sizeof(first);
	*at = p + (size_t)n * width;
	switch (form) {
	case SAME:
		for (i = 0; i < n; i++)
			value[i] = first;
		return true;
	case BASE:
		get_base(p, value, n, first, width);
		return true;
	default:
		get_base(p, value, n, 0, width);
		for (i = 0; i < n; i++)
			value[i] = first += unzigzag(value[i]);
		return true;
	}
}
