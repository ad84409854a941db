/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The wrapped functions. Each one counts calls, fails if it is its turn, and
 * records what it hands out. Outside of faults_begin() and faults_end() they do
 * nothing else.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "faults.h"
#include "kernel/object/uapi.h"

/* Addresses handed out, as an open hash table; 1 marks a free place. */
#define PLACES 65536
#define FREED 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool armed;
static struct fault_plan plan;
static uint64_t calls;
static uintptr_t taken[PLACES];
static long n_memory, n_files, n_mapped, n_threads;
static char failed[256];	/* the first call that failed */
static char names[64][64];	/* objects of failures, each once */
static unsigned n_names;
static bool nameless;		/* or an object without a name */
static int last_error;

/* --- account --- */

static size_t place_of(uintptr_t p)
{
	return (size_t)((p >> 4) * 0x9e3779b97f4a7c15u >> 48) % PLACES;
}

static void take(const void *p)
{
	size_t at = place_of((uintptr_t)p), i;

	if (!p || !armed)
		return;
	pthread_mutex_lock(&lock);
	for (i = 0; i < PLACES && taken[at] > FREED; i++)
		at = (at + 1) % PLACES;
	taken[at] = (uintptr_t)p;
	n_memory++;
	pthread_mutex_unlock(&lock);
}

/*
 * Memory from before faults_begin(), or from inside libc, is not in the table.
 */
static void give_back(const void *p)
{
	size_t at = place_of((uintptr_t)p), i;

	if (!p || !armed)
		return;
	pthread_mutex_lock(&lock);
	for (i = 0; i < PLACES && taken[at]; i++) {
		if (taken[at] == (uintptr_t)p) {
			taken[at] = FREED;
			n_memory--;
			break;
		}
		at = (at + 1) % PLACES;
	}
	pthread_mutex_unlock(&lock);
}

static void count(long *what, long change)
{
	if (!armed)
		return;
	pthread_mutex_lock(&lock);
	*what += change;
	pthread_mutex_unlock(&lock);
}

void faults_begin(const struct fault_plan *p)
{
	memset(taken, 0, sizeof(taken));
	n_memory = n_files = n_mapped = n_threads = 0;
	plan = *p;
	calls = 0;
	failed[0] = '\0';
	n_names = 0;
	nameless = false;
	armed = true;
}

uint64_t faults_end(void)
{
	armed = false;
	return calls;
}

const char *faults_kept(void)
{
	static char words[128];

	if (!n_memory && !n_files && !n_mapped && !n_threads)
		return NULL;
	snprintf(words, sizeof(words), "kept: %ld blocks of memory, "
		 "%ld descriptors, %ld bytes of mappings, %ld threads",
		 n_memory, n_files, n_mapped, n_threads);
	return words;
}

const char *faults_what(void)
{
	return failed;
}

int faults_error(void)
{
	return last_error;
}

bool faults_named(const char *words)
{
	unsigned i;

	for (i = 0; i < n_names; i++)
		if (strstr(words, names[i]))
			return true;
	return nameless;
}

#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

ssize_t __real_readlink(const char *path, char *buf, size_t size);

/* Records the last part of a path. */
static void note_name(const char *path)
{
	const char *last = strrchr(path, '/');
	unsigned i;

	last = last ? last + 1 : path;
	nameless |= !*last;
	for (i = 0; i < n_names && strcmp(names[i], last); i++)
		;
	if (!*last || i < n_names)
		return;
	if (i == sizeof(names) / sizeof(*names)) {
		nameless = true;
		return;
	}
	snprintf(names[n_names++], sizeof(*names), "%s", last);
}

/* Records the object of @call: a path, or that of a descriptor. */
static void note(const char *call, const char *path, int fd)
{
	char link[64], name[160] = "";

	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (__real_readlink(link, name, sizeof(name) - 1) < 0)
			name[0] = '\0';
	}
	note_name(path ? path : name);
	if (!failed[0])
		snprintf(failed, sizeof(failed), "%s %s", call,
			 path ? path : name);
}

/* Whether this call must fail. If so, sets errno. */
static bool fails_at(unsigned kind, int error, const char *call,
		     const char *path, int fd)
{
	bool now;

	if (!armed || !(plan.kinds & kind))
		return false;
	pthread_mutex_lock(&lock);
	calls++;
	now = plan.nth && (calls == plan.nth ||
			   (plan.on && calls > plan.nth));
	if (now) {
		note(call, path, fd);
		last_error = error ? error : last_error;
	}
	pthread_mutex_unlock(&lock);
	if (now)
		errno = error;
	return now;
}

/* The name without "__wrap_". */
#define CALL (__func__ + sizeof("__wrap"))

#define FAILS(kind, error) fails_at(kind, error, CALL, NULL, -1)
#define FAILS_FD(kind, fd) fails_at(kind, plan.error, CALL, NULL, fd)
#define FAILS_PATH(kind, path) fails_at(kind, plan.error, CALL, path, -1)

/* --- memory --- */

/*
 * Fills uninitialised memory with zeroes or ones in turn, so that an answer
 * made of it varies.
 */
