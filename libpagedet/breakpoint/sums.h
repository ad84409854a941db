/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Sums of the watches of some objects, by the offset in the object: as if one
 * object at address 0 had been watched.
 */
#ifndef PDET_BREAKPOINT_SUMS_H
#define PDET_BREAKPOINT_SUMS_H

#include "breakpoint/write.h"

struct pdet_bp_sums {
	struct pdet_bp_object object; /* its bytes: of any of them */
	struct pdet_bp_plan plan; /* words at offsets, in ascending order */
	struct {
		struct pdet_bp_turns *data;
		size_t n, cap;
	} turns;		/* of each word */
	struct pdet_bp_hits hits;
};

/* pdet_bp_sums_init - @cache: the name that the objects have there; @bytes: of
 * each of them. */
void pdet_bp_sums_init(struct pdet_bp_sums *s, const char *cache,
		       uint64_t bytes);
void pdet_bp_sums_free(struct pdet_bp_sums *s);

/*
 * pdet_bp_sums_add - add what was seen of words. They are those of an object at
 * @base. Returns 0, or a negative errno with an error text: -EINVAL a word is
 * not in the object, or not one of those that were added before.
 */
int pdet_bp_sums_add(struct pdet_bp_sums *s, struct pdet_env *env,
		     const struct pdet_bp_text *seen, uint64_t base);

/* pdet_bp_sums_write - write them as a KMAP. Returns the same. */
int pdet_bp_sums_write(const struct pdet_bp_sums *s, struct pdet_env *env,
		       int fd);

#endif
