/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Listens to the threads of DAMON that run, with a trace instance of its own.
 * Neither starts, stops nor changes one.
 */
#ifndef PDET_HEAT_LISTEN_H
#define PDET_HEAT_LISTEN_H

#include "heat/heat.h"

/*
 * pdet_heat_listen - wait until each has told all regions of an interval, at
 * most @wait_ns; 0: two intervals and a second, at most a minute. If nothing
 * can be heard, state says why, and 0 is returned. -ENOMEM, -EIO, -ECANCELED
 * if env->stop says so; with an error text.
 */
int pdet_heat_listen(struct pdet_heat *h, struct pdet_env *env,
		     uint64_t wait_ns);

#endif
