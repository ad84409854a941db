/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Changes settings of the machine (hugetlb pool, KSM, swap on zram, a cgroup, a
 * directory) and restores them. The keeper process, which makes no plants,
 * calls keep_end(), so that this happens even if the planter dies.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <time.h>
#include <unistd.h>

#include "planter.h"

#define ZRAM "/dev/zram0"
#define ZRAM_SYS "/sys/block/zram0/"
#define ZRAM_PAGES 4096
#define THP_SYS "/sys/kernel/mm/transparent_hugepage/"
#define LARGE_ENABLED THP_SYS "hugepages-64kB/enabled"
#define SHMEM_ENABLED THP_SYS "shmem_enabled"
#define POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
#define DAMON_SYS "/sys/kernel/mm/damon/admin/kdamonds/"
#define RECLAIM_SYS "/sys/module/damon_reclaim/parameters/"

/* Settings that plants change, in the order of restoring. */
static struct {
	const char *path;
	char value[64];
} settings[] = {
	{ .path = POOL },
	{ .path = "/sys/kernel/mm/ksm/run" },
	{ .path = "/sys/kernel/mm/ksm/pages_to_scan" },
	{ .path = "/sys/kernel/mm/ksm/sleep_millisecs" },
	{ .path = LARGE_ENABLED },
	{ .path = SHMEM_ENABLED },
};

#define N_SETTINGS (sizeof(settings) / sizeof(*settings))

static char parent_cgroup[512];	/* the original cgroup, as a directory */
static char zram_before[64];
static char swaps_before[4096];
static pid_t keeper;
static int lock = -1;

int keep_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return -1;
	text[n] = '\0';
	if (n && text[n - 1] == '\n')
		text[n - 1] = '\0';
	return 0;
}

int keep_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

/*
 * Finds the directory of this process's memory cgroup: version 1 by its
 * controller, otherwise version 2. @path gets the kernel's name of it.
 */
static bool cgroup_dir(char *dir, size_t size, char *path, size_t path_size)
{
	static const char *const places[] = {
		"/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified",
		"/sys/fs/cgroup",
	};
	char line[512], probe[1100], *name;
	FILE *f = fopen("/proc/self/cgroup", "r");
	bool v1, found = false;
	unsigned i;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		name = strchr(line, ':');
		if (!name)
			continue;
		v1 = strstr(line, ":memory:");
		if (!v1 && strncmp(line, "0::", 3))
			continue;
		name = strchr(name + 1, ':') + 1;
		snprintf(path, path_size, "%s", name);
		for (i = 0; i < 3 && !found; i++) {
			snprintf(dir, size, "%s%s", places[i],
				 strcmp(name, "/") ? name : "");
			snprintf(probe, sizeof(probe), "%s/%s", dir,
				 v1 ? "memory.usage_in_bytes" :
				      "memory.current");
			/* The root of version 2 has no memory.current. */
			found = access(probe, F_OK) == 0 ||
				(!v1 && !strcmp(name, "/") && i &&
				 access(dir, F_OK) == 0);
		}
		if (!v1 && found) {
			/* Only if version 1 does not have the controller. */
			snprintf(probe, sizeof(probe), "%s/cgroup.controllers",
				 dir);
			found = keep_read(probe, line, sizeof(line)) == 0 &&
				strstr(line, "memory");
		}
	}
	if (f)
		fclose(f);
	return found;
}

static void own_cgroup(char *dir, size_t size)
{
	snprintf(dir, size, "%s/pagedet-plant.%d", parent_cgroup, keeper);
}

/*
 * Reads a setting in the form in which it is written: of "always [never]" the
 * word in brackets.
 */
static int read_setting(const char *path, char *value, size_t size)
{
	char *from, *to;

	if (keep_read(path, value, size) < 0)
		return -1;
	from = strchr(value, '[');
	to = from ? strchr(from, ']') : NULL;
	if (to) {
		*to = '\0';
		memmove(value, from + 1, (size_t)(to - from));
	}
	return 0;
}

/*
 * One at a time has the settings of the machine: what another one has changed
 * would be saved, and restored, as if it had been so. As tap_lock of
 * tests/tap.sh, without a lock if there can be none.
 */
static void lock_machine(void)
{
	static const char *const places[] = {
		"/run/lock/pagedet-test-plant", "/tmp/pagedet-test-plant",
	};
	unsigned i;
	int r;

	if (geteuid() != 0)
		return;
	for (i = 0; i < 2 && lock < 0; i++)
		lock = open(places[i], O_RDWR | O_CREAT | O_CLOEXEC |
			    O_NOFOLLOW, 0600);
	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0)
		return;
	fprintf(stderr, "waiting for another test that changes settings of "
		"this machine\n");
	do
		r = flock(lock, LOCK_EX);
	while (r < 0 && errno == EINTR);
}

