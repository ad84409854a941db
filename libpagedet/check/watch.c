/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Manages trace instances of its own below tracefs
 * (Documentation/trace/ftrace.rst), so that other traces stay untouched.
 * Buffers are small. When a buffer is full, the first events stay, and lost
 * ones are counted. An instance outlives its creator, and the creator may never
 * come back. When there are too many, a new one removes the oldest one whose
 * creator has ended, or else the oldest one. If tracefs is not mounted, it is
 * mounted without a place in the file system.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/vec.h"
#include "check/watch.h"

#ifndef TRACEFS_MAGIC
#define TRACEFS_MAGIC 0x74726163
#endif
#define MAX_WATCHES 8
/* KiB per processor: about 4,600 events. */
#define BUFFER_KIB "128"
/* The longest such text on the largest machine. */
#define MAX_TEXT ((uint64_t)1 << 30)

static const char *const events[] = {
	"events/filemap/filemap_set_wb_err/enable",
	"events/filemap/file_check_and_advance_wb_err/enable",
};

/* --- tracefs --- */

static int mount_nowhere(void)
{
	int fs, fd = -1;

	fs = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (fd < 0)
		fd = -errno;
	close(fs);
	return fd;
}

static int open_tracefs(void)
{
	static const char path[] = "/sys/kernel/tracing";
	struct statfs fs;
	int fd, r;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == TRACEFS_MAGIC)
		return fd;
	r = fd < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (r == -EACCES)
		return r;
	return mount_nowhere();
}

/* Opens the directory of instances. */
static int open_instances(void)
{
	int fs = open_tracefs(), fd;

	if (fs < 0)
		return fs;
	fd = openat(fs, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(fs);
	return fd;
}

static int put(int dir, const char *name, const char *text)
{
	const size_t len = strlen(text);
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = write(fd, text, len) == (ssize_t)len ? 0 : -errno;
	close(fd);
	return r;
}

/* Reads a short file; -1 on failure. */
static int get(int dir, const char *name, char *buf, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, buf, size - 1);
		close(fd);
	}
	buf[PDET_MAX(n, 0)] = '\0';
	return n < 0 ? -1 : 0;
}

