/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the files that a path means, from maps and mountinfo alone. maps shows
 * names in the task's mount namespace: the same name on another filesystem is
 * another file.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "kernel/text/mountinfo.h"
#include "query/walk/mapped.h"

/* fs/d_path.c appends this to the name of a deleted file. */
#define DELETED " (deleted)"
#define DELETED_LEN (sizeof(DELETED) - 1)

/* The mount that contains a path. */
struct place {
	bool known;
	uint64_t id;
	uint64_t dev;
	bool stacked;		/* maps may show the device of a lower layer */
};

struct finder {
	struct pdet_mapped *m;
	struct pdet_walk *w;
	struct pdet_worker *k;
	char *path;		/* in the form of maps; "" is the root */
	size_t len;
	struct pdet_text mounts;
	struct place place;	/* of the path */
	bool anywhere;		/* accept any device */
	bool strangers;		/* tasks map files on another device */
	uint64_t unread;	/* number of tasks */
	char why[256];		/* why one of them could not be read */
};

static struct pdet_env *env_of(const struct finder *f)
{
	return &pdet_session_of(f->k, f->w)->env;
}

static struct pdet_scan mounts_of(const struct finder *f)
{
	const char *text = f->mounts.data ? f->mounts.data : "";

	return (struct pdet_scan){ text, text + f->mounts.len };
}

static bool is_deleted(const char *name, size_t len)
{
	return len > DELETED_LEN &&
	       !memcmp(name + len - DELETED_LEN, DELETED, DELETED_LEN);
}

static bool is_below(const char *name, size_t len, const char *top,
		     size_t top_len)
{
	return len >= top_len && !memcmp(name, top, top_len) &&
	       (len == top_len || name[top_len] == '/');
}

/*
 * The deepest mount point above a name. If there are several at the same place,
 * it is the last one, which is on top.
 */
static struct place place_of(const struct finder *f, const char *name,
			     size_t len)
{
	struct pdet_scan line, text = mounts_of(f);
	struct place ret = { .known = false };
	char point[PATH_MAX];
	size_t n, best = 0;
	struct pdet_mount m;

	while (pdet_scan_line(&text, &line)) {
		if (!pdet_mountinfo_line(line, &m) ||
		    !pdet_mountinfo_text(m.point, point, sizeof(point), &n))
			continue;
		if (n == 1 && *point == '/')
			n = 0;
		if (n < best || !is_below(name, len, point, n))
			continue;
		best = n;
		ret.known = true;
		ret.id = m.id;
		ret.dev = m.dev;
		ret.stacked = pdet_scan_is(&m.fstype, "overlay");
	}
	return ret;
}

static bool same_device(const struct finder *f, const struct pdet_vma *vma)
{
	return f->anywhere || !f->place.known || f->place.stacked ||
	       vma->dev == f->place.dev;
}

/*
 * Compares names. A deleted file has no place. The same is true of the kernel's
 * own files, whose names look alike.
 */
static bool same_mount(const struct finder *f, const struct pdet_vma *vma)
{
	struct place p = place_of(f, vma->name, vma->name_len);

	return p.known == f->place.known && p.id == f->place.id &&
	       !is_deleted(vma->name, vma->name_len);
}

/* --- matching of VMAs --- */

static bool is_meant(struct finder *f, const struct pdet_vma *vma)
{
	switch (f->w->it->q.target) {
	case PAGEDET_TARGET_FILE:
		if (vma->name_len != f->len ||
		    memcmp(vma->name, f->path, f->len))
			return false;
		f->strangers |= !same_device(f, vma);
		return same_device(f, vma);
	case PAGEDET_TARGET_TREE:
		return vma->name_len > f->len &&
		       is_below(vma->name, vma->name_len, f->path, f->len) &&
		       same_device(f, vma) && same_mount(f, vma);
	default:
		/* The files of a mount may have names outside of it. */
		return f->place.stacked ? same_mount(f, vma) :
					  same_device(f, vma);
	}
}

/*
 * Adds a file. If a filesystem passes mappings on to another one, or has
 * subvolumes, device and inode do not identify the file.
 */
static int add(struct finder *f, const struct pdet_vma *vma)
{
	struct pdet_scan line, text = mounts_of(f);
	bool known = false, proved = true, unique = true;
	struct pdet_mount m;

	while (pdet_scan_line(&text, &line)) {
		if (!pdet_mountinfo_line(line, &m) || m.dev != vma->dev)
			continue;
		known = true;
		proved &= pdet_mount_shows_owner(&m);
		unique &= !pdet_scan_is(&m.fstype, "btrfs") &&
			  !pdet_scan_is(&m.fstype, "bcachefs");
	}
	/* Filesystems of these kinds have no block device. */
	if (!known)
		proved = vma->dev >> 32;
	return pdet_mapped_add(f->m, vma, unique && proved,
			       proved && !vma->owner_unproved) ?
		       0 : pdet_fail(env_of(f), ENOMEM, "no memory");
}

static int look_at_task(struct finder *f, uint32_t pid)
{
	const struct pdet_backend_ops *ops = f->w->backend->ops;
	struct pdet_session *s = pdet_session_of(f->k, f->w);
	struct pdet_vma vma;
	struct pdet_task *t;
	int r;

	r = ops->task_open(s, pid, &t);
	if (r < 0)
		return r;
	r = ops->vma_first(s, t);
	while (r == 0 && (r = ops->vma_next(s, t, &vma)) > 0) {
		r = 0;
		if (!vma.inode || !vma.name_len || *vma.name != '/' ||
		    pdet_mapped_file(f->m, &vma) || !is_meant(f, &vma))
			continue;
		r = add(f, &vma);
	}
	ops->task_close(t);
	return r;
}

