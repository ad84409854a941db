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
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/text/stat.h"
#include "kernel/text/status.h"
#include "unwind/perf_file.h"
#include "unwind/process_tmp.h"

#define SECOND 1000000000ull

/* --- the process --- */

/* A kernel without namespaces of pids has no NStgid. */
static int parse_status(struct pdet_scan text, struct pdet_perf_process *p)
{
	if (!pdet_status_number(text, "Tgid:", 0, &p->tgid) || !p->tgid ||
	    p->tgid > UINT32_MAX ||
	    !pdet_status_number(text, "Uid:", 1, &p->user))
		return -EBADMSG;
	p->pid = p->tgid;
	return !pdet_status_has(text, "NStgid:") ||
	       pdet_status_number(text, "NStgid:", PDET_STATUS_LAST, &p->pid) ?
	       0 : -EBADMSG;
}

static int read_process(const struct pdet_env *env, uint32_t tid,
			struct pdet_perf_process *p)
{
	struct pdet_text text;
	int r = pdet_slurp(env, &text, PDET_STATUS_BYTES, "/proc/%u/status",
			   tid);

	if (r < 0)
		return r;
	r = parse_status((struct pdet_scan){ text.data, text.data + text.len },
			 p);
	pdet_text_free(&text);
	return r < 0 ? r : pdet_stat_number(env, (uint32_t)p->tgid,
					    PDET_STAT_START, &p->start);
}

static bool is_same_process(const struct pdet_perf_process *a,
			    const struct pdet_perf_process *b)
{
	return a->tgid == b->tgid && a->pid == b->pid && a->user == b->user &&
	       a->start == b->start;
}

/* In ns of CLOCK_REALTIME. */
static uint64_t start_of(const struct pdet_perf_process *p)
{
	const uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	return pdet_clock_ns(CLOCK_REALTIME) - pdet_clock_ns(CLOCK_BOOTTIME) +
	       p->start / hz * SECOND + p->start % hz * SECOND / hz;
}

/* --- the file --- */

/* Returns NULL if the file may be believed. */
static const char *check(const struct pdet_perf_process *p,
			 const struct stat *st)
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
	if (st->st_mtim.tv_sec < 0 || written + SECOND < start_of(p))
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
	case -EXDEV:
		return "something is mounted on it";
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

static void forget_map(struct pdet_perf_file *f)
{
	pdet_perf_map_free(&f->map);
	f->has_map = false;
}

/* Returns NULL if the map is there. */
static const char *load(struct pdet_perf_file *f)
{
	struct stat st;
	const char *why;
	int r;

	if (f->fd < 0)
		return why_not(f->fd);
	if (fstat(f->fd, &st) < 0)
		return why_not(-errno);
	why = check(&f->process, &st);
	if (!why && f->has_map && is_same(&f->st, &st))
		return NULL;
	forget_map(f);
	if (why)
		return why;
	r = read_map(f->fd, &f->map);
	if (r < 0)
		return why_not(r);
	f->st = st;
	f->has_map = true;
	return NULL;
}

static void put_words(struct pdet_perf_file *f, const char *why)
{
	char name[48] = "", bad[64] = "";

	if (f->process.tgid)
		snprintf(name, sizeof(name), "/tmp/perf-%llu.map ",
			 (unsigned long long)f->process.pid);
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

/* Whether it will be so for the next thread of the process, too. */
static bool stays(int fd)
{
	switch (fd) {
	case -ENOENT:
	case -ENOTDIR:
	case -ELOOP:
	case -EXDEV:
	case -EREMOTE:
		return true;
	default:
		return fd >= 0;
	}
}

static void find(struct pdet_perf_file *f, const struct pdet_env *env,
		 uint32_t tid, const struct pdet_perf_process *p)
{
	char name[64];

	if (is_same_process(&f->process, p))
		return;
	pdet_perf_file_free(f);
	snprintf(name, sizeof(name), "perf-%llu.map",
		 (unsigned long long)p->pid);
	f->fd = pdet_process_tmp_open(env, tid, name);
	if (stays(f->fd))
		f->process = *p;
}

void pdet_perf_file_open(struct pdet_perf_file *f, const struct pdet_env *env,
			 uint32_t tid)
{
	struct pdet_perf_process p = { .tgid = 0 };
	const int r = read_process(env, tid, &p);

	if (r < 0) {
		pdet_perf_file_free(f);
		put_words(f, why_not(r));
		return;
	}
	find(f, env, tid, &p);
	put_words(f, load(f));
}

bool pdet_perf_file_changed(const struct pdet_perf_file *f)
{
	struct stat st;

	return f->has_map && (fstat(f->fd, &st) < 0 || !is_same(&f->st, &st));
}

void pdet_perf_file_drop(struct pdet_perf_file *f)
{
	forget_map(f);
	put_words(f, "it changed while the stack was read");
}

void pdet_perf_file_free(struct pdet_perf_file *f)
{
	if (f->process.tgid && f->fd >= 0)
		close(f->fd);
	forget_map(f);
	f->process.tgid = 0;
}