/* Opens a directory. The caller closes it. */
static DIR *list(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* --- beginning and end --- */

bool pdet_watch_is_name(const char *name, size_t len)
{
	const size_t head = strlen(PDET_WATCH_PREFIX);
	size_t i;

	if (len != PDET_WATCH_NAME - 1 ||
	    memcmp(name, PDET_WATCH_PREFIX, head) || name[head + 16] != '-')
		return false;
	for (i = head; i < len; i++)
		if (i != head + 16 && !strchr("0123456789abcdef", name[i]))
			return false;
	return true;
}

/* The creator may still come back. */
static bool is_kept(const char *name)
{
	const unsigned long pid = strtoul(name + PDET_WATCH_NAME - 1 - 8, NULL,
					  16);

	return pid && pid <= INT_MAX &&
	       (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

struct watch {
	bool kept;
	char name[PDET_WATCH_NAME];
};

/* The order in which they are removed: names begin with the time. */
static int in_order(const void *a, const void *b)
{
	const struct watch *x = a, *y = b;

	return x->kept != y->kept ? x->kept - y->kept :
				    strcmp(x->name, y->name);
}

/* A reader keeps an instance alive; then the next one is removed. */
static void make_room(int instances)
{
	struct { struct watch *data; size_t n, cap; } all = { 0 };
	DIR *d = list(instances, ".");
	struct dirent *e;
	struct watch w;
	size_t i, left;

	while (d && (e = readdir(d))) {
		if (!pdet_watch_is_name(e->d_name, strlen(e->d_name)))
			continue;
		w.kept = is_kept(e->d_name);
		memcpy(w.name, e->d_name, PDET_WATCH_NAME);
		if (!pdet_vec_push(&all, w))
			break;
	}
	if (d)
		closedir(d);
	left = all.n;
	if (left)
		qsort(all.data, left, sizeof(*all.data), in_order);
	for (i = 0; i < all.n && left >= MAX_WATCHES; i++)
		if (unlinkat(instances, all.data[i].name, AT_REMOVEDIR) == 0 ||
		    errno == ENOENT)
			left--;
	pdet_vec_free(&all);
}

static int set_up(int instances, const char *name)
{
	int dir, r;
	size_t i;

	dir = openat(instances, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	r = put(dir, "buffer_size_kb", BUFFER_KIB);
	if (r == 0)
		r = put(dir, "trace_options", "nooverwrite");
	for (i = 0; i < PDET_COUNT(events) && r == 0; i++)
		r = put(dir, events[i], "1");
	close(dir);
	return r;
}

int pdet_watch_arm(char name[PDET_WATCH_NAME])
{
	int instances = open_instances(), r = instances;

	if (r >= 0) {
		make_room(instances);
		snprintf(name, PDET_WATCH_NAME,
			 PDET_WATCH_PREFIX "%016" PRIx64 "-%08x",
			 pdet_clock_ns(CLOCK_BOOTTIME), (unsigned)getpid());
		r = mkdirat(instances, name, 0700) ? -errno : 0;
		if (r == 0) {
			r = set_up(instances, name);
			if (r < 0)
				unlinkat(instances, name, AT_REMOVEDIR);
		}
		close(instances);
	}
	switch (r) {
	case -EACCES:
	case -EPERM:
		return -EACCES;
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
	case -ENOSPC:
		return r;
	default:
		return r < 0 ? -ENOTSUP : 0;
	}
}

int pdet_watch_end(const char *name)
{
	int instances = open_instances(), r = 0;

	if (instances < 0)
		return instances;
	if (unlinkat(instances, name, AT_REMOVEDIR) && errno != ENOENT)
		r = -errno;
	close(instances);
	return r;
}

/* --- reading --- */

static bool is_on(int dir)
{
	char text[16];
	size_t i;

	if (get(dir, "tracing_on", text, sizeof(text)) || *text != '1')
		return false;
	for (i = 0; i < PDET_COUNT(events); i++)
		if (get(dir, events[i], text, sizeof(text)) || *text != '1')
			return false;
	return true;
}

/*
 * Adds the losses of a processor: "dropped events: 0" and others. Returns false
 * if one is missing.
 */
static bool add_lost_of(int dir, const char *cpu, uint64_t *lost)
{
	static const char *const words[] = { "\noverrun: ",
		"\ncommit overrun: ", "\ndropped events: " };
	char name[300], text[512];
	const char *at;
	size_t i;

	snprintf(name, sizeof(name), "per_cpu/%s/stats", cpu);
	if (get(dir, name, text, sizeof(text)))
		return false;
	for (i = 0; i < PDET_COUNT(words); i++) {
		at = strstr(text, words[i]);
		if (!at)
			return false;
		*lost += strtoull(at + strlen(words[i]), NULL, 10);
	}
	return true;
}

/* Adds those of all processors, or fails. */
static int add_lost(int dir, uint64_t *lost)
{
	DIR *d = list(dir, "per_cpu");
	bool all = d, some = false;
	struct dirent *e;

	while (all) {
		errno = 0;
		e = readdir(d);
		if (!e)
			break;
		if (strncmp(e->d_name, "cpu", 3))
			continue;
		all = add_lost_of(dir, e->d_name, lost);
		some = true;
	}
	all = all && !errno;
	if (d)
		closedir(d);
	return all && some ? 0 : -EIO;
}

static int read_lines(int dir,
		      bool (*visit)(void *arg, const struct pdet_wb_err *e),
		      void *arg)
{
	int fd = openat(dir, "trace", O_RDONLY | O_CLOEXEC), r;
	struct pdet_wb_err e;
	struct pdet_scan line;
	char text[1024];
	uint64_t sum = 0;
	FILE *f;

	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (fgets(text, sizeof(text), f) && sum < MAX_TEXT) {
		line = (struct pdet_scan){ text, text + strcspn(text, "\n") };
		sum += strlen(text);
		if (pdet_wb_err_line(line, &e) && !visit(arg, &e))
			break;
	}
	r = ferror(f) ? -EIO : sum < MAX_TEXT ? 0 : -EOVERFLOW;
	fclose(f);
	return r;
}

int pdet_watch_read(const char *name,
		    bool (*visit)(void *arg, const struct pdet_wb_err *e),
		    void *arg, uint64_t *lost)
{
	int instances = open_instances(), dir, r;

	if (instances < 0)
		return instances;
	dir = openat(instances, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = dir < 0 ? -errno : 0;
	close(instances);
	if (r < 0)
		return r;
	*lost = 0;
	r = read_lines(dir, visit, arg);
	if (r == 0)
		r = add_lost(dir, lost);
	/* This is checked at the end: tracing must have been on until then. */
	if (r == 0 && !is_on(dir))
		r = -ESTALE;
	close(dir);
	return r;
}
