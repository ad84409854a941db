/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A file is a setting or a list; each call opens and closes it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/env.h"
#include "record/tracefs.h"
#include "trace/trace.h"

#ifndef TRACEFS_MAGIC
#define TRACEFS_MAGIC 0x74726163
#endif

static int mount_nowhere(void)
{
	int fs, fd = -1;

	fs = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (fd < 0)
		fd = -errno;
	close(fs);
	return fd;
}

/* -ENOENT: it is not mounted there. */
static int open_mounted(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == TRACEFS_MAGIC)
		return fd;
	close(fd);
	return -ENOENT;
}

int pdet_tracefs_open(void)
{
	static const char *const places[] = { "/sys/kernel/tracing",
					      "/sys/kernel/debug/tracing" };
	size_t i;
	int r;

	for (i = 0; i < PDET_COUNT(places); i++) {
		r = open_mounted(places[i]);
		if (r >= 0 || r == -EACCES)
			return r;
	}
	return mount_nowhere();
}

int pdet_tracefs_open_instances(void)
{
	int fs = pdet_tracefs_open(), fd;

	if (fs < 0)
		return fs;
	fd = openat(fs, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(fs);
	return fd;
}

int pdet_tracefs_put(int dir, const char *name, const char *text)
{
	const size_t len = strlen(text);
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = write(fd, text, len) == (ssize_t)len ? 0 : -errno;
	close(fd);
	return r;
}

int pdet_tracefs_get(int dir, const char *name, char *buf, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, buf, size - 1);
		close(fd);
	}
	buf[PDET_MAX(n, 0)] = '\0';
	return n < 0 ? -1 : 0;
}

DIR *pdet_tracefs_list(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

bool pdet_tracefs_stats(int dir, const char *cpu,
			struct pdet_tracefs_stats *ret)
{
	static const char *const lost[] = { "overrun: ", "commit overrun: ",
					    "dropped events: " };
	char name[300];
	uint64_t n;
	size_t i, len;
	bool all;

	snprintf(name, sizeof(name), "per_cpu/%s/stats", cpu);
	if (pdet_tracefs_get(dir, name, ret->text, sizeof(ret->text)))
		return false;
	len = strlen(ret->text);
	ret->lost = ret->left = ret->read = 0;
	all = pdet_trace_stat(ret->text, len, "entries: ", &ret->left) &&
	      pdet_trace_stat(ret->text, len, "read events: ", &ret->read);
	for (i = 0; all && i < PDET_COUNT(lost); i++) {
		all = pdet_trace_stat(ret->text, len, lost[i], &n);
		ret->lost += all ? n : 0;
	}
	return all;
}
