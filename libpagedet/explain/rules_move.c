/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Why a page cannot be moved or reclaimed, and whether it is pinned. Pins are
 * in none of the files of /proc: without references nothing is said of them.
 */
#include "explain/explain.h"

#define HERE PAGEDET_SIDE_HERE

static const char pins_unknown[] =
	"its references and pins (needs a dump, or a source that reads kernel "
	"memory; /proc has neither)";

static bool set(struct pdet_case *c, unsigned bit, uint32_t confidence)
{
	if (pdet_row_flag(&c->here, bit) != PAGEDET_YES)
		return false;
	c->confidence = confidence;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	return true;
}

static bool nothing(struct pdet_case *c)
{
	return pdet_row_is_nothing(&c->here) &&
	       pdet_rest_on(c, PAGEDET_FIELD_KIND, PAGEDET_CONFIDENCE_CERTAIN);
}

static void counts(struct pdet_case *c)
{
	uint64_t expected, extra;

	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_PINCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	if (pdet_row_extra(&c->here, &expected, &extra))
		pdet_fact_number(c, "references_expected", expected,
				 PAGEDET_TYPE_NUMBER, HERE, 0);
}

static bool pinned(struct pdet_case *c)
{
	if (pdet_row_pinned(&c->here, &c->confidence) != PAGEDET_YES)
		return false;
	counts(c);
	if (c->confidence < PAGEDET_CONFIDENCE_CERTAIN)
		pdet_unknown(c, "whether 1024 references are one pin or as "
			     "many ordinary ones");
	pdet_unknown(c, "who pinned it");
	return true;
}

/* Counts are read one after the other, so this may pass. */
static bool referenced(struct pdet_case *c)
{
	uint64_t expected, extra;

	if (!pdet_row_extra(&c->here, &expected, &extra) || !extra)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_MEDIUM;
	counts(c);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	if (pdet_row_flag(&c->here, PAGEDET_PF_LRU) != PAGEDET_YES) {
		c->likely = "it waits for its LRU list, or was taken off it";
		c->likely_confidence = PAGEDET_CONFIDENCE_LOW;
	}
	pdet_unknown(c, "who holds these references, and whether they stay");
	return true;
}

/* --- moving --- */

/* Kinds that the kernel never moves. */
static bool fixed(struct pdet_case *c)
{
	static const uint32_t kinds[] = {
		PAGEDET_KIND_SLAB, PAGEDET_KIND_PGTABLE, PAGEDET_KIND_ZERO,
		PAGEDET_KIND_RESERVED,
	};
	size_t i;

	c->confidence = PAGEDET_CONFIDENCE_CERTAIN;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_SLAB_CACHE);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOC_COMM);
	for (i = 0; i < PDET_COUNT(kinds); i++)
		if (pdet_row_is(&c->here, kinds[i]))
			return true;
	/* Drivers may have taught the kernel how to move theirs. */
	c->confidence = PAGEDET_CONFIDENCE_MEDIUM;
	pdet_unknown(c, "whether its driver can move it");
	return pdet_row_is(&c->here, PAGEDET_KIND_KERNEL) ||
	       pdet_row_is(&c->here, PAGEDET_KIND_OFFLINE);
}

static bool busy(struct pdet_case *c)
{
	return set(c, PAGEDET_PF_WRITEBACK, PAGEDET_CONFIDENCE_HIGH) ||
	       set(c, PAGEDET_PF_LOCKED, PAGEDET_CONFIDENCE_MEDIUM);
}

static bool off_list(struct pdet_case *c)
{
	if (!pdet_row_is_user(&c->here) ||
	    pdet_row_flag(&c->here, PAGEDET_PF_LRU) != PAGEDET_NO)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_MEDIUM;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_unknown(c, "who took it off its list");
	return true;
}

static bool movable(struct pdet_case *c)
{
	if (!pdet_row_is_user(&c->here) ||
	    pdet_row_pinned(&c->here, &c->confidence) != PAGEDET_NO)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_HIGH;
	counts(c);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	return true;
}

static bool pins_not_known(struct pdet_case *c)
{
	counts(c);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_KIND))
		pdet_unknown(c, "what kind of page it is");
	pdet_unknown(c, pins_unknown);
	return true;
}

/* --- pins --- */

static bool not_pinned(struct pdet_case *c)
{
	if (pdet_row_pinned(&c->here, &c->confidence) != PAGEDET_NO)
		return false;
	counts(c);
	return true;
}

/* --- reclaim --- */