static void *spoil(void *p, size_t size)
{
	if (p && armed)
		memset(p, plan.nth & 1 ? 0xff : 0, size);
	return p;
}

WRAP(void *, malloc, size_t size)
{
	void *p = FAILS(FAULT_MEMORY, ENOMEM) ? NULL : __real_malloc(size);

	take(p);
	return spoil(p, size);
}

WRAP(void *, calloc, size_t n, size_t size)
{
	void *p = FAILS(FAULT_MEMORY, ENOMEM) ? NULL : __real_calloc(n, size);

	take(p);
	return p;
}

WRAP(void *, realloc, void *old, size_t size)
{
	void *p;

	if (FAILS(FAULT_MEMORY, ENOMEM))
		return NULL;
	give_back(old);
	p = __real_realloc(old, size);
	take(p ? p : old);
	return p;
}

WRAP(void *, aligned_alloc, size_t align, size_t size)
{
	void *p = FAILS(FAULT_MEMORY, ENOMEM) ? NULL :
		  __real_aligned_alloc(align, size);

	take(p);
	return p;
}

WRAP(char *, strdup, const char *text)
{
	char *p = FAILS(FAULT_MEMORY, ENOMEM) ? NULL : __real_strdup(text);

	take(p);
	return p;
}

WRAP(char *, strndup, const char *text, size_t len)
{
	char *p = FAILS(FAULT_MEMORY, ENOMEM) ? NULL :
		  __real_strndup(text, len);

	take(p);
	return p;
}

WRAP(void, free, void *p)
{
	give_back(p);
	__real_free(p);
}

WRAP(void *, mmap64, void *at, size_t len, int prot, int flags, int fd,
     off64_t offset)
{
	void *p = MAP_FAILED;

	if (!FAILS(FAULT_MEMORY, ENOMEM))
		p = __real_mmap64(at, len, prot, flags, fd, offset);
	if (p != MAP_FAILED)
		count(&n_mapped, (long)len);
	return p;
}

WRAP(int, munmap, void *at, size_t len)
{
	count(&n_mapped, -(long)len);
	return __real_munmap(at, len);
}

/* --- files --- */

static int opened(int fd)
{
	if (fd >= 0)
		count(&n_files, 1);
	return fd;
}

WRAP(int, open64, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return FAILS_PATH(FAULT_OPEN, path) ? -1 :
		opened(__real_open64(path, flags, mode));
}

WRAP(int, openat64, int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return FAILS_PATH(FAULT_OPEN, path) ? -1 :
		opened(__real_openat64(dir, path, flags, mode));
}

WRAP(int, __open64_2, const char *path, int flags)
{
	return FAILS_PATH(FAULT_OPEN, path) ? -1 :
		opened(__real___open64_2(path, flags));
}

WRAP(int, __openat64_2, int dir, const char *path, int flags)
{
	return FAILS_PATH(FAULT_OPEN, path) ? -1 :
		opened(__real___openat64_2(dir, path, flags));
}

WRAP(int, memfd_create, const char *name, unsigned flags)
{
	return FAILS_PATH(FAULT_OPEN, name) ? -1 :
		opened(__real_memfd_create(name, flags));
}

WRAP(int, close, int fd)
{
	int r = __real_close(fd);

	if (r == 0)
		count(&n_files, -1);
	return r;
}

WRAP(DIR *, opendir, const char *path)
{
	DIR *d = NULL;

	if (!FAILS_PATH(FAULT_OPEN, path))
		d = __real_opendir(path);
	if (d)
		count(&n_files, 1);
	return d;
}

/* From then on the descriptor belongs to the directory. */
WRAP(DIR *, fdopendir, int fd)
{
	return FAILS(FAULT_OPEN | FAULT_MEMORY, ENOMEM) ? NULL :
		__real_fdopendir(fd);
}

WRAP(int, closedir, DIR *d)
{
	count(&n_files, -1);
	return __real_closedir(d);
}

WRAP(int, access, const char *path, int mode)
{
	return FAILS_PATH(FAULT_OPEN, path) ? -1 : __real_access(path, mode);
}

WRAP(int, fcntl64, int fd, int what, ...)
{
	va_list ap;
	long arg;

	va_start(ap, what);
	arg = va_arg(ap, long);
	va_end(ap);
	if (what != F_DUPFD_CLOEXEC)
		return __real_fcntl64(fd, what, arg);
	return FAILS_FD(FAULT_OPEN, fd) ? -1 :
		opened(__real_fcntl64(fd, what, arg));
}

/* --- reading --- */

/* Only reads that may wait are interrupted. */
#define STAT_FAILS(fd) (plan.error != EINTR && FAILS_FD(FAULT_READ, fd))
#define STAT_FAILS_PATH(path) \
	(plan.error != EINTR && FAILS_PATH(FAULT_READ, path))

/* The size of a short read. Files of words give whole words. */
static size_t cut(size_t size)
{
	if (size >= 16 && fails_at(FAULT_SHORT, 0, "short", NULL, -1))
		return size / 16 * 8;
	return size;
}

