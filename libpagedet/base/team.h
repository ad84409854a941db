/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Short-lived threads that share one piece of work. */
#ifndef PDET_BASE_TEAM_H
#define PDET_BASE_TEAM_H

/*
 * pdet_team_run - run @work(@arg, 0) on the calling thread and @work(@arg, i),
 * 0 < i < @n, on other threads. Returns when all have finished. Fewer threads
 * may run than requested, so workers take their shares from a common counter.
 * The other threads block all signals, so that the caller's thread receives
 * them.
 */
void pdet_team_run(unsigned n, void (*work)(void *arg, unsigned who),
		   void *arg);

#endif
