/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Counts byte values without a store for each byte, which dominates the time of
 * entropy.c.
 *
 * For a mask of bits, count the bytes in which an odd number of its bits is
 * set. For all masks, these numbers are the Walsh-Hadamard transform of the
 * counts. The same transform gives the counts back. One instruction applies
 * eight masks to 64 bytes. Bytes are first separated by two of their bits. The
 * other six leave 64 masks.
 *
 * bench: content
 */
#include "base/wide.h"
#include "content/entropy_avx512.h"

#if PDET_WITH_AVX512
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi," \
				     "avx512vbmi2,avx512bitalg,gfni,popcnt")))
#define LINE 64
#define PARTS 4

/* Lines until a sum of eight bits may be full; each line adds up to eight. */
#define LINES_AT_ONCE 31

/* Transpose: first byte 0 of each qword, then byte 1 of each, ... */
static AVX512 inline __m512i by_place(__m512i v)
{
	const __m512i from = _mm512_set_epi64(
		0x3f372f271f170f07, 0x3e362e261e160e06, 0x3d352d251d150d05,
		0x3c342c241c140c04, 0x3b332b231b130b03, 0x3a322a221a120a02,
		0x3931292119110901, 0x3830282018100800);

	return _mm512_permutexvar_epi8(from, v);
}

/* odd[m / 8], qword m % 8: among @n bytes, the number of bytes in which an odd
 * number of the bits of m is set. */
static AVX512 inline void count_odd(const unsigned char *p, size_t n,
				    __m512i odd[8])
{
	const __m512i masks = _mm512_set1_epi64(0x0706050403020100);
	const __m512i zero = _mm512_setzero_si512();
	__m512i sum[8];
	size_t i, end;
	unsigned k;

#pragma GCC unroll 8
	for (k = 0; k < 8; k++)
		odd[k] = zero;
	for (i = 0; i < n; i = end) {
		end = n - i > LINES_AT_ONCE * LINE ? i + LINES_AT_ONCE * LINE :
						     n;
#pragma GCC unroll 8
		for (k = 0; k < 8; k++)
			sum[k] = zero;
		for (; i < end; i += LINE) {
			const __m512i bytes = _mm512_loadu_si512(p + i);

			/* Bytes are the rows of the matrix. Byte m of each
			 * qword gets a bit for each of the qword's eight
			 * bytes. */
#pragma GCC unroll 8
			for (k = 0; k < 8; k++)
				sum[k] = _mm512_add_epi8(sum[k],
					_mm512_popcnt_epi8(
					_mm512_gf2p8affine_epi64_epi8(
					_mm512_add_epi8(masks, _mm512_set1_epi8(
						(char)(8 * k))), bytes, 0)));
		}
#pragma GCC unroll 8
		for (k = 0; k < 8; k++)
			odd[k] = _mm512_add_epi64(odd[k], _mm512_sad_epu8(
						  by_place(sum[k]), zero));
	}
}

/* x + y where the bit of @minus is clear, else y - x. */
static AVX512 inline __m512i join(__m512i x, __m512i y, __mmask8 minus)
{
	return _mm512_mask_sub_epi64(_mm512_add_epi64(x, y), minus, y, x);
}

static AVX512 inline void transform(__m512i x[8])
{
	unsigned k, step;

#pragma GCC unroll 8
	for (k = 0; k < 8; k++) {
		x[k] = join(x[k], _mm512_permutex_epi64(x[k], 0xb1), 0xaa);
		x[k] = join(x[k], _mm512_permutex_epi64(x[k], 0x4e), 0xcc);
		x[k] = join(x[k], _mm512_shuffle_i64x2(x[k], x[k], 0x4e), 0xf0);
	}
#pragma GCC unroll 3
	for (step = 1; step < 8; step *= 2)
#pragma GCC unroll 8
		for (k = 0; k < 8; k++)
			if (!(k & step)) {
				const __m512i a = x[k], b = x[k + step];

				x[k] = _mm512_add_epi64(a, b);
				x[k + step] = _mm512_sub_epi64(a, b);
			}
}

/* Add the counts of 64 values in @n bytes. @none of these bytes are padding
 * zeroes. */
static AVX512 void count_part(const unsigned char *p, size_t n, size_t none,
			      uint16_t counts[64])
{
	__m512i x[8];
	unsigned k;

	count_odd(p, n, x);
	transform(x);
	/* Counts are the transform, over 64, of n less twice the odd numbers.
	 * The constant n contributes only to value 0. */
	counts[0] = (uint16_t)(counts[0] + n - none);
#pragma GCC unroll 8
	for (k = 0; k < 8; k++) {
		__m128i *to = (__m128i *)(void *)(counts + 8 * k);

		_mm_storeu_si128(to, _mm_sub_epi16(_mm_loadu_si128(to),
			_mm512_cvtepi64_epi16(_mm512_srai_epi64(x[k], 5))));
	}
}

/* Append the bytes of @is. */
static AVX512 inline unsigned char *put(unsigned char *to, __m512i bytes,
					__mmask64 is)
{
	_mm512_storeu_si512(to, _mm512_maskz_compress_epi8(is, bytes));
	return to + __builtin_popcountll(is);
}

static AVX512 void count_some(const unsigned char *p, uint16_t counts[256])
{
	unsigned char part[PARTS][PDET_COUNT_BYTES + LINE];
	unsigned char *to[PARTS] = { part[0], part[1], part[2], part[3] };
	unsigned k;
	size_t i;

	for (i = 0; i < PDET_COUNT_BYTES; i += LINE) {
		const __m512i bytes = _mm512_loadu_si512(p + i);
		const __mmask64 a = _mm512_movepi8_mask(bytes);
		const __mmask64 b = _mm512_movepi8_mask(
			_mm512_add_epi8(bytes, bytes));

		/* Prefetch the next page: callers usually need it next. */
		_mm_prefetch((const char *)p + PDET_COUNT_BYTES + i,
			     _MM_HINT_T0);
		to[0] = put(to[0], bytes, ~(a | b));
		to[1] = put(to[1], bytes, ~a & b);
		to[2] = put(to[2], bytes, a & ~b);
		to[3] = put(to[3], bytes, a & b);
	}
	for (k = 0; k < PARTS; k++) {
		const size_t n = (size_t)(to[k] - part[k]), none = -n % LINE;

		_mm512_storeu_si512(to[k], _mm512_setzero_si512());
		count_part(part[k], n + none, none, counts + 64 * k);
	}
}

size_t pdet_count_avx512(const unsigned char *p, size_t n,
			 uint16_t counts[256])
{
	size_t i;

	n = pdet_has_avx512() ? n - n % PDET_COUNT_BYTES : 0;
	for (i = 0; i < n; i += PDET_COUNT_BYTES)
		count_some(p + i, counts);
	return n;
}

#else

size_t pdet_count_avx512(const unsigned char *p, size_t n,
			 uint16_t counts[256])
{
	(void)p;
	(void)n;
	(void)counts;
	return 0;
}

#endif
