/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads ext4 inodes from the disk: an inode through its group descriptor, its
 * blocks through extents, or through block lists as in ext3. Numbers are
 * little-endian, and all are checked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/vec.h"
#include "disk/ext4.h"

#define SUPER_OFFSET 1024
#define SUPER_BYTES 1024
#define MAGIC 0xef53
#define EXTENT_MAGIC 0xf30a
#define EXTENTS_FL 0x80000
#define HAS_JOURNAL 4		/* s_feature_compat */
#define JOURNAL_DEV 8		/* s_feature_incompat */
#define META_BG 0x10
#define HAS_64BIT 0x80
#define MAX_DEPTH 5
#define MAX_NODES 4096		/* of one file */
/* A file with more pieces is not read. */
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
	fs->inodes = le32(s);
	fs->group_inodes = le32(s + 40);
	fs->inode_size = le32(s + 76) ? le16(s + 88) : PDET_EXT4_INODE_BYTES;
	fs->desc_size = fs->is_64bit ? le16(s + 254) : 32;
	fs->desc_blocks = incompat & META_BG ? le32(s + 260) : UINT32_MAX;
	fs->has_journal = le32(s + 92) & HAS_JOURNAL;
	memcpy(fs->uuid, s + 104, 16);
	memcpy(fs->journal_uuid, s + 208, 16);
	fs->journal_inode = le32(s + 224);
	fs->journal_dev = le32(s + 228);
	if (!fs->blocks || fs->blocks > UINT64_MAX / fs->block_size ||
	    fs->first_block > 1)
		return -EBADMSG;
	if (!fs->is_journal &&
	    (fs->inode_size < PDET_EXT4_INODE_BYTES ||
	     fs->inode_size > fs->block_size ||
	     fs->desc_size < 32 || fs->desc_size > fs->block_size))
		return -EBADMSG;
	return 0;
}

bool pdet_ext4_is_block(const struct pdet_ext4 *fs, uint64_t block, uint64_t n)
{
	return block > fs->first_block && n <= fs->blocks &&
	       block <= fs->blocks - n;
}

struct reading {
	const struct pdet_ext4 *fs;
	struct pdet_ext4_inode *inode;
	unsigned budget;	/* extent nodes left to read */
};

/* Runs must be in order, so that none overlaps. */
static int add_run(struct reading *r, struct pdet_ext4_run run)
{
	struct pdet_ext4_inode *inode = r->inode;
	struct pdet_ext4_run *last = inode->runs.n ?
		&inode->runs.data[inode->runs.n - 1] : NULL;

	if (!run.n || !pdet_ext4_is_block(r->fs, run.block, run.n))
		return -EBADMSG;
	if (last && run.at < last->at + last->n)
		return -EBADMSG;
	if (last && run.at == last->at + last->n &&
	    run.block == last->block + last->n &&
	    run.unwritten == last->unwritten) {
		last->n += run.n;
		return 0;
	}
	if (inode->runs.n == MAX_RUNS)
		return -EBADMSG;
	return pdet_vec_push(&inode->runs, run) ? 0 : -ENOMEM;
}

static int read_node(struct reading *r, uint64_t block, uint8_t **ret)
{
	const struct pdet_ext4 *fs = r->fs;
	uint8_t *buf;
	int e;

	if (!pdet_ext4_is_block(fs, block, 1) || !r->budget)
		return -EBADMSG;
	r->budget--;
	buf = malloc(fs->block_size);
	if (!buf)
		return -ENOMEM;
	e = read_all(fs, buf, fs->block_size, block * fs->block_size);
	if (e < 0)
		free(buf);
	else
		*ret = buf;
	return e;
}

static int extent(struct reading *r, const uint8_t *e)
{
	struct pdet_ext4_run run = {
		.at = le32(e),
		.block = (uint64_t)le16(e + 6) << 32 | le32(e + 8),
		.n = le16(e + 4),
	};

	/* a higher length marks an unwritten extent */
	run.unwritten = run.n > 32768;
	if (run.unwritten)
		run.n -= 32768;
	return add_run(r, run);
}

/* Read one node of the extent tree, @size bytes long. */
static int extents(struct reading *r, const uint8_t *node, size_t size,
		   unsigned depth)
{
	const uint32_t n = le16(node + 2);
	uint8_t *below;
	uint32_t i;
	int e = 0;

	if (le16(node) != EXTENT_MAGIC || le16(node + 6) != depth ||
	    n > size / 12 - 1)
		return -EBADMSG;
	for (i = 0; i < n && e == 0; i++) {
		const uint8_t *at = node + 12 + (size_t)i * 12;

		if (!depth) {
			e = extent(r, at);
			continue;
		}
		e = read_node(r, (uint64_t)le16(at + 8) << 32 | le32(at + 4),
			      &below);
		if (e == 0) {
			e = extents(r, below, r->fs->block_size, depth - 1);
			free(below);
		}
	}
	return e;
}

/* Read a list of blocks, or of lists, that begins with block *at of the file. 0
 * is a hole of the same size. */
