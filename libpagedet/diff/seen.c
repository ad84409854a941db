/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Two Bloom filters. A number has the same two bits in both. */
#include <stdlib.h>

#include "diff/seen.h"

#define BITS_PER_NUMBER 8
#define MIN_BITS ((uint64_t)1 << 16)
#define MAX_BITS ((uint64_t)1 << 26)
#define UNKNOWN_NUMBERS ((uint64_t)1 << 20)

bool pdet_seen_init(struct pdet_seen *s, uint64_t n)
{
	uint64_t bits = MIN_BITS;

	if (!n)
		n = UNKNOWN_NUMBERS;
	while (bits < MAX_BITS && bits / BITS_PER_NUMBER < n)
		bits *= 2;
	s->mask = bits - 1;
	s->once = calloc(bits / 64, sizeof(uint64_t));
	s->twice = calloc(bits / 64, sizeof(uint64_t));
	if (s->once && s->twice)
		return true;
	pdet_seen_free(s);
	return false;
}

void pdet_seen_free(struct pdet_seen *s)
{
	free(s->once);
	free(s->twice);
	s->once = s->twice = NULL;
}

/* The two bits of a number. */
static void bits_of(const struct pdet_seen *s, uint64_t number, uint64_t *bit)
{
	uint64_t mixed = number * 0x9e3779b97f4a7c15u;

	mixed ^= mixed >> 32;
	mixed *= 0xff51afd7ed558ccdu;
	bit[0] = mixed >> 33 & s->mask;
	bit[1] = (mixed ^ mixed >> 29) & s->mask;
}

static bool has(const uint64_t *set, const uint64_t *bit)
{
	return set[bit[0] / 64] >> bit[0] % 64 &
	       set[bit[1] / 64] >> bit[1] % 64 & 1;
}

static void set_both(uint64_t *set, const uint64_t *bit)
{
	set[bit[0] / 64] |= (uint64_t)1 << bit[0] % 64;
	set[bit[1] / 64] |= (uint64_t)1 << bit[1] % 64;
}

void pdet_seen_add(struct pdet_seen *s, uint64_t number)
{
	uint64_t bit[2];

	bits_of(s, number, bit);
	set_both(has(s->once, bit) ? s->twice : s->once, bit);
}

bool pdet_seen_single(const struct pdet_seen *s, uint64_t number)
{
	uint64_t bit[2];

	bits_of(s, number, bit);
	return has(s->once, bit) && !has(s->twice, bit);
}
