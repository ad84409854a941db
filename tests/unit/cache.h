/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Shared by tests of cached pages: a session of the procfs backend, a directory
 * on tmpfs, where pages are never written back or dropped, and one on a disk.
 */
#ifndef TESTS_CACHE_H
#define TESTS_CACHE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/procfs/procfs.h"
#include "unit.h"

#define NOBODY 65534

/* Numbers of system calls that headers may lack. */
#define CACHE_STAT_CALL 451
#define CACHE_OPENAT2_CALL 437

static struct procfs cache_procfs;
static struct procfs_session cache_session;
static char cache_no_root[] = "";
static char cache_dir[64];	/* on tmpfs */
static char cache_disk[448]; /* below TMPDIR, and not on tmpfs */
static size_t cache_page;

/* @words: PROCFS_WORDS elements. */
static inline void cache_open_session(struct procfs_session *s,
				      uint64_t *words)
{
	memset(s, 0, sizeof(*s));
	s->session.backend = &cache_procfs.backend;
	s->session.env.root = cache_no_root;
	s->p = &cache_procfs;
	s->words = words;
}

static inline struct pdet_session *cache_start(void)
{
	static uint64_t words[PROCFS_WORDS];

	cache_page = (size_t)sysconf(_SC_PAGESIZE);
	cache_procfs.live = true;
	cache_procfs.page_shift = (uint32_t)__builtin_ctzl(cache_page);
	cache_open_session(&cache_session, words);
	return &cache_session.session;
}

static inline const char *cache_words(void)
{
	return cache_session.session.env.error;
}

static inline bool cache_on_tmpfs(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

static inline void cache_make_dir(void)
{
	snprintf(cache_dir, sizeof(cache_dir), "/dev/shm/pagedet.XXXXXX");
	if (!cache_on_tmpfs("/dev/shm") || !mkdtemp(cache_dir))
		unit_skip("needs a tmpfs at /dev/shm");
	ck_assert_int_eq(chmod(cache_dir, 0755), 0);
}

static inline void cache_make_disk(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(cache_disk, sizeof(cache_disk), "%s/pagedet.XXXXXX",
		 tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(cache_disk));
	if (cache_on_tmpfs(cache_disk)) {
		rmdir(cache_disk);
		unit_skip("needs a directory for temporary files on a disk");
	}
}

static inline void cache_remove(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
}

static inline const char *cache_name(char *path, const char *dir,
				     const char *name)
{
	snprintf(path, 512, "%s/%s", dir, name);
	return path;
}

/* Makes a file with one byte written in some pages, @step apart. */
static inline int cache_file(const char *path, uint64_t pages, uint64_t step)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	uint64_t i;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)(pages * cache_page)), 0);
	for (i = 0; step && i < pages; i += step)
		ck_assert_int_eq(pwrite(fd, "x", 1, (off_t)(i * cache_page)),
				 1);
	return fd;
}

static inline void cache_batch(struct pdet_batch *b, uint32_t cap,
			       bool with_pfn)
{
	static const uint8_t list[] = {
		PAGEDET_FIELD_INDEX, PAGEDET_FIELD_KIND, PAGEDET_FIELD_DEV,
		PAGEDET_FIELD_INODE, PAGEDET_FIELD_PATH, PAGEDET_FIELD_NOTES,
		PAGEDET_FIELD_FLAGS, PAGEDET_FIELD_FLAGS_KNOWN,
	};
	struct pdet_fields fields = { { 0 } };
	size_t i;

	for (i = 0; i < sizeof(list); i++)
		pdet_fields_add(&fields, list[i]);
	if (with_pfn)
		pdet_fields_add(&fields, PAGEDET_FIELD_PFN);
	ck_assert(pdet_batch_init(b, &fields, cap, 4096));
}

static inline uint64_t cache_value(const struct pdet_batch *b, uint32_t row,
				   unsigned field)
{
	ck_assert_uint_eq(pdet_batch_state(b, row, field), PAGEDET_HAVE);
	return b->value[field][row];
}

/* Whether this process may see page frame numbers. */
static inline bool cache_sees_pfns(void)
{
	uint64_t word = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (pread(fd, &word, 8,
		  (off_t)((uintptr_t)&word / cache_page * 8)) != 8)
		word = 0;
	close(fd);
	return word & PDET_PM_PFN_MASK;
}

/* Whether the system call exists; it is made with wrong arguments. */
static inline bool cache_has_call(long number)
{
	return syscall(number, -1, NULL, NULL, 0, 0, 0) == 0 ||
	       errno != ENOSYS;
}

static inline void cache_need_root(void)
{
	if (geteuid())
		unit_skip("needs root to become somebody else");
}

/* Runs @what as user nobody in a child, and passes on its failed assertions. */
static inline void cache_as_nobody(void (*what)(void))
{
	int status;
	pid_t pid;

	pid = check_fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(EXIT_FAILURE);
		what();
		_exit(EXIT_SUCCESS);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

#endif
