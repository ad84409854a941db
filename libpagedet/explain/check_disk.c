/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Is what is cached what is on the disk, or would be after a crash and a replay
 * of the journal? What differs is looked at again, with the count of dirty
 * pages before and after, until both sides stand still: a page that is clean
 * and differs is a lost write, and nothing less than that may be called so.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "explain/check_disk.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#define JOURNAL_DATA_FL 0x4000
#define MAX_EXTENTS 1026
#define TRIES 4
/* A journal that was read longer ago is read again before it is blamed; one
 * that takes long to read lasts twice that. */
#define JOURNAL_NS 100000000u
/* Pieces without a cached page are passed over. */
#define STRIDE ((uint64_t)1 << 16)

static void cannot(struct pdet_checked *c, unsigned cause, const char *why)
{
	pdet_check_add(c, PAGEDET_CANNOT_TELL, cause, c->first,
		       c->end - c->first, "%s", why);
}

/* --- whether it can be known --- */

/* Filesystems whose FIEMAP names bytes of the one device that they are on. */
static bool is_known(struct pdet_checked *c)
{
	if (pdet_check_is_remote(c)) {
		cannot(c, PAGEDET_CAUSE_NETWORK, "the disk is not of this "
		       "machine, or of a server");
		return false;
	}
	switch (c->magic) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
		if (major(c->st.st_dev))
			return true;
		break;
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case HUGETLBFS_MAGIC:
		cannot(c, PAGEDET_CAUSE_FILESYSTEM,
		       "the filesystem has no disk");
		return false;
	default:
		break;
	}
	cannot(c, PAGEDET_CAUSE_FILESYSTEM, "where the data of this filesystem "
	       "lies on its disk is not known: only of ext4 and xfs");
	return false;
}

/* Attributes, for FIEMAP is silent about some of them. */
static bool is_plain(struct pdet_checked *c)
{
	struct fsxattr attr;
	struct statx st;

	if (statx(c->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st)) {
		cannot(c, PAGEDET_CAUSE_UNKNOWN, "the attributes of the file "
		       "cannot be read");
		return false;
	}
	if (st.stx_attributes & STATX_ATTR_ENCRYPTED) {
		cannot(c, PAGEDET_CAUSE_ENCODED, "the file is encrypted");
		return false;
	}
	if (st.stx_attributes & STATX_ATTR_COMPRESSED) {
		cannot(c, PAGEDET_CAUSE_ENCODED, "the file is compressed");
		return false;
	}
	if (c->magic == XFS_SUPER_MAGIC &&
	    (ioctl(c->fd, FS_IOC_FSGETXATTR, &attr) ||
	     attr.fsx_xflags & FS_XFLAG_REALTIME)) {
		cannot(c, PAGEDET_CAUSE_FILESYSTEM, "the file is on the "
		       "realtime device of xfs, or may be");
		return false;
	}
	return true;
}

/* Its data goes through the journal: by its own flag, or as all of the mount.
 * Where nobody tells, it may be so. */
static bool journals_data(const struct pdet_checked *c)
{
	char line[8192], dev[32], *at;
	bool yes = false;
	int flags = 0;
	FILE *f;

	if (c->magic != EXT4_SUPER_MAGIC)
		return false;
	if (ioctl(c->fd, FS_IOC_GETFLAGS, &flags) || flags & JOURNAL_DATA_FL)
		return true;
	f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return true;
	snprintf(dev, sizeof(dev), " %u:%u ", major(c->st.st_dev),
		 minor(c->st.st_dev));
	while (!yes && fgets(line, sizeof(line), f)) {
		at = strstr(line, " - ");
		yes = strstr(line, dev) && at && strstr(at, "data=journal");
	}
	fclose(f);
	return yes;
}

static bool has_entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	bool yes = false;

	while (dir && !yes && (e = readdir(dir)))
		yes = *e->d_name != '.';
	if (dir)
		closedir(dir);
	return yes;
}

