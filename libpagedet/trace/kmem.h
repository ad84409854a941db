/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The kernel's events of memory allocation (include/trace/events/kmem.h) in one
 * form, whatever kernel and input they come from.
 */
#ifndef PDET_TRACE_KMEM_H
#define PDET_TRACE_KMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

enum pdet_kmem_kind {
	PDET_KMEM_OTHER = 0,	/* not of memory allocation */
	PDET_KMEM_KMALLOC,
	PDET_KMEM_CACHE_ALLOC,
	PDET_KMEM_KFREE,
	PDET_KMEM_CACHE_FREE,
	PDET_KMEM_PAGE_ALLOC,
	PDET_KMEM_PAGE_FREE,
	PDET_KMEM_PAGE_BATCHED,	/* a second event of the same free */
	PDET_KMEM_NAME,		/* a thread gets a name: that in cache; or, if
				 * there is none, that of the thread object.
				 * This and the next ones are not events */
	PDET_KMEM_SITE,		/* the text in cache is the site object of those
				 * that follow */
	PDET_KMEM_LOST,		/* so many events of the processor as object
				 * says were lost, or UINT64_MAX if that is not
				 * known, between the time that requested says
				 * (0: not known when) and this one (NO_NS: not
				 * known when). node is NO_NUMBER if the
				 * processor is not known */
	PDET_KMEM_SUM,		/* so many objects as object says, with so many
				 * bytes as allocated says, are live now */
	PDET_KMEM_KINDS
};

/* What an event does not tell. */
#define PDET_KMEM_NO_NUMBER INT32_MIN
#define PDET_KMEM_NO_GFP UINT64_MAX
#define PDET_KMEM_NO_NS UINT64_MAX

static inline bool pdet_kmem_is_page(unsigned kind)
{
	return kind >= PDET_KMEM_PAGE_ALLOC && kind <= PDET_KMEM_PAGE_BATCHED;
}

static inline bool pdet_kmem_is_alloc(unsigned kind)
{
	return kind == PDET_KMEM_KMALLOC || kind == PDET_KMEM_CACHE_ALLOC ||
	       kind == PDET_KMEM_PAGE_ALLOC;
}

/* pdet_kmem_pages - of a block; 0: no kernel has larger ones than
 * include/linux/mmzone.h allows, so that is not an order. */
static inline uint64_t pdet_kmem_pages(unsigned order)
{
	return order <= 14 ? (uint64_t)1 << order : 0;
}

struct pdet_kmem_event {
	uint64_t ns;		/* in the clock of the trace */
	uint64_t object;	/* address of the object, or number of the page
				 * frame; 0 an allocation that failed, or a free
				 * of nothing */
	uint64_t site;		/* address behind the call, or the number of a
				 * SITE; 0 not told */
	uint64_t requested, allocated; /* bytes */
	uint64_t gfp;		/* or NO_GFP */
	const char *cache;	/* not terminated; NULL not told */
	uint32_t cache_len;
	int32_t pid;		/* thread that was current */
	int32_t node;		/* that was asked for: -1 any; or NO_NUMBER */
	int32_t migratetype;	/* or NO_NUMBER */
	uint16_t cpu;
	uint8_t kind;		/* PDET_KMEM_* */
	uint8_t order;		/* of pages */
	uint32_t stack;		/* of struct pdet_trace_stacks; 0 not told */
};

/* What kmalloc(0) gives: ZERO_SIZE_PTR of include/linux/slab.h. */
#define PDET_KMEM_ZERO_SIZE 16

/*
 * pdet_kmem_is_nothing - whether it is an allocation that failed or a free of
 * nothing. What kmalloc(0) gives is an address of no memory; and it has no
 * event.
 */
static inline bool pdet_kmem_is_nothing(const struct pdet_kmem_event *e)
{
	return !e->object || (e->kind == PDET_KMEM_KFREE &&
			      e->object == PDET_KMEM_ZERO_SIZE);
}

/* pdet_kmem_is_of_family - whether a free of this kind fits the allocation. */
static inline bool pdet_kmem_is_of_family(unsigned alloc, unsigned free)
{
	return alloc == PDET_KMEM_KMALLOC ? free == PDET_KMEM_KFREE :
	       alloc == PDET_KMEM_CACHE_ALLOC ? free == PDET_KMEM_CACHE_FREE :
						true;
}

/*
 * Where a number is in a record: it ends with the eight bytes at @at, of which
 * it has all but twice @half bits. Zeroed, it is nowhere.
 */
struct pdet_kmem_place {
	uint16_t at;
	uint8_t half;
	bool is_there, is_signed;
};

struct pdet_kmem_layout {
	uint8_t kind;
	bool is_alloc;
	uint32_t bytes;		/* that a record has at least */
	struct pdet_kmem_place pid, object, site, requested, allocated, gfp,
			       cache, node, order, migratetype;
};

/* The layouts of one kernel, by the id of the event. Zeroed, it has none. */
struct pdet_kmem_layouts {
	uint16_t id_at;		/* where a record has its id */
	uint8_t id_size;	/* 0: not known */
	uint8_t of[65536];	/* 0 unknown; 255 another event; else the index
				 * + 1 */
	struct pdet_kmem_layout data[32];
	unsigned n;
	bool no_caches;		/* names of caches are left out */
	/* A stack is a record of its own, behind that of its event. */
	struct {
		bool is_known;
		uint16_t id;
		uint16_t flags_at, count_at, frames_at;
	} stack;
};

/* pdet_kmem_kind - the kind of the event of this name, 0 if it is another. */
unsigned pdet_kmem_kind(const char *name, size_t len);

/*
 * pdet_kmem_learn - add the format of an event; one that is not of memory
 * allocation is learned as such. -EBADMSG: what must be there is missing, or
 * another event has the id.
 */
int pdet_kmem_learn(struct pdet_kmem_layouts *l,
		    const struct pdet_trace_format *f);

/* pdet_kmem_names_caches - whether kmem_cache_alloc has the cache's name. */
bool pdet_kmem_names_caches(const struct pdet_kmem_layouts *l);

/*
 * pdet_kmem_learn_stack - add the format of the event kernel_stack of ftrace.
 * One that has not what it needs is not used.
 */
void pdet_kmem_learn_stack(struct pdet_kmem_layouts *l,
			   const struct pdet_trace_format *f);

/*
 * pdet_kmem_take - decode a record. ns and cpu stay as they are. -ENOENT: the
 * format of the event is not known, and the object is the id of that format (0:
 * no format is known); -EBADMSG: the record is too short for it.
 */
int pdet_kmem_take(const struct pdet_kmem_layouts *l,
		   const unsigned char *record, uint32_t len, bool big_endian,
		   struct pdet_kmem_event *ret);

#endif
