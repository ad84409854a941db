/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks a journal as fs/jbd2/recovery.c does: from the start in the superblock,
 * transaction by transaction, while each block has the magic number and the
 * expected sequence. Numbers are big-endian.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/env.h"
#include "base/vec.h"
#include "disk/jbd2.h"

#define MAGIC 0xc03b3998u

/* h_blocktype */
enum { DESCRIPTOR = 1, COMMIT = 2, SUPER_V1 = 3, SUPER_V2 = 4, REVOKE = 5 };

/* s_feature_incompat */
enum {
	F_REVOKE = 1, F_64BIT = 2, F_ASYNC_COMMIT = 4, F_CSUM_V2 = 8,
	F_CSUM_V3 = 16, F_FAST_COMMIT = 32,
	F_KNOWN = 63,
};

/* t_flags */
enum { T_ESCAPE = 1, T_SAME_UUID = 2, T_LAST = 8 };

#define HEAD 12			/* magic, type, sequence */
#define SUPER_BYTES 1024
#define FAST_BLOCKS 256		/* default of the superblock */
#define MIN_BLOCKS 1024		/* if the log would be shorter, it uses the
				 * whole journal, without room for fast
				 * commits */
#define CRC32C 4

static uint32_t be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p)
{
	return be16(p) << 16 | be16(p + 2);
}

static int read_all(const struct pdet_jbd2 *j, void *buf, size_t n,
		    uint64_t offset)
{
	const ssize_t got = j->read_at(j->arg, buf, n, offset);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -EBADMSG;
}

/* The field with the checksum counts as 0. */
static bool sum_is_right(uint32_t seed, const uint8_t *data, size_t n,
			 size_t at)
{
	static const uint8_t zero[4] = { 0, 0, 0, 0 };
	uint32_t crc = pdet_crc32c(seed, data, at);

	crc = pdet_crc32c(crc, zero, 4);
	crc = pdet_crc32c(crc, data + at + 4, n - at - 4);
	return crc == be32(data + at);
}

int pdet_jbd2_open(struct pdet_jbd2 *j)
{
	uint8_t s[SUPER_BYTES];
	uint32_t type, fast;
	int r;

	r = read_all(j, s, sizeof(s), 0);
	if (r < 0)
		return r;
	type = be32(s + 4);
	if (be32(s) != MAGIC || (type != SUPER_V1 && type != SUPER_V2))
		return -EBADMSG;
	j->block_size = be32(s + 12);
	j->max_len = be32(s + 16);
	j->first = be32(s + 20);
	j->sequence = be32(s + 24);
	j->start = be32(s + 28);
	j->incompat = type == SUPER_V2 ? be32(s + 40) : 0;
	j->has_checksums = j->incompat & (F_CSUM_V2 | F_CSUM_V3);
	j->fast_commits = j->incompat & F_FAST_COMMIT;
	if (j->block_size < SUPER_BYTES || j->block_size > 65536 ||
	    j->block_size & (j->block_size - 1) || j->incompat & ~F_KNOWN)
		return -EBADMSG;
	j->last = j->max_len;
	if (j->fast_commits) {
		fast = be32(s + 84);
		fast = fast ? fast : FAST_BLOCKS;
		if (fast >= j->max_len)
			return -EBADMSG;
		if (j->max_len - fast >= MIN_BLOCKS)
			j->last -= fast;
	}
	if (!j->first || j->first >= j->last ||
	    (j->start && (j->start < j->first || j->start >= j->last)))
		return -EBADMSG;
	if (!j->has_checksums)
		return 0;
	if (s[80] != CRC32C ||
	    !sum_is_right(~(uint32_t)0, s, sizeof(s), 252))
		return -EBADMSG;
	j->seed = pdet_crc32c(~(uint32_t)0, s + 48, 16);
	return 0;
}

/* --- the log --- */

