/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * top alloc: who allocated what is in use. It is 'kmem report' of a trace, or
 * of the kernel's own counts, with the largest sum of live bytes first.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define ALLOCINFO "/proc/allocinfo"

/* The lines that a terminal keeps for the total, remarks and the prompt. */
#define OTHER_LINES 6

static int no_counts(void)
{
	cli_say("top alloc: this kernel does not count its allocations: there "
		"is no " ALLOCINFO " (CONFIG_MEM_ALLOC_PROFILING, since Linux "
		"6.10)");
	cli_say("hint: record them: pagedet kmem record --for 10, then: "
		"pagedet top alloc kmem.dat");
	return CLI_UNAVAILABLE;
}

/* What --by means is the argument of top. */
static int no_groups(const struct cli_job *job)
{
	static const struct { const char *by, *word; } words[] = {
		{ "cgroup", "cgroup" }, { "memcg_path", "cgroup" },
		{ "memcg", "cgroup" }, { "path", "file" }, { "file", "file" },
		{ "slab_cache", "slab" }, { "slab", "slab" },
		{ "pid", "process" }, { "comm", "process" },
	};
	const char *word = "kind";
	char instead[64];
	size_t i;

	for (i = 0; i < CLI_COUNT(words); i++)
		if (!strcmp(words[i].by, job->by))
			word = words[i].word;
	snprintf(instead, sizeof(instead), "top %s", word);
	return cli_instead(job, instead, "top takes no --by: its argument says "
			   "what is ranked");
}

int cli_wrap_top(struct cli_job *job)
{
	static char report[] = "report", path[PATH_MAX];
	const uint32_t height = job->output ? 0 : cli_height(STDOUT_FILENO);

	if (!job->n_words || strcmp(job->words[0], "alloc"))
		return job->by ? no_groups(job) : CLI_ANSWERED;
	if (job->n_words > 2)
		return cli_usage("top: '%s' is one argument too many",
				 job->words[2]);
	if (job->n_words == 1 && job->open.n_files)
		return cli_instead(job, "top slab", "top alloc: a dump does "
				   "not have the counts of allocations, but "
				   "its slab caches");
	if (job->n_words == 1) {
		snprintf(path, sizeof(path), "%s" ALLOCINFO, job->open.root ?
			 job->open.root : "");
		if (access(path, F_OK))
			return no_counts();
		job->live_counts = !job->open.root;
	}
	/* The name of the command stood before its arguments. */
	job->words--;
	job->words[1] = job->n_words == 1 ? path : job->words[2];
	job->words[0] = report;
	job->n_words = 2;
	job->command = cli_command_find("kmem");
	if (!job->sort)
		job->sort = "all_live_bytes";
	if (!cli_bound(job) && !job->all && height > OTHER_LINES &&
	    job->format == PAGEDET_FORMAT_TEXT && !job->flame &&
	    !job->folded) {
		job->top = height - OTHER_LINES;
		job->fitted = true;
	}
	return job->command->wrap(job);
}
