/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares cached pages with the disk, or with what a crash and a replay of the
 * journal would leave. A page that differs is compared again, with the count of
 * dirty pages before and after, until both sides are stable. Only a stable page
 * that is clean and differs may be called a lost write. btrfs may have several
 * copies of a page. A page is lost only if it differs from all of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/plural.h"
#include "check/disk.h"
#include "kernel/text/mountinfo.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#define JOURNAL_DATA_FL 0x4000
#define MAX_EXTENTS 1026
#define TRIES 4
/* For all pages of a file. */
#define MAX_WAITS 50
#define WAIT_NS 20000000
/*
 * If a copy of the journal is older than this, it is read again before a
 * verdict rests on it. If reading takes long, the copy is good for twice that
 * time.
 */
#define JOURNAL_NS 100000000u
/* Pieces of this size without a cached page are skipped. */
#define STRIDE ((uint64_t)1 << 16)

static void cannot(struct pdet_checked *c, unsigned cause, const char *why)
{
	pdet_check_add(c, PAGEDET_CANNOT_TELL, cause, c->first,
		       c->end - c->first, "%s", why);
}

/* --- whether the disk can be known --- */

/* Filesystems with only one device, for which FIEMAP gives offsets on it. */
static bool is_known(struct pdet_checked *c)
{
	if (pdet_check_is_remote(c)) {
		cannot(c, PAGEDET_CAUSE_NETWORK, "the disk is that of another "
		       "machine or of a server");
		return false;
	}
	switch (c->magic) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
		if (major(c->st.st_dev))
			return true;
		break;
	case BTRFS_SUPER_MAGIC:
		if (c->kind == PAGEDET_CHECK_DISK)
			return true;
		cannot(c, PAGEDET_CAUSE_FILESYSTEM, "btrfs is not supported: "
		       "only ext4 and xfs");
		return false;
	default:
		break;
	}
	cannot(c, PAGEDET_CAUSE_FILESYSTEM, c->kind == PAGEDET_CHECK_DISK ?
	       "this filesystem is not supported: only ext4, xfs and btrfs" :
	       "this filesystem is not supported: only ext4 and xfs");
	return false;
}

