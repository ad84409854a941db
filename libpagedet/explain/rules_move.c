/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Rules that explain why a page cannot be moved or reclaimed, and whether it is
 * pinned. No file of /proc shows pins, so the rules say nothing about them if
 * references are not known.
 */
#include "explain/rivals_move.h"

#define HERE PAGEDET_SIDE_HERE

static bool set(struct pdet_case *c, unsigned bit)
{
	if (pdet_row_flag(&c->here, bit) != PAGEDET_YES)
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	return true;
}

static bool nothing(struct pdet_case *c)
{
	return pdet_row_is_nothing(&c->here) &&
	       pdet_rest_on(c, PAGEDET_FIELD_KIND);
}

/* A memory error stays where it is, and takes up its frame. */
static bool nothing_there(struct pdet_case *c)
{
	return !pdet_row_was_free(&c->here) && nothing(c);
}

static bool nothing_to_pin(struct pdet_case *c)
{
	if (pdet_row_was_free(&c->here)) {
		c->cause = "there is nothing to pin: it was free when it was "
			   "marked as a memory error (hwpoison)";
		pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	}
	return nothing(c);
}

static void counts(struct pdet_case *c)
{
	uint64_t expected, extra;

	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_PINCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_folio(c);
	if (!pdet_case_extra(c, &expected, &extra))
		return;
	pdet_fact_number(c, "references_expected", expected,
			 PAGEDET_TYPE_NUMBER, HERE, 0);
	pdet_fact_number(c, "references_unexplained", extra,
			 PAGEDET_TYPE_NUMBER, HERE, 0);
	if (pdet_row_cached(&c->here) == PAGEDET_DUNNO)
		pdet_unknown(c, "whether one of them belongs to a page cache: "
			     "the page is on no LRU list");
}

static bool pinned_so(struct pdet_case *c, uint32_t confidence)
{
	uint32_t is;

	if (pdet_row_pinned(&c->here, &is) != PAGEDET_YES || is != confidence)
		return false;
	counts(c);
	pdet_unknown(c, "what pinned it");
	return true;
}

/* The row has a pin count. */
static bool pinned(struct pdet_case *c)
{
	return pinned_so(c, PDET_CERTAIN);
}

/* It is known that there are few other references. */
static bool pinned_likely(struct pdet_case *c)
{
	if (!pinned_so(c, PDET_HIGH))
		return false;
	pdet_unknown(c, "whether 1024 references are one pin or 1024 ordinary "
		     "references");
	return true;
}

static bool pinned_maybe(struct pdet_case *c)
{
	return pinned_so(c, PDET_LOW);
}

/* Counts are read one after the other, so the difference may be temporary. */
static bool referenced(struct pdet_case *c)
{
	uint64_t expected, extra;

	if (!pdet_case_extra(c, &expected, &extra) || !extra)
		return false;
	counts(c);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	if (pdet_row_flag(&c->here, PAGEDET_PF_LRU) != PAGEDET_YES) {
		c->likely = "it has not been put on its LRU list yet, or was "
			    "taken off it";
		c->likely_confidence = PAGEDET_CONFIDENCE_LOW;
	}
	pdet_unknown(c, "what holds these references, and whether they stay: a "
		     "pipe, a socket, io_uring, AIO or a pin, which no source "
		     "names");
	return true;
}

/* --- moving --- */

static bool was_moved(struct pdet_case *c)
{
	if (!pdet_row_was_moved(&c->here))
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MIGRATE_REASON);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOC_NS);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FREE_NS);
	return true;
}

static bool of_kinds(const struct pdet_case *c, const uint32_t *kinds,
		     size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (pdet_row_is(&c->here, kinds[i]))
			return true;
	return false;
}

static void kernel_facts(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_SLAB_CACHE);
	if (pdet_row_owned(&c->here) != PAGEDET_NO)
		pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOC_COMM);
}

/* Kinds that the kernel never moves. */
static bool fixed(struct pdet_case *c)
{
	static const uint32_t kinds[] = {
		PAGEDET_KIND_SLAB, PAGEDET_KIND_PGTABLE, PAGEDET_KIND_ZERO,
		PAGEDET_KIND_RESERVED,
	};

	kernel_facts(c);
	if (pdet_row_is(&c->here, PAGEDET_KIND_RESERVED))
		c->cause = "reserved: the kernel does not move what it keeps "
			   "from the page allocator";
	else if (pdet_row_is(&c->here, PAGEDET_KIND_ZERO))
		c->cause = "the kernel does not move its zero pages";
	return of_kinds(c, kinds, PDET_COUNT(kinds));
}

/*
 * A driver may support moving its pages. If this page was moved before, its
 * driver does.
 */
