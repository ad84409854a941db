/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A copy of what is cached of a piece of a file. */
#ifndef PDET_EXPLAIN_CHECK_WINDOW_H
#define PDET_EXPLAIN_CHECK_WINDOW_H

#include "explain/check.h"

#define PDET_WINDOW_PAGES 256

struct pdet_check_window {
	int memfd;
	char *copy;		/* of PDET_WINDOW_PAGES, where there is one */
	uint8_t there[PDET_WINDOW_PAGES]; /* is copied */
};

/* pdet_window_open - 0, or negative errno with words; -EACCES was added as why
 * the whole is unknown, and so were other reasons; then 1. */
int pdet_window_open(struct pdet_checked *c, struct pdet_check_window *w);
void pdet_window_close(const struct pdet_checked *c,
		       struct pdet_check_window *w);

/* pdet_window_map - pages of the file, without read-ahead and without marks;
 * NULL: errno says why. */
char *pdet_window_map(const struct pdet_checked *c, uint64_t first, size_t n);

/* pdet_window_load - copies pages @first .. @first + n - 1 to copy + page @at
 * on, as far as they are cached and up to date. 0 or negative errno. */
int pdet_window_load(const struct pdet_checked *c, struct pdet_check_window *w,
		     uint64_t first, size_t n, size_t at);

/* pdet_window_count - how many of them are there. */
size_t pdet_window_count(const struct pdet_check_window *w, size_t n,
			 size_t at);

#endif
