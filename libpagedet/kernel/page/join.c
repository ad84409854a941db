/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Counts pages that equal one decoded a moment ago, by comparing a few words.
 * Any other page is left to the decoder.
 *
 * bench: bpf
 */
#include "kernel/page/run.h"
#include "kernel/page/run_parts.h"

/* The page being examined. */
struct seen {
	const char *page;
	uint64_t pfn, flags;
	int32_t mapcount;
};

static struct seen look(const struct pdet_layout *l, const char *page,
			uint64_t pfn)
{
	return (struct seen){
		page, pfn, pdet_page_u64(l, page, PDET_MEMBER_PAGE_FLAGS),
		pdet_page_i32(l, page, PDET_MEMBER_PAGE_MAPCOUNT),
	};
}

static uint64_t head_of(const struct pdet_layout *l, const char *page)
{
	return pdet_page_u64(l, page, PDET_MEMBER_PAGE_COMPOUND_HEAD);
}

/* An uninitialised page may look like any other. */
static bool may_be_uniform(uint64_t flags)
{
	return flags == (flags << 8 | flags >> 56);
}

/* --- small pages --- */

static const struct pdet_page_run_element *
find_small(struct pdet_page_run *run, const struct pdet_page_run_at *at,
	   const struct seen *s)
{
	const struct pdet_layout *l = run->layout;
	const uint64_t flags = s->flags & run->own;
	const struct pdet_page_run_slot *slot;
	unsigned free = PDET_PAGE_FREE_UNKNOWN;
	uint64_t rest;

	if (run->zeros.known && s->pfn == run->zeros.pfn)
		return NULL;
	rest = pdet_page_sort(l, s->page, s->mapcount,
			      pdet_page_i32(l, s->page,
					    PDET_MEMBER_PAGE_REFCOUNT));
	slot = pdet_page_find_slot(run, flags, rest);
	if (!slot->same.used || slot->flags != flags || slot->rest != rest)
		return NULL;
	if (!slot->same.may_be_free)
		pdet_page_leave_block(run);
	else if (s->pfn < run->free_end)
		free = PDET_FREE_BLOCK;
	else if (s->pfn != run->next && !run->free_end)
		return NULL;
	else if (!run->free_lost && l->type.known[PDET_TYPE_BUDDY])
		free = PDET_FREE_NOT;
	return slot->same.joins[free].turn == at->turn ?
	       &slot->same.joins[free] : NULL;
}

/*
 * Count all equal pages in a free block. Elsewhere count one, because
 * neighbours are seldom equal.
 */
static size_t join_small(struct pdet_page_run *run,
			 const struct pdet_page_run_at *at,
			 const struct seen *s, size_t most, uint64_t *count)
{
	const struct pdet_page_run_element *e = find_small(run, at, s);
	size_t n = 1;

	if (!e)
		return 0;
	if (s->pfn < run->free_end) {
		most = PDET_MIN(most, run->free_end - s->pfn);
		/* the zero page differs from its neighbours */
		if (run->zeros.known && run->zeros.pfn > s->pfn)
			most = PDET_MIN(most, run->zeros.pfn - s->pfn);
		n += pdet_page_count_alike(&run->alike, s->page,
					   PDET_PAGE_PLAIN, most - 1);
	}
	count[e->element] += n;
	return n;
}

/* --- large folios --- */

static bool has_element(const struct pdet_page_run_said *said,
			const struct pdet_page_run_at *at, const struct seen *s)
{
	return pdet_page_says(said, s->flags, s->mapcount) &&
	       said->joins.turn == at->turn;
}

static bool has_zero(const struct pdet_page_zeros *z, uint64_t pfn, uint64_t n)
{
	return z->known && (z->pfn - pfn < n || z->huge - pfn < n ||
			    pfn - z->huge < z->n_huge);
}

/* The remaining tails of the folio, beginning with @s. */
static size_t join_tails(struct pdet_page_run *run,
			 const struct pdet_page_run_at *at,
			 const struct seen *s, size_t most, uint64_t *count)
{
	const struct pdet_page_run_said *said = pdet_page_said(run, 2);
	size_t n;

	if (!has_element(said, at, s))
		return 0;
	n = 1 + pdet_page_count_alike(&run->alike, s->page, PDET_PAGE_TAIL,
				      most - 1);
	count[said->joins.element] += n;
	return n;
}

/* As many pages of the folio as the run has. */
static size_t join_folio(struct pdet_page_run *run,
			 const struct pdet_page_run_at *at,
			 const struct seen *first, uint64_t addr, size_t most,
			 uint64_t *count)
{
	const struct pdet_layout *l = run->layout;
	const size_t size = l->size[PDET_SIZE_PAGE];
	const struct pdet_page_run_said *head, *next;
	struct seen second, third;
	uint64_t pages;

	if (most < 2)
		return 0;
	second = look(l, first->page + size, first->pfn + 1);
	if (head_of(l, second.page) != (addr | 1))
		return 0;
	pdet_page_enter_folio(run, at, addr);
	head = pdet_page_said(run, 0);
	next = pdet_page_said(run, 1);
	if (!run->folio.same || !has_element(head, at, first) ||
	    !has_element(next, at, &second) || !head->facts.has_order)
		return 0;
	pages = (uint64_t)1 << head->facts.order;
	if (pages < 2 || has_zero(&run->zeros, first->pfn, pages))
		return 0;
	pdet_page_leave_block(run);
	count[head->joins.element]++;
	count[next->joins.element]++;
	most = PDET_MIN(most, pages) - 2;
	if (!most)
		return 2;
	third = look(l, second.page + size, first->pfn + 2);
	return head_of(l, third.page) != (addr | 1) ? 2 :
	       2 + join_tails(run, at, &third, most, count);
}

/* --- all --- */

size_t pdet_page_join(struct pdet_page_run *run,
		      const struct pdet_page_run_at *at, uint64_t pfn,
		      size_t i, size_t n, uint64_t *count)
{
	const struct pdet_layout *l = run->layout;
	const size_t size = l->size[PDET_SIZE_PAGE];
	size_t done = 0, some;
	struct seen s;

	for (n -= i; at->turn && done < n; done += some) {
		s = look(l, at->pages + (i + done) * size, pfn + done);
		if (head_of(l, s.page) & 1 || may_be_uniform(s.flags))
			break;
		some = s.flags & run->head ?
			join_folio(run, at, &s, at->start + (i + done) * size,
				   n - done, count) :
			join_small(run, at, &s, n - done, count);
		if (!some)
			break;
		run->next = s.pfn + some;
	}
	return done;
}
