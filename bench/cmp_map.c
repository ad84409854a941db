/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A picture of memory against counting its pages by kind, both as a process of
 * their own. */
#include <stdio.h>

#include "compare.h"

#define FEW_ROUNDS 5

int compare_map(int argc, char **argv)
{
	char work[64];
	struct command count = { .argv = {
		command_pagedet(), "scan", "--summary", "-q"
	} };
	struct command map = { .argv = {
		command_pagedet(), "map", "-q"
	} };
	struct trial t = {
		.work = work,
		.bound = { "pagedet scan --summary", command_run, &count },
		.library = { "pagedet map", command_run, &map },
		.rounds = FEW_ROUNDS
	};

	if (argc != 1)
		return 64;
	count.argv[4] = map.argv[3] = "--backend";
	count.argv[5] = map.argv[4] = argv[0];
	snprintf(work, sizeof(work), "a picture by kind, %s", argv[0]);
	trial_run(&t);
	return 0;
}