WRAP(ssize_t, read, int fd, void *buf, size_t size)
{
	return FAILS_FD(FAULT_READ, fd) ? -1 :
		__real_read(fd, buf, cut(size));
}

WRAP(ssize_t, pread64, int fd, void *buf, size_t size, off64_t offset)
{
	return FAILS_FD(FAULT_READ, fd) ? -1 :
		__real_pread64(fd, buf, cut(size), offset);
}

/* Fortified: the last argument is the size of @buf. */
WRAP(ssize_t, __read_chk, int fd, void *buf, size_t size, size_t room)
{
	return FAILS_FD(FAULT_READ, fd) ? -1 :
		__real___read_chk(fd, buf, cut(size), room);
}

WRAP(ssize_t, __pread64_chk, int fd, void *buf, size_t size, off64_t offset,
     size_t room)
{
	return FAILS_FD(FAULT_READ, fd) ? -1 :
		__real___pread64_chk(fd, buf, cut(size), offset, room);
}

WRAP(struct dirent64 *, readdir64, DIR *d)
{
	return STAT_FAILS(dirfd(d)) ? NULL : __real_readdir64(d);
}

WRAP(ssize_t, readlink, const char *path, char *buf, size_t size)
{
	return STAT_FAILS_PATH(path) ? -1 :
		__real_readlink(path, buf, size);
}

WRAP(ssize_t, __readlink_chk, const char *path, char *buf, size_t size,
     size_t room)
{
	return STAT_FAILS_PATH(path) ? -1 :
		__real___readlink_chk(path, buf, size, room);
}

WRAP(int, fstat64, int fd, struct stat64 *st)
{
	return STAT_FAILS(fd) ? -1 : __real_fstat64(fd, st);
}

WRAP(int, stat64, const char *path, struct stat64 *st)
{
	return STAT_FAILS_PATH(path) ? -1 : __real_stat64(path, st);
}

WRAP(int, fstatfs64, int fd, struct statfs64 *st)
{
	return STAT_FAILS(fd) ? -1 : __real_fstatfs64(fd, st);
}

WRAP(int, statfs64, const char *path, struct statfs64 *st)
{
	return STAT_FAILS_PATH(path) ? -1 : __real_statfs64(path, st);
}

WRAP(int, statx, int dir, const char *path, int flags, unsigned mask,
     struct statx *st)
{
	return STAT_FAILS(dir) ? -1 :
		__real_statx(dir, path, flags, mask, st);
}

WRAP(off64_t, lseek64, int fd, off64_t offset, int whence)
{
	return STAT_FAILS(fd) ? -1 :
		__real_lseek64(fd, offset, whence);
}

WRAP(int, mincore, void *at, size_t len, unsigned char *vec)
{
	return STAT_FAILS(-1) ? -1 :
		__real_mincore(at, len, vec);
}

WRAP(int, madvise, void *at, size_t len, int advice)
{
	return STAT_FAILS(-1) ? -1 :
		__real_madvise(at, len, advice);
}

WRAP(int, mprotect, void *at, size_t len, int prot)
{
	return STAT_FAILS(-1) ? -1 :
		__real_mprotect(at, len, prot);
}

/* --- the rest --- */

/* valgrind does not know that the kernel writes there. */
static void prepare_scan(const struct pdet_pm_scan *arg)
{
	struct pdet_pm_region *regions;

	memcpy(&regions, &arg->vec, sizeof(regions));
	if (regions)
		memset(regions, plan.nth & 1 ? 0xff : 0,
		       arg->vec_len * sizeof(*regions));
}

WRAP(int, ioctl, int fd, unsigned long what, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, what);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (FAILS_FD(FAULT_IOCTL, fd))
		return -1;
	if (what == PDET_PM_SCAN)
		prepare_scan(arg);
	return __real_ioctl(fd, what, arg);
}

/* Whether its result is a new descriptor. */
static bool opens(long number, long what)
{
	return number == SYS_openat2 ||
	       (number == SYS_bpf &&
		(what == BPF_MAP_CREATE || what == BPF_PROG_LOAD));
}

/* As many arguments as any of the calls in use has. */
WRAP(long, syscall, long number, ...)
{
	long arg[6], r;
	va_list ap;
	int i;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (FAILS(FAULT_IOCTL, plan.error))
		return -1;
	r = __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4],
			   arg[5]);
	return opens(number, arg[0]) ? opened((int)r) : r;
}

WRAP(ssize_t, write, int fd, const void *buf, size_t size)
{
	/* Every write goes to the output, whatever its name. */
	if (FAILS(FAULT_WRITE, plan.error))
		return -1;
	return __real_write(fd, buf, cut(size));
}

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr,
     void *(*start)(void *), void *arg)
{
	int r = EAGAIN;

	if (!FAILS(FAULT_THREAD, EAGAIN))
		r = __real_pthread_create(thread, attr, start, arg);
	if (!r)
		count(&n_threads, 1);
	return r;
}

WRAP(int, pthread_join, pthread_t thread, void **ret)
{
	count(&n_threads, -1);
	return __real_pthread_join(thread, ret);
}
