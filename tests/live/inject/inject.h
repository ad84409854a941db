/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What injector, which makes faults and knows them, and vmm, which has to find
 * them, say to each other: orders, each of which is answered. vmm is never told
 * what is a fault and what is not.
 */
#ifndef PAGEDET_TESTS_INJECT_H
#define PAGEDET_TESTS_INJECT_H

#include <stddef.h>
#include <stdint.h>

#define PAGE ((size_t)4096)

/* Descriptors of vmm. */
#define FD_ORDERS 3		/* SOCK_SEQPACKET */
#define FD_RAM 4		/* the file that is its memory, if any */
#define FD_PEER 5		/* evidence of the destination goes through */
#define FD_FINDINGS 6

enum what {
	WHERE = 1,	/* @arg of the answer: the address of a page */
	FILL,		/* the guest stores a page, made of @arg */
	POKE,		/* and one byte, at offset @arg */
	ZERO,		/* and zeroes */
	ADVISE,		/* madvise(page, @arg); the answer is errno */
	SPLIT,		/* the huge entry that maps a page is split */
	ROUND,		/* a pass of the migration begins */
	SEND,		/* the answer is a packet for TAKE */
	TAKE,		/* a page has come: @bytes, or zeroes if @arg */
	PAUSE,		/* @arg: 1 the guest stands still, 0 it runs */
	GIVE,		/* evidence to the peer; the answer is its length */
	EXPLAIN		/* with the peer's of this length */
};

struct order {
	uint32_t what;
	uint32_t page;
	uint64_t arg;
	unsigned char bytes[PAGE];
};

/* What vmm keeps, as bits. */
#define KEEPS_HASHES 1u		/* as sent */
#define KEEPS_HISTORY 2u	/* of passes before */
#define KEEPS_TRACK 4u
#define KEEPS_PAUSE 8u		/* whether it was frozen */
#define KEEPS_BYTES 16u		/* those of the peer are compared */
#define KEEPS_ALL 31u

/* fill - a page that no other is like. */
static inline void fill(unsigned char *page, uint64_t seed)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
	size_t i;

	for (i = 0; i < PAGE; i += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__builtin_memcpy(page + i, &x, sizeof(x));
	}
}

#endif
