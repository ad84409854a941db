/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: the events of a trace of allocations, added up. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Allocations: who allocates what, how much is wasted, what is still live
 */

/*
 * The keys that allocations are grouped by. They are part of the ABI, as field
 * ids are. A value is a number or, if the comment says "text", an id for
 * pagedet_allocs_text().
 */
enum pagedet_alloc_key {
	PAGEDET_ALLOC_SITE = 0,	/* text: the place of the call, "load_msg+0x45",
				 * or its address if no name is known. Pages
				 * have none */
	PAGEDET_ALLOC_FUNCTION = 1, /* text: the function of the place */
	PAGEDET_ALLOC_MODULE = 2, /* text: its module; nothing: the kernel */
	PAGEDET_ALLOC_CACHE = 3, /* text: the slab cache. Linux 6.12 does not
				 * write it, 6.18 does */
	PAGEDET_ALLOC_FAMILY = 4, /* text: "kmalloc", "cache" or "page" */
	PAGEDET_ALLOC_CPU = 5,
	PAGEDET_ALLOC_NODE = 6,	/* that was asked for; nothing: any */
	PAGEDET_ALLOC_TID = 7,	/* thread that was current */
	PAGEDET_ALLOC_COMM = 8,	/* text: its name, if the trace has it */
	PAGEDET_ALLOC_GFP = 9,	/* the flags, as numbers of that kernel */
	PAGEDET_ALLOC_ORDER = 10, /* of pages */
	PAGEDET_ALLOC_MIGRATETYPE = 11, /* of pages: a number of that kernel */
	PAGEDET_ALLOC_BYTES_REQ = 12, /* bytes that were requested for one
				 * object */
	PAGEDET_ALLOC_BYTES_ALLOC = 13, /* bytes that it got */
	PAGEDET_ALLOC_LIFETIME = 14, /* ns until its free, rounded down to a
				 * power of two. Nothing: it is live; not known:
				 * its free has no event, or an earlier time, or
				 * events were lost between */
	PAGEDET_ALLOC_WINDOW = 15, /* the slice of time of the allocation: its
				 * begin, in ns since the first event */
	PAGEDET_ALLOC_STACK = 16 /* text: the places of the calls that led to
				 * it, joined by ";", the outermost first. A
				 * perf.data with callchains has them, and pages
				 * of ftrace with its option stacktrace */
};

/* Largest number of keys of one query. */
#define PAGEDET_ALLOC_KEYS 16

/*
 * struct pagedet_allocs_query - start from PAGEDET_ALLOCS_QUERY_INIT.
 * pagedet_allocs() only reads what it points to, and keeps none of it.
 */
struct pagedet_allocs_query {
	uint64_t size;		/* sizeof(struct pagedet_allocs_query) */
	const char *path;	/* a trace.dat of trace-cmd, a perf.data, a text
				 * of ftrace or trace-cmd, /proc/allocinfo or a
				 * copy of it, "-" for such a text
				 * from standard input, or a directory with the
				 * copies of tracefs that pagedet_allocs(3)
				 * names */
	const char *kallsyms;	/* [nullable] copy of /proc/kallsyms of the
				 * traced boot; NULL: the one of the trace */
	const uint32_t *by;	/* [nullable] [len: n_by] PAGEDET_ALLOC_*; NULL
				 * groups by site */
	uint64_t n_by;
	uint64_t page_size;	/* of the traced kernel; 0: as the trace says. A
				 * directory does not say it, and bytes of pages
				 * are then not known */
	uint64_t deadline_ns;	/* from the call; 0 no deadline */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are bytes of the trace */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* shortest interval; 0 is 200 ms */
	uint64_t window_ns;	/* length of PAGEDET_ALLOC_WINDOW; 0 is one
				 * second */
	const char *vmlinux;	/* [nullable] of the traced kernel, with
				 * symbols: names instead of kallsyms, which
				 * then only says where the kernel was */
	const char *instance;	/* [nullable] instead of path: the name of a
				 * trace instance of the running kernel; its
				 * text is read, and it keeps its events */
	uint32_t open_names;	/* 1: names from the dump that the handle has
				 * opened, which must be of the traced boot */
	uint32_t threads;	/* 2 or more: one of them unpacks a trace.dat
				 * that is compressed; 0 and 1: the calling one
				 * does all */
	uint32_t events;	/* 1: read no event yet; a query with
				 * PAGEDET_TARGET_EVENTS does, and needs it */
};

