/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads a trace of allocations, and adds it up in groups. */
#ifndef PDET_ALLOCS_ALLOCS_H
#define PDET_ALLOCS_ALLOCS_H

#include "allocs/live.h"
#include "base/env.h"
#include "base/text/ranking.h"
#include "kernel/owner/names.h"
#include "pagedet.h"
#include "record/sums.h"

struct pdet_alloc_findings;
struct pdet_allocs;
struct pdet_alloc_keys;
struct pdet_kmem_event;
struct pdet_namer;
struct pdet_trace_survey;

/* Who gets the events of a trace; then none of them is in a group. */
struct pdet_alloc_sink {
	/* Events in the order of their times. Returns 0, or -ENOMEM. */
	int (*add)(void *arg, struct pdet_alloc_keys *keys,
		   const struct pdet_kmem_event *const *e, size_t n);
	void *arg;
};

/*
 * pdet_allocs_new - the errors are those of pagedet_allocs(). @namer is asked
 * for names during the call, unless it is NULL. @sink NULL: events are paired.
 */
int pdet_allocs_new(struct pdet_env *env, const struct pagedet_allocs_query *q,
		    const struct pdet_namer *namer,
		    const struct pdet_alloc_sink *sink,
		    struct pdet_allocs **ret);
void pdet_allocs_free(struct pdet_allocs *a);

/*
 * pdet_allocs_from_sums - the groups of what the kernel has added up by the
 * keys @by; it takes over the names of @sums. The errors are those of
 * pagedet_recorder_allocs().
 */
int pdet_allocs_from_sums(struct pdet_env *env, const uint32_t *by, uint64_t n,
			  struct pdet_kmem_sums *sums,
			  struct pdet_allocs **ret);

/*
 * pdet_allocs_take_object - take over a live object of such groups, which then
 * can be verified; its stack is one of @stacks. Returns 0, or -ENOMEM.
 */
int pdet_allocs_take_object(struct pdet_allocs *a,
			    struct pdet_trace_stacks *stacks,
			    const struct pdet_kmem_event *e);

/* pdet_allocs_need_objects - -EINVAL with an error text: they have none. */
int pdet_allocs_need_objects(const struct pdet_allocs *a, struct pdet_env *env);

/* pdet_allocs_need_events - -EINVAL with an error text: there are sums only. */
int pdet_allocs_need_events(const struct pdet_allocs *a, struct pdet_env *env);

/* --- of a query with events --- */

/* pdet_allocs_streams - whether its events are read by the calls below. */
bool pdet_allocs_streams(const struct pdet_allocs *a);

/* pdet_allocs_path - the trace, if another reading finds the same; or NULL. */
const char *pdet_allocs_path(const struct pdet_allocs *a);

/* pdet_allocs_surveyed - note what another reading has found. */
void pdet_allocs_surveyed(struct pdet_allocs *a,
			  const struct pdet_trace_survey *s);

/*
 * pdet_allocs_begin - begin to read. @stopped is asked from time to time, and
 * true ends the reading. -EINVAL: they were read already; -ENOMEM.
 */
int pdet_allocs_begin(struct pdet_allocs *a, struct pdet_env *env,
		      bool (*stopped)(void *arg), void *arg);

/*
 * pdet_allocs_more - the next events in the order of their times: sets *ret,
 * and returns how many; 0 at the end, or if it was stopped; or a negative
 * errno. They stay until the next call.
 */
int pdet_allocs_more(struct pdet_allocs *a, struct pdet_env *env,
		     const struct pdet_kmem_event *const **ret);

/*
 * pdet_allocs_end - count what is lost, and close the trace. @stopped: the
 * errno for which it was stopped, or 0.
 */
void pdet_allocs_end(struct pdet_allocs *a, struct pdet_env *env, int stopped);

/* pdet_allocs_of_events - what names sites and threads. */
struct pdet_alloc_keys *pdet_allocs_of_events(struct pdet_allocs *a);

/* --- */

/* pdet_allocs_compare - returns 0, or -EINVAL, -ENOMEM with an error text. */
int pdet_allocs_compare(struct pdet_allocs *a, struct pdet_env *env,
			const struct pdet_allocs *before);

/* pdet_allocs_order - returns 0, or -EINVAL, -ENOMEM with an error text. */
int pdet_allocs_order(struct pdet_allocs *a, struct pdet_env *env,
		      const char *keys);

/* pdet_allocs_ranking - what names sums and keys of groups. */
struct pdet_ranking pdet_allocs_ranking(const struct pdet_allocs *a);

/*
 * pdet_allocs_knows - whether the sum of a group is known, and not only a
 * part of it.
 */
bool pdet_allocs_knows(const struct pdet_allocs *a, uint32_t group,
		       const struct pdet_ranked *which);

/* Groups that a filter leaves out. */
struct pdet_alloc_left_out {
	bool *group;		/* by number; NULL: there is no filter */
	uint64_t filtered, undecided;
};

