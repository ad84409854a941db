/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Whether addresses of a trace mean the same in the kernel that is asked. */
#ifndef PDET_QUERY_WALK_OBJECTS_BOOT_H
#define PDET_QUERY_WALK_OBJECTS_BOOT_H

#include "allocs/allocs.h"
#include "backend/backend.h"

/* The kernel that is asked. */
struct pdet_asked {
	struct pdet_env *env;
	struct pdet_backend *const *backends;
	size_t n_backends;
	bool live;		/* it is the running one */
};

/* Room for a reason. */
#define PDET_BOOT_WHY 256

/*
 * pdet_objects_are_of - whether they are those of this kernel. If not, @why is
 * a sentence. @any_boot: they are unless the trace hides addresses.
 */
bool pdet_objects_are_of(const struct pdet_allocs *a,
			 const struct pdet_asked *k, bool any_boot,
			 char why[PDET_BOOT_WHY]);

#endif
