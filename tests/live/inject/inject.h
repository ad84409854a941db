/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The protocol between injector, which injects faults and knows them, and vmm,
 * which must find them. Each order has an answer. vmm never learns what is a
 * fault.
 */
#ifndef PAGEDET_TESTS_INJECT_H
#define PAGEDET_TESTS_INJECT_H

#include <stddef.h>
#include <stdint.h>

#define PAGE ((size_t)4096)

/* Descriptors of vmm. */
#define FD_ORDERS 3		/* SOCK_SEQPACKET */
#define FD_RAM 4		/* file of its memory, if any */
#define FD_PEER 5		/* carries evidence of the destination */
#define FD_FINDINGS 6

enum what {
	WHERE = 1,	/* @arg of the answer: address of the page */
	FILL,		/* the guest stores a page made from @arg */
	POKE,		/* the guest stores one byte at offset @arg */
	ZERO,		/* the guest stores zeroes */
	ADVISE,		/* madvise(page, @arg); the answer is errno */
	SPLIT,		/* split the huge entry of the page */
	ROUND,		/* a pass of the migration begins */
	SEND,		/* the answer is a packet for TAKE */
	TAKE,		/* a page arrived: @bytes, or zeroes if @arg */
	PAUSE,		/* @arg: 1 the guest is frozen, 0 it runs */
	GIVE,		/* send evidence to the peer; the answer is its
			 * length */
	EXPLAIN		/* explain, with the peer's evidence of this length */
};

struct order {
	uint32_t what;
	uint32_t page;
	uint64_t arg;
	unsigned char bytes[PAGE];
};

/* Bits for the data that vmm keeps. */
#define KEEPS_HASHES 1u		/* as sent */
#define KEEPS_HISTORY 2u	/* of earlier passes */
#define KEEPS_TRACK 4u
#define KEEPS_PAUSE 8u		/* whether it was frozen */
#define KEEPS_BYTES 16u		/* compares bytes with the peer */
#define KEEPS_BEFORE 32u	/* memory, read just before sending */
#define KEEPS_STOPPED 64u	/* memory, read once the guest stopped */
#define KEEPS_ALL 127u

/* fill - make a page that differs from all others. */
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
