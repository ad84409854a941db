/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds memory cgroups. kpagecgroup names them by the inode of their directory.
 * The hierarchy with the memory controller, v1 or unified, is listed once, and
 * again when an unknown inode appears.
 *
 * A captured tree cannot keep inode numbers. There the file cgroup.inodes at
 * the top of the hierarchy has lines of inode, tab, path.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/procfs/procfs.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/text/text.h"
#include "kernel/text/cgroup_mount.h"
#include "kernel/text/cgroup_path.h"

/* An unknown inode is a new or removed cgroup. List again at most once in this
 * time, not for each of its pages. */
#define RELIST_NS 100000000

/* Limits for a tree that may be hostile. Real trees are far smaller:
 * cgroup.max.depth is unlimited, but the length of a path is not. */
#define MAX_DEPTH 128
#define MAX_CGROUPS (1u << 20)

static int compare(const void *a, const void *b)
{
	const struct procfs_cgroup *x = a, *y = b;

	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static void forget(struct procfs_cgroups *c)
{
	size_t i;

	for (i = 0; i < c->list.n; i++)
		free(c->list.data[i].path);
	pdet_vec_free(&c->list);
	c->partial = 0;
}

void procfs_cgroups_free(struct procfs_cgroups *c)
{
	forget(c);
	pthread_mutex_destroy(&c->lock);
}

static int add(struct procfs_cgroups *c, uint64_t ino, const char *path,
	       size_t len)
{
	struct procfs_cgroup g = { ino, strndup(path, len), 0 };

	if (!g.path || c->list.n >= MAX_CGROUPS ||
	    !pdet_vec_push(&c->list, g)) {
		free(g.path);
		return -ENOMEM;
	}
	return 0;
}

/* Record that the cgroup at index @at is not listed completely. */
static void note_partial(struct procfs_cgroups *c, size_t at, int code)
{
	code = -pdet_errno_kept(code);
	c->list.data[at].error = code;
	if (!c->partial)
		c->partial = code;
}

static int list_below(struct procfs_cgroups *c, int fd, char *path, size_t len,
		      size_t size, unsigned depth);

/* Process an entry of the directory of cgroup @at. */
static int list_entry(struct procfs_cgroups *c, DIR *dir, size_t at,
		      const struct dirent *entry, char *path, size_t len,
		      size_t size, unsigned depth)
{
	const size_t more = strlen(entry->d_name) + 1;
	int fd, r;

	if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
	    !strcmp(entry->d_name, ".."))
		return 0;
	if (len + more >= size || depth == MAX_DEPTH) {
		note_partial(c, at, EOVERFLOW);
		return 0;
	}
	fd = openat(dirfd(dir), entry->d_name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		/* unless it was removed meanwhile */
		if (pdet_errno_closed(errno) != ENOENT)
			note_partial(c, at, errno);
		return 0;
	}
	path[len] = '/';
	memcpy(path + len + 1, entry->d_name, more);
	r = list_below(c, fd, path, len + more, size, depth + 1);
	path[len] = '\0';
	return r;
}

/* List the directory at @fd (closed here) and all its descendants. */
static int list_below(struct procfs_cgroups *c, int fd, char *path, size_t len,
		      size_t size, unsigned depth)
{
	const size_t at = c->list.n;
	struct dirent *entry;
	DIR *dir = NULL;
	struct stat st;
	int r, code = 0;

	st.st_ino = 0;
	if (fstat(fd, &st) == 0)
		dir = fdopendir(fd);
	if (!dir)
		code = errno;
	r = add(c, st.st_ino, len ? path : "/", len ? len : 1);
	while (r == 0 && dir && (errno = 0, entry = readdir(dir)))
		r = list_entry(c, dir, at, entry, path, len, size, depth);
	if (r == 0 && dir)
		code = errno;
	/* A directory that was removed meanwhile is complete. */
	if (r == 0 && code && code != ENOENT)
		note_partial(c, at, code);
	if (dir)
		closedir(dir);
	else
		close(fd);
	return r;
}

/* Read cgroup.inodes of a captured tree. */
static int list_captured(struct procfs_cgroups *c, const struct pdet_text *text)
{
	struct pdet_scan all = { text->data, text->data + text->len }, line;
	uint64_t ino;
	int r = 0;

	while (r == 0 && pdet_scan_line(&all, &line)) {
		pdet_scan_blanks(&line);
		if (!pdet_scan_dec(&line, &ino))
			continue;
		pdet_scan_blanks(&line);
		if (line.at < line.end)
			r = add(c, ino, line.at, (size_t)(line.end - line.at));
	}
	return r;
}