static bool mlocked(struct pdet_case *c)
{
	return set(c, PAGEDET_PF_MLOCKED, PAGEDET_CONFIDENCE_CERTAIN);
}

static bool unevictable(struct pdet_case *c)
{
	return set(c, PAGEDET_PF_UNEVICTABLE, PAGEDET_CONFIDENCE_CERTAIN);
}

static bool not_listed(struct pdet_case *c)
{
	static const uint32_t kinds[] = {
		PAGEDET_KIND_SLAB, PAGEDET_KIND_PGTABLE, PAGEDET_KIND_ZERO,
		PAGEDET_KIND_RESERVED, PAGEDET_KIND_HUGETLB,
		PAGEDET_KIND_OFFLINE, PAGEDET_KIND_KERNEL,
		PAGEDET_KIND_ZSMALLOC, PAGEDET_KIND_DEVICE,
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(kinds); i++)
		if (pdet_row_is(&c->here, kinds[i]))
			break;
	if (i == PDET_COUNT(kinds))
		return false;
	c->confidence = kinds[i] == PAGEDET_KIND_KERNEL ?
			PAGEDET_CONFIDENCE_HIGH : PAGEDET_CONFIDENCE_CERTAIN;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_SLAB_CACHE);
	if (kinds[i] == PAGEDET_KIND_SLAB) {
		c->likely = "a shrinker may free its objects";
		c->likely_confidence = PAGEDET_CONFIDENCE_LOW;
	}
	return true;
}

static bool to_be_written(struct pdet_case *c)
{
	return set(c, PAGEDET_PF_WRITEBACK, PAGEDET_CONFIDENCE_HIGH) ||
	       (pdet_row_is(&c->here, PAGEDET_KIND_FILE) &&
		set(c, PAGEDET_PF_DIRTY, PAGEDET_CONFIDENCE_HIGH));
}

static bool no_swap(struct pdet_case *c)
{
	if (c->e.no_swap != PAGEDET_YES ||
	    !(pdet_row_is(&c->here, PAGEDET_KIND_ANON) ||
	      pdet_row_is(&c->here, PAGEDET_KIND_SHMEM)) ||
	    pdet_row_flag(&c->here, PAGEDET_PF_SWAPBACKED) == PAGEDET_NO)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_HIGH;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_fact_known(c, "no_swap", c->e.no_swap, HERE);
	return true;
}

static bool in_use(struct pdet_case *c)
{
	if (!pdet_row_is_user(&c->here))
		return false;
	return set(c, PAGEDET_PF_ACTIVE, PAGEDET_CONFIDENCE_LOW) ||
	       set(c, PAGEDET_PF_REFERENCED, PAGEDET_CONFIDENCE_LOW);
}

static bool reclaimable(struct pdet_case *c)
{
	if (!pdet_row_is_user(&c->here) ||
	    pdet_row_flag(&c->here, PAGEDET_PF_LRU) != PAGEDET_YES ||
	    pdet_row_flag(&c->here, PAGEDET_PF_UNEVICTABLE) != PAGEDET_NO)
		return false;
	c->confidence = PAGEDET_CONFIDENCE_MEDIUM;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_fact_known(c, "no_swap", c->e.no_swap, HERE);
	if (pdet_row_pinned(&c->here, &c->confidence) == PAGEDET_DUNNO)
		pdet_unknown(c, pins_unknown);
	c->confidence = PAGEDET_CONFIDENCE_MEDIUM;
	if (!pdet_row_is(&c->here, PAGEDET_KIND_FILE) &&
	    c->e.no_swap == PAGEDET_DUNNO)
		pdet_unknown(c, "whether there is swap space");
	pdet_unknown(c, "limits that protect its cgroup (memory.min)");
	return true;
}

#define MOVE(id, verdict, name, fits, cause, advice) \
	PDET_RULE(id, NOT_MIGRATABLE, verdict, name, fits, cause, advice)
#define PIN(id, verdict, name, fits, cause, advice) \
	PDET_RULE(id, PINNED, verdict, name, fits, cause, advice)
#define KEEP(id, verdict, name, fits, cause, advice) \
	PDET_RULE(id, UNRECLAIMABLE, verdict, name, fits, cause, advice)

static const char ask_later[] = "ask again: it should pass";
static const char ask_deeper[] =
	"ask with a source that reads kernel memory (bpf, kcore), or a dump; or "
	"try MADV_PAGEOUT: a pinned page stays";