/* Processes that were forked have the same lock. */
static void unlock_machine(void)
{
	if (lock < 0)
		return;
	flock(lock, LOCK_UN);
	close(lock);
	lock = -1;
}

void keep_begin(const char *cgroup)
{
	char path[512];
	unsigned i;

	keeper = getpid();
	lock_machine();
	for (i = 0; i < N_SETTINGS; i++)
		if (read_setting(settings[i].path, settings[i].value,
				 sizeof(settings[i].value)) < 0)
			settings[i].value[0] = '\0';
	if (cgroup)
		snprintf(parent_cgroup, sizeof(parent_cgroup), "%s", cgroup);
	else if (!cgroup_dir(parent_cgroup, sizeof(parent_cgroup), path,
			sizeof(path)))
		parent_cgroup[0] = '\0';
	keep_read(ZRAM_SYS "disksize", zram_before, sizeof(zram_before));
	keep_read("/proc/swaps", swaps_before, sizeof(swaps_before));
}

static bool zram_is_ours(void)
{
	return !strcmp(zram_before, "0") && !strstr(swaps_before, ZRAM);
}

static void remove_dir(const char *dir)
{
	struct dirent *e;
	char path[768];
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

void keep_end(const char *dir)
{
	char path[768], now[64];
	unsigned i;

	for (i = 0; i < N_SETTINGS; i++)
		if (settings[i].value[0] &&
		    read_setting(settings[i].path, now, sizeof(now)) == 0 &&
		    strcmp(now, settings[i].value) &&
		    keep_write(settings[i].path, settings[i].value) < 0)
			fprintf(stderr, "planter: cannot put %s back to %s\n",
				settings[i].path, settings[i].value);
	if (zram_is_ours() &&
	    keep_read(ZRAM_SYS "disksize", now, sizeof(now)) == 0 &&
	    strcmp(now, "0")) {
		if (swapoff(ZRAM) < 0 && errno != EINVAL)
			fprintf(stderr, "planter: cannot swapoff %s: %m\n",
				ZRAM);
		if (keep_write(ZRAM_SYS "reset", "1") < 0)
			fprintf(stderr, "planter: cannot reset %s\n", ZRAM);
	}
	if (*parent_cgroup) {
		own_cgroup(path, sizeof(path));
		/* The last task leaves it shortly after it has ended. */
		for (i = 0; i < 6000 && rmdir(path) < 0 && errno == EBUSY; i++)
			usleep(10000);
	}
	remove_dir(dir);
	unlock_machine();
}

void keep_cgroup(struct field *f)
{
	char dir[576], procs[640], pid[16], path[512];
	struct stat st;

	if (!*parent_cgroup)
		return;
	own_cgroup(dir, sizeof(dir));
	if (mkdir(dir, 0755) < 0)
		return;
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir);
	snprintf(pid, sizeof(pid), "%d", getpid());
	/* Without the controller, pages are charged to an ancestor. */
	if (keep_write(procs, pid) < 0 ||
	    !cgroup_dir(dir, sizeof(dir), path, sizeof(path)) ||
	    stat(dir, &st) < 0)
		return;
	snprintf(f->cgroup, sizeof(f->cgroup), "%s", path);
	f->cgroup_ino = st.st_ino;
}

/* include/linux/swap.h, union swap_header: the header that mkswap writes. */
static bool write_swap_header(void)
{
	char page[PAGE] = { 0 };
	uint32_t version = 1, last = ZRAM_PAGES - 1;
	int fd = open(ZRAM, O_WRONLY | O_CLOEXEC);
	bool good;

	if (fd < 0)
		return false;
	memcpy(page + 1024, &version, 4);
	memcpy(page + 1028, &last, 4);
	memcpy(page + PAGE - 10, "SWAPSPACE2", 10);
	good = pwrite(fd, page, PAGE, 0) == (ssize_t)PAGE && fsync(fd) == 0;
	close(fd);
	return good;
}

static bool has_line(const char *dir, const char *name, const char *line)
{
	char path[512], text[64];

	snprintf(path, sizeof(path), "%s%s", dir, name);
	return keep_read(path, text, sizeof(text)) == 0 && !strcmp(text, line);
}

/* Whether it is so of one of the directories. */
static bool any_has(const char *pattern, bool (*has)(const char *dir))
{
	bool found = false;
	glob_t dirs;
	size_t i;

	if (glob(pattern, GLOB_MARK, NULL, &dirs))
		return false;
	for (i = 0; i < dirs.gl_pathc && !found; i++)
		found = has(dirs.gl_pathv[i]);
	globfree(&dirs);
	return found;
}

