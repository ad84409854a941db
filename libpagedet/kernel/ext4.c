/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the journal's inode by the first group's descriptor, and its blocks by
 * extents or, in what was once ext3, by lists of blocks. Numbers are
 * little-endian; none of them is believed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/vec.h"
#include "kernel/ext4.h"

#define SUPER_OFFSET 1024
#define SUPER_BYTES 1024
#define MAGIC 0xef53
#define EXTENT_MAGIC 0xf30a
#define EXTENTS_FL 0x80000
#define HAS_JOURNAL 4		/* s_feature_compat */
#define JOURNAL_DEV 8		/* s_feature_incompat */
#define HAS_64BIT 0x80
#define MAX_DEPTH 5
#define INODE_BYTES 128		/* that all have */
/* No journal has more pieces. */
#define MAX_RUNS ((size_t)1 << 20)

static uint32_t le16(const uint8_t *p)
{
	return (uint32_t)p[1] << 8 | p[0];
}

static uint32_t le32(const uint8_t *p)
{
	return le16(p + 2) << 16 | le16(p);
}

static int read_all(const struct pdet_ext4 *fs, void *buf, size_t n,
		    uint64_t offset)
{
	const ssize_t got = fs->read_at(fs->arg, buf, n, offset);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -EBADMSG;
}

int pdet_ext4_open(struct pdet_ext4 *fs)
{
	uint8_t s[SUPER_BYTES];
	uint32_t shift, incompat;
	int r;

	r = read_all(fs, s, sizeof(s), SUPER_OFFSET);
	if (r < 0)
		return r;
	shift = le32(s + 24);
	if (le16(s + 56) != MAGIC || shift > 6)
		return -EBADMSG;
	incompat = le32(s + 96);
	fs->block_size = 1024u << shift;
	fs->is_64bit = incompat & HAS_64BIT;
	fs->is_journal = incompat & JOURNAL_DEV;
	fs->blocks = le32(s + 4);
	if (fs->is_64bit)
		fs->blocks |= (uint64_t)le32(s + 336) << 32;
	fs->first_block = le32(s + 20);
	fs->group_inodes = le32(s + 40);
	fs->inode_size = le32(s + 76) ? le16(s + 88) : INODE_BYTES;
	fs->desc_size = fs->is_64bit ? le16(s + 254) : 32;
	fs->has_journal = le32(s + 92) & HAS_JOURNAL;
	memcpy(fs->uuid, s + 104, 16);
	memcpy(fs->journal_uuid, s + 208, 16);
	fs->journal_inode = le32(s + 224);
	fs->journal_dev = le32(s + 228);
	if (!fs->blocks || fs->blocks > UINT64_MAX / fs->block_size ||
	    fs->first_block > 1)
		return -EBADMSG;
	if (!fs->is_journal &&
	    (fs->inode_size < INODE_BYTES || fs->inode_size > fs->block_size ||
	     fs->desc_size < 32 || fs->desc_size > fs->block_size))
		return -EBADMSG;
	return 0;
}

static bool is_block(const struct pdet_ext4 *fs, uint64_t block, uint64_t n)
{
	return block > fs->first_block && n <= fs->blocks &&
	       block <= fs->blocks - n;
}

/* Runs come in their order, so that none overlaps another. */
static int add_run(struct pdet_ext4 *fs, uint64_t at, uint64_t block,
		   uint64_t n)
{
	struct pdet_ext4_run *last = fs->runs.n ?
		&fs->runs.data[fs->runs.n - 1] : NULL;

	if (!n || !is_block(fs, block, n))
		return -EBADMSG;
	if (last && at < last->at + last->n)
		return -EBADMSG;
	if (last && at == last->at + last->n &&
	    block == last->block + last->n) {
		last->n += n;
		return 0;
	}
	if (fs->runs.n == MAX_RUNS)
		return -EBADMSG;
	return pdet_vec_push(&fs->runs, (struct pdet_ext4_run){ at, block, n })
		? 0 : -ENOMEM;
}

static int read_block(const struct pdet_ext4 *fs, uint64_t block, uint8_t **ret)
{
	uint8_t *buf;
	int r;

	if (!is_block(fs, block, 1))
		return -EBADMSG;
	buf = malloc(fs->block_size);
	if (!buf)
		return -ENOMEM;
	r = read_all(fs, buf, fs->block_size, block * fs->block_size);
	if (r < 0)
		free(buf);
	else
		*ret = buf;
	return r;
}