/*
 * pdet_allocs_leave_out - take over @out, and restart the list. -ENOMEM with an
 * error text.
 */
int pdet_allocs_leave_out(struct pdet_allocs *a, struct pdet_env *env,
			  const struct pdet_alloc_left_out *out);

/* What the kernel says of the live of a group. */
struct pdet_alloc_verdict {
	uint64_t live, live_bytes; /* in use */
	uint64_t free;
};

/* pdet_allocs_groups - the number of groups, of which some may be empty. */
size_t pdet_allocs_groups(const struct pdet_allocs *a);

/*
 * pdet_allocs_verified - take the verdicts of all groups, by their numbers: of
 * each those of its objects, and those of its pages; and restart the list.
 * Returns 0, or -ENOMEM with an error text.
 */
int pdet_allocs_verified(struct pdet_allocs *a, struct pdet_env *env,
			 const struct pdet_alloc_verdict *verdicts);

/* pdet_allocs_is_verified - whether there are verdicts. */
bool pdet_allocs_is_verified(const struct pdet_allocs *a);

/* pdet_allocs_next - get the next group. Returns 1, or 0 at the end. */
int pdet_allocs_next(struct pdet_allocs *a, struct pagedet_alloc_group *ret);
const char *pdet_allocs_text(const struct pdet_allocs *a, uint64_t id,
			     size_t *len);
/*
 * pdet_allocs_family - of the group that pdet_allocs_next() got last:
 * "kmalloc", "cache", "page", "mixed" if it has several, or NULL: not told.
 */
const char *pdet_allocs_family(const struct pdet_allocs *a);
/*
 * pdet_allocs_events - how many there are, by PDET_KMEM_*; of the kernel's sums
 * those of allocations only.
 */
const uint64_t *pdet_allocs_events(const struct pdet_allocs *a);
/*
 * pdet_allocs_gfp - name flags; @text has no NUL at its end. False: the trace
 * does not tell their names.
 */
bool pdet_allocs_gfp(const struct pdet_allocs *a, uint64_t gfp,
		     char text[PDET_GFP_TEXT], size_t *len);
void pdet_allocs_total(const struct pdet_allocs *a,
		       struct pagedet_allocs_total *ret);

/* pdet_allocs_compared - whether groups have sums of another trace too. */
bool pdet_allocs_compared(const struct pdet_allocs *a);

/* pdet_allocs_keys - the keys of the groups. */
const uint32_t *pdet_allocs_keys(const struct pdet_allocs *a, unsigned *n);

/* pdet_allocs_values - the values of the keys of a group, by its number. */
void pdet_allocs_values(const struct pdet_allocs *a, uint32_t group,
			uint64_t value[PAGEDET_ALLOC_KEYS],
			uint32_t state[PAGEDET_ALLOC_KEYS]);

/*
 * pdet_allocs_live - the objects that no event frees, by address; or with
 * @pages the pages, by page frame number.
 */
const struct pdet_live *pdet_allocs_live(struct pdet_allocs *a, bool pages,
					 size_t *n);

/*
 * pdet_allocs_key - what the group of a live object says of a key: its value,
 * or for a text its id. Returns the state.
 */
unsigned pdet_allocs_key(const struct pdet_allocs *a,
			 const struct pdet_live *live, uint32_t key,
			 uint64_t *ret);

/* Whether times are ns; the last of them; whether processors are told; whether
 * addresses are hashed. */
bool pdet_allocs_counts_ns(const struct pdet_allocs *a);
bool pdet_allocs_tells_cpu(const struct pdet_allocs *a);
uint64_t pdet_allocs_end_ns(const struct pdet_allocs *a);
bool pdet_allocs_hides(const struct pdet_allocs *a);

/* The first time; and the bytes of a page, 0 if they are not known. */
uint64_t pdet_allocs_begin_ns(const struct pdet_allocs *a);
uint64_t pdet_allocs_page_size(const struct pdet_allocs *a);

/* pdet_allocs_is_whole - whether no event of the trace is missing or lost. */
bool pdet_allocs_is_whole(const struct pdet_allocs *a);

/* pdet_allocs_names_caches - whether allocations have the name of the cache. */
bool pdet_allocs_names_caches(const struct pdet_allocs *a);

/* pdet_allocs_release - of the traced kernel; "" if it is not told. */
const char *pdet_allocs_release(const struct pdet_allocs *a);

/* pdet_allocs_findings - what is wrong. */
struct pdet_alloc_findings *pdet_allocs_findings(struct pdet_allocs *a);

/* pdet_allocs_boot - the boot_id of the traced kernel; "" if it is not told. */
const char *pdet_allocs_boot(const struct pdet_allocs *a);

/*
 * pdet_allocs_symbol - where the traced kernel had a function, if the trace
 * tells it.
 */
bool pdet_allocs_symbol(const struct pdet_allocs *a, const char *name,
			uint64_t *ret);

#endif