/* Mounted, in whatever namespace, or a part of another device. */
static bool is_in_use(const struct pdet_disk *d)
{
	static const char *const where[] = {
		"/sys/fs/ext4/%s", "/sys/fs/xfs/%s", "/sys/fs/f2fs/%s",
	};
	const char *name = strrchr(d->device.name, '/');
	char path[128], dev[32], line[8192];
	bool yes = false;
	size_t i;
	FILE *f;

	for (i = 0; i < PDET_COUNT(where); i++) {
		snprintf(path, sizeof(path), where[i], name ? name + 1 : "");
		if (access(path, F_OK) == 0)
			return true;
	}
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/holders",
		 major(d->c->st.st_rdev), minor(d->c->st.st_rdev));
	if (has_entries(path))
		return true;
	f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return true;
	snprintf(dev, sizeof(dev), " %u:%u ", major(d->c->st.st_rdev),
		 minor(d->c->st.st_rdev));
	while (!yes && fgets(line, sizeof(line), f))
		yes = strstr(line, dev);
	fclose(f);
	return yes;
}

/* 1: it cannot be known, which was added. */
static int open_device(struct pdet_disk *d)
{
	struct pdet_checked *c = d->c;
	int r;

	r = pdet_device_open(&d->device, c->block ? c->st.st_rdev :
						    c->st.st_dev);
	if (r == 0)
		return 0;
	if (r == -ENOMEM)
		return pdet_fail(c->env, ENOMEM, "no memory");
	pdet_check_add(c, PAGEDET_CANNOT_TELL, r == -EACCES || r == -EPERM ?
		       PAGEDET_CAUSE_ACCESS : PAGEDET_CAUSE_IO, c->first,
		       c->end - c->first, "cannot read the disk%s%s: %s",
		       *d->device.name ? " " : "", d->device.name,
		       strerror(-r));
	return 1;
}

/* 1: it cannot be known, which was added. */
static int refused(struct pdet_disk *d, int r, const char *why)
{
	if (r == -ENOMEM)
		return pdet_fail(d->c->env, ENOMEM, "no memory");
	cannot(d->c, r == -EBADMSG ? PAGEDET_CAUSE_FILESYSTEM :
	       r == -EBUSY ? PAGEDET_CAUSE_JOURNAL : PAGEDET_CAUSE_IO, why);
	return 1;
}

/* Of the device itself only an xfs that is not mounted, and whose log is clean,
 * has anything to say here: what is on the disk stays so. */
static int open_xfs(struct pdet_disk *d)
{
	char where[128];
	int r;

	r = pdet_xfs_journal_open(&d->xfs, &d->device, d->c);
	if (r < 0)
		return refused(d, r, d->xfs.why);
	if (!d->c->block) {
		d->held_back = true;
		return 0;
	}
	if ((d->xfs.log.clean || d->xfs.log.empty) && !d->held_back)
		return 0;
	pdet_xfs_journal_text(&d->xfs, where, sizeof(where));
	pdet_check_add(d->c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_FILESYSTEM,
		       d->c->first, d->c->end - d->c->first, "not applicable: "
		       "xfs keeps its log and metadata out of this cache; %s",
		       where);
	return 1;
}

static bool holds_xfs(const struct pdet_disk *d)
{
	char magic[4];

	if (!d->c->block)
		return d->c->magic == XFS_SUPER_MAGIC;
	return pdet_device_read_at(&d->device, magic, sizeof(magic), 0) ==
	       sizeof(magic) && !memcmp(magic, "XFSB", sizeof(magic));
}

static int open_journal(struct pdet_disk *d)
{
	int r = 0;

	if (!d->committed)
		return 0;
	if (holds_xfs(d))
		return open_xfs(d);
	r = pdet_journal_open(&d->journal, &d->device, d->c);
	/* A commit may have come meanwhile, and made it dirty. */
	if (r == -EBUSY)
		r = pdet_journal_again(&d->journal);
	if (r < 0)
		return refused(d, r, d->journal.why);
	if (!d->c->block)
		d->held_back = true;
	d->block = malloc(d->journal.fs.block_size);
	return d->block ? 0 : pdet_fail(d->c->env, ENOMEM, "no memory");
}

