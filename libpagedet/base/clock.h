/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads a clock as nanoseconds. */
#ifndef PDET_BASE_CLOCK_H
#define PDET_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* pdet_clock_ns - nanoseconds of @clock, which every kernel must have. */
static inline uint64_t pdet_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/*
 * pdet_clock_left - what is left of @limit ns since @start, of CLOCK_MONOTONIC:
 * at least 1. A limit of 0 is none, and stays 0.
 */
static inline uint64_t pdet_clock_left(uint64_t start, uint64_t limit)
{
	const uint64_t gone = pdet_clock_ns(CLOCK_MONOTONIC) - start;

	return !limit ? 0 : gone < limit ? limit - gone : 1;
}

#endif
