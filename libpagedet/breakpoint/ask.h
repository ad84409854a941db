/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What is at addresses of the running kernel at this moment. */
#ifndef PDET_BREAKPOINT_ASK_H
#define PDET_BREAKPOINT_ASK_H

#include "backend/backend.h"

/* The open sources of a running kernel. */
struct pdet_bp_sources {
	struct pdet_backend *const *data;
	size_t n;
};

/*
 * pdet_bp_ask - tell what is at @n addresses, as the first source says that
 * can. Returns 0, or a negative errno with an error text; -ENOTSUP: there is no
 * such source.
 */
int pdet_bp_ask(const struct pdet_bp_sources *sources, struct pdet_env *env,
		const uint64_t *addresses, size_t n, struct pdet_at *ret);

/* pdet_bp_direct - where the kernel maps all memory. Returns the same. */
int pdet_bp_direct(const struct pdet_bp_sources *sources, struct pdet_env *env,
		   uint64_t *ret);

#endif
