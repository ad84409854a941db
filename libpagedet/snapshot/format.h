/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The snapshot file. All numbers are little-endian.
 *
 *   8 bytes   PDET_SNAPSHOT_MAGIC
 *   u64       XXH3-64 of the rest of this section
 *   u16 u16   major and minor version
 *   u32       bytes of records that follow
 *   records   u16 key, u16 0, u32 length, bytes: PDET_SNAPSHOT_*
 *
 * and for each block of rows, one after the other:
 *
 *   u64       XXH3-64 of the rest of this block
 *   u32       PDET_SNAPSHOT_BLOCK
 *   u32       number of the block, from 0
 *   u32       rows
 *   u32       compression: 0 none, or PDET_SNAPSHOT_ZLIB, _ZSTD
 *   u32 u32   compressed and original bytes
 *   bytes     a table of texts: u32 count, u32 bytes, bytes: each text with
 *             a NUL behind it; then for each column: u16 field id, u16 0,
 *             u32 length, and bytes:
 *               u32 u32  runs of cells, runs of values
 *               numbers  rows of each run of cells; the cells
 *               numbers  rows of each run of values; increment from each value
 *                        to the next; the first value
 *             Texts are indexes in the table, from 1. snapshot/numbers.c
 *             writes numbers. A value whose cell is not HAVE has no
 *             meaning.
 *
 * and at the end:
 *
 *   u64       XXH3-64 of the rest of the file
 *   u32       PDET_SNAPSHOT_END
 *   u32       bytes of records that follow
 *   records   as above; those that are known only at the end
 *   u64       where this section begins
 *   8 bytes   PDET_SNAPSHOT_TAIL
 *
 * Sections follow each other without a gap, so that a checksum covers every
 * byte. A reader skips unknown keys and fields. A new major version is for
 * changes that it could not skip. The beginning, up to the length of the first
 * records, is the same in all versions.
 */
#ifndef PDET_SNAPSHOT_FORMAT_H
#define PDET_SNAPSHOT_FORMAT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define PDET_SNAPSHOT_MAGIC "\x89pdet\r\n\x1a"
#define PDET_SNAPSHOT_TAIL "pdet-end"
#define PDET_SNAPSHOT_MAGIC_LEN 8

#define PDET_SNAPSHOT_MAJOR 1
#define PDET_SNAPSHOT_MINOR 0

#define PDET_SNAPSHOT_BLOCK 0x4b4c4250u /* "PBLK" */
#define PDET_SNAPSHOT_END 0x444e4550u /* "PEND" */

#define PDET_SNAPSHOT_HEAD_SIZE 24	/* size before the first records */
#define PDET_SNAPSHOT_BLOCK_SIZE 32	/* size before the bytes of a block */
#define PDET_SNAPSHOT_END_SIZE 16	/* size before the last records */
#define PDET_SNAPSHOT_TAIL_SIZE 16	/* size behind them */

/*
 * Largest block that a reader accepts. This library writes blocks of 16384
 * rows.
 */
#define PDET_SNAPSHOT_MAX_ROWS 65536u
#define PDET_SNAPSHOT_MAX_BYTES ((uint32_t)64 << 20)

enum pdet_snapshot_codec {
	PDET_SNAPSHOT_PLAIN = 0,
	PDET_SNAPSHOT_ZLIB = 1,
	PDET_SNAPSHOT_ZSTD = 2
};

enum pdet_snapshot_key {
	/* At the beginning. */
	PDET_SNAPSHOT_HOST = 1,	/* text: the host */
	PDET_SNAPSHOT_BOOT_ID = 2, /* text */
	PDET_SNAPSHOT_RELEASE = 3, /* text: of the kernel */
	PDET_SNAPSHOT_ARCH = 4,	/* text */
	PDET_SNAPSHOT_MACHINE = 5, /* u64 page size (0 unknown), max pfn,
				 * nodes; u32 big endian, live */
	PDET_SNAPSHOT_FIRST_NS = 6, /* u64 CLOCK_REALTIME at the begin */
	PDET_SNAPSHOT_HASH_KEY = 7, /* u64 id of the key of field hash; 0 if
				     * there are no hashes */
	PDET_SNAPSHOT_QUERY = 8, /* u32 target, options; u64 items */
	PDET_SNAPSHOT_ITEMS = 9, /* each u64 first, count; u32 pid, flags; at
				 * most PDET_SNAPSHOT_MAX_ITEMS */
	PDET_SNAPSHOT_PATH = 10, /* text */
	PDET_SNAPSHOT_WHERE = 11, /* text: the filter */
	PDET_SNAPSHOT_FIELD = 12, /* one for each field: u16 id, u8 type, u8
				   * PAGEDET_HAVE or the reason why no source
				   * answers; u32 sources that were asked; text:
				   * advice */
	PDET_SNAPSHOT_HASH_ZERO = 13, /* u64 hash of a page of zeroes under the
				   * key of field hash; not in files without
				   * hashes, nor in older ones */
	/* At the end. */
	PDET_SNAPSHOT_COVERAGE = 32, /* u64s of struct pagedet_coverage from
				 * wanted to files_denied, answered, resume,
				 * lost; u32 complete, stopped; u64
				 * tasks_damaged, which older files lack */
	PDET_SNAPSHOT_LAST_NS = 33, /* u64 CLOCK_REALTIME at the end */
	PDET_SNAPSHOT_ROWS = 34, /* u64 rows, u32 flags */
	PDET_SNAPSHOT_BLOCKS = 35 /* each u64 place, lowest and highest pfn;
				 * u32 bytes, rows */
};

/* Flags of PDET_SNAPSHOT_ROWS. */
#define PDET_SNAPSHOT_ALL_PFN 1u /* all rows have a pfn */
#define PDET_SNAPSHOT_SORTED 2u	/* and each is higher than the one before */

#define PDET_SNAPSHOT_MAX_ITEMS 4096
#define PDET_SNAPSHOT_BLOCK_ENTRY 32 /* bytes per entry of
				 * PDET_SNAPSHOT_BLOCKS */

/* --- unaligned little-endian numbers --- */

static inline char *pdet_put16(char *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline char *pdet_put32(char *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline char *pdet_put64(char *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline uint16_t pdet_get16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static inline uint32_t pdet_get32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t pdet_get64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

#endif