#define PAGEDET_ALLOCS_QUERY_INIT \
	{ sizeof(struct pagedet_allocs_query), NULL, NULL, NULL, 0, 0, 0, \
	  NULL, NULL, 0, 0, NULL, NULL, 0, 0, 0 }

/* A group: the allocations with the same keys, and what became of them. */
struct pagedet_alloc_group {
	uint64_t size;		/* sizeof(struct pagedet_alloc_group) */
	uint64_t times;		/* allocations that succeeded: of objects of
				 * slabs, and of blocks of pages; page_times is
				 * what of them is of pages */
	uint64_t requested;	/* bytes of these */
	uint64_t allocated;	/* bytes that they got */
	uint64_t unsized;	/* of the times: pages, if the size of a page is
				 * not known; their bytes are in no sum */
	uint64_t freed;		/* of the times, by an event of the trace */
	uint64_t replaced;	/* of the times: their address was allocated
				 * again, so their free has no event */
	uint64_t live;		/* of the times, the others: not known to be
				 * freed. Some frees have no event, so that not
				 * all of them are live */
	uint64_t live_bytes;
	uint64_t failed;	/* allocations that gave nothing */
	uint64_t cross_cpu;	/* frees on another processor */
	uint64_t mismatched;	/* frees by the other family: kfree() of an
				 * object of a cache, which is allowed since
				 * Linux 6.4, or the reverse, which is not */
	uint64_t less;		/* got fewer bytes than requested */
	uint64_t lifetime_ns;	/* of those that were freed, together, but for
				 * lifetime_unknown */
	uint64_t verified_live;	/* of live: the kernel has them in use; set by
				 * pagedet_allocs_verify() */
	uint64_t verified_live_bytes;
	uint64_t verified_free;	/* of live: the kernel has them free */
	uint64_t unverified;	/* of live: it could not be asked */
	uint64_t times_before;	/* as above, of the trace before; set by
				 * pagedet_allocs_compare() */
	uint64_t requested_before;
	uint64_t allocated_before;
	uint64_t unsized_before;
	uint64_t live_before;
	uint64_t live_bytes_before;
	uint64_t value[PAGEDET_ALLOC_KEYS]; /* in the order of the query's by */
	uint32_t state[PAGEDET_ALLOC_KEYS]; /* PAGEDET_HAVE, PAGEDET_NONE, or
				 * why the value is not known */
	uint64_t untracked;	/* of the times, by PAGEDET_RECORD_FREES: had no
				 * room in the kernel's table of live objects,
				 * so that it is not known what became of them.
				 * If there are any, freed, replaced, live,
				 * live_bytes, cross_cpu and mismatched are at
				 * least what they say */
	uint64_t lifetime_unknown; /* of the freed: events were lost between
				 * allocation and free, so that the free may be
				 * that of a later object; or its time is an
				 * earlier one */
	uint64_t page_times;	/* of the times: blocks of pages, the others are
				 * objects of slabs. So are the next ones, of
				 * the member with the rest of the name */
	uint64_t page_allocated; /* and requested */
	uint64_t page_freed;
	uint64_t page_replaced;
	uint64_t page_live;
	uint64_t page_live_bytes;
	uint64_t page_failed;
	uint64_t page_cross_cpu;
	uint64_t page_lifetime_ns;
	uint64_t page_lifetime_unknown;
	uint64_t page_untracked;
	uint64_t page_verified_live;
	uint64_t page_verified_live_bytes;
	uint64_t page_verified_free;
	uint64_t page_unverified;
	uint64_t page_times_before;
	uint64_t page_allocated_before;
	uint64_t page_live_before;
	uint64_t page_live_bytes_before;
};

