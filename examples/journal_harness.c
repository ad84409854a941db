/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * journal_harness - tests whether fsync and a journal keep their promises
 *
 *   journal_harness [--flaky DEVICE]
 *
 * Teaches: assertions about cached pages of a descriptor, and the use of
 * verdicts. The program makes small filesystems in memory: ext4 with ordered
 * and with journalled data, and xfs if mkfs.xfs exists. It writes to them,
 * checks, and mounts what a crash would have left. With dm-flakey in the kernel
 * it also tests a disk that drops or refuses writes, and one that runs full.
 * --flaky only tests dropped and refused writes, on a device that has an ext4
 * already. The output is TAP; it needs root.
 *
 * A child does the work. It has its own mount namespace, and loop devices end
 * with it. The parent removes everything else. Nothing is left behind, however
 * the child ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <linux/loop.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pagedet.h>

#define FILE_BYTES 300000

extern char **environ;

struct kind {
	const char *name;
	const char *type;
	const char *options;
	long image_mib;
	const char *mkfs[6];
};

static const struct kind kinds[] = {
	{ "ext4 data=ordered", "ext4", "data=ordered", 64,
	  { "mke2fs", "-qFt", "ext4", "-b4096" } },
	{ "ext4 data=journal", "ext4", "data=journal", 64,
	  { "mke2fs", "-qFt", "ext4", "-b4096" } },
	{ "xfs", "xfs", "", 320, { "mkfs.xfs", "-q" } },
};

static struct {
	char dir[64];		/* contains everything, in memory */
	char image[128], copy[128], point[128], point2[128], full[128];
	char flaky[64];		/* name of the flaky disk */
	struct pagedet *pd;
	int n, failed;
	char mark[65536];	/* start of the trace of errors */
	int mark_size;
	char data[FILE_BYTES];
	char there[FILE_BYTES];
} h;

static pid_t child = -1;	/* 0: in the child; -1: there is none */
static volatile sig_atomic_t ended_by;

/* --- a disk that fails on request --- */

struct message {
	struct dm_ioctl head;
	struct dm_target_spec target;
	char words[128];
};

static int ask_dm(unsigned long request, struct message *m, unsigned flags)
{
	int fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC), r;

	if (fd < 0)
		return -1;
	m->head.version[0] = DM_VERSION_MAJOR;
	m->head.data_size = sizeof(*m);
	m->head.data_start = sizeof(m->head);
	m->head.flags = flags;
	strcpy(m->head.name, h.flaky);
	r = ioctl(fd, request, m);
	close(fd);
	return r;
}

/*
 * Adds a disk above @disk that behaves as @how says: "1000 0" works, "0 1000 1
 * drop_writes" drops writes. @name gets its name.
 */
static int set_flaky(const char *disk, uint64_t sectors, const char *how,
		     char *name, size_t size)
{
	struct message table = { .head.target_count = 1 };
	struct message state = { .words = "" }, now = state;

	table.target.length = sectors;
	strcpy(table.target.target_type, "flakey");
	snprintf(table.words, sizeof(table.words), "%s 0 %s", disk, how);
	if (ask_dm(DM_TABLE_LOAD, &table, 0) ||
	    ask_dm(DM_DEV_SUSPEND, &state, DM_SUSPEND_FLAG | DM_NOFLUSH_FLAG |
		   DM_SKIP_LOCKFS_FLAG) ||
	    ask_dm(DM_DEV_SUSPEND, &now, 0))
		return -1;
	snprintf(name, size, "/dev/dm-%u", minor((dev_t)now.head.dev));
	return 0;
}

static void remove_flaky(void)
{
	struct message m = { .words = "" };

	ask_dm(DM_DEV_REMOVE, &m, DM_DEFERRED_REMOVE);
}

/* --- cleaning up --- */

/* Mounts below end with the namespace. */
static void clean_up(void)
{
	if (chdir("/") == 0 && *h.dir) {
		umount2(h.point, MNT_DETACH);
		umount2(h.dir, MNT_DETACH);
		rmdir(h.dir);
	}
	remove_flaky();
	if (h.mark_size > 0)
		pagedet_mark_end(h.pd, h.mark, (size_t)h.mark_size);
	pagedet_free(h.pd);
}

/* The parent cleans up after the child. */
static void bail_out(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	if (child)
		clean_up();
	exit(1);
}

static void on_signal(int sig)
{
	ended_by = sig;
	if (child > 0)
		kill(child, SIGKILL);
}

