/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What DAMON has said of regions of memory, and of which pages it says it. */
#ifndef PDET_HEAT_HEAT_H
#define PDET_HEAT_HEAT_H

#include "heat/damon.h"
#include "heat/event.h"

struct pdet_heat_region {
	uint64_t start, end;	/* bytes */
	uint32_t accesses;
	uint32_t age;
};

/* The regions of one target of a thread. */
struct pdet_heat_monitor {
	uint32_t thread;
	uint32_t pid;		/* whose addresses these are; 0: physical */
	bool is_known;		/* false: nobody says whose they are */
	bool is_complete;	/* it has all regions of an interval */
	uint64_t target;
	uint64_t unit;		/* bytes of the units of its events */
	uint64_t checks;	/* how often it looks in an interval; 0: not
				 * known */
	uint64_t interval_us;
	uint64_t ns;		/* end of the interval */
	struct {
		struct pdet_heat_region *data;
		size_t n, cap;
	} regions;		/* ascending */
};

struct pdet_heat {
	struct pdet_damons damons;
	struct {
		struct pdet_heat_event *data;
		size_t n, cap;
	} events;		/* not sorted into regions yet */
	struct {
		struct pdet_heat_monitor *data;
		size_t n, cap;
	} monitors;
	bool has_age;
	uint64_t real_ns;	/* CLOCK_REALTIME less that of the events,
				 * modulo 2^64 */
	uint64_t lost;		/* events */
	uint64_t lost_before;	/* those before the last digest */
	unsigned state;		/* PAGEDET_HAVE, or why nothing is known */
	char advice[256];
};

/*
 * pdet_heat_begin - who may say something: the threads below the root of @env.
 * state is PAGEDET_NO_KERNEL if nobody. -ENOMEM with an error text. In any case
 * the caller ends it.
 */
int pdet_heat_begin(struct pdet_heat *h, struct pdet_env *env);
void pdet_heat_end(struct pdet_heat *h);

/*
 * pdet_heat_learn - what these threads monitor, by the first of @backends that
 * knows it. state is PAGEDET_UNSUPPORTED if that is known of none. -ENOMEM with
 * an error text.
 */
int pdet_heat_learn(struct pdet_heat *h, struct pdet_env *env,
		    struct pdet_backend *const *backends, size_t n);

/* pdet_heat_recheck - after the last event: whatever is not as it was learned
 * is not known. */
void pdet_heat_recheck(struct pdet_heat *h, struct pdet_env *env,
		       struct pdet_backend *const *backends, size_t n);

/* pdet_heat_add - keep an event. False: no memory. Too many count as lost. */
bool pdet_heat_add(struct pdet_heat *h, const struct pdet_heat_event *e);

/* pdet_heat_digest - sort events into regions, at the end of each look at the
 * buffers. Those of an interval of which more may come are kept, unless @all.
 * False: no memory. */
bool pdet_heat_digest(struct pdet_heat *h, bool all);

/* pdet_heat_is_complete - each thread has said all of an interval. */
bool pdet_heat_is_complete(const struct pdet_heat *h);

/* A page, as far as it is known. */
struct pdet_heat_page {
	unsigned page;		/* PAGEDET_HAVE: address is known, or why not */
	uint64_t address;	/* physical */
	unsigned lru;		/* PAGEDET_HAVE, PAGEDET_NONE: it is not on an
				 * LRU list; or why that is not known */
	bool has_virtual;
	uint64_t virtual;
	uint32_t pid, tgid;	/* of virtual */
};

/*
 * pdet_heat_find - what is known of it: PAGEDET_HAVE with a monitor and a
 * region, PAGEDET_NONE: there is not a page, or the reason why nothing is.
 */
unsigned pdet_heat_find(const struct pdet_heat *h,
			const struct pdet_heat_page *p,
			const struct pdet_heat_monitor **monitor,
			const struct pdet_heat_region **region);

#endif
