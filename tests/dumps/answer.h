/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Asking the command about a dump, and comparing what it says with what it said
 * when the dump was whole. */
#ifndef TESTS_DUMPS_ANSWER_H
#define TESTS_DUMPS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
	int status;		/* of exit; negative: a signal that ended it */
	double seconds;
	uint64_t kilobytes;	/* of memory that it had at most */
	char *text;		/* stdout */
	size_t len;
	char said[4096];	/* stderr */
	/* One a line. */
	struct answer_row {
		uint64_t pfn;
		const char *at;
		size_t len;
	} *row;
	size_t n_rows;
	bool broken;		/* a line is no row */
};

/* answer_ask - runs @command; a NULL ends its words. SIGXCPU ends it after
 * @seconds of processor time, and SIGALRM after ten times as long by the
 * clock. */
void answer_ask(struct answer *ret, char *const command[], unsigned seconds);
void answer_free(struct answer *a);

/* answer_is - whether the row has that text in a field. */
bool answer_is(const struct answer_row *row, const char *field,
	       const char *text);

/* answer_tail - whether it is a page of a folio, and not its first. */
bool answer_tail(const struct answer_row *row);

enum answer_same {
	ANSWER_SAME,
	ANSWER_LESS,		/* what is there is the same, and what is not
				 * there is said to be lost */
	ANSWER_OTHER,
	ANSWER_COMPARED
};

enum answer_same answer_compare(const struct answer_row *was,
				const struct answer_row *is);

/* answer_unclear - what is wrong with how it ended and what it said; NULL:
 * nothing. */
const char *answer_unclear(const struct answer *a);

#endif
