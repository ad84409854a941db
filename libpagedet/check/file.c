/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Opens the checked file without side effects. After the check it examines the
 * file again, because a replaced or truncated file is another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "check/mount.h"
#include "check/overlay.h"

#ifndef STATX_ATTR_DAX
#define STATX_ATTR_DAX 0x00200000
#endif
#ifndef CONFIGFS_MAGIC
#define CONFIGFS_MAGIC 0x62656570
#endif
#ifndef SMB2_SUPER_MAGIC
#define SMB2_SUPER_MAGIC 0xfe534d42
#endif
#ifndef CIFS_SUPER_MAGIC
#define CIFS_SUPER_MAGIC 0xff534d42
#endif

static int look_at(struct pdet_checked *c, int fd)
{
	struct statfs fs;

	if (fstat(fd, &c->st) || fstatfs(fd, &fs))
		return pdet_fail_errno(c->env, "cannot stat %s", c->path);
	c->named = c->st;
	c->magic = (unsigned long)fs.f_type;
	c->block = S_ISBLK(c->st.st_mode);
	return 0;
}

static int look(struct pdet_checked *c, int fd)
{
	const int r = look_at(c, fd);

	if (r < 0)
		return r;
	if (!c->block && !S_ISREG(c->st.st_mode))
		return pdet_fail(c->env, EINVAL, "cannot check %s: neither a "
				 "regular file nor a block device", c->path);
	return 0;
}

/* Reopens @fd for reading, so that reads leave no mark. */
static int reopen(int fd)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	char path[40];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = open(path, flags | O_NOATIME);
	if (ret < 0 && errno == EPERM)
		ret = open(path, flags);
	if (ret >= 0)
		posix_fadvise(ret, 0, 0, POSIX_FADV_RANDOM);
	return ret;
}

/*
 * Examines a path before opening it: opening a FIFO or a tape drive has side
 * effects.
 */
static int open_path(struct pdet_checked *c)
{
	int fd = open(c->path, O_PATH | O_CLOEXEC), r;

	if (fd < 0)
		return pdet_fail_errno(c->env, "cannot open %s", c->path);
	r = look(c, fd);
	if (r == 0) {
		c->fd = reopen(fd);
		if (c->fd < 0)
			r = pdet_fail_errno(c->env, "cannot read %s", c->path);
	}
	close(fd);
	return r;
}

static int take_fd(struct pdet_checked *c)
{
	const int mode = fcntl(c->check->fd, F_GETFL);
	int r;

	if (mode < 0)
		return pdet_fail(c->env, EINVAL, "%d is not an open descriptor",
				 c->check->fd);
	if (mode & O_PATH || (mode & O_ACCMODE) == O_WRONLY)
		return pdet_fail(c->env, EINVAL,
				 "descriptor %d is not open for reading",
				 c->check->fd);
	r = look(c, c->check->fd);
	if (r < 0)
		return r;
	/* A file that can no longer be opened can still be examined. */
	c->fd = reopen(c->check->fd);
	if (c->fd < 0)
		c->fd = fcntl(c->check->fd, F_DUPFD_CLOEXEC, 3);
	if (c->fd < 0)
		return pdet_fail_errno(c->env, "cannot duplicate descriptor %d",
				       c->check->fd);
	return 0;
}

static int set_range(struct pdet_checked *c)
{
	const uint64_t first = c->check->first, n = c->check->pages;
	uint64_t pages, size = (uint64_t)c->st.st_size;

	if (c->block && ioctl(c->fd, BLKGETSIZE64, &size))
		return pdet_fail_errno(c->env, "cannot read the size of %s",
				       c->path);
	if (n != PAGEDET_TO_END && n - 1 > UINT64_MAX - first)
		return pdet_fail(c->env, EINVAL, "the range wraps");
	c->bytes = size;
	pages = (size >> c->shift) + !!(size & ((1ull << c->shift) - 1));
	c->first = PDET_MIN(first, pages);
	c->end = n > pages - c->first ? pages : c->first + n;
	return 0;
}

int pdet_check_open(struct pdet_checked *c)
{
	const char *path = c->check->path;
	int r;

	if (!path && c->check->fd < 0)
		return pdet_fail(c->env, EINVAL,
				 "a check needs a path or a descriptor");
	c->path = strdup(path ? path : "");
	if (!c->path)
		return pdet_fail(c->env, ENOMEM, "no memory");
	r = path ? open_path(c) : take_fd(c);
	if (r < 0)
		return r;
	pdet_check_overlay(c);
	return set_range(c);
}

