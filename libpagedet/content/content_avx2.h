/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Searches of a whole page for content.c, with AVX2. Call them only if
 * pdet_has_avx2(), and with whole pages. They prefetch the following page,
 * which most callers need next; this is harmless if there is none.
 */
#ifndef PDET_CONTENT_CONTENT_AVX2_H
#define PDET_CONTENT_CONTENT_AVX2_H

#include <stdbool.h>
#include <stddef.h>

/* pdet_text_avx2 - the number of bytes at the start that are common text. More
 * text with rare characters may follow. */
size_t pdet_text_avx2(const unsigned char *page, size_t n);

/* pdet_marks_avx2 - false if no word has 0xbbbb, 0xcccc or 0xdead in its upper
 * 16 bits. */
bool pdet_marks_avx2(const unsigned char *page, size_t n);

/* Number of x86 instructions found, in total and for a few kinds. */
#define PDET_CODE_KINDS 5

struct pdet_code {
	unsigned found;
	unsigned seen[PDET_CODE_KINDS];
};

/* pdet_code_count - count one instruction; @op is the byte after its prefix. */
static inline void pdet_code_count(struct pdet_code *c, unsigned char op)
{
	c->found++;
	c->seen[op == 0x89 ? 1 : op == 0x8b ? 2 : op == 0x8d ? 3 :
		op == 0x83 || op == 0x85 ? 4 : 0]++;
}

/* pdet_code_avx2 - count as count_code() in content.c. */
void pdet_code_avx2(const unsigned char *page, size_t n, unsigned enough,
		    struct pdet_code *c);

/* pdet_code_sample_avx2 - only the total, for at most 8160 bytes; reads one
 * byte more. */
unsigned pdet_code_sample_avx2(const unsigned char *p, size_t n);

#endif
