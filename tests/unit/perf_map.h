/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The map file of this process, in which a JIT tells its functions. */
#ifndef TESTS_PERF_MAP_H
#define TESTS_PERF_MAP_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char map_path[64];

/* Also after an assertion that failed. */
static void remove_map(void)
{
	unlink(map_path);
}

/* Writes a map file of one function, of @bytes from @start on. */
static void make_map(uint64_t start, size_t bytes, const char *function)
{
	FILE *map;

	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", (int)getpid());
	/* One of an earlier process may have been left. */
	remove_map();
	map = fopen(map_path, "wx");
	if (!map)
		unit_skip("nothing can be written to /tmp");
	ck_assert_int_eq(atexit(remove_map), 0);
	ck_assert_int_eq(fchmod(fileno(map), 0600), 0);
	ck_assert_int_gt(fprintf(map, "%llx %zx %s\n",
				 (unsigned long long)start, bytes, function),
			 0);
	ck_assert_int_eq(fclose(map), 0);
}

#endif