/* Reads the attributes, because FIEMAP does not report all of them. */
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
	/* btrfs reports this for each extent. */
	if (st.stx_attributes & STATX_ATTR_COMPRESSED &&
	    c->magic != BTRFS_SUPER_MAGIC) {
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

/* A descriptor that only names the file (O_PATH) is not enough. */
static bool is_marked(const struct pdet_checked *c)
{
	int flags = 0, fd, r;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	r = fd < 0 ? -1 : ioctl(fd, FS_IOC_GETFLAGS, &flags);
	if (fd >= 0)
		close(fd);
	return r || flags & JOURNAL_DATA_FL;
}

/*
 * Whether the data goes through the journal: the file or the mount has a flag
 * for it. If one is not known, it may: no mount of a filesystem is visible that
 * was unmounted lazily, or that is mounted in other namespaces only.
 */
bool pdet_check_journals_data(const struct pdet_checked *c)
{
	char line[8192], dev[32], *at;
	bool yes = false, known = false;
	FILE *f;

	if (c->magic != EXT4_SUPER_MAGIC)
		return false;
	if (is_marked(c))
		return true;
	f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return true;
	snprintf(dev, sizeof(dev), " %u:%u ", major(c->st.st_dev),
		 minor(c->st.st_dev));
	while (!yes && fgets(line, sizeof(line), f)) {
		at = strstr(line, dev) ? strstr(line, " - ") : NULL;
		known = known || at;
		yes = at && strstr(at, "data=journal");
	}
	fclose(f);
	return yes || !known;
}

/*
 * Whether the device is mounted, in any namespace, or others write to its disk:
 * its partitions and devices above it have caches of their own.
 */
static bool is_in_use(const struct pdet_disk *d)
{
	static const char *const where[] = {
		"/sys/fs/ext4/%s", "/sys/fs/xfs/%s", "/sys/fs/f2fs/%s",
		"/sys/fs/btrfs/*/devices/%s",
	};
	const char *name = strrchr(d->device.name, '/');
	char path[128], dev[32], line[8192];
	bool yes = false;
	glob_t found;
	size_t i;
	FILE *f;

	for (i = 0; i < PDET_COUNT(where); i++) {
		snprintf(path, sizeof(path), where[i], name ? name + 1 : "");
		if (glob(path, GLOB_NOSORT, NULL, &found) == 0) {
			globfree(&found);
			return true;
		}
	}
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u",
		 major(d->c->st.st_rdev), minor(d->c->st.st_rdev));
	if (pdet_device_is_divided(path))
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

/* Whether the kernel swaps to it. Swapping goes past the page cache. */
static bool is_swapped_to(const struct pdet_checked *c)
{
	FILE *f = fopen("/proc/swaps", "re");
	char path[PATH_MAX], *text = NULL;
	struct pdet_scan line;
	bool yes = false;
	size_t cap = 0, len;
	struct stat st;
	ssize_t n;

	while (f && !yes && (n = getline(&text, &cap, f)) > 0) {
		line = (struct pdet_scan){ text, text + n };
		/* The first line is a heading. */
		if (*text != '/' ||
		    !pdet_mountinfo_text(pdet_scan_token(&line), path,
					 sizeof(path), &len) ||
		    stat(path, &st))
			continue;
		yes = c->block ? S_ISBLK(st.st_mode) &&
				 st.st_rdev == c->st.st_rdev :
				 st.st_dev == c->st.st_dev &&
				 st.st_ino == c->st.st_ino;
	}
	free(text);
	if (f)
		fclose(f);
	return yes;
}

/* Returns 1 if the disk's contents cannot be known, and adds the reason. */
static int open_device(struct pdet_disk *d)
{
	struct pdet_checked *c = d->c;
	dev_t dev = c->block ? c->st.st_rdev : c->st.st_dev;
	int r;

	d->is_btrfs = !c->block && c->magic == BTRFS_SUPER_MAGIC;
	d->waits = d->is_btrfs ? MAX_WAITS : 0;
	if (d->is_btrfs) {
		r = pdet_btrfs_open(&d->btrfs, c->fd);
		if (r > 0)
			cannot(c, d->btrfs.cause, d->btrfs.why);
		if (r)
			return r < 0 ? pdet_fail(c->env, ENOMEM, "no memory") :
				       1;
		dev = d->btrfs.dev;
	}
	r = pdet_device_open(&d->device, dev);
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

/* Returns 1 if the replayed contents cannot be known, and adds the reason. */
static int refused(struct pdet_disk *d, int r, const char *why)
{
	if (r == -ENOMEM)
		return pdet_fail(d->c->env, ENOMEM, "no memory");
	cannot(d->c, r == -EBADMSG ? PAGEDET_CAUSE_FILESYSTEM :
	       r == -EBUSY ? PAGEDET_CAUSE_JOURNAL :
	       r == -EAGAIN ? PAGEDET_CAUSE_KERNEL : PAGEDET_CAUSE_IO, why);
	return 1;
}

/*
 * For a device, a log can be replayed only if xfs is not mounted and the log is
 * clean. The disk then stays as it is.
 */
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
	/* A commit may have made it dirty since. */
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

/* --- comparison --- */

/* Compares the parts that are up to date. */
static bool differs_from(const struct pdet_disk *d, uint64_t page, size_t i,
			 const char *other)
{
	const size_t size = (size_t)1 << d->c->shift;
	const size_t part = pdet_window_part(d->c);
	const char *cached = d->window.copy + (i << d->c->shift);
	const size_t bytes = (size_t)PDET_MIN(size, d->c->bytes -
					      (page << d->c->shift));
	size_t at;

	if (d->window.there[i] == UINT64_MAX)
		return memcmp(cached, other, bytes);
	for (at = 0; at < bytes; at += part)
		if (d->window.there[i] >> at / part & 1 &&
		    memcmp(cached + at, other + at, PDET_MIN(part, bytes - at)))
			return true;
	return false;
}

static bool differs(const struct pdet_disk *d, uint64_t page, size_t i)
{
	return differs_from(d, page, i, d->buf + (i << d->c->shift));
}

/* Whether the cached bytes are still those that were compared in slot 0. */
static bool is_steady(struct pdet_disk *d, uint64_t page)
{
	return pdet_window_load(d->c, &d->window, page, 1, 1) == 0 &&
	       d->window.there[1] == d->window.there[0] &&
	       !differs_from(d, page, 0,
			     d->window.copy + ((size_t)1 << d->c->shift));
}

/* Loads the first copy. */
static int load(struct pdet_disk *d, uint64_t first, size_t n, size_t at)
{
	int r = pdet_window_load(d->c, &d->window, first, n, at);

	d->copy = 0;
	if (r == 0)
		r = pdet_disk_load(d, first, n, at);
	return r;
}

/* Loads the next copy. Returns false if there is none. */
static bool load_next(struct pdet_disk *d, uint64_t first, size_t n)
{
	size_t i;

	if (++d->copy >= d->btrfs.copies)
		return false;
	if (pdet_disk_load(d, first, n, 0) == 0)
		return true;
	for (i = 0; i < n; i++)
		d->page[i] = (struct pdet_disk_page){
			.state = PDET_DISK_UNKNOWN, .cause = PAGEDET_CAUSE_IO,
			.why = "another copy of it cannot be found",
		};
	return true;
}

/*
 * Compares the page in slot 0 with each copy, and counts those that differ.
 * Returns true if any differs, or cannot be read.
 */
static bool differs_anywhere(struct pdet_disk *d, uint64_t page)
{
	do {
		if (d->page[0].state != PDET_DISK_DATA)
			return true;
		d->differing += differs(d, page, 0);
	} while (load_next(d, page, 1));
	return d->differing;
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

/* Fast commits are read only for files. They contain no copy of metadata. */
static bool has_unread_commits(const struct pdet_disk *d)
{
	return d->committed && d->c->block && d->journal.log.fast_commits;
}

/* One of its copies is not rotten: btrfs repairs the other by its checksum. */
#define ONE_COPY "the disk has it, but another copy there differs, which " \
		 "btrfs repairs from this one if it has checksums"

static bool is_rotten(const struct pdet_disk *d)
{
	return d->differing && d->differing < d->btrfs.copies;
}

/* A clean page that differs from the disk. */
static void lost(struct pdet_disk *d, uint64_t page)
{
	const struct pdet_disk_page *p = &d->page[0];

	if (is_rotten(d))
		violated(d, PAGEDET_CAUSE_DIFFERENT, page, ONE_COPY);
	else if (has_unread_commits(d))
		unknown(d, PAGEDET_CAUSE_JOURNAL, page, "differs from the disk "
			"and the journal; a fast commit may have it");
	else if (d->committed && d->held_back)
		violated(d, PAGEDET_CAUSE_NOT_COMMITTED, page, "neither the "
			 "disk nor a commit has it; the running transaction "
			 "may have it");
	else if (d->held_back)
		violated(d, PAGEDET_CAUSE_DIFFERENT, page, "clean, but "
			 "different from the disk: what uses the device may "
			 "hold it back, or write past this cache");
	else if (d->journals_data && !d->committed)
		unknown(d, PAGEDET_CAUSE_JOURNAL, page, "differs from its "
			"block; the journal may have the data of this file "
			"until it is written there: use 'committed'");
	else if (p->unplaced)
		unknown(d, PAGEDET_CAUSE_UNWRITTEN, page, "no block on the "
			"disk was chosen for it yet");
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
	if (is_rotten(d))
		violated(d, PAGEDET_CAUSE_DIFFERENT, page, ONE_COPY);
	else if (has_unread_commits(d))
		unknown(d, PAGEDET_CAUSE_JOURNAL, page, "dirty, and in no "
			"commit of the journal; a fast commit may have it");
	else
		violated(d, d->committed ? PAGEDET_CAUSE_NOT_COMMITTED :
			 PAGEDET_CAUSE_NOT_WRITTEN, page, d->committed ?
			 "dirty, and in no commit of the journal" :
			 "dirty, and not on the disk yet");
}

/*
 * A page that differs, and nobody says whether it is dirty. Adds only what is
 * true either way. btrfs may name the old place of a page that is clean.
 */
static void different(struct pdet_disk *d, uint64_t page)
{
	if (has_unread_commits(d) || (d->committed && d->held_back) ||
	    (d->journals_data && !d->committed) || d->page[0].unplaced ||
	    is_rotten(d))
		lost(d, page);
	else if (d->is_btrfs)
		unknown(d, PAGEDET_CAUSE_KERNEL, page, "different from where "
			"btrfs had it; the kernel does not say whether it is "
			"dirty");
	else if (d->committed)
		violated(d, PAGEDET_CAUSE_NOT_COMMITTED, page, "neither the "
			 "disk nor a commit has it; the kernel does not say "
			 "whether it is dirty");
	else
		violated(d, PAGEDET_CAUSE_DIFFERENT, page, "different from the "
			 "disk; the kernel does not say whether it is dirty");
}

/*
 * Reads an old copy again. If that fails, adds @pages from @first on and
 * returns false.
 */
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

/*
 * The result of one more comparison. LOST is clean and different. UNCOUNTED is
 * different, and it is not known whether it is clean.
 */
enum seen { SETTLED, MOVING, LOST, UNCOUNTED };

static enum seen look_once(struct pdet_disk *d, uint64_t page)
{
	const struct pdet_disk_page *p = &d->page[0];
	struct pdet_cachestat before, after;
	const int r = pdet_check_stat(d->c, page, 1, &before);

	d->differing = 0;
	if (load(d, page, 1, 0) < 0 || !d->window.there[0])
		return SETTLED;	/* it is no longer cached */
	if (!differs_anywhere(d, page))
		return SETTLED;
	if (p->state == PDET_DISK_DIRTY)
		unknown(d, PAGEDET_CAUSE_UNREADABLE, page, "dirty: reading the "
			"disk would write it out");
	else if (p->state == PDET_DISK_UNKNOWN)
		unknown(d, p->cause, page, p->why);
	else if (r < 0 || pdet_check_stat(d->c, page, 1, &after) < 0)
		return UNCOUNTED;
	else if (!after.cached)
		return SETTLED;
	else if (before.dirty != after.dirty ||
		 before.writeback || after.writeback)
		return MOVING;
	else if (!after.dirty)
		return LOST;
	else
		not_written(d, page);
	return SETTLED;
}

/*
 * btrfs writes data to a new place, and reports that place only some time after
 * the page is clean.
 */
static bool can_wait(struct pdet_disk *d)
{
	const struct timespec time = { .tv_nsec = WAIT_NS };

	if (!d->waits)
		return false;
	d->waits--;
	nanosleep(&time, NULL);
	return true;
}

/*
 * Compares one page again, in the first slot of the buffers. Returns false if
 * the deadline has come.
 */
static bool look_again(struct pdet_disk *d, uint64_t page)
{
	enum seen seen;
	int i, differing = 0;

	for (i = 0; i < (d->is_btrfs ? TRIES + MAX_WAITS : TRIES); i++) {
		/* Each turn may read a journal. */
		if (pdet_check_late(d->c, page))
			return false;
		if (!is_fresh(d, page, 1))
			return true;
		seen = look_once(d, page);
		if (seen == SETTLED)
			return true;
		/*
		 * The page may have been written to, and written out, between
		 * both reads, each time. Then its cached bytes are others now.
		 */
		differing = seen == MOVING ? 0 : differing + 1;
		if (differing < 2 || can_wait(d) || !is_steady(d, page))
			continue;
		if (seen == LOST)
			lost(d, page);
		else
			different(d, page);
		return true;
	}
	unknown(d, PAGEDET_CAUSE_RACED, page,
		"it changes while it is read");
	return true;
}

/* Judges the first comparison. Returns true if it must be repeated. */
static bool is_doubtful(struct pdet_disk *d, uint64_t page, size_t i)
{
	if (!d->window.there[i] ||
	    (d->committed && d->c->block && !d->xfs.open &&
	     pdet_journal_is_own(&d->journal, page << d->c->shift)))
		return false;
	d->c->whole.looked_at++;
	return d->page[i].state != PDET_DISK_DATA || differs(d, page, i);
}

/*
 * A page may be cached but not up to date. On a device, a filesystem has then
 * read only a part of the page. A read would change such a page.
 */
static void check_unread(struct pdet_disk *d, uint64_t first, size_t n)
{
	struct pdet_cachestat cs;
	size_t i;

	for (i = 0; i < n; i++) {
		if (d->window.there[i] || d->window.empty[i])
			continue;
		if (pdet_check_stat(d->c, first + i, 1, &cs) < 0)
			unknown(d, PAGEDET_CAUSE_KERNEL, first + i,
				PDET_CHECK_PART);
		else if (cs.cached && !cs.evicted)
			unknown(d, PAGEDET_CAUSE_UNREADABLE, first + i,
				"only a part is cached: reading it would "
				"change it");
	}
}

/*
 * Without cachestat(2), whether a page may be cached in part, and dirty. A part
 * that is clean is not compared.
 */
static bool hides_parts(struct pdet_disk *d, uint64_t first, size_t n)
{
	const unsigned shift = d->c->shift;
	const uint64_t at = first << shift;

	if (pdet_check_is_whole(d->c))
		return false;
	return !d->c->block ||
	       !pdet_device_is_clean(&d->device, d->buf,
				     (size_t)PDET_MIN((uint64_t)n << shift,
						      d->device.bytes - at),
				     at);
}

/* Returns false if the deadline has come. */
static bool check_piece(struct pdet_disk *d, uint64_t first, size_t n)
{
	bool again[PDET_WINDOW_PAGES];
	struct pdet_cachestat cs;
	bool counted, hidden;
	size_t i;
	int r;

	counted = pdet_check_stat(d->c, first, n, &cs) == 0;
	if (counted && !cs.cached)
		return true;
	hidden = !counted && hides_parts(d, first, n);
	r = load(d, first, n, 0);
	if (r < 0) {
		pdet_check_add(d->c, PAGEDET_CANNOT_TELL,
			       r == -EOPNOTSUPP || r == -ENOTTY ?
			       PAGEDET_CAUSE_FILESYSTEM : PAGEDET_CAUSE_IO,
			       first, n, "cannot see where it is on the disk: "
			       "%s", strerror(-r));
		return true;
	}
	if (hidden || (counted &&
		       cs.cached > pdet_window_count(&d->window, n, 0)))
		check_unread(d, first, n);
	for (i = 0; i < n; i++)
		again[i] = is_doubtful(d, first + i, i);
	while (load_next(d, first, n))
		for (i = 0; i < n; i++)
			again[i] |= d->window.there[i] &&
				    (d->page[i].state != PDET_DISK_DATA ||
				     differs(d, first + i, i));
	for (i = 0; i < n; i++)
		if (again[i] && !look_again(d, first + i))
			return false;
	return true;
}

/*
 * Compares the size of the file with that after a replay, and whether the file
 * exists then. This concerns the file and not its pages.
 */
static void check_size(struct pdet_disk *d)
{
	struct pdet_checked *c = d->c;
	const uint64_t size = pdet_disk_replayed_bytes(d);
	const uint64_t at = PDET_MIN(PDET_MIN(size, c->bytes) >> c->shift,
				     c->end);
	struct stat st;

	if (fstat(c->fd, &st) || (uint64_t)st.st_size != c->bytes)
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_RACED, at,
			       0, "the size changes while it is read");
	else if (!pdet_disk_is_replayed(d))
		pdet_check_add(c, PAGEDET_VIOLATED,
			       PAGEDET_CAUSE_NOT_COMMITTED, at, 0, "a replay "
			       "of the log would leave no such file");
	else
		pdet_check_add(c, PAGEDET_VIOLATED,
			       PAGEDET_CAUSE_NOT_COMMITTED, at, 0, "a replay "
			       "of the log would leave a file of %llu byte%s, "
			       "but it has %llu now: the running transaction "
			       "may have the new size",
			       (unsigned long long)size, pdet_plural(size),
			       (unsigned long long)c->bytes);
}

/* Whether the range reaches the end of the file, now or after a replay. */
static bool has_other_size(const struct pdet_disk *d)
{
	const struct pdet_checked *c = d->c;
	const uint64_t size = pdet_disk_replayed_bytes(d);

	return d->committed && !c->block && (size != c->bytes ||
	       !pdet_disk_is_replayed(d)) &&
	       c->end << c->shift >= PDET_MIN(size, c->bytes);
}

static void check_all(struct pdet_disk *d)
{
	struct pdet_checked *c = d->c;
	struct pdet_cachestat cs;
	uint64_t at = c->first, end;
	size_t n;

	if (has_other_size(d))
		check_size(d);
	while (at < c->end) {
		end = PDET_MIN(c->end, at + STRIDE);
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
		pdet_check_say(d->c, "%s; %u checkpoint%s in %u record%s",
			       where, d->xfs.log.checkpoints,
			       pdet_plural(d->xfs.log.checkpoints),
			       d->xfs.log.records,
			       pdet_plural(d->xfs.log.records));
		return;
	}
	snprintf(where, sizeof(where), "%u transaction%s in the journal, "
		 "%zu block%s", log->transactions,
		 pdet_plural(log->transactions), log->copies.n,
		 pdet_plural(log->copies.n));
	if (d->journal.fast_commits)
		pdet_check_say(d->c, "%s, and %d fast commit%s", where,
			       d->journal.fast_commits,
			       pdet_plural((uint64_t)d->journal.fast_commits));
	else
		pdet_check_say(d->c, "%s", where);
}

int pdet_check_disk(struct pdet_checked *c)
{
	struct pdet_disk *d;
	int r;

	if (pdet_check_diskless(c))
		return 0;
	if (is_swapped_to(c)) {
		cannot(c, PAGEDET_CAUSE_FILESYSTEM, "the kernel swaps to it, "
		       "past this cache");
		return 0;
	}
	/* An empty file does not have a page, but may be committed. */
	if ((c->first == c->end && (c->block || c->bytes ||
				    c->kind != PAGEDET_CHECK_COMMITTED)) ||
	    (!c->block && (!is_known(c) || !is_plain(c))))
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
	d->journals_data = !c->block && pdet_check_journals_data(c);
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
	pdet_btrfs_close(&d->btrfs);
	pdet_device_close(&d->device);
	free(d->block);
	free(d->buf);
	free(d->map);
	free(d);
	return PDET_MIN(r, 0);
}
