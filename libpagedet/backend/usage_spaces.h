/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the processes whose address space is that of another one. */
#ifndef PDET_BACKEND_USAGE_SPACES_H
#define PDET_BACKEND_USAGE_SPACES_H

#include "backend/backend.h"

/*
 * pdet_usage_spaces - set same_as and same_as_state of all rows, which are
 * ascending by pid. Returns 0, or that it lacks memory or descriptors.
 */
int pdet_usage_spaces(struct pdet_backend *b, struct pdet_env *env,
		      struct pdet_usage *rows, size_t n);

#endif
