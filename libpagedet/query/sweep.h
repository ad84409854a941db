/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Where one task maps pages: what mappers and the mapping index share. */
#ifndef PDET_QUERY_SWEEP_H
#define PDET_QUERY_SWEEP_H

#include "backend/backend.h"

/*
 * pdet_sweep_task - appends where @task maps a page of @set (NULL: any page).
 * @stop is asked now and then, with @arg; 1 if it ended the sweep, else 0 or
 * negative errno.
 */
int pdet_sweep_task(struct pdet_session *s, struct pdet_task *task,
		    const struct pdet_pfnset *set, uint64_t page_size,
		    bool (*stop)(void *arg), void *arg,
		    struct pdet_found_list *ret);

#endif
