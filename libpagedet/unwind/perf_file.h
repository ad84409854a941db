/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The file /tmp/perf-PID.map of a process of this machine, in which its
 * compiler at run time lists its functions. Anybody may put a file there, so it
 * is read only if it is the process's own.
 */
#ifndef PDET_UNWIND_PERF_FILE_H
#define PDET_UNWIND_PERF_FILE_H

#include <sys/stat.h>

#include "base/env.h"
#include "unwind/perf_map.h"

#define PDET_PERF_BYTES ((size_t)64 << 20)

/* A process, and what its file is compared with. */
struct pdet_perf_process {
	uint64_t tgid;		/* in the namespace of /proc; 0: none */
	uint64_t pid;		/* the same, in its own namespace */
	uint64_t user;		/* effective */
	uint64_t start;		/* ticks since boot */
};

struct pdet_perf_file {
	struct pdet_perf_process process; /* whose file was looked for */
	int fd;			/* of the file; a negative errno: why not */
	struct pdet_perf_map map;
	struct stat st;		/* of the file that was read */
	bool has_map;
	char why[192];		/* why there is no map */
	char lacks[192];	/* what is said of code that the map lacks */
	char cut[192];		/* ... of code of which another function has a
				 * part */
};

/*
 * pdet_perf_file_open - read the file of the process of thread @tid. *f is
 * zero, or that of another thread: for one of the same process, the file is not
 * looked for again, unless the failure may pass, and read again only if it has
 * changed. f->has_map is set, or f->why says why not. Free it.
 */
void pdet_perf_file_open(struct pdet_perf_file *f, const struct pdet_env *env,
			 uint32_t tid);

/*
 * pdet_perf_file_changed - whether the file is not what was read: a compiler
 * may have put new code where an old function was. False if there is no map.
 */
bool pdet_perf_file_changed(const struct pdet_perf_file *f);

/* pdet_perf_file_drop - forget the map of a file that changes too often, until
 * it is opened again. */
void pdet_perf_file_drop(struct pdet_perf_file *f);

void pdet_perf_file_free(struct pdet_perf_file *f);

#endif
