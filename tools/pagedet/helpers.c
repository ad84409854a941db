/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the library's helper programs if they are not installed: beside a
 * copied command, below the same prefix, or in the build tree.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/*
 * The program gets the privileges of this process, so no other user may have
 * put it there.
 */
static bool is_ours(const char *program)
{
	struct stat st;

	return stat(program, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == 0 || st.st_uid == geteuid()) &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       access(program, X_OK) == 0;
}

/* Only requests to the module or the driver use helper programs. */
static bool is_needed(const struct cli_job *job)
{
	const uint32_t it =
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PAGE_DETECTIVE);
	char place[4096 + 64];

	if (job->open.sources)
		return job->open.sources & it;
	snprintf(place, sizeof(place), "%s/sys/kernel/debug/page_detective",
		 job->open.root ? job->open.root : "");
	return access(place, F_OK) == 0;
}

void cli_helpers_find(struct cli_job *job)
{
	static const char *const places[] = {
		"", "/../libexec/pagedet", "/../../libpagedet/libexec",
	};
	char self[2048], program[sizeof(job->helpers) + 32];
	char *slash;
	ssize_t n;
	size_t i;

	if (!is_needed(job))
		return;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return;
	*slash = '\0';
	for (i = 0; i < CLI_COUNT(places); i++) {
		snprintf(job->helpers, sizeof(job->helpers), "%s%s", self,
			 places[i]);
		snprintf(program, sizeof(program), "%s/page-detective-write",
			 job->helpers);
		if (is_ours(program)) {
			job->open.libexec_dir = job->helpers;
			return;
		}
	}
}
