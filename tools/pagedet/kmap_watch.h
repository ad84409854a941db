/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the files of kmap watch --cache share. */
#ifndef CLI_KMAP_WATCH_H
#define CLI_KMAP_WATCH_H

#include "child.h"
#include "kmap.h"

/* No processor has more breakpoints. */
#define CLI_KMAP_AT_ONCE 16
/* Of one run, which then ends. */
#define CLI_KMAP_SLICES (1u << 20)

/* --- kmap_watch_cache.c --- */

/* A slice of an object. */
struct cli_kmap_slice {
	struct pagedet_kmap_drawn object;
	struct pagedet_kmap_watch_total total;
	uint64_t least_ns, most_ns; /* of the word that was watched least, and
				     * most */
	uint64_t rows;		/* words that had a turn: the KMAP has them */
};

/* All slices. */
struct cli_kmap_all {
	struct pagedet_kmap_watch_total t; /* sums, and the most of others */
	uint64_t freed_hits, least_ns, most_ns;
	uint64_t unwatched;	/* words, of all objects */
};

struct cli_kmap_slot {
	struct pagedet_kmap_watch *watch; /* NULL: nothing is watched */
	struct pagedet_kmap_drawn object;
	uint64_t end_ns;
};

struct cli_kmap_caching {
	struct cli_job *job;
	struct pagedet *pd;
	struct pagedet_kmap_cache *cache;
	struct pagedet_kmap_cache_total of; /* at first, and at the end */
	struct pagedet_kmap_watch_options o;
	uint64_t offset, seed;
	struct cli_child child;
	struct cli_output out;	/* of job->output: a KMAP of all slices */
	struct cli_kmap_slot slot[CLI_KMAP_AT_ONCE];
	size_t n_slots;		/* that have had an object */
	size_t n;		/* slices */
	struct {
		struct cli_kmap_slice *data;
		size_t n, room;
	} slices;		/* in the order of the KMAP; for JSON only */
	struct {
		uint64_t *data;
		size_t n, room;
	} addresses;		/* of the objects; some may be the same */
	struct cli_kmap_all all;
	uint64_t busy, none;	/* slices that had no breakpoint, no object */
	uint64_t failed;	/* slices that failed otherwise */
	char why[512];		/* the first of them, or the one of error */
	int why_status;
	bool full;		/* it had the most slices */
	bool watched;		/* there is something to tell */
	int error;		/* negative errno that ended it */
};

/* --- kmap_watch_said.c: what it says --- */
void cli_kmap_tell_cached(struct cli_kmap_caching *c);
/* Says why no object was found. Returns a status. */
int cli_kmap_tell_none(struct cli_kmap_caching *c);
/* Says it for programs. Returns a status. */
int cli_kmap_json_cached(const struct cli_kmap_caching *c);
/* The different ones among the addresses, which are sorted. */
size_t cli_kmap_different(struct cli_kmap_caching *c);

#endif
