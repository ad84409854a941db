/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command compare: the memory of two processes, of the same kernel or not.
 */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "cli.h"

enum { CLI_HERE, CLI_PEER, CLI_SIDES };

/* A page that differs, or may differ. */
struct cli_unlike {
	uint64_t page;		/* index from the first page on */
	struct pagedet_seen seen[CLI_SIDES];
	struct pagedet_difference how;
	bool compared;		/* how is set */
	bool unsure;		/* one side is not known */
	/* Of all pages; with hashes of the same key. */
	uint32_t elsewhere;	/* PAGEDET_YES: another page here has what this
				 * one has at the peer, PAGEDET_NO, or not
				 * known */
	uint32_t unique;	/* PAGEDET_YES: that is the only one */
	uint64_t at;		/* that page */
	const struct pagedet_pattern *pattern; /* that it is in; NULL: not
						* known */
	const struct pagedet_finding *finding; /* NULL: not explained */
};

/* More than there can be. */
#define CLI_PATTERNS 16u

struct cli_comparing {
	struct cli_job *job;
	struct pagedet *pd[CLI_SIDES];
	struct pagedet_item item[CLI_SIDES]; /* the whole range */
	uint64_t page_size, pages;
	uint64_t key[CLI_SIDES];
	bool live[CLI_SIDES];
	bool frozen[CLI_SIDES];	/* a dump: nothing ran while it was read */
	uint64_t equal, different, unknown;
	struct cli_unlike *unlike; /* the first ones, if there are very many */
	struct pagedet_evidence *evidence; /* one for each */
	uint64_t n;
	struct pagedet_finding *findings;
	void *arena;
	struct pagedet_pattern patterns[CLI_PATTERNS];
	unsigned n_patterns;
};

/* compare_rows.c */
/* Whether neither address is in a mapping. */
bool cli_is_nowhere(const struct cli_unlike *u);
/* Writes the result. */
int cli_compare_emit(const struct cli_comparing *c);

#endif