/* --- TAP --- */

static void result(int ok, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", ok ? "" : "not ", ++h.n);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	h.failed |= !ok;
}

static void skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++h.n, what, why);
}

/*
 * Checks one assertion about an open file. The verdict must be @verdict, with
 * cause @cause if that is not 0. An unknown verdict never counts as holding.
 */
static void must_be(const char *name, int fd, uint32_t kind, uint32_t verdict,
		    uint32_t cause)
{
	struct pagedet_check check = PAGEDET_CHECK_INIT;
	struct pagedet_verdict v = { .size = sizeof(v) };
	struct pagedet_checked *checked;
	const char *why;
	int ok;

	check.kind = kind;
	check.fd = fd;
	if (kind == PAGEDET_CHECK_ERRORS) {
		check.mark = h.mark;
		check.mark_size = (uint64_t)h.mark_size;
	}
	if (pagedet_check(h.pd, &check, &checked)) {
		result(0, "%s: %s", name, pagedet_check_name(kind));
		printf("# %s\n", pagedet_error(h.pd));
		return;
	}
	pagedet_checked_whole(checked, &v);
	ok = v.verdict == verdict && (!cause || v.cause == cause);
	result(ok, "%s: %s %s", name, pagedet_check_name(kind),
	       pagedet_verdict_name(verdict));
	why = pagedet_checked_text(checked, v.why);
	if (!ok || v.verdict != PAGEDET_HOLDS)
		printf("# %s (%s): %s\n", pagedet_verdict_name(v.verdict),
		       pagedet_cause_name(v.cause), why ? why : "");
	pagedet_checked_free(checked);
}

/* --- filesystems --- */

/* Returns 0 if it ran and succeeded. */
static int run(const char *const *words, const char *last)
{
	char *argv[8];
	int i, status;
	pid_t pid;

	for (i = 0; i < 6 && words[i]; i++)
		argv[i] = (char *)words[i];
	argv[i] = (char *)last;
	argv[i + 1] = NULL;
	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ))
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/*
 * Makes a loop device that ends with its last use. The caller closes the
 * returned descriptor after mounting.
 */
static int make_loop(const char *image, char *name, size_t size)
{
	struct loop_info64 info = { .lo_flags = LO_FLAGS_AUTOCLEAR };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int file = open(image, O_RDWR | O_CLOEXEC), n, fd = -1, tries;

	for (tries = 0; control >= 0 && file >= 0 && tries < 16; tries++) {
		n = ioctl(control, LOOP_CTL_GET_FREE);
		if (n < 0)
			break;
		snprintf(name, size, "/dev/loop%d", n);
		fd = open(name, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && ioctl(fd, LOOP_SET_FD, file) == 0)
			break;
		/* Another program was faster. */
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	if (fd >= 0)
		ioctl(fd, LOOP_SET_STATUS64, &info);
	if (control >= 0)
		close(control);
	if (file >= 0)
		close(file);
	return fd;
}

static int mount_image(const struct kind *k, const char *image,
		       const char *point)
{
	char name[32], options[64];
	int loop = make_loop(image, name, sizeof(name)), r;

	if (loop < 0)
		return -1;
	/* A copy of an xfs has the same UUID. */
	snprintf(options, sizeof(options), "%s%s", k->options,
		 !strcmp(k->type, "xfs") ? "nouuid" : "");
	r = mount(name, point, k->type, 0, options);
	close(loop);
	return r;
}

static int make_image(const struct kind *k, const char *image)
{
	int fd = open(image, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, k->image_mib << 20))
		return -1;
	close(fd);
	return run(k->mkfs, image);
}

