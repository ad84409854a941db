/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Checks that the pages of a task are still at the addresses of their rows. */
#include "backend/procfs/task.h"
#include "backend/reused_frame.h"

/* The source of the row's values about its page. */
static unsigned source_of(const struct pdet_batch *b, uint32_t row)
{
	static const uint8_t fields[] = {
		PAGEDET_FIELD_FLAGS, PAGEDET_FIELD_KIND, PAGEDET_FIELD_MAPCOUNT,
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(fields); i++)
		if (pdet_batch_has(b, fields[i]) &&
		    pdet_batch_state(b, row, fields[i]) == PAGEDET_HAVE)
			return PAGEDET_CELL_SOURCE(b->cell[fields[i]][row]);
	return PROCFS;
}

/* True if the row has values from a time when the frame was in other use. */
static bool is_of_another(struct procfs_session *s, const struct pdet_batch *b,
			  uint32_t row)
{
	const uint64_t pfn = b->value[PAGEDET_FIELD_PFN][row];
	struct pdet_env *env = &s->session.env;
	const unsigned source = source_of(b, row);
	const unsigned read = pdet_reused_read(b, row, source);
	uint64_t flags = 0, mapcount = 0;

	/* its mappings are not counted, although it is mapped in many places */
	if (pfn == s->pagemap.zero_pfn)
		return false;
	if (read & PDET_READ_FLAGS &&
	    procfs_kpage_one(s->p, env, KPAGE_FLAGS, pfn, &flags) != 1)
		return false;
	if (read & PDET_READ_MAPCOUNT &&
	    procfs_kpage_one(s->p, env, KPAGE_COUNT, pfn, &mapcount) != 1)
		return false;
	return read && pdet_reused(b, row, source, read, flags, mapcount);
}

/* The normal case: only flags were read, and a mapped page can have these
 * flags. Nothing must be read again. */
static inline bool is_usual(const struct pdet_batch *b, uint32_t row)
{
	const unsigned f = PAGEDET_FIELD_FLAGS;

	return b->value[f] && !b->value[PAGEDET_FIELD_MAPCOUNT] &&
	       pdet_batch_state(b, row, f) == PAGEDET_HAVE &&
	       b->value[f][row] & KPF(MMAP);
}

/*
 * A non-present entry with a frame number is not a translation, and its row
 * says so.
 */
static inline bool is_translation(const struct pdet_batch *b, uint32_t row)
{
	return pdet_batch_state(b, row, PAGEDET_FIELD_PFN) == PAGEDET_HAVE &&
	       !(pdet_batch_get(b, row, PAGEDET_FIELD_NOTES, 0) &
		 PAGEDET_NOTE(PAGEDET_NOTE_STALE));
}

int procfs_recheck(struct pdet_session *base, struct pdet_task *task,
		   struct pdet_batch *b, uint32_t first, uint32_t n)
{
	struct procfs_session *s = procfs_session_of(base);
	struct procfs_task *t = procfs_task_of(task);
	const uint64_t *vaddr = b->value[PAGEDET_FIELD_VADDR];
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	const unsigned shift = s->p->page_shift;
	uint32_t row = first, end = first + n, to;

	/*
	 * Check pages before entries: a page that is unchanged while the entry
	 * still points to it is the right one.
	 */
	for (; row < end; row++)
		if (!is_usual(b, row) && is_translation(b, row) &&
		    is_of_another(s, b, row))
			pdet_put_note(b, row, PAGEDET_NOTE_TORN);
	row = first;
	/* Read nearby rows with one call. */
	while (row < end) {
		uint64_t base_addr = vaddr[row];
		ssize_t got;

		for (to = row + 1; to < end; to++)
			if (vaddr[to] < vaddr[to - 1] ||
			    (vaddr[to] - vaddr[to - 1]) >> shift > 64 ||
			    (vaddr[to] - base_addr) >> shift >= PROCFS_WORDS)
				break;
		got = procfs_pagemap_words(base, t, base_addr,
					   ((vaddr[to - 1] - base_addr) >>
					    shift) + 1, s->words);
		for (; row < to; row++) {
			size_t i = (vaddr[row] - base_addr) >> shift;

			if (got > (ssize_t)i &&
			    s->words[i] & PDET_PM_PRESENT &&
			    (s->words[i] & PDET_PM_PFN_MASK) == pfn[row])
				continue;
			if (is_translation(b, row))
				pdet_put_note(b, row, PAGEDET_NOTE_TORN);
		}
	}
	return 0;
}
