/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Events for which the memory is too small: runs in a file without a name. Each
 * run is in order; all together are read in the order of times, equal ones in
 * that of processors, and then of runs.
 */
#ifndef PDET_TRACE_PERF_SPILL_H
#define PDET_TRACE_PERF_SPILL_H

#include <errno.h>

#include "trace/kmem.h"

struct pdet_spill_run {
	uint64_t at, end;	/* of the file: events that are not read */
	uint64_t freed;		/* byte until which the disk got it back */
	struct pdet_kmem_event *window; /* the ones that are */
	size_t next, n;		/* of these */
	uint64_t number;	/* of the run */
};

/* Zeroed, it is empty. */
struct pdet_spill {
	int fd;			/* if it is open */
	bool is_open;
	uint64_t size;		/* of the file, in events */
	uint64_t begun;		/* where the last run begins */
	uint64_t block;		/* of the filesystem, in bytes */
	uint64_t held, most;	/* bytes of the disk; half of what was free */
	uint64_t numbers;	/* of runs that there were */
	struct {
		struct pdet_spill_run *data;
		size_t n, cap;
	} runs;			/* once they are read, a heap */
	struct pdet_kmem_event *windows; /* of all runs */
	size_t each;		/* events of a window */
	bool is_read;		/* each run has one */
	struct pdet_kmem_event *stage; /* not written yet */
	size_t staged;
};

/* pdet_spill_folder - where the file is made: $TMPDIR, or /var/tmp. */
const char *pdet_spill_folder(void);

/* What no system call says that the file needs: it would take more than half of
 * what was free. */
#define PDET_SPILL_FULL ENOBUFS

/*
 * pdet_spill_put - add an event, which is not before the one added last, to the
 * run that begins or is being made. Its text is not copied. Negative errno: of
 * the file, -ENOMEM, or -PDET_SPILL_FULL.
 */
int pdet_spill_put(struct pdet_spill *s, const struct pdet_kmem_event *e);

/* pdet_spill_end - the run, if there is one, is complete. As pdet_spill_put().
 */
int pdet_spill_end(struct pdet_spill *s);

/* pdet_spill_undo - none of the run that is being made was added. */
void pdet_spill_undo(struct pdet_spill *s);

/*
 * pdet_spill_first - find the earliest event, which stays until the next call;
 * NULL: there is none. Negative errno.
 */
int pdet_spill_first(struct pdet_spill *s, const struct pdet_kmem_event **ret);

/* pdet_spill_next - the first one is used up. Negative errno. */
int pdet_spill_next(struct pdet_spill *s);

void pdet_spill_free(struct pdet_spill *s);

#endif
