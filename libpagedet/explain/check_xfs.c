/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * xfs writes its log and its metadata past the cache of the device, and no
 * data into the log. So a file is committed if its pages are on the disk where
 * the inode names them that a replay would leave: the one at its place on the
 * disk, with what the log has of it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "explain/check_mount.h"
#include "explain/check_xfs.h"

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

	/* One read is short of what a record may be. */
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

/* The mount names it; that it is the right one, its records say. */
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

static int read_inode(struct pdet_check_xfs *x)
{
	int r;

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
			      "the inode as a whole");
	if (x->inode.format != PDET_XFS_EXTENTS)
		return refuse(x, -EBADMSG, "the file has more extents than its "
			      "inode can hold: where they are after a replay "
			      "was not followed");
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
			      "what stands there was never written to: that it "
			      "is the right one cannot be seen");
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
