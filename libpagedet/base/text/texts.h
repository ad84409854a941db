/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Stores texts under ids that the caller chooses, such as stack hashes. */
#ifndef PDET_BASE_TEXT_TEXTS_H
#define PDET_BASE_TEXT_TEXTS_H

#include "base/io.h"
#include "base/pairs.h"

/* A zeroed struct is empty. */
struct pdet_texts {
	struct pdet_pairs at;	/* offset in bytes */
	struct {
		char *data;
		size_t n, cap;
	} bytes;		/* for each text its length, then the text */
};

void pdet_texts_free(struct pdet_texts *t);

/* pdet_texts_add - the first text of an id stays. False if memory is short. */
bool pdet_texts_add(struct pdet_texts *t, uint64_t id, const char *text,
		    size_t len);

/* pdet_texts_get - a copy, to be freed with pdet_text_free(). -ENOENT: no text
 * has this id; or -ENOMEM. */
int pdet_texts_get(const struct pdet_texts *t, uint64_t id,
		   struct pdet_text *ret);

#endif