static int make_room(struct pdet_disk *d)
{
	const size_t len = (size_t)PDET_WINDOW_PAGES << d->c->shift;

	d->buf = aligned_alloc(4096, len);
	d->map = malloc(sizeof(*d->map) +
			MAX_EXTENTS * sizeof(*d->map->fm_extents));
	if (!d->buf || !d->map)
		return pdet_fail(d->c->env, ENOMEM, "no memory");
	return pdet_window_open(d->c, &d->window);
}

/* --- comparing --- */

static bool differs(const struct pdet_disk *d, uint64_t page, size_t i)
{
	const uint64_t size = 1ull << d->c->shift;
	const uint64_t bytes = PDET_MIN(size, d->c->bytes -
					(page << d->c->shift));

	return memcmp(d->window.copy + (i << d->c->shift),
		      d->buf + (i << d->c->shift), (size_t)bytes);
}

static int load(struct pdet_disk *d, uint64_t first, size_t n, size_t at)
{
	int r = pdet_window_load(d->c, &d->window, first, n, at);

	if (r == 0)
		r = pdet_disk_load(d, first, n, at);
	if (r == 0 && d->committed && !d->xfs.open)
		pdet_disk_commit(d, first, n, at);
	return r;
}

static void unknown(struct pdet_disk *d, unsigned cause, uint64_t page,
		    const char *why)
{
	pdet_check_add(d->c, PAGEDET_CANNOT_TELL, cause, page, 1, "%s", why);
}

static void violated(struct pdet_disk *d, unsigned cause, uint64_t page,
		     const char *why)
{
	pdet_check_add(d->c, PAGEDET_VIOLATED, cause, page, 1, "%s", why);
}

/* A clean page that is not what the disk has. */
static void lost(struct pdet_disk *d, uint64_t page)
{
	const struct pdet_disk_page *p = &d->page[0];

	if (d->committed && d->journal.log.fast_commits)
		unknown(d, PAGEDET_CAUSE_JOURNAL, page, "differs from the disk "
			"and the journal; a fast commit may have it");
	else if (d->committed && d->held_back)
		violated(d, PAGEDET_CAUSE_NOT_COMMITTED, page, "neither the "
			 "disk nor a commit has it: the running transaction "
			 "may");
	else if (d->held_back)
		violated(d, PAGEDET_CAUSE_DIFFERENT, page, "clean, but "
			 "different from the disk: the filesystem that uses "
			 "it may hold it back, or write past this cache");
	else if (d->journals_data && !d->committed)
		unknown(d, PAGEDET_CAUSE_JOURNAL, page, "differs from its "
			"block; the journal has the data of this file until "
			"it is written there: ask what is committed");
	else if (p->hole)
		violated(d, PAGEDET_CAUSE_LOST_WRITE, page, "lost write: "
			 "clean, and no block of the disk has it");
	else if (p->unwritten)
		violated(d, PAGEDET_CAUSE_LOST_WRITE, page, "lost write: "
			 "clean, and its block on the disk was never written");
	else if (d->committed)
		violated(d, PAGEDET_CAUSE_LOST_WRITE, page, "lost write: "
			 "clean, and neither the disk nor a commit has it");
	else
		violated(d, PAGEDET_CAUSE_LOST_WRITE, page, "lost write: "
			 "clean, but different from the disk");
}

static void not_written(struct pdet_disk *d, uint64_t page)
{
	if (d->committed && d->journal.log.fast_commits)
		unknown(d, PAGEDET_CAUSE_JOURNAL, page, "dirty, and in no "
			"commit of the journal; a fast commit may have it");
	else
		violated(d, d->committed ? PAGEDET_CAUSE_NOT_COMMITTED :
			 PAGEDET_CAUSE_NOT_WRITTEN, page, d->committed ?
			 "dirty, and in no commit of the journal" :
			 "dirty, and not on the disk yet");
}

/* What was read a while ago is read again. False: it cannot be, and was added
 * for @pages from @first on. */
static bool is_fresh(struct pdet_disk *d, uint64_t first, uint64_t pages)
{
	const bool xfs = d->xfs.open;
	const uint64_t then = xfs ? d->xfs.read_ns : d->journal.read_ns;
	const uint64_t took = xfs ? d->xfs.took_ns : d->journal.took_ns;

	if (!d->committed || pdet_clock_ns(CLOCK_MONOTONIC) - then <=
			     PDET_MAX(JOURNAL_NS, 2 * took) ||
	    (xfs ? pdet_xfs_journal_again(&d->xfs) :
		   pdet_journal_again(&d->journal)) == 0)
		return true;
	pdet_check_add(d->c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_JOURNAL, first,
		       pages, "%s", xfs ? d->xfs.why : d->journal.why);
	return false;
}

