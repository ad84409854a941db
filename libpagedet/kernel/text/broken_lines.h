/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Joins the lines of a kernel log that a terminal, a mail client or a tracker
 * has broken: at a width, also within words, or between words.
 */
#ifndef PDET_KERNEL_TEXT_BROKEN_LINES_H
#define PDET_KERNEL_TEXT_BROKEN_LINES_H

#include "base/text/text.h"

/* Ends a line whose end may be missing, in place of its last word or number,
 * which may be incomplete. */
#define PDET_BROKEN_END '\x1a'

/* pdet_is_broken - whether the end of @line may be missing. */
static inline bool pdet_is_broken(struct pdet_scan line)
{
	return line.at < line.end && line.end[-1] == PDET_BROKEN_END;
}

struct pdet_broken_lines;

/* What the user of the lines knows, and takes. */
struct pdet_broken_ops {
	/* The length of what stands before the text of @line: a time, a tag;
	 * 0 if there is nothing but blanks. */
	size_t (*prefix)(void *user, struct pdet_scan line);
	/* The next line, made of @n lines, valid during the call. Returns 0 or
	 * a negative errno, which ends the call that led to it. */
	int (*take)(void *user, struct pdet_scan line, unsigned n);
	void *user;
};

/* pdet_broken_lines_new - NULL if memory is short. Keeps @ops. */
struct pdet_broken_lines *
pdet_broken_lines_new(const struct pdet_broken_ops *ops);
void pdet_broken_lines_free(struct pdet_broken_lines *b);

/* pdet_broken_lines_feed - the next line of the text. It waits for the line
 * after it, and if that may be its rest, for some more. */
int pdet_broken_lines_feed(struct pdet_broken_lines *b, struct pdet_scan line);

/* pdet_broken_lines_end - end of the text: no line waits. */
int pdet_broken_lines_end(struct pdet_broken_lines *b);

#endif
