/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The switches that a recording changes, as they were before it. */
#ifndef PDET_MEMORIZER_SAVED_H
#define PDET_MEMORIZER_SAVED_H

#include "memorizer/files.h"

struct pdet_memorizer_saved {
	bool known[PAGEDET_MEMORIZER_LOG_LIVE + 1];
	uint64_t value[PAGEDET_MEMORIZER_LOG_LIVE + 1];
	uint64_t marked;	/* a process that was not followed before; 0 */
};

/*
 * pdet_memorizer_save - read them. @pid: of a process that will be followed, or
 * 0. -ENOTSUP: one could not be restored.
 */
int pdet_memorizer_save(const struct pdet_memorizer *m, struct pdet_env *env,
			uint64_t pid, struct pdet_memorizer_saved *ret);

/* pdet_memorizer_restore - all that can be; the first error is returned. */
int pdet_memorizer_restore(const struct pdet_memorizer *m,
			   struct pdet_env *env,
			   const struct pdet_memorizer_saved *s);

#endif