/* One page, alone in the first places of the buffers. False: the deadline has
 * come. */
static bool look_again(struct pdet_disk *d, uint64_t page)
{
	struct pdet_cachestat before, after;
	int i, r;

	for (i = 0; i < TRIES; i++) {
		/* Each time a journal may be read. */
		if (pdet_check_late(d->c, page))
			return false;
		if (!is_fresh(d, page, 1))
			return true;
		r = pdet_check_stat(d->c, page, 1, &before);
		if (load(d, page, 1, 0) < 0 || !d->window.there[0])
			return true;	/* it is not cached any more */
		if (d->page[0].state == PDET_DISK_DATA &&
		    !differs(d, page, 0))
			return true;
		if (d->page[0].state == PDET_DISK_DIRTY) {
			unknown(d, PAGEDET_CAUSE_UNREADABLE, page, "dirty: "
				"what the disk has cannot be read without "
				"writing it out");
			return true;
		}
		if (d->page[0].state == PDET_DISK_UNKNOWN) {
			unknown(d, d->page[0].cause, page, d->page[0].why);
			return true;
		}
		if (r < 0 || pdet_check_stat(d->c, page, 1, &after) < 0) {
			violated(d, PAGEDET_CAUSE_DIFFERENT, page, "different "
				 "from the disk; the kernel does not tell "
				 "whether it is dirty");
			return true;
		}
		if (!after.cached)
			return true;
		if (before.dirty != after.dirty ||
		    before.writeback || after.writeback)
			continue;
		if (after.dirty && d->page[0].unwritten) {
			unknown(d, PAGEDET_CAUSE_UNWRITTEN, page, "dirty, and "
				"its block on the disk was never written");
			return true;
		}
		if (after.dirty) {
			not_written(d, page);
			return true;
		}
		/* Once more, lest it was written between the two looks. */
		if (!i)
			continue;
		lost(d, page);
		return true;
	}
	unknown(d, PAGEDET_CAUSE_RACED, page,
		"it changes while it is looked at");
	return true;
}

/* What the first look says; true: look again. */
static bool is_doubtful(struct pdet_disk *d, uint64_t page, size_t i)
{
	if (!d->window.there[i] ||
	    (d->committed && d->c->block && !d->xfs.open &&
	     pdet_journal_is_own(&d->journal, page << d->c->shift)))
		return false;
	d->c->whole.looked_at++;
	return d->page[i].state != PDET_DISK_DATA || differs(d, page, i);
}

/* Cached, but not up to date: of a device those are pages that a filesystem
 * keeps only in part. To read them would change them. */
static void check_unread(struct pdet_disk *d, uint64_t first, size_t n)
{
	struct pdet_cachestat cs;
	size_t i;

	for (i = 0; i < n; i++)
		if (!d->window.there[i] &&
		    pdet_check_stat(d->c, first + i, 1, &cs) == 0 &&
		    cs.cached && !cs.evicted)
			unknown(d, PAGEDET_CAUSE_UNREADABLE, first + i,
				"cached in part only: reading it would change "
				"it");
}

/* False: the deadline has come. */
static bool check_piece(struct pdet_disk *d, uint64_t first, size_t n)
{
	bool again[PDET_WINDOW_PAGES];
	struct pdet_cachestat cs;
	bool counted;
	size_t i;
	int r;

	counted = pdet_check_stat(d->c, first, n, &cs) == 0;
	if (counted && !cs.cached)
		return true;
	r = load(d, first, n, 0);
	if (r < 0) {
		pdet_check_add(d->c, PAGEDET_CANNOT_TELL,
			       r == -EOPNOTSUPP || r == -ENOTTY ?
			       PAGEDET_CAUSE_FILESYSTEM : PAGEDET_CAUSE_IO,
			       first, n, "cannot see where it is on the disk: "
			       "%s", strerror(-r));
		return true;
	}
	if (counted && cs.cached > pdet_window_count(&d->window, n, 0))
		check_unread(d, first, n);
	for (i = 0; i < n; i++)
		again[i] = is_doubtful(d, first + i, i);
	for (i = 0; i < n; i++)
		if (again[i] && !look_again(d, first + i))
			return false;
	return true;
}