static int list(struct reading *r, uint32_t block, unsigned depth,
		uint64_t end, uint64_t *at)
{
	const uint32_t n = r->fs->block_size / 4;
	uint64_t span = 1;
	uint8_t *below;
	unsigned d;
	uint32_t i;
	int e;

	if (*at >= end)
		return 0;
	if (!block) {
		for (d = 0; d < depth; d++)
			span *= n;
		*at += span;
		return 0;
	}
	if (!depth) {
		e = add_run(r, (struct pdet_ext4_run){ *at, block, 1, false });
		++*at;
		return e;
	}
	e = read_node(r, block, &below);
	if (e < 0)
		return e;
	for (i = 0; i < n && *at < end && e == 0; i++)
		e = list(r, le32(below + (size_t)i * 4), depth - 1, end, at);
	free(below);
	return e;
}

static int lists(struct reading *r, const uint8_t *blocks)
{
	const uint32_t size = r->fs->block_size;
	const uint64_t bytes = r->inode->bytes;
	const uint64_t end = bytes / size + !!(bytes % size);
	uint64_t at = 0;
	unsigned i;
	int e = 0;

	for (i = 0; i < 15 && e == 0; i++)
		e = list(r, le32(blocks + (size_t)i * 4), i < 12 ? 0 : i - 11,
			 end, &at);
	return e;
}

int pdet_ext4_inode_place(const struct pdet_ext4 *fs, uint64_t ino,
			  uint64_t *ret)
{
	uint64_t table, at;
	uint8_t desc[64] = { 0 };
	int r;

	if (!ino || ino > fs->inodes || !fs->group_inodes)
		return -EBADMSG;
	at = (ino - 1) / fs->group_inodes * fs->desc_size;
	if (at / fs->block_size >= fs->desc_blocks)
		return -EBADMSG;
	r = read_all(fs, desc, PDET_MIN(fs->desc_size, sizeof(desc)),
		     (fs->first_block + 1) * fs->block_size + at);
	if (r < 0)
		return r;
	table = le32(desc + 8) | (uint64_t)le32(desc + 40) << 32;
	at = (ino - 1) % fs->group_inodes * fs->inode_size;
	if (!pdet_ext4_is_block(fs, table, at / fs->block_size + 1))
		return -EBADMSG;
	*ret = table * fs->block_size + at;
	return 0;
}

static bool is_regular(const struct pdet_ext4_inode *inode)
{
	return (inode->mode & 0xf000) == 0x8000;
}

void pdet_ext4_inode_head(const uint8_t *raw, struct pdet_ext4_inode *ret)
{
	ret->mode = le16(raw);
	ret->links = le16(raw + 26);
	ret->flags = le32(raw + 32);
	ret->generation = le32(raw + 100);
	ret->bytes = (uint64_t)le32(raw + 108) << 32 | le32(raw + 4);
}

int pdet_ext4_read_inode(const struct pdet_ext4 *fs, uint64_t place,
			 struct pdet_ext4_inode *ret)
{
	struct reading reading = { fs, ret, MAX_NODES };
	uint8_t inode[PDET_EXT4_INODE_BYTES];
	int r;

	r = read_all(fs, inode, sizeof(inode), place);
	if (r < 0)
		return r;
	pdet_ext4_inode_head(inode, ret);
	if (!ret->links || !is_regular(ret) || ret->flags & PDET_EXT4_INLINE)
		return 0;
	if (ret->bytes > INT64_MAX)
		return -EBADMSG;
	if (!(ret->flags & EXTENTS_FL))
		return lists(&reading, inode + 40);
	if (le16(inode + 46) > MAX_DEPTH)
		return -EBADMSG;
	return extents(&reading, inode + 40, 60, le16(inode + 46));
}

int pdet_ext4_find_journal(struct pdet_ext4 *fs)
{
	const struct pdet_ext4_inode *journal = &fs->journal;
	uint64_t place;
	size_t i;
	int r;

	r = pdet_ext4_inode_place(fs, fs->journal_inode, &place);
	if (r < 0)
		return r;
	pdet_ext4_free(fs);
	r = pdet_ext4_read_inode(fs, place, &fs->journal);
	if (r < 0)
		return r;
	if (!is_regular(journal) ||
	    journal->bytes / fs->block_size > fs->blocks)
		return -EBADMSG;
	for (i = 0; i < journal->runs.n; i++)
		if (journal->runs.data[i].unwritten)
			return -EBADMSG;
	return 0;
}

size_t pdet_ext4_run_behind(const struct pdet_ext4_inode *inode, uint64_t at)
{
	size_t low = 0, high = inode->runs.n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (inode->runs.data[middle].at + inode->runs.data[middle].n <=
		    at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t pdet_ext4_place(const struct pdet_ext4 *fs, uint64_t at,
			 uint64_t *follow)
{
	const size_t i = pdet_ext4_run_behind(&fs->journal, at);
	const struct pdet_ext4_run *run;

	if (i == fs->journal.runs.n)
		return 0;
	run = &fs->journal.runs.data[i];
	if (at < run->at)
		return 0;
	*follow = run->n - (at - run->at);
	return run->block + (at - run->at);
}

void pdet_ext4_inode_free(struct pdet_ext4_inode *inode)
{
	pdet_vec_free(&inode->runs);
}

void pdet_ext4_free(struct pdet_ext4 *fs)
{
	pdet_ext4_inode_free(&fs->journal);
}
