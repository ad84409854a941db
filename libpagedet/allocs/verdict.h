/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What a finding means in the kernel that was traced. */
#ifndef PDET_ALLOCS_VERDICT_H
#define PDET_ALLOCS_VERDICT_H

#include "allocs/allocs.h"

/* pdet_found_name - as pagedet_found_name(). */
const char *pdet_found_name(uint32_t found);

/* pdet_found_verdict - "wrong", "allowed" or "unknown". */
const char *pdet_found_verdict(uint32_t verdict);

/* pdet_found_why - a clause for people about a finding; never NULL. */
const char *pdet_found_why(const struct pagedet_alloc_finding *f);

/* pdet_allocs_finding - get the @i-th finding. False at the end. */
bool pdet_allocs_finding(struct pdet_allocs *a, size_t i,
			 struct pagedet_alloc_finding *ret);

#endif
