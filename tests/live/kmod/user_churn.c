/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Changes memory while it is queried: processes that come and go, and what they
 * do to their pages.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

#define PAGE ((size_t)4096)
#define MB ((size_t)1 << 20)
#define HUGE (2 * MB)
/* Concurrent processes, and steps of one before it ends. */
#define LIVES 4
#define DEEDS 4
/* Limit of pages lost for the rest of the guest's life. */
#define MOST_LOST 256

static atomic_int *lost;
static atomic_int *moves;	/* and calls of moved() */

static int is_one_of(uint64_t *seed, unsigned n)
{
	return user_random(seed) % n == 0;
}

static char *get(size_t size, int flags, int fd)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       fd < 0 ? flags | MAP_ANONYMOUS : flags, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void touch(const volatile char *p, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += PAGE)
		(void)p[i];
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	dprintf(fd, "%s", text);
	close(fd);
}

/* Discards, protects, and uses or avoids huge pages. */
static void changed(uint64_t *seed)
{
	const size_t size = 4 * MB;
	char *p = get(size, MAP_PRIVATE, -1);

	if (!p)
		return;
	if (is_one_of(seed, 2))
		madvise(p, size, MADV_HUGEPAGE);
	memset(p, 1, size / 2);
	if (is_one_of(seed, 2))
		madvise(p, size / 4, MADV_DONTNEED);
	mprotect(p, size / 8, PROT_NONE);
	munmap(p, size);
}

/* Swaps pages out, and in again. */
static void swapped(uint64_t *seed)
{
	const size_t size = 2 * MB;
	char *p = get(size, is_one_of(seed, 4) ? MAP_SHARED : MAP_PRIVATE,
		      -1);
	size_t i;

	if (!p)
		return;
	for (i = 0; i < size; i += 8)
		memcpy(p + i, seed, 8);
	madvise(p, size, MADV_PAGEOUT);
	touch(p, size);
	munmap(p, size);
}

