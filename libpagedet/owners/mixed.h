/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Mixed page blocks: those that hold a page whose allocation asked for another
 * type of block. The kernel counts them in /proc/pagetypeinfo.
 */
#ifndef PDET_OWNERS_MIXED_H
#define PDET_OWNERS_MIXED_H

#include "kernel/owner/text.h"
#include "owners/table.h"

/*
 * pdet_mixed_record - whether a record makes its block mixed: PAGEDET_HAVE if
 * it does, PAGEDET_NONE if not, or why that is not known. The kernel passes
 * over reserved pages.
 */
unsigned pdet_mixed_record(const struct pdet_owner_record *r);

/*
 * pdet_mixed_fold - join groups that differ only in their last key, the block.
 * Each of the joined groups gets the number of its blocks; *@blocks gets the
 * number of all. Returns false without memory; then @t is unchanged.
 */
bool pdet_mixed_fold(struct pdet_owner_table *t, uint64_t *blocks);

#endif