static bool spares_anon(const char *filter)
{
	return has_line(filter, "type", "anon") &&
	       has_line(filter, "matching", "Y") &&
	       !has_line(filter, "allow", "Y");
}

static bool pages_out(const char *scheme)
{
	char filters[512];

	snprintf(filters, sizeof(filters), "%s*filters/[0-9]*", scheme);
	return has_line(scheme, "action", "pageout") &&
	       !any_has(filters, spares_anon);
}

static bool kdamond_swaps(const char *kdamond)
{
	char schemes[512];

	snprintf(schemes, sizeof(schemes), "%scontexts/*/schemes/[0-9]*",
		 kdamond);
	return has_line(kdamond, "state", "on") && any_has(schemes, pages_out);
}

/* DAMON may have been told to page out what nobody uses for a while: it would
 * take plants, and fill the swap. */
static bool damon_swaps(void)
{
	return any_has(DAMON_SYS "[0-9]*", kdamond_swaps) ||
	       (has_line(RECLAIM_SYS, "enabled", "Y") &&
		!has_line(RECLAIM_SYS, "skip_anon", "Y"));
}

bool keep_swap(char *why, size_t size)
{
	char bytes[32];

	/* An existing swap area is good enough. */
	if (strchr(swaps_before, '\n'))
		return true;
	if (access(ZRAM, F_OK) < 0) {
		snprintf(why, size, "no swap and no %s", ZRAM);
		return false;
	}
	if (!zram_is_ours()) {
		snprintf(why, size, "%s is in use", ZRAM);
		return false;
	}
	if (damon_swaps()) {
		snprintf(why, size, "DAMON would page out to %s", ZRAM);
		return false;
	}
	snprintf(bytes, sizeof(bytes), "%zu", ZRAM_PAGES * PAGE);
	if (keep_write(ZRAM_SYS "disksize", bytes) < 0 ||
	    !write_swap_header() || swapon(ZRAM, 0) < 0) {
		snprintf(why, size, "cannot swapon %s: %s", ZRAM,
			 strerror(errno));
		return false;
	}
	return true;
}

/*
 * The second scan of all that is to be merged merges two pages, unless somebody
 * else holds one of them meanwhile. How many seconds a scan takes depends on
 * what else the machine does.
 */
#define KSM_SYS "/sys/kernel/mm/ksm/"
#define KSM_SCANS 200
#define KSM_SECONDS 30
#define KSM_MOST 120

static unsigned long long ksm_scans(void)
{
	char text[32];

	if (keep_read(KSM_SYS "full_scans", text, sizeof(text)) < 0)
		return 0;
	return strtoull(text, NULL, 10);
}

const char *keep_merge(bool (*are_one)(void *user), void *user)
{
	const unsigned long long first = ksm_scans();
	const time_t begin = time(NULL);
	static char why[128];
	bool merged, enough;
	time_t seconds;

	keep_write(KSM_SYS "pages_to_scan", "20000");
	keep_write(KSM_SYS "sleep_millisecs", "1");
	do {
		/* each time: a daemon may switch it off */
		if (keep_write(KSM_SYS "run", "1") < 0) {
			snprintf(why, sizeof(why), "KSM cannot be switched on: "
				 "%s", strerror(errno));
			return why;
		}
		usleep(2000);
		/* before the last look */
		enough = ksm_scans() - first >= KSM_SCANS;
		seconds = time(NULL) - begin;
		merged = are_one(user);
	} while (!merged && (seconds < KSM_SECONDS ||
			     (!enough && seconds < KSM_MOST)));
	/* Merged pages stay merged while no one scans. */
	keep_write(KSM_SYS "run", "0");
	if (merged)
		return NULL;
	snprintf(why, sizeof(why), enough ? "KSM merged nothing in %d scans" :
		 "KSM needs more than 2 minutes for %d scans", KSM_SCANS);
	return why;
}

bool keep_hugetlb(unsigned n)
{
	unsigned long want = strtoul(settings[0].value, NULL, 10) + n;
	char text[32], now[32];

	if (!settings[0].value[0])
		return false;
	snprintf(text, sizeof(text), "%lu", want);
	return keep_write(settings[0].path, text) == 0 &&
	       keep_read(settings[0].path, now, sizeof(now)) == 0 &&
	       strtoul(now, NULL, 10) == want;
}

void keep_large(void)
{
	keep_write(LARGE_ENABLED, "madvise");
	keep_write(SHMEM_ENABLED, "advise");
}
