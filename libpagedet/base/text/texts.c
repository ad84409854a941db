/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Stores texts one after the other, each preceded by its length. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/texts.h"
#include "base/vec.h"

void pdet_texts_free(struct pdet_texts *t)
{
	pdet_pairs_free(&t->at);
	pdet_vec_free(&t->bytes);
}

bool pdet_texts_add(struct pdet_texts *t, uint64_t id, const char *text,
		    size_t len)
{
	const size_t at = t->bytes.n;
	uint64_t there;

	if (pdet_pairs_get(&t->at, id, &there))
		return true;
	if (!pdet_vec_reserve(&t->bytes, sizeof(len) + len) ||
	    !pdet_pairs_set(&t->at, id, at))
		return false;
	memcpy(t->bytes.data + at, &len, sizeof(len));
	if (len)
		memcpy(t->bytes.data + at + sizeof(len), text, len);
	t->bytes.n += sizeof(len) + len;
	return true;
}

int pdet_texts_get(const struct pdet_texts *t, uint64_t id,
		   struct pdet_text *ret)
{
	struct pdet_text copy;
	uint64_t at;

	if (!pdet_pairs_get(&t->at, id, &at))
		return -ENOENT;
	memcpy(&copy.len, t->bytes.data + at, sizeof(copy.len));
	copy.data = malloc(copy.len + 1);
	if (!copy.data)
		return -ENOMEM;
	memcpy(copy.data, t->bytes.data + at + sizeof(copy.len), copy.len);
	copy.data[copy.len] = '\0';
	*ret = copy;
	return 0;
}
