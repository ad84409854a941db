/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes large folios in a run. A folio's state is in its first two struct
 * pages. Folios with equal words there share one result for each position.
 *
 * bench: dump
 */
#include "kernel/page/run_parts.h"

static void forget(struct pdet_page_run_large *said)
{
	said->head.has = said->second.has = said->tail.has = false;
}

/* Load its first two struct pages, from the run if they are in it. */
static void load_folio(struct pdet_page_run *run,
		       const struct pdet_page_run_at *at, uint64_t head)
{
	const size_t size = run->layout->size[PDET_SIZE_PAGE];
	int r = 0;

	run->folio.addr = head;
	forget(&run->folio.said);
	if (head >= at->start && head + 2 * size <= at->end) {
		memcpy(run->folio.pages, at->pages + (head - at->start),
		       2 * size);
	} else {
		run->reads++;
		r = pdet_space_read(run->space, head, run->folio.pages,
				    2 * size);
	}
	run->folio.error = r;
	run->folio.has_second = !r;
	run->folio.has_first = !r || !pdet_space_read(run->space, head,
						      run->folio.pages, size);
}

/* Find an equal folio that was decoded before; it is usually the last one. */
static void find_folio(struct pdet_page_run *run,
		       const struct pdet_page_run_at *at)
{
	const size_t size = run->layout->size[PDET_SIZE_PAGE];
	const char *second = run->folio.pages + size;
	struct pdet_page_run_folio *same = run->folio.same;
	struct pdet_page_folio_key key;
	uint64_t hash;

	run->folio.same = NULL;
	if (at->numbers || !run->folio.has_second)
		return;
	if (!same || !pdet_page_has_folio_key(&run->alike, run->folio.pages,
					      second, &same->key)) {
		hash = pdet_page_folio_key(&run->alike, run->folio.pages,
					   second, &key);
		same = &run->folios[hash % PDET_PAGE_RUN_FOLIOS];
		if (!same->used || memcmp(&same->key, &key, 2 * size)) {
			same->used = true;
			forget(&same->said);
			memcpy(&same->key, &key, 2 * size);
		}
	}
	run->folio.same = same;
}

void pdet_page_enter_folio(struct pdet_page_run *run,
			   const struct pdet_page_run_at *at, uint64_t head)
{
	if (run->folio.addr == head)
		return;
	load_folio(run, at, head);
	find_folio(run, at);
}

static void decode_large(struct pdet_page_run *run, const char *page,
			 bool is_head, struct pdet_page_facts *f)
{
	const char *second = run->folio.pages +
			     run->layout->size[PDET_SIZE_PAGE];

	pdet_page_decode(run->layout, page,
			 is_head ? page :
			 run->folio.has_first ? run->folio.pages : NULL,
			 run->folio.has_second ? second : NULL, f);
}

const struct pdet_page_facts *pdet_page_say(struct pdet_page_run *run,
					    struct pdet_page_run_said *said,
					    const char *page, bool is_head)
{
	const struct pdet_layout *l = run->layout;
	const uint64_t flags = pdet_page_u64(l, page, PDET_MEMBER_PAGE_FLAGS);
	const int32_t mapcount = pdet_page_i32(l, page,
					       PDET_MEMBER_PAGE_MAPCOUNT);

	if (pdet_page_says(said, flags, mapcount))
		return &said->facts;
	decode_large(run, page, is_head, &said->facts);
	said->has = true;
	said->flags = flags;
	said->mapcount = mapcount;
	said->joins.turn = 0;
	return &said->facts;
}
