/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Threads, which block all signals: those belong to the caller's threads. */
#ifndef PDET_BASE_TEAM_H
#define PDET_BASE_TEAM_H

#include <pthread.h>

/* pdet_team_thread - start a thread, which the caller joins. Returns 0, or an
 * errno that is not negative. */
int pdet_team_thread(pthread_t *ret, void *(*run)(void *arg), void *arg);

/*
 * pdet_team_run - run @work(@arg, 0) on the calling thread and @work(@arg, i),
 * 0 < i < @n, on other threads. Returns when all have finished. Fewer threads
 * may run than requested, so workers take their shares from a common counter.
 */
void pdet_team_run(unsigned n, void (*work)(void *arg, unsigned who),
		   void *arg);

#endif
