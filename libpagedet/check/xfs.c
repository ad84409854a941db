/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks whether a file of xfs is committed. xfs writes its log and metadata
 * past the device's cache, and never writes data to the log. A file is
 * therefore committed if the disk has its pages at the places that its inode
 * gives after a replay. That inode is the one on the disk, updated by the log.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "check/mount.h"
#include "check/xfs.h"

static ssize_t read_fs(void *arg, void *buf, size_t n, uint64_t offset)
{
	return pdet_device_read_at(arg, buf, n, offset);
}

static ssize_t read_log(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct pdet_check_xfs *x = arg;
	const bool other = x->other.fd >= 0;
	size_t done = 0;
	ssize_t got = 1;

	/* One read may return less than a record. */
	while (done < n && got > 0) {
		got = pdet_device_read_at(other ? &x->other : x->device,
					  (char *)buf + done, n - done,
					  x->fs.log_at + offset + done);
		if (got > 0)
			done += (size_t)got;
	}
	return got < 0 ? got : (ssize_t)done;
}

static int refuse(struct pdet_check_xfs *x, int r, const char *why)
{
	snprintf(x->why, sizeof(x->why), "%s", why);
	return r;
}

/*
 * The mount names the log device. The records on it prove that it is the right
 * one.
 */
static int open_other(struct pdet_check_xfs *x, const struct pdet_checked *c)
{
	static const char option[] = "logdev=";
	struct pdet_check_mount mount;
	struct pdet_scan s;
	struct stat st;
	int r = -ENOENT;

	if (c->block || pdet_check_mount(c->fd, &mount) < 0)
		return refuse(x, -EBADMSG, "the log is on another device, "
			      "which only a mount names");
	for (s = mount.m.super_options; s.at < s.end; s.at++) {
		if (!pdet_scan_word(&s, option))
			continue;
		mount.line[s.at - mount.line + (ptrdiff_t)
			   strcspn(s.at, ", \n")] = '\0';
		if (stat(s.at, &st) == 0 && S_ISBLK(st.st_mode))
			r = pdet_device_open(&x->other, st.st_rdev);
		break;
	}
	pdet_check_mount_free(&mount);
	return r < 0 ? refuse(x, r, "the log is on another device, which "
			      "cannot be read") : 0;
}

/* A reused inode number has another generation. */
static int read_inode(struct pdet_check_xfs *x)
{
	int r, generation = 0;

	pdet_xfs_inode_free(&x->inode);
	memset(&x->inode, 0, sizeof(x->inode));
	r = pdet_xfs_read_inode(&x->fs, x->ino, &x->inode);
	if (r == 0)
		r = pdet_xfs_log_find(&x->log, x->ino, &x->inode);
	if (r < 0)
		return refuse(x, r, "the log cannot be followed");
	if (x->inode.shares || x->log.exchanges)
		return refuse(x, -EBADMSG, "the file shares blocks, or the log "
			      "exchanges some: a replay may move them");
	if (!x->inode.known)
		return refuse(x, -EBADMSG, "neither the disk nor the log has "
			      "the complete inode");
	if (ioctl(x->file_fd, FS_IOC_GETVERSION, &generation))
		return refuse(x, -errno, "the generation of the inode cannot "
			      "be read");
	if ((uint32_t)generation != x->inode.generation) {
		x->inode.links = 0;
		x->inode.size = 0;
		x->inode.runs.n = 0;
		return 0;
	}
	if (x->inode.format != PDET_XFS_EXTENTS)
		return refuse(x, -EBADMSG, "the file has more extents than its "
			      "inode can hold: their places after a replay are "
			      "not known");
	return 0;
}

int pdet_xfs_journal_again(struct pdet_check_xfs *x)
{
	int r;

	x->read_ns = pdet_clock_ns(CLOCK_MONOTONIC);
	r = pdet_xfs_log_open(&x->log);
	if (r < 0)
		return refuse(x, r, "the log cannot be read");
	if (x->log.empty && x->other.fd >= 0)
		return refuse(x, -EBADMSG, "the log is on another device, and "
			      "was never written to: it may be the wrong "
			      "device");
	r = x->ino ? read_inode(x) : 0;
	x->took_ns = pdet_clock_ns(CLOCK_MONOTONIC) - x->read_ns;
	return r;
}

int pdet_xfs_journal_open(struct pdet_check_xfs *x,
			  const struct pdet_check_device *device,
			  const struct pdet_checked *c)
{
	int r;

	memset(x, 0, sizeof(*x));
	x->open = true;
	x->device = device;
	x->other.fd = x->other.cached_fd = x->other.behind = -1;
	x->fs.read_at = read_fs;
	x->fs.arg = (void *)device;
	x->log.read_at = read_log;
	x->log.arg = x;
	x->log.fs = &x->fs;
	x->file_fd = c->fd;
	x->ino = c->block ? 0 : c->st.st_ino;
	r = pdet_xfs_open(&x->fs);
	if (r < 0)
		return refuse(x, r, "the superblock of the xfs cannot be read, "
			      "or it is not of version 5");
	if (!x->fs.log_at)
		r = open_other(x, c);
	return r < 0 ? r : pdet_xfs_journal_again(x);
}

void pdet_xfs_journal_close(struct pdet_check_xfs *x)
{
	if (!x->open)
		return;
	pdet_xfs_inode_free(&x->inode);
	pdet_device_close(&x->other);
	x->open = false;
}

void pdet_xfs_journal_text(const struct pdet_check_xfs *x, char *buf,
			   size_t size)
{
	const struct pdet_xfs_log *log = &x->log;

	if (log->empty)
		snprintf(buf, size, "the log was never written to");
	else if (log->clean)
		snprintf(buf, size, "the log is clean: its last record, %u:%u, "
			 "is of an unmount", (unsigned)(log->last_lsn >> 32),
			 (unsigned)log->last_lsn);
	else
		snprintf(buf, size, "a replay of the log begins at %u:%u, the "
			 "last record is %u:%u",
			 (unsigned)(log->tail_lsn >> 32),
			 (unsigned)log->tail_lsn,
			 (unsigned)(log->last_lsn >> 32),
			 (unsigned)log->last_lsn);
}
