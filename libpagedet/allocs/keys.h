/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The group of an allocation: the values of the keys that were asked for. */
#ifndef PDET_ALLOCS_KEYS_H
#define PDET_ALLOCS_KEYS_H

#include "allocs/naming.h"
#include "base/groups.h"
#include "pagedet.h"
#include "trace/kmem.h"
#include "trace/stacks.h"

/* What is known of the place of a call. */
struct pdet_alloc_site {
	uint64_t site, function, module; /* ids of texts; function 0: it has no
					  * name; module 0: the kernel */
};

/* Sites whose groups are kept at hand. A power of two. */
#define PDET_ALLOC_RECENT 256

/* Who allocates. The sums of /proc/allocinfo do not tell it. */
enum { PDET_FAMILY_KMALLOC, PDET_FAMILY_CACHE, PDET_FAMILY_PAGE,
       PDET_FAMILY_UNTOLD };

struct pdet_alloc_keys {
	uint32_t by[PAGEDET_ALLOC_KEYS];
	struct pdet_groups groups;
	struct pdet_naming naming;
	struct pdet_pairs comms; /* ids of the names of threads */
	/* Places of calls, by address. */
	struct pdet_pairs site_at;
	struct {
		struct pdet_alloc_site *data;
		size_t n, cap;
	} sites;
	/* If all keys follow from both: groups that were found. */
	struct {
		uint64_t site;
		uint32_t group;
		uint8_t kind;	/* 0: none */
	} recent[PDET_ALLOC_RECENT];
	/* By group: bits 1 << PDET_FAMILY_* of what is in it. */
	struct {
		uint8_t *data;
		size_t n, cap;
	} families;
	size_t unnamed;		/* of the sites */
	const struct pdet_trace_stacks *stacks; /* NULL: there are none */
	struct pdet_pairs stack_at; /* ids of texts of stacks, by number */
	size_t stack_bytes;	/* of these texts */
	uint64_t untold;	/* bits of keys that some events do not have */
	uint64_t begin_ns;	/* of the trace */
	uint64_t window_ns;
	bool no_ns;		/* times are not ns */
	bool no_cpu;		/* processors are not told */
};

/* pdet_alloc_keys_group - the group's number, or -1 without memory; or take
 * over the name of a thread. @arg is a struct pdet_alloc_keys. */
int64_t pdet_alloc_keys_group(void *arg, const struct pdet_kmem_event *e);

/*
 * pdet_alloc_keys_ended - the group of an allocation of @group that has ended,
 * or -1 without memory. @lifetime may be PDET_LIFETIME_UNKNOWN.
 */
int64_t pdet_alloc_keys_ended(void *arg, uint32_t group, uint64_t lifetime);

/*
 * pdet_alloc_keys_families - the bits of a group. pdet_alloc_keys_add_families
 * adds some: false without memory.
 */
bool pdet_alloc_keys_add_families(struct pdet_alloc_keys *k, size_t group,
				  uint8_t more);
uint8_t pdet_alloc_keys_families(const struct pdet_alloc_keys *k, size_t group);

/* pdet_alloc_keys_family - "kmalloc", "cache", "page", "mixed", or NULL. */
const char *pdet_alloc_keys_family(const struct pdet_alloc_keys *k,
				   size_t group);

/* pdet_alloc_keys_has - whether they are grouped by @key. */
bool pdet_alloc_keys_has(const struct pdet_alloc_keys *k, uint32_t key);

/* pdet_alloc_keys_comm - the name of a thread. False without memory. */
bool pdet_alloc_keys_comm(struct pdet_alloc_keys *k, uint64_t tid,
			  const char *text, size_t n);

/* pdet_alloc_keys_check - -EINVAL with an error text: they cannot be grouped
 * by. */
int pdet_alloc_keys_check(struct pdet_env *env, const uint32_t *by,
			  uint64_t n);

/* pdet_alloc_key_name - the name of a key, or NULL if it does not exist. */
const char *pdet_alloc_key_name(uint32_t key);
bool pdet_alloc_key_is_text(uint32_t key);

/* pdet_alloc_site_cut - what "function+0x10 [module]" consists of. module->at
 * NULL: the kernel. */
void pdet_alloc_site_cut(struct pdet_scan site, struct pdet_scan *function,
			 struct pdet_scan *module);

/* pdet_alloc_keys_stack - the text of a stack, or 0: without memory, or *many
 * is set: there was no room for it. In stack.c. */
uint64_t pdet_alloc_keys_stack(struct pdet_alloc_keys *k, uint32_t number,
			       bool *many);

/* pdet_alloc_keys_site - the place of a call, or NULL without memory. */
const struct pdet_alloc_site *pdet_alloc_keys_site(struct pdet_alloc_keys *k,
						   uint64_t address);

void pdet_alloc_keys_free(struct pdet_alloc_keys *k);

#endif
