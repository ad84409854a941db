/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests every shape of a difference, and near misses. No bytes may make the
 * search slow.
 */
#include <pagedet.h>
#include <time.h>

#include "../unit.h"

#define PAGE 4096

static unsigned char a[PAGE], b[PAGE];
static struct pagedet_difference d;

static void noise(unsigned char *p, unsigned n, uint64_t seed)
{
	uint64_t x = 88172645463325252u + seed;
	unsigned i;

	for (i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p[i] = (unsigned char)(x >> 32);
	}
}

static void alike(void)
{
	noise(a, PAGE, 0);
	memcpy(b, a, PAGE);
}

static const char *shape(void)
{
	memset(&d, 0xee, sizeof(d));
	d.size = sizeof(d);
	ck_assert_int_eq(pagedet_compare_bytes(a, b, PAGE, &d), 0);
	ck_assert_uint_eq(d.size, sizeof(d));
	ck_assert_uint_eq(d.reserved, 0);
	return pagedet_shape_name(d.shape);
}

#define is(name) ck_assert_str_eq(shape(), name)

START_TEST(same)
{
	alike();
	is("same");
	ck_assert_uint_eq(d.bits + d.bytes + d.first + d.last, 0);
	ck_assert_int_eq(d.shift, 0);
	/* Nothing to compare. */
	d.shape = 0;
	ck_assert_int_eq(pagedet_compare_bytes(NULL, NULL, 0, &d), 0);
	ck_assert_uint_eq(d.shape, PAGEDET_SHAPE_SAME);
}
END_TEST

START_TEST(one_bit)
{
	unsigned at;

	alike();
	for (at = 0; at < PAGE; at++) {
		b[at] ^= 1 << at % 8;
		is("one_bit");
		ck_assert_uint_eq(d.bits, 1);
		ck_assert_uint_eq(d.bytes, 1);
		ck_assert_uint_eq(d.first, at);
		ck_assert_uint_eq(d.last, at);
		b[at] ^= 1 << at % 8;
	}
}
END_TEST

START_TEST(blocks)
{
	alike();
	b[77] ^= 0x81;
	is("one_byte");
	ck_assert_uint_eq(d.bits, 2);
	b[79] ^= 0xff;
	is("one_word");
	ck_assert_uint_eq(d.bits, 10);
	ck_assert_uint_eq(d.bytes, 2);
	ck_assert_uint_eq(d.first, 77);
	ck_assert_uint_eq(d.last, 79);
	b[80] ^= 1;
	is("cache_line");
	b[127] ^= 1;
	is("cache_line");
	b[128] ^= 1;
	is("sector");
	b[511] ^= 1;
	is("sector");
	b[512] ^= 1;
	is("scattered");
	/* Two neighbouring words on both sides of a sector border. */
	alike();
	b[2047] ^= 1;
	b[2048] ^= 1;
	is("scattered");
}
END_TEST

static const struct {
	unsigned char byte;
	const char *name;
} fills[] = {
	{ 0x00, "zeroed" }, { 0xff, "poisoned" }, { 0xaa, "poisoned" },
	{ 0x6b, "poisoned" }, { 0xcc, "poisoned" }, { 0x41, "tail" },
};

START_TEST(filled)
{
	alike();
	memset(b, fills[_i].byte, PAGE);
	/* Other fill bytes are a tail. */
	memset(a, fills[_i].byte, 64);
	is(fills[_i].name);
	if (strcmp(fills[_i].name, "tail") == 0)
		return;
	ck_assert_uint_eq(d.side, PAGEDET_DIFFERS_B);
	ck_assert_uint_eq(d.pattern, fills[_i].byte);
	memcpy(b, a, PAGE);
	memset(a, fills[_i].byte, PAGE);
	is(fills[_i].name);
	ck_assert_uint_eq(d.side, PAGEDET_DIFFERS_A);
	/* All but one byte. */
	a[2000] ^= 1;
	ck_assert_str_ne(shape(), fills[_i].name);
	ck_assert_uint_eq(d.side, PAGEDET_DIFFERS_NEITHER);
}
END_TEST

START_TEST(swapped)
{
	noise(a, PAGE, 1);
	memcpy(b, a + PAGE / 2, PAGE / 2);
	memcpy(b + PAGE / 2, a, PAGE / 2);
	is("swapped_halves");
	b[5] ^= 1;
	ck_assert_str_ne(shape(), "swapped_halves");
}
END_TEST

