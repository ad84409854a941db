/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border of verification: what the kernel says of all that is live. */
#include <errno.h>
#include <stdlib.h>

#include "allocs/pairing.h"
#include "api/kmem/live.h"

static int take(void *arg, const struct pdet_live_row *row)
{
	struct pdet_alloc_verdict *verdicts = arg;
	struct pdet_alloc_verdict *to =
		&verdicts[PDET_ALLOC_PARTS * row->live->group +
			  (pdet_kmem_is_page(row->live->kind) ?
			   PDET_OF_PAGES : PDET_OF_OBJECTS)];

	if (row->state == PAGEDET_OBJECT_USED) {
		to->live++;
		to->live_bytes += row->live->allocated;
	} else if (row->state == PAGEDET_OBJECT_FREE) {
		to->free++;
	}
	return 0;
}

int pagedet_allocs_verify(struct pagedet *pd, struct pagedet_allocs *allocs,
			  const struct pagedet_verify_options *options)
{
	static const struct pagedet_verify_options defaults =
		PAGEDET_VERIFY_OPTIONS_INIT;
	struct pagedet_verify_options o;
	struct pdet_live_question q = { .options = &o, .take = take,
					.verifies = true };
	struct pdet_alloc_verdict *verdicts;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_verify_options");
	if (r < 0)
		return r;
	if (o.any_boot > 1 || o.reserved)
		return pdet_fail(&pd->env, E2BIG, "the verification of "
				 "allocations does not have this option");
	verdicts = calloc(PDET_ALLOC_PARTS * pdet_allocs_groups(allocs->a) + 1,
			  sizeof(*verdicts));
	if (!verdicts)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	q.arg = verdicts;
	r = pdet_ask_live(pd, allocs, &q);
	if (r == 0)
		r = pdet_allocs_verified(allocs->a, &pd->env, verdicts);
	free(verdicts);
	return r;
}
