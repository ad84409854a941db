/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The file of saved rows. All numbers are little-endian.
 *
 *   8 bytes   PDET_SNAPSHOT_MAGIC
 *   u64       XXH3-64 of the rest of this section
 *   u16 u16   major and minor version
 *   u32       bytes of records that follow
 *   records   u16 key, u16 0, u32 length, bytes: PDET_SNAPSHOT_*
 *
 * and for each block of rows, one behind the other:
 *
 *   u64       XXH3-64 of the rest of this block
 *   u32       PDET_SNAPSHOT_BLOCK
 *   u32       number of the block, from 0 on
 *   u32       rows
 *   u32       how it is compressed: 0 not, else PDET_SNAPSHOT_ZLIB, _ZSTD
 *   u32 u32   bytes as they are here, and as they were
 *   bytes     a table of texts: u32 how many, u32 bytes, bytes: each text with
 *             a NUL behind it; then for each column: u16 field id, u16 0,
 *             u32 length, and bytes:
 *               u32 u32  runs of cells, runs of values
 *               numbers  how many rows each run of cells has; the cells
 *               numbers  how many rows each run of values has; by how much a
 *                        value is more than the one before; the first value
 *             Texts are numbers of the table, from 1 on. Numbers are written
 *             by schema/snapshot_numbers.c. A value whose cell is not HAVE
 *             means nothing.
 *
 * and at the end:
 *
 *   u64       XXH3-64 of the rest of the file
 *   u32       PDET_SNAPSHOT_END
 *   u32       bytes of records that follow
 *   records   the same; here are those that are only known when all is done
 *   u64       where this section begins
 *   8 bytes   PDET_SNAPSHOT_TAIL
 *
 * Sections follow each other without a gap, so that no byte is without a
 * checksum. A reader skips keys and fields that it does not know; another major
 * version is for what it could not skip. Up to and with the length of the first
 * records, the beginning is the same in all versions.
 */
#ifndef PDET_SCHEMA_SNAPSHOT_FORMAT_H
#define PDET_SCHEMA_SNAPSHOT_FORMAT_H

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

#define PDET_SNAPSHOT_HEAD_SIZE 24	/* before the first records */
#define PDET_SNAPSHOT_BLOCK_SIZE 32	/* before the bytes of a block */
#define PDET_SNAPSHOT_END_SIZE 16	/* before the last records */
#define PDET_SNAPSHOT_TAIL_SIZE 16	/* behind them */

/* No block is larger; ours are of 16384 rows. */
#define PDET_SNAPSHOT_MAX_ROWS 65536u
#define PDET_SNAPSHOT_MAX_BYTES ((uint32_t)64 << 20)

enum pdet_snapshot_codec {
	PDET_SNAPSHOT_PLAIN = 0,
	PDET_SNAPSHOT_ZLIB = 1,
	PDET_SNAPSHOT_ZSTD = 2
};

enum pdet_snapshot_key {
	/* of the beginning */
	PDET_SNAPSHOT_HOST = 1,	/* text: whose memory it is */
	PDET_SNAPSHOT_BOOT_ID = 2, /* text */
	PDET_SNAPSHOT_RELEASE = 3, /* text: of the kernel */
	PDET_SNAPSHOT_ARCH = 4,	/* text */
	PDET_SNAPSHOT_MACHINE = 5, /* u64 page size (0 unknown), max pfn,
				 * nodes; u32 big endian, live */
	PDET_SNAPSHOT_FIRST_NS = 6, /* u64 CLOCK_REALTIME when it began */
	PDET_SNAPSHOT_HASH_KEY = 7, /* u64 id of the key of field hash; 0: there
				 * is none */
	PDET_SNAPSHOT_QUERY = 8, /* u32 target, options; u64 items */
	PDET_SNAPSHOT_ITEMS = 9, /* each u64 first, count; u32 pid, flags; not
				 * more than PDET_SNAPSHOT_MAX_ITEMS of them */
	PDET_SNAPSHOT_PATH = 10, /* text */
	PDET_SNAPSHOT_WHERE = 11, /* text: the filter */
	PDET_SNAPSHOT_FIELD = 12, /* one each: u16 id, u8 type, u8 why nobody
				 * knows it, or PAGEDET_HAVE; u32 sources that
				 * were asked; text: advice */
	/* of the end */
	PDET_SNAPSHOT_COVERAGE = 32, /* u64s of struct pagedet_coverage from
				 * wanted to files_denied, answered, resume,
				 * lost; u32 complete, stopped */
	PDET_SNAPSHOT_LAST_NS = 33, /* u64 CLOCK_REALTIME when it ended */
	PDET_SNAPSHOT_ROWS = 34, /* u64 rows, u32 flags */
	PDET_SNAPSHOT_BLOCKS = 35 /* each u64 place, lowest and highest pfn;
				 * u32 bytes, rows */
};

/* of PDET_SNAPSHOT_ROWS */
#define PDET_SNAPSHOT_ALL_PFN 1u /* all rows have a pfn */
#define PDET_SNAPSHOT_SORTED 2u	/* and each has a higher one than the one
				 * before */

#define PDET_SNAPSHOT_MAX_ITEMS 4096
#define PDET_SNAPSHOT_BLOCK_ENTRY 32 /* bytes of one of PDET_SNAPSHOT_BLOCKS */

/* --- little-endian numbers at any place --- */

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