static bool driver(struct pdet_case *c)
{
	kernel_facts(c);
	return !was_moved(c) && (pdet_row_is_kernel(&c->here) ||
				 pdet_row_is(&c->here, PAGEDET_KIND_OFFLINE));
}

/* No other page of a file lacks a kernel address. */
static bool secret(struct pdet_case *c)
{
	if (!pdet_row_is(&c->here, PAGEDET_KIND_FILE) ||
	    pdet_row_flag(&c->here, PAGEDET_PF_UNEVICTABLE) != PAGEDET_YES ||
	    !pdet_row_has(&c->here, PAGEDET_FIELD_KERNEL_MAPS) ||
	    c->here.kernel_maps)
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KERNEL_MAPS);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_PATH);
	return true;
}

static bool written_back(struct pdet_case *c)
{
	return set(c, PAGEDET_PF_WRITEBACK);
}

static bool locked(struct pdet_case *c)
{
	return set(c, PAGEDET_PF_LOCKED);
}

static bool off_list(struct pdet_case *c)
{
	if (!pdet_row_is_user(&c->here) ||
	    pdet_row_flag(&c->here, PAGEDET_PF_LRU) != PAGEDET_NO)
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_unknown(c, "what took it off its list, or whether it belongs to a "
		     "driver and is never on a list");
	return true;
}

static bool movable(struct pdet_case *c)
{
	uint32_t is;

	if (!pdet_row_is_user(&c->here) ||
	    pdet_row_pinned(&c->here, &is) != PAGEDET_NO)
		return false;
	counts(c);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	if (was_moved(c)) {
		c->likely = "it was moved before";
		c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	}
	return true;
}

static bool pins_not_known(struct pdet_case *c)
{
	counts(c);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_KIND))
		pdet_unknown(c, "what kind of page it is");
	if (pdet_row_has(&c->here, PAGEDET_FIELD_REFCOUNT) &&
	    pdet_row_has(&c->here, PAGEDET_FIELD_PINCOUNT))
		pdet_unknown(c, "which of its references are those of mappings "
			     "and caches");
	else
		pdet_unknown(c, pdet_pins_unknown);
	if (pdet_row_is_from_memory(&c->here))
		c->advice = pdet_row_is_user(&c->here) ?
			    "try MADV_PAGEOUT: a pinned page stays" :
			    "nothing: kernel memory was read, and does not tell";
	return true;
}

/* --- pins --- */

static bool not_pinned(struct pdet_case *c)
{
	uint32_t is;

	if (pdet_row_pinned(&c->here, &is) != PAGEDET_NO)
		return false;
	counts(c);
	return true;
}

/* --- reclaim --- */

static bool mlocked(struct pdet_case *c)
{
	return set(c, PAGEDET_PF_MLOCKED);
}

static bool unevictable(struct pdet_case *c)
{
	return set(c, PAGEDET_PF_UNEVICTABLE);
}

static bool not_listed(struct pdet_case *c)
{
	static const uint32_t kinds[] = {
		PAGEDET_KIND_SLAB, PAGEDET_KIND_PGTABLE, PAGEDET_KIND_ZERO,
		PAGEDET_KIND_RESERVED, PAGEDET_KIND_HUGETLB,
		PAGEDET_KIND_OFFLINE, PAGEDET_KIND_ZSMALLOC,
		PAGEDET_KIND_DEVICE,
	};

	if (!of_kinds(c, kinds, PDET_COUNT(kinds)))
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_SLAB_CACHE);
	if (pdet_row_is(&c->here, PAGEDET_KIND_ZERO) ||
	    pdet_row_is(&c->here, PAGEDET_KIND_RESERVED))
		c->advice = "nothing";
	if (pdet_row_is(&c->here, PAGEDET_KIND_SLAB)) {
		c->likely = "a shrinker may free its objects";
		c->likely_confidence = PAGEDET_CONFIDENCE_LOW;
	}
	return true;
}

static bool kernel_memory(struct pdet_case *c)
{
	return pdet_rest_on_kind(c, PAGEDET_KIND_KERNEL);
}

static bool dirty(struct pdet_case *c)
{
	return pdet_row_is(&c->here, PAGEDET_KIND_FILE) &&
	       set(c, PAGEDET_PF_DIRTY);
}

static bool no_swap(struct pdet_case *c)
{
	if (c->e.no_swap != PAGEDET_YES ||
	    !(pdet_row_is(&c->here, PAGEDET_KIND_ANON) ||
	      pdet_row_is(&c->here, PAGEDET_KIND_SHMEM)) ||
	    pdet_row_flag(&c->here, PAGEDET_PF_SWAPBACKED) == PAGEDET_NO)
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_fact_known(c, "no_swap", c->e.no_swap, HERE);
	return true;
}

