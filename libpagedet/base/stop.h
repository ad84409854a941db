/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks whether the caller still waits for the answer. The functions that read
 * kernel memory make this check. Every walk reads memory for each step, so no
 * walk can run on after a cancel: its next read fails.
 */
#ifndef PDET_BASE_STOP_H
#define PDET_BASE_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads between two checks: some milliseconds for an uncached dump, far less
 * for cached data. */
#define PDET_STOP_STEPS 256

struct pdet_stop {
	bool (*ask)(void *arg);	/* NULL: the caller always waits */
	void *arg;
	uint32_t steps;
	bool stopped;		/* the last result of ask() */
};

static inline bool pdet_is_stopped(struct pdet_stop *s)
{
	if (s->ask && (s->stopped || ++s->steps % PDET_STOP_STEPS == 0))
		s->stopped = s->ask(s->arg);
	return s->stopped;
}

#endif
