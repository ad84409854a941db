/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the file below a file of overlayfs. That file has the pages and blocks.
 * It is in one of the layers that the mount names. overlayfs passes some
 * attributes of that file through. The topmost file with the path is the right
 * one if these attributes are all equal: no other file has the same change
 * time, to the nanosecond.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check/mount.h"
#include "check/overlay.h"

/* Overlays may be stacked. */
#define MAX_DEPTH 3

struct search {
	const struct stat *named;
	char rel[PATH_MAX];	/* path within each layer */
	int fd;			/* O_PATH; -1: none */
	bool done;		/* found, or known to be impossible */
};

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mode == b->st_mode &&
	       a->st_uid == b->st_uid && a->st_gid == b->st_gid &&
	       a->st_blocks == b->st_blocks &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Its data is in another layer. */
static bool has_no_data(int fd)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return getxattr(path, "trusted.overlay.metacopy", NULL, 0) >= 0 ||
	       getxattr(path, "user.overlay.metacopy", NULL, 0) >= 0;
}

static void try_layer(struct search *s, const char *layer)
{
	char path[2 * PATH_MAX];
	struct stat st;

	if (s->done)
		return;
	snprintf(path, sizeof(path), "%s/%s", layer, s->rel);
	s->fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (s->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return;
	s->done = true;
	if (s->fd < 0 || (fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode) &&
			  is_same(&st, s->named) && !has_no_data(s->fd)))
		return;
	close(s->fd);
	s->fd = -1;
}

/* Tries the layers, whose names are separated by colons. */
static void try_layers(struct search *s, char *layers)
{
	char *end;

	for (; *layers; layers = end) {
		end = layers + strcspn(layers, ":");
		if (*end)
			*end++ = '\0';
		if (*layers)
			try_layer(s, layers);
	}
}

static void try_options(struct search *s, struct pdet_scan options,
			const char *name)
{
	struct pdet_scan one;
	char value[4096];
	size_t len;

	while (options.at < options.end) {
		one = options;
		one.end = memchr(one.at, ',', (size_t)(one.end - one.at));
		if (!one.end)
			one.end = options.end;
		options.at = one.end + (one.end < options.end);
		if (pdet_scan_word(&one, name) &&
		    pdet_mountinfo_text(one, value, sizeof(value), &len))
			try_layers(s, value);
	}
}

/* Gets the path relative to the root of the overlay. */
static bool find_path(struct search *s, int fd, const struct pdet_mount *m)
{
	char link[40], path[PATH_MAX], point[PATH_MAX], root[PATH_MAX];
	size_t len, root_len;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 ||
	    !pdet_mountinfo_text(m->point, point, sizeof(point), &len) ||
	    !pdet_mountinfo_text(m->root, root, sizeof(root), &root_len))
		return false;
	path[n] = '\0';
	if (!strcmp(point, "/"))
		len = 0;
	if (strncmp(path, point, len) || path[len] != '/')
		return false;
	return snprintf(s->rel, sizeof(s->rel), "%s%s", root, path + len) <
	       (int)sizeof(s->rel);
}

static bool go_below(struct pdet_checked *c)
{
	struct search s = { .named = &c->st, .fd = -1 };
	struct pdet_check_mount mount;
	struct statfs fs;
	struct stat st;

	if (pdet_check_mount(c->fd, &mount) < 0)
		return false;
	if (find_path(&s, c->fd, &mount.m)) {
		try_options(&s, mount.m.super_options, "upperdir=");
		try_options(&s, mount.m.super_options, "lowerdir=");
		try_options(&s, mount.m.super_options, "lowerdir+=");
	}
	pdet_check_mount_free(&mount);
	if (s.fd < 0)
		return false;
	if (fstat(s.fd, &st) || fstatfs(s.fd, &fs) ||
	    !pdet_check_take(c, s.fd)) {
		close(s.fd);
		return false;
	}
	c->st = st;
	c->magic = (unsigned long)fs.f_type;
	return true;
}

void pdet_check_overlay(struct pdet_checked *c)
{
	int i;

	for (i = 0; i < MAX_DEPTH && c->magic == OVERLAYFS_SUPER_MAGIC &&
	     S_ISREG(c->st.st_mode); i++)
		if (!go_below(c))
			return;
}
