/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The process sees the file in its own /tmp, by its pid in its own namespace.
 * perf believes the user who runs it, and root. Here the owner must be the
 * process's effective user, who could change its memory as well, or root: files
 * that were prepared for perf belong to root.
 *
 * A file that was last written before the process started is of an earlier
 * process with its pid. The clock may have been set since; then the worst is
 * that a file of the process's own user is believed, or is refused. Nothing
 * tells when a process executed its program.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text/text.h"
#include "kernel/text/stat.h"
#include "unwind/local_file.h"
#include "unwind/perf_file.h"

#define SECOND 1000000000ull

/* What /proc says of a process. */
struct process {
	uint64_t tgid;		/* in the namespace of /proc */
	uint64_t pid;		/* the same, in its own namespace */
	uint64_t user;		/* effective */
	uint64_t start;		/* ns of CLOCK_REALTIME */
};

/* --- the process --- */

/* The number that is the last one, or the one at @place, from 0. */
static bool take_number(struct pdet_scan line, unsigned place, uint64_t *ret)
{
	uint64_t number;
	unsigned i;

	for (i = 0; pdet_scan_blanks(&line), pdet_scan_dec(&line, &number);
	     i++) {
		*ret = number;
		if (i == place)
			break;
	}
	return i > 0;
}

/* A kernel without namespaces of pids has no NStgid. */
static int parse_status(struct pdet_scan all, struct process *p)
{
	bool has_tgid = false, has_pid = true, has_user = false;
	struct pdet_scan line;

	while (pdet_scan_line(&all, &line))
		if (pdet_scan_word(&line, "Tgid:")) {
			has_tgid = take_number(line, UINT_MAX,
					       &p->tgid);
			p->pid = p->tgid;
		} else if (pdet_scan_word(&line, "NStgid:")) {
			has_pid = take_number(line, UINT_MAX, &p->pid);
		} else if (pdet_scan_word(&line, "Uid:")) {
			has_user = take_number(line, 1, &p->user);
		}
	return has_tgid && has_pid && has_user && p->tgid <= UINT32_MAX ?
	       0 : -EBADMSG;
}

static int read_process(const struct pdet_env *env, uint32_t tid,
			struct process *p)
{
	const uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
	struct pdet_text text;
	uint64_t ticks;
	int r = pdet_slurp(env, &text, 1 << 20, "/proc/%u/status", tid);

	if (r < 0)
		return r;
	r = parse_status((struct pdet_scan){ text.data, text.data + text.len },
			 p);
	pdet_text_free(&text);
	if (r == 0)
		r = pdet_stat_number(env, (uint32_t)p->tgid, PDET_STAT_START,
				     &ticks);
	if (r < 0)
		return r;
	p->start = pdet_clock_ns(CLOCK_REALTIME) -
		   pdet_clock_ns(CLOCK_BOOTTIME) +
		   ticks / hz * SECOND + ticks % hz * SECOND / hz;
	return 0;
}

/* --- the file --- */

/* Nothing is opened for reading before it is known to be a regular file: a FIFO
 * would notice it, and a device can do anything. */
static int find_file(const struct pdet_env *env, uint32_t tid,
		     const struct process *p, struct stat *st)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS,
	};
	char path[PATH_MAX], name[64];
	int root, fd, r;

	snprintf(name, sizeof(name), "/tmp/perf-%llu.map",
		 (unsigned long long)p->pid);
	r = pdet_path(env, path, sizeof(path), "/proc/%u/mountinfo", tid);
	if (r == 0)
		r = pdet_check_mounts(path, name, false);
	if (r == 0)
		r = pdet_path(env, path, sizeof(path), "/proc/%u/root", tid);
	if (r < 0)
		return r;
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, name + 1, &how, sizeof(how));
	r = fd < 0 || fstat(fd, st) < 0 ? -errno : 0;
	close(root);
	if (r == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return r;
}

/* Returns NULL if the file may be believed. */
static const char *check(const struct process *p, const struct stat *st)
{
	const uint64_t written = (uint64_t)st->st_mtim.tv_sec * SECOND +
				 (uint64_t)st->st_mtim.tv_nsec;

	if (!S_ISREG(st->st_mode))
		return "it is not a regular file";
	if (st->st_uid && st->st_uid != p->user)
		return "it belongs to another user";
	if (st->st_mode & S_IWOTH)
		return "every user may write it";
	if ((uint64_t)st->st_size > PDET_PERF_BYTES)
		return "it is too large";
	/* Clocks have ticks. */
	if (st->st_mtim.tv_sec < 0 || written + SECOND < p->start)
		return "it was last written before the process started";
	return NULL;
}

static const char *why_not(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENOTDIR:
		return "there is none";
	case -ELOOP:
		return "a symbolic link is in its way";
	case -EREMOTE:
		return "it is or may be on a network filesystem or FUSE";
	case -EFBIG:
	case -EOVERFLOW:
		return "it is too large";
	case -ENOMEM:
		return "there is no memory for it";
	default:
		return "it cannot be read";
	}
}

static int read_map(int fd, struct pdet_perf_map *ret)
{
	char path[64];
	int in, r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	in = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (in < 0)
		return -errno;
	r = pdet_slurp_fd(in, &ret->text, PDET_PERF_BYTES);
	close(in);
	return r < 0 ? r : pdet_perf_map_parse(ret);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Returns NULL if the map is there. */
static const char *load(struct pdet_perf_file *f, int fd,
			const struct process *p, const struct stat *st)
{
	const char *why = check(p, st);
	int r;

	if (why)
		return why;
	if (f->has_map && is_same(&f->st, st))
		return NULL;
	pdet_perf_map_free(&f->map);
	f->has_map = false;
	r = read_map(fd, &f->map);
	if (r < 0)
		return why_not(r);
	f->st = *st;
	f->has_map = true;
	return NULL;
}

static void put_words(struct pdet_perf_file *f, const struct process *p,
		      const char *why)
{
	char name[48] = "", bad[64] = "";

	if (p->pid)
		snprintf(name, sizeof(name), "/tmp/perf-%llu.map ",
			 (unsigned long long)p->pid);
	if (f->map.bad)
		snprintf(bad, sizeof(bad), "; %zu of its lines are not "
			 "understood", f->map.bad);
	snprintf(f->why, sizeof(f->why), "the map file %sof its compiler is "
		 "not used: %s", name, why ? why : "");
	snprintf(f->lacks, sizeof(f->lacks), "the map file %sof its compiler "
		 "does not have it%s", name, bad);
	snprintf(f->cut, sizeof(f->cut), "in the map file %sof its compiler, "
		 "a later function has a part of its place", name);
}

const struct pdet_perf_map *pdet_perf_file_open(struct pdet_perf_file *f,
						const struct pdet_env *env,
						uint32_t tid)
{
	struct process p = { .pid = 0 };
	const char *why;
	struct stat st;
	int fd = read_process(env, tid, &p);

	if (fd == 0)
		fd = find_file(env, tid, &p, &st);
	why = fd < 0 ? why_not(fd) : load(f, fd, &p, &st);
	if (fd >= 0)
		close(fd);
	put_words(f, &p, why);
	return why ? NULL : &f->map;
}

void pdet_perf_file_free(struct pdet_perf_file *f)
{
	pdet_perf_map_free(&f->map);
	f->has_map = false;
}
