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

#endif
