/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Starts threads. */
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

static void *do_share(void *arg)
{
	struct member *m = arg;

	m->work(m->arg, m->who);
	return NULL;
}

int pdet_team_thread(pthread_t *ret, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	int code;

	sigfillset(&all);
	code = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (code)
		return code;
	code = pthread_create(ret, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

void pdet_team_run(unsigned n, void (*work)(void *arg, unsigned who),
		   void *arg)
{
	struct member *others = n > 1 ? calloc(n, sizeof(*others)) : NULL;
	unsigned i;

	for (i = 1; others && i < n; i++) {
		others[i] = (struct member){ .work = work, .arg = arg,
					     .who = i };
		others[i].started = pdet_team_thread(&others[i].thread,
						     do_share, &others[i]) == 0;
	}
	work(arg, 0);
	for (i = 1; others && i < n; i++)
		if (others[i].started)
			pthread_join(others[i].thread, NULL);
	free(others);
}
