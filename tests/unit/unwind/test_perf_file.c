/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which map file of a process is believed, in a made-up tree. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"
#include "kernel/text/mountinfo.h"
#include "unwind/perf_file.h"

struct world {
	char root[128], path[256];
	struct pdet_env env;
	struct pdet_perf_file file;
	const struct pdet_perf_map *map; /* NULL: it is not used */
	unsigned long mount;	/* id of that of the tree */
};

static void put(struct world *w, const char *name, const char *text)
{
	FILE *f;

	snprintf(w->path, sizeof(w->path), "%s/%s", w->root, name);
	f = fopen(w->path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fchmod(fileno(f), 0600), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void start(struct world *w)
{
	static const char *const dirs[] = {
		"proc", "proc/6", "proc/7", "proc/7/root", "proc/7/root/tmp"
	};
	char text[128];
	uint64_t mount;
	size_t i;
	int fd;

	memset(w, 0, sizeof(*w));
	ck_assert_ptr_nonnull(mkdtemp(unit_temp(w->root, sizeof(w->root))));
	w->env.root = w->root;
	fd = open(w->root, O_PATH | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pdet_mount_id(fd, &mount), 0);
	w->mount = (unsigned long)mount;
	close(fd);
	for (i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(w->path, sizeof(w->path), "%s/%s", w->root, dirs[i]);
		ck_assert_int_eq(mkdir(w->path, 0700), 0);
	}
	snprintf(text, sizeof(text), "%lu 1 1:2 / / rw - ext4 source rw\n",
		 w->mount);
	put(w, "proc/7/mountinfo", text);
	put(w, "proc/6/stat", "6 (a) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 "
	    "100 0 0\n");
	/* The thread started later than any file was written. */
	put(w, "proc/7/stat", "7 (a) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 "
	    "100000000000 0 0\n");
	snprintf(text, sizeof(text), "Name:\ta\nTgid:\t6\nUid:\t1\t%u\t1\t1\n"
		 "NStgid:\t6\t5\t42\nNSpid:\t7\t6\t43\n", (unsigned)geteuid());
	put(w, "proc/7/status", text);
	put(w, "proc/7/root/tmp/perf-42.map", "10 8 f\n");
}

static void end(struct world *w)
{
	char command[160];

	pdet_perf_file_free(&w->file);
	snprintf(command, sizeof(command), "rm -rf '%s'", w->root);
	ck_assert_int_eq(system(command), 0);
}

static void look(struct world *w)
{
	pdet_perf_file_open(&w->file, &w->env, 7);
	w->map = w->file.has_map ? &w->file.map : NULL;
}

/* Its pid is the innermost one of its process. */
START_TEST(found)
{
	const struct pdet_perf_entry *e;
	struct world w;

	start(&w);
	look(&w);
	ck_assert_msg(w.map, "%s", w.file.why);
	e = pdet_perf_map_find(w.map, 0x12);
	ck_assert_ptr_nonnull(e);
	look(&w);		/* it is not read again */
	ck_assert_ptr_nonnull(w.map);
	ck_assert_ptr_eq(pdet_perf_map_find(w.map, 0x12), e);
	put(&w, "proc/7/root/tmp/perf-42.map", "10 8 f\n20 8 g\n");
	look(&w);
	ck_assert_ptr_nonnull(w.map);
	ck_assert_ptr_nonnull(pdet_perf_map_find(w.map, 0x20));
	end(&w);
}
END_TEST

/* A kernel without namespaces of pids. */
START_TEST(one_namespace)
{
	char text[64];
	struct world w;

	start(&w);
	snprintf(text, sizeof(text), "Tgid:\t6\nUid:\t1\t%u\t1\t1\n",
		 (unsigned)geteuid());
	put(&w, "proc/7/status", text);
	put(&w, "proc/7/root/tmp/perf-6.map", "10 8 f\n");
	look(&w);
	ck_assert_msg(w.map, "%s", w.file.why);
	end(&w);
}
END_TEST

static void refused(struct world *w, const char *why)
{
	look(w);
	ck_assert_ptr_null(w->map);
	ck_assert_msg(strstr(w->file.why, why), "%s", w->file.why);
	end(w);
}

START_TEST(no_file)
{
	struct world w;

	start(&w);
	put(&w, "proc/7/root/tmp/perf-42.map", "");
	ck_assert_int_eq(unlink(w.path), 0);
	refused(&w, "the map file /tmp/perf-42.map of its compiler is not "
		"used: there is none");
}
END_TEST

START_TEST(odd_file)
{
	struct world w;

	start(&w);
	put(&w, "proc/7/root/tmp/perf-42.map", "");
	ck_assert_int_eq(unlink(w.path), 0);
	if (_i == 0)
		ck_assert_int_eq(symlink("/etc/passwd", w.path), 0);
	else if (_i == 1)
		ck_assert_int_eq(mkfifo(w.path, 0600), 0);
	else
		ck_assert_int_eq(mkdir(w.path, 0600), 0);
	refused(&w, !_i ? "a symbolic link is in its way" :
			  "it is not a regular file");
}
END_TEST

START_TEST(linked_folder)
{
	char other[256];
	struct world w;

	start(&w);
	snprintf(w.path, sizeof(w.path), "%s/proc/7/root/tmp", w.root);
	snprintf(other, sizeof(other), "%s/proc/7/root/other", w.root);
	ck_assert_int_eq(rename(w.path, other), 0);
	ck_assert_int_eq(symlink("other", w.path), 0);
	refused(&w, "a symbolic link is in its way");
}
END_TEST

static void put_user(struct world *w, unsigned user)
{
	char text[64];

	snprintf(text, sizeof(text), "Tgid:\t6\nNStgid:\t6\t42\n"
		 "Uid:\t1\t%u\t1\t1\n", user);
	put(w, "proc/7/status", text);
}

START_TEST(other_owner)
{
	struct world w;

	start(&w);
	put_user(&w, 12345);
	put(&w, "proc/7/root/tmp/perf-42.map", "10 8 f\n");
	if (!geteuid())
		ck_assert_int_eq(chown(w.path, 12346, (gid_t)-1), 0);
	refused(&w, "it belongs to another user");
}
END_TEST

/* The process's user, and root. */
START_TEST(right_owner)
{
	struct world w;

	if (geteuid())
		unit_skip("only root can make files of other users");
	start(&w);
	put_user(&w, 12345);
	put(&w, "proc/7/root/tmp/perf-42.map", "10 8 f\n");
	ck_assert_int_eq(chown(w.path, _i ? 12345 : 0, (gid_t)-1), 0);
	look(&w);
	ck_assert_msg(w.map, "%s", w.file.why);
	end(&w);
}
END_TEST

START_TEST(large)
{
	struct world w;

	start(&w);
	put(&w, "proc/7/root/tmp/perf-42.map", "10 8 f\n");
	if (truncate(w.path, (off_t)PDET_PERF_BYTES + 1) < 0)
		unit_skip("large files are not possible here");
	refused(&w, "it is too large");
}
END_TEST

START_TEST(loose)
{
	struct world w;

	start(&w);
	put(&w, "proc/7/root/tmp/perf-42.map", "10 8 f\n");
	ck_assert_int_eq(chmod(w.path, 0602), 0);
	refused(&w, "every user may write it");
}
END_TEST

START_TEST(old)
{
	const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct world w;

	start(&w);
	put(&w, "proc/7/root/tmp/perf-42.map", "10 8 f\n");
	ck_assert_int_eq(utimensat(AT_FDCWD, w.path, times, 0), 0);
	refused(&w, "it was last written before the process started");
}
END_TEST

START_TEST(earlier)
{
	struct world w;

	start(&w);
	put(&w, "proc/6/stat", "6 (a) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 "
	    "100000000000 0 0\n");
	refused(&w, "it was last written before the process started");
}
END_TEST

/* By the mount itself: its place says nothing. */
START_TEST(remote)
{
	static const char *const types[] = { "fuse.sshfs", "nfs4", "ext4" };
	char text[256];
	struct world w;

	start(&w);
	snprintf(text, sizeof(text), "30 1 1:2 / / rw - ext4 source rw\n"
		 "%lu 30 0:9 / /mnt rw - %s source rw\n", w.mount, types[_i]);
	put(&w, "proc/7/mountinfo", text);
	if (_i < 2) {
		refused(&w, "on a network filesystem or FUSE");
		return;
	}
	look(&w);
	ck_assert_msg(w.map, "%s", w.file.why);
	end(&w);
}
END_TEST

/* The way onto such a mount would ask its server. Elsewhere they are harmless.
 */
START_TEST(remote_point)
{
	static const char *const mounts[] = {
		"/tmp rw - 9p", "/ rw shared:1 - nfs4", "/tmp rw - autofs",
		"/tmp/a rw - 9p", "/tmp rw - tmpfs"
	};
	char text[256];
	struct world w;

	start(&w);
	snprintf(text, sizeof(text), "%lu 1 1:2 / / rw - ext4 source rw\n"
		 "%lu 1 0:9 / %s source rw\n", w.mount, w.mount + 1,
		 mounts[_i]);
	put(&w, "proc/7/mountinfo", text);
	if (_i < 3) {
		refused(&w, "on a network filesystem or FUSE");
		return;
	}
	look(&w);
	ck_assert_msg(w.map, "%s", w.file.why);
	end(&w);
}
END_TEST

/* A process in a directory of a mount does not see that one, but we do. */
START_TEST(our_mount)
{
	static const char *const texts[] = {
		"", "31 30 1:2 / /home rw - ext4 source rw\n",
		"32 30 0:9 / /mnt rw - nfs4 source rw\n",
	};
	struct world w;

	start(&w);
	put(&w, "proc/7/mountinfo", texts[_i]);
	look(&w);
	if (!w.map)
		unit_needs_mount(w.file.why);
	ck_assert_msg(w.map, "%s", w.file.why);
	end(&w);
}
END_TEST

/* The root that a process has now is not what its mounts say. */
START_TEST(other_root)
{
	char other[256];
	struct world w;

	start(&w);
	snprintf(w.path, sizeof(w.path), "%s/proc/7/root", w.root);
	snprintf(other, sizeof(other), "%s/other", w.root);
	ck_assert_int_eq(rename(w.path, other), 0);
	ck_assert_int_eq(symlink(other, w.path), 0);
	refused(&w, "may be on a network filesystem or FUSE");
}
END_TEST

/* It is looked for once, and read again only if it has changed. */
START_TEST(once)
{
	struct world w;

	start(&w);
	look(&w);
	ck_assert_msg(w.map, "%s", w.file.why);
	snprintf(w.path, sizeof(w.path), "%s/proc/7/root/tmp/perf-42.map",
		 w.root);
	ck_assert_int_eq(unlink(w.path), 0);
	look(&w);
	ck_assert_msg(w.map, "%s", w.file.why);
	ck_assert_ptr_nonnull(pdet_perf_map_find(w.map, 0x10));
	/* Another process with that pid. */
	put(&w, "proc/6/stat", "6 (a) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 "
	    "101 0 0\n");
	refused(&w, "there is none");
}
END_TEST

/* What may pass is tried again, and is not said to be the end of it. */
START_TEST(passing)
{
	struct rlimit was, few;
	struct world w;

	start(&w);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = was;
	few.rlim_cur = (rlim_t)open(w.root, O_PATH | O_CLOEXEC) + 1;
	ck_assert_int_eq(close((int)few.rlim_cur - 1), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	look(&w);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
	ck_assert_ptr_null(w.map);
	ck_assert_msg(strstr(w.file.why, "cannot be read"), "%s", w.file.why);
	look(&w);
	ck_assert_msg(w.map, "%s", w.file.why);
	end(&w);
}
END_TEST

START_TEST(no_mounts)
{
	struct world w;

	start(&w);
	put(&w, "proc/7/mountinfo", "");
	ck_assert_int_eq(unlink(w.path), 0);
	refused(&w, "it cannot be read");
}
END_TEST

/* Nothing is guessed. */
START_TEST(no_status)
{
	static const char *const texts[] = {
		"", "Tgid:\t6\nNStgid:\t6\t42\n", "Uid:\t0\t0\t0\t0\n",
		"Tgid:\t6\nNStgid:\t\nUid:\t0\t0\t0\t0\n",
		"NStgid:\t6\t42\nUid:\t0\t0\t0\t0\n"
	};
	struct world w;

	start(&w);
	put(&w, "proc/7/status", texts[_i]);
	refused(&w, "of its compiler is not used: it cannot be read");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perf_file");

	unit_test(s, found);
	unit_test(s, one_namespace);
	unit_test(s, no_file);
	unit_loop(s, odd_file, 3);
	unit_test(s, linked_folder);
	unit_test(s, other_owner);
	unit_loop(s, right_owner, 2);
	unit_test(s, large);
	unit_test(s, loose);
	unit_test(s, old);
	unit_test(s, earlier);
	unit_loop(s, remote, 3);
	unit_loop(s, remote_point, 5);
	unit_loop(s, our_mount, 3);
	unit_test(s, other_root);
	unit_test(s, once);
	unit_test(s, passing);
	unit_test(s, no_mounts);
	unit_loop(s, no_status, 5);
	return unit_main(s);
}
