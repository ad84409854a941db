/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds errors since a mark, from the trace and from counters. Only an event at
 * its inode belongs to a file; a counter belongs to a filesystem or a disk. The
 * assertion holds if nothing was lost from the trace, and neither trace nor
 * counters have errors.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text/plural.h"
#include "base/vec.h"
#include "check/btrfs.h"
#include "check/device.h"
#include "check/kmsg.h"
#include "check/mark.h"
#include "check/mount.h"

/* More inodes are only counted. */
#define MAX_INODES 256

struct failed {
	uint64_t dev, ino;
	uint64_t noted, told;	/* number of events */
	uint32_t error;		/* errno; 0: not given */
	bool unsure;		/* it may be another object */
};

struct asked {
	struct pdet_checked *c;
	bool all;		/* check everything */
	bool file;		/* check one inode */
	bool unsure;		/* other inodes have the same number */
	bool known;		/* the superblock is known */
	bool journals;		/* its data may go through a journal */
	bool has_log;		/* the mark has the position of the kernel
				 * log */
	uint64_t log;
	bool elsewhere;		/* a device whose data is below others */
	uint64_t dev, ino;	/* dev as in struct pdet_wb_err */
	uint64_t node;		/* inode number of the device itself; 0 if there
				 * is none */
	char disk[PATH_MAX];	/* path below /sys; "": none */
	struct { struct failed *data; size_t n, cap; } failed;
	uint64_t more;		/* events of further inodes */
	uint64_t counters;
	uint64_t ext4, ext4_told; /* number of ext4, and of those with
				 * msg_count */
};

/* --- the object of the check --- */

static void find_disk(struct asked *a)
{
	char path[64];

	if (!(a->dev >> 32))
		return;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u",
		 (unsigned)(a->dev >> 32), (unsigned)a->dev);
	if (!realpath(path, a->disk))
		a->disk[0] = '\0';
	/* bdev_add() sets it to the device number, with MINORBITS 20 */
	a->node = (a->dev >> 32) << 20 | (a->dev & 0xffffffff);
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
			       pdet_device_is_divided(a->disk);
	} else if (pdet_check_mount(c->fd, &mount) == 0) {
		a->dev = mount.m.dev;
		a->known = true;
		pdet_check_mount_free(&mount);
	}
	a->file = !c->block && !S_ISDIR(c->st.st_mode);
	a->ino = c->st.st_ino;
	/* Each subvolume has its own device number and inode numbers. */
	a->unsure = a->dev != ((uint64_t)major(c->st.st_dev) << 32 |
			       minor(c->st.st_dev));
	if (!c->block)
		find_disk(a);
	a->journals = a->file && pdet_check_journals_data(c);
}

/* --- the trace --- */

static bool concerns(const struct asked *a, const struct pdet_wb_err *e,
		     bool *unsure)
{
	*unsure = false;
	if (a->all)
		return true;
	/*
	 * True for an event of the device's own cache, or of a device without a
	 * disk that has this number.
	 */
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
	/* A note gives the previous error. */
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
		       0, 0, "writeback of inode %" PRIu64 " of %u:%u failed: "
		       "%s; noted %" PRIu64 " time%s, told to callers %" PRIu64
		       " time%s%s",
		       f->ino, (unsigned)(f->dev >> 32), (unsigned)f->dev,
		       what, f->noted, pdet_plural(f->noted), f->told,
		       pdet_plural(f->told), !f->unsure ? "" : a->file ?
		       "; files of other subvolumes have that number, too" :
		       "; which seems to be the cache of the device");
}

static void cannot(struct asked *a, unsigned cause, const char *why)
{
	pdet_check_add(a->c, PAGEDET_CANNOT_TELL, cause, 0, 0, "%s", why);
}

/* Adds why a mark has no watch. */
static void add_unwatched(struct asked *a, struct pdet_scan mark)
{
	struct pdet_mark_line line;

	while (pdet_mark_next(&mark, &line)) {
		if (!pdet_scan_is(&line.kind, "watch"))
			continue;
		if (pdet_scan_is(&line.counter, pdet_cause_name(
						 PAGEDET_CAUSE_ACCESS)))
			cannot(a, PAGEDET_CAUSE_ACCESS, "not every failed "
			       "write is counted, and the user who made the "
			       "mark may not trace them: root may");
		else if (pdet_scan_is(&line.counter, pdet_cause_name(
						      PAGEDET_CAUSE_UNKNOWN)))
			cannot(a, PAGEDET_CAUSE_UNKNOWN, "not every failed "
			       "write is counted, and there was no memory or "
			       "descriptor for a trace when the mark was made");
		else
			cannot(a, PAGEDET_CAUSE_KERNEL, "not every failed "
			       "write is counted, and the kernel cannot trace "
			       "them: needs CONFIG_EVENT_TRACING and tracefs");
		return;
	}
	cannot(a, PAGEDET_CAUSE_KERNEL, "not every failed write is counted, "
	       "and the mark has no trace");
}