const struct pdet_rule pdet_rules_move[] = {
	MOVE(201, FINE, "nothing-to-move", nothing,
	     "there is nothing to move: the place is free, or has no page",
	     "nothing"),
	MOVE(202, CAUSE, "poisoned-stays", pdet_rest_on_poison,
	     "taken for a memory error: what is in it is not moved",
	     "look into the kernel log"),
	MOVE(203, CAUSE, "pinned-stays", pinned,
	     "pinned: a device or io_uring may be reading or writing it, so "
	     "it must stay where it is",
	     "find who registered it (io_uring buffers, RDMA, VFIO), and let "
	     "him go"),
	MOVE(204, CAUSE, "kernel-stays", fixed,
	     "memory of the kernel's own, which has addresses of it that "
	     "nobody can change",
	     "nothing; memory that must stay movable is kept apart by "
	     "movablecore= and ZONE_MOVABLE"),
	MOVE(205, CAUSE, "busy", busy,
	     "under writeback or locked at this moment", ask_later),
	MOVE(206, CAUSE, "referenced", referenced,
	     "somebody holds references beyond those of mappings and caches: "
	     "while they are held it cannot be moved", ask_later),
	MOVE(207, CAUSE, "off-list", off_list,
	     "not on an LRU list: taken off by reclaim or compaction, or not "
	     "put there yet", ask_later),
	MOVE(208, FINE, "movable", movable,
	     "nothing that can be seen keeps it from being moved", "nothing"),
	MOVE(209, CANNOT_TELL, "movable-unknown", pins_not_known,
	     "cannot tell whether it can be moved", ask_deeper),
	PIN(301, FINE, "nothing-to-pin", nothing,
	    "there is nothing to pin: the place is free, or has no page",
	    "nothing"),
	PIN(302, CAUSE, "pinned", pinned,
	    "pinned for long or direct access (FOLL_PIN)",
	    "find who registered it: io_uring buffers, RDMA, VFIO, direct "
	    "I/O"),
	PIN(303, CAUSE, "held", referenced,
	    "not pinned, but somebody holds references beyond those of "
	    "mappings and caches", ask_later),
	PIN(304, FINE, "not-pinned", not_pinned,
	    "not pinned: a pin would show in its counts", "nothing"),
	PIN(309, CANNOT_TELL, "pin-unknown", pins_not_known,
	    "cannot tell whether it is pinned", ask_deeper),
	KEEP(401, FINE, "nothing-to-reclaim", nothing,
	     "there is nothing to reclaim: the place is free, or has no page",
	     "nothing"),
	KEEP(402, CAUSE, "poisoned-kept", pdet_rest_on_poison,
	     "taken for a memory error: it is never used again",
	     "look into the kernel log"),
	KEEP(403, CAUSE, "not-on-lru", not_listed,
	     "memory that reclaim does not look at: it is on no LRU list",
	     "nothing; its owner must give it back"),
	KEEP(404, CAUSE, "mlocked", mlocked, "locked in memory (mlock)",
	     "see VmLck in /proc/PID/status of those who map it"),
	KEEP(405, CAUSE, "unevictable", unevictable,
	     "unevictable: of a segment that is locked, of ramfs or "
	     "secret memory", "nothing; its file must be removed or unlocked"),
	KEEP(406, CAUSE, "pinned-kept", pinned,
	     "pinned: it cannot be taken away from who accesses it",
	     "find who registered it (io_uring buffers, RDMA, VFIO)"),
	KEEP(407, CAUSE, "to-be-written", to_be_written,
	     "must be written to its file first", "sync, then ask again"),
	KEEP(408, CAUSE, "no-swap", no_swap,
	     "it could only go to swap, and there is no space",
	     "add swap (or zram)"),
	KEEP(409, CAUSE, "held-kept", referenced,
	     "somebody holds references beyond those of mappings and caches",
	     ask_later),
	KEEP(410, CAUSE, "off-list-kept", off_list,
	     "not on an LRU list: taken off, or not put there yet",
	     ask_later),
	KEEP(411, CAUSE, "in-use", in_use,
	     "used of late: reclaim takes older pages first",
	     "nothing; it can go when memory is short"),
	KEEP(412, FINE, "reclaimable", reclaimable,
	     "nothing that can be seen keeps reclaim from taking it",
	     "nothing"),
	KEEP(419, CANNOT_TELL, "reclaim-unknown", pins_not_known,
	     "cannot tell whether it can be reclaimed",
	     "ask as root, or a source that reads kernel memory"),
	{ { 0, NULL, NULL, NULL, 0, 0, 0, 0 }, NULL },
};
