/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Whether only the module that allocated an object has accessed it. */
#ifndef PDET_KMAP_OWN_H
#define PDET_KMAP_OWN_H

#include "kmap/keys.h"

enum pdet_kmap_own {
	PDET_KMAP_OWN,		/* only that one */
	PDET_KMAP_FOREIGN,	/* another one, too */
	PDET_KMAP_NEITHER,	/* nobody has, or it is not an allocation */
	PDET_KMAP_UNDECIDED,	/* the module of a place is not known */
	PDET_KMAP_NO_MEMORY
};

enum pdet_kmap_own pdet_kmap_own(struct pdet_kmap_keys *k,
				 const struct pdet_kmap_object *o);

#endif
