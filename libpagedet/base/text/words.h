/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * pdet_words_equal - the length of the run of equal words at the start of
 * @word[0 .. @n), @n > 0.
 *
 * Neighbours in memory are usually equal, so eight are compared at a time with
 * one branch.
 */
#ifndef PDET_BASE_TEXT_WORDS_H
#define PDET_BASE_TEXT_WORDS_H

#include <stdint.h>

static inline uint32_t pdet_words_equal(const uint64_t *word, uint32_t n)
{
	const uint64_t first = word[0];
	uint32_t end = 1;

	while (n - end >= 8) {
		const uint64_t *w = word + end;

		if ((w[0] ^ first) | (w[1] ^ first) | (w[2] ^ first) |
		    (w[3] ^ first) | (w[4] ^ first) | (w[5] ^ first) |
		    (w[6] ^ first) | (w[7] ^ first))
			break;
		end += 8;
	}
	while (end < n && word[end] == first)
		end++;
	return end;
}

#endif
