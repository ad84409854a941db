/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Plants that are pages of files: on disk, in tmpfs, without a name. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "planter.h"

#define NOT_ANON ELSE_CLEAR ",anon"
#define PTE_CLEAR "swapped,guard,migration,hwpoison,device,zero"
#define FILE_CLEAR NOT_ANON ",swapbacked,huge"
#define SHMEM_SET "swapbacked,mmap,uptodate"
#define SHMEM_CLEAR NOT_ANON ",compound_head,compound_tail,huge,thp"

#define PAGES 4

/* Newer than the headers of the systems that we build on. */
#define MFD_NOEXEC_SEAL_ 8U

static char *new_file(const char *dir, const char *name, int *fd)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		exit(1);
	*fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return path;
}

static bool write_pages(int fd, unsigned n)
{
	char page[PAGE];
	unsigned i;

	for (i = 0; i < n; i++) {
		memset(page, 'a' + (int)i, sizeof(page));
		if (pwrite(fd, page, PAGE, (off_t)(i * PAGE)) != (ssize_t)PAGE)
			return false;
	}
	return true;
}

static char *map_pages(int fd, unsigned n, int prot, int flags)
{
	char *at = mmap(NULL, n * PAGE, prot, flags, fd, 0);

	if (at == MAP_FAILED)
		return NULL;
	/* No read-ahead of neighbours. */
	madvise(at, n * PAGE, MADV_RANDOM);
	return at;
}

/* btrfs has a device for each subvolume, overlayfs one of its own: maps says
 * one and stat another. */
static bool hides_device(const struct statfs *fs)
{
	return fs->f_type == BTRFS_SUPER_MAGIC ||
	       fs->f_type == OVERLAYFS_SUPER_MAGIC;
}

static void of_file(struct plant *p, int fd, const char *path, uint64_t index)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return;
	p->path = path;
	p->dev = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
	p->inode = st.st_ino;
	p->index = index;
}

/* @at: where it is mapped; NULL: nowhere. */
static struct plant *file_plant(struct field *f, const char *name, int fd,
				const char *path, char *at, uint64_t index)
{
	struct plant *p = plant_new(f, name, at ? at + index * PAGE : NULL);

	p->kind = "file";
	p->flags_set = "uptodate,mmap,lru";
	p->flags_clear = FILE_CLEAR ",dirty,writeback";
	p->pte_set = "present,file";
	p->pte_clear = PTE_CLEAR;
	p->pte_unknown = f->soft_dirty ? NULL : "soft_dirty";
	p->mapcount = 1;
	p->level = 1;
	p->charged = true;
	p->mapper[0].pid = f->pid;
	p->mapper[0].addr = p->addr;
	p->n_mappers = at ? 1 : 0;
	of_file(p, fd, path, index);
	return p;
}

static void write_again(struct plant *p)
{
	*(volatile char *)p->addr += 1;
}

/*
 * The page of a file that nobody maps: the kernel does without it when memory
 * is short, and reads it into another one then. Mapped for the look only.
 */
static void find_again(struct plant *p)
{
	int fd = open(p->path, O_RDONLY | O_CLOEXEC);
	char *at = fd < 0 ? NULL : map_pages(fd, PAGES, PROT_READ, MAP_SHARED);

	p->pfn = NO_NUMBER;
	if (at) {
		*(volatile char *)(at + p->index * PAGE);
		p->pfn = word_pfn(word_pagemap(
			getpid(), (uintptr_t)at + p->index * PAGE));
		munmap(at, PAGES * PAGE);
		plant_drain();
	}
	if (fd >= 0)
		close(fd);
}

/*
 * Clean, dirty and synced pages need files of their own: dirty belongs to the
 * folio, and one folio may have all pages of a small file.
 */
