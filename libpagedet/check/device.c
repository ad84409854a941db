/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the disk with O_DIRECT, or the image of a loop device. A direct read
 * makes the kernel write out dirty pages of the device first (block/fops.c,
 * blkdev_read_iter). It must not be used where such pages exist. For a loop
 * device the image is read there. Without cachestat(2), a direct read must not
 * wait: the kernel then fails where it would write pages out.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "check/device.h"

#define ALIGN 4096u

/* /sys knows the kernel's name of the device. */
static int find_name(struct pdet_check_device *d, dev_t dev)
{
	const struct pdet_env here = { .root = (char *)"" };
	struct pdet_text text;
	const char *at;
	int r;

	r = pdet_slurp(&here, &text, 4096, "/sys/dev/block/%u:%u/uevent",
		       major(dev), minor(dev));
	if (r < 0)
		return r;
	at = strstr(text.data, "DEVNAME=");
	if (at)
		snprintf(d->name, sizeof(d->name), "/dev/%.*s",
			 (int)strcspn(at + 8, "\n"), at + 8);
	pdet_text_free(&text);
	return at ? 0 : -ENOENT;
}

static int open_one(const struct pdet_check_device *d, dev_t dev, int flags)
{
	int fd = open(d->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
	struct stat st;

	if (fd < 0)
		return -errno;
	/* The name may mean another device here. */
	if (fstat(fd, &st) || !S_ISBLK(st.st_mode) || st.st_rdev != dev) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/*
 * Finds the image by its name, and checks its inode: another file may be there
 * by now, or in this namespace.
 */
static void open_behind(struct pdet_check_device *d, dev_t dev)
{
	const struct pdet_env here = { .root = (char *)"" };
	struct loop_info64 info = { .lo_flags = 0 };
	struct pdet_text text;
	struct stat st;

	if (ioctl(d->fd, LOOP_GET_STATUS64, &info) ||
	    pdet_slurp(&here, &text, 8192, "/sys/dev/block/%u:%u/loop/"
		       "backing_file", major(dev), minor(dev)) < 0)
		return;
	text.data[strcspn(text.data, "\n")] = '\0';
	d->behind = open(text.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	pdet_text_free(&text);
	if (d->behind < 0)
		return;
	d->behind_offset = info.lo_offset;
	if (fstat(d->behind, &st) == 0 && st.st_dev == info.lo_device &&
	    st.st_ino == info.lo_inode &&
	    (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)))
		return;
	close(d->behind);
	d->behind = -1;
}

int pdet_device_open(struct pdet_check_device *d, dev_t dev)
{
	int r, sector = 0;

	d->fd = d->cached_fd = d->behind = -1;
	d->name[0] = '\0';
	r = find_name(d, dev);
	if (r < 0)
		return r;
	d->cached_fd = open_one(d, dev, 0);
	d->fd = d->cached_fd < 0 ? d->cached_fd :
				   open_one(d, dev, O_DIRECT);
	r = d->fd;
	if (r >= 0 && (ioctl(d->fd, BLKGETSIZE64, &d->bytes) ||
		       ioctl(d->fd, BLKSSZGET, &sector)))
		r = -errno;
	d->sector = (uint32_t)sector;
	if (r >= 0 && (sector < 512 || sector > (int)ALIGN))
		r = -EINVAL;
	if (r < 0)
		pdet_device_close(d);
	else
		open_behind(d, dev);
	return PDET_MIN(r, 0);
}

void pdet_device_close(struct pdet_check_device *d)
{
	if (d->fd >= 0)
		close(d->fd);
	if (d->cached_fd >= 0)
		close(d->cached_fd);
	if (d->behind >= 0)
		close(d->behind);
	d->fd = d->cached_fd = d->behind = -1;
}

bool pdet_device_is_divided(const char *dir)
{
	char path[PATH_MAX + 300];
	bool yes = false;
	struct dirent *e;
	int holders = 0;
	DIR *d;

	d = opendir(dir);
	if (!d)
		return true;
	while (!yes && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s/partition", dir,
			 e->d_name);
		yes = *e->d_name != '.' && access(path, F_OK) == 0;
	}
	closedir(d);
	snprintf(path, sizeof(path), "%s/holders", dir);
	d = opendir(path);
	while (d && (e = readdir(d)))
		holders += *e->d_name != '.';
	if (d)
		closedir(d);
	return yes || holders || !d;
}

/* Returns 1, 0, or negative errno: that is not known. */
static int is_dirty(const struct pdet_check_device *d, uint64_t offset,
		    uint64_t n)
{
	struct pdet_cachestat cs;
	const int r = pdet_cachestat(d->cached_fd, offset, n, &cs);

	return r < 0 ? r : cs.dirty || cs.writeback;
}

/*
 * Reads where no page of the device is dirty. There, a direct read that must
 * not wait fails with EAGAIN; before Linux 5.13 it does so where any page is
 * cached. It also fails if the device divides the read. Returns 0, -EAGAIN if
 * it is not known whether there are such pages, or another negative errno.
 */
static int read_clean(const struct pdet_check_device *d, char *buf, size_t n,
		      uint64_t offset)
{
	const size_t half = n / 2 & ~(size_t)(ALIGN - 1);
	struct iovec to = { buf, n };
	const ssize_t got = preadv2(d->fd, &to, 1, (off_t)offset, RWF_NOWAIT);
	int r;

	if (got == (ssize_t)n)
		return 0;
	if (got < 0 && errno == EIO)
		return -EIO;
	/* Some devices do not know such reads at all. */
	if (!half || (got < 0 && errno != EAGAIN))
		return -EAGAIN;
	r = read_clean(d, buf, half, offset);
	return r < 0 ? r : read_clean(d, buf + half, n - half, offset + half);
}

static int read_all(int fd, void *buf, size_t n, uint64_t offset)
{
	const ssize_t got = pdet_pread(fd, buf, n, offset);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -EIO;
}

int pdet_device_read(const struct pdet_check_device *d, void *buf, size_t n,
		     uint64_t offset)
{
	int r;

	if (offset > d->bytes || n > d->bytes - offset ||
	    (offset | n) & (d->sector - 1))
		return -ERANGE;
	r = is_dirty(d, offset, n);
	if (r == 0)
		return read_all(d->fd, buf, n, offset);
	r = r > 0 ? -EBUSY : read_clean(d, buf, n, offset);
	if ((r == -EBUSY || r == -EAGAIN) && d->behind >= 0)
		return read_all(d->behind, buf, n, d->behind_offset + offset);
	return r;
}

bool pdet_device_is_clean(const struct pdet_check_device *d, void *buf,
			  size_t n, uint64_t offset)
{
	return offset <= d->bytes && n <= d->bytes - offset &&
	       read_clean(d, buf, n, offset) == 0;
}

/* Reads only pages that are cached, and up to date as a whole. */
static ssize_t read_cached(const struct pdet_check_device *d, void *buf,
			   size_t n, uint64_t offset)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t first = offset & ~(page - 1);
	const size_t len = (size_t)(offset + n - first);
	unsigned char resident[((size_t)1 << 20) / ALIGN + 2];
	bool all = true;
	uint64_t i;
	char *addr;

	addr = mmap(NULL, len, PROT_NONE, MAP_SHARED, d->cached_fd,
		    (off_t)first);
	if (addr == MAP_FAILED)
		return -EAGAIN;
	all = mincore(addr, len, resident) == 0;
	munmap(addr, len);
	for (i = 0; i * page < len; i++)
		all = all && resident[i] & 1;
	return all ? pdet_pread(d->cached_fd, buf, n, offset) : -EAGAIN;
}

ssize_t pdet_device_read_at(const struct pdet_check_device *d, void *buf,
			    size_t n, uint64_t offset)
{
	const uint64_t first = offset & ~(uint64_t)(ALIGN - 1);
	uint64_t last;
	char *whole;
	size_t len;
	int r;

	if (offset >= d->bytes)
		return 0;
	n = PDET_MIN(n, (size_t)PDET_MIN(d->bytes - offset,
					 (uint64_t)1 << 20));
	last = PDET_MIN((offset + n + ALIGN - 1) & ~(uint64_t)(ALIGN - 1),
			d->bytes);
	len = (size_t)(last - first);
	whole = aligned_alloc(ALIGN, (len + ALIGN - 1) & ~(size_t)(ALIGN - 1));
	if (!whole)
		return -ENOMEM;
	r = pdet_device_read(d, whole, len, first);
	if (r == 0)
		memcpy(buf, whole + (offset - first), n);
	free(whole);
	if (r == -EBUSY)
		return pdet_pread(d->cached_fd, buf, n, offset);
	if (r == -EAGAIN)
		return read_cached(d, buf, n, offset);
	return r < 0 ? r : (ssize_t)n;
}