/* A descriptor that only names a file (O_PATH) stays so. */
bool pdet_check_take(struct pdet_checked *c, int fd)
{
	const bool names = fcntl(c->fd, F_GETFL) & O_PATH;
	const int other = names ? fd : reopen(fd);

	if (other < 0)
		return false;
	if (other != fd)
		close(fd);
	close(c->fd);
	c->fd = other;
	return true;
}

int pdet_check_name_only(struct pdet_checked *c)
{
	const char *path = c->check->path;
	int r;

	c->path = strdup(path ? path : "");
	if (!c->path)
		return pdet_fail(c->env, ENOMEM, "no memory");
	if (!path && c->check->fd < 0)
		return 0;
	c->fd = path ? open(path, O_PATH | O_CLOEXEC) :
		       fcntl(c->check->fd, F_DUPFD_CLOEXEC, 3);
	if (c->fd < 0 && !path)
		return pdet_fail(c->env, EINVAL, "%d is not an open descriptor",
				 c->check->fd);
	if (c->fd < 0)
		return pdet_fail_errno(c->env, "cannot open %s", c->path);
	r = look_at(c, c->fd);
	if (r == 0)
		pdet_check_overlay(c);
	return r;
}

bool pdet_check_is_remote(const struct pdet_checked *c)
{
	switch (c->magic) {
	case NFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case CEPH_SUPER_MAGIC:
	case AFS_SUPER_MAGIC:
	case V9FS_MAGIC:
	case CODA_SUPER_MAGIC:
	case FUSE_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

bool pdet_check_is_made_up(const struct pdet_checked *c)
{
	switch (c->magic) {
	case AAFS_MAGIC:
	case BINDERFS_SUPER_MAGIC:
	case BINFMTFS_MAGIC:
	case BPF_FS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case CONFIGFS_MAGIC:
	case DEBUGFS_MAGIC:
	case EFIVARFS_MAGIC:
	case NSFS_MAGIC:
	case PROC_SUPER_MAGIC:
	case PSTOREFS_MAGIC:
	case RDTGROUP_SUPER_MAGIC:
	case SECURITYFS_MAGIC:
	case SELINUX_MAGIC:
	case SMACK_MAGIC:
	case SYSFS_MAGIC:
	case TRACEFS_MAGIC:
	case XENFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

static bool is_diskless(const struct pdet_checked *c)
{
	switch (c->magic) {
	case HUGETLBFS_MAGIC:
	case RAMFS_MAGIC:
	case SECRETMEM_MAGIC:
	case TMPFS_MAGIC:
		return true;
	default:
		return pdet_check_is_made_up(c);
	}
}

/*
 * With DAX, a file is the memory of its device. Its pages are not cached, and
 * no count of the kernel has stores that are still in caches of processors.
 * Before Linux 5.8 this is an option of the mount.
 */
static bool is_dax(const struct pdet_checked *c)
{
	struct pdet_check_mount mount;
	struct statx st;
	bool yes;

	if (statx(c->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) == 0 &&
	    st.stx_attributes_mask & STATX_ATTR_DAX)
		return st.stx_attributes & STATX_ATTR_DAX;
	if (pdet_check_mount(c->fd, &mount) < 0)
		return false;
	yes = pdet_mount_has(mount.m.super_options, "dax");
	pdet_check_mount_free(&mount);
	return yes;
}

bool pdet_check_diskless(struct pdet_checked *c)
{
	const char *why = "the filesystem has no disk";

	if (c->block)
		return false;
	if (!is_diskless(c)) {
		if (!is_dax(c))
			return false;
		why = "the file is mapped from its device (DAX): it has no "
		      "cached pages, and the kernel does not count what was "
		      "stored";
	}
	pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_FILESYSTEM,
		       c->first, c->end - c->first, "%s", why);
	return true;
}

void pdet_check_same(struct pdet_checked *c)
{
	const uint64_t n = c->end - c->first;
	struct stat st;

	if (fstat(c->fd, &st) == 0 && !c->block && st.st_size < c->st.st_size &&
	    (uint64_t)st.st_size < PDET_MIN(c->end << c->shift, c->bytes))
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_REPLACED,
			       c->first, n, "the file became shorter "
			       "meanwhile: it has %lld bytes, and had %lld",
			       (long long)st.st_size,
			       (long long)c->st.st_size);
	if (!*c->path)
		return;
	if (stat(c->path, &st))
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_REPLACED,
			       c->first, n, "the file was removed meanwhile");
	else if (st.st_dev != c->named.st_dev || st.st_ino != c->named.st_ino)
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_REPLACED,
			       c->first, n, "the file was replaced meanwhile: "
			       "the old file was checked");
}
