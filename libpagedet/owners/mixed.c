/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Counts page blocks. While records are read, the block is one more key, so a
 * block counts once in a group, whichever threads read its records.
 */
#include <string.h>

#include "base/env.h"
#include "owners/mixed.h"

unsigned pdet_mixed_record(const struct pdet_owner_record *r)
{
	const size_t len = (size_t)(r->type.end - r->type.at);
	struct pdet_scan value;
	uint64_t block;

	if (r->has & (PDET_OWNER_STACK_ONLY | PDET_OWNER_OLD))
		return PAGEDET_UNSUPPORTED;
	if (!pdet_owner_block(r, &block))
		return PAGEDET_CORRUPT;
	if ((size_t)(r->block_type.end - r->block_type.at) == len &&
	    !memcmp(r->type.at, r->block_type.at, len))
		return PAGEDET_NONE;
	return pdet_owner_flag(r, "reserved", &value) ? PAGEDET_NONE :
							PAGEDET_HAVE;
}

/* Adds a group to the one that has the same keys without the last. */
static bool join(struct pdet_owner_table *to, const struct pdet_owner_table *t,
		 size_t group)
{
	const int64_t at = pdet_owner_table_find(to,
			pdet_groups_value(&t->groups, group),
			pdet_groups_state(&t->groups, group));

	if (at < 0)
		return false;
	pdet_owner_total_join(&to->totals.data[at], &t->totals.data[group]);
	to->totals.data[at].blocks++;
	return true;
}

bool pdet_mixed_fold(struct pdet_owner_table *t, uint64_t *blocks)
{
	const unsigned last = t->groups.n_keys - 1;
	struct pdet_owner_table to = { .groups = { .n_keys = last } };
	struct pdet_groups all = { .n_keys = 1 };
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < t->totals.n; i++)
		ok = join(&to, t, i) &&
		     pdet_groups_find(&all,
				      pdet_groups_value(&t->groups, i) + last,
				      pdet_groups_state(&t->groups, i) +
					      last) >= 0;
	ok = ok && pdet_groups_add_texts(&to.groups, &t->groups);
	*blocks = all.n;
	pdet_groups_free(&all);
	if (!ok) {
		pdet_owner_table_free(&to);
		return false;
	}
	pdet_owner_table_free(t);
	*t = to;
	return true;
}