/* The sum of all groups, what is in no group, and what was lost. */
struct pagedet_allocs_total {
	uint64_t size;		/* sizeof(struct pagedet_allocs_total) */
	uint64_t groups;
	uint64_t times;		/* as in struct pagedet_alloc_group */
	uint64_t requested;
	uint64_t allocated;
	uint64_t unsized;
	uint64_t freed;
	uint64_t replaced;
	uint64_t live;
	uint64_t live_bytes;
	uint64_t failed;
	uint64_t cross_cpu;
	uint64_t mismatched;
	uint64_t less;
	uint64_t lifetime_ns;
	uint64_t verified_live;
	uint64_t verified_live_bytes;
	uint64_t verified_free;
	uint64_t unverified;
	uint64_t times_before;
	uint64_t requested_before;
	uint64_t allocated_before;
	uint64_t unsized_before;
	uint64_t live_before;
	uint64_t live_bytes_before;
	uint64_t events;	/* of memory allocation */
	uint64_t other;		/* events of other kinds */
	uint64_t freed_unknown;	/* frees of objects that were not allocated in
				 * the trace */
	uint64_t pages_unknown;	/* the same of pages */
	uint64_t freed_nothing;	/* kfree(NULL), and of what kmalloc(0) gave */
	uint64_t early;		/* frees with a time before their allocation */
	uint64_t begin_ns;	/* first event, in the clock of the trace */
	uint64_t end_ns;	/* last event */
	uint64_t lost;		/* events that the kernel lost and counted */
	uint64_t gaps;		/* losses whose size the kernel does not say */
	uint64_t uncounted;	/* processors of which the trace has no count of
				 * losses: those behind the last event that it
				 * has are not known */
	uint64_t missing;	/* events that were read from the kernel, and
				 * are not in the trace */
	uint64_t cut_bytes;	/* that the trace should have at its end */
	uint64_t damaged;	/* pieces of the trace that cannot be read, each
				 * with an unknown number of events */
	uint64_t strange;	/* events whose format is missing */
	uint64_t disorder;	/* events that come behind later ones */
	uint64_t sites;		/* places of calls, if a key needs them */
	uint64_t unnamed;	/* of these: no function is known */
	uint64_t untold;	/* bit 1 << PAGEDET_ALLOC_*: some groups have no
				 * value of this key, because the trace does not
				 * tell it */
	uint32_t complete;	/* 1: all of the trace was read; of a query with
				 * events: by an iterator that was freed */
	uint32_t stopped;	/* if not: ETIMEDOUT or ECANCELED; otherwise
				 * 0 */
	uint32_t no_ns;		/* 1: the clock of the trace counts something
				 * else, and all times are in that unit */
	uint32_t hashed;	/* 1: the addresses of objects are hashed to 32
				 * bits, so that two objects may be taken for
				 * one */
	uint64_t kaslr_offset;	/* bytes from the addresses in the vmlinux to
				 * those of the boot */
	uint64_t begin_before_ns; /* as begin_ns and end_ns, of the trace
				 * before */
	uint64_t end_before_ns;
	uint64_t unmatched;	/* groups of the trace before with an address
				 * that may mean something else in this one */
	uint32_t kaslr;		/* PAGEDET_HAVE; PAGEDET_NONE: no vmlinux was
				 * given; PAGEDET_UNSUPPORTED: it cannot be
				 * told, and the log says why */
	uint32_t compared;	/* 1: by pagedet_allocs_compare() */
	uint32_t verified;	/* 1: by pagedet_allocs_verify() */
	uint32_t no_cpu;	/* 1: the trace does not tell processors, so
				 * that cross_cpu is not known */
	uint32_t no_frees;	/* 1: by pagedet_recorder_allocs(): sums of
				 * allocations only. Not known, and 0, are
				 * freed, replaced, live, live_bytes, cross_cpu,
				 * mismatched, less, lifetime_ns, freed_unknown,
				 * pages_unknown, freed_nothing, early and
				 * disorder; begin_ns and end_ns are those of
				 * the recording */
	uint32_t only_live;	/* 1: a text of /proc/allocinfo: only live and
				 * live_bytes are known, all others are 0 */
	uint64_t inexact;	/* sites of which the kernel says that it could
				 * not count all */
	uint64_t changed;	/* 1: modules were loaded or unloaded while
				 * /proc/allocinfo was read: sites may be left
				 * out, or counted twice */
	uint64_t untracked;	/* as in struct pagedet_alloc_group, and of what
				 * is in no group. If it is not 0,
				 * freed_unknown and pages_unknown are not
				 * known: frees of these would be in them */
	uint64_t no_events;	/* 1: by pagedet_recorder_allocs(): the kernel
				 * has added up. Not known, and 0, are less,
				 * lifetime_ns, early and disorder, and if
				 * no_frees is 1 what it says */
	uint64_t page_events;	/* of the events, those of blocks of pages. If
				 * one of two traces has none, their growth
				 * was not measured */
	uint64_t filtered;	/* groups that pagedet_allocs_where() has left
				 * out; they are in no sum */
	uint64_t undecided;	/* the same of those whose filter is unknown */
	uint64_t lifetime_unknown; /* as in struct pagedet_alloc_group */
	uint64_t page_times;
	uint64_t page_allocated;
	uint64_t page_freed;
	uint64_t page_replaced;
	uint64_t page_live;
	uint64_t page_live_bytes;
	uint64_t page_failed;
	uint64_t page_cross_cpu;
	uint64_t page_lifetime_ns;
	uint64_t page_lifetime_unknown;
	uint64_t page_untracked;
	uint64_t page_verified_live;
	uint64_t page_verified_live_bytes;
	uint64_t page_verified_free;
	uint64_t page_unverified;
	uint64_t page_times_before;
	uint64_t page_allocated_before;
	uint64_t page_live_before;
	uint64_t page_live_bytes_before;
	uint64_t other_instances; /* 1: a trace.dat that has other trace
				 * instances, too: their events are not read */
};

