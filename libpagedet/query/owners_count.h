/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Records of page_owner's text into groups, one thread's part. */
#ifndef PDET_QUERY_OWNERS_COUNT_H
#define PDET_QUERY_OWNERS_COUNT_H

#include "base/env.h"
#include "kernel/owner_columns.h"
#include "query/filter.h"
#include "query/owners_table.h"

/* What is asked; the same for all threads. */
struct pdet_owner_asked {
	uint32_t by[PAGEDET_OWNER_KEYS];
	unsigned n_by;
	uint64_t window_ns;
	const struct pdet_filter *filter; /* NULL: all */
	unsigned source;
};

/* What is in no group. */
struct pdet_owner_left {
	uint64_t filtered, undecided, damaged, unprinted, text_bytes;
};

/* A stack that was seen: what its text means. */
struct pdet_owner_seen {
	struct pdet_owner_stack is;
	uint64_t module;	/* hash of its name */
	bool has_module;
	int64_t group;		/* by stack alone: the number; -1 none yet */
};

struct pdet_owner_count {
	const struct pdet_owner_asked *asked;
	unsigned skip;		/* PDET_OWNER_SKIP_* */
	struct pdet_owner_table table;
	struct pdet_owner_left left;
	/* By the hash of their text as it stands there. */
	struct pdet_pairs by_text;
	struct {
		struct pdet_owner_seen *data;
		size_t n, cap;
	} seen;
	struct {
		char *data;
		size_t n, cap;
	} frames;		/* of the stack at hand */
	/* With a filter: some records as rows. */
	struct pdet_batch rows;
	uint8_t *truth;
	struct pdet_owner_record *records;
};

/* pdet_owner_count_init - false without memory. */
bool pdet_owner_count_init(struct pdet_owner_count *c,
			   const struct pdet_owner_asked *asked);
void pdet_owner_count_free(struct pdet_owner_count *c);

/* pdet_owner_count_block - whole records; @last: no text follows. False
 * without memory. */
bool pdet_owner_count_block(struct pdet_owner_count *c, const char *text,
			    size_t n, bool last);

/* pdet_owner_module - of the innermost frame that has one; empty if none. */
struct pdet_scan pdet_owner_module(const char *frames, size_t n);

#endif
