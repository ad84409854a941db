/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Asks the kernel about each object and block of pages that a trace has no free
 * of. */
#ifndef PDET_API_KMEM_LIVE_H
#define PDET_API_KMEM_LIVE_H

#include "allocs/allocs.h"
#include "api/arguments.h"

struct pdet_live_row {
	const struct pdet_live *live;
	bool is_page;		/* it is a block of pages */
	unsigned state;		/* PAGEDET_OBJECT_*, or 0: not known */
	bool has_page;		/* its page is known, if it was asked for */
	uint64_t head;		/* of the folio; or the page, if it has none */
	unsigned order;
};

struct pdet_live_question {
	const struct pagedet_verify_options *options;
	bool check_only;	/* nobody is asked, only here_only is tested */
	bool verifies;		/* addresses are enough, without events */
	bool pages;		/* which pages they are in, too */
	bool here_only;		/* -EBADMSG with an error text if the trace is
				 * of another kernel, or hides addresses */
	/* Returns 0 or a negative errno. Objects come by address, then pages.
	 */
	int (*take)(void *arg, const struct pdet_live_row *row);
	void *arg;
};

/* pdet_ask_live - the errors are those of pagedet_query(), or of q->take. */
int pdet_ask_live(struct pagedet *pd, struct pagedet_allocs *allocs,
		  const struct pdet_live_question *q);

#endif
