/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the running kernel says about its events: formats and names. */
#ifndef PDET_RECORD_ABOUT_H
#define PDET_RECORD_ABOUT_H

#include "record/dat.h"
#include "record/threads.h"

/*
 * pdet_about_page - read the header_page of the recording: the pages of another
 * instance may have another size.
 */
int pdet_about_page(struct pdet_env *env, int fs, int instance,
		    struct pdet_text *ret);

/*
 * pdet_about - fill the other texts of @ret. @fs: tracefs. What is not there
 * stays empty, but for header_event and formats.
 * Call pdet_about_free() in any case.
 */
int pdet_about(struct pdet_env *env, int fs, bool pages,
	       struct pdet_dat_parts *ret);
void pdet_about_free(struct pdet_dat_parts *p);

/* pdet_about_code - the kallsyms of code; nothing if addresses are hidden. */
void pdet_about_code(struct pdet_text *t);

/* pdet_about_threads - add the names that the kernel has now. */
void pdet_about_threads(int fs, struct pdet_thread_names *names);

#endif
