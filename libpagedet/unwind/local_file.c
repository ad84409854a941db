/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Opens files of programs, and refuses what may not answer. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unwind/local_file.h"

#define MOST_MOUNTS ((size_t)64 << 20)

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

int pdet_check_mounts(const char *mountinfo, const char *path, bool own)
{
	struct pdet_scan all, line;
	struct pdet_mount m;
	struct pdet_text text;
	bool has_root = own, hangs = false;
	int r = pdet_slurp_at(AT_FDCWD, mountinfo, &text, MOST_MOUNTS);

	/* Without it, nothing is known of any path. */
	if (r < 0)
		return r;
	all = (struct pdet_scan){ text.data, text.data + text.len };
	while (!hangs && pdet_scan_line(&all, &line))
		if (pdet_mountinfo_line(line, &m)) {
			has_root |= pdet_scan_is(&m.point, "/");
			hangs = pdet_may_hang(m.fstype) && is_below(path, &m);
		}
	pdet_text_free(&text);
	return has_root && !hangs ? 0 : -EREMOTE;
}

/* Links would lead around the check of the path. */
static int open_directly(const char *path, int flags)
{
	const struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	const long fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 ? -ENOENT : (int)fd;
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
		r = pdet_check_mounts("/proc/self/mountinfo", full, true);
	if (r < 0)
		return r;
	fd = keep_regular(open_directly(full, O_PATH), st);
	if (fd < 0)
		return fd;
	close(fd);
	return keep_regular(open_directly(full, O_RDONLY | O_NONBLOCK |
						O_NOCTTY), st);
}
