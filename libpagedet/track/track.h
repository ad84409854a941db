/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tracks which pages of our own process are written. A tracker has a range of
 * addresses. Arming divides it into areas that are tracked and areas that are
 * not, with the reason. Reading examines the tracked areas, and reports the
 * others as unknown.
 */
#ifndef PDET_TRACK_TRACK_H
#define PDET_TRACK_TRACK_H

#include <sys/types.h>

#include "base/env.h"
#include "pagedet.h"

/* A part of the range. */
struct pdet_track_area {
	uint64_t start;
	uint64_t end;
	uint32_t why;		/* PAGEDET_TRACK_*; 0: tracked */
	uint32_t page_size;	/* page size; 0: unknown */
};

struct pdet_track_areas {
	struct pdet_track_area *data;
	size_t n, cap;
};

/* The caller's buffer for results. */
struct pdet_track_out {
	struct pagedet_track_range *ranges;
	uint32_t n, max;
};

struct pdet_track;

struct pdet_track_how {
	uint32_t method;
	bool rearms;
	uint32_t sees, blind;	/* 1 << PAGEDET_WRITER_* */
	/*
	 * Open the descriptors, and check that this kernel supports the method.
	 */
	int (*open)(struct pdet_track *t, struct pdet_env *env);
	/*
	 * Arm all areas that do not have a reason. An area that cannot be armed
	 * gets one.
	 */
	int (*arm)(struct pdet_track *t, struct pdet_env *env);
	/*
	 * Read [*at, end), which is a part of one mapping, as far as there is
	 * room.
	 */
	int (*read)(struct pdet_track *t, struct pdet_env *env, uint64_t *at,
		    uint64_t end, bool rearm, struct pdet_track_out *out);
};

extern const struct pdet_track_how pdet_track_uffd, pdet_track_soft;

struct pdet_track {
	const struct pdet_track_how *how;
	uint64_t start, end;
	uint64_t page_size;
	pid_t pid;		/* process whose memory it is */
	bool count_huge;
	bool no_query;		/* read maps as text */
	int uffd, pagemap, maps, clear_refs;
	volatile char *probe;	/* a page of the tracker itself */
	struct pdet_track_areas areas; /* cover the whole range once armed */
	uint64_t arms, first_ns, last_ns;
	uint64_t huge_before, huge_after;
	uint32_t huge_state;
};

/*
 * pdet_track_new - make a tracker of [addr, addr + len) with one of the
 * @methods. Errors are those of pagedet_track_new().
 */
int pdet_track_new(struct pdet_env *env, uint64_t addr, uint64_t len,
		   uint32_t methods, bool count_huge, struct pdet_track **ret);
int pdet_track_arm(struct pdet_track *t, struct pdet_env *env);
int pdet_track_read(struct pdet_track *t, struct pdet_env *env, uint64_t *at,
		    bool rearm, struct pdet_track_out *out);
void pdet_track_info(const struct pdet_track *t,
		     struct pagedet_track_info *ret);
void pdet_track_free(struct pdet_track *t);

/* pdet_track_why - text for PAGEDET_TRACK_*, or NULL. */
const char *pdet_track_why(uint32_t why);

/* pdet_track_put - add one result. If it continues the last one, the two are
 * merged. Returns false if there is no room. */
bool pdet_track_put(struct pdet_track_out *out, uint64_t start, uint64_t end,
		    uint32_t state, uint32_t why);

/* --- areas.c --- */

/*
 * pdet_track_mapped - find at most @max mappings in [start, end), clipped to
 * it. Returns how far it looked, or 0 after a failure.
 */
uint64_t pdet_track_mapped(struct pdet_track *t, struct pdet_env *env,
			   uint64_t start, uint64_t end, size_t max,
			   struct pdet_track_areas *ret);

/* pdet_track_divide - create areas for the whole range. Unmapped areas get a
 * reason. If @kinds, areas that soft-dirty bits do not cover get one, too. */
int pdet_track_divide(struct pdet_track *t, struct pdet_env *env, bool kinds);

#endif
