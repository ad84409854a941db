/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Starts threads for one piece of work and waits until they end. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/team.h"

struct member {
	void (*work)(void *arg, unsigned who);
	void *arg;
	unsigned who;
	pthread_t thread;
	bool started;
};

static void *run(void *arg)
{
	struct member *m = arg;

	m->work(m->arg, m->who);
	return NULL;
}

static void start(struct member *m)
{
	sigset_t all, before;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before))
		return;
	m->started = pthread_create(&m->thread, NULL, run, m) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pdet_team_run(unsigned n, void (*work)(void *arg, unsigned who),
		   void *arg)
{
	struct member *others = n > 1 ? calloc(n, sizeof(*others)) : NULL;
	unsigned i;

	for (i = 1; others && i < n; i++) {
		others[i] = (struct member){ .work = work, .arg = arg,
					     .who = i };
		start(&others[i]);
	}
	work(arg, 0);
	for (i = 1; others && i < n; i++)
		if (others[i].started)
			pthread_join(others[i].thread, NULL);
	free(others);
}
