/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes what happened to pages, by a trace. */
#ifndef PDET_EMIT_TIMELINE_H
#define PDET_EMIT_TIMELINE_H

#include "allocs/allocs.h"
#include "emit/emit.h"

/* What is written, and where it comes from. */
struct pdet_emit_timeline {
	const struct pdet_allocs *allocs;
	/* Returns 1, or 0 at the end. */
	int (*next)(void *arg, struct pagedet_timeline_event *ret);
	void *arg;
	struct pagedet_timeline_total total;
	const char *why;	/* objects are not placed, or NULL */
	uint64_t max;		/* rows */
};

/* pdet_emit_timeline - returns 0, -EINVAL or -EIO. */
int pdet_emit_timeline(struct pagedet_emitter *e, struct pdet_env *env,
		       const struct pdet_emit_timeline *t);

#endif
