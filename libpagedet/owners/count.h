/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Turns records of page_owner's text into groups, for one thread. */
#ifndef PDET_OWNERS_COUNT_H
#define PDET_OWNERS_COUNT_H

#include "base/env.h"
#include "kernel/owner/columns.h"
#include "kernel/owner/handles.h"
#include "owners/table.h"
#include "query/filter.h"

/* The block is one more key. */
#define PDET_OWNER_KEYS (PAGEDET_OWNER_KEYS + 1)

/* The query, shared by all threads. */
struct pdet_owner_asked {
	uint32_t by[PDET_OWNER_KEYS];
	unsigned n_by;
	bool mixed;		/* only records that make a block mixed; the
				 * last key is the block */
	uint64_t window_ns;
	const struct pdet_filter *filter; /* NULL: all records */
	const struct pdet_owner_handles *handles; /* NULL: stacks that have only
						   * a number stay unknown */
	unsigned source;
};

/* Whether records are grouped by @key. */
static inline bool pdet_owner_asks(const struct pdet_owner_asked *asked,
				   uint32_t key)
{
	unsigned i;

	for (i = 0; i < asked->n_by; i++)
		if (asked->by[i] == key)
			return true;
	return false;
}

/* The records in no group. */
struct pdet_owner_left {
	uint64_t filtered, undecided, damaged, unprinted, text_bytes;
	uint64_t numbers;	/* records in groups whose stack is not known,
				 * only its number */
	bool has_log;		/* lines of a kernel log are in between */
};

/* A known stack, and what its text means. */
struct pdet_owner_seen {
	struct pdet_owner_stack is;
	uint64_t module;	/* hash of the module's name */
	bool has_module;
	int64_t group;		/* index if grouped by stack only; -1 if there
				 * is none yet */
};

struct pdet_owner_count {
	const struct pdet_owner_asked *asked;
	unsigned skip;		/* PDET_OWNER_SKIP_* */
	struct pdet_owner_table table;
	struct pdet_owner_left left;
	/* Stacks by the hash of their text. */
	struct pdet_pairs by_text;
	struct {
		struct pdet_owner_seen *data;
		size_t n, cap;
	} seen;
	struct {
		char *data;
		size_t n, cap;
	} frames;		/* of the current stack */
	/* With a filter: some records as rows. */
	struct pdet_batch rows;
	uint8_t *truth;
	struct pdet_owner_record *records;
};

/* pdet_owner_count_init - returns false without memory. */
bool pdet_owner_count_init(struct pdet_owner_count *c,
			   const struct pdet_owner_asked *asked);
void pdet_owner_count_free(struct pdet_owner_count *c);

/*
 * pdet_owner_count_block - count whole records. If @last, no text follows.
 * Returns false without memory.
 */
bool pdet_owner_count_block(struct pdet_owner_count *c, const char *text,
			    size_t n, bool last);

/*
 * pdet_owner_module - the module of the innermost frame that has one; empty if
 * none has.
 */
struct pdet_scan pdet_owner_module(const char *frames, size_t n);

#endif
