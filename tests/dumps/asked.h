/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Queries a dump in this process, and decides whether two answers contradict
 * each other.
 */
#ifndef TESTS_DUMPS_ASKED_H
#define TESTS_DUMPS_ASKED_H

#include "harm.h"

struct asked {
	char *text;		/* lines of JSON */
	struct asked_row {
		const char *at;
		size_t len;
		char *key;
	} *row;			/* by key */
	size_t n;
	int error;		/* negative errno of the query */
	bool partial;		/* it reports that it is incomplete */
	double seconds;
};

struct question {
	const char *name;
	unsigned about;		/* ABOUT_* */
	uint32_t target;
	const char *fields, *path;
	const char *keys[4];	/* fields that identify a row */
	uint32_t options;
	bool counts;		/* rows are sums of pages */
};

extern const struct question questions[];
extern const unsigned n_questions;

/* asked_ask - the query ends after @deadline seconds. */
void asked_ask(struct asked *ret, struct pagedet *pd, const struct question *q,
	       const struct objects *o, double deadline);
void asked_free(struct asked *a);

/*
 * asked_contradicts - what is wrong with an answer about undamaged objects;
 * NULL: nothing.
 */
const char *asked_contradicts(const struct question *q,
			      const struct asked *was, const struct asked *is,
			      char *buf, size_t size);

#endif
