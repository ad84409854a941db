/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Builds small journal logs with blocks of 1024 bytes. */
#ifndef TESTS_JOURNAL_H
#define TESTS_JOURNAL_H

#include "base/crc32c.h"
#include "unit.h"

#define LOG_BLOCK 1024
#define LOG_BLOCKS 24

enum { LOG_64BIT = 2, LOG_CSUM_V2 = 8, LOG_CSUM_V3 = 16, LOG_FAST = 32 };

struct log {
	uint8_t data[LOG_BLOCKS * LOG_BLOCK];
	size_t size;
	uint32_t incompat;
	uint32_t seed;
	uint32_t at;		/* index of the next block */
	uint32_t sequence;
};

static inline void log_be32(uint8_t *p, uint32_t n)
{
	p[0] = (uint8_t)(n >> 24);
	p[1] = (uint8_t)(n >> 16);
	p[2] = (uint8_t)(n >> 8);
	p[3] = (uint8_t)n;
}

static inline int log_has_sums(const struct log *l)
{
	return l->incompat & (LOG_CSUM_V2 | LOG_CSUM_V3);
}

static inline uint8_t *log_block(struct log *l, uint32_t n)
{
	return l->data + (size_t)n * LOG_BLOCK;
}

static inline uint8_t *log_head(struct log *l, uint32_t type)
{
	uint8_t *p = log_block(l, l->at);

	log_be32(p, 0xc03b3998);
	log_be32(p + 4, type);
	log_be32(p + 8, l->sequence);
	if (++l->at == LOG_BLOCKS)
		l->at = 1;
	return p;
}

static inline void log_sum(struct log *l, uint8_t *p, size_t at)
{
	if (log_has_sums(l))
		log_be32(p + at, pdet_crc32c(l->seed, p, LOG_BLOCK));
}

static inline void log_super(struct log *l, uint32_t start, uint32_t sequence)
{
	uint8_t *p = l->data;

	memset(p, 0, LOG_BLOCK);
	log_be32(p, 0xc03b3998);
	log_be32(p + 4, 4);
	log_be32(p + 12, LOG_BLOCK);
	log_be32(p + 16, LOG_BLOCKS);
	log_be32(p + 20, 1);
	log_be32(p + 24, sequence);
	log_be32(p + 28, start);
	log_be32(p + 40, l->incompat | 1);
	memcpy(p + 48, "sixteen bytes id", 16);
	p[80] = 4;
	log_be32(p + 84, l->incompat & LOG_FAST ? 4 : 0);
	if (log_has_sums(l))
		log_be32(p + 252, pdet_crc32c(~0u, p, LOG_BLOCK));
	l->seed = pdet_crc32c(~0u, "sixteen bytes id", 16);
	l->at = start ? start : 1;
	l->sequence = sequence;
	l->size = sizeof(l->data);
}

/* Logs @n blocks of the filesystem from @first on, each filled with @fill. */
static inline void log_blocks(struct log *l, uint64_t first, unsigned n,
			      uint8_t fill, int escaped)
{
	uint8_t *d = log_head(l, 1), *t = d + 12, *p, seq[4];
	unsigned i;
	uint32_t flags, sum;

	log_be32(seq, l->sequence);
	for (i = 0; i < n; i++) {
		p = log_block(l, l->at);
		memset(p, fill + (int)i, LOG_BLOCK);
		if (escaped)
			log_be32(p, 0);
		if (++l->at == LOG_BLOCKS)
			l->at = 1;
		sum = pdet_crc32c(pdet_crc32c(l->seed, seq, 4), p, LOG_BLOCK);
		flags = (i ? 2u : 0u) | (i + 1 == n ? 8u : 0u) |
			(escaped ? 1u : 0u);
		log_be32(t, (uint32_t)(first + i));
		if (l->incompat & LOG_CSUM_V3) {
			log_be32(t + 4, flags);
			log_be32(t + 8, (uint32_t)((first + i) >> 32));
			log_be32(t + 12, sum);
			t += 16;
		} else {
			log_be32(t + 4, (sum & 0xffff) << 16 | flags);
			if (l->incompat & LOG_64BIT)
				log_be32(t + 8,
					 (uint32_t)((first + i) >> 32));
			t += 8 + (l->incompat & LOG_64BIT ? 4 : 0) +
			     (l->incompat & LOG_CSUM_V2 ? 2 : 0);
		}
		t += i ? 0 : 16;	/* its UUID */
	}
	log_sum(l, d, LOG_BLOCK - 4);
}

static inline void log_revoke(struct log *l, uint64_t block)
{
	uint8_t *p = log_head(l, 5);

	if (l->incompat & LOG_64BIT) {
		log_be32(p + 12, 24);
		log_be32(p + 16, (uint32_t)(block >> 32));
		log_be32(p + 20, (uint32_t)block);
	} else {
		log_be32(p + 12, 20);
		log_be32(p + 16, (uint32_t)block);
	}
	log_sum(l, p, LOG_BLOCK - 4);
}

static inline void log_commit(struct log *l)
{
	log_sum(l, log_head(l, 2), 16);
	l->sequence++;
}

static inline ssize_t log_read(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct log *l = arg;

	if (offset >= l->size)
		return 0;
	if (n > l->size - offset)
		n = l->size - offset;
	memcpy(buf, l->data + offset, n);
	return (ssize_t)n;
}

#endif
