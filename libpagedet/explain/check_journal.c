/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The journal's blocks are found by its inode, or behind the superblock of a
 * device that is a journal only, which must have the UUID that the filesystem
 * names.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "explain/check_journal.h"

static ssize_t read_fs(void *arg, void *buf, size_t n, uint64_t offset)
{
	return pdet_device_read_at(arg, buf, n, offset);
}

/* A block of the log, which may be anywhere on the disk. */
static ssize_t read_log(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct pdet_check_journal *j = arg;
	const uint32_t size = j->fs.block_size;
	uint64_t block, follow = 0;

	/* There, blocks are counted from the beginning of the device; the
	 * superblock is not the first of them. */
	if (j->other.fd >= 0)
		return pdet_device_read_at(&j->other, buf, n, offset +
					   (offset < size ? j->super_at : 0));
	block = pdet_ext4_place(&j->fs, offset / size, &follow);
	if (!block || n > size - offset % size)
		return block ? -EINVAL : 0;
	return pdet_device_read_at(j->device, buf, n,
				   block * size + offset % size);
}

static int refuse(struct pdet_check_journal *j, int r, const char *why)
{
	snprintf(j->why, sizeof(j->why), "%s", why);
	return r;
}

static int open_other(struct pdet_check_journal *j)
{
	const uint32_t old = j->fs.journal_dev;
	struct pdet_ext4 there = { .read_at = read_fs, .arg = &j->other };
	int r;

	/* include/linux/kdev_t.h, new_decode_dev() */
	r = pdet_device_open(&j->other, makedev((old >> 8) & 0xfff,
						(old & 0xff) |
						((old >> 12) & 0xfff00)));
	if (r < 0)
		return refuse(j, r, "the journal is on another device, which "
			      "cannot be read");
	r = pdet_ext4_open(&there);
	if (r < 0 || !there.is_journal ||
	    memcmp(there.uuid, j->fs.journal_uuid, sizeof(there.uuid))) {
		pdet_device_close(&j->other);
		return refuse(j, -EBADMSG, "the journal is on another device, "
			      "and not on the one that the superblock names");
	}
	j->super_at = (there.first_block + 1) * there.block_size;
	return 0;
}

int pdet_journal_open(struct pdet_check_journal *j,
		      const struct pdet_check_device *device)
{
	int r;

	memset(j, 0, sizeof(*j));
	j->device = device;
	j->other.fd = j->other.cached_fd = j->other.behind = -1;
	j->fs.read_at = read_fs;
	j->fs.arg = (void *)device;
	j->log.read_at = read_log;
	j->log.arg = j;
	r = pdet_ext4_open(&j->fs);
	if (r == -EBADMSG)
		return refuse(j, r, "the device holds no ext4: journals of "
			      "other filesystems are not read");
	if (r < 0)
		return refuse(j, r, "the superblock cannot be read");
	if (!j->fs.has_journal)
		return refuse(j, -EBADMSG, "the filesystem has no journal");
	if (!j->fs.journal_inode) {
		r = open_other(j);
		return r < 0 ? r : pdet_journal_again(j);
	}
	r = pdet_ext4_find_journal(&j->fs);
	if (r < 0)
		return refuse(j, r, "the inode of the journal cannot be read");
	return pdet_journal_again(j);
}

int pdet_journal_again(struct pdet_check_journal *j)
{
	int r;

	j->read_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	r = pdet_jbd2_open(&j->log);
	if (r == 0 && j->log.block_size != j->fs.block_size)
		r = -EBADMSG;
	if (r == 0)
		r = pdet_jbd2_walk(&j->log);
	return r < 0 ? refuse(j, r, "the journal cannot be read") : 0;
}

void pdet_journal_close(struct pdet_check_journal *j)
{
	pdet_jbd2_free(&j->log);
	pdet_ext4_free(&j->fs);
	pdet_device_close(&j->other);
}

int pdet_journal_block(struct pdet_check_journal *j, uint64_t block, void *buf)
{
	const struct pdet_jbd2_copy *copy = pdet_jbd2_find(&j->log, block);
	int r;

	if (!copy)
		return 0;
	r = pdet_jbd2_read(&j->log, copy, buf);
	return r < 0 ? r : 1;
}

bool pdet_journal_is_own(const struct pdet_check_journal *j, uint64_t offset)
{
	const uint64_t block = offset / j->fs.block_size;
	size_t i;

	for (i = 0; i < j->fs.runs.n; i++)
		if (block >= j->fs.runs.data[i].block &&
		    block - j->fs.runs.data[i].block < j->fs.runs.data[i].n)
			return true;
	return false;
}
