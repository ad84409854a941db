/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the numbers and codes of an object mean. */
#ifndef PDET_KMAP_OBJECT_H
#define PDET_KMAP_OBJECT_H

#include "kmap/line.h"

/* These return PAGEDET_KMAP_*. */
unsigned pdet_kmap_origin(const struct pdet_kmap_line *l, unsigned dialect);
unsigned pdet_kmap_end(const struct pdet_kmap_line *l);

/* pdet_kmap_code - the name of PAGEDET_KMAP_PREALLOCATED or CATCH_ALL. */
const char *pdet_kmap_code(unsigned origin);

/* pdet_kmap_is_nested - its memory is that of another object, too. */
bool pdet_kmap_is_nested(const struct pdet_kmap_line *l);

/* pdet_kmap_tells_nested - false: the code that would say so is not told. */
bool pdet_kmap_tells_nested(const struct pdet_kmap_line *l);

/* pdet_kmap_is_interrupt - it was not allocated for a thread. */
bool pdet_kmap_is_interrupt(const struct pdet_kmap_line *l);

/* pdet_kmap_has_thread - whether it is told who allocated it. */
bool pdet_kmap_has_thread(const struct pdet_kmap_line *l);

/* pdet_kmap_has_cache - whether it is of a slab cache that is told. */
bool pdet_kmap_has_cache(const struct pdet_kmap_line *l);

/*
 * pdet_kmap_lifetime - PAGEDET_HAVE and the time until the free, in ns, or if
 * @hz is 0 in jiffies; PAGEDET_NONE: it is live; or why it is not known.
 */
unsigned pdet_kmap_lifetime(const struct pdet_kmap_line *l, unsigned dialect,
			    uint64_t hz, uint64_t *ret);

#endif