static int list_directories(struct procfs_cgroups *c, struct pdet_env *env)
{
	char point[4096], path[4096];
	int fd, r;

	snprintf(c->what, sizeof(c->what), "/proc/self/mountinfo");
	r = pdet_cgroup_mount(env, point, sizeof(point));
	if (r < 0)
		return r;
	snprintf(c->what, sizeof(c->what), "%s", point);
	if (pdet_path(env, path, sizeof(path), "%s", point) < 0)
		return -ENOENT;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -pdet_errno_kept(errno);
	path[0] = '\0';
	return list_below(c, fd, path, 0, sizeof(path), 0);
}

static int list_all(struct procfs *p, struct pdet_env *env)
{
	struct procfs_cgroups *c = &p->cgroups;
	struct pdet_text text;
	int r = -ENOENT;

	forget(c);
	snprintf(c->what, sizeof(c->what), "/sys/fs/cgroup/cgroup.inodes");
	if (!p->live)
		r = pdet_slurp(env, &text, 64 << 20, "%s", c->what);
	if (r == 0) {
		r = list_captured(c, &text);
		pdet_text_free(&text);
	} else if (r == -ENOENT) {
		r = list_directories(c, env);
	}
	if (r < 0)
		forget(c);
	if (c->list.n)
		qsort(c->list.data, c->list.n, sizeof(*c->list.data), compare);
	return r;
}

/* Called with the lock held. */
static void list_if_needed(struct procfs *p, struct pdet_env *env, bool again)
{
	struct procfs_cgroups *c = &p->cgroups;
	uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);

	if (c->loaded && (!again || now - c->loaded_ns < RELIST_NS))
		return;
	c->error = list_all(p, env);
	c->loaded = true;
	c->loaded_ns = pdet_clock_ns(CLOCK_MONOTONIC);
}

static const struct procfs_cgroup *find(const struct procfs_cgroups *c,
					uint64_t ino)
{
	struct procfs_cgroup key = { ino, NULL, 0 };

	return c->list.n ? bsearch(&key, c->list.data, c->list.n,
				   sizeof(key), compare) : NULL;
}

static void put_path(struct pdet_batch *b, uint32_t row, const char *path)
{
	const char *name = strrchr(path, '/');

	pdet_put_text(b, row, PAGEDET_FIELD_MEMCG_PATH, path, strlen(path),
		      PROCFS);
	name = name && name[1] ? name + 1 : path;
	pdet_put_text(b, row, PAGEDET_FIELD_MEMCG_NAME, name, strlen(name),
		      PROCFS);
}

static void put_unknown(struct pdet_batch *b, uint32_t row, unsigned reason)
{
	pdet_put_lost(b, row, PAGEDET_FIELD_MEMCG_PATH, reason, PROCFS);
	pdet_put_lost(b, row, PAGEDET_FIELD_MEMCG_NAME, reason, PROCFS);
}

/* The reason why an inode has no path. */
static unsigned why_unknown(const struct procfs_cgroups *c)
{
	const int error = c->error ? c->error : c->partial;

	/* without an error it was removed */
	return error ? pdet_reason_of(error) : PAGEDET_RACED;
}

void procfs_fill_memcg_path(struct procfs_session *s, struct pdet_batch *b)
{
	struct procfs_cgroups *c = &s->p->cgroups;
	const struct procfs_cgroup *g;
	uint32_t row;

	pthread_mutex_lock(&c->lock);
	list_if_needed(s->p, &s->session.env, false);
	for (row = 0; row < b->n; row++) {
		unsigned state = pdet_batch_state(b, row,
						  PAGEDET_FIELD_MEMCG_INO);
		uint64_t ino;

		if (state != PAGEDET_HAVE) {
			put_unknown(b, row, state);
			continue;
		}
		ino = b->value[PAGEDET_FIELD_MEMCG_INO][row];
		g = find(c, ino);
		if (!g) {
			list_if_needed(s->p, &s->session.env, true);
			g = find(c, ino);
		}
		if (g)
			put_path(b, row, g->path);
		else
			put_unknown(b, row, why_unknown(c));
	}
	pthread_mutex_unlock(&c->lock);
}

void procfs_cgroup_point(struct pdet_env *env, char *ret, size_t size)
{
	if (pdet_cgroup_mount(env, ret, size) < 0)
		snprintf(ret, size, "/sys/fs/cgroup");
}

