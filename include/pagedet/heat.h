/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: how often memory is accessed, as DAMON sees it. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Heat: what the kernel's DAMON says of regions of memory, for the fields
 * PAGEDET_FIELD_HEAT to _HEAT_NS of a query. Without pagedet_query.heat these
 * are PAGEDET_TOO_COSTLY.
 */

/* struct pagedet_heat_options - start from PAGEDET_HEAT_OPTIONS_INIT. */
struct pagedet_heat_options {
	uint64_t size;		/* sizeof(struct pagedet_heat_options) */
	uint64_t wait_ns;	/* how long to wait for DAMON, which tells what
				 * it saw at the end of each of its intervals
				 * (aggr_us). 0: two intervals and a second, at
				 * most a minute */
};

#define PAGEDET_HEAT_OPTIONS_INIT { sizeof(struct pagedet_heat_options), 0 }

/* What is monitored, and what is known of it. */
struct pagedet_heat_monitor {
	uint64_t size;		/* sizeof(struct pagedet_heat_monitor) */
	uint64_t regions;	/* that were told */
	uint64_t bytes;		/* of them */
	uint64_t checks;	/* how often DAMON looks in an interval; 0: not
				 * known */
	uint64_t interval_ns;	/* by its settings; 0: not known */
	uint64_t end_ns;	/* of the interval, CLOCK_REALTIME */
	uint32_t thread;	/* kdamond */
	uint32_t pid;		/* process whose addresses these are; 0: regions
				 * are of physical memory */
	uint32_t known;		/* 0: nothing tells whose regions they are, so
				 * that no page has their heat */
	uint32_t complete;	/* 1: all regions of an interval were told */
};

/* What was heard. */
struct pagedet_heat_info {
	uint64_t size;		/* sizeof(struct pagedet_heat_info) */
	uint64_t monitors;
	uint64_t threads;	/* of DAMON that run, and whose settings are
				 * known */
	uint64_t lost;		/* events that had no room, or were damaged */
	const char *advice;	/* what would help, or "". Valid until
				 * pagedet_heat_free() */
	uint32_t state;		/* PAGEDET_HAVE, or why nothing is known:
				 * PAGEDET_NO_KERNEL DAMON does not run,
				 * PAGEDET_NO_ACCESS, PAGEDET_IO,
				 * PAGEDET_UNSUPPORTED the handle is not of the
				 * running kernel, or what DAMON monitors
				 * cannot be read */
	uint32_t complete;	/* 1: each thread has told a whole interval */
};

/* What DAMON has told. */
struct pagedet_heat;

/**
 * pagedet_heat - listen to DAMON, where it runs already
 * Waits until each of its threads has told all of an interval. Nothing is
 * started or changed: the library reads the tracepoint damon:damon_aggregated
 * through a trace instance of its own, which is gone when this returns. That
 * DAMON does not run is not an error: pagedet_heat_info() says so, and the
 * fields of a query have the reason.
 * @pd: [in] opened
 * @options: [in,nullable] NULL is the default
 * @ret: [out] [owned: pagedet_heat_free] what was heard
 * Return: 0, or a negative errno.
 * Errors: EINVAL the handle is not open; E2BIG options has a non-zero byte that
 *         this library does not know; ECANCELED the function of
 *         pagedet_set_stop(); ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_heat(struct pagedet *pd, const struct pagedet_heat_options *options,
		 struct pagedet_heat **ret);

/**
 * pagedet_heat_info - say what was heard, or why nothing was
 * @heat: [in] from pagedet_heat()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_heat_info(const struct pagedet_heat *heat,
		      struct pagedet_heat_info *ret);

/**
 * pagedet_heat_monitor - describe what is monitored
 * @heat: [in] from pagedet_heat()
 * @index: [in] 0, 1, 2 ...
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version; ENOENT there are not so many.
 * Since: 0.1
 */
int pagedet_heat_monitor(const struct pagedet_heat *heat, uint64_t index,
			 struct pagedet_heat_monitor *ret);

/**
 * pagedet_heat_free - forget it
 * @heat: [in,nullable] NULL does nothing; not used by a query any more
 * Errors: none.
 * Since: 0.1
 */
void pagedet_heat_free(struct pagedet_heat *heat);
