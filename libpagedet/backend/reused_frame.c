/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Detects states that a page mapped by a task never has, or almost never. */
#include "backend/reused_frame.h"
#include "kernel/page/kpf.h"

#define KIND(name) (UINT32_C(1) << PAGEDET_KIND_##name)
/* Kinds that tasks almost never map. */
#define ODD_KINDS (KIND(UNKNOWN) | KIND(FREE) | KIND(SLAB) | KIND(PGTABLE))

static bool said(const struct pdet_batch *b, uint32_t row, unsigned field,
		 unsigned source)
{
	return b->value[field] &&
	       b->cell[field][row] == PDET_CELL(PAGEDET_HAVE, source);
}

/*
 * The kernel does not count mappings of the zero page, nor of frames without
 * memory.
 */
static bool is_odd(uint64_t flags)
{
	return !(flags & (KPF(MMAP) | KPF(ZERO_PAGE) | KPF(NOPAGE)));
}

static bool is_zero(const struct pdet_batch *b, uint32_t row, unsigned source)
{
	if (said(b, row, PAGEDET_FIELD_FLAGS, source))
		return b->value[PAGEDET_FIELD_FLAGS][row] & KPF(ZERO_PAGE);
	return said(b, row, PAGEDET_FIELD_KIND, source) &&
	       b->value[PAGEDET_FIELD_KIND][row] == PAGEDET_KIND_ZERO;
}

unsigned pdet_reused_read(const struct pdet_batch *b, uint32_t row,
			  unsigned source)
{
	unsigned read = 0;

	if (said(b, row, PAGEDET_FIELD_FLAGS, source) ?
	    is_odd(b->value[PAGEDET_FIELD_FLAGS][row]) :
	    said(b, row, PAGEDET_FIELD_KIND, source) &&
		    ODD_KINDS >> b->value[PAGEDET_FIELD_KIND][row] & 1)
		read |= PDET_READ_FLAGS;
	if (said(b, row, PAGEDET_FIELD_MAPCOUNT, source) &&
	    !b->value[PAGEDET_FIELD_MAPCOUNT][row] && !is_zero(b, row, source))
		read |= PDET_READ_MAPCOUNT;
	return read;
}

/*
 * A page that is mapped but has no flags: the two files were read at different
 * times and disagree.
 */
static bool contradicts(const struct pdet_batch *b, uint32_t row,
			unsigned source)
{
	return said(b, row, PAGEDET_FIELD_FLAGS, source) &&
	       said(b, row, PAGEDET_FIELD_MAPCOUNT, source) &&
	       !b->value[PAGEDET_FIELD_FLAGS][row] &&
	       b->value[PAGEDET_FIELD_MAPCOUNT][row];
}

bool pdet_reused(const struct pdet_batch *b, uint32_t row, unsigned source,
		 unsigned read, uint64_t flags, uint64_t mapcount)
{
	if (contradicts(b, row, source))
		return true;
	if (read & PDET_READ_FLAGS && flags & KPF(MMAP) &&
	    (said(b, row, PAGEDET_FIELD_FLAGS, source) ||
	     !(ODD_KINDS >> pdet_kpf_kind(flags) & 1)))
		return true;
	return read & PDET_READ_MAPCOUNT && mapcount;
}

void pdet_reused_cached(struct pdet_batch *b, uint32_t first, uint32_t n)
{
	const uint64_t never = KPF(BUDDY) | KPF(SLAB) | KPF(PGTABLE) |
			       KPF(OFFLINE) | KPF(ANON) | KPF(NOPAGE);
	uint32_t row;

	if (!pdet_batch_has(b, PAGEDET_FIELD_FLAGS))
		return;
	for (row = first; row < first + n; row++)
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) ==
			    PAGEDET_HAVE &&
		    pdet_batch_get(b, row, PAGEDET_FIELD_FLAGS, 0) & never)
			pdet_put_note(b, row, PAGEDET_NOTE_TORN);
}