/* struct pagedet_verify_options - start from PAGEDET_VERIFY_OPTIONS_INIT. */
struct pagedet_verify_options {
	uint64_t size;		/* sizeof(struct pagedet_verify_options) */
	uint64_t deadline_ns;	/* from the call; 0 no deadline */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are live objects and pages */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* shortest interval; 0 is 200 ms */
	uint32_t any_boot;	/* 1: ask although nothing says that the trace
				 * is of this boot */
	uint32_t reserved;	/* 0 */
};

#define PAGEDET_VERIFY_OPTIONS_INIT \
	{ sizeof(struct pagedet_verify_options), 0, NULL, NULL, 0, 0, 0 }

/**
 * pagedet_alloc_key_by_name - find a key of allocations
 * @name: [in] "site", "function", "cache" ...
 * Return: PAGEDET_ALLOC_*, or a negative errno.
 * Errors: ENOENT there is no such key.
 * Since: 0.1
 */
int pagedet_alloc_key_by_name(const char *name);

/**
 * pagedet_alloc_key_name - name a key of allocations
 * @key: [in] PAGEDET_ALLOC_*
 * Return: the name, or NULL if the number is not a key [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_alloc_key_name(uint32_t key);

/**
 * pagedet_allocs - read a trace of allocations and group them
 * Reads all events once, in the order of their times, and finds the allocation
 * that each free ends. Needs nothing of this machine. What is lost or damaged
 * is counted, and the rest is still grouped; a deadline or a cancel keeps what
 * was read so far. With query->events it opens the trace and reads no event.
 * @pd: [in] need not be opened, unless query->open_names is set
 * @query: [in] the query
 * @ret: [out] [owned: pagedet_allocs_free] the groups
 * Return: 0, or a negative errno.
 * Errors: EINVAL there is no path, or an instance too, no such key, too many
 *         keys, or one twice, the trace says another page_size, or names are
 *         asked of a handle that is not open, or of a vmlinux or kallsyms too,
 *         or of a dump for events;
 *         E2BIG query has a non-zero byte that this library does not know;
 *         ENOENT no such file or instance, or a file of the trace is missing;
 *         EACCES it may not be read, or kallsyms hides addresses;
 *         EBADMSG a file is not what it should be, a perf.data does not say
 *         what its events are, or the kallsyms, vmlinux or dump is of another
 *         boot or kernel;
 *         ENODATA a trace.dat has no events of the top instance; ENOTSUP it has
 *         the text of a latency tracer, is of a version that this library does
 *         not know, or is a perf.data that has one event of many only, or
 *         events without time, processor or data, or no source of the handle
 *         has names; ENOSYS it is compressed in a form that this library was
 *         built without, or libelf is missing; EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_allocs(struct pagedet *pd, const struct pagedet_allocs_query *query,
		   struct pagedet_allocs **ret);

/**
 * pagedet_allocs_compare - compare groups with those of another trace
 * Groups match if their keys have the same values: names and numbers. The
 * address of a call without a name matches only if both traces say that their
 * kernels are at the same place; otherwise " (before)" follows it. Restarts the
 * list of groups, ordered by how many live bytes they have gained. It includes
 * groups that are only in the trace before, with sums of 0.
 * @allocs: [in] from pagedet_allocs()
 * @before: [in] grouped by the same keys; unchanged, and not needed after the
 *          call
 * Return: 0, or a negative errno.
 * Errors: EINVAL the keys are others; ENOMEM.
 * Since: 0.1
 */
int pagedet_allocs_compare(struct pagedet_allocs *allocs,
			   const struct pagedet_allocs *before);

