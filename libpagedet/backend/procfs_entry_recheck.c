/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Whether the pages of a task are still where rows say. */
#include "backend/given_back.h"
#include "backend/procfs_task.h"

/* Whether the row has what was true of its frame in between only. */
static bool is_of_another(struct procfs_session *s, const struct pdet_batch *b,
			  uint32_t row)
{
	const uint64_t pfn = b->value[PAGEDET_FIELD_PFN][row];
	struct pdet_env *env = &s->session.env;
	unsigned read = pdet_given_back_read(b, row, PROCFS);
	uint64_t flags = 0, mapcount = 0;

	/* counted nowhere, and mapped in many places */
	if (pfn == s->pagemap.zero_pfn)
		return false;
	if (read & PDET_READ_FLAGS &&
	    procfs_kpage_one(s->p, env, KPAGE_FLAGS, pfn, &flags) != 1)
		return false;
	if (read & PDET_READ_MAPCOUNT &&
	    procfs_kpage_one(s->p, env, KPAGE_COUNT, pfn, &mapcount) != 1)
		return false;
	return read && pdet_given_back(b, row, PROCFS, read, flags, mapcount);
}

/* An entry that remembers a frame is no translation; its row says so. */
static bool is_translation(const struct pdet_batch *b, uint32_t row)
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

	/* Before the entries: what it still is then, it is at that address. */
	for (; row < end; row++)
		if (is_translation(b, row) && is_of_another(s, b, row))
			pdet_put_note(b, row, PAGEDET_NOTE_TORN);
	row = first;
	/* Runs of rows that are near each other are read with one call. */
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

			if (is_translation(b, row) &&
			    (got <= (ssize_t)i ||
			     !(s->words[i] & PDET_PM_PRESENT) ||
			     (s->words[i] & PDET_PM_PFN_MASK) != pfn[row]))
				pdet_put_note(b, row, PAGEDET_NOTE_TORN);
		}
	}
	return 0;
}
