/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests device and inode of mapped files' pages. On most filesystems maps shows
 * the right file, on some another one. The test uses this process and a child
 * with its own mounts.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pagedet.h"
#include "../../huge.h"
#include "../../mounts.h"
#include "../../unit.h"

static struct pagedet *pd;
static char dir[512];
static size_t page;

static void start(void)
{
	pd = pagedet_new();
	ck_assert_ptr_nonnull(pd);
	ck_assert_msg(pagedet_open(pd, NULL) == 0, "%s", pagedet_error(pd));
}

/* Gets device and inode of the page at @at in task @pid. */
static struct pagedet_page ask(pid_t pid, const void *at)
{
	struct pagedet_item item = { (uintptr_t)at, 1, (uint32_t)pid, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page row;
	struct pagedet_iter *it;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_fields_parse(pd, "dev,inode,index,path", &q),
			 0);
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	ck_assert_msg(pagedet_next(it, &row, 1) == 1, "%s",
		      pagedet_error(pd));
	pagedet_iter_free(it);
	return row;
}

static unsigned state(const struct pagedet_page *row, unsigned field)
{
	return PAGEDET_CELL_STATE(row->cell[field]);
}

static void ck_shown(const struct pagedet_page *row, const struct stat *st)
{
	ck_assert_uint_eq(state(row, PAGEDET_FIELD_DEV), PAGEDET_HAVE);
	ck_assert_uint_eq(state(row, PAGEDET_FIELD_INODE), PAGEDET_HAVE);
	ck_assert_uint_eq(row->dev, (uint64_t)major(st->st_dev) << 32 |
				    minor(st->st_dev));
	ck_assert_uint_eq(row->inode, st->st_ino);
	ck_assert_uint_eq(state(row, PAGEDET_FIELD_INDEX), PAGEDET_HAVE);
}

static void ck_unproved(const struct pagedet_page *row)
{
	ck_assert_uint_eq(state(row, PAGEDET_FIELD_DEV), PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(state(row, PAGEDET_FIELD_INODE),
			  PAGEDET_UNSUPPORTED);
	/* The page's index in the file, and the file's name, are the same. */
	ck_assert_uint_eq(state(row, PAGEDET_FIELD_INDEX), PAGEDET_HAVE);
	ck_assert_uint_eq(row->index, 1);
	ck_assert_uint_eq(state(row, PAGEDET_FIELD_PATH), PAGEDET_HAVE);
}

/* Maps its second page and touches it. */
static volatile char *map_second(int fd, size_t size)
{
	volatile char *at;

	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  (off_t)size);
	ck_assert_ptr_ne((void *)at, MAP_FAILED);
	at[0] = 1;
	return at;
}

static volatile char *map_file(const char *name, struct stat *st)
{
	volatile char *at;
	char path[640];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(ftruncate(fd, 2 * (off_t)page), 0);
	at = map_second(fd, page);
	ck_assert_int_eq(fstat(fd, st), 0);
	close(fd);
	return at;
}

static void make_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/pagedet.XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

/* Makes a tmpfs at dir in a mount namespace of this process. */
static void own_mounts(void)
{
	const char *why = mounts_of_our_own();

	if (why)
		unit_skip("%s", why);
	make_dir();
	ck_assert_int_eq(mount("tmpfs", dir, "tmpfs", 0, NULL), 0);
}

/* The mounts end with this process, the directory does not. */
static void leave(void)
{
	umount2(dir, MNT_DETACH);
	rmdir(dir);
}

static void mount_overlay(void)
{
	static const char *const names[] = { "low", "up", "work", "over" };
	char path[640], options[2048];
	unsigned i;

	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	snprintf(options, sizeof(options),
		 "lowerdir=%s/low,upperdir=%s/up,workdir=%s/work", dir, dir,
		 dir);
	if (mount("overlay", path, "overlay", 0, options)) {
		leave();
		unit_skip("there is no overlayfs");
	}
}