/**
 * pagedet_allocs_verify - ask the kernel which of the live are in use
 * Many that are live by the trace were freed by a path without an event. Asks
 * the slab of each object for its free lists, and for blocks of pages and large
 * objects the page. Sets verified_live and its like in all groups, and restarts
 * their list, ordered by verified_live_bytes. In use means that the address is,
 * by the object or by a later one of the same size: ask soon after the trace.
 * Objects of another boot, or with hashed addresses, are not asked: all are
 * unverified, and the log says why. Groups of pagedet_recorder_allocs() have
 * addresses by PAGEDET_RECORD_OBJECTS only, and none of pages.
 * @pd: [in] opened: the running kernel, or a dump of the traced boot
 * @allocs: [in] from pagedet_allocs() of the same handle
 * @options: [in] the options
 * Return: 0, or a negative errno; then nothing has changed.
 * Errors: EINVAL the handle is not open, or they have no addresses; E2BIG
 *         options has a non-zero byte that this library does not know;
 *         ETIMEDOUT the deadline passed; ECANCELED progress returned non-zero;
 *         ENOTSUP no open source knows kernel addresses; EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_allocs_verify(struct pagedet *pd, struct pagedet_allocs *allocs,
			  const struct pagedet_verify_options *options);

/**
 * pagedet_allocs_order - set the order of groups
 * Restarts the list of groups.
 * @allocs: [in] from pagedet_allocs()
 * @keys: [in,nullable] sort keys, the most important first, for example
 *        "live_bytes,-cpu": a number of struct pagedet_alloc_group or "waste"
 *        (allocated less requested), the largest first, or a key that they are
 *        grouped by, ascending. Numbers are those of objects, with page_ those
 *        of pages; "all_allocated", "all_live_bytes" and
 *        "all_verified_live_bytes" are those of both. A - before a key
 *        reverses it. After a comparison a number can end with "_before", or
 *        with "_grown": what it has gained. NULL is "all_allocated", or then
 *        "all_live_bytes_grown"
 * Return: 0, or a negative errno; then nothing has changed.
 * Errors: EINVAL there is no such key, or they are not grouped by it; ENOMEM.
 * Since: 0.1
 */
int pagedet_allocs_order(struct pagedet_allocs *allocs, const char *keys);

/**
 * pagedet_allocs_where - list only groups for which a filter is true
 * A filter is written as those of rows, see pagedet(1): "live>1000 and
 * module=ext4". It tests the numbers that pagedet_allocs_order() sorts by, and
 * keys that the groups are by; with site also function and module. After a
 * comparison a number can end with "_before", or with "_grown". A sum of which
 * only a part is known decides nothing. Restarts the list in the usual order.
 * The sums of struct pagedet_allocs_total are then those of the groups that are
 * listed. The filter is not asked again when sums change: call this after
 * pagedet_allocs_verify(); pagedet_allocs_compare() lists all groups again.
 * @allocs: [in] from pagedet_allocs()
 * @where: [in,nullable] the filter; NULL lists all groups again
 * Return: 0, or a negative errno; then nothing has changed, unless it is
 *         ENOMEM.
 * Errors: EINVAL the filter is wrong, or they are not grouped by a key that it
 *         tests; ENOMEM.
 * Since: 0.1
 */
int pagedet_allocs_where(struct pagedet_allocs *allocs, const char *where);

/**
 * pagedet_allocs_next - get the next group
 * @allocs: [in] from pagedet_allocs()
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_allocs_next(struct pagedet_allocs *allocs,
			struct pagedet_alloc_group *ret);

/**
 * pagedet_allocs_text - get the text of a value
 * @allocs: [in] from pagedet_allocs()
 * @id: [in] a value of a key that is a text
 * @len: [out,nullable] bytes; a text may contain any byte
 * Return: the text, followed by a NUL, or NULL if the id has no text [nullable]
 *         [borrowed: pagedet_allocs_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_allocs_text(const struct pagedet_allocs *allocs,
				uint64_t id, size_t *len);

/**
 * pagedet_allocs_gfp - name the flags of allocations
 * The names are those that the trace has beside the events, so they are of the
 * kernel that was traced. What has no name is a hexadecimal number.
 * @allocs: [in] from pagedet_allocs()
 * @gfp: [in] a value of PAGEDET_ALLOC_GFP
 * Return: "GFP_KERNEL|__GFP_ZERO", or NULL if the trace does not have names
 *         [nullable] [borrowed: the next call].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_allocs_gfp(struct pagedet_allocs *allocs, uint64_t gfp);

/**
 * pagedet_allocs_total - get the sum of all groups, and what is in no group
 * @allocs: [in] from pagedet_allocs()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_allocs_total(const struct pagedet_allocs *allocs,
			 struct pagedet_allocs_total *ret);

/**
 * pagedet_allocs_free - free groups
 * @allocs: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_allocs_free(struct pagedet_allocs *allocs);
