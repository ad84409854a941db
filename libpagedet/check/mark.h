/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses the text of a mark, which is not trusted. */
#ifndef PDET_CHECK_MARK_H
#define PDET_CHECK_MARK_H

#include "base/text/text.h"
#include "check/check.h"
#include "check/watch.h"

#define PDET_MAX_MARK ((size_t)1 << 20)
#define PDET_BAD_MARK "cannot read the mark: it is not a mark, or is damaged"

struct pdet_mark_line {
	struct pdet_scan kind, name, counter;
	uint64_t value;
};

/* pdet_mark_check - check that the mark is complete. *@ret gets its lines. */
bool pdet_mark_check(const void *mark, size_t size, struct pdet_scan *ret);
/* pdet_mark_next - get the next line with data. */
bool pdet_mark_next(struct pdet_scan *text, struct pdet_mark_line *ret);
/* pdet_mark_find - get the line of the same counter. */
bool pdet_mark_find(struct pdet_scan text, const struct pdet_mark_line *like,
		    uint64_t *ret);
/* pdet_mark_is_memory - whether the counter is about memory. */
bool pdet_mark_is_memory(const struct pdet_mark_line *line);
/*
 * pdet_mark_watched - get the name of its watch. Returns false if it has none.
 */
bool pdet_mark_watched(struct pdet_scan text, char name[PDET_WATCH_NAME]);

/*
 * pdet_mark_make - make a mark with malloc(). Returns NULL without memory.
 * @watch is the name of the running watch, or the reason why it could not
 * begin. If @watch is NULL, there is no watch.
 */
char *pdet_mark_make(const struct pdet_env *env, const char *watch,
		     size_t *len);

/*
 * pdet_mark_rose - whether counters of memory errors are higher in the lines of
 * @now: PAGEDET_YES, _NO or _DUNNO.
 */
uint32_t pdet_mark_rose(struct pdet_scan before, struct pdet_scan now);

/*
 * pdet_mark_memory - whether machine checks or EDAC have counted a memory error
 * since a mark: PAGEDET_YES, _NO, _DUNNO. Returns 0 or negative errno.
 */
int pdet_mark_memory(struct pdet_env *env, const void *mark, uint64_t size,
		     uint32_t *ret);

#endif