struct walk {
	struct pdet_jbd2 *j;
	uint8_t *block;
	uint32_t at;		/* block in the log */
	uint32_t steps;		/* blocks visited, at most those of the log */
	uint32_t sequence;
	size_t copies, revokes;	/* in committed transactions */
};

static void step(struct walk *w, uint32_t n)
{
	w->steps += n;
	w->at += n;
	if (w->at >= w->j->last)
		w->at -= w->j->last - w->j->first;
}

static size_t tag_size(const struct pdet_jbd2 *j)
{
	if (j->incompat & F_CSUM_V3)
		return 16;
	return (size_t)8 + (j->incompat & F_CSUM_V2 ? 2 : 0) +
	       (j->incompat & F_64BIT ? 4 : 0);
}

static struct pdet_jbd2_copy read_tag(const struct walk *w, const uint8_t *t,
				      uint32_t *flags)
{
	const bool v3 = w->j->incompat & F_CSUM_V3;
	struct pdet_jbd2_copy c = { .block = be32(t), .at = w->at,
				    .sequence = w->sequence };

	if (w->j->incompat & F_64BIT)
		c.block |= (uint64_t)be32(t + 8) << 32;
	*flags = v3 ? be32(t + 4) : be16(t + 6);
	c.checksum = v3 ? be32(t + 12) : be16(t + 4);
	c.escaped = *flags & T_ESCAPE;
	return c;
}

/* Returns 1 if it was a descriptor; 0 if the log ends here. */
static int descriptor(struct walk *w)
{
	const struct pdet_jbd2 *j = w->j;
	const size_t size = tag_size(j);
	const size_t end = j->block_size - (j->has_checksums ? 4 : 0);
	struct pdet_jbd2_copy c;
	size_t at = HEAD;
	uint32_t flags;

	if (j->has_checksums &&
	    !sum_is_right(j->seed, w->block, j->block_size, end))
		return 0;
	step(w, 1);
	do {
		if (at + size > end || w->steps >= j->last - j->first)
			break;
		c = read_tag(w, w->block + at, &flags);
		if (!pdet_vec_push(&w->j->copies, c))
			return -ENOMEM;
		step(w, 1);
		at += size + (flags & T_SAME_UUID ? 0 : 16);
	} while (!(flags & T_LAST));
	return 1;
}

static int revoke(struct walk *w)
{
	const struct pdet_jbd2 *j = w->j;
	const size_t size = j->incompat & F_64BIT ? 8 : 4;
	const size_t room = j->block_size - (j->has_checksums ? 4 : 0);
	struct pdet_jbd2_revoke r = { .sequence = w->sequence };
	size_t at = HEAD + 4;
	const size_t end = be32(w->block + HEAD);

	if (end > room || (j->has_checksums &&
	    !sum_is_right(j->seed, w->block, j->block_size, room)))
		return 0;
	for (; at + size <= end; at += size) {
		r.block = be32(w->block + at);
		if (size == 8)
			r.block = r.block << 32 | be32(w->block + at + 4);
		if (!pdet_vec_push(&w->j->revokes, r))
			return -ENOMEM;
	}
	step(w, 1);
	return 1;
}

static int commit(struct walk *w)
{
	struct pdet_jbd2 *j = w->j;

	if (j->has_checksums &&
	    !sum_is_right(j->seed, w->block, j->block_size, 16))
		return 0;
	step(w, 1);
	w->copies = j->copies.n;
	w->revokes = j->revokes.n;
	w->sequence++;
	j->transactions++;
	return 1;
}

static int one(struct walk *w)
{
	const struct pdet_jbd2 *j = w->j;
	int r;

	r = read_all(j, w->block, j->block_size,
		     (uint64_t)w->at * j->block_size);
	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	if (be32(w->block) != MAGIC || be32(w->block + 8) != w->sequence)
		return 0;
	switch (be32(w->block + 4)) {
	case DESCRIPTOR:
		return descriptor(w);
	case REVOKE:
		return revoke(w);
	case COMMIT:
		return commit(w);
	default:
		return 0;
	}
}