START_TEST(shifted)
{
	static const int by[] = { 1, -1, 8, -8, 512, -512, 1999, -2047 };
	unsigned i, n;

	for (i = 0; i < sizeof(by) / sizeof(*by); i++) {
		noise(a, PAGE, 2);
		noise(b, PAGE, 3);
		n = PAGE - (unsigned)abs(by[i]);
		if (by[i] > 0)
			memcpy(b + by[i], a, n);
		else
			memcpy(b, a - by[i], n);
		is("shifted");
		ck_assert_int_eq(d.shift, by[i]);
		b[PAGE / 2] ^= 1;
		is("scattered");
		ck_assert_int_eq(d.shift, 0);
	}
	/* If it moved by more than half, the rest proves nothing. */
	noise(b, PAGE, 3);
	memcpy(b + 3000, a, PAGE - 3000);
	is("scattered");
	/* The middle is zero: the bytes beside it identify it. */
	noise(a, PAGE, 2);
	memset(a + 1500, 0, 1200);
	noise(b, PAGE, 3);
	memcpy(b + 24, a, PAGE - 24);
	is("shifted");
	ck_assert_int_eq(d.shift, 24);
}
END_TEST

START_TEST(tail)
{
	alike();
	noise(b + 1000, PAGE - 1000, 4);
	is("tail");
	ck_assert_uint_ge(d.first, 1000);
	ck_assert_uint_lt(d.first, 1010);
	memset(b + 1000, 0, PAGE - 1000);
	is("tail");
	/*
	 * The difference does not reach the end of the page, so it is not a
	 * tail.
	 */
	memcpy(b + 3000, a + 3000, PAGE - 3000);
	is("scattered");
	/* The difference begins at offset 0, so it is not a tail either. */
	noise(b, PAGE, 4);
	b[0] = (unsigned char)~a[0];
	is("scattered");
}
END_TEST

/* The searched piece occurs everywhere, but never completely. */
START_TEST(bounded)
{
	const size_t n = 16 << 20;
	unsigned char *x = malloc(n), *y = malloc(n);
	struct timespec begin, end;
	double s;
	size_t i;

	ck_assert(x && y);
	for (i = 0; i < n; i++)
		x[i] = y[i] = i % 2 ? 'a' : 'b';
	for (i = 0; i < n; i += 4096)
		y[i + 99] = 'c';
	d.size = sizeof(d);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ck_assert_int_eq(pagedet_compare_bytes(x, y, n, &d), 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ck_assert_uint_eq(d.shape, PAGEDET_SHAPE_SCATTERED);
	ck_assert_uint_eq(d.bytes, n / 4096);
	s = (double)(end.tv_sec - begin.tv_sec) +
	    (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	/* Quadratic time would be days. */
	ck_assert_msg(s < 20, "%f s", s);
	free(x);
	free(y);
}
END_TEST

/* All lengths, without reading a byte behind them. */
START_TEST(lengths)
{
	unsigned char *x, *y;
	unsigned n;

	for (n = 1; n < 600; n++) {
		x = malloc(n);
		y = malloc(n);
		ck_assert(x && y);
		noise(x, n, n);
		memcpy(y, x, n);
		d.size = sizeof(d);
		ck_assert_int_eq(pagedet_compare_bytes(x, y, n, &d), 0);
		ck_assert_uint_eq(d.shape, PAGEDET_SHAPE_SAME);
		y[n - 1] ^= 4;
		ck_assert_int_eq(pagedet_compare_bytes(x, y, n, &d), 0);
		ck_assert_uint_eq(d.shape, PAGEDET_SHAPE_BIT);
		ck_assert_uint_eq(d.first, n - 1);
		noise(y, n, n + 1);
		ck_assert_int_eq(pagedet_compare_bytes(x, y, n, &d), 0);
		free(x);
		free(y);
	}
}
END_TEST

START_TEST(sizes)
{
	struct {
		struct pagedet_difference d;
		uint64_t more;
	} new;
	uint64_t old[4] = { 24, 7, 7, 7 };

	alike();
	b[9] ^= 3;
	memset(&new, 0xff, sizeof(new));
	new.d.size = sizeof(new);
	ck_assert_int_eq(pagedet_compare_bytes(a, b, PAGE, &new.d), 0);
	ck_assert_uint_eq(new.more, 0);
	ck_assert_int_eq(pagedet_compare_bytes(a, b, PAGE, (void *)old), 0);
	ck_assert(old[0] == 24 && old[1] == 2 && old[2] == 1 && old[3] == 7);
	old[0] = 8;
	ck_assert_int_lt(pagedet_compare_bytes(a, b, PAGE, (void *)old), 0);
	ck_assert_ptr_null(pagedet_shape_name(0));
	ck_assert_ptr_null(pagedet_shape_name(PAGEDET_SHAPE_SCATTERED + 1));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("difference");

	unit_test(s, same);
	unit_test(s, one_bit);
	unit_test(s, blocks);
	unit_loop(s, filled, sizeof(fills) / sizeof(*fills));
	unit_test(s, swapped);
	unit_test(s, shifted);
	unit_test(s, tail);
	unit_test(s, bounded);
	unit_test(s, lengths);
	unit_test(s, sizes);
	return unit_main(s);
}