static void add_unread(struct asked *a, int r)
{
	switch (r) {
	case 0:
		break;
	case -ENOENT:
		cannot(a, PAGEDET_CAUSE_REPLACED, "the trace of the mark has "
		       "ended: its maker ended it, or newer traces replaced "
		       "it");
		break;
	case -ESTALE:
		cannot(a, PAGEDET_CAUSE_REPLACED, "the trace of the mark was "
		       "switched off");
		break;
	case -EACCES:
	case -EPERM:
		cannot(a, PAGEDET_CAUSE_ACCESS, "the trace of the mark may not "
		       "be read: root may");
		break;
	default:
		pdet_check_add(a->c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_IO, 0,
			       0, "the trace of the mark cannot be read: %s",
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
			       0, "and of further inodes, %" PRIu64 " time%s",
			       a->more, pdet_plural(a->more));
	add_unread(a, r);
	if (r == 0 && lost)
		pdet_check_add(a->c, PAGEDET_CANNOT_TELL,
			       PAGEDET_CAUSE_UNKNOWN, 0, 0, "the trace was "
			       "full, and lost %" PRIu64 " event%s", lost,
			       pdet_plural(lost));
	if (older)
		pdet_check_say(a->c, "the only traced error is from before the "
			       "mark; it was told %" PRIu64 " time%s since",
			       older, pdet_plural(older));
}

/* --- the counters --- */

/* How much a counter says about the object of the check. */
enum { NOTHING, A_HINT, A_PROOF };

/* The disk is the object, or a part of it. */
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

/*
 * Each failed write of a file is traced at its inode, unless a journal writes
 * it. Besides, ext4 has only messages, and counted errors after which it may
 * drop data.
 */
static int weight_of_file(const struct asked *a,
			  const struct pdet_mark_line *line)
{
	if (pdet_scan_is(&line->kind, "btrfs") || !is_on_disk(a, line->name))
		return NOTHING;
	if (pdet_scan_is(&line->counter, "errors_count") ||
	    pdet_scan_is(&line->counter, "msg_count"))
		return A_HINT;
	return a->journals ? A_HINT : NOTHING;
}

static int weight(const struct asked *a, const struct pdet_mark_line *line)
{
	/*
	 * ext4 also warns of a directory with a full index, and logs a message
	 * on a remount.
	 */
	const int proof = pdet_scan_is(&line->counter, "warning_count") ||
			  pdet_scan_is(&line->counter, "msg_count") ?
			  A_HINT : A_PROOF;

	if (a->all)
		return proof;
	if (a->file)
		return weight_of_file(a, line);
	if (pdet_scan_is(&line->kind, "btrfs"))
		return a->c->magic == BTRFS_SUPER_MAGIC ||
		       (a->c->block && !(a->dev >> 32)) ? A_HINT : NOTHING;
	if (!is_on_disk(a, line->name))
		return NOTHING;
	/* A disk also counts failed reads. */
	return pdet_scan_is(&line->kind, "ext4") ? proof : A_HINT;
}

#define WORDS(s) (int)((s).end - (s).at), (s).at

/*
 * Finds out from the log why a counter of messages rose. Returns true if it was
 * for other files, or if the result was added.
 */
static bool is_explained(struct asked *a, const struct pdet_mark_line *line,
			 uint64_t rose)
{
	char name[64];

	if (!a->has_log || !pdet_scan_is(&line->counter, "msg_count"))
		return false;
	snprintf(name, sizeof(name), "%.*s", WORDS(line->name));
	switch (pdet_kmsg_about(a->log, name, rose, a->file ? a->ino : 0)) {
	case PDET_KMSG_OTHERS:
		return true;
	case PDET_KMSG_LOST:
		pdet_check_add(a->c, PAGEDET_VIOLATED, PAGEDET_CAUSE_ERROR, 0,
			       0, "the kernel log says that ext4 lost data of "
			       "%s on %s", a->file ? "the file" : "a file",
			       name);
		return true;
	default:
		return false;
	}
}

/* Reads a number that the superblock of ext4 @name has now. */
static bool read_super(const char *name, const char *what, uint64_t *ret)
{
	const struct pdet_env here = { .root = (char *)"" };
	char path[128], line[32];
	struct pdet_scan s;

	snprintf(path, sizeof(path), "/sys/fs/ext4/%s/%s", name, what);
	pdet_read_line(&here, path, line, sizeof(line));
	s = (struct pdet_scan){ line, line + strlen(line) };
	return pdet_scan_dec(&s, ret) && s.at == s.end;
}

/* The superblock names the inode of an error, which is not the file's. */
static bool is_elsewhere(const struct asked *a, const char *name,
			 const char *what)
{
	uint64_t ino = 0;

	return read_super(name, what, &ino) && ino && ino != a->ino;
}

/* After some errors ext4 writes nothing more, and drops what is dirty. */
static bool is_writable(const struct asked *a)
{
	static const char *const ends[] = { "ro", "emergency_ro", "shutdown" };
	struct pdet_check_mount mount;
	bool yes = true;
	size_t i;

	if (pdet_check_mount(a->c->fd, &mount) < 0)
		return false;
	for (i = 0; i < PDET_COUNT(ends); i++)
		yes = yes && !pdet_mount_has(mount.m.super_options, ends[i]);
	pdet_check_mount_free(&mount);
	return yes;
}

/*
 * Whether all errors that ext4 counted since the mark are of other files. Its
 * superblock has the inodes of the first and the last one: of one new error, or
 * of two if they are the only ones. @count must not change meanwhile.
 */
static bool is_counted_elsewhere(const struct asked *a,
				 const struct pdet_mark_line *line,
				 uint64_t count)
{
	const uint64_t rose = count - line->value;
	uint64_t again = 0;
	char name[64];

	if (!a->file || !pdet_scan_is(&line->counter, "errors_count") ||
	    rose > 2 || (rose == 2 && line->value))
		return false;
	snprintf(name, sizeof(name), "%.*s", WORDS(line->name));
	return is_elsewhere(a, name, "last_error_ino") &&
	       (rose == 1 || is_elsewhere(a, name, "first_error_ino")) &&
	       read_super(name, "errors_count", &again) && again == count &&
	       is_writable(a);
}

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
	else if (count > line->value &&
		 !is_counted_elsewhere(a, line, count) &&
		 !is_explained(a, line, count - line->value))
		pdet_check_add(a->c, w == A_PROOF ? PAGEDET_VIOLATED :
			       PAGEDET_CANNOT_TELL, w == A_PROOF ?
			       PAGEDET_CAUSE_ERROR : PAGEDET_CAUSE_UNKNOWN,
			       0, 0, "%.*s of %.*s %.*s rose from %" PRIu64
			       " to %" PRIu64 "%s", WORDS(line->counter),
			       WORDS(line->kind), WORDS(line->name),
			       line->value, count, w == A_PROOF ? "" :
			       ": the kernel log may say why");
}

