/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The objects of a KMAP in groups, against counting its lines: whole processes,
 * one thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"

int compare_kmap(int argc, char **argv)
{
	char work[80];
	struct command lines = { .argv = { "/usr/bin/wc", "-l" } };
	struct command pagedet = { .argv = {
		command_pagedet(), "kmap", "report", "--by", "site", "-q"
	} };
	struct trial t = {
		.work = work,
		.bound = { "wc -l", command_run, &lines },
		.library = { "pagedet kmap report --by site", command_run,
			     &pagedet },
	};
	double mb, objects;

	if (argc != 3)
		return 64;
	mb = atof(argv[1]);
	objects = atof(argv[2]);
	lines.argv[2] = pagedet.argv[6] = argv[0];
	/* 300 MB a second */
	t.most_ns = mb / 300 * 1e9;
	snprintf(work, sizeof(work), "%.0f MB, %.0f objects", mb, objects);
	trial_run(&t);
	trial_value("memory used for it", (double)pagedet.rss_kib / 1024, "MiB",
		    64 + objects * 64 / 1048576);
	return 0;
}
