/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Runs the command on a dump, and compares its answer with that about the whole
 * dump.
 */
#ifndef TESTS_DUMPS_ANSWER_H
#define TESTS_DUMPS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
	int status;		/* exit status; negative: the signal */
	double seconds;
	uint64_t kilobytes;	/* its largest memory use */
	char *text;		/* stdout */
	size_t len;
	char said[4096];	/* stderr */
	/* One row per line. */
	struct answer_row {
		uint64_t pfn;
		const char *at;
		size_t len;
	} *row;
	size_t n_rows;
	bool broken;		/* a line is not a row */
};

/*
 * answer_ask - run @command, whose words end with NULL. SIGXCPU ends it after
 * @seconds of processor time, and SIGALRM after ten times as long by the clock.
 */
void answer_ask(struct answer *ret, char *const command[], unsigned seconds);
void answer_free(struct answer *a);

/* answer_is - whether a field of the row has that text. */
bool answer_is(const struct answer_row *row, const char *field,
	       const char *text);

/* answer_tail - whether it is a tail page of a folio. */
bool answer_tail(const struct answer_row *row);

enum answer_same {
	ANSWER_SAME,
	ANSWER_LESS,		/* present answers are equal, and the others are
				 * reported as lost */
	ANSWER_OTHER,
	ANSWER_COMPARED
};

enum answer_same answer_compare(const struct answer_row *was,
				const struct answer_row *is);

/*
 * answer_unclear - what is wrong with its exit status and messages; NULL:
 * nothing.
 */
const char *answer_unclear(const struct answer *a);

#endif
