/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: the memory usage of each process. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Usage: how much memory each process uses
 */

/*
 * The sums of a process, in bytes. They are part of the ABI, as field ids are.
 * They are the sums of /proc/PID/smaps_rollup (Linux fs/proc/task_mmu.c,
 * smaps_account).
 */
enum pagedet_sum {
	PAGEDET_SUM_RSS = 0,	/* pages that are mapped and in memory */
	PAGEDET_SUM_PSS = 1,	/* the same, but a page with N mappings counts
				 * as 1/N */
	PAGEDET_SUM_USS = 2,	/* pages without another mapping */
	PAGEDET_SUM_SHARED = 3,	/* RSS minus USS */
	PAGEDET_SUM_DIRTY = 4,	/* part of RSS: dirty pages and pages with a
				 * dirty entry */
	PAGEDET_SUM_SWAP = 5,	/* pages that are in swap */
	PAGEDET_SUM_HUGETLB = 6	/* pages of hugetlbfs; not part of RSS */
};

/* Leaves room for sums of later versions. */
#define PAGEDET_SUMS 16

/* The usage of one process. */
struct pagedet_usage {
	uint64_t size;		/* sizeof(struct pagedet_usage) */
	uint64_t value[PAGEDET_SUMS]; /* bytes, by PAGEDET_SUM_*; 0 where state
				 * is not PAGEDET_HAVE */
	uint32_t state[PAGEDET_SUMS]; /* PAGEDET_HAVE; PAGEDET_NOT_ASKED for an
				 * unassigned number; or why the sum is not
				 * known */
	uint32_t estimated;	/* bits 1 << PAGEDET_SUM_*: the kernel keeps
				 * these sums only roughly */
	uint32_t pid;
	uint32_t source;	/* PAGEDET_SOURCE_* */
	uint32_t same_as;	/* the pid of an earlier row with the same
				 * address space (vfork, clone with CLONE_VM):
				 * a sum over processes counts it once */
	const char *comm;	/* [nullable] name, any bytes except NUL; NULL
				 * if it could not be read; valid until
				 * pagedet_usage_free() */
	uint32_t same_as_state;	/* PAGEDET_HAVE; PAGEDET_NONE: no earlier row
				 * that can be compared has it; or why that is
				 * not known */
	uint32_t reserved;
};

/* The extent of what pagedet_usage() examined. */
struct pagedet_usage_info {
	uint64_t size;		/* sizeof(struct pagedet_usage_info) */
	uint64_t processes;	/* processes with a row */
	uint64_t without_memory; /* kernel threads and zombies: no rows */
	uint64_t gone;		/* processes that ended during the call: no
				 * rows */
	uint64_t denied;	/* processes that exist but may not be read;
				 * they have a row if anything is known about
				 * them */
	uint64_t damaged;	/* processes of which a dump has only a part:
				 * their sums are estimates and too small */
	uint32_t complete;	/* 1: every process was examined */
	uint32_t stopped;	/* why not: ETIMEDOUT, ECANCELED */
};

/* The processes to examine. Start from PAGEDET_USAGE_OPTIONS_INIT. */
struct pagedet_usage_options {
	uint64_t size;		/* sizeof(struct pagedet_usage_options) */
	const uint32_t *pids;	/* [nullable] [len: n_pids] in any order; a
				 * repeated pid gives one row; NULL is every
				 * process */
	uint64_t n_pids;
	uint64_t deadline_ns;	/* from the call; 0 no deadline */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are processes */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* shortest interval; 0 is 200 ms */
	uint32_t threads;	/* including the caller's; 0 and 1 are one */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0 as the handle's */
};

#define PAGEDET_USAGE_OPTIONS_INIT \
	{ sizeof(struct pagedet_usage_options), NULL, 0, 0, NULL, NULL, 0, 0, \
	  0 }

struct pagedet_usages;

/**
 * pagedet_usage - measure the memory usage of processes
 * On the running kernel, libpagedet reads /proc/PID/smaps_rollup once per
 * process. For dumps, and where that file is missing, it walks page tables and
 * reads mapcounts. SWAP is then the sum over page tables, without shared memory
 * that is swapped out. If a process may not be read, or a captured tree lacks
 * its page tables, RSS, SWAP and HUGETLB come from /proc/PID/status. RSS and
 * SWAP are then estimates, and the other sums are PAGEDET_NO_ACCESS or
 * PAGEDET_UNSUPPORTED. A deadline or a cancel ends the call early, with the
 * results so far.
 * @pd: [in] opened
 * @options: [in,nullable] NULL is every process, one thread and no deadline
 * @ret: [out] [owned: pagedet_usage_free] the results
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; E2BIG options has a non-zero byte that this library
 *         does not know; ENOTSUP no source here shows what processes use;
 *         EACCES no process may be read at all; EBADMSG a dump contradicts
 *         itself about its tasks; ENODATA its types or symbols are not known;
 *         ETIMEDOUT ECANCELED before the processes were listed; ENOSYS a part
 *         that is needed was not built; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_usage(struct pagedet *pd,
		  const struct pagedet_usage_options *options,
		  struct pagedet_usages **ret);

/**
 * pagedet_usage_next - get the next process
 * The processes come in ascending order of pid.
 * @usages: [in] from pagedet_usage()
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_usage_next(struct pagedet_usages *usages,
		       struct pagedet_usage *ret);

/**
 * pagedet_usage_info - say what was examined
 * @usages: [in] from pagedet_usage()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_usage_info(const struct pagedet_usages *usages,
		       struct pagedet_usage_info *ret);

/**
 * pagedet_usage_free - free the results
 * @usages: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_usage_free(struct pagedet_usages *usages);
