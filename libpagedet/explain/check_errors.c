/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Errors since a mark: what was traced, and what counted. Of a file only what
 * was traced at its inode is its own; a counter is that of a filesystem or of a
 * disk. Nothing lost, nothing traced and nothing counted is what holds.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/vec.h"
#include "explain/check_mark.h"
#include "explain/check_mount.h"

/* More inodes are only counted. */
#define MAX_INODES 256

struct failed {
	uint64_t dev, ino;
	uint64_t noted, told;	/* times */
	uint32_t error;		/* errno; 0 not said */
	bool unsure;		/* whether it is what was asked about */
};

struct asked {
	struct pdet_checked *c;
	bool all;		/* of everything */
	bool file;		/* of one inode */
	bool unsure;		/* there are more with its number */
	bool known;		/* which superblock it is */
	bool elsewhere;		/* a device whose data others have */
	uint64_t dev, ino;	/* dev as in struct pdet_wb_err */
	uint64_t node;		/* number of the device's own inode; 0 none */
	char disk[PATH_MAX];	/* below /sys; "" none */
	struct { struct failed *data; size_t n, cap; } failed;
	uint64_t more;		/* events of further inodes */
	uint64_t counters;
	uint64_t ext4, ext4_told; /* filesystems, and those with msg_count */
};

/* --- what is asked about --- */

static void find_disk(struct asked *a)
{
	char path[64];

	if (!(a->dev >> 32))
		return;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u",
		 (unsigned)(a->dev >> 32), (unsigned)a->dev);
	if (!realpath(path, a->disk))
		a->disk[0] = '\0';
	/* bdev_add(): the device number, MINORBITS are 20 */
	a->node = (a->dev >> 32) << 20 | (a->dev & 0xffffffff);
}

/* It has partitions, or is below other devices; or that is not known. */
static bool is_divided(const struct asked *a)
{
	const size_t len = strlen(a->disk);
	char path[PATH_MAX + 300];
	bool yes = false;
	struct dirent *e;
	int holders = 0;
	DIR *d;

	d = len ? opendir(a->disk) : NULL;
	if (!d)
		return true;
	while (!yes && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s/partition", a->disk,
			 e->d_name);
		yes = *e->d_name != '.' && access(path, F_OK) == 0;
	}
	closedir(d);
	snprintf(path, sizeof(path), "%s/holders", a->disk);
	d = opendir(path);
	while (d && (e = readdir(d)))
		holders += *e->d_name != '.';
	if (d)
		closedir(d);
	return yes || holders || !d;
}

static void find_out(struct asked *a)
{
	struct pdet_checked *c = a->c;
	struct pdet_check_mount mount;

	a->all = c->fd < 0;
	if (a->all)
		return;
	if (c->block) {
		a->dev = (uint64_t)major(c->st.st_rdev) << 32 |
			 minor(c->st.st_rdev);
		a->known = true;
		find_disk(a);
		a->elsewhere = !pdet_check_mount_of(c->st.st_rdev, &a->dev) ||
			       is_divided(a);
	} else if (pdet_check_mount(c->fd, &mount) == 0) {
		a->dev = mount.m.dev;
		a->known = true;
		pdet_check_mount_free(&mount);
	}
	a->file = !c->block && !S_ISDIR(c->st.st_mode);
	a->ino = c->st.st_ino;
	/* Each subvolume has a device number, and numbers of its own. */
	a->unsure = a->dev != ((uint64_t)major(c->st.st_dev) << 32 |
			       minor(c->st.st_dev));
	if (!c->block)
		find_disk(a);
}

/* --- what was traced --- */

static bool concerns(const struct asked *a, const struct pdet_wb_err *e,
		     bool *unsure)
{
	*unsure = false;
	if (a->all)
		return true;
	/* Of the cache of the device, or one without a disk has that number. */
	if (!a->file && a->node && !(e->dev >> 32) && e->ino == a->node) {
		*unsure = true;
		return true;
	}
	if (!a->known || e->dev != a->dev || (a->file && e->ino != a->ino))
		return false;
	*unsure = a->file && a->unsure;
	return true;
}

static struct failed *failed_of(struct asked *a, const struct pdet_wb_err *e)
{
	size_t i;

	for (i = 0; i < a->failed.n; i++)
		if (a->failed.data[i].dev == e->dev &&
		    a->failed.data[i].ino == e->ino)
			return &a->failed.data[i];
	if (a->failed.n == MAX_INODES)
		return NULL;
	if (!pdet_vec_push(&a->failed, (struct failed){ .dev = e->dev,
							.ino = e->ino })) {
		a->c->no_memory = true;
		return NULL;
	}
	return &a->failed.data[a->failed.n - 1];
}

static bool visit(void *arg, const struct pdet_wb_err *e)
{
	struct asked *a = arg;
	struct failed *f;
	bool unsure;

	if (!concerns(a, e, &unsure))
		return true;
	f = failed_of(a, e);
	if (!f) {
		a->more += !e->told;
		return !pdet_check_late(a->c, 0);
	}
	f->unsure = unsure;
	if (e->told)
		f->told++;
	/* What is noted says what was before it. */
	if (e->error && (e->told || f->noted))
		f->error = e->error;
	if (!e->told)
		f->noted++;
	return !pdet_check_late(a->c, 0);
}