static bool in_use(struct pdet_case *c)
{
	if (!pdet_row_is_user(&c->here))
		return false;
	c->advice_unless = PDET_UNLESS_KEPT;
	return set(c, PAGEDET_PF_ACTIVE) ||
	       set(c, PAGEDET_PF_REFERENCED);
}

static bool reclaimable(struct pdet_case *c)
{
	if (!pdet_row_is_user(&c->here) ||
	    pdet_row_flag(&c->here, PAGEDET_PF_LRU) != PAGEDET_YES ||
	    pdet_row_flag(&c->here, PAGEDET_PF_UNEVICTABLE) != PAGEDET_NO)
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_fact_known(c, "no_swap", c->e.no_swap, HERE);
	pdet_unknown(c, "whether limits protect its cgroup (memory.min)");
	return true;
}

#define MOVE(id, verdict, name, cause, advice, ...) \
	PDET_RULE(id, NOT_MIGRATABLE, verdict, name, cause, advice, __VA_ARGS__)
#define PIN(id, verdict, name, cause, advice, ...) \
	PDET_RULE(id, PINNED, verdict, name, cause, advice, __VA_ARGS__)
#define KEEP(id, verdict, name, cause, advice, ...) \
	PDET_RULE(id, UNRECLAIMABLE, verdict, name, cause, advice, __VA_ARGS__)

/* A certain finding competes only with errors of its row. */
#define ROW pdet_rivals_row
#define COUNTS pdet_rivals_counts
#define PINS \
	{ pinned, PDET_CERTAIN, COUNTS }, \
	{ pinned_likely, PDET_HIGH, pdet_rivals_pin }, \
	{ pinned_maybe, PDET_LOW, pdet_rivals_pin }

static const char ask_later[] = "ask again: this state should pass";
static const char ask_holders[] =
	"look for pipes, sockets, io_uring and AIO of the tasks that map it: "
	"'pagedet mappers PFN'; ask again: some references pass";
static const char ask_list[] =
	"nothing; ask again: if this stays, a driver has the page and keeps it "
	"there";
static const char ask_deeper[] =
	"ask a source that reads kernel memory (bpf, kcore) or a dump; or try "
	"MADV_PAGEOUT: a pinned page stays";

