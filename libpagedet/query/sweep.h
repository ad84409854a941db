/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads where one task maps pages, for mappers and the mapping index. */
#ifndef PDET_QUERY_SWEEP_H
#define PDET_QUERY_SWEEP_H

#include "backend/backend.h"

/*
 * pdet_sweep_task - append the places where @task maps a page of @set (NULL:
 * any page). It calls @stop with @arg now and then. It adds to *@blind the
 * PDET_BLIND_* of mappings that the source cannot see. Returns 1 if @stop ended
 * the sweep, 0, or negative errno.
 */
int pdet_sweep_task(struct pdet_session *s, struct pdet_task *task,
		    const struct pdet_pfnset *set, uint64_t page_size,
		    bool (*stop)(void *arg), void *arg, unsigned *blind,
		    struct pdet_found_list *ret);

#endif
