/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * When a turn counts. The time is that of all processors, and may be 0 although
 * one of them watched already, and had hits.
 */
#include "breakpoint/write.h"

void pdet_bp_turns_add(struct pdet_bp_turns *t, uint64_t ns, uint64_t hits,
		       bool limited)
{
	t->ns += ns;
	t->turn_ns += ns;
	t->turn_hits += hits;
	t->limited += limited;
}

void pdet_bp_turns_end(struct pdet_bp_turns *t, bool may_sleep)
{
	t->windows += t->turn_ns || t->turn_hits || may_sleep;
	t->turn_ns = t->turn_hits = 0;
}
