/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes an xfs and its log: the result of a replay for one inode. The first
 * byte is the inode; its highest bit corrects checksums, as an attacker can.
 */
#include <errno.h>

#include "base/crc32c.h"
#include "disk/xfs_log.h"
#include "fuzz.h"

struct in_log {
	struct fuzz_file *file;
	uint64_t at;
};

static ssize_t read_log(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct in_log *l = arg;

	return fuzz_read_at(l->file, buf, n, l->at + offset);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/*
 * Corrects the checksum of everything that looks like a record with one header.
 */
static void sum_again(uint8_t *data, size_t size)
{
	uint32_t crc, len;
	size_t at;
	int i;

	for (at = 0; at + 512 <= size; at += 512) {
		len = be32(data + at + 12);
		if (be32(data + at) != 0xfeedbabe || len > size - at - 512)
			continue;
		memset(data + at + 32, 0, 4);
		crc = pdet_crc32c(~(uint32_t)0, data + at, 328);
		crc = ~pdet_crc32c(crc, data + at + 512, len);
		for (i = 0; i < 4; i++)
			data[at + 32 + (size_t)i] = (uint8_t)(crc >> (8 * i));
	}
}

static void check_inode(const struct pdet_xfs *fs,
			const struct pdet_xfs_inode *inode)
{
	size_t i;

	for (i = 0; i < inode->runs.n; i++) {
		const struct pdet_xfs_run *r = &inode->runs.data[i];

		MUST(r->place && r->n);
		MUST(r->place / fs->block_size + r->n <= fs->blocks);
	}
	if (inode->known && inode->format == PDET_XFS_EXTENTS)
		MUST(inode->runs.n == inode->extents);
}

static void replay(uint64_t ino, const uint8_t *data, size_t size)
{
	struct fuzz_file in = { data, size };
	struct pdet_xfs fs = { .read_at = fuzz_read_at, .arg = &in };
	struct pdet_xfs_inode inode = { .known = false };
	struct in_log at = { &in, 0 };
	struct pdet_xfs_log log = { .read_at = read_log, .arg = &at,
				    .fs = &fs };
	int r;

	if (pdet_xfs_open(&fs) < 0)
		return;
	at.at = fs.log_at;
	r = pdet_xfs_read_inode(&fs, ino, &inode);
	check_inode(&fs, &inode);
	if (r == 0 && pdet_xfs_log_open(&log) == 0) {
		MUST(log.empty || log.head < log.sectors);
		MUST(log.empty || (uint32_t)log.tail_lsn < log.sectors);
		r = pdet_xfs_log_find(&log, ino, &inode);
		MUST(r == 0 || r == -EBADMSG || r == -ENOMEM);
		if (r == 0)
			check_inode(&fs, &inode);
	}
	pdet_xfs_inode_free(&inode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t first = fuzz_number(&data, &size, 1);
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (first & 128)
		sum_again(copy, size);
	replay(first & 127, copy, size);
	free(copy);
	return 0;
}
