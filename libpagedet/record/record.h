/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A recording of allocations on the running kernel: a trace instance, and a
 * thread that empties its buffers.
 */
#ifndef PDET_RECORD_RECORD_H
#define PDET_RECORD_RECORD_H

#include "base/env.h"

struct pdet_recording;
struct pagedet_record_options;
struct pagedet_record_total;

/*
 * pdet_record_new - begin; @o is complete. Errors as those of
 * pagedet_allocs_record().
 */
int pdet_record_new(struct pdet_env *env,
		    const struct pagedet_record_options *o,
		    struct pdet_recording **ret);

/* pdet_record_stop - end; the second time it does nothing, and has the same
 * result. */
int pdet_record_stop(struct pdet_recording *r, struct pdet_env *env);

/* pdet_record_write - write what was recorded as a trace.dat. */
int pdet_record_write(struct pdet_recording *r, struct pdet_env *env, int fd);

void pdet_record_total(const struct pdet_recording *r,
		       struct pagedet_record_total *ret);

void pdet_record_free(struct pdet_recording *r);

#endif
