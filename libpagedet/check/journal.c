/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the journal of an ext4. Its inode gives the blocks. A journal on its
 * own device follows the superblock there, and must have the UUID that the
 * filesystem names. The file's inode and extent nodes come from the disk or the
 * journal. The device's page cache is never used, because it includes the
 * running transaction.
 */
#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "check/journal.h"
#include "disk/ext4_fc.h"

static ssize_t read_fs(void *arg, void *buf, size_t n, uint64_t offset)
{
	return pdet_device_read_at(arg, buf, n, offset);
}

/* Reads a block of the log, anywhere on the disk. */
static ssize_t read_log(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct pdet_check_journal *j = arg;
	const uint32_t size = j->fs.block_size;
	uint64_t block, follow = 0;

	/*
	 * If the journal has its own device, blocks are counted from the start
	 * of that device, and the superblock is not the first block.
	 */
	if (j->other.fd >= 0)
		return pdet_device_read_at(&j->other, buf, n, offset +
					   (offset < size ? j->super_at : 0));
	block = pdet_ext4_place(&j->fs, offset / size, &follow);
	if (!block || n > size - offset % size)
		return block ? -EINVAL : 0;
	return pdet_device_read_at(j->device, buf, n,
				   block * size + offset % size);
}

/* Reads bytes that lie within one block, in the state after a replay. */
static ssize_t read_replayed(void *arg, void *buf, size_t n, uint64_t offset)
{
	struct pdet_check_journal *j = arg;
	const uint32_t size = j->fs.block_size;
	const size_t within = (size_t)(offset % size);
	char *block;
	int r;

	if (n > size - within)
		return -EBADMSG;
	block = aligned_alloc(4096, PDET_MAX(size, 4096u));
	if (!block)
		return -ENOMEM;
	r = pdet_journal_block(j, offset / size, block);
	if (r == 0)
		r = pdet_device_read(j->device, block, size, offset - within);
	if (r >= 0)
		memcpy(buf, block + within, n);
	free(block);
	return r < 0 ? r : (ssize_t)n;
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
		return refuse(j, -EBADMSG, "the journal is not on the device "
			      "that the superblock names");
	}
	j->super_at = (there.first_block + 1) * there.block_size;
	return 0;
}

int pdet_journal_open(struct pdet_check_journal *j,
		      const struct pdet_check_device *device,
		      const struct pdet_checked *c)
{
	int r;

	memset(j, 0, sizeof(*j));
	j->device = device;
	j->fd = c->fd;
	j->ino = c->block ? 0 : c->st.st_ino;
	j->other.fd = j->other.cached_fd = j->other.behind = -1;
	j->fs.read_at = read_fs;
	j->fs.arg = (void *)device;
	j->log.read_at = read_log;
	j->log.arg = j;
	r = pdet_ext4_open(&j->fs);
	if (r == -EBADMSG)
		return refuse(j, r, "the device does not have ext4: journals "
			      "of other filesystems are not read");
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

/* A reused inode number has another generation. */
static int read_inode(struct pdet_check_journal *j)
{
	struct pdet_ext4 replayed = j->fs;
	int r, generation = 0;
	uint64_t place;

	replayed.read_at = read_replayed;
	replayed.arg = j;
	pdet_ext4_inode_free(&j->inode);
	memset(&j->inode, 0, sizeof(j->inode));
	r = pdet_ext4_inode_place(&j->fs, j->ino, &place);
	if (r == 0)
		r = pdet_ext4_read_inode(&replayed, place, &j->inode);
	if (r == 0)
		r = pdet_ext4_fc_replay(&j->log, &j->fs, j->ino, &j->inode);
	if (r >= 0)
		j->fast_commits = r;
	if (r == -EBUSY)
		return refuse(j, r, "the inode is dirty in the cache of the "
			      "device: reading it from the disk would write it "
			      "out");
	if (r == -EAGAIN)
		return refuse(j, r, "the kernel does not say whether the cache "
			      "of the device has the inode dirty: reading the "
			      "disk might write it out");
	if (r < 0)
		return refuse(j, r, "the place of the file after a replay "
			      "cannot be found");
	if (ioctl(j->fd, FS_IOC_GETVERSION, &generation))
		return refuse(j, -errno, "the generation of the inode cannot "
			      "be read");
	if (j->inode.links && j->inode.flags & PDET_EXT4_INLINE)
		return refuse(j, -EBADMSG, "a replay would leave the data in "
			      "the inode, not in a block");
	if ((uint32_t)generation != j->inode.generation || !j->inode.links) {
		j->inode.links = 0;
		j->inode.bytes = 0;
		j->inode.runs.n = 0;
	}
	return 0;
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
	if (r < 0)
		return refuse(j, r, "the journal cannot be read");
	r = j->ino ? read_inode(j) : 0;
	j->took_ns = pdet_clock_ns(CLOCK_MONOTONIC) - j->read_ns;
	return r;
}

void pdet_journal_close(struct pdet_check_journal *j)
{
	pdet_jbd2_free(&j->log);
	pdet_ext4_inode_free(&j->inode);
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

	for (i = 0; i < j->fs.journal.runs.n; i++)
		if (block >= j->fs.journal.runs.data[i].block &&
		    block - j->fs.journal.runs.data[i].block <
		    j->fs.journal.runs.data[i].n)
			return true;
	return false;
}
