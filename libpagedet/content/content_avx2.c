/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The searches of content.c, written for AVX2. The meaning of what they find is
 * in content.c.
 *
 * bench: content
 */
#include "base/wide.h"
#include "content/content_avx2.h"

#if PDET_WITH_AVX2
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define LINE 64

/* Bytes between two checks whether to stop. */
#define BLOCK 128
#define CODE_BLOCK 512

static AVX2 inline __m256i load(const unsigned char *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static AVX2 inline void fetch_next(const unsigned char *at, size_t n)
{
	_mm_prefetch((const char *)at + n, _MM_HINT_T0);
	_mm_prefetch((const char *)at + n + LINE, _MM_HINT_T0);
}

AVX2 size_t pdet_text_avx2(const unsigned char *page, size_t n)
{
	const __m256i so = _mm256_set1_epi8(0x0e);
	size_t i, k;

	for (i = 0; i + BLOCK <= n; i += BLOCK) {
		__m256i least = _mm256_set1_epi8(0x7f), most = so;
		__m256i control = _mm256_set1_epi8(-1), bad;

		fetch_next(page + i, n);
		for (k = 0; k < BLOCK; k += sizeof(least)) {
			const __m256i c = load(page + i + k);

			least = _mm256_min_epi8(least, c);
			most = _mm256_max_epi8(most, c);
			control = _mm256_min_epu8(control,
						  _mm256_sub_epi8(c, so));
		}
		/* below \b, which includes all bytes from 0x80; DEL; and those
		 * between \r and the blank, one of which is text */
		bad = _mm256_cmpgt_epi8(_mm256_set1_epi8('\b'), least);
		bad = _mm256_or_si256(bad, _mm256_cmpeq_epi8(
				most, _mm256_set1_epi8(0x7f)));
		bad = _mm256_or_si256(bad, _mm256_cmpeq_epi8(control,
				_mm256_min_epu8(control,
						_mm256_set1_epi8(0x11))));
		if (_mm256_movemask_epi8(bad))
			break;
	}
	return i;
}

/* The upper 32-bit halves of eight words. */
static AVX2 inline __m256i upper(const unsigned char *p)
{
	return _mm256_castps_si256(_mm256_shuffle_ps(
			_mm256_castsi256_ps(load(p)),
			_mm256_castsi256_ps(load(p + sizeof(__m256i))), 0xdd));
}

AVX2 bool pdet_marks_avx2(const unsigned char *page, size_t n)
{
	const __m256i inactive = _mm256_set1_epi16((short)0xbbbb);
	const __m256i active = _mm256_set1_epi16((short)0xcccc);
	const __m256i off = _mm256_set1_epi16((short)0xdead);
	__m256i has = _mm256_setzero_si256();
	size_t i;

	for (i = 0; i + BLOCK <= n; i += BLOCK) {
		const __m256i some = _mm256_blend_epi16(
			upper(page + i + BLOCK / 2),
			_mm256_srli_epi32(upper(page + i), 16), 0x55);

		fetch_next(page + i, n);
		has = _mm256_or_si256(has, _mm256_cmpeq_epi16(some, inactive));
		has = _mm256_or_si256(has, _mm256_cmpeq_epi16(some, active));
		has = _mm256_or_si256(has, _mm256_cmpeq_epi16(some, off));
	}
	return _mm256_movemask_epi8(has);
}

static AVX2 inline __m256i same(__m256i op, unsigned mask, unsigned value)
{
	return _mm256_cmpeq_epi8(
		_mm256_and_si256(op, _mm256_set1_epi8((char)mask)),
		_mm256_set1_epi8((char)value));
}

/* Add the bytes of @in to the counts where @is is set. */
static AVX2 inline void add(__m256i *count, __m256i in, __m256i is)
{
	*count = _mm256_sub_epi8(*count, _mm256_and_si256(in, is));
}

static AVX2 inline unsigned sum_of(__m256i count)
{
	const __m256i sums = _mm256_sad_epu8(count, _mm256_setzero_si256());

	return (unsigned)(_mm256_extract_epi64(sums, 0) +
			  _mm256_extract_epi64(sums, 1) +
			  _mm256_extract_epi64(sums, 2) +
			  _mm256_extract_epi64(sums, 3));
}

/* The positions of a prefix that is followed by such an operation. */
static AVX2 inline __m256i code_at(const unsigned char *p, __m256i op,
				   __m256i *rex)
{
	__m256i is;

	*rex = same(load(p), 0xfa, 0x48);
	is = _mm256_or_si256(same(op, 0xf9, 0x89), same(op, 0xf9, 0x81));
	is = _mm256_or_si256(is, same(op, 0xfd, 0x39));
	return _mm256_or_si256(is, same(op, 0xff, 0xc7));
}

AVX2 unsigned pdet_code_sample_avx2(const unsigned char *p, size_t n)
{
	__m256i all = _mm256_setzero_si256(), is, rex;
	size_t i;

	for (i = 0; i + sizeof(all) <= n; i += sizeof(all)) {
		is = code_at(p + i, load(p + i + 1), &rex);
		add(&all, is, rex);
	}
	return sum_of(all);
}

/* No branch depends on matches, because they are unpredictable in code. */
AVX2 void pdet_code_avx2(const unsigned char *page, size_t n, unsigned enough,
			 struct pdet_code *c)
{
	size_t i, k, end;

	for (i = 0; i < n && c->found < enough; i = end) {
		__m256i all = _mm256_setzero_si256();
		__m256i seen[PDET_CODE_KINDS] = { all, all, all, all, all };

		end = i + CODE_BLOCK < n ? i + CODE_BLOCK : n;
		for (; i + sizeof(all) < end + (end < n); i += sizeof(all)) {
			const __m256i op = load(page + i + 1);
			__m256i rex, is = code_at(page + i, op, &rex);

			add(&all, is, rex);
			add(&seen[1], same(op, 0xff, 0x89), rex);
			add(&seen[2], same(op, 0xff, 0x8b), rex);
			add(&seen[3], same(op, 0xff, 0x8d), rex);
			is = _mm256_or_si256(same(op, 0xff, 0x83),
					     same(op, 0xff, 0x85));
			add(&seen[4], is, rex);
			/* Fetch ahead faster: the loop may stop early. */
			if (i < n / 4)
				fetch_next(page + i * 4, n);
		}
		c->found += sum_of(all);
		for (k = 1; k < PDET_CODE_KINDS; k++)
			c->seen[k] += sum_of(seen[k]);
	}
}

#else

size_t pdet_text_avx2(const unsigned char *page, size_t n)
{
	(void)page;
	(void)n;
	return 0;
}

bool pdet_marks_avx2(const unsigned char *page, size_t n)
{
	(void)page;
	(void)n;
	return true;
}

void pdet_code_avx2(const unsigned char *page, size_t n, unsigned enough,
		    struct pdet_code *c)
{
	(void)page;
	(void)n;
	(void)enough;
	(void)c;
}

unsigned pdet_code_sample_avx2(const unsigned char *p, size_t n)
{
	(void)p;
	(void)n;
	return 0;
}

#endif
