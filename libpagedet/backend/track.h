/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Which pages of our own process were written since a moment. A tracker has a
 * range of addresses; arming it divides the range into areas that are tracked
 * and those that are not, and why; reading looks at the first and says of the
 * others that nothing is known.
 */
#ifndef PDET_BACKEND_TRACK_H
#define PDET_BACKEND_TRACK_H

#include <sys/types.h>

#include "base/env.h"
#include "pagedet.h"

/* A part of the range. */
struct pdet_track_area {
	uint64_t start;
	uint64_t end;
	uint32_t why;		/* PAGEDET_TRACK_*; 0: it is tracked */
	uint32_t page_size;	/* of its pages; 0 unknown */
};

struct pdet_track_areas {
	struct pdet_track_area *data;
	size_t n, cap;
};

/* Where answers go. */
struct pdet_track_out {
	struct pagedet_track_range *ranges;
	uint32_t n, max;
};

struct pdet_track;

struct pdet_track_how {
	uint32_t method;
	bool rearms;
	uint32_t sees, blind;	/* 1 << PAGEDET_WRITER_* */
	/* Open what it takes, and see that this kernel has it. */
	int (*open)(struct pdet_track *t, struct pdet_env *env);
	/* Arm all areas that have no why; those that cannot be get one. */
	int (*arm)(struct pdet_track *t, struct pdet_env *env);
	/* Look at [*at, end), one mapping, as far as there is room. */
	int (*read)(struct pdet_track *t, struct pdet_env *env, uint64_t *at,
		    uint64_t end, bool rearm, struct pdet_track_out *out);
};

extern const struct pdet_track_how pdet_track_uffd, pdet_track_soft;

struct pdet_track {
	const struct pdet_track_how *how;
	uint64_t start, end;
	uint64_t page_size;
	pid_t pid;		/* whose memory it is */
	bool count_huge;
	bool no_query;		/* maps must be read as text */
	int uffd, pagemap, maps, clear_refs;
	volatile char *probe;	/* a page of our own */
	struct pdet_track_areas areas; /* all of the range, once armed */
	uint64_t arms, first_ns, last_ns;
	uint64_t huge_before, huge_after;
	uint32_t huge_state;
};

/*
 * pdet_track_new - a tracker of [addr, addr + len), by one of the @methods.
 * Errors as pagedet_track_new().
 */
int pdet_track_new(struct pdet_env *env, uint64_t addr, uint64_t len,
		   uint32_t methods, bool count_huge, struct pdet_track **ret);
int pdet_track_arm(struct pdet_track *t, struct pdet_env *env);
int pdet_track_read(struct pdet_track *t, struct pdet_env *env, uint64_t *at,
		    bool rearm, struct pdet_track_out *out);
void pdet_track_info(const struct pdet_track *t,
		     struct pagedet_track_info *ret);
void pdet_track_free(struct pdet_track *t);

/* pdet_track_why - words for PAGEDET_TRACK_*, or NULL. */
const char *pdet_track_why(uint32_t why);

/* pdet_track_put - one more answer; one with the last if it goes on from there.
 * False: there is no room. */
bool pdet_track_put(struct pdet_track_out *out, uint64_t start, uint64_t end,
		    uint32_t state, uint32_t why);

/* --- track_areas.c --- */

/*
 * pdet_track_mapped - what is mapped in [start, end), clipped to it, but not
 * more than @max mappings. Returns how far it looked, 0 after a failure.
 */
uint64_t pdet_track_mapped(struct pdet_track *t, struct pdet_env *env,
			   uint64_t start, uint64_t end, size_t max,
			   struct pdet_track_areas *ret);

/* pdet_track_divide - areas for all of the range, from what is mapped; what is
 * not has its why. @kinds: and what soft-dirty bits do not reach. */
int pdet_track_divide(struct pdet_track *t, struct pdet_env *env, bool kinds);

#endif
