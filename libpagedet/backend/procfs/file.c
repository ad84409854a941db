/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Opens files for their cached pages, and counts those pages. It checks the
 * type of a file before opening it for reading, because opening a FIFO or a
 * tape drive has side effects.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backend/procfs/file.h"
#include "base/io.h"
#include "kernel/object/file.h"

#ifndef SYS_faccessat2
#define SYS_faccessat2 439	/* 5.8 */
#endif

/* Below a root, symbolic links must also stay below it. */
static int open_in_root(const char *root, const char *path)
{
	const int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (dir < 0)
		return -errno;
	fd = pdet_open_how(dir, path, O_PATH, RESOLVE_IN_ROOT);
	close(dir);
	return fd;
}

static int open_path(const char *path)
{
	const int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int procfs_path_open(struct pdet_env *env, const char *path)
{
	char full[PATH_MAX];
	int fd = *env->root ? open_in_root(env->root, path) : open_path(path);

	if (*env->root && fd == -ENOSYS) {
		if (pdet_path(env, full, sizeof(full), "/%s", path) < 0)
			return pdet_fail(env, EINVAL, "cannot open %s:"
					 " the path is too long", path);
		fd = open_path(full);
	}
	if (fd >= 0)
		return fd;
	errno = -fd;
	return pdet_fail_errno(env, "cannot open %s", path);
}

char *procfs_path_shown(struct pdet_env *env, const char *path)
{
	char cwd[PATH_MAX];
	char *shown;

	if (*path == '/')
		return strdup(path);
	while (path[0] == '.' && path[1] == '/')
		for (path += 2; *path == '/'; path++)
			;
	if (!strcmp(path, "."))
		path = "";
	/* A relative path starts at the root, if there is one. */
	if (*env->root || !getcwd(cwd, sizeof(cwd)) || !strcmp(cwd, "/"))
		cwd[0] = '\0';
	if (asprintf(&shown, "%s%s%s", cwd, *path || !*cwd ? "/" : "",
		     path) < 0)
		return NULL;
	return shown;
}

/*
 * Open the file of an O_PATH descriptor for reading. Returns a descriptor, or a
 * negative errno.
 */
static int reopen(const struct procfs_own *own, int fd)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	char path[64];
	int at, ret;

	/* An open directory saves the path lookup. It belongs to the thread
	 * that opened it, which may have ended. */
	at = snprintf(path, sizeof(path), "/proc/thread-self/fd/");
	snprintf(path + at, sizeof(path) - (size_t)at, "%d", fd);
	do {
		ret = openat(own->fds, path + at, flags | O_NOATIME);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0 && (errno == ENOENT || errno == EBADF))
		ret = open(path, flags | O_NOATIME);
	if (ret < 0 && errno == EPERM)
		ret = open(path, flags);
	return ret < 0 ? -errno : ret;
}

int procfs_stat(int fd, struct statx *ret)
{
	if (statx(fd, "", AT_EMPTY_PATH,
		  STATX_BASIC_STATS | STATX_MNT_ID, ret))
		return -errno;
	return 0;
}

struct procfs_own *procfs_own_new(void)
{
	struct procfs_own *own = malloc(sizeof(*own));