START_TEST(of_a_disk)
{
	struct pagedet_page row;
	volatile char *at;
	struct statfs fs;
	struct stat st;
	char path[640];

	start();
	make_dir();
	at = map_file("f", &st);
	ck_assert_int_eq(statfs(dir, &fs), 0);
	snprintf(path, sizeof(path), "%s/f", dir);
	unlink(path);
	rmdir(dir);
	/* btrfs: stat shows a subvolume's device */
	if (fs.f_type == OVERLAYFS_SUPER_MAGIC ||
	    fs.f_type == BTRFS_SUPER_MAGIC)
		unit_skip("files for a while are on such a filesystem");
	row = ask(getpid(), (void *)at);
	ck_shown(&row, &st);
	ck_assert_uint_eq(row.index, 1);
}
END_TEST

static void ck_memfd(unsigned flags, size_t size)
{
	int fd = memfd_create("x", flags);
	struct pagedet_page row;
	volatile char *at;
	struct stat st;

	if (fd < 0 || ftruncate(fd, 2 * (off_t)size) || fstat(fd, &st))
		unit_skip("there are no such files");
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  (off_t)size);
	if (at == MAP_FAILED)
		unit_skip("there are no huge pages");
	at[0] = 1;
	row = ask(getpid(), (void *)at);
	ck_shown(&row, &st);
	ck_assert_uint_eq(row.index, size / page);
}

/* Files on devices that no mountinfo lists. */
START_TEST(of_memory)
{
	start();
	ck_memfd(0, page);
}
END_TEST

START_TEST(of_huge_pages)
{
	start();
	ck_memfd(MFD_HUGETLB, 2 << 20);
}
END_TEST

START_TEST(of_an_overlay)
{
	struct pagedet_page row;
	volatile char *at;
	struct stat st;

	own_mounts();
	mount_overlay();
	start();
	at = map_file("over/f", &st);
	row = ask(getpid(), (void *)at);
	ck_unproved(&row);
	/* The same file by its own name. */
	at = map_file("up/f", &st);
	row = ask(getpid(), (void *)at);
	ck_shown(&row, &st);
	leave();
}
END_TEST

/* A filesystem that was mounted after the first query. */
START_TEST(of_what_came_later)
{
	struct pagedet_page row;
	volatile char *at;
	struct stat st;

	own_mounts();
	start();
	at = map_file("f", &st);
	row = ask(getpid(), (void *)at);
	ck_shown(&row, &st);
	mount_overlay();
	at = map_file("over/f", &st);
	row = ask(getpid(), (void *)at);
	ck_unproved(&row);
	leave();
}
END_TEST

struct told {
	char dir[sizeof(dir)];
	volatile char *over, *own;
	struct stat st;
};

static void be_elsewhere(int to)
{
	struct told told;
	struct stat st;

	own_mounts();
	mount_overlay();
	told.over = map_file("over/f", &st);
	told.own = map_file("own", &told.st);
	memcpy(told.dir, dir, sizeof(dir));
	if (write(to, &told, sizeof(told)) == sizeof(told))
		pause();
	_exit(EXIT_FAILURE);
}

/* A mount that only another task sees. */
START_TEST(of_another_mount_namespace)
{
	struct pagedet_page over, own;
	struct told told;
	int pipes[2];
	pid_t pid;

	if (geteuid())
		unit_skip("needs root to mount something");
	ck_assert_int_eq(pipe(pipes), 0);
	pid = check_fork();
	if (!pid)
		be_elsewhere(pipes[1]);
	close(pipes[1]);
	if (read(pipes[0], &told, sizeof(told)) != sizeof(told))
		unit_skip("there is no overlayfs");
	start();
	over = ask(pid, (void *)told.over);
	own = ask(pid, (void *)told.own);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	rmdir(told.dir);
	ck_unproved(&over);
	ck_shown(&own, &told.st);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("procfs_owner");

	page = (size_t)sysconf(_SC_PAGESIZE);
	unit_test(s, of_a_disk);
	unit_test(s, of_memory);
	huge_test(s, "of_huge_pages", of_huge_pages);
	unit_test(s, of_an_overlay);
	unit_test(s, of_what_came_later);
	unit_test(s, of_another_mount_namespace);
	return unit_main(s);
}