static void make_on_disk(struct field *f)
{
	struct plant *p;
	char *path, *at;
	int fd;

	path = new_file(f->dir, "clean", &fd);
	if (fd < 0 || !write_pages(fd, PAGES) || fsync(fd) < 0) {
		plant_skip("file_clean", "cannot write in %s: %s", f->dir,
			   strerror(errno));
		return;
	}
	/* Dropped and read again, so that it was never dirty in memory. */
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	at = map_pages(fd, PAGES, PROT_READ, MAP_PRIVATE);
	if (at) {
		*(volatile char *)(at + PAGE);
		file_plant(f, "file_clean", fd, path, at, 1);
	}
	at = map_pages(fd, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	if (at) {
		at[2 * PAGE] = 'x';
		p = file_plant(f, "file_cow", fd, path, at, 2);
		p->kind = "anon";
		p->flags_set = "anon,uptodate,mmap,swapbacked";
		p->flags_clear = "slab,buddy,pgtable,nopage,offline,reserved,"
				 "zero_page,compound_tail,huge";
		p->pte_set = "present,exclusive";
		p->pte_clear = PTE_CLEAR ",file";
		p->path = NULL;
		p->no_file = true;
		p->order = 0;
		p->refcount = 1;
	}

	/* A name with a newline. */
	path = new_file(f->dir, "dirty\nfile name", &fd);
	if (fd >= 0 && write_pages(fd, PAGES) && fsync(fd) == 0 &&
	    (at = map_pages(fd, PAGES, PROT_READ | PROT_WRITE, MAP_SHARED))) {
		p = file_plant(f, "file_dirty", fd, path, at, 3);
		p->flags_set = "uptodate,mmap,lru,dirty";
		p->flags_clear = FILE_CLEAR ",writeback";
		/* Until the kernel writes it back. */
		p->renew = write_again;
	}

	path = new_file(f->dir, "synced", &fd);
	if (fd >= 0 && write_pages(fd, PAGES) &&
	    (at = map_pages(fd, PAGES, PROT_READ | PROT_WRITE, MAP_SHARED))) {
		at[0] = 'x';
		if (fsync(fd) == 0)
			file_plant(f, "file_synced", fd, path, at, 0);
	}

	path = new_file(f->dir, "cached", &fd);
	if (fd >= 0 && write_pages(fd, PAGES) && fsync(fd) == 0) {
		p = file_plant(f, "file_unmapped", fd, path, NULL, 1);
		p->renew = find_again;
		p->flags_set = "uptodate,lru";
		p->flags_clear = FILE_CLEAR ",dirty,writeback,mmap";
		p->pte_set = p->pte_clear = p->pte_unknown = NULL;
		p->level = NO_NUMBER;
		p->mapcount = 0;
	}
}

static void shmem_plant(struct field *f, const char *name, int fd,
			const char *path, uint64_t index)
{
	char *at = NULL;
	struct plant *p;

	if (fd >= 0 && ftruncate(fd, (off_t)(PAGES * PAGE)) == 0)
		at = map_pages(fd, PAGES, PROT_READ | PROT_WRITE, MAP_SHARED);
	if (!at) {
		plant_skip(name, "cannot make it: %s", strerror(errno));
		return;
	}
	madvise(at, PAGES * PAGE, MADV_NOHUGEPAGE);
	at[index * PAGE] = 1;
	p = file_plant(f, name, fd, path, at, index);
	p->kind = "shmem";
	p->refcount = 2;	/* its file and this process */
	p->flags_set = SHMEM_SET;
	p->flags_clear = SHMEM_CLEAR;
	p->pte_set = "present,file,exclusive";
	p->order = 0;
}

static void make_in_memory(struct field *f)
{
	char *path, *at;
	struct statfs fs;
	struct plant *p;
	char name[64];
	int fd;

	if (statfs("/dev/shm", &fs) == 0 && fs.f_type == TMPFS_MAGIC) {
		snprintf(name, sizeof(name), "pagedet-plant.%d", f->pid);
		path = new_file("/dev/shm", name, &fd);
		shmem_plant(f, "tmpfs", fd, path, 2);
		/* Stays while it is mapped, and ends with this process. */
		if (fd >= 0)
			unlink(path);
		/* The file has no name any more. */
		f->plant[f->n - 1].path = NULL;
	} else {
		plant_skip("tmpfs", "/dev/shm is no tmpfs");
	}
	/* vm.memfd_noexec may insist on it; before 6.3 it is not known */
	fd = memfd_create("plant", MFD_CLOEXEC | MFD_NOEXEC_SEAL_);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("plant", MFD_CLOEXEC);
	shmem_plant(f, "memfd", fd, NULL, 3);

	at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED) {
		plant_skip("shared_anon", "mmap: %s", strerror(errno));
		return;
	}
	madvise(at, 2 * PAGE, MADV_NOHUGEPAGE);
	at[PAGE] = 1;
	p = file_plant(f, "shared_anon", -1, NULL, at, 1);
	p->kind = "shmem";
	p->refcount = 2;	/* its file and this process */
	p->flags_set = SHMEM_SET;
	p->flags_clear = SHMEM_CLEAR;
	p->pte_set = "present,file,exclusive";
	p->order = 0;
	at = map_pages(-1, 1, PROT_READ, MAP_SHARED | MAP_ANONYMOUS);
	if (at) {
		p = plant_new(f, "shared_untouched", at);
		p->kind = "untouched";
		p->pte_clear = "present," PTE_CLEAR;
	}
}

static void make_text(struct field *f)
{
	static char path[512];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uintptr_t addr = (uintptr_t)make_text & ~(PAGE - 1);
	unsigned long start, end, offset;
	char line[1024];
	struct statfs fs;
	struct plant *p;
	FILE *maps;

	maps = fopen("/proc/self/maps", "r");
	if (len < 0 || fd < 0 || !maps || fstatfs(fd, &fs) < 0) {
		plant_skip("text", "cannot read about ourselves");
		return;
	}
	path[len] = '\0';
	if (hides_device(&fs)) {
		plant_skip("text", "%s has another device in maps", path);
		fclose(maps);
		return;
	}
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) !=
			    3 ||
		    addr < start || addr >= end)
			continue;
		p = file_plant(f, "text", fd, path, (char *)addr, 0);
		p->flags_set = "uptodate,mmap";
		p->flags_clear = NOT_ANON;
		/* The keeper runs the same program. */
		p->n_mappers = 0;
		p->mapcount = NO_NUMBER;
		p->charged = false;
		p->index = (offset + addr - start) / PAGE;
		/* The program may be in a tmpfs. */
		p->kind = "file|shmem";
	}
	fclose(maps);
}

static void skip_on_disk(const char *dir, const char *why)
{
	static const char *const names[] = {
		"file_clean", "file_cow", "file_dirty", "file_synced",
		"file_unmapped",
	};
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		plant_skip(names[i], "%s %s", dir, why);
}

void make_files(struct field *f)
{
	struct statfs fs;

	if (statfs(f->dir, &fs) < 0)
		skip_on_disk(f->dir, "cannot be looked at");
	else if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
		skip_on_disk(f->dir, "has no disk below it");
	else if (hides_device(&fs))
		skip_on_disk(f->dir, "has another device in maps");
	else
		make_on_disk(f);
	make_in_memory(f);
	make_text(f);
}
