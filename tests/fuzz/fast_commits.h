/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Builds an ext4 log with fast commits. Tags have the kernel's layout and tails
 * the right checksum, so that inputs pass these tests.
 */
#ifndef TESTS_FAST_COMMITS_H
#define TESTS_FAST_COMMITS_H

#include <string.h>

#include "base/crc32c.h"
#include "disk/ext4_fc.h"

#define FAST_BLOCK 1024u
#define FAST_BLOCKS 8u
#define FAST_TID 7u
#define FAST_LAST 3u	/* its last block; one more block is not used */

enum {
	ADD_RANGE = 1, DEL_RANGE = 2, CREAT = 3, LINK = 4, UNLINK = 5,
	INODE = 6, PAD = 7, TAIL = 8, HEAD = 9,
};

struct fast {
	uint8_t data[FAST_BLOCK * FAST_BLOCKS];
	size_t at;
	uint32_t crc;
};

static inline void fast_le(uint8_t *to, uint64_t value, unsigned bytes)
{
	unsigned i;

	for (i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static inline void fast_put(struct fast *f, unsigned kind, const void *value,
			    size_t len)
{
	uint8_t *to = f->data + f->at;

	fast_le(to, kind, 2);
	fast_le(to + 2, len, 2);
	if (len)
		memcpy(to + 4, value, len);
	f->crc = pdet_crc32c(f->crc, to, kind == TAIL ? 8 : 4 + len);
	f->at += 4 + len;
}

/* Returns false if there is no room. */
static inline bool fast_tag(struct fast *f, unsigned kind, const void *value,
			    size_t len)
{
	static const uint8_t zero[FAST_BLOCK];
	size_t room = FAST_BLOCK - f->at % FAST_BLOCK;

	if (4 + len > FAST_BLOCK || f->at >= sizeof(f->data))
		return false;
	if (4 + len > room && room >= 4)
		fast_put(f, PAD, zero, room - 4);
	else if (4 + len > room)
		f->at += room;
	if (f->at + 4 + len > sizeof(f->data))
		return false;
	fast_put(f, kind, value, len);
	return true;
}

static inline bool fast_head(struct fast *f, uint32_t tid)
{
	uint8_t value[8] = { 0 };

	fast_le(value + 4, tid, 4);
	return fast_tag(f, HEAD, value, sizeof(value));
}

/* Fills the rest of its block. */
static inline bool fast_tail(struct fast *f, uint32_t tid)
{
	uint8_t value[FAST_BLOCK] = { 0 };
	size_t room = FAST_BLOCK - f->at % FAST_BLOCK, begin;

	if (room < 12)
		room = FAST_BLOCK;
	fast_le(value, tid, 4);
	if (!fast_tag(f, TAIL, value, room - 4))
		return false;
	begin = f->at - room;
	fast_le(f->data + begin + 8, f->crc, 4);
	f->crc = 0;
	return true;
}

static inline ssize_t fast_read_at(void *arg, void *buf, size_t n,
				   uint64_t offset)
{
	const struct fast *f = arg;
	const uint64_t first = (FAST_LAST + 1) * FAST_BLOCK;

	if (offset < first || offset - first > sizeof(f->data) ||
	    n > sizeof(f->data) - (offset - first))
		return 0;
	memcpy(buf, f->data + (offset - first), n);
	return (ssize_t)n;
}

static inline struct pdet_jbd2 fast_log(struct fast *f)
{
	return (struct pdet_jbd2){
		.read_at = fast_read_at, .arg = f, .block_size = FAST_BLOCK,
		.max_len = FAST_LAST + 1 + FAST_BLOCKS, .first = 1,
		.last = FAST_LAST, .start = 1, .fast_commits = true,
		.next = FAST_TID,
	};
}

static inline struct pdet_ext4 fast_ext4(void)
{
	return (struct pdet_ext4){
		.block_size = FAST_BLOCK, .blocks = 65536, .first_block = 1,
		.inode_size = 256,
	};
}

#endif
