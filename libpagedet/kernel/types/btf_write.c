/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Appends types and strings to the arrays of a BTF writer. */
#include <string.h>

#include "base/vec.h"
#include "kernel/types/btf_write.h"

void pdet_btf_writer_free(struct pdet_btf_writer *w)
{
	pdet_vec_free(&w->words);
	pdet_vec_free(&w->strings);
	memset(w, 0, sizeof(*w));
}

uint32_t pdet_btf_put_string(struct pdet_btf_writer *w, const char *text)
{
	const size_t len = text ? strlen(text) + 1 : 1;
	uint32_t at;

	/* The first string is empty. */
	if (!w->strings.n && !pdet_vec_push(&w->strings, '\0'))
		w->failed = true;
	if (len == 1 || w->failed)
		return 0;
	if (w->strings.n + len > UINT32_MAX / 2 ||
	    !pdet_vec_reserve(&w->strings, len)) {
		w->failed = true;
		return 0;
	}
	at = (uint32_t)w->strings.n;
	memcpy(w->strings.data + at, text, len);
	w->strings.n += len;
	return at;
}

uint32_t pdet_btf_put(struct pdet_btf_writer *w, const char *name,
		      uint32_t info, uint32_t vlen, uint32_t size,
		      const uint32_t *words, size_t n)
{
	const uint32_t flag = info & PDET_BTF_FLAG;
	const uint32_t head[] = {
		pdet_btf_put_string(w, name),
		flag | (info & 31) << 24 | vlen, size,
	};

	if (w->failed || w->n == UINT32_MAX ||
	    !pdet_vec_reserve(&w->words, n + 3)) {
		w->failed = true;
		return 0;
	}
	memcpy(w->words.data + w->words.n, head, sizeof(head));
	w->words.n += 3;
	if (n)
		memcpy(w->words.data + w->words.n, words, n * sizeof(*words));
	w->words.n += n;
	return ++w->n;
}
