/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the running kernel says about its events: formats and names. */
#ifndef PDET_RECORD_ABOUT_H
#define PDET_RECORD_ABOUT_H

#include "record/dat.h"
#include "record/threads.h"

/*
 * pdet_about - fill the texts of @ret. @fs: tracefs. @instance: of the
 * recording. What is not there stays empty, but for headers and formats.
 * Call pdet_about_free() in any case.
 */
int pdet_about(struct pdet_env *env, int fs, int instance, bool pages,
	       struct pdet_dat_parts *ret);
void pdet_about_free(struct pdet_dat_parts *p);

/* pdet_about_threads - add the names that the kernel has now. */
void pdet_about_threads(int fs, struct pdet_thread_names *names);

#endif
