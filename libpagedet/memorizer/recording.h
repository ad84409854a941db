/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A recording of what Memorizer counts: its switches, and a thread. */
#ifndef PDET_MEMORIZER_RECORDING_H
#define PDET_MEMORIZER_RECORDING_H

#include "base/env.h"
#include "pagedet.h"

struct pdet_kmap_recording;

/* These return 0, or a negative errno with an error text, as those of
 * pagedet_kmap_record() and so on. */
int pdet_kmap_record_new(struct pdet_env *env,
			 const struct pagedet_kmap_record_options *o,
			 struct pdet_kmap_recording **ret);
int pdet_kmap_record_stop(struct pdet_kmap_recording *r, struct pdet_env *env);
int pdet_kmap_record_write(struct pdet_kmap_recording *r, struct pdet_env *env,
			   int fd);

void pdet_kmap_record_total(const struct pdet_kmap_recording *r,
			    struct pagedet_kmap_record_total *ret);
void pdet_kmap_record_free(struct pdet_kmap_recording *r);

#endif