/* It is more helpful to report a reason that the user can remove than a task
 * that ended. */
static void note_unread(struct finder *f, int error)
{
	f->unread++;
	if (error != -ESRCH || !*f->why)
		snprintf(f->why, sizeof(f->why), "%s", env_of(f)->error);
}

/* Reads all tasks. If a task cannot be read, it is left out from then on. */
static int look_at_tasks(struct finder *f)
{
	struct pdet_session *s = pdet_session_of(f->k, f->w);
	struct pdet_mapped *m = f->m;
	size_t i, n = 0;
	int r = 0;

	for (i = 0; i < m->n_pids && r == 0; i++) {
		r = look_at_task(f, m->pids[i]);
		if (r == 0) {
			m->pids[n++] = m->pids[i];
			continue;
		}
		if (!pdet_is_zombie(s, m->pids[i], r))
			note_unread(f, r);
		r = pdet_mapped_unread(f->w, f->k, m->pids[i], r);
	}
	m->n_pids = n;
	return r;
}

/* --- the query --- */

/*
 * Makes a path in the form of maps, with room for the mark of a deleted file.
 */
static char *plain_path(const char *path)
{
	char *ret = malloc(strlen(path) + 2 + DELETED_LEN), *to = ret;
	size_t n;

	while (ret && *path) {
		n = strcspn(path, "/");
		if (n && (n > 1 || *path != '.')) {
			*to++ = '/';
			memcpy(to, path, n);
			to += n;
		}
		path += n + (path[n] == '/');
	}
	if (ret)
		*to = '\0';
	return ret;
}

static int nothing(const struct finder *f)
{
	const struct pdet_question *q = &f->w->it->q;
	struct pdet_env *env = env_of(f);

	pdet_fail(env, ENODATA, "cannot find the cached pages of %s: no task%s "
		  "maps %s%s%s", q->path,
		  f->unread ? " that could be read" : "",
		  q->target != PAGEDET_TARGET_FILE ? "a file there" :
		  f->strangers ? "it, only a file of that name elsewhere" :
				 "it", f->unread ? ", and " : "", f->why);
	pdet_advise(env, "a captured tree shows only pages that a task maps; "
		    "names are those in maps, without symbolic links");
	return -ENODATA;
}

/* A name must mean one file. */
static int choose(const struct finder *f)
{
	if (!f->m->files.n)
		return nothing(f);
	if (f->w->it->q.target != PAGEDET_TARGET_FILE || f->m->files.n == 1)
		return 0;
	return pdet_fail(env_of(f), ENODATA, "cannot tell which file %s is: "
			 "tasks map %zu files of that name", f->w->it->q.path,
			 f->m->files.n);
}

static int find(struct finder *f)
{
	const struct pdet_question *q = &f->w->it->q;
	int r;

	f->len = strlen(f->path);
	f->place = place_of(f, f->path, f->len);
	/*
	 * The name of a deleted file may be on another device. A user who gives
	 * such a name has seen it in maps.
	 */
	f->anywhere = q->target == PAGEDET_TARGET_FILE &&
		      is_deleted(f->path, f->len);
	if (q->target == PAGEDET_TARGET_MOUNT && !f->place.known) {
		pdet_fail(env_of(f), ENOTSUP, "cannot find the filesystem of "
			  "%s: no table of mounts has it", q->path);
		pdet_advise(env_of(f), "needs /proc/self/mountinfo or "
			    "/proc/1/mountinfo of the captured machine");
		return -ENOTSUP;
	}
	r = look_at_tasks(f);
	f->k->cover.tasks += f->m->n_pids;
	if (r == 0 && !f->m->files.n && q->target == PAGEDET_TARGET_FILE &&
	    !f->anywhere) {
		memcpy(f->path + f->len, DELETED, DELETED_LEN + 1);
		f->len += DELETED_LEN;
		r = look_at_tasks(f);
	}
	return r < 0 ? r : choose(f);
}

int pdet_mapped_find(struct pdet_mapped *m, struct pdet_walk *w,
		     struct pdet_worker *k)
{
	const struct pdet_backend_ops *ops = w->backend->ops;
	struct finder f = { .m = m, .w = w, .k = k };
	struct pdet_env *env = env_of(&f);
	uint64_t lost;
	int r;

	/* This walk never claims to have all pages of a file. */
	r = ops->tasks(w->backend, env, &m->pids, &m->n_pids, &lost);
	if (r < 0)
		return r;
	r = ops->mount_table ?
		ops->mount_table(w->backend, env, &f.mounts) : -ENOENT;
	/* Without mountinfo names may mislead. */
	if (r < 0 && r != -ENOENT) {
		errno = -r;
		return pdet_fail_errno(env, "cannot read the table of mounts, "
				       "%s/proc/self/mountinfo", env->root);
	}
	f.path = plain_path(w->it->q.path);
	r = f.path ? find(&f) : pdet_fail(env, ENOMEM, "no memory");
	pdet_text_free(&f.mounts);
	free(f.path);
	return r;
}
