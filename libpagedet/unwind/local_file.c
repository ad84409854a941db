/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Opens files of programs, and refuses what may not answer. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "unwind/local_file.h"

bool pdet_may_hang(struct pdet_scan fstype)
{
	static const char *const types[] = {
		"nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "virtiofs",
		"autofs"
	};
	size_t i;

	if (pdet_scan_word(&fstype, "fuse"))
		return true;
	for (i = 0; i < PDET_COUNT(types); i++)
		if (pdet_scan_is(&fstype, types[i]))
			return true;
	return false;
}

static int keep_regular(int fd, struct stat *st)
{
	if (fd >= 0 && (fstat(fd, st) < 0 || !S_ISREG(st->st_mode))) {
		close(fd);
		return -EBADMSG;
	}
	return fd;
}

int pdet_open_regular(const struct pdet_env *env, const char *path,
		      struct stat *st)
{
	char full[PATH_MAX];
	int r = pdet_path(env, full, sizeof(full), "%s", path);

	if (r < 0)
		return r;
	if (stat(full, st) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EBADMSG;
	return keep_regular(pdet_open(env, "%s", path), st);
}

/* --- names of other machines --- */

/* Whether a path leads through a mount. Its last component may be one, too. */
static bool is_below(const char *path, const struct pdet_mount *m)
{
	char point[PATH_MAX];
	size_t len;

	if (!pdet_mountinfo_text(m->point, point, sizeof(point), &len))
		return true;
	if (len == 1)
		return true;
	return !strncmp(path, point, len) &&
	       (path[len] == '/' || !path[len]);
}

/* Our root answers, as we run there. */
int pdet_check_way(const char *path)
{
	struct pdet_scan all, line;
	struct pdet_mount m;
	struct pdet_text text;
	bool hangs = false;
	int r = pdet_slurp_at(AT_FDCWD, "/proc/self/mountinfo", &text,
			      PDET_MOUNTS_BYTES);

	/* Without it, nothing is known of any path. */
	if (r < 0)
		return r;
	all = (struct pdet_scan){ text.data, text.data + text.len };
	while (!hangs && pdet_scan_line(&all, &line))
		if (pdet_mountinfo_line(line, &m))
			hangs = pdet_may_hang(m.fstype) && is_below(path, &m);
	pdet_text_free(&text);
	return hangs ? -EREMOTE : 0;
}

/* Links would lead around the check of the path. */
static int open_directly(const char *path, int flags)
{
	const int fd = pdet_open_how(AT_FDCWD, path, flags,
				     RESOLVE_NO_SYMLINKS);

	return fd < 0 ? -ENOENT : fd;
}

/* A FIFO would wait for its writer, so it is not opened for reading before it
 * is known to be a regular file. */
int pdet_open_named(const struct pdet_env *env, const char *path,
		    struct stat *st)
{
	char full[PATH_MAX];
	int fd, r = pdet_path(env, full, sizeof(full), "%s", path);

	if (r == 0 && (path[0] != '/' || full[0] != '/'))
		r = -ENOENT;
	if (r == 0)
		r = pdet_check_way(full);
	if (r < 0)
		return r;
	fd = keep_regular(open_directly(full, O_PATH), st);
	if (fd < 0)
		return fd;
	close(fd);
	return keep_regular(open_directly(full, O_RDONLY | O_NONBLOCK |
						O_NOCTTY), st);
}
