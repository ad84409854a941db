/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the allocation that each free ends, and adds both up in groups. What
 * was allocated before the trace began, or freed by a path without an event,
 * has no partner and is counted as such, never invented.
 */
#ifndef PDET_ALLOCS_PAIRING_H
#define PDET_ALLOCS_PAIRING_H

#include "allocs/findings.h"
#include "allocs/holes.h"
#include "allocs/live.h"
#include "record/sums.h"

/* Sums of one group: of objects of slabs, or of blocks of pages. */
struct pdet_alloc_sum {
	uint64_t times;		/* allocations that succeeded */
	uint64_t requested, allocated; /* bytes of these */
	uint64_t unsized;	/* of these: pages, whose bytes are not known
				 * and not in the sums */
	uint64_t freed;		/* of these, by an event */
	uint64_t replaced;	/* of these: the address was allocated again, so
				 * the free had no event */
	uint64_t live, live_bytes; /* the others */
	uint64_t failed;	/* allocations that gave nothing */
	uint64_t cross_cpu;	/* frees on another processor */
	uint64_t mismatched;	/* frees by the other family: kfree of an object
				 * of a cache, or the reverse */
	uint64_t less;		/* got fewer bytes than requested */
	uint64_t lifetime_ns;	/* of those that were freed, together */
	uint64_t lifetime_unknown; /* of the freed: events were lost meanwhile,
				 * so that the free may be that of a later
				 * allocation; or its time is an earlier one.
				 * They are not in lifetime_ns */
	uint64_t untracked;	/* of the times: it is not known what became of
				 * them */
	/* Of live, as pdet_allocs_verified() has it. */
	uint64_t verified_live, verified_live_bytes, verified_free, unverified;
};

/* What the sums of a group are of. */
enum pdet_alloc_part { PDET_OF_OBJECTS, PDET_OF_PAGES, PDET_ALLOC_PARTS };

struct pdet_alloc_parts {
	struct pdet_alloc_sum of[PDET_ALLOC_PARTS];
};

/* By group. */
struct pdet_alloc_sums {
	struct pdet_alloc_parts *data;
	size_t n, cap;
};

/* What belongs to no group. */
struct pdet_alloc_rest {
	uint64_t event[PDET_KMEM_KINDS]; /* events by kind */
	uint64_t freed_unknown[2]; /* frees of objects, and of pages, that were
				 * not allocated in the trace */
	uint64_t freed_nothing;	/* frees of NULL, and of what kmalloc(0) gave */
	uint64_t early;		/* frees before their allocation: their clocks
				 * differ, or the order is lost */
	uint64_t untracked;	/* allocations */
};

/* A lifetime that is not known. */
#define PDET_LIFETIME_UNKNOWN UINT64_MAX

/* Pairs whose lifetime may still turn out to be unknown. */
#define PDET_PAIRING_RECENT 8192u

/* An allocation that has ended. */
struct pdet_paired {
	struct pdet_live l;	/* in the group that it has after its end */
	uint64_t freed_ns;
	bool cross_cpu, mismatched;
};

struct pdet_pairing {
	/* The group of an allocation: its number; or -1 without memory. Groups
	 * are numbered from 0. It is called for PDET_KMEM_NAME and _SITE, too,
	 * whose number is not used. */
	int64_t (*group)(void *arg, const struct pdet_kmem_event *e);
	/* [nullable] The group that an allocation moves to when it ends; or -1
	 * without memory. */
	int64_t (*ended)(void *arg, uint32_t group, uint64_t lifetime);
	void *arg;
	uint64_t page_size;	/* 0: not known */
	struct pdet_alloc_sums sums;
	struct pdet_alloc_rest rest;
	struct pdet_alloc_findings findings;
	struct pdet_live_table objects, pages;
	struct pdet_holes holes;
	/* The events of all processors come in one stream: a loss is told when
	 * those of others behind its begin were added. */
	bool is_one_stream;
	struct pdet_paired *recent; /* a ring, if it is one stream */
	uint64_t n_paired;
	uint64_t forgotten_ns;	/* the latest free that is not in the ring */
};

/* pdet_pairing_add - add events, in the order of their times. -ENOMEM. */
int pdet_pairing_add(struct pdet_pairing *p,
		     const struct pdet_kmem_event *const *e, size_t n);

/*
 * pdet_pairing_lost - take what a loss says, before the events behind its begin
 * are added, or later. False without memory.
 */
bool pdet_pairing_lost(struct pdet_pairing *p, const struct pdet_kmem_event *e);

/*
 * pdet_pairing_sum - add allocations that the kernel has added up; @frees: and
 * paired. -ENOMEM.
 */
int pdet_pairing_sum(struct pdet_pairing *p, const struct pdet_kmem_sum *sum,
		     bool frees);

/* pdet_pairing_object - an object that is live in such a sum. -ENOMEM. */
int pdet_pairing_object(struct pdet_pairing *p,
			const struct pdet_kmem_event *e);

void pdet_pairing_free(struct pdet_pairing *p);

#endif