/* Makes pages of a file dirty, writes them back, drops and truncates them. */
static void of_file(uint64_t *seed)
{
	char path[64];
	char *p;
	int fd;

	snprintf(path, sizeof(path), "/disk/churn.%d", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (ftruncate(fd, MB) == 0 && (p = get(MB, MAP_SHARED, fd))) {
		memset(p, 1, MB / 2);
		if (is_one_of(seed, 2))
			sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
		if (ftruncate(fd, MB / 4) == 0)
			madvise(p, MB, MADV_DONTNEED);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		munmap(p, MB);
	}
	unlink(path);
	close(fd);
}

/* Shares memory between two processes, and punches a hole in it. */
static void shared(uint64_t *seed)
{
	int fd = memfd_create("churn", MFD_CLOEXEC);
	char *p;
	pid_t pid;

	if (fd < 0)
		return;
	if (ftruncate(fd, MB) == 0 && (p = get(MB, MAP_SHARED, fd))) {
		memset(p, 1, MB);
		pid = fork();
		if (pid == 0) {
			madvise(p, MB, MADV_PAGEOUT);
			touch(p, MB);
			_exit(0);
		}
		if (is_one_of(seed, 2))
			fallocate(fd, FALLOC_FL_PUNCH_HOLE |
				  FALLOC_FL_KEEP_SIZE, 0, MB / 2);
		waitpid(pid, NULL, 0);
		munmap(p, MB);
	}
	close(fd);
}

/* Migrates pages to the other node and back, and by memory compaction. */
static void moved(uint64_t *seed)
{
	static void *at[MB / PAGE];
	static int nodes[MB / PAGE], states[MB / PAGE];
	char *p = get(2 * HUGE, MAP_PRIVATE, -1);
	const size_t n = MB / PAGE;
	int node;
	size_t i;

	if (!p)
		return;
	memset(p, 1, 2 * HUGE);
	for (node = 0; node < 2; node++) {
		for (i = 0; i < n; i++) {
			at[i] = p + i * PAGE;
			nodes[i] = node;
		}
		syscall(SYS_move_pages, 0, n, at, nodes, states, 2);
	}
	if (is_one_of(seed, 2))
		madvise(p, 2 * HUGE, MADV_COLLAPSE);
	/* Also if there are few calls. */
	if (atomic_fetch_add(moves, 1) % 4 == 0)
		write_file("/proc/sys/vm/compact_memory", "1");
	munmap(p, 2 * HUGE);
}

/* The memory of a page that fails. */
static char *victim(uint64_t *seed, int *fd)
{
	*fd = -1;
	switch (user_random(seed) % 3) {
	case 0:
		return get(PAGE, MAP_PRIVATE, -1);
	case 1:
		*fd = memfd_create("lost", MFD_CLOEXEC);
		break;
	default:
		*fd = open("/disk", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	}
	return *fd < 0 || ftruncate(*fd, (off_t)PAGE) < 0 ? NULL :
		get(PAGE, MAP_SHARED, *fd);
}

/*
 * Takes the address's current page offline. The page stays there unless
 * compaction moves locked pages.
 */
static void offline(const char *p, const char *file)
{
	int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	char path[64], text[32];
	uint64_t entry = 0;

	if (pread(map, &entry, 8, (off_t)((uintptr_t)p / PAGE * 8)) == 8 &&
	    entry >> 63) {
		snprintf(text, sizeof(text), "0x%" PRIx64,
			 (entry & ((UINT64_C(1) << 55) - 1)) * PAGE);
		snprintf(path, sizeof(path),
			 "/sys/devices/system/memory/%s_offline_page", file);
		write_file(path, text);
	}
	close(map);
}

/*
 * Poisons a page, or takes it offline before it fails. It is not touched any
 * more.
 */
static void poisoned(uint64_t *seed)
{
	char *p;
	int fd;

	if (atomic_fetch_add(lost, 1) >= MOST_LOST)
		return;
	p = victim(seed, &fd);
	if (p && mlock(p, PAGE) == 0) {
		*p = 1;
		switch (user_random(seed) % 4) {
		case 0:
			madvise(p, PAGE, MADV_HWPOISON);
			break;
		case 1:
			madvise(p, PAGE, MADV_SOFT_OFFLINE);
			break;
		case 2:
			offline(p, "hard");
			break;
		default:
			offline(p, "soft");
		}
	}
	if (p)
		munmap(p, PAGE);
	if (fd >= 0)
		close(fd);
}

/* Creates and frees page tables. */
static void sparse(uint64_t *seed)
{
	const size_t size = 64 * HUGE;
	char *p = get(size, MAP_PRIVATE | MAP_NORESERVE, -1), *q;
	size_t i;

	if (!p)
		return;
	for (i = 0; i < size; i += HUGE)
		p[i] = 1;
	q = mremap(p + size / 2, size / 2, size / 2,
		   MREMAP_MAYMOVE | (is_one_of(seed, 2) ? MREMAP_DONTUNMAP :
				     0));
	if (q != MAP_FAILED)
		munmap(q, size / 2);
	munmap(p, size);
}

static void without_map(uint64_t *seed)
{
	int fd = (int)syscall(SYS_memfd_secret, 0);
	const size_t size = PAGE << user_random(seed) % 6;
	char *p;

	if (fd < 0)
		return;
	if (ftruncate(fd, (off_t)size) == 0 &&
	    (p = get(size, MAP_SHARED, fd))) {
		memset(p, 1, size);
		munmap(p, size);
	}
	close(fd);
}

static void huge(uint64_t *seed)
{
	char *p = get(HUGE, MAP_PRIVATE | MAP_HUGETLB, -1);

	if (p) {
		p[user_random(seed) % HUGE] = 1;
		munmap(p, HUGE);
	}
	write_file("/proc/sys/vm/nr_hugepages", is_one_of(seed, 2) ? "3" :
		   "0");
}

static void *outlive(void *arg)
{
	usleep(20000);
	_exit(0);
	return arg;
}

/*
 * A process whose first thread has ended, and one that executes another
 * program.
 */
static void replaced(uint64_t *seed)
{
	const pid_t pid = fork();
	pthread_t thread;

	if (pid == 0 && is_one_of(seed, 2)) {
		execl("/bin/busybox", "busybox", "true", NULL);
		_exit(1);
	}
	if (pid == 0) {
		if (pthread_create(&thread, NULL, outlive, NULL) == 0)
			syscall(SYS_exit, 0);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void live(uint64_t seed)
{
	static void (*const deeds[])(uint64_t *) = {
		changed, swapped, of_file, shared, moved, poisoned,
		sparse, without_map, huge, replaced,
	};
	int i;

	for (i = 0; i < DEEDS; i++)
		deeds[user_random(&seed) % (sizeof(deeds) / sizeof(*deeds))](
			&seed);
}

/* Runs until it is killed with all its children. */
int user_churn(void)
{
	uint64_t seed = (uint64_t)getpid() * 0x9e3779b97f4a7c15ULL + 1;
	int i;

	setpgid(0, 0);
	write_file("/proc/sys/vm/compact_unevictable_allowed", "0");
	lost = (atomic_int *)(void *)get(PAGE, MAP_SHARED, -1);
	if (!lost)
		return 1;
	moves = lost + 1;
	for (i = 0;; i++) {
		if (i >= LIVES)
			wait(NULL);
		if (fork() == 0) {
			live(user_random(&seed));
			_exit(0);
		}
		user_random(&seed);
	}
}
