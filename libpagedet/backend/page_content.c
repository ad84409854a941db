/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decides which rows do not have a page to read, and which pages must not be
 * read.
 */
#include "backend/page_content.h"
#include "content/content.h"
#include "schema/page_bytes.h"

#include <string.h>

#define F(name) PAGEDET_FIELD_##name

/* The state for an address without a frame. */
static unsigned without_frame(const struct pdet_batch *b, uint32_t row,
			      unsigned state)
{
	/* The page is swapped out: reading it would bring it back. */
	if (pdet_batch_get(b, row, F(PTE), 0) &
	    PAGEDET_PTE(PAGEDET_PTE_SWAPPED))
		return PAGEDET_TOO_COSTLY;
	return state == PAGEDET_HAVE ? PAGEDET_UNSUPPORTED : state;
}

/* A frame number kept in a non-present entry. */
static unsigned remembered(uint64_t pte)
{
	return pte & (PAGEDET_PTE(PAGEDET_PTE_HWPOISON) |
		      PAGEDET_PTE(PAGEDET_PTE_DEVICE)) ?
		       PAGEDET_UNSAFE : PAGEDET_RACED;
}

unsigned pdet_content_why_not(const struct pdet_batch *b, uint32_t row,
			      bool live)
{
	const unsigned state = pdet_batch_state(b, row, F(PFN));
	const unsigned kind = (unsigned)pdet_batch_get(
			b, row, F(KIND), PAGEDET_KIND_UNKNOWN);
	unsigned has_flags;
	uint64_t flags;

	if (state != PAGEDET_HAVE)
		return without_frame(b, row, state);
	if (pdet_batch_get(b, row, F(NOTES), 0) &
	    PAGEDET_NOTE(PAGEDET_NOTE_STALE))
		return remembered(pdet_batch_get(b, row, F(PTE), 0));
	has_flags = pdet_batch_state(b, row, F(FLAGS));
	/* A mapping outside memory is a device. */
	if (kind == PAGEDET_KIND_HOLE)
		return pdet_batch_get(b, row, F(PTE), 0) &
			PAGEDET_PTE(PAGEDET_PTE_PRESENT) ? PAGEDET_UNSAFE :
							   PAGEDET_NONE;
	if (has_flags != PAGEDET_HAVE) {
		if (!live)
			return PAGEDET_HAVE;
		/* It is unknown whether the page is poisoned. */
		return pdet_is_reason(has_flags) ? has_flags : PAGEDET_UNSAFE;
	}
	flags = b->value[F(FLAGS)][row];
	/* a device, or offline */
	if (flags & (PDET_UNREADABLE | PAGEDET_PF(PAGEDET_PF_NOPAGE)))
		return PAGEDET_UNSAFE;
	return PAGEDET_HAVE;
}

void pdet_content_take(struct pdet_batch *b, uint32_t row, unsigned source)
{
	const char *page = pdet_page_bytes_take(b->bytes, row);
	char buf[PDET_CONTENT_NAME];
	const char *name = pdet_content_class(page, b->bytes->page_size, buf);

	pdet_put_text(b, row, F(CONTENT), name, strlen(name), source);
}
