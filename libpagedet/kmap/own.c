/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* One access of another module decides, whatever is not known of the rest. */
#include "kmap/object.h"
#include "kmap/own.h"

static enum pdet_kmap_own compare(struct pdet_kmap_keys *k,
				  const struct pdet_kmap_object *o,
				  uint64_t owner, bool owner_known)
{
	bool known = owner_known && o->accesses.n == o->n_accesses;
	uint64_t module = 0;
	size_t i;
	int r;

	for (i = 0; i < o->accesses.n; i++) {
		r = pdet_kmap_keys_module(k, &o->accesses.data[i].site, false,
					  &module);
		if (r < 0)
			return PDET_KMAP_NO_MEMORY;
		if (r && owner_known && module != owner)
			return PDET_KMAP_FOREIGN;
		known &= r;
	}
	return known ? PDET_KMAP_OWN : PDET_KMAP_UNDECIDED;
}

enum pdet_kmap_own pdet_kmap_own(struct pdet_kmap_keys *k,
				 const struct pdet_kmap_object *o)
{
	const unsigned origin = pdet_kmap_origin(&o->line, k->dialect);
	uint64_t owner = 0;
	int r = 0;

	if (!o->n_accesses || origin == PAGEDET_KMAP_CATCH_ALL ||
	    origin == PAGEDET_KMAP_PREALLOCATED)
		return PDET_KMAP_NEITHER;
	if (origin == PAGEDET_KMAP_CALL)
		r = pdet_kmap_keys_module(k, &o->line.site, true, &owner);
	return r < 0 ? PDET_KMAP_NO_MEMORY : compare(k, o, owner, r);
}
