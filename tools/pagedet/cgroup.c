/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the directory of a cgroup: the user's current one, if it is a cgroup.
 * It also explains why another directory is not one, and reads the kernel's
 * counters. The library finds the pages.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define MOUNT "/sys/fs/cgroup"
/* If there are separate hierarchies, use the one of the memory controller. */
#define MEMORY MOUNT "/memory"

/* Whether the directory has such a file. */
static bool has(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

	return n > 0 && (size_t)n < sizeof(path) && !access(path, F_OK);
}

static bool is_cgroup(const char *dir)
{
	return has(dir, "cgroup.procs");
}

static bool put_dir(char *ret, size_t size, const char *root, const char *mount,
		    const char *path)
{
	const char *slash = *path == '/' || !*path ? "" : "/";
	int n = snprintf(ret, size, "%s%s%s%s", root, mount, slash, path);

	return n > 0 && (size_t)n < size && is_cgroup(ret);
}

/* Finds the directory of the memory cgroup with that name. */
static bool find_dir(const struct cli_job *job, char *ret, size_t size)
{
	const char *root = job->open.root ? job->open.root : "";
	const char *path = job->path;

	/* No cgroup has the name ".". */
	if (job->open.n_files || *path == '.')
		return false;
	if (!strncmp(path, MOUNT, strlen(MOUNT)))
		return put_dir(ret, size, root, "", path);
	return put_dir(ret, size, root, MEMORY, path) ||
	       put_dir(ret, size, root, MOUNT, path);
}

bool cli_cgroup_mount(const struct cli_job *job, char *ret, size_t size)
{
	const char *root = job->open.root ? job->open.root : "";

	return !job->open.n_files && (put_dir(ret, size, root, MEMORY, "") ||
				      put_dir(ret, size, root, MOUNT, ""));
}

/* --- the argument --- */

static int not_of_memory(const char *path)
{
	cli_say("cgroup: the directory '%s' is %s", path, is_cgroup(path) ?
		"in a cgroup hierarchy without the memory controller" :
		"not a cgroup");
	if (has(MEMORY, "memory.stat"))
		cli_say("hint: memory cgroups are the directories below %s",
			MEMORY);
	else
		cli_say("hint: cgroups are the directories below %s", MOUNT);
	return CLI_NO_INPUT;
}

int cli_parse_cgroup(struct cli_job *job)
{
	const int status = cli_parse_path(job);
	char dir[PATH_MAX];
	struct stat st;

	if (status || job->open.n_files || job->open.root)
		return status;
	if (*job->path != '/' && is_cgroup(job->path)) {
		job->real_path = realpath(job->path, NULL);
		if (!job->real_path)
			return cli_fail_errno("cgroup: '%s'", job->path);
		job->path = job->real_path;
	}
	/* A directory may have the same name as a cgroup. */
	if (stat(job->path, &st) || !S_ISDIR(st.st_mode))
		return CLI_ANSWERED;
	if (!find_dir(job, dir, sizeof(dir))) {
		if (!is_cgroup(job->path))
			return not_of_memory(job->path);
		snprintf(dir, sizeof(dir), "%s", job->path);
	}
	/* In a unified hierarchy, a cgroup may not have the controller. */
	return has(dir, "memory.stat") || !has(MEMORY, "memory.stat") ?
	       CLI_ANSWERED : not_of_memory(job->path);
}

/* --- the kernel's counters --- */

static bool read_number(const char *dir, const char *name, uint64_t *ret)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f;

	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fscanf(f, "%" SCNu64, ret);
	fclose(f);
	return n == 1;
}

const char *cli_cgroup_usage(const struct cli_job *job, uint64_t *ret)
{
	static const char *const names[] = {
		"memory.current", "memory.usage_in_bytes",
	};
	char dir[PATH_MAX];
	size_t i;

	if (!find_dir(job, dir, sizeof(dir)))
		return NULL;
	for (i = 0; i < CLI_COUNT(names); i++)
		if (read_number(dir, names[i], ret))
			return names[i];
	return NULL;
}
