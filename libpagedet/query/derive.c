/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Computes class, hash and entropy from bytes that a source has read. It reads
 * no page itself.
 */
#include "base/hash.h"
#include "content/entropy.h"
#include "query/derive.h"
#include "schema/page_bytes.h"

#define CONTENT PAGEDET_FIELD_CONTENT
#define DERIVED PAGEDET_SOURCE_DERIVED

static uint64_t derive(const struct pdet_batch *b, const char *page,
		       unsigned field, const void *secret)
{
	const size_t n = b->bytes->page_size;

	return field == PAGEDET_FIELD_HASH ? pdet_hash_keyed(page, n, secret) :
					     pdet_entropy(page, n);
}

static void derive_row(struct pdet_batch *b, uint32_t row, unsigned field,
		       const void *secret)
{
	const unsigned state = pdet_batch_state(b, row, CONTENT);
	const char *page;

	if (state == PAGEDET_NOT_ASKED)
		return;
	if (state == PAGEDET_NONE) {
		pdet_put_none(b, row, field, DERIVED);
		return;
	}
	page = pdet_page_bytes_of(b->bytes, row);
	if (page && state == PAGEDET_HAVE)
		pdet_put(b, row, field, derive(b, page, field, secret),
			 DERIVED);
	else
		/* Another source may have given the class. */
		pdet_put_lost(b, row, field, state == PAGEDET_HAVE ?
			      PAGEDET_UNSUPPORTED : state, DERIVED);
}

void pdet_derive_bytes(struct pdet_batch *b, const struct pdet_fields *fields,
		       const void *secret)
{
	static const uint8_t derived[] = {
		PAGEDET_FIELD_HASH, PAGEDET_FIELD_ENTROPY,
	};
	bool wanted[sizeof(derived)], any = false;
	uint32_t row;
	unsigned i;

	for (i = 0; i < sizeof(derived); i++) {
		wanted[i] = pdet_fields_has(fields, derived[i]) &&
			    b->value[derived[i]];
		any |= wanted[i];
	}
	if (!any)
		return;
	/* Compute both while the page is in the processor's cache. */
	for (row = 0; row < b->n; row++)
		for (i = 0; i < sizeof(derived); i++)
			if (wanted[i] && !b->cell[derived[i]][row])
				derive_row(b, row, derived[i], secret);
}
