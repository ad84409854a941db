/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A copy of the cached pages of a piece of a file. */
#ifndef PDET_CHECK_WINDOW_H
#define PDET_CHECK_WINDOW_H

#include "check/check.h"

#define PDET_WINDOW_PAGES 256

struct pdet_check_window {
	int memfd;
	char *copy;		/* PDET_WINDOW_PAGES pages, if it has any */
	uint64_t there[PDET_WINDOW_PAGES]; /* one bit per copied part of a
				 * page */
	bool empty[PDET_WINDOW_PAGES]; /* cached, but no part is up to date */
};

/*
 * pdet_window_part - the size in bytes of the parts into which a page is
 * divided. No block is smaller than a part, and a page has at most 64 parts.
 */
static inline size_t pdet_window_part(const struct pdet_checked *c)
{
	return PDET_MAX((size_t)512, ((size_t)1 << c->shift) / 64);
}

/*
 * pdet_window_open - create a window. Returns 0, or negative errno with an
 * error text. Returns 1 if the file cannot be checked, as for -EACCES: the
 * reason is then added for the whole.
 */
int pdet_window_open(struct pdet_checked *c, struct pdet_check_window *w);
void pdet_window_close(const struct pdet_checked *c,
		       struct pdet_check_window *w);

/*
 * pdet_window_map - map pages of the file without read-ahead and without marks.
 * Returns NULL on failure, and sets errno.
 */
char *pdet_window_map(const struct pdet_checked *c, uint64_t first, size_t n);

/*
 * pdet_window_load - copy those pages of @first .. @first + n - 1 that are
 * cached and up to date. The copy begins with page @at. Returns 0 or negative
 * errno.
 */
int pdet_window_load(const struct pdet_checked *c, struct pdet_check_window *w,
		     uint64_t first, size_t n, size_t at);

/*
 * pdet_window_count - the number of pages for which it is known whether they
 * are cached.
 */
size_t pdet_window_count(const struct pdet_check_window *w, size_t n,
			 size_t at);

#endif
