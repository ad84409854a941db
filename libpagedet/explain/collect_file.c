/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the file behind a shared mapping: the time when it was written, and its
 * contents where no entry maps a page. The file is opened through map_files,
 * which needs CAP_CHECKPOINT_RESTORE, or through a descriptor of the task
 * (Documentation/filesystems/proc.rst).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "explain/collect_file.h"
#include "pagedet.h"

/* Limit of descriptors to search. */
#define MOST_FDS 4096
#define MOST_MAPS ((size_t)16 << 20)

static int by_place(const void *a, const void *b)
{
	const struct pdet_backed *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

struct pdet_backed *pdet_backing_order(const struct pagedet_item *items,
				       uint64_t n)
{
	struct pdet_backed *places = calloc(n, sizeof(*places));
	uint64_t i;

	for (i = 0; places && i < n; i++)
		places[i] = (struct pdet_backed){ items[i].first, i,
						  items[i].pid };
	if (places)
		qsort(places, n, sizeof(*places), by_place);
	return places;
}

void pdet_backing_begin(struct pdet_backing *b, struct pdet_env *env)
{
	memset(b, 0, sizeof(*b));
	b->env = env;
	b->fd = -1;
}

static void forget_file(struct pdet_backing *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
	b->here = false;
}

void pdet_backing_end(struct pdet_backing *b)
{
	forget_file(b);
	pdet_text_free(&b->maps);
}

static void rewind_maps(struct pdet_backing *b)
{
	b->rest.at = b->maps.data;
	b->rest.end = b->maps.data + b->maps.len;
	b->vma.end = 0;
}

/* Starts at the last VMA found, unless this address is before it. */
static bool find_vma(struct pdet_backing *b, uint32_t pid, uint64_t vaddr)
{
	const bool fresh = b->pid != pid;
	struct pdet_scan line;

	if (fresh) {
		pdet_text_free(&b->maps);
		memset(&b->maps, 0, sizeof(b->maps));
		b->pid = pid;
		/*
		 * If it cannot be read it stays empty, and is not tried again.
		 */
		pdet_slurp(b->env, &b->maps, MOST_MAPS, "/proc/%u/maps", pid);
	}
	if (!b->maps.data)
		return false;
	if (fresh || vaddr < b->asked)
		rewind_maps(b);
	b->asked = vaddr;
	while (vaddr >= b->vma.end && pdet_scan_line(&b->rest, &line))
		if (!pdet_maps_line(line, &b->vma))
			b->vma.end = 0;
	return vaddr >= b->vma.start && vaddr < b->vma.end;
}

static bool is_file_of(const struct pdet_vma *vma, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_ino == vma->inode &&
	       major(st->st_dev) == vma->dev >> 32 &&
	       minor(st->st_dev) == (uint32_t)vma->dev;
}

/* Opens the target of a link in /proc if it is the file. */
static int open_link(const struct pdet_backing *b, const char *dir,
		     const char *name)
{
	char path[512];
	struct stat st;

	/* Opening anything but a regular file may have side effects. */
	if (pdet_path(b->env, path, sizeof(path), "/proc/%u/%s/%s", b->pid, dir,
		      name) < 0 ||
	    stat(path, &st) < 0 || !is_file_of(&b->vma, &st))
		return -1;
	/*
	 * The target may have changed since: the caller checks it again. This
	 * open must not wait for a pipe.
	 */
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static int open_by_fds(const struct pdet_backing *b)
{
	char path[512];
	struct dirent *e;
	int fd = -1, n = 0;
	DIR *d;

	if (pdet_path(b->env, path, sizeof(path), "/proc/%u/fd", b->pid) < 0)
		return -1;
	d = opendir(path);
	while (d && fd < 0 && n++ < MOST_FDS && (e = readdir(d)))
		if (*e->d_name != '.')
			fd = open_link(b, "fd", e->d_name);
	if (d)
		closedir(d);
	return fd;
}

static void open_file(struct pdet_backing *b)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof(name), "%" PRIx64 "-%" PRIx64, b->vma.start,
		 b->vma.end);
	b->fd = open_link(b, "map_files", name);
	if (b->fd < 0)
		b->fd = open_by_fds(b);
	if (b->fd < 0)
		return;
	/* Between the two calls the target may have changed. */
	if (fstat(b->fd, &st) < 0 || !is_file_of(&b->vma, &st)) {
		close(b->fd);
		b->fd = -1;
		return;
	}
	b->size = (uint64_t)st.st_size;
	b->mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u +
		      (uint64_t)st.st_mtim.tv_nsec;
}

bool pdet_backing_at(struct pdet_backing *b, uint32_t pid, uint64_t vaddr)
{
	if (b->here && b->pid == pid && vaddr >= b->vma.start &&
	    vaddr < b->vma.end)
		return b->fd >= 0;
	forget_file(b);
	b->here = find_vma(b, pid, vaddr);
	if (b->here && b->vma.inode && b->vma.prot & PAGEDET_PROT_SHARED)
		open_file(b);
	return b->fd >= 0;
}

static uint64_t offset_of(const struct pdet_backing *b, uint64_t vaddr)
{
	return b->vma.offset + (vaddr - b->vma.start);
}

uint32_t pdet_backing_hole(const struct pdet_backing *b, uint64_t vaddr,
			   uint64_t page_size)
{
	const uint64_t from = offset_of(b, vaddr - vaddr % page_size);
	struct stat st;
	off_t data;

	/* Past its end, the file has no page that could be zero. */
	if (from >= b->size)
		return PAGEDET_DUNNO;
	data = lseek(b->fd, (off_t)from, SEEK_DATA);
	/* The file may have become shorter, which does not make a hole. */
	if (data < 0)
		return errno == ENXIO && fstat(b->fd, &st) == 0 &&
		       from < (uint64_t)st.st_size ? PAGEDET_YES :
						     PAGEDET_DUNNO;
	return (uint64_t)data >= from + page_size ? PAGEDET_YES : PAGEDET_NO;
}

bool pdet_backing_read(const struct pdet_backing *b, uint64_t vaddr, void *page,
		       uint64_t page_size)
{
	const uint64_t from = offset_of(b, vaddr - vaddr % page_size);

	return pdet_pread(b->fd, page, page_size, from) == (ssize_t)page_size;
}