static int new_file(const char *point, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", point, name);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/* --- tests --- */

/* It is known that no write failed only if the kernel traces failed writes. */
static void must_have_errors(const char *name, int fd, uint32_t verdict)
{
	if (memmem(h.mark, (size_t)h.mark_size, " armed ", 7))
		must_be(name, fd, PAGEDET_CHECK_ERRORS, verdict, 0);
	else
		skip(name, "the kernel has no trace of failed writes");
}

/* Writes to a file again, in place. */
static void test_dirty(const struct kind *k, int fd)
{
	if (pwrite(fd, h.data + 1, 1, 5000) != 1)
		bail_out(k->name);
	must_be(k->name, fd, PAGEDET_CHECK_DISK, PAGEDET_VIOLATED,
		PAGEDET_CAUSE_NOT_WRITTEN);
	must_be(k->name, fd, PAGEDET_CHECK_COMMITTED, PAGEDET_VIOLATED,
		PAGEDET_CAUSE_NOT_COMMITTED);
	if (pwrite(fd, h.data + 5000, 1, 5000) != 1 || fsync(fd))
		bail_out(k->name);
}

static void test_fsync(const struct kind *k, int fd)
{
	must_be(k->name, fd, PAGEDET_CHECK_CLEAN, PAGEDET_VIOLATED,
		PAGEDET_CAUSE_DIRTY);
	result(fsync(fd) == 0, "%s: fsync", k->name);
	must_be(k->name, fd, PAGEDET_CHECK_CLEAN, PAGEDET_HOLDS, 0);
	test_dirty(k, fd);
	/* Data that goes through the journal may not be on the disk yet. */
	if (!strstr(k->options, "journal"))
		must_be(k->name, fd, PAGEDET_CHECK_DISK, PAGEDET_HOLDS, 0);
	must_be(k->name, fd, PAGEDET_CHECK_COMMITTED, PAGEDET_HOLDS, 0);
	must_be(k->name, fd, PAGEDET_CHECK_ABSENT, PAGEDET_VIOLATED,
		PAGEDET_CAUSE_CACHED);
	must_be(k->name, fd, PAGEDET_CHECK_STABLE, PAGEDET_CANNOT_TELL, 0);
	must_have_errors(k->name, fd, PAGEDET_HOLDS);
}

/* Copies a piece of a file at a time, and keeps holes. */
static int copy_image(void)
{
	static char buf[65536], zero[sizeof(buf)];
	int from = open(h.image, O_RDONLY | O_CLOEXEC);
	int to = open(h.copy, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat st;
	off_t at = 0;
	ssize_t n = -1;

	if (from >= 0 && to >= 0 && fstat(from, &st) == 0 &&
	    ftruncate(to, st.st_size) == 0)
		for (; (n = pread(from, buf, sizeof(buf), at)) > 0; at += n)
			if (memcmp(buf, zero, (size_t)n) &&
			    pwrite(to, buf, (size_t)n, at) != n) {
				n = -1;
				break;
			}
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return n == 0 ? 0 : -1;
}

/*
 * Data that fsync has confirmed must survive a crash. The image is copied while
 * in use, and mounting the copy replays its journal.
 */
static void test_crash(const struct kind *k)
{
	int fd;

	if (copy_image() || mount_image(k, h.copy, h.point2)) {
		result(0, "%s: what a crash leaves can be mounted", k->name);
		return;
	}
	fd = new_file(h.point2, "file");
	result(fd >= 0 && pread(fd, h.there, FILE_BYTES, 0) == FILE_BYTES &&
	       !memcmp(h.there, h.data, FILE_BYTES),
	       "%s: a crash leaves what fsync has promised", k->name);
	if (fd >= 0)
		close(fd);
	umount2(h.point2, MNT_DETACH);
}

static void test_drop(const struct kind *k, int fd)
{
	/* the whole filesystem: the journal holds on to pages, too */
	if (syncfs(fd))
		bail_out(k->name);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	must_be(k->name, fd, PAGEDET_CHECK_ABSENT, PAGEDET_HOLDS, 0);
}

static void test_kind(const struct kind *k)
{
	int fd;

	if (make_image(k, h.image)) {
		skip(k->name, "there is no program that makes it");
		return;
	}
	if (mount_image(k, h.image, h.point)) {
		skip(k->name, "it cannot be mounted here");
		return;
	}
	fd = new_file(h.point, "file");
	if (fd < 0 || write(fd, h.data, FILE_BYTES) != FILE_BYTES)
		bail_out(k->name);
	test_fsync(k, fd);
	test_crash(k);
	test_drop(k, fd);
	close(fd);
	umount2(h.point, MNT_DETACH);
	unlink(h.copy);
	unlink(h.image);
}

/* A file without a disk: the check must say so. */
static void test_memory(void)
{
	static const char name[] = "tmpfs";
	int fd = new_file(h.dir, "file");

	if (fd < 0 || write(fd, h.data, FILE_BYTES) != FILE_BYTES)
		bail_out(name);
	must_be(name, fd, PAGEDET_CHECK_CLEAN, PAGEDET_CANNOT_TELL,
		PAGEDET_CAUSE_FILESYSTEM);
	must_be(name, fd, PAGEDET_CHECK_DISK, PAGEDET_CANNOT_TELL,
		PAGEDET_CAUSE_FILESYSTEM);
	must_be(name, fd, PAGEDET_CHECK_COMMITTED, PAGEDET_CANNOT_TELL,
		PAGEDET_CAUSE_FILESYSTEM);
	close(fd);
}

/*
 * First the disk drops writes and reports success. Then it refuses them, and
 * fsync fails once. Afterwards all pages are clean in both cases.
 */
static void test_fails(const char *disk, uint64_t sectors, int fd)
{
	static const char drops[] = "disk that drops writes";
	static const char refuses[] = "disk that refuses writes";
	char name[32];

	must_be("disk that is well", fd, PAGEDET_CHECK_DISK, PAGEDET_HOLDS, 0);
	if (set_flaky(disk, sectors, "0 1000 1 drop_writes", name,
		      sizeof(name)) || pwrite(fd, "dropped", 7, 5000) != 7)
		bail_out(drops);
	result(fsync(fd) == 0, "%s: fsync succeeds", drops);
	must_be(drops, fd, PAGEDET_CHECK_CLEAN, PAGEDET_HOLDS, 0);
	/*
	 * The write is lost, but not every kernel shows that the page is clean.
	 */
	must_be(drops, fd, PAGEDET_CHECK_DISK, PAGEDET_VIOLATED, 0);
	must_have_errors(drops, fd, PAGEDET_HOLDS);
	if (set_flaky(disk, sectors, "0 1000 1 error_writes", name,
		      sizeof(name)) || pwrite(fd, "refused", 7, 9000) != 7)
		bail_out(refuses);
	result(fsync(fd) != 0, "%s: fsync fails", refuses);
	must_be(refuses, fd, PAGEDET_CHECK_CLEAN, PAGEDET_HOLDS, 0);
	must_be(refuses, fd, PAGEDET_CHECK_DISK, PAGEDET_VIOLATED, 0);
	must_have_errors(refuses, fd, PAGEDET_VIOLATED);
}

/* The number of sectors of a device; 0 if it cannot be read. */
static uint64_t sectors_of(const char *disk)
{
	int fd = open(disk, O_RDONLY | O_CLOEXEC);
	off_t bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (fd >= 0)
		close(fd);
	return bytes < 0 ? 0 : (uint64_t)bytes / 512;
}

static void test_flaky(const char *disk)
{
	static const char what[] = "disk that fails";
	const uint64_t sectors = sectors_of(disk);
	struct message m = { .words = "" };
	char name[32];
	int fd;

	if (!sectors || ask_dm(DM_DEV_CREATE, &m, 0)) {
		skip(what, "there is no device mapper");
		return;
	}
	if (set_flaky(disk, sectors, "1000 0", name, sizeof(name)) ||
	    mount(name, h.point, "ext4", 0, NULL)) {
		skip(what, "dm-flakey cannot be put there");
	} else {
		fd = new_file(h.point, "file");
		if (fd < 0 || write(fd, h.data, FILE_BYTES) != FILE_BYTES ||
		    fsync(fd))
			bail_out(what);
		test_fails(disk, sectors, fd);
		close(fd);
		umount2(h.point, MNT_DETACH);
	}
	remove_flaky();
}

/* The loop device lives as long as its descriptor. */
static void test_flaky_image(const struct kind *k)
{
	char name[32];
	int loop = make_image(k, h.image) ? -1 :
		   make_loop(h.image, name, sizeof(name));

	if (loop < 0) {
		skip("disk that fails", "it cannot be made here");
		return;
	}
	test_flaky(name);
	close(loop);
	unlink(h.image);
}

/*
 * The image is larger than its disk. fsync fails once; then the kernel calls
 * all pages clean, and only the disk tells the truth.
 */
static void test_full(const struct kind *k)
{
	static const char name[] = "full disk";
	char image[160];
	int fd, i, error = 0;

	snprintf(image, sizeof(image), "%s/image", h.full);
	if (mount("none", h.full, "tmpfs", 0, "size=12m") ||
	    make_image(k, image) || mount_image(k, image, h.point)) {
		skip(name, "it cannot be made here");
		return;
	}
	fd = new_file(h.point, "file");
	for (i = 0; i < 60 && fd >= 0; i++)
		if (write(fd, h.data, FILE_BYTES) != FILE_BYTES)
			break;
	if (fd < 0)
		bail_out(name);
	for (i = 0; i < 3; i++)
		error |= fsync(fd);
	result(error, "%s: fsync fails", name);
	must_be(name, fd, PAGEDET_CHECK_CLEAN, PAGEDET_HOLDS, 0);
	must_be(name, fd, PAGEDET_CHECK_DISK, PAGEDET_VIOLATED,
		PAGEDET_CAUSE_LOST_WRITE);
	must_have_errors(name, fd, PAGEDET_VIOLATED);
	close(fd);
	umount2(h.point, MNT_DETACH);
	umount2(h.full, MNT_DETACH);
}

/* --- setup --- */

static void make_dir(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", h.dir, name);
	if (mkdir(path, 0700))
		bail_out(path);
}

static int set_up(void)
{
	uint64_t x = 88172645463325252u;
	size_t i;

	if (geteuid() || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		printf("1..0 # SKIP needs root, to make filesystems\n");
		return -1;
	}
	strcpy(h.dir, "/tmp/journal_harness-XXXXXX");
	if (!mkdtemp(h.dir))
		bail_out(h.dir);
	if (mount("none", h.dir, "tmpfs", 0, "size=512m"))
		bail_out("cannot mount a tmpfs");
	make_dir(h.point, sizeof(h.point), "mnt");
	make_dir(h.point2, sizeof(h.point2), "mnt2");
	make_dir(h.full, sizeof(h.full), "full");
	snprintf(h.image, sizeof(h.image), "%s/image", h.dir);
	snprintf(h.copy, sizeof(h.copy), "%s/copy", h.dir);
	snprintf(h.flaky, sizeof(h.flaky), "journal_harness-%d", getpid());
	/* Bytes without a pattern (xorshift64). */
	for (i = 0; i < FILE_BYTES; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		h.data[i] = (char)x;
	}
	return 0;
}

static int work(const char *disk)
{
	size_t i;

	if (disk) {
		test_flaky(disk);
	} else {
		for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			test_kind(&kinds[i]);
		test_memory();
		test_flaky_image(&kinds[0]);
		test_full(&kinds[0]);
	}
	printf("1..%d\n", h.n);
	fflush(stdout);
	return h.failed;
}

/* Blocks signals that end the program while no one could clean up. */
static void hold_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(how, &set, NULL);
}

/*
 * Returns the child's exit status, or 1. Signals stay blocked between the
 * child's end and waitpid(), because another process may get its pid.
 */
static int watch_child(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };
	siginfo_t info;
	int status = 1;
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &sa, NULL);
	hold_signals(SIG_UNBLOCK);
	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			break;
	hold_signals(SIG_BLOCK);
	if (waitpid(child, &status, 0) < 0)
		status = 1;
	child = -1;
	hold_signals(SIG_UNBLOCK);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int usage(FILE *to)
{
	fprintf(to, "usage: journal_harness [--flaky DEVICE]\n"
		"Makes ext4 and xfs in memory, writes, and asserts what is "
		"cached, on the disk,\n"
		"and in the journal, also of disks that fail or are full. "
		"Needs root. Prints TAP;\n"
		"exits with 0 if all is as it must be. With --flaky only a "
		"disk that fails: DEVICE,\n"
		"which has an ext4 that may be written to, below dm-flakey.\n");
	return to == stderr ? 64 : 0;
}

int main(int argc, char **argv)
{
	const char *path = getenv("PATH"), *disk = NULL;
	char more[4096];
	int status;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return usage(stdout);
	if (argc == 3 && !strcmp(argv[1], "--flaky"))
		disk = argv[2];
	else if (argc > 1)
		return usage(stderr);
	snprintf(more, sizeof(more), "%s:/sbin:/usr/sbin",
		 path ? path : "/bin");
	setenv("PATH", more, 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	h.pd = pagedet_new();
	if (!h.pd || pagedet_open(h.pd, NULL)) {
		printf("Bail out! %s\n", h.pd ? pagedet_error(h.pd) : "");
		return 1;
	}
	hold_signals(SIG_BLOCK);
	if (set_up())
		return 0;
	h.mark_size = pagedet_mark_watch(h.pd, h.mark, sizeof(h.mark));
	child = h.mark_size < 0 || h.mark_size > (int)sizeof(h.mark) ? -1 :
		fork();
	if (child == 0) {
		hold_signals(SIG_UNBLOCK);
		exit(work(disk));
	}
	status = child < 0 ? 1 : watch_child();
	clean_up();
	if (ended_by) {
		signal(ended_by, SIG_DFL);
		raise(ended_by);
	}
	return status;
}
