/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Manages trace instances of its own below tracefs, so that other traces stay
 * untouched. Buffers are small. When a buffer is full, the first events stay,
 * and lost ones are counted. An instance outlives its creator, and the creator
 * may never come back. When there are too many, a new one removes the oldest
 * one whose creator has ended, or else the oldest one.
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
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/vec.h"
#include "check/watch.h"
#include "record/tracefs.h"

#define MAX_WATCHES 8
/* KiB per processor: about 4,600 events. */
#define BUFFER_KIB "128"
/* The longest such text on the largest machine. */
#define MAX_TEXT ((uint64_t)1 << 30)

static const char *const events[] = {
	"events/filemap/filemap_set_wb_err/enable",
	"events/filemap/file_check_and_advance_wb_err/enable",
};

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
	DIR *d = pdet_tracefs_list(instances, ".");
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
	r = pdet_tracefs_put(dir, "buffer_size_kb", BUFFER_KIB);
	if (r == 0)
		r = pdet_tracefs_put(dir, "trace_options", "nooverwrite");
	for (i = 0; i < PDET_COUNT(events) && r == 0; i++)
		r = pdet_tracefs_put(dir, events[i], "1");
	close(dir);
	return r;
}

int pdet_watch_arm(char name[PDET_WATCH_NAME])
{
	int instances = pdet_tracefs_open_instances(), r = instances;

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
	int instances = pdet_tracefs_open_instances(), r = 0;

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

	if (pdet_tracefs_get(dir, "tracing_on", text, sizeof(text)) ||
	    *text != '1')
		return false;
	for (i = 0; i < PDET_COUNT(events); i++)
		if (pdet_tracefs_get(dir, events[i], text, sizeof(text)) ||
		    *text != '1')
			return false;
	return true;
}

/* Adds the losses of all processors, or fails. */
static int add_lost(int dir, uint64_t *lost)
{
	struct pdet_tracefs_stats stats;
	DIR *d = pdet_tracefs_list(dir, "per_cpu");
	bool all = d, some = false;
	struct dirent *e;

	while (all) {
		errno = 0;
		e = readdir(d);
		if (!e)
			break;
		if (strncmp(e->d_name, "cpu", 3))
			continue;
		all = pdet_tracefs_stats(dir, e->d_name, &stats);
		*lost += all ? stats.lost : 0;
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
	int instances = pdet_tracefs_open_instances(), dir, r;

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
