/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads xfs superblocks and inodes. Numbers are big-endian, but the copies of
 * inodes in the log are little-endian. The offsets are those of struct xfs_dsb,
 * xfs_dinode and xfs_bmbt_rec. */
#include <errno.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/env.h"
#include "base/vec.h"
#include "disk/xfs.h"

#define SUPER_MAGIC 0x58465342u	/* "XFSB" */
#define INODE_MAGIC 0x494eu	/* "IN" */
#define SUPER_BYTES 264
#define MAX_INODE 2048
#define F2_REFLINK 2u
#define F2_NREXT64 16u
#define MAX_LOG ((uint64_t)1 << 31) /* XFS_MAX_LOG_BYTES */

static uint64_t be(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

static uint64_t number(const uint8_t *p, size_t n, bool little)
{
	uint64_t v = 0;

	if (!little)
		return be(p, n);
	while (n--)
		v = v << 8 | p[n];
	return v;
}

/*
 * The byte offset on the disk, or 0 if the filesystem does not have the block.
 */
static uint64_t place_of(const struct pdet_xfs *fs, uint64_t block)
{
	const uint64_t ag = block >> fs->ag_shift;
	const uint64_t in = block & (((uint64_t)1 << fs->ag_shift) - 1);

	if (ag >= fs->ag_count || in >= fs->ag_blocks ||
	    ag * fs->ag_blocks + in >= fs->blocks)
		return 0;
	return (ag * fs->ag_blocks + in) * fs->block_size;
}

static bool is_shift(uint8_t shift, uint32_t of)
{
	return shift < 32 && (uint32_t)1 << shift == of;
}

int pdet_xfs_open(struct pdet_xfs *fs)
{
	uint8_t s[SUPER_BYTES];
	const ssize_t got = fs->read_at(fs->arg, s, sizeof(s), 0);
	uint64_t log_block, log_blocks;

	if (got < 0)
		return (int)got;
	if ((size_t)got < sizeof(s) || be(s, 4) != SUPER_MAGIC ||
	    (be(s + 100, 2) & 15) != 5)
		return -EBADMSG;
	fs->block_size = (uint32_t)be(s + 4, 4);
	fs->blocks = be(s + 8, 8);
	memcpy(fs->uuid, s + 32, sizeof(fs->uuid));
	log_block = be(s + 48, 8);
	fs->ag_blocks = (uint32_t)be(s + 84, 4);
	fs->ag_count = (uint32_t)be(s + 88, 4);
	log_blocks = be(s + 96, 4);
	fs->inode_size = (uint32_t)be(s + 104, 2);
	fs->inode_shift = s[123];
	fs->ag_shift = s[124];
	if (fs->block_size < 1024 || fs->block_size > 65536 ||
	    !is_shift(s[120], fs->block_size) ||
	    fs->inode_size <= PDET_XFS_CORE_BYTES ||
	    fs->inode_size > MAX_INODE || fs->inode_shift > 8 ||
	    fs->inode_size << fs->inode_shift != fs->block_size ||
	    !fs->ag_count || !fs->ag_blocks || fs->ag_shift > 31 ||
	    fs->ag_blocks > (uint64_t)1 << fs->ag_shift ||
	    fs->blocks > (uint64_t)fs->ag_count * fs->ag_blocks ||
	    fs->blocks > (uint64_t)1 << 47)
		return -EBADMSG;
	fs->log_bytes = log_blocks * fs->block_size;
	fs->log_at = log_block ? place_of(fs, log_block) : 0;
	if (!log_blocks || fs->log_bytes > MAX_LOG ||
	    (log_block && !fs->log_at))
		return -EBADMSG;
	return 0;
}

bool pdet_xfs_take_core(struct pdet_xfs_inode *inode, const uint8_t *core,
			bool little)
{
	const uint64_t flags2 = number(core + 120, 8, little);

	if (number(core, 2, little) != INODE_MAGIC || core[4] != 3)
		return false;
	/* An inode without a mode is free. */
	if (!number(core + 2, 2, little)) {
		inode->format = PDET_XFS_EXTENTS;
		inode->size = inode->extents = inode->links = 0;
		return true;
	}
	inode->format = core[5];
	inode->links = (uint32_t)number(core + 16, 4, little);
	inode->size = number(core + 56, 8, little);
	inode->generation = (uint32_t)number(core + 92, 4, little);
	inode->extents = flags2 & F2_NREXT64 ? number(core + 24, 8, little) :
					       number(core + 76, 4, little);
	inode->shares = flags2 & F2_REFLINK;
	return inode->size <= INT64_MAX;
}

/*
 * 1 bit: unwritten; 54: block of the file; 52: block of the disk; 21: length.
 */
bool pdet_xfs_take_extents(const struct pdet_xfs *fs,
			   struct pdet_xfs_inode *inode, const uint8_t *data,
			   size_t n)
{
	size_t i;

	inode->runs.n = 0;
	for (i = 0; i < n; i++, data += 16) {
		const uint64_t high = be(data, 8), low = be(data + 8, 8);
		const uint64_t block = (high & 511) << 43 | low >> 21;
		const struct pdet_xfs_run r = {
			.at = (high & INT64_MAX) >> 9,
			.place = place_of(fs, block),
			.n = low & 0x1fffff,
			.unwritten = high >> 63,
		};

		if (!r.place || !r.n ||
		    (r.at + r.n) > UINT64_MAX / fs->block_size ||
		    r.place / fs->block_size + r.n > fs->blocks ||
		    !pdet_vec_push(&inode->runs, r))
			return false;
	}
	return true;
}

static bool sum_is_right(const uint8_t *inode, size_t n)
{
	static const uint8_t zero[4] = { 0, 0, 0, 0 };
	uint32_t crc = pdet_crc32c(~(uint32_t)0, inode, 100);

	crc = pdet_crc32c(crc, zero, 4);
	crc = pdet_crc32c(crc, inode + 104, n - 104);
	return ~crc == (uint32_t)number(inode + 100, 4, true);
}

int pdet_xfs_read_inode(const struct pdet_xfs *fs, uint64_t ino,
			struct pdet_xfs_inode *ret)
{
	const uint64_t block = place_of(fs, ino >> fs->inode_shift);
	const uint64_t in = ino & (((uint64_t)1 << fs->inode_shift) - 1);
	uint8_t buf[MAX_INODE];
	size_t room;
	ssize_t got;

	ret->known = false;
	if (!block)
		return -EBADMSG;
	got = fs->read_at(fs->arg, buf, fs->inode_size,
			  block + in * fs->inode_size);
	if (got < 0)
		return (int)got;
	/*
	 * Space for inodes may be allocated without being written: a replay
	 * initialises it.
	 */
	if ((size_t)got == fs->inode_size && be(buf, 2) != INODE_MAGIC) {
		ret->known = true;
		ret->format = PDET_XFS_EXTENTS;
		return 0;
	}
	if ((size_t)got < fs->inode_size ||
	    !pdet_xfs_take_core(ret, buf, false) ||
	    !sum_is_right(buf, fs->inode_size) || be(buf + 152, 8) != ino)
		return 0;
	ret->lsn = be(buf + 112, 8);
	/* di_forkoff: offset of the extended attributes */
	room = buf[82] ? (size_t)buf[82] << 3 : MAX_INODE;
	room = PDET_MIN(room, fs->inode_size - PDET_XFS_CORE_BYTES);
	ret->known = ret->format != PDET_XFS_EXTENTS ||
		     (ret->extents <= room / 16 &&
		      pdet_xfs_take_extents(fs, ret, buf + PDET_XFS_CORE_BYTES,
					    (size_t)ret->extents));
	if (!ret->known)
		ret->runs.n = 0;
	return 0;
}

void pdet_xfs_inode_free(struct pdet_xfs_inode *inode)
{
	pdet_vec_free(&inode->runs);
}
