/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Texts by an id that is the caller's, as the hash of a stack is. */
#ifndef PDET_BASE_TEXTS_H
#define PDET_BASE_TEXTS_H

#include "base/io.h"
#include "base/pairs.h"

/* Zero is empty. */
struct pdet_texts {
	struct pdet_pairs at;	/* where in bytes */
	struct {
		char *data;
		size_t n, cap;
	} bytes;		/* of each its length, then itself */
};

void pdet_texts_free(struct pdet_texts *t);

/* pdet_texts_add - the first one of an id stays. False without memory. */
bool pdet_texts_add(struct pdet_texts *t, uint64_t id, const char *text,
		    size_t len);

/* pdet_texts_get - a copy, for pdet_text_free(). -ENOENT there is none of that
 * id, or -ENOMEM. */
int pdet_texts_get(const struct pdet_texts *t, uint64_t id,
		   struct pdet_text *ret);

#endif
