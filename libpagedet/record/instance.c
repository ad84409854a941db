/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes the settings of an instance, which are files of tracefs. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/instance.h"
#include "record/tracefs.h"

/* Another recorder may remove a new instance before it is locked. */
#define TRIES 100
/* The events of a new instance are those of this recorder. */
#define MOST_TEXT 65536

/*
 * Those with _node are not in kernels since 6.1, and the name of a cache is
 * not in those before 6.18.
 */
static const char *const of_objects[] = { "kmalloc", "kfree",
	"kmem_cache_alloc", "kmem_cache_free", "kmalloc_node",
	"kmem_cache_alloc_node" };
static const char *const of_pages[] = { "mm_page_alloc", "mm_page_free",
	"mm_page_free_batched" };
/* The first ones are in every kernel that can trace. */
#define NEEDED 4

const char *pdet_instance_event(bool pages, unsigned n)
{
	if (n < PDET_COUNT(of_objects))
		return of_objects[n];
	n -= PDET_COUNT(of_objects);
	return pages && n < PDET_COUNT(of_pages) ? of_pages[n] : NULL;
}

/* --- beginning and end --- */

/*
 * Opens and locks an instance. -EAGAIN: its recorder lives; -ENOENT: it is not
 * there (any more).
 */
static int lock(int instances, const char *name)
{
	int dir = openat(instances, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat here, now;
	int r = 0;

	if (dir < 0)
		return -errno;
	if (flock(dir, LOCK_EX | LOCK_NB))
		r = errno == EWOULDBLOCK ? -EAGAIN : -errno;
	else if (fstat(dir, &here) || fstatat(instances, name, &now, 0) ||
		 here.st_ino != now.st_ino)
		r = -ENOENT;
	if (r == 0)
		return dir;
	close(dir);
	return r;
}

/*
 * The next one whose recorder has died; it is locked. Negative: there are no
 * more.
 */
static int next_dead(int instances, DIR *d, const char **name)
{
	struct dirent *e;
	int dir;

	while ((e = readdir(d))) {
		*name = e->d_name;
		if (strncmp(*name, PDET_INSTANCE_PREFIX,
			    strlen(PDET_INSTANCE_PREFIX)))
			continue;
		dir = lock(instances, *name);
		if (dir >= 0)
			return dir;
	}
	return -ENOENT;
}

/* One that somebody reads stays. */
static void remove_dead(int instances)
{
	DIR *d = pdet_tracefs_list(instances, ".");
	const char *name;
	int dir;

	if (!d)
		return;
	while ((dir = next_dead(instances, d, &name)) >= 0) {
		unlinkat(instances, name, AT_REMOVEDIR);
		close(dir);
	}
	closedir(d);
}

bool pdet_instance_stray(unsigned n, char *name, size_t size)
{
	const int instances = pdet_tracefs_open_instances();
	DIR *d = instances < 0 ? NULL : pdet_tracefs_list(instances, ".");
	const char *one;
	int dir = -1;

	for (n++; d && n && (dir = next_dead(instances, d, &one)) >= 0; n--) {
		snprintf(name, size, "%s", one);
		close(dir);
	}
	if (d)
		closedir(d);
	if (instances >= 0)
		close(instances);
	return !n;
}

static int make(struct pdet_instance *i)
{
	unsigned n;
	int r = -EAGAIN;

	for (n = 0; n < TRIES && (r == -EAGAIN || r == -ENOENT); n++) {
		snprintf(i->name, sizeof(i->name),
			 PDET_INSTANCE_PREFIX "%016" PRIx64 "-%08x",
			 pdet_clock_ns(CLOCK_BOOTTIME), (unsigned)getpid());
		if (mkdirat(i->instances, i->name, 0700))
			return -errno;
		r = lock(i->instances, i->name);
	}
	i->dir = r;
	return r < 0 ? r : 0;
}

static int cannot(struct pdet_env *env, const struct pdet_instance *i, int r)
{
	switch (r) {
	case -EACCES:
	case -EPERM:
		return pdet_fail(env, EACCES, "cannot %s: it needs root, and a "
				 "kernel that is not locked down", i->purpose);
	case -ENOENT:
	case -ENODEV:
		return pdet_fail(env, ENOTSUP, "cannot %s: this kernel does "
				 "not have tracefs", i->purpose);
	default:
		errno = -r;
		return pdet_fail_errno(env, "cannot %s: no trace instance",
				       i->purpose);
	}
}

int pdet_instance_new(struct pdet_env *env, const char *purpose,
		      struct pdet_instance *ret)
{
	int r;

	ret->purpose = purpose;
	ret->dir = ret->on = -1;
	ret->instances = pdet_tracefs_open_instances();
	if (ret->instances < 0)
		return cannot(env, ret, ret->instances);
	remove_dead(ret->instances);
	r = make(ret);
	if (r < 0)
		return cannot(env, ret, r);
	ret->on = openat(ret->dir, "tracing_on", O_WRONLY | O_CLOEXEC);
	return ret->on < 0 ? cannot(env, ret, -errno) : 0;
}

void pdet_instance_end(struct pdet_instance *i)
{
	if (i->on >= 0)
		close(i->on);
	if (i->dir >= 0) {
		unlinkat(i->instances, i->name, AT_REMOVEDIR);
		close(i->dir);
	}
	if (i->instances >= 0)
		close(i->instances);
	i->on = i->dir = i->instances = -1;
}

/* --- who records --- */

/* The number before the processor, "NAME-NUMBER [CPU]"; a name has any text. */
static bool number_before(const char *text, const char *at, uint64_t *ret)
{
	while (at > text && strncmp(at, " [", 2))
		at--;
	while (at > text && *at == ' ')
		at--;
	while (at > text && at[-1] >= '0' && at[-1] <= '9')
		at--;
	if (at == text || at[-1] != '-')
		return false;
	*ret = strtoull(at, NULL, 10);
	return *ret;
}

int pdet_instance_self(struct pdet_env *env, const struct pdet_instance *i,
		       uint64_t *ret)
{
	char mark[80], *text = malloc(MOST_TEXT);
	const char *at;
	size_t n = 0;
	ssize_t got = 1;
	int fd, r;

	if (!text)
		return pdet_fail(env, ENOMEM, "no memory");
	snprintf(mark, sizeof(mark), "%s-%ld", i->name,
		 (long)syscall(SYS_gettid));
	r = pdet_tracefs_put(i->dir, "trace_marker", mark);
	fd = r < 0 ? r : openat(i->dir, "trace", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && got > 0 && n < MOST_TEXT - 1) {
		got = read(fd, text + n, MOST_TEXT - 1 - n);
		n += (size_t)PDET_MAX(got, 0);
	}
	if (fd >= 0)
		close(fd);
	text[n] = '\0';
	at = strstr(text, mark);
	r = at && number_before(text, at, ret) ? 0 :
	    pdet_fail(env, EIO, "cannot record allocations: the kernel does "
		      "not show what is written to trace_marker");
	free(text);
	return r;
}

/* --- settings --- */

int pdet_instance_set(struct pdet_env *env, const struct pdet_instance *i,
		      const char *name, const char *text)
{
	const int r = pdet_tracefs_put(i->dir, name, text);

	if (r == 0)
		return 0;
	errno = -r;
	return pdet_fail_errno(env, "cannot %s: cannot write '%s' to %s of a "
			       "trace instance", i->purpose, text, name);
}

static int set_buffer(struct pdet_env *env, const struct pdet_instance *i,
		      uint64_t bytes)
{
	char text[32];
	int r;

	snprintf(text, sizeof(text), "%" PRIu64, bytes >> 10);
	r = pdet_tracefs_put(i->dir, "buffer_size_kb", text);
	if (r == -ENOMEM || r == -EINVAL)
		return pdet_fail(env, ENOMEM, "cannot %s: no memory for "
				 "buffers of %s KiB for each processor",
				 i->purpose, text);
	errno = -r;
	return r == 0 ? 0 : pdet_fail_errno(env, "cannot set the size of a "
					    "trace buffer");
}

/*
 * A new instance has the options of the top one, and not every kernel has all
 * of these.
 */
static void set_options(const struct pdet_instance *i)
{
	static const char *const options[] = { "overwrite", "record-cmd",
		"noevent-fork", "nouserstacktrace", "nopause-on-trace" };
	size_t k;

	for (k = 0; k < PDET_COUNT(options); k++)
		pdet_tracefs_put(i->dir, "trace_options", options[k]);
}

static int set_stacks(struct pdet_env *env, const struct pdet_instance *i,
		      bool on)
{
	const int r = pdet_tracefs_put(i->dir, "trace_options",
				       on ? "stacktrace" : "nostacktrace");

	return r < 0 && on ? pdet_fail(env, ENOTSUP, "cannot record stacks: "
				       "this kernel has no CONFIG_STACKTRACE") :
			     0;
}

/*
 * A thread that is interrupted may be current while others free objects: those
 * stay. 8 is TRACE_FLAG_HARDIRQ, 16 TRACE_FLAG_SOFTIRQ.
 */
static void filter_text(char *text, size_t size,
			const struct pdet_instance_wants *w)
{
	size_t n = 0;
	unsigned k;

	for (k = 0; k < w->n_without; k++)
		n += (size_t)snprintf(text + n, size - n,
				      "%scommon_pid != %" PRIu64,
				      k ? " && " : "(", w->without[k]);
	snprintf(text + n, size - n, ") || common_flags & 24");
}

/*
 * A filter for all events of kmem at once would make the kernel free the one
 * before, which would be recorded.
 */
static int enable_one(struct pdet_env *env, const struct pdet_instance *i,
		      const char *event, const struct pdet_instance_wants *w)
{
	char name[80], filter[160];
	int r = 0;

	if (w->n_without) {
		filter_text(filter, sizeof(filter), w);
		snprintf(name, sizeof(name), "events/kmem/%s/filter", event);
		r = pdet_instance_set(env, i, name, filter);
	}
	snprintf(name, sizeof(name), "events/kmem/%s/enable", event);
	return r < 0 ? r : pdet_instance_set(env, i, name, "1");
}

static int enable(struct pdet_env *env, const struct pdet_instance *i,
		  const struct pdet_instance_wants *w)
{
	const char *event;
	char name[80];
	unsigned n;
	int r = 0;

	for (n = 0; r == 0 && (event = pdet_instance_event(w->pages, n)); n++) {
		snprintf(name, sizeof(name), "events/kmem/%s", event);
		if (faccessat(i->dir, name, F_OK, 0) == 0)
			r = enable_one(env, i, event, w);
		else if (n < NEEDED)
			r = pdet_fail(env, ENOTSUP, "cannot record "
				      "allocations: this kernel does not have "
				      "the event kmem:%s", event);
	}
	return r;
}

/* Opening it so empties the buffers. */
static int forget(struct pdet_env *env, const struct pdet_instance *i)
{
	const int fd = openat(i->dir, "trace", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return pdet_fail_errno(env, "cannot empty a trace buffer");
	close(fd);
	return 0;
}

int pdet_instance_switch(struct pdet_env *env, const struct pdet_instance *i,
			 bool on)
{
	return pwrite(i->on, on ? "1" : "0", 1, 0) == 1 ? 0 :
	       pdet_fail_errno(env, "cannot switch a trace instance");
}

int pdet_instance_prepare(struct pdet_env *env, const struct pdet_instance *i,
			  const struct pdet_instance_wants *w)
{
	int r = pdet_instance_switch(env, i, false);

	set_options(i);
	if (r == 0)
		r = set_stacks(env, i, w->stacks);
	if (r == 0)
		r = pdet_instance_set(env, i, "trace_clock", w->clock);
	if (r == 0)
		r = set_buffer(env, i, w->buffer);
	return r < 0 ? r : forget(env, i);
}

int pdet_instance_set_up(struct pdet_env *env, const struct pdet_instance *i,
			 const struct pdet_instance_wants *w)
{
	const int r = pdet_instance_prepare(env, i, w);

	return r < 0 ? r : enable(env, i, w);
}