	if (!own)
		return NULL;
	atomic_init(&own->users, 1);
	own->pagemap = open("/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC);
	if (own->pagemap < 0)
		own->pagemap = -errno;
	own->fds = open("/proc/thread-self/fd",
			O_PATH | O_DIRECTORY | O_CLOEXEC);
	return own;
}

void procfs_own_drop(struct procfs_own *own)
{
	if (!own || atomic_fetch_sub(&own->users, 1) != 1)
		return;
	if (own->pagemap >= 0)
		close(own->pagemap);
	if (own->fds >= 0)
		close(own->fds);
	free(own);
}

int procfs_file_pagemap(const struct procfs *p, const struct procfs_cached *f)
{
	int fd = procfs_handed_fd(p, PAGEDET_FD_PAGEMAP, (uint32_t)getpid());

	if (fd >= 0)
		return fd;
	return p->pfn_hidden ? -EACCES : f->own->pagemap;
}

/* Set dev and inode if stat shows them as kernel memory has them. overlayfs
 * shows another inode, as fuse may; btrfs and ceph show another device. */
static void identify(struct procfs_cached *f, const struct statx *st,
		     unsigned long magic)
{
	if (f->file.block || magic == OVERLAYFS_SUPER_MAGIC ||
	    magic == FUSE_SUPER_MAGIC || magic == BTRFS_SUPER_MAGIC ||
	    magic == CEPH_SUPER_MAGIC)
		return;
	f->file.dev = (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
	f->file.inode = st->stx_ino;
}

static int open_data(struct pdet_env *env, struct procfs_cached *f, int fd,
		     const struct procfs_own *own, uint64_t size)
{
	/*
	 * Files of proc and similar filesystems have size 0, and opening some
	 * has side effects.
	 */
	if (!f->file.block && !size)
		return 0;
	f->fd = reopen(own, fd);
	if (f->fd < 0) {
		errno = -f->fd;
		return pdet_fail_errno(env, "cannot read %s", f->path);
	}
	if (f->file.block && ioctl(f->fd, BLKGETSIZE64, &size)) {
		pdet_fail_errno(env, "cannot read the size of %s", f->path);
		close(f->fd);
		return -EIO;
	}
	f->file.pages = (size >> f->shift) +
			!!(size & (((uint64_t)1 << f->shift) - 1));
	return 0;
}

int procfs_cached_new(struct pdet_session *s, int fd, const struct statx *st,
		      unsigned long magic, struct procfs_own *own,
		      const char *path, struct procfs_cached **ret)
{
	size_t len = strlen(path);
	struct procfs_cached *f = calloc(1, sizeof(*f) + len + 1);
	int r;

	if (!f)
		return pdet_fail(&s->env, ENOMEM, "no memory");
	memcpy(f->path, path, len + 1);
	f->file.backend = s->backend;
	f->file.path = f->path;
	f->file.block = S_ISBLK(st->stx_mode);
	f->file.kind = f->file.block ? PAGEDET_KIND_FILE :
				       pdet_kind_of_fs(magic);
	f->fd = -1;
	f->shift = procfs_of(s->backend)->page_shift;
	/* An overlayfs inode has no pages of its own, and a fuse inode may have
	 * none. mmap maps the pages of an underlying file, but cachestat does
	 * not count them. */
	f->counts = f->file.block || (magic != OVERLAYFS_SUPER_MAGIC &&
				      magic != FUSE_SUPER_MAGIC);
	f->swaps = f->file.kind == PAGEDET_KIND_SHMEM;
	f->huge = f->file.kind == PAGEDET_KIND_HUGETLB;
	identify(f, st, magic);
	if (pthread_mutex_init(&f->lock, NULL)) {
		free(f);
		return pdet_fail(&s->env, ENOMEM, "no memory");
	}
	r = open_data(&s->env, f, fd, own, st->stx_size);
	if (r < 0) {
		pthread_mutex_destroy(&f->lock);
		free(f);
		return r;
	}
	atomic_fetch_add(&own->users, 1);
	f->own = own;
	*ret = f;
	return 0;
}

/* NULL if the pages of the file can be walked, otherwise its type. */
static const char *unwalkable(unsigned mode, bool block)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return block ? "a regular file, not a block device" : NULL;
	case S_IFBLK:
		return block ? NULL : "a block device, not a file";
	case S_IFDIR:
		return "a directory";
	case S_IFCHR:
		return "a character device";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	default:
		return "neither a file nor a block device";
	}
}

static int open_found(struct pdet_session *s, const char *path, bool block,
		      int fd, struct procfs_cached **ret)
{
	struct procfs_own *own;
	struct statfs fs;
	struct statx st;
	const char *what;
	char *shown;
	int r;

	r = procfs_stat(fd, &st);
	if (r < 0 || fstatfs(fd, &fs) < 0)
		return pdet_fail_errno(&s->env, "cannot stat %s", path);
	what = unwalkable(st.stx_mode, block);
	if (what)
		return pdet_fail(&s->env, EINVAL, "cannot walk %s: it is %s",
				 path,
				 what);
	own = procfs_own_new();
	shown = own ? procfs_path_shown(&s->env, path) : NULL;
	if (shown)
		r = procfs_cached_new(s, fd, &st, (unsigned long)fs.f_type,
				      own, shown, ret);
	else
		r = pdet_fail(&s->env, ENOMEM, "no memory");
	free(shown);
	procfs_own_drop(own);
	return r;
}

int procfs_file_open(struct pdet_session *s, const char *path, bool block,
		     struct pdet_file **ret)
{
	struct procfs_cached *f;
	int fd, r;

	fd = procfs_path_open(&s->env, path);
	if (fd < 0)
		return fd;
	r = open_found(s, path, block, fd, &f);
	close(fd);
	if (r < 0)
		return r;
	*ret = &f->file;
	return 0;
}

