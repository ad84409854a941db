/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Lists the tasks of a cgroup and its descendants from cgroup.procs. */
#include <errno.h>
#include <stdlib.h>

#include "backend/procfs/procfs.h"
#include "base/io.h"
#include "base/sort.h"
#include "base/text/text.h"

#define PROCS_BYTES (16u << 20)

struct pids {
	uint32_t *data;
	size_t n, cap;
};

/* A process outside this pid namespace appears as 0. */
static int add_pids(struct pids *pids, const struct pdet_text *text)
{
	struct pdet_scan all = { text->data, text->data + text->len }, line;
	uint64_t pid;

	while (pdet_scan_line(&all, &line))
		if (pdet_scan_dec(&line, &pid) && pid && pid <= INT32_MAX &&
		    !pdet_vec_push(pids, (uint32_t)pid))
			return -ENOMEM;
	return 0;
}

static int read_all(struct pdet_env *env, const char *point,
		    const struct procfs_cgroup_paths *paths, struct pids *pids)
{
	struct pdet_text text;
	size_t i;
	int r;

	for (i = 0; i < paths->n; i++) {
		r = pdet_slurp(env, &text, PROCS_BYTES, "%s%s/cgroup.procs",
			       point, paths->data[i][1] ? paths->data[i] : "");
		/* it was removed meanwhile, or has only threads */
		if (r == -ENOENT || r == -ENOTSUP)
			continue;
		if (r < 0) {
			errno = -r;
			return pdet_fail_errno(env,
					       "cannot list the tasks of a "
					       "cgroup: cannot read "
					       "%s%s%s/cgroup.procs",
					       env->root, point,
					       paths->data[i]);
		}
		r = add_pids(pids, &text);
		pdet_text_free(&text);
		if (r < 0)
			return pdet_fail(env, ENOMEM, "no memory");
	}
	return 0;
}

int procfs_cgroup_tasks(struct pdet_backend *b, struct pdet_env *env,
			const char *path, uint32_t **ret, size_t *n)
{
	struct procfs_cgroup_paths paths;
	struct pids pids = { NULL, 0, 0 };
	char point[4096];
	int r;

	r = procfs_cgroups_below(procfs_of(b), env, path, &paths);
	if (r < 0)
		return r;
	procfs_cgroup_point(env, point, sizeof(point));
	r = read_all(env, point, &paths, &pids);
	procfs_cgroup_paths_free(&paths);
	if (r < 0) {
		pdet_vec_free(&pids);
		return r;
	}
	/* Threads of a process can be in several cgroups of v1. */
	*n = pdet_sort_once_u32(pids.data, pids.n);
	*ret = pids.data;
	return 0;
}
