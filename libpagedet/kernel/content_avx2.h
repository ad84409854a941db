/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What content.c asks of a whole page, for processors with AVX2. Each may be
 * called only where pdet_has_avx2(), with whole pages. They fetch the page that
 * follows into the cache, which whoever looks at many needs next; where none
 * follows, nothing happens.
 */
#ifndef PDET_KERNEL_CONTENT_AVX2_H
#define PDET_KERNEL_CONTENT_AVX2_H

#include <stdbool.h>
#include <stddef.h>

/* pdet_text_avx2 - as many bytes are text, from the first on; behind them may
 * be more, with characters that are rare. */
size_t pdet_text_avx2(const unsigned char *page, size_t n);

/* pdet_marks_avx2 - false: no word has an upper half of 16 bits that is 0xbbbb,
 * 0xcccc or 0xdead. */
bool pdet_marks_avx2(const unsigned char *page, size_t n);

/* Instructions of x86 that were found; of which kind, as few as there are. */
#define PDET_CODE_KINDS 5

struct pdet_code {
	unsigned found;
	unsigned seen[PDET_CODE_KINDS];
};

/* pdet_code_count - one more, by what stands behind its prefix. */
static inline void pdet_code_count(struct pdet_code *c, unsigned char op)
{
	c->found++;
	c->seen[op == 0x89 ? 1 : op == 0x8b ? 2 : op == 0x8d ? 3 :
		op == 0x83 || op == 0x85 ? 4 : 0]++;
}

/* pdet_code_avx2 - what content.c's count_code() counts. */
void pdet_code_avx2(const unsigned char *page, size_t n, unsigned enough,
		    struct pdet_code *c);

/* pdet_code_sample_avx2 - only how many, of at most 8160 bytes; one behind them
 * is looked at, too. */
unsigned pdet_code_sample_avx2(const unsigned char *p, size_t n);

#endif
