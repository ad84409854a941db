/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Builds a small xfs with blocks of 1024 bytes: a superblock, inode XFS_INO,
 * and a log of 64 sectors.
 */
#ifndef TESTS_XFSLOG_H
#define TESTS_XFSLOG_H

#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/crc32c.h"

#define XFS_BLOCK 1024u
#define XFS_BLOCKS 64u
#define XFS_LOG_BLOCK 32u	/* first block of the log */
#define XFS_SECTORS 64u
#define XFS_INO 17u		/* block 8, its second inode */
#define XFS_INO_AT (8u * XFS_BLOCK + 512)
#define XFS_UUID "uuid of this xfs"

enum { XOP_START = 1, XOP_COMMIT = 2, XOP_CONTINUE = 4, XOP_WAS_CONT = 8,
       XOP_UNMOUNT = 32 };
enum { XLOG_CORE = 1, XLOG_DEXT = 4 };

struct xfs {
	uint8_t disk[XFS_BLOCKS * XFS_BLOCK];
	/* The record being built. */
	uint8_t ops[8192];
	uint32_t n, n_ops;
	uint32_t at, cycle;	/* in the log */
	uint64_t tail;
};

static inline void xfs_be(uint8_t *p, size_t n, uint64_t v)
{
	while (n--) {
		p[n] = (uint8_t)v;
		v >>= 8;
	}
}

static inline void xfs_le(uint8_t *p, size_t n, uint64_t v)
{
	for (; n; n--, v >>= 8)
		*p++ = (uint8_t)v;
}

static inline uint8_t *xfs_log(struct xfs *x)
{
	return x->disk + (size_t)XFS_LOG_BLOCK * XFS_BLOCK;
}

static inline void xfs_super(struct xfs *x)
{
	uint8_t *s = x->disk;

	memset(x, 0, sizeof(*x));
	memcpy(s, "XFSB", 4);
	xfs_be(s + 4, 4, XFS_BLOCK);
	xfs_be(s + 8, 8, XFS_BLOCKS);
	memcpy(s + 32, XFS_UUID, 16);
	xfs_be(s + 48, 8, XFS_LOG_BLOCK);
	xfs_be(s + 84, 4, XFS_BLOCKS);
	xfs_be(s + 88, 4, 1);
	xfs_be(s + 96, 4, XFS_SECTORS / 2);
	xfs_be(s + 100, 2, 0xb4a5);
	xfs_be(s + 104, 2, 512);
	s[120] = 10;
	s[123] = 1;
	s[124] = 6;
	x->cycle = 1;
	x->tail = (uint64_t)1 << 32;
}

static inline void xfs_extent(uint8_t *p, uint64_t at, uint64_t block,
			      uint64_t n, int unwritten)
{
	xfs_be(p, 8, (uint64_t)!!unwritten << 63 | at << 9 | block >> 43);
	xfs_be(p + 8, 8, block << 21 | n);
}

static inline void xfs_core(uint8_t *p, int little, uint64_t size,
			    uint32_t extents)
{
	void (*put)(uint8_t *p, size_t n, uint64_t v) = little ? xfs_le :
								 xfs_be;

	memset(p, 0, 176);
	put(p, 2, 0x494e);
	put(p + 2, 2, 0100644);
	p[4] = 3;
	p[5] = 2;
	put(p + 56, 8, size);
	put(p + 76, 4, extents);
	put(p + 152, 8, XFS_INO);
}

static inline void xfs_inode_sum(struct xfs *x)
{
	uint8_t *p = x->disk + XFS_INO_AT;

	xfs_le(p + 100, 4, 0);
	xfs_le(p + 100, 4, ~pdet_crc32c(~0u, p, 512) & 0xffffffffu);
}

/* Sets the inode on the disk: one extent of @n blocks at block 40. */
static inline void xfs_home(struct xfs *x, uint64_t size, uint32_t n,
			    uint64_t lsn)
{
	uint8_t *p = x->disk + XFS_INO_AT;

	xfs_core(p, 0, size, n ? 1 : 0);
	xfs_be(p + 112, 8, lsn);
	if (n)
		xfs_extent(p + 176, 0, 40, n, 0);
	xfs_inode_sum(x);
}

static inline void xfs_op(struct xfs *x, uint32_t tid, unsigned flags,
			  const void *data, uint32_t n)
{
	uint8_t *p = x->ops + x->n;

	xfs_be(p, 4, tid);
	xfs_be(p + 4, 4, n);
	p[8] = 0x69;
	p[9] = (uint8_t)flags;
	p[10] = p[11] = 0;
	if (n)
		memcpy(p + 12, data, n);
	x->n += 12 + n;
	x->n_ops++;
}