/* Without kpagecgroup all charges are unknown, which differs from having no
 * charge. */
static int check_charges(struct procfs *p, struct pdet_env *env)
{
	int fd = procfs_kpage_fd(p, env, KPAGE_CGROUP), r;

	if (fd >= 0)
		return 0;
	if (fd == -ENOENT) {
		r = pdet_fail(env, ENOTSUP,
			      "cannot find the pages that are charged to a "
			      "cgroup: there is no %s/proc/kpagecgroup",
			      env->root);
		pdet_advise(env,
			    "needs a kernel with CONFIG_MEMCG and CONFIG_PROC_PAGE_MONITOR");
		return r;
	}
	errno = -fd;
	r = pdet_fail_errno(env,
			    "cannot find the pages that are charged to a "
			    "cgroup: cannot open %s/proc/kpagecgroup",
			    env->root);
	if (r == -EACCES)
		pdet_advise(env,
			    "needs root, or a descriptor that root opened");
	return r;
}

static int no_list(const struct procfs_cgroups *c, struct pdet_env *env)
{
	if (c->error == -ENOENT)
		return pdet_fail(env, ENOTSUP,
				 "cannot list memory cgroups: there is no hierarchy with the memory controller");
	errno = -c->error;
	return pdet_fail_errno(env,
			       "cannot list memory cgroups: cannot read %s%s",
			       env->root, c->what);
}

/* Call @fn for the cgroup at @path and all its descendants. */
static int each_below(struct procfs *p, struct pdet_env *env,
		      const char *path,
		      bool (*fn)(void *arg, const struct procfs_cgroup *g),
		      void *arg)
{
	struct procfs_cgroups *c = &p->cgroups;
	bool found = false;
	char point[4096], top[PDET_CGROUP_PATH];
	size_t i;
	int r = 0;

	procfs_cgroup_point(env, point, sizeof(point));
	pdet_cgroup_clean(point, path, top);
	pthread_mutex_lock(&c->lock);
	list_if_needed(p, env, true);
	if (c->error)
		r = no_list(c, env);
	for (i = 0; i < c->list.n && r == 0; i++) {
		const struct procfs_cgroup *g = &c->list.data[i];

		if (g->error &&
		    (pdet_cgroup_below(g->path, top) ||
		     pdet_cgroup_below(top, g->path))) {
			errno = -g->error;
			r = pdet_fail_errno(env,
					    "cannot list memory cgroups: "
					    "cannot read everything below %s",
					    g->path);
			break;
		}
		if (!pdet_cgroup_below(g->path, top))
			continue;
		found = true;
		if (!fn(arg, g))
			r = pdet_fail(env, ENOMEM, "no memory");
	}
	pthread_mutex_unlock(&c->lock);
	if (r == 0 && !found)
		r = pdet_fail(env, ENOENT, "there is no cgroup %s", top);
	return r;
}

static bool add_path(void *arg, const struct procfs_cgroup *g)
{
	struct procfs_cgroup_paths *paths = arg;
	char *path = strdup(g->path);

	if (path && pdet_vec_push(paths, path))
		return true;
	free(path);
	return false;
}

int procfs_cgroups_below(struct procfs *p, struct pdet_env *env,
			 const char *path, struct procfs_cgroup_paths *ret)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	r = each_below(p, env, path, add_path, ret);
	if (r < 0)
		procfs_cgroup_paths_free(ret);
	return r;
}

void procfs_cgroup_paths_free(struct procfs_cgroup_paths *paths)
{
	while (paths->n)
		free(paths->data[--paths->n]);
	pdet_vec_free(paths);
}

struct inodes {
	uint64_t *data;
	size_t n, cap;
};

static bool add_inode(void *arg, const struct procfs_cgroup *g)
{
	struct inodes *inos = arg;

	return pdet_vec_push(inos, g->ino);
}

int procfs_cgroup(struct pdet_backend *b, struct pdet_env *env,
		  const char *path, uint64_t **ret, size_t *n)
{
	struct inodes inos = { NULL, 0, 0 };
	struct procfs *p = procfs_of(b);
	int r;

	r = each_below(p, env, path, add_inode, &inos);
	if (r == 0)
		r = check_charges(p, env);
	if (r < 0) {
		pdet_vec_free(&inos);
		return r;
	}
	*ret = inos.data;
	*n = inos.n;
	return 0;
}
