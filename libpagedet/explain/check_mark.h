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
/* pdet_mark_find - what the line of the same counter says. */
bool pdet_mark_find(struct pdet_scan text, const struct pdet_mark_line *like,
		    uint64_t *ret);
/* pdet_mark_is_memory - it counts errors of memory. */
bool pdet_mark_is_memory(const struct pdet_mark_line *line);
/* pdet_mark_watched - the name of its watch; false: it has none. */
bool pdet_mark_watched(struct pdet_scan text, char name[PDET_WATCH_NAME]);

/* pdet_mark_make - what is counted now, malloc()ed; NULL without memory. Of a
 * @watch that runs, one that could not begin: the reason, or NULL: of none. */
char *pdet_mark_make(const struct pdet_env *env, const char *watch,
		     size_t *len);

/* pdet_mark_rose - whether counters of errors of memory are higher in the lines
 * of @now: PAGEDET_YES, _NO, _DUNNO. */
uint32_t pdet_mark_rose(struct pdet_scan before, struct pdet_scan now);

/*
 * pdet_mark_memory - whether machine checks or EDAC have counted an error of
 * memory since a mark: PAGEDET_YES, _NO, _DUNNO. Returns 0 or a negative errno.
 */
int pdet_mark_memory(struct pdet_env *env, const void *mark, uint64_t size,
		     uint32_t *ret);

#endif