/* True if the filesystem had no other subvolume, at the mark and now. */
static bool is_only_subvolume(const struct asked *a, struct pdet_scan mark)
{
	static const char kind[] = "btrfs", counter[] = "subvolumes";
	char id[PDET_BTRFS_ID], path[40];
	const struct pdet_mark_line line = {
		.kind = { kind, kind + sizeof(kind) - 1 },
		.name = { id, id + sizeof(id) - 1 },
		.counter = { counter, counter + sizeof(counter) - 1 },
	};
	uint64_t now = 0, then = 0;
	bool told;
	int fd;

	if (a->c->magic != BTRFS_SUPER_MAGIC || a->c->block)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", a->c->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	told = fd >= 0 && pdet_btrfs_subvolumes(fd, id, &now);
	if (fd >= 0)
		close(fd);
	if (!told)
		return false;
	return pdet_mark_find(mark, &line, &then) && then == 1 && now == 1;
}

/* Reads the position of the kernel log at the mark. */
static void find_log(struct asked *a, struct pdet_scan mark)
{
	struct pdet_mark_line line;

	while (pdet_mark_next(&mark, &line))
		if (pdet_scan_is(&line.kind, "log")) {
			a->has_log = true;
			a->log = line.value;
		}
}

/* Returns false if mark and counters are not of the same boot. */
static bool compare_all(struct asked *a, struct pdet_scan mark,
			struct pdet_scan now)
{
	struct pdet_mark_line line;
	uint64_t same = 0;

	while (pdet_mark_next(&mark, &line)) {
		if (pdet_scan_is(&line.kind, "watch") ||
		    pdet_scan_is(&line.kind, "log") ||
		    pdet_scan_is(&line.counter, "subvolumes") ||
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

/* --- the whole check --- */

/*
 * Adds the reason why the absence of events and counts does not prove anything.
 */
static void add_blind(struct asked *a)
{
	if (!a->all && !a->known)
		cannot(a, PAGEDET_CAUSE_FILESYSTEM, "its filesystem cannot be "
		       "seen from here");
	else if (!a->all && (a->c->magic == OVERLAYFS_SUPER_MAGIC ||
			     a->c->magic == ECRYPTFS_SUPER_MAGIC))
		cannot(a, PAGEDET_CAUSE_FILESYSTEM, "writes go to a file of "
		       "another filesystem: ask about the filesystem below it");
	else if (a->elsewhere)
		cannot(a, PAGEDET_CAUSE_FILESYSTEM, "no filesystem is mounted "
		       "from this device itself");
	else if (!a->all && !a->c->block && pdet_check_is_remote(a->c))
		cannot(a, PAGEDET_CAUSE_NETWORK, "the server does not say what "
		       "happens to writes");
	if (a->ext4_told < a->ext4)
		cannot(a, PAGEDET_CAUSE_KERNEL, "if ext4 drops data for lack "
						"of a block, it only counts a "
						"message, and the mark does "
						"not have that count");
}

static void check(struct asked *a, struct pdet_scan mark, struct pdet_scan now)
{
	char name[PDET_WATCH_NAME];

	find_out(a);
	find_log(a, mark);
	a->unsure = a->unsure && !is_only_subvolume(a, mark);
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
