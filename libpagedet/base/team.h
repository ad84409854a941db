/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Threads that work on one thing together, and are gone when it is done. */
#ifndef PDET_BASE_TEAM_H
#define PDET_BASE_TEAM_H

/*
 * pdet_team_run - @work(@arg, 0) on the calling thread and, at the same time,
 * @work(@arg, i) on others, 0 < i < @n; back when all are. Fewer threads may
 * run than were asked for, so they take their shares from a common counter.
 * The others take no signals: those are the caller's.
 */
void pdet_team_run(unsigned n, void (*work)(void *arg, unsigned who),
		   void *arg);

#endif
