/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The text of a mark, which may come from anywhere. */
#ifndef PDET_EXPLAIN_CHECK_MARK_H
#define PDET_EXPLAIN_CHECK_MARK_H

#include "base/text.h"
#include "explain/check.h"
#include "explain/check_watch.h"

#define PDET_MAX_MARK ((size_t)1 << 20)
#define PDET_BAD_MARK "cannot read the mark: it is none, or damaged"

struct pdet_mark_line {
	struct pdet_scan kind, name, counter;
	uint64_t value;
};

/* pdet_mark_check - it is one, and whole; @ret are its lines. */
bool pdet_mark_check(const void *mark, size_t size, struct pdet_scan *ret);
/* pdet_mark_next - the next line that says something. */
bool pdet_mark_next(struct pdet_scan *text, struct pdet_mark_line *ret);
/* pdet_mark_watched - the name of its watch; false: it has none. */
bool pdet_mark_watched(struct pdet_scan text, char name[PDET_WATCH_NAME]);

/* pdet_mark_make - what is counted now, malloc()ed; NULL without memory. Of a
 * @watch that runs, one that could not begin: the reason, or NULL: of none. */
char *pdet_mark_make(const char *watch, size_t *len);

#endif
