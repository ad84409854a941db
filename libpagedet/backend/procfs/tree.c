/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks all files below a directory, or of a mounted filesystem. Each name is
 * looked up in an open directory, and never through a symbolic link. A rename
 * therefore cannot lead out of the tree. Each level keeps one directory open,
 * so DEPTH bounds the depth.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backend/procfs/file.h"
#include "base/hash.h"
#include "base/io.h"
#include "kernel/text/mountinfo.h"

#define DEPTH 256
#define NAMES_SIZE 16384	/* bytes of names read at a time */

/* A directory being read. */
struct level {
	int fd;
	size_t path_len;	/* length of its path in the tree's path */
	size_t at, len;		/* position in names */
	char *names;		/* entries from getdents64(2) */
};

/* An inode with several names. */
struct inode {
	uint64_t dev;
	uint64_t ino;		/* 0 with dev 0: an empty slot */
};

struct tree {
	struct pdet_tree tree;
	struct procfs_own *own;
	unsigned long magic;	/* of the filesystem */
	bool by_mount;		/* the kernel provides mount ids */
	uint64_t mount;
	uint64_t dev;
	struct {
		struct level *data;
		size_t n, cap;
	} levels;
	struct {
		char *data;
		size_t n, cap;
	} path;
	struct {
		struct inode *slot;
		size_t n, slots;
	} seen;
};

/* --- inodes with several names --- */

static struct inode *slot_of(struct inode *slot, size_t slots,
			     const struct inode *want)
{
	size_t i = pdet_hash(want, sizeof(*want)) & (slots - 1);

	while ((slot[i].dev || slot[i].ino) &&
	       (slot[i].dev != want->dev || slot[i].ino != want->ino))
		i = (i + 1) & (slots - 1);
	return &slot[i];
}

static bool seen_grow(struct tree *t)
{
	size_t i, slots = t->seen.slots ? t->seen.slots * 2 : 64;
	struct inode *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return false;
	for (i = 0; i < t->seen.slots; i++)
		if (t->seen.slot[i].dev || t->seen.slot[i].ino)
			*slot_of(slot, slots, &t->seen.slot[i]) =
				t->seen.slot[i];
	free(t->seen.slot);
	t->seen.slot = slot;
	t->seen.slots = slots;
	return true;
}

/*
 * Returns 1 if it is new, and records it; 0 if it was seen before; or a
 * negative errno.
 */
static int seen_add(struct tree *t, const struct statx *st)
{
	struct inode want = {
		(uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor,
		st->stx_ino
	};
	struct inode *slot;

	if (t->seen.n * 2 >= t->seen.slots && !seen_grow(t))
		return -ENOMEM;
	slot = slot_of(t->seen.slot, t->seen.slots, &want);
	if (slot->dev || slot->ino)
		return 0;
	*slot = want;
	t->seen.n++;
	return 1;
}

/* --- directories --- */

static bool set_path(struct tree *t, size_t len, const char *name)
{
	const size_t add = strlen(name);
	char *bigger;
	size_t cap;

	if (len + add + 2 > t->path.cap) {
		cap = (len + add + 2) * 2;
		bigger = realloc(t->path.data, cap);
		if (!bigger)
			return false;
		t->path.data = bigger;
		t->path.cap = cap;
	}
	if (add && len && t->path.data[len - 1] != '/')
		t->path.data[len++] = '/';
	memcpy(t->path.data + len, name, add + 1);
	t->path.n = len + add;
	return true;
}

/* Descend into the directory of an O_PATH descriptor, whose path is the tree's
 * path. */
static int push(struct tree *t, int fd)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	struct level l = { .path_len = t->path.n };

	l.fd = openat(fd, ".", flags | O_NOATIME);
	if (l.fd < 0 && errno == EPERM)
		l.fd = openat(fd, ".", flags);
	if (l.fd < 0)
		return -errno;
	l.names = malloc(NAMES_SIZE);
	if (l.names && pdet_vec_push(&t->levels, l))
		return 0;
	free(l.names);
	close(l.fd);
	return -ENOMEM;
}