/* One node of the tree of extents, @size bytes of it. */
static int extents(struct pdet_ext4 *fs, const uint8_t *node, size_t size,
		   unsigned depth, unsigned *budget)
{
	const uint32_t n = le16(node + 2);
	uint8_t *below;
	uint32_t i, len;
	int r = 0;

	if (le16(node) != EXTENT_MAGIC || le16(node + 6) != depth ||
	    n > size / 12 - 1 || !*budget)
		return -EBADMSG;
	--*budget;
	for (i = 0; i < n && r == 0; i++) {
		const uint8_t *e = node + 12 + (size_t)i * 12;

		if (!depth) {
			len = le16(e + 4);
			/* more: they were never written */
			if (len > 32768)
				return -EBADMSG;
			r = add_run(fs, le32(e), (uint64_t)le16(e + 6) << 32 |
				    le32(e + 8), len);
			continue;
		}
		r = read_block(fs, (uint64_t)le16(e + 8) << 32 | le32(e + 4),
			       &below);
		if (r == 0) {
			r = extents(fs, below, fs->block_size, depth - 1,
				    budget);
			free(below);
		}
	}
	return r;
}

/* A list of blocks, or of lists, that begins with block *at of the file. */
static int list(struct pdet_ext4 *fs, uint32_t block, unsigned depth,
		uint64_t end, uint64_t *at)
{
	uint8_t *below;
	uint32_t i;
	int r;

	if (*at >= end)
		return 0;
	if (!depth) {
		r = add_run(fs, *at, block, 1);
		++*at;
		return r;
	}
	r = read_block(fs, block, &below);
	if (r < 0)
		return r;
	for (i = 0; i < fs->block_size / 4 && *at < end && r == 0; i++)
		r = list(fs, le32(below + (size_t)i * 4), depth - 1, end, at);
	free(below);
	return r;
}

static int lists(struct pdet_ext4 *fs, const uint8_t *blocks)
{
	const uint64_t end = fs->journal_bytes / fs->block_size;
	uint64_t at = 0;
	unsigned i;
	int r = 0;

	for (i = 0; i < 15 && r == 0; i++)
		r = list(fs, le32(blocks + (size_t)i * 4), i < 12 ? 0 : i - 11,
			 end, &at);
	return r;
}

int pdet_ext4_find_journal(struct pdet_ext4 *fs)
{
	const uint32_t number = fs->journal_inode - 1;
	unsigned budget = 4096;	/* nodes */
	uint8_t desc[64], inode[INODE_BYTES];
	uint64_t table;
	int r;

	/* It is among the reserved ones, which are in the first group. */
	if (!fs->journal_inode || fs->journal_inode > 1024 ||
	    number >= fs->group_inodes)
		return -EBADMSG;
	r = read_all(fs, desc, fs->is_64bit ? 64 : 32,
		     (fs->first_block + 1) * fs->block_size);
	if (r < 0)
		return r;
	table = le32(desc + 8);
	if (fs->is_64bit && fs->desc_size >= 64)
		table |= (uint64_t)le32(desc + 40) << 32;
	if (!is_block(fs, table, 1))
		return -EBADMSG;
	r = read_all(fs, inode, sizeof(inode), table * fs->block_size +
		     (uint64_t)number * fs->inode_size);
	if (r < 0)
		return r;
	fs->journal_bytes = (uint64_t)le32(inode + 108) << 32 | le32(inode + 4);
	if ((le16(inode) & 0xf000) != 0x8000 ||
	    fs->journal_bytes / fs->block_size > fs->blocks)
		return -EBADMSG;
	fs->runs.n = 0;
	if (!(le32(inode + 32) & EXTENTS_FL))
		return lists(fs, inode + 40);
	if (le16(inode + 46) > MAX_DEPTH)
		return -EBADMSG;
	return extents(fs, inode + 40, 60, le16(inode + 46), &budget);
}

uint64_t pdet_ext4_place(const struct pdet_ext4 *fs, uint64_t at,
			 uint64_t *follow)
{
	size_t low = 0, high = fs->runs.n, middle;
	const struct pdet_ext4_run *run;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (fs->runs.data[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	run = &fs->runs.data[low - 1];
	if (at - run->at >= run->n)
		return 0;
	*follow = run->n - (at - run->at);
	return run->block + (at - run->at);
}

void pdet_ext4_free(struct pdet_ext4 *fs)
{
	pdet_vec_free(&fs->runs);
}