static void add_failed(struct asked *a, const struct failed *f)
{
	const char *what = f->error ? strerror((int)f->error) : "not told";

	pdet_check_add(a->c, f->unsure ? PAGEDET_CANNOT_TELL : PAGEDET_VIOLATED,
		       f->unsure ? PAGEDET_CAUSE_UNKNOWN : PAGEDET_CAUSE_ERROR,
		       0, 0, "writeback failed of inode %" PRIu64 " of %u:%u: "
		       "%s; noted %" PRIu64 " times, told to callers %" PRIu64
		       " times%s",
		       f->ino, (unsigned)(f->dev >> 32), (unsigned)f->dev,
		       what, f->noted, f->told, !f->unsure ? "" : a->file ?
		       "; files of other subvolumes have that number, too" :
		       "; which seems to be the cache of the device");
}

static void cannot(struct asked *a, unsigned cause, const char *why)
{
	pdet_check_add(a->c, PAGEDET_CANNOT_TELL, cause, 0, 0, "%s", why);
}

/* Why a mark has no watch. */
static void add_unwatched(struct asked *a, struct pdet_scan mark)
{
	struct pdet_mark_line line;

	while (pdet_mark_next(&mark, &line)) {
		if (!pdet_scan_is(&line.kind, "watch"))
			continue;
		if (pdet_scan_is(&line.counter, pdet_cause_name(
						 PAGEDET_CAUSE_ACCESS)))
			cannot(a, PAGEDET_CAUSE_ACCESS, "not each failed write "
			       "is counted, and whoever made the mark may not "
			       "trace them: root may");
		else if (pdet_scan_is(&line.counter, pdet_cause_name(
						      PAGEDET_CAUSE_UNKNOWN)))
			cannot(a, PAGEDET_CAUSE_UNKNOWN, "not each failed "
			       "write is counted, and when the mark was made "
			       "there was no memory or descriptor for a trace");
		else
			cannot(a, PAGEDET_CAUSE_KERNEL, "not each failed write "
			       "is counted, and the kernel has no such trace: "
			       "CONFIG_EVENT_TRACING, tracefs");
		return;
	}
	cannot(a, PAGEDET_CAUSE_KERNEL, "not each failed write is counted, "
	       "and the mark has no watch");
}

static void add_unread(struct asked *a, int r)
{
	switch (r) {
	case 0:
		break;
	case -ENOENT:
		cannot(a, PAGEDET_CAUSE_REPLACED, "the watch of the mark has "
		       "ended: by whoever made it, or for newer ones");
		break;
	case -ESTALE:
		cannot(a, PAGEDET_CAUSE_REPLACED, "the watch of the mark was "
		       "switched off");
		break;
	case -EACCES:
	case -EPERM:
		cannot(a, PAGEDET_CAUSE_ACCESS, "the watch of the mark may "
		       "not be read: root may");
		break;
	default:
		pdet_check_add(a->c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_IO, 0,
			       0, "the watch of the mark cannot be read: %s",
			       strerror(-r));
	}
}

static void look_at_watch(struct asked *a, const char *name)
{
	uint64_t lost = 0, older = 0;
	size_t i;
	int r;

	r = pdet_watch_read(name, visit, a, &lost);
	for (i = 0; i < a->failed.n; i++)
		if (a->failed.data[i].noted)
			add_failed(a, &a->failed.data[i]);
		else
			older += a->failed.data[i].told;
	if (a->more)
		pdet_check_add(a->c, PAGEDET_VIOLATED, PAGEDET_CAUSE_ERROR, 0,
			       0, "and of further inodes, %" PRIu64 " times",
			       a->more);
	add_unread(a, r);
	if (r == 0 && lost)
		pdet_check_add(a->c, PAGEDET_CANNOT_TELL,
			       PAGEDET_CAUSE_UNKNOWN, 0, 0, "the trace was "
			       "full, and lost %" PRIu64 " events", lost);
	if (older)
		pdet_check_say(a->c, "no error was traced but one of before "
			       "the mark, told %" PRIu64 " times since", older);
}

/* --- what counted --- */

/* What a counter says of what was asked. */
enum { NOTHING, A_HINT, A_PROOF };

/* The disk is it, or is a part of it. */
static bool is_on_disk(const struct asked *a, struct pdet_scan name)
{
	const size_t len = (size_t)(name.end - name.at);
	const char *at = a->disk;

	while ((at = strchr(at, '/'))) {
		at++;
		if (!strncmp(at, name.at, len) && (!at[len] || at[len] == '/'))
			return true;
	}
	return false;
}