uint64_t procfs_file_size(struct pdet_backend *b, struct pdet_env *env,
			  const char *path)
{
	const int fd = procfs_path_open(env, path);
	struct statx st;

	if (fd < 0 || procfs_stat(fd, &st) < 0)
		st.stx_size = 0;
	if (fd >= 0)
		close(fd);
	pdet_clear(env);
	return st.stx_size >> procfs_of(b)->page_shift;
}

int procfs_file_fd(const struct pdet_file *file)
{
	const struct procfs_cached *f =
		PDET_CONTAINER(file, const struct procfs_cached, file);

	return f->counts ? f->fd : -1;
}

void procfs_file_close(struct pdet_file *file)
{
	struct procfs_cached *f;

	if (!file)
		return;
	f = procfs_cached_of(file);
	procfs_views_free(f);
	pthread_mutex_destroy(&f->lock);
	if (f->fd >= 0)
		close(f->fd);
	procfs_own_drop(f->own);
	free(f);
}

int procfs_cachestat(const struct procfs_cached *f, uint64_t first,
		     uint64_t n, struct pdet_cachestat *ret)
{
	return pdet_cachestat(f->fd, first << f->shift, n << f->shift, ret);
}

int procfs_lens(struct pdet_env *env, const struct procfs_cached *f,
		struct procfs_lens *ret)
{
	struct pdet_cachestat cs;

	if (f->huge)
		return pdet_fail(env, ENOTSUP, "cannot see which pages of %s "
				 "are cached: hugetlbfs does not say",
				 f->path);
	ret->counts = f->counts && procfs_cachestat(f, 0, 1, &cs) == 0;
	/* The same check as the kernel's for write access. The check for the
	 * owner is replaced by a test of mincore. */
	ret->honest = (f->counts &&
		       syscall(SYS_faccessat2, f->fd, "", W_OK,
			       AT_EMPTY_PATH | AT_EACCESS) == 0) ||
		      procfs_mincore_honest(f);
	if (ret->counts || ret->honest)
		return 0;
	pdet_fail(env, EACCES, "cannot see which pages of %s are cached: "
		  "permission denied", f->path);
	pdet_advise(env, "needs the owner of the file, permission to write it, "
		    "or CAP_FOWNER");
	return -EACCES;
}

/* Count with mincore if cachestat cannot be used. */
static int count_resident(struct pdet_env *env, struct procfs_cached *f,
			  uint64_t first, uint64_t end, uint64_t *ret)
{
	uint8_t state[PROCFS_WINDOW_PAGES];
	struct procfs_window w;
	uint64_t count = 0;
	uint32_t i, n;
	int r;

	for (; first < end; first += n) {
		n = (uint32_t)PDET_MIN(end - first,
				       procfs_window_pages(f->shift));
		memset(state, 0, n);
		r = procfs_window_map(f, first, n, &w);
		if (r == -ENODEV)
			return pdet_fail(env, ENOTSUP, "cannot see which pages "
					 "of %s are cached: it cannot be "
					 "mapped", f->path);
		if (r == 0) {
			r = procfs_window_resident(&w, 0, n, state);
			procfs_window_unmap(&w);
		}
		if (r < 0) {
			errno = -r;
			return pdet_fail_errno(env, "cannot map %s", f->path);
		}
		for (i = 0; i < n; i++)
			count += !!(state[i] & PROCFS_RESIDENT);
	}
	*ret = count;
	return 0;
}

int procfs_file_count(struct pdet_session *s, struct pdet_file *file,
		      uint64_t first, uint64_t count,
		      struct pdet_file_count *ret)
{
	struct procfs_cached *f = procfs_cached_of(file);
	struct procfs_lens lens = { 0 };
	struct pdet_cachestat cs;
	int r;

	memset(ret, 0, sizeof(*ret));
	if (first >= file->pages || !count)
		return 0;
	count = PDET_MIN(count, file->pages - first);
	if (f->counts && procfs_cachestat(f, first, count, &cs) == 0) {
		ret->pages = cs.cached;
		return 0;
	}
	r = procfs_lens(&s->env, f, &lens);
	if (r < 0)
		return r;
	if (!lens.honest)
		return pdet_fail(&s->env, EIO, "cannot count the cached pages "
				 "of %s", f->path);
	return count_resident(&s->env, f, first, first + count, &ret->pages);
}