static inline void xfs_begin(struct xfs *x, uint32_t tid)
{
	static const uint8_t head[16] = "NART";

	xfs_op(x, tid, XOP_START, NULL, 0);
	xfs_op(x, tid, 0, head, sizeof(head));
}

static inline void xfs_form(uint8_t *p, uint64_t ino, uint32_t fields,
			    uint32_t regions)
{
	memset(p, 0, 56);
	xfs_le(p, 2, 0x123b);
	xfs_le(p + 2, 2, regions);
	xfs_le(p + 4, 4, fields);
	xfs_le(p + 16, 8, ino);
}

/*
 * Logs inode @ino with @size bytes and an extent of @n blocks at block 44; 0:
 * the extents are not logged. The core may be in two pieces.
 */
static inline void xfs_log_inode(struct xfs *x, uint32_t tid, uint64_t ino,
				 uint64_t size, uint32_t n, int split)
{
	uint8_t form[56], core[176], extent[16];

	xfs_form(form, ino, n ? XLOG_CORE | XLOG_DEXT : XLOG_CORE, n ? 3 : 2);
	xfs_core(core, 1, size, 1);
	xfs_extent(extent, 0, 44, n, 0);
	xfs_op(x, tid, 0, form, sizeof(form));
	if (split) {
		xfs_op(x, tid, XOP_CONTINUE, core, 100);
		xfs_op(x, tid, XOP_WAS_CONT, core + 100, 76);
	} else {
		xfs_op(x, tid, 0, core, sizeof(core));
	}
	if (n)
		xfs_op(x, tid, 0, extent, sizeof(extent));
}

static inline uint8_t *xfs_sector(struct xfs *x, uint32_t n)
{
	return xfs_log(x) + (size_t)((x->at + n) % XFS_SECTORS) * 512;
}

/* Makes a record of the logged items. Its sectors may wrap around. */
static inline void xfs_record(struct xfs *x)
{
	const uint32_t sectors = (x->n + 511) / 512, cycle = x->cycle;
	uint8_t head[328] = { 0 };
	uint32_t i, crc;

	xfs_be(head, 4, 0xfeedbabe);
	xfs_be(head + 4, 4, cycle);
	xfs_be(head + 8, 4, 2);
	xfs_be(head + 12, 4, x->n);
	xfs_be(head + 16, 8, (uint64_t)cycle << 32 | x->at);
	xfs_be(head + 24, 8, x->tail);
	xfs_be(head + 40, 4, x->n_ops);
	xfs_be(head + 300, 4, 1);
	memcpy(head + 304, XFS_UUID, 16);
	xfs_be(head + 320, 4, 32768);
	for (i = 0; i < sectors; i++) {
		const uint32_t round = cycle + (x->at + 1 + i >= XFS_SECTORS);

		memcpy(head + 44 + (size_t)i * 4, x->ops + (size_t)i * 512, 4);
		xfs_be(x->ops + (size_t)i * 512, 4, round);
	}
	crc = pdet_crc32c(~0u, head, sizeof(head));
	crc = pdet_crc32c(crc, x->ops, x->n);
	xfs_le(head + 32, 4, ~crc & 0xffffffffu);
	memset(xfs_sector(x, 0), 0, 512);
	memcpy(xfs_sector(x, 0), head, sizeof(head));
	for (i = 0; i < sectors; i++)
		memcpy(xfs_sector(x, 1 + i), x->ops + (size_t)i * 512, 512);
	x->at += 1 + sectors;
	if (x->at >= XFS_SECTORS) {
		x->at -= XFS_SECTORS;
		x->cycle++;
	}
	memset(x->ops, 0, sizeof(x->ops));
	x->n = x->n_ops = 0;
}

/* Makes a record of ignored items with some sectors. */
static inline void xfs_fill(struct xfs *x, uint32_t sectors)
{
	static const uint8_t nothing[4096];

	xfs_begin(x, 1);
	xfs_op(x, 1, XOP_COMMIT, nothing, (sectors - 1) * 512 - 12 * 3 - 16);
	xfs_record(x);
}

static inline void xfs_unmount(struct xfs *x)
{
	static const uint8_t magic[8] = { 0x6e, 0x55 };

	xfs_op(x, 0xb0c0d0d0, XOP_UNMOUNT, magic, sizeof(magic));
	xfs_record(x);
}

static inline ssize_t xfs_read(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct xfs *x = arg;

	if (offset >= sizeof(x->disk))
		return 0;
	if (n > sizeof(x->disk) - offset)
		n = sizeof(x->disk) - (size_t)offset;
	memcpy(buf, x->disk + offset, n);
	return (ssize_t)n;
}

static inline ssize_t xfs_read_log(void *arg, void *buf, size_t n,
				   uint64_t offset)
{
	return xfs_read(arg, buf, n, offset +
			(uint64_t)XFS_LOG_BLOCK * XFS_BLOCK);
}

#endif