static int weight(const struct asked *a, const struct pdet_mark_line *line)
{
	/* Of a directory whose index is full ext4 warns as well, and when it is
	 * mounted otherwise it has a message. */
	const int proof = pdet_scan_is(&line->counter, "warning_count") ||
			  pdet_scan_is(&line->counter, "msg_count") ?
			  A_HINT : A_PROOF;

	if (a->all)
		return proof;
	if (pdet_scan_is(&line->kind, "btrfs"))
		return a->c->magic == BTRFS_SUPER_MAGIC ||
		       (a->c->block && !(a->dev >> 32)) ? A_HINT : NOTHING;
	if (!is_on_disk(a, line->name))
		return NOTHING;
	/* A disk counts what failed to be read, too. */
	return pdet_scan_is(&line->kind, "ext4") && !a->file ? proof : A_HINT;
}

#define WORDS(s) (int)((s).end - (s).at), (s).at

static void compare(struct asked *a, const struct pdet_mark_line *line,
		    struct pdet_scan now)
{
	const int w = weight(a, line);
	uint64_t count = 0;

	if (w == NOTHING)
		return;
	a->counters++;
	a->ext4 += pdet_scan_is(&line->kind, "ext4") &&
		   pdet_scan_is(&line->counter, "errors_count");
	a->ext4_told += pdet_scan_is(&line->counter, "msg_count");
	if (!pdet_mark_find(now, line, &count))
		pdet_check_add(a->c, PAGEDET_CANNOT_TELL,
			       PAGEDET_CAUSE_REPLACED, 0, 0,
			       "%.*s %.*s is gone since the mark",
			       WORDS(line->kind), WORDS(line->name));
	else if (count > line->value)
		pdet_check_add(a->c, w == A_PROOF ? PAGEDET_VIOLATED :
			       PAGEDET_CANNOT_TELL, w == A_PROOF ?
			       PAGEDET_CAUSE_ERROR : PAGEDET_CAUSE_UNKNOWN,
			       0, 0, "%.*s of %.*s %.*s rose from %" PRIu64
			       " to %" PRIu64 "%s", WORDS(line->counter),
			       WORDS(line->kind), WORDS(line->name),
			       line->value, count, w == A_PROOF ? "" :
			       ": the kernel log may say for what");
}

/* False: they are not of one time. */
static bool compare_all(struct asked *a, struct pdet_scan mark,
			struct pdet_scan now)
{
	struct pdet_mark_line line;
	uint64_t same = 0;

	while (pdet_mark_next(&mark, &line)) {
		if (pdet_scan_is(&line.kind, "watch") ||
		    pdet_mark_is_memory(&line))
			continue;
		if (!pdet_scan_is(&line.kind, "boot")) {
			compare(a, &line, now);
		} else if (!pdet_mark_find(now, &line, &same)) {
			cannot(a, PAGEDET_CAUSE_REPLACED,
			       "the mark is of another boot");
			return false;
		}
	}
	return true;
}

/* --- all of it --- */

/* Why nothing traced and nothing counted says nothing. */
static void add_blind(struct asked *a)
{
	if (!a->all && !a->known)
		cannot(a, PAGEDET_CAUSE_FILESYSTEM, "which filesystem it is on "
		       "cannot be seen from here");
	else if (!a->all && (a->c->magic == OVERLAYFS_SUPER_MAGIC ||
			     a->c->magic == ECRYPTFS_SUPER_MAGIC))
		cannot(a, PAGEDET_CAUSE_FILESYSTEM, "what is written goes to a "
		       "file of another filesystem: ask of the one below it");
	else if (a->elsewhere)
		cannot(a, PAGEDET_CAUSE_FILESYSTEM, "no filesystem of its own "
		       "is mounted from this device");
	else if (!a->all && !a->c->block && pdet_check_is_remote(a->c))
		cannot(a, PAGEDET_CAUSE_NETWORK, "what a server does with what "
		       "is written is not told");
	if (a->ext4_told < a->ext4)
		cannot(a, PAGEDET_CAUSE_KERNEL, "data that ext4 drops when it "
		       "finds no block for it is counted as a message only, "
		       "and the mark has no count of these");
}

static void check(struct asked *a, struct pdet_scan mark, struct pdet_scan now)
{
	char name[PDET_WATCH_NAME];

	find_out(a);
	if (compare_all(a, mark, now)) {
		add_blind(a);
		if (pdet_mark_watched(mark, name))
			look_at_watch(a, name);
		else
			add_unwatched(a, mark);
	}
	a->c->whole.looked_at = a->counters;
	if (!a->c->whole.why)
		pdet_check_say(a->c, "no error was traced, and no counter of "
			       "%" PRIu64 " rose", a->counters);
	pdet_vec_free(&a->failed);
}

int pdet_check_errors(struct pdet_checked *c)
{
	struct pdet_scan before, now;
	struct asked *a;
	size_t len = 0;
	char *text;

	if (!c->check->mark ||
	    !pdet_mark_check(c->check->mark, (size_t)c->check->mark_size,
			     &before))
		return pdet_fail(c->env, EBADMSG, PDET_BAD_MARK);
	text = pdet_mark_make(c->env, NULL, &len);
	a = calloc(1, sizeof(*a));
	if (text && a && pdet_mark_check(text, len, &now)) {
		a->c = c;
		check(a, before, now);
	} else {
		c->no_memory = true;
	}
	free(a);
	free(text);
	return 0;
}
