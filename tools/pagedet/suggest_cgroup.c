/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Suggests a cgroup for a mistyped one, or for the name of a unit, such as
 * nginx.service, which is the last part of its cgroup's path.
 */
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Larger trees are examined in part: this is only a suggestion. */
#define MOST 20000

struct cgroups {
	const char *path[MOST];	/* below the mount, from a slash on */
	const char *name[MOST];	/* the last part of it */
	size_t n;
};

static void add(struct cgroups *c, const char *path)
{
	const char *slash = strrchr(path, '/');

	c->path[c->n] = slash ? strdup(path) : NULL;
	if (!c->path[c->n])
		return;
	c->name[c->n] = c->path[c->n] + (slash - path) + 1;
	c->n++;
}

static void list(struct cgroups *c, char *mount)
{
	char *const paths[] = { mount, NULL };
	const size_t len = strlen(mount);
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *e;

	while (fts && c->n < MOST && (e = fts_read(fts)))
		if (e->fts_info == FTS_D && e->fts_pathlen > len)
			add(c, e->fts_path + len);
	if (fts)
		fts_close(fts);
}

/* Whether @path ends with the parts of @word. */
static bool ends_with(const char *path, const char *word)
{
	const size_t len = strlen(path), tail = strlen(word);

	return tail && tail < len && path[len - tail - 1] == '/' &&
	       !strcmp(path + len - tail, word);
}

static const char *find(const struct cgroups *c, const char *word, bool exact)
{
	const char *bare = word + strspn(word, "/");
	const char *slash = strrchr(word, '/');
	int near = -1;
	size_t i;

	for (i = 0; i < c->n; i++)
		if (ends_with(c->path[i], bare))
			return c->path[i];
	if (exact || !c->n)
		return NULL;
	if (*word == '/')
		near = pagedet_nearest(word, c->path, c->n);
	if (near < 0)
		near = pagedet_nearest(slash ? slash + 1 : word, c->name, c->n);
	return near < 0 ? NULL : c->path[near];
}

bool cli_cgroup_near(const struct cli_job *job, const char *word, bool exact,
		     char *ret, size_t size)
{
	struct cgroups *c = calloc(1, sizeof(*c));
	const char *path = NULL;
	char mount[PATH_MAX];

	if (c && cli_cgroup_mount(job, mount, sizeof(mount))) {
		list(c, mount);
		path = find(c, word, exact);
		if (path && strlen(path) < size)
			snprintf(ret, size, "%s", path);
		else
			path = NULL;
	}
	while (c && c->n)
		free((void *)c->path[--c->n]);
	free(c);
	return path != NULL;
}

void cli_suggest_cgroup(const struct cli_job *job)
{
	char near[PATH_MAX], quoted[CLI_QUOTED];
	const char *path = NULL;
	uint64_t pid;

	if (job->quiet || !job->path)
		return;
	if (cli_cgroup_of(job, job->words[0], &pid, near, sizeof(near))) {
		cli_say("hint: process %" PRIu64 " is in this cgroup: %s "
			"cgroup %s", pid, job->again,
			cli_argument(near, "PATH", quoted));
		return;
	}
	if (cli_cgroup_near(job, job->path, false, near, sizeof(near)))
		path = cli_argument(near, NULL, quoted);
	if (path)
		cli_say("hint: did you mean %s? try: %s cgroup %s", path,
			job->again, path);
	else
		cli_say("hint: to list them: %s top cgroup", job->again);
}
