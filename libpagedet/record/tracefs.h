/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Files of tracefs (Documentation/trace/ftrace.rst). If it is not mounted, it
 * is mounted without a place in the file system.
 */
#ifndef PDET_RECORD_TRACEFS_H
#define PDET_RECORD_TRACEFS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a trace buffer of one processor has counted. */
struct pdet_tracefs_stats {
	char text[512];		/* the file */
	uint64_t lost;		/* events that nobody will read */
	uint64_t left;		/* events that nobody has read yet */
	uint64_t read;		/* events that somebody has read */
};

/* pdet_tracefs_open - open its directory; a negative errno if that fails. */
int pdet_tracefs_open(void);

/* pdet_tracefs_open_instances - open the directory of trace instances. */
int pdet_tracefs_open_instances(void);

/* pdet_tracefs_put - write a file with one call. 0, or a negative errno. */
int pdet_tracefs_put(int dir, const char *name, const char *text);

/* pdet_tracefs_get - read a short file, NUL-terminated; -1 on failure. */
int pdet_tracefs_get(int dir, const char *name, char *buf, size_t size);

/* pdet_tracefs_list - open a directory. The caller closes it; NULL: errno. */
DIR *pdet_tracefs_list(int dir, const char *name);

/*
 * pdet_tracefs_stats - read per_cpu/@cpu/stats. False: it cannot be read, or
 * lacks a number.
 */
bool pdet_tracefs_stats(int dir, const char *cpu,
			struct pdet_tracefs_stats *ret);

#endif
