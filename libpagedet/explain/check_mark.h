/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The text of a mark, which may come from anywhere. */
#ifndef PDET_EXPLAIN_CHECK_MARK_H
#define PDET_EXPLAIN_CHECK_MARK_H

#include "base/text.h"
#include "explain/check.h"

struct pdet_mark_line {
	struct pdet_scan kind, name, counter;
	uint64_t value;
};

/* pdet_mark_check - it is one, and whole; @ret are its lines. */
bool pdet_mark_check(const void *mark, size_t size, struct pdet_scan *ret);
/* pdet_mark_next - the next line that says something. */
bool pdet_mark_next(struct pdet_scan *text, struct pdet_mark_line *ret);

#endif
