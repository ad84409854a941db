/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Rules for events at the source: before the page was sent, after it was sent,
 * and after the source had stopped.
 */
#include "explain/evidence.h"
#include "explain/mismatch.h"

/* --- after the source had stopped --- */

static bool is_written_stopped(const struct pdet_case *c)
{
	const uint64_t ns = pdet_version(&c->e, STOPPED).ns;

	return c->e.file_ns && ns && c->e.file_ns > ns;
}

static void why_changed_here(struct pdet_case *c)
{
	c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
	if (c->e.counters_here == PAGEDET_YES) {
		c->likely = "broken memory: counters of machine checks moved";
	} else if (pdet_others_map(c) == PAGEDET_YES) {
		c->likely = "another process that maps the page wrote it";
	} else if (is_written_stopped(c)) {
		c->likely = "its file was written";
	} else {
		c->likely_confidence = PAGEDET_CONFIDENCE_NONE;
		pdet_unknown(c, "what may write it while its guest is stopped: "
			     "other mappings, its file, or devices and "
			     "io_uring with pages that they have pinned");
	}
}

/*
 * The peer must have the source's version, or there is a second fault. A
 * running peer may have changed it.
 */
static bool changed_here(struct pdet_case *c)
{
	if (!pdet_is_changed_here(c) || pdet_contents(c) == EQUAL ||
	    (pdet_compare(c, PEER, STOPPED) == DIFFERENT && !pdet_runs(c)))
		return false;
	if (c->e.stopped_drained != PAGEDET_YES)
		c->cause = "changed here after it was read as the source "
			   "stopped: something damaged it since, or a write "
			   "of the guest's device was in flight then, and the "
			   "peer lacks it";
	pdet_facts_versions(c);
	pdet_fact_known(c, "stopped_drained", c->e.stopped_drained,
			PAGEDET_SIDE_HERE);
	pdet_facts_still(c);
	pdet_facts_writers(c);
	pdet_facts_counters(c);
	pdet_facts_difference(c);
	why_changed_here(c);
	return true;
}

bool pdet_changed_here(struct pdet_case *c)
{
	return c->e.stopped_drained == PAGEDET_YES && changed_here(c);
}

/* It may have changed before the guest's devices had ended their writes. */
bool pdet_changed_at_stop(struct pdet_case *c)
{
	return c->e.stopped_drained != PAGEDET_YES && changed_here(c);
}

/* --- before the page was sent --- */

/*
 * The memory never had these contents, or nobody could have written them. A
 * guest may write a page and restore it between two looks (locks, page tables,
 * zero pages). Equal contents before and after therefore prove this only if no
 * write was seen. A page that is given back becomes zero without a write.
 */
bool pdet_before_tap(struct pdet_case *c)
{
	const bool framed = c->e.track == PAGEDET_WRITES_NONE &&
			    pdet_compare(c, SENT, BEFORE) == DIFFERENT &&
			    !pdet_is_zero(c, BEFORE, PAGEDET_YES) &&
			    (pdet_compare(c, BEFORE, STOPPED) == EQUAL ||
			     pdet_compare(c, BEFORE, NOW) == EQUAL);
	const bool stopped = c->e.sent_stopped == PAGEDET_YES &&
			     pdet_compare(c, SENT, STOPPED) == DIFFERENT;

	if (!pdet_is_not_resent(c) || pdet_is_changed_here(c) ||
	    !(framed || stopped))
		return false;
	pdet_fact_hash(c, BEFORE);
	pdet_facts_versions(c);
	pdet_fact_known(c, "sent_stopped", c->e.sent_stopped,
			PAGEDET_SIDE_HERE);
	pdet_facts_track(c);
	pdet_facts_sending(c);
	pdet_facts_difference(c);
	return true;
}

/* --- after the page was sent --- */

static void not_resent_facts(struct pdet_case *c)
{
	pdet_facts_versions(c);
	pdet_facts_track(c);
	pdet_facts_writers(c);
	pdet_facts_sending(c);
	pdet_facts_difference(c);
}

/* Without tracking, several causes leave the same versions. */
#define LOST "the dirty log lost a write of the guest (dirty-log-lost)"
#define PAST "something wrote past the tracked mapping (write-untracked)"
#define TAP "it was sent wrongly (changed-before-tap)"

