/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Goes one step at a time. Of each step's descriptor the kernel tells the
 * mount, without asking its filesystem, and mountinfo has the mount's type;
 * only then something is looked up there. Names would not do: a process may
 * mount over its own root, which is then not the mount that has its name.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "unwind/local_file.h"
#include "unwind/process_tmp.h"

/* --- mounts --- */

/* That /proc has no such file does not say that the process's is not there. */
static int no_proc(int error)
{
	return error == -ENOENT ? -EIO : error;
}

/* Mount points are those below the root of the process. */
static bool is_wanted(const struct pdet_mount *m, const uint64_t *id)
{
	return id ? m->id == *id : pdet_scan_is(&m->point, "/") ||
				   pdet_scan_is(&m->point, "/tmp");
}

/* @id: of one mount; NULL: all that the way to /tmp may step onto. Returns 0 if
 * they answer, -EREMOTE if one may not, -ENOENT if there is none. */
static int find_mount(const char *mountinfo, const uint64_t *id)
{
	struct pdet_scan all, line;
	struct pdet_mount m;
	struct pdet_text text;
	int r = pdet_slurp_at(AT_FDCWD, mountinfo, &text, PDET_MOUNTS_BYTES);

	if (r < 0)
		return no_proc(r);
	all = (struct pdet_scan){ text.data, text.data + text.len };
	for (r = -ENOENT; r != -EREMOTE && pdet_scan_line(&all, &line);)
		if (pdet_mountinfo_line(line, &m) && is_wanted(&m, id))
			r = pdet_may_hang(m.fstype) ? -EREMOTE : 0;
	pdet_text_free(&text);
	return r;
}

static int find_its_mount(const struct pdet_env *env, uint32_t tid,
			  const uint64_t *id)
{
	char path[PATH_MAX];
	int r = pdet_path(env, path, sizeof(path), "/proc/%u/mountinfo", tid);

	return r < 0 ? r : find_mount(path, id);
}

/* A process whose root is a directory of a mount does not see that one. We do,
 * if it has our mounts. */
static int check_mount(const struct pdet_env *env, uint32_t tid, int fd)
{
	uint64_t id;
	int r = pdet_mount_id(fd, &id);

	if (r < 0)
		return no_proc(r);
	r = find_its_mount(env, tid, &id);
	if (r == -ENOENT)
		r = find_mount("/proc/self/mountinfo", &id);
	return r == -ENOENT ? -EREMOTE : r;
}

/* A step onto a mount may ask its server before its id is known: NFS and 9p do.
 * Only who may mount such a filesystem can do that after this check. */
static int check_points(const struct pdet_env *env, uint32_t tid)
{
	const int r = find_its_mount(env, tid, NULL);

	return r == -ENOENT ? 0 : r;
}

/* --- the root --- */

static int read_link(const char *path, char buf[PATH_MAX])
{
	const ssize_t n = readlink(path, buf, PATH_MAX - 1);

	buf[n < 0 ? 0 : n] = '\0';
	return n < 0 ? -errno : 0;
}

static bool has_our_mounts(const struct pdet_env *env, uint32_t tid)
{
	char path[PATH_MAX], its[PATH_MAX], ours[PATH_MAX];

	return pdet_path(env, path, sizeof(path), "/proc/%u/ns/mnt",
			 tid) == 0 &&
	       read_link(path, its) == 0 &&
	       read_link("/proc/self/ns/mnt", ours) == 0 && !strcmp(its, ours);
}

/* NFS and 9p ask their server about a directory that is opened by its link in
 * /proc. The text of the link is not on any filesystem. */
static int check_root(const struct pdet_env *env, uint32_t tid,
		      const char *path)
{
	char root[PATH_MAX];
	int r = read_link(path, root);

	/* A directory of a tree that was captured. */
	if (r == -EINVAL)
		return 0;
	if (r < 0 || !strcmp(root, "/"))
		return r;
	return has_our_mounts(env, tid) ? pdet_check_way(root) : -EREMOTE;
}

static int open_root(const struct pdet_env *env, uint32_t tid)
{
	char path[PATH_MAX];
	int fd, r = check_points(env, tid);

	if (r == 0)
		r = pdet_path(env, path, sizeof(path), "/proc/%u/root", tid);
	if (r == 0)
		r = check_root(env, tid, path);
	if (r < 0)
		return r;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* --- steps --- */

/* Closes @dir, unless it is an error, which is returned. */
static int step(const struct pdet_env *env, uint32_t tid, int dir,
		const char *name, uint64_t resolve)
{
	int r;

	if (dir < 0)
		return dir;
	r = check_mount(env, tid, dir);
	if (r == 0)
		r = pdet_open_how(dir, name, O_PATH,
				  RESOLVE_NO_SYMLINKS | resolve);
	close(dir);
	return r;
}

int pdet_process_tmp_open(const struct pdet_env *env, uint32_t tid,
			  const char *name)
{
	const int tmp = step(env, tid, open_root(env, tid), "tmp", 0);

	return step(env, tid, tmp, name, RESOLVE_NO_XDEV);
}