static void pop(struct tree *t)
{
	struct level *l = &t->levels.data[--t->levels.n];

	close(l->fd);
	free(l->names);
}

/* Count and report a file that could not be examined. Returns 0 to continue.
 * Without memory or descriptors the walk ends. */
static int lost(struct pdet_session *s, struct tree *t, int code)
{
	errno = -code;
	if (!*s->env.error)
		pdet_fail_errno(&s->env, "cannot read %s", t->path.data);
	code = pdet_errno_closed(-code);
	if (code == ENOMEM)
		return -ENOMEM;
	if (code == ENOENT)
		t->tree.gone++;
	else
		t->tree.denied++;
	pdet_log(&s->env, PAGEDET_LOG_DEBUG, "%s", s->env.error);
	pdet_clear(&s->env);
	return 0;
}

static bool same_filesystem(const struct tree *t, const struct statx *st)
{
	if (t->by_mount)
		return st->stx_mnt_id == t->mount;
	return ((uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor) ==
	       t->dev;
}

/* --- entries --- */

/* Visit a file. Returns 1 and *ret, or 0 if it has no cached pages. */
static int visit(struct pdet_session *s, struct tree *t, int fd,
		 const struct statx *st, struct procfs_cached **ret)
{
	struct pdet_cachestat cs;
	struct procfs_lens lens;
	struct procfs_cached *f;
	int r;

	t->tree.files++;
	if (!st->stx_size)
		return 0;
	r = procfs_cached_new(s, fd, st, t->magic, t->own, t->path.data, &f);
	if (r < 0)
		return r;
	if (f->counts && procfs_cachestat(f, 0, f->file.pages, &cs) == 0)
		r = cs.cached ? 1 : 0;
	else
		r = procfs_lens(&s->env, f, &lens) < 0 ? -EACCES : 1;
	if (r > 0 && st->stx_nlink > 1)
		r = seen_add(t, st);
	if (r > 0)
		*ret = f;
	else
		procfs_file_close(&f->file);
	return r;
}

/*
 * Visit a name in a directory. Returns 1 and a file, 0 if it is not a file, or
 * a negative errno.
 */
static int enter(struct pdet_session *s, struct tree *t, const char *name,
		 struct procfs_cached **ret)
{
	const struct level *l = &t->levels.data[t->levels.n - 1];
	struct statx st;
	int fd, r;

	fd = openat(l->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = procfs_stat(fd, &st);
	if (r == 0 && same_filesystem(t, &st)) {
		if (S_ISREG(st.stx_mode))
			r = visit(s, t, fd, &st, ret);
		else if (S_ISDIR(st.stx_mode) && t->levels.n < DEPTH)
			r = push(t, fd);
		else if (S_ISDIR(st.stx_mode))
			r = pdet_fail(&s->env, EINVAL, "cannot read %s: it is "
				      "more than %d directories deep",
				      t->path.data, DEPTH);
	}
	close(fd);
	return r;
}

/* The next name of the deepest directory that may be a file or a directory.
 * NULL at the end of the directory, or if it cannot be read. */
static const char *next_name(struct level *l, int *error)
{
	const struct dirent64 *d;
	long got;

	*error = 0;
	for (;;) {
		if (l->at == l->len) {
			got = syscall(SYS_getdents64, l->fd, l->names,
				      NAMES_SIZE);
			if (got <= 0) {
				*error = got < 0 ? -errno : 0;
				return NULL;
			}
			l->at = 0;
			l->len = (size_t)got;
		}
		d = (const struct dirent64 *)(l->names + l->at);
		l->at += d->d_reclen;
		if (d->d_type != DT_REG && d->d_type != DT_DIR &&
		    d->d_type != DT_UNKNOWN)
			continue;
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			return d->d_name;
	}
}

int procfs_tree_next(struct pdet_session *s, struct pdet_tree *base,
		     struct pdet_file **ret)
{
	struct tree *t = PDET_CONTAINER(base, struct tree, tree);
	struct procfs_cached *f;
	struct level *l;
	const char *name;
	int r;

	pdet_clear(&s->env);
	while (t->levels.n) {
		l = &t->levels.data[t->levels.n - 1];
		name = next_name(l, &r);
		if (!set_path(t, l->path_len, name ? name : ""))
			return pdet_fail(&s->env, ENOMEM, "no memory");
		if (name)
			r = enter(s, t, name, &f);
		else
			pop(t);
		if (r < 0)
			r = lost(s, t, r);
		if (r < 0)
			return r;
		if (r > 0) {
			*ret = &f->file;
			return 1;
		}
	}
	return 0;
}

/* --- start of the walk --- */

/* True if @path is @point or below it. */
static bool below(const char *path, const char *point, size_t len)
{
	if (len == 1)
		return true;
	return !strncmp(path, point, len) && (!path[len] || path[len] == '/');
}

/*
 * The mount point of a mount id. Before 5.8 there are no ids: then it is the
 * deepest mount point above @path, and the last one of several, because that is
 * on top.
 */
static bool find_mount(struct pdet_scan text, const struct statx *st,
		       const char *path, char *point, size_t size)
{
	const bool by_id = st->stx_mask & STATX_MNT_ID;
	size_t len, best = 0;
	struct pdet_scan line;
	struct pdet_mount m;
	char name[PATH_MAX];

	while (pdet_scan_line(&text, &line)) {
		if (!pdet_mountinfo_line(line, &m))
			continue;
		if (by_id && m.id == st->stx_mnt_id)
			return pdet_mountinfo_text(m.point, point, size, &len);
		if (by_id || !pdet_mountinfo_text(m.point, name, sizeof(name),
						  &len))
			continue;
		if (len >= best && len < size && below(path, name, len)) {
			memcpy(point, name, len + 1);
			best = len;
		}
	}
	return best;
}

/* The mount point of the file of an O_PATH descriptor. */
static int mount_point(struct pdet_session *s, const char *path, int fd,
		       const struct statx *st, char *ret, size_t size)
{
	char link[64], real[PATH_MAX];
	struct pdet_text text;
	ssize_t len;
	int info, r;

	/* from our own /proc: mount points as we see them */
	info = open("/proc/thread-self/mountinfo", O_RDONLY | O_CLOEXEC);
	r = info < 0 ? -errno : pdet_slurp_fd(info, &text, PDET_MOUNTS_BYTES);
	if (info >= 0)
		close(info);
	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(&s->env,
				       "cannot read /proc/self/mountinfo");
	}
	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	len = readlink(link, real, sizeof(real) - 1);
	real[len < 0 ? 0 : len] = '\0';
	if (!find_mount((struct pdet_scan){ text.data, text.data + text.len },
			st, real, ret, size))
		r = pdet_fail(&s->env, ENOENT, "cannot find the mount point of "
			      "%s: it cannot be seen from here", path);
	pdet_text_free(&text);
	return r;
}

/* Replace a descriptor by one of the root of its mount, and return the path of
 * the mount. */
static int go_to_mount(struct pdet_session *s, const char *path, int *fd,
		       struct statx *st, char **shown)
{
	const char *root = s->env.root;
	char point[PATH_MAX];
	struct statx top;
	size_t len;
	int r, up;

	r = mount_point(s, path, *fd, st, point, sizeof(point));
	if (r < 0)
		return r;
	up = open(point, O_PATH | O_CLOEXEC);
	if (up < 0)
		return pdet_fail_errno(&s->env, "cannot open %s", point);
	r = procfs_stat(up, &top);
	if (r == 0 && st->stx_mask & top.stx_mask & STATX_MNT_ID &&
	    st->stx_mnt_id != top.stx_mnt_id) {
		close(up);
		return pdet_fail(&s->env, ENOENT, "cannot walk the filesystem "
				 "of %s: another filesystem is mounted over %s",
				 path,
				 point);
	}
	close(*fd);
	*fd = up;
	*st = top;
	if (r < 0)
		return pdet_fail_errno(&s->env, "cannot look at %s", point);
	len = strlen(root);
	if (len && below(point, root, len))
		memmove(point, point + len, strlen(point + len) + 1);
	free(*shown);
	*shown = strdup(*point ? point : "/");
	return *shown ? 0 : pdet_fail(&s->env, ENOMEM, "no memory");
}

static int begin(struct pdet_session *s, struct tree *t, const char *shown,
		 int fd, const struct statx *st)
{
	struct statfs fs;
	size_t len = strlen(shown);
	int r;

	if (!S_ISDIR(st->stx_mode))
		return pdet_fail(&s->env, EINVAL, "cannot walk %s: it is not a "
				 "directory", shown);
	if (fstatfs(fd, &fs) < 0)
		return pdet_fail_errno(&s->env, "cannot look at %s", shown);
	t->magic = (unsigned long)fs.f_type;
	t->by_mount = st->stx_mask & STATX_MNT_ID;
	t->mount = t->by_mount ? st->stx_mnt_id : 0;
	t->dev = (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;
	t->own = procfs_own_new();
	if (!t->own || !set_path(t, 0, shown))
		return pdet_fail(&s->env, ENOMEM, "no memory");
	while (len > 1 && t->path.data[len - 1] == '/')
		t->path.data[--len] = '\0';
	t->path.n = len;
	r = push(t, fd);
	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(&s->env, "cannot read %s", shown);
	}
	return 0;
}

static int start_walk(struct pdet_session *s, const char *path,
		      uint32_t target, struct tree *t)
{
	struct statx st;
	char *shown;
	int fd, r;

	fd = procfs_path_open(&s->env, path);
	if (fd < 0)
		return fd;
	shown = procfs_path_shown(&s->env, path);
	if (!shown)
		r = pdet_fail(&s->env, ENOMEM, "no memory");
	else if (procfs_stat(fd, &st) < 0)
		r = pdet_fail_errno(&s->env, "cannot look at %s", path);
	else if (target == PAGEDET_TARGET_MOUNT)
		r = go_to_mount(s, path, &fd, &st, &shown);
	else
		r = 0;
	if (r == 0)
		r = begin(s, t, shown, fd, &st);
	free(shown);
	close(fd);
	return r;
}

int procfs_tree_open(struct pdet_session *s, const char *path,
		     uint32_t target, struct pdet_tree **ret)
{
	struct tree *t;
	int r;

	t = calloc(1, sizeof(*t));
	if (!t)
		return pdet_fail(&s->env, ENOMEM, "no memory");
	t->tree.backend = s->backend;
	r = start_walk(s, path, target, t);
	if (r < 0) {
		procfs_tree_close(&t->tree);
		return r;
	}
	*ret = &t->tree;
	return 0;
}

void procfs_tree_close(struct pdet_tree *base)
{
	struct tree *t;

	if (!base)
		return;
	t = PDET_CONTAINER(base, struct tree, tree);
	while (t->levels.n)
		pop(t);
	pdet_vec_free(&t->levels);
	free(t->path.data);
	free(t->seen.slot);
	procfs_own_drop(t->own);
	free(t);
}

int procfs_mount_table(struct pdet_backend *b, struct pdet_env *env,
		       struct pdet_text *ret)
{
	int r;

	(void)b;
	/*
	 * In a captured tree, maps has the names that the capturing process
	 * saw.
	 */
	r = pdet_slurp(env, ret, PDET_MOUNTS_BYTES,
		       "/proc/self/mountinfo");
	if (r == -ENOENT)
		r = pdet_slurp(env, ret, PDET_MOUNTS_BYTES,
			       "/proc/1/mountinfo");
	return r;
}