const struct pdet_rule pdet_rules_move[] = {
	PDET_BAD_PAGE(210, NOT_MIGRATABLE, "move-bad-page",
		      "whether it can be moved"),
	PDET_LOW_COUNT(220, NOT_MIGRATABLE, "move-low-count",
		       "whether it can be moved"),
	MOVE(201, FINE, "nothing-to-move",
	     "there is nothing to move: the frame is free, or has no page",
	     "nothing",
	     { nothing_there, PDET_CERTAIN, ROW }),
	MOVE(202, CAUSE, "poisoned-stays",
	     "marked as a memory error: its contents are not moved",
	     "read the kernel log",
	     { pdet_rest_on_poison, PDET_CERTAIN, ROW }),
	MOVE(203, CAUSE, "pinned-stays",
	     "pinned: a device or io_uring may be reading or writing it, so "
	     "it must stay where it is",
	     "find what registered it: io_uring buffers, RDMA, VFIO",
	     PINS),
	MOVE(204, CAUSE, "kernel-stays",
	     "memory of the kernel itself, which keeps addresses of it that "
	     "cannot be changed",
	     "nothing; movablecore= and ZONE_MOVABLE keep memory movable",
	     { fixed, PDET_CERTAIN, ROW },
	     { driver, PDET_HIGH, pdet_rivals_driver }),
	MOVE(211, CAUSE, "secret-stays",
	     "secret memory (memfd_secret): the kernel has no address of it, "
	     "and refuses to move it",
	     "nothing; it is freed when the tasks that map it unmap it",
	     { secret, PDET_HIGH, ROW }),
	MOVE(205, CAUSE, "busy",
	     "under writeback or locked now", ask_later,
	     { written_back, PDET_HIGH, ROW },
	     { locked, PDET_MEDIUM, ROW }),
	MOVE(206, CAUSE, "referenced",
	     "it has references beyond those of mappings and caches: it cannot "
	     "be moved while they are held", ask_holders,
	     { referenced, PDET_MEDIUM, COUNTS }),
	MOVE(207, CAUSE, "off-list",
	     "not on an LRU list: taken off by reclaim or compaction, or not "
	     "put there yet", ask_list,
	     { off_list, PDET_MEDIUM, ROW }),
	MOVE(208, FINE, "movable",
	     "nothing visible keeps it from being moved", "nothing",
	     { movable, PDET_HIGH, pdet_rivals_movable }),
	MOVE(209, CANNOT_TELL, "movable-unknown",
	     "cannot tell whether it can be moved", ask_deeper,
	     { pins_not_known, PDET_LOW, NULL }),
	PDET_BAD_PAGE(310, PINNED, "pin-bad-page",
		      "whether it is pinned"),
	PDET_LOW_COUNT(320, PINNED, "pin-low-count",
		       "whether it is pinned"),
	PIN(301, FINE, "nothing-to-pin",
	     "there is nothing to pin: the frame is free, or has no page",
	     "nothing",
	     { nothing_to_pin, PDET_CERTAIN, ROW }),
	PIN(302, CAUSE, "pinned",
	     "pinned for long or direct access (FOLL_PIN)",
	     "find what registered it: io_uring buffers, RDMA, VFIO, direct "
	     "I/O",
	     PINS),
	PIN(303, CAUSE, "held",
	     "not pinned, but it has references beyond those of mappings and "
	     "caches", ask_holders,
	     { referenced, PDET_MEDIUM, COUNTS }),
	PIN(304, FINE, "not-pinned",
	     "not pinned: a pin would show in its counts", "nothing",
	     { not_pinned, PDET_CERTAIN, COUNTS }),
	PIN(309, CANNOT_TELL, "pin-unknown",
	     "cannot tell whether it is pinned", ask_deeper,
	     { pins_not_known, PDET_LOW, NULL }),
	PDET_BAD_PAGE(420, UNRECLAIMABLE, "reclaim-bad-page",
		      "what keeps it"),
	PDET_LOW_COUNT(430, UNRECLAIMABLE, "reclaim-low-count",
		       "what keeps it"),
	KEEP(401, FINE, "nothing-to-reclaim",
	     "there is nothing to reclaim: the frame is free, or has no page",
	     "nothing",
	     { nothing_there, PDET_CERTAIN, ROW }),
	KEEP(402, CAUSE, "poisoned-kept",
	     "marked as a memory error: reclaim leaves it alone",
	     "read the kernel log",
	     { pdet_rest_on_poison, PDET_CERTAIN, ROW }),
	KEEP(403, CAUSE, "not-on-lru",
	     "reclaim does not see this memory: it is on no LRU list",
	     "nothing; its owner must give it back",
	     { not_listed, PDET_CERTAIN, ROW },
	     { kernel_memory, PDET_HIGH, ROW }),
	KEEP(404, CAUSE, "mlocked",
	     "locked in memory (mlock)",
	     "see VmLck in /proc/PID/status of the tasks that map it",
	     { mlocked, PDET_CERTAIN, ROW }),
	KEEP(405, CAUSE, "unevictable",
	     "unevictable: it belongs to a locked segment, to ramfs or to "
	     "secret memory", "nothing; its file must be removed or unlocked",
	     { unevictable, PDET_CERTAIN, ROW }),
	KEEP(406, CAUSE, "pinned-kept",
	     "pinned: it cannot be taken away while a device or io_uring may "
	     "access it",
	     "find what registered it (io_uring buffers, RDMA, VFIO)",
	     PINS),
	KEEP(407, CAUSE, "to-be-written",
	     "it must be written to its file first", "sync; ask again then",
	     { written_back, PDET_HIGH, ROW },
	     { dirty, PDET_HIGH, ROW }),
	KEEP(408, CAUSE, "no-swap",
	     "it could only go to swap, and there is no space",
	     "add swap (or zram)",
	     { no_swap, PDET_HIGH, ROW }),
	KEEP(409, CAUSE, "held-kept",
	     "it has references beyond those of mappings and caches",
	     ask_holders,
	     { referenced, PDET_MEDIUM, COUNTS }),
	KEEP(410, CAUSE, "off-list-kept",
	     "not on an LRU list: taken off, or not put there yet",
	     ask_list,
	     { off_list, PDET_MEDIUM, ROW }),
	KEEP(411, CAUSE, "in-use",
	     "used recently: reclaim takes older pages first",
	     "nothing; it can go when memory is short",
	     { in_use, PDET_LOW, ROW }),
	KEEP(412, FINE, "reclaimable",
	     "nothing visible keeps reclaim from taking it",
	     "nothing",
	     { reclaimable, PDET_HIGH, pdet_rivals_reclaimable }),
	KEEP(419, CANNOT_TELL, "reclaim-unknown",
	     "cannot tell whether it can be reclaimed",
	     "ask as root, or ask a source that reads kernel memory",
	     { pins_not_known, PDET_LOW, NULL }),
	{ .info = { 0 } },
};
