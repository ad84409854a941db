/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Pages found in a kernel log, against counting its lines: whole processes. */
#include <stdio.h>

#include "compare.h"

int compare_log(int argc, char **argv)
{
	char work[64];
	struct command lines = { .argv = { "/usr/bin/wc", "-l" } };
	struct command pagedet = { .argv = {
		command_pagedet(), "from-log", "-q", "--text-only"
	}, .may_fail = true };
	struct trial t = {
		.work = work,
		.bound = { "wc -l", command_run, &lines },
		.library = { "pagedet from-log --text-only", command_run,
			     &pagedet },
	};

	if (argc != 2)
		return 64;
	lines.argv[2] = pagedet.argv[4] = argv[1];
	snprintf(work, sizeof(work), "100 MB, %s", argv[0]);
	trial_run(&t);
	return 0;
}