static void name_all(struct pdet_case *c, const char *two, const char *three)
{
	const struct pdet_state tap = pdet_rival_before_tap.look(c);

	if (c->e.track == PAGEDET_WRITES_SEEN ||
	    c->e.track == PAGEDET_WRITES_NONE)
		return;
	c->cause = tap.state == PAGEDET_ALTERNATIVE_EXCLUDED ? two : three;
	if (c->otherwise)
		c->otherwise = "arm write tracking; look for what else maps "
			       "or writes the page, and check how the VMM "
			       "reads, compresses and queues pages; "
			       PDET_KEEP_BOTH;
}

static void name_all_later(struct pdet_case *c)
{
	name_all(c, "one of these two, and it cannot be told which: " LOST
		 ", or " PAST, "one of these three, and it cannot be told "
		 "which: " LOST ", " PAST ", or " TAP);
}

static bool is_written_later(const struct pdet_case *c)
{
	return pdet_is_not_resent(c) && !pdet_is_changed_here(c) &&
	       pdet_compare(c, PEER, STOPPED) != EQUAL &&
	       pdet_compare(c, SENT, STOPPED) != EQUAL && !pdet_never_sent(c) &&
	       c->e.sent_stopped != PAGEDET_YES;
}

/*
 * Memory that is the same before and afterwards was sent wrongly, or written
 * and restored meanwhile. Only write tracking can exclude that.
 */
static void framed_facts(struct pdet_case *c)
{
	if (pdet_compare(c, BEFORE, STOPPED) != EQUAL ||
	    pdet_compare(c, SENT, BEFORE) != DIFFERENT)
		return;
	pdet_fact_hash(c, BEFORE);
	c->likely = "it was sent wrongly: memory had the same other bytes "
		    "before it was sent and when the source had stopped";
	c->likely_confidence = PAGEDET_CONFIDENCE_LOW;
}

bool pdet_zero_race(struct pdet_case *c)
{
	if (!pdet_is_zero(c, PEER, PAGEDET_YES) ||
	    !pdet_is_zero(c, SENT, PAGEDET_YES) || !is_written_later(c) ||
	    c->e.track == PAGEDET_WRITES_NONE)
		return false;
	name_all(c, "sent as a zero page, and then one of these two, and it "
		 "cannot be told which: " LOST ", or " PAST, "one of these "
		 "three, and it cannot be told which: it was sent as a zero "
		 "page, and " LOST "; the same, and " PAST "; or " TAP);
	framed_facts(c);
	not_resent_facts(c);
	return true;
}

static bool is_other_writer(const struct pdet_case *c)
{
	return pdet_others_map(c) == PAGEDET_YES ||
	       c->e.file_written == PAGEDET_YES || pdet_file_moved(c);
}

/* A write through a mapping changes the mtime on some filesystems, too. */
static void why_untracked(struct pdet_case *c)
{
	const bool maps = pdet_others_map(c) == PAGEDET_YES;
	const bool file = c->e.file_written == PAGEDET_YES;

	c->likely_confidence = PAGEDET_CONFIDENCE_MEDIUM;
	if (maps && file)
		c->likely = "another process that maps the page wrote it, or "
			    "its file was written";
	else if (maps)
		c->likely = "another process that maps the page wrote it";
	else if (file)
		c->likely = "its file was written";
	else
		c->likely = "its file was written, or a process that has ended "
			    "mapped it";
}

bool pdet_untracked_by(struct pdet_case *c)
{
	if (!is_written_later(c) || c->e.track != PAGEDET_WRITES_NONE ||
	    !is_other_writer(c))
		return false;
	why_untracked(c);
	not_resent_facts(c);
	return true;
}

/* Even without tracking, the mtime of the file supports this. */
bool pdet_untracked(struct pdet_case *c)
{
	const bool none = c->e.track == PAGEDET_WRITES_NONE;

	if (!is_written_later(c) || c->e.track == PAGEDET_WRITES_SEEN ||
	    !(none || c->e.file_written == PAGEDET_YES))
		return false;
	if (none)
		pdet_unknown(c, "what else may write it: other mappings, "
			     "descriptors of its file, or devices and io_uring "
			     "with pages that they have pinned");
	else
		why_untracked(c);
	name_all_later(c);
	not_resent_facts(c);
	return true;
}

bool pdet_dirty_log_lost(struct pdet_case *c)
{
	if (!is_written_later(c) || c->e.track == PAGEDET_WRITES_NONE)
		return false;
	name_all_later(c);
	framed_facts(c);
	not_resent_facts(c);
	return true;
}