/* Sequence numbers wrap. */
static bool is_later(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

static int by_copy(const void *a, const void *b)
{
	const struct pdet_jbd2_copy *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->sequence != y->sequence)
		return is_later(x->sequence, y->sequence) ? 1 : -1;
	return 0;
}

static int by_revoke(const void *a, const void *b)
{
	const struct pdet_jbd2_revoke *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->sequence != y->sequence)
		return is_later(x->sequence, y->sequence) ? 1 : -1;
	return 0;
}

int pdet_jbd2_walk(struct pdet_jbd2 *j)
{
	struct walk w = { .j = j, .at = j->start, .sequence = j->sequence };
	int r = 1;

	j->copies.n = j->revokes.n = 0;
	j->transactions = j->uncommitted = 0;
	j->next = j->sequence;
	if (!j->start)
		return 0;
	w.block = malloc(j->block_size);
	if (!w.block)
		return -ENOMEM;
	while (r > 0 && w.steps < j->last - j->first)
		r = one(&w);
	free(w.block);
	j->uncommitted = (uint32_t)(j->copies.n - w.copies);
	j->copies.n = w.copies;
	j->revokes.n = w.revokes;
	j->next = w.sequence;
	if (j->copies.n)
		qsort(j->copies.data, j->copies.n, sizeof(*j->copies.data),
		      by_copy);
	if (j->revokes.n)
		qsort(j->revokes.data, j->revokes.n, sizeof(*j->revokes.data),
		      by_revoke);
	return PDET_MIN(r, 0);
}

/*
 * The last entry of @block in a sorted array; both kinds of entries begin with
 * the block.
 */
static size_t last_of(const void *data, size_t n, size_t width, uint64_t block)
{
	size_t low = 0, high = n, middle;
	uint64_t there;

	while (low < high) {
		middle = low + (high - low) / 2;
		memcpy(&there, (const char *)data + middle * width,
		       sizeof(there));
		if (there <= block)
			low = middle + 1;
		else
			high = middle;
	}
	return low;	/* index after it */
}

const struct pdet_jbd2_copy *pdet_jbd2_find(const struct pdet_jbd2 *j,
					    uint64_t block)
{
	const struct pdet_jbd2_copy *c;
	size_t at;

	at = last_of(j->copies.data, j->copies.n, sizeof(*j->copies.data),
		     block);
	if (!at || j->copies.data[at - 1].block != block)
		return NULL;
	c = &j->copies.data[at - 1];
	at = last_of(j->revokes.data, j->revokes.n, sizeof(*j->revokes.data),
		     block);
	if (at && j->revokes.data[at - 1].block == block &&
	    !is_later(c->sequence, j->revokes.data[at - 1].sequence))
		return NULL;
	return c;
}

int pdet_jbd2_read(const struct pdet_jbd2 *j, const struct pdet_jbd2_copy *copy,
		   void *buf)
{
	static const uint8_t magic[4] = { 0xc0, 0x3b, 0x39, 0x98 };
	uint8_t sequence[4] = { (uint8_t)(copy->sequence >> 24),
				(uint8_t)(copy->sequence >> 16),
				(uint8_t)(copy->sequence >> 8),
				(uint8_t)copy->sequence };
	uint32_t crc;
	int r;

	r = read_all(j, buf, j->block_size,
		     (uint64_t)copy->at * j->block_size);
	if (r < 0)
		return r;
	if (j->has_checksums) {
		crc = pdet_crc32c(j->seed, sequence, sizeof(sequence));
		crc = pdet_crc32c(crc, buf, j->block_size);
		if (!(j->incompat & F_CSUM_V3))
			crc &= 0xffff;
		if (crc != copy->checksum)
			return -EBADMSG;
	}
	if (copy->escaped)
		memcpy(buf, magic, sizeof(magic));
	return 0;
}

void pdet_jbd2_free(struct pdet_jbd2 *j)
{
	pdet_vec_free(&j->copies);
	pdet_vec_free(&j->revokes);
}