/* Pages that a replay would cut, or leave out; returns where they begin. */
static uint64_t check_length(struct pdet_disk *d)
{
	const struct pdet_checked *c = d->c;
	const bool fast = d->journal.log.fast_commits;
	const uint64_t size = pdet_disk_replayed_bytes(d);
	uint64_t end;

	if (!d->committed || c->block || size >= c->bytes)
		return c->end;
	end = PDET_MAX(size >> c->shift, c->first);
	if (end >= c->end)
		return c->end;
	pdet_check_add(d->c, fast ? PAGEDET_CANNOT_TELL : PAGEDET_VIOLATED,
		       fast ? PAGEDET_CAUSE_JOURNAL :
			      PAGEDET_CAUSE_NOT_COMMITTED,
		       end, c->end - end, "a replay of the log would leave a "
		       "file of %llu bytes: %s may have more",
		       (unsigned long long)size, fast ? "a fast commit" :
		       "the running transaction");
	return end;
}

static void check_all(struct pdet_disk *d)
{
	struct pdet_checked *c = d->c;
	const uint64_t last = check_length(d);
	struct pdet_cachestat cs;
	uint64_t at = c->first, end;
	size_t n;

	while (at < last) {
		end = PDET_MIN(last, at + STRIDE);
		if (pdet_check_stat(c, at, end - at, &cs) == 0 && !cs.cached) {
			at = end;
			continue;
		}
		for (; at < end; at += n) {
			n = (size_t)PDET_MIN(end - at, PDET_WINDOW_PAGES);
			if (pdet_check_late(c, at) || !check_piece(d, at, n))
				return;
		}
	}
}

static void say_journal(struct pdet_disk *d)
{
	const struct pdet_jbd2 *log = &d->journal.log;
	char where[128];

	if (d->xfs.open) {
		pdet_xfs_journal_text(&d->xfs, where, sizeof(where));
		pdet_check_say(d->c, "%s; %u checkpoints in %u records", where,
			       d->xfs.log.checkpoints, d->xfs.log.records);
		return;
	}
	pdet_check_say(d->c, "%u transactions in the journal, %zu blocks",
		       log->transactions, log->copies.n);
}

int pdet_check_disk(struct pdet_checked *c)
{
	struct pdet_disk *d;
	int r;

	if (c->first == c->end || (!c->block && (!is_known(c) || !is_plain(c))))
		return 0;
	if (c->kind == PAGEDET_CHECK_COMMITTED && !c->block &&
	    !c->st.st_nlink) {
		pdet_check_add(c, PAGEDET_VIOLATED, PAGEDET_CAUSE_NOT_COMMITTED,
			       c->first, c->end - c->first,
			       "the file has no name: a replay removes it");
		return 0;
	}
	d = calloc(1, sizeof(*d));
	if (!d)
		return pdet_fail(c->env, ENOMEM, "no memory");
	d->c = c;
	d->window.memfd = -1;
	d->device.fd = d->device.cached_fd = d->device.behind = -1;
	d->journal.other.fd = d->journal.other.cached_fd = -1;
	d->journal.other.behind = -1;
	d->committed = c->kind == PAGEDET_CHECK_COMMITTED;
	d->journals_data = !c->block && journals_data(c);
	r = open_device(d);
	d->held_back = r == 0 && c->block && is_in_use(d);
	if (r == 0)
		r = open_journal(d);
	if (r == 0)
		r = make_room(d);
	if (r == 0) {
		check_all(d);
		if (d->committed)
			say_journal(d);
	}
	pdet_window_close(c, &d->window);
	pdet_journal_close(&d->journal);
	pdet_xfs_journal_close(&d->xfs);
	pdet_device_close(&d->device);
	free(d->block);
	free(d->buf);
	free(d->map);
	free(d);
	return PDET_MIN(r, 0);
}
