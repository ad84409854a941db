/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The last statement of a log about each page. */
#ifndef PDET_BACKEND_LOG_SAID_H
#define PDET_BACKEND_LOG_SAID_H

#include "backend/log/log.h"
#include "base/pairs.h"

struct pdet_log_said {
	struct {
		struct pdet_log_page *data;
		size_t n, cap;
	} pages;
	struct pdet_pairs by_pfn; /* which of pages, until these are sorted */
};

/* Whether a page is kept, if it has a pfn. Sets *@memory to false if memory is
 * short. */
typedef bool pdet_log_asked_fn(void *user, const struct pdet_log_page *p,
			       bool *memory);

/* pdet_log_said_take - take the complete pages of @log, and keep those that
 * have a pfn and are asked for. Returns 0 or -ENOMEM. */
int pdet_log_said_take(struct pdet_log_said *s, struct pdet_log *log,
		       pdet_log_asked_fn *is_asked, void *user);
void pdet_log_said_free(struct pdet_log_said *s);

#endif
