/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds out whether maps shows the real owner of a mapped file's pages. maps
 * shows device and inode of the mapped file. On overlayfs and similar
 * filesystems the pages belong to another file. The device number identifies
 * the filesystem. mountinfo lists them, also the task's own if it has a private
 * mount namespace. Unmountable ones (shared memory, anonymous huge pages) are
 * identified with a file of our own.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "backend/procfs/procfs.h"
#include "base/clock.h"
#include "base/io.h"
#include "kernel/text/mountinfo.h"

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4u
#endif

/* Log2 of huge page sizes, and their position in the flags of memfd_create()
 * (include/uapi/asm-generic/hugetlb_encode.h). */
#define HUGE_FIRST 16
#define HUGE_LAST 34
#define HUGE_SHIFT 26

/* A device number may be reused after an unmount, so cached mounts expire after
 * this time. */
#define FRESH_NS 1000000000

static int compare(const void *a, const void *b)
{
	const struct procfs_device *x = a, *y = b;

	return x->dev < y->dev ? -1 : x->dev > y->dev;
}

/* Sort, and merge entries with the same number. One line that denies ownership
 * decides. */
static void settle(struct procfs_mounts *m)
{
	size_t i, out = 0;

	if (!m->list.n)
		return;
	qsort(m->list.data, m->list.n, sizeof(*m->list.data), compare);
	for (i = 1; i < m->list.n; i++) {
		struct procfs_device *last = &m->list.data[out];

		if (m->list.data[i].dev == last->dev)
			last->shows_owner &= m->list.data[i].shows_owner;
		else
			m->list.data[++out] = m->list.data[i];
	}
	m->list.n = out + 1;
}

static const struct procfs_device *find(const struct procfs_mounts *m,
					uint64_t dev)
{
	struct procfs_device key = { dev, false };

	return m->list.n ? bsearch(&key, m->list.data, m->list.n, sizeof(key),
				   compare) : NULL;
}

/* The device stays unknown if memory is short, which is safe. */
static void add(struct procfs_mounts *m, uint64_t dev, bool shows_owner)
{
	struct procfs_device d = { dev, shows_owner };

	(void)!pdet_vec_push(&m->list, d);
}

static void add_text(struct procfs_mounts *m, const struct pdet_text *text)
{
	struct pdet_scan all = { text->data, text->data + text->len }, line;
	struct pdet_mount mount;

	while (pdet_scan_line(&all, &line))
		if (pdet_mountinfo_line(line, &mount))
			add(m, mount.dev, pdet_mount_shows_owner(&mount));
}

static void add_own(struct procfs_mounts *m, unsigned flags)
{
	int fd = memfd_create("pagedet", MFD_CLOEXEC | flags);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0)
		add(m, (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev),
		    true);
	close(fd);
}

/* Add filesystems that only the kernel mounts internally. */
static void add_unmountable(struct procfs_mounts *m)
{
	unsigned size;

	add_own(m, 0);
	for (size = HUGE_FIRST; size <= HUGE_LAST; size++)
		add_own(m, MFD_HUGETLB | size << HUGE_SHIFT);
}

static void load_mounts(struct procfs_session *s)
{
	struct procfs_mounts *m = &s->mounts;
	struct pdet_text text;

	if (pdet_slurp(&s->session.env, &text, 8 << 20,
		       "/proc/self/mountinfo") < 0)
		return;
	add_text(m, &text);
	pdet_text_free(&text);
}

/* Add mounts that only this task sees; reading them may be denied. */
static void load_of_task(struct procfs_session *s, uint32_t pid)
{
	struct pdet_text text;

	if (pdet_slurp(&s->session.env, &text, 8 << 20, "/proc/%u/mountinfo",
		       pid) < 0)
		return;
	add_text(&s->mounts, &text);
	pdet_text_free(&text);
}

bool procfs_shows_owner(struct procfs_session *s, uint32_t pid, uint64_t dev)
{
	struct procfs_mounts *m = &s->mounts;
	const struct procfs_device *d;
	uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);

	if (!m->read_ns || now - m->read_ns > FRESH_NS) {
		m->list.n = 0;
		m->unmountable = false;
		m->read_ns = now;
		load_mounts(s);
		settle(m);
	}
	d = find(m, dev);
	if (d)
		return d->shows_owner;
	load_of_task(s, pid);
	if (s->p->live && !m->unmountable) {
		add_unmountable(m);
		m->unmountable = true;
	}
	settle(m);
	d = find(m, dev);
	if (d)
		return d->shows_owner;
	/*
	 * Stacked filesystems have no block device, so a major number suffices.
	 */
	add(m, dev, dev >> 32);
	settle(m);
	return dev >> 32;
}
