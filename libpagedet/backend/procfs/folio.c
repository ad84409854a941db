/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the folio of a page: head_pfn and order from kpageflags words, and its
 * cgroup. A folio is a head followed by tails, 2^order pages, aligned to its
 * size (Linux mm/page_alloc.c). Its ends are therefore found with at most 19
 * single reads, for any size.
 */
#include "backend/procfs/procfs.h"

/* 16 GiB of 4K pages, the largest huge page of any architecture. */
#define MAX_ORDER_SEEN 22

unsigned procfs_folio_head(struct procfs_session *s, uint64_t pfn,
			   uint64_t *head, uint64_t *word)
{
	uint64_t at = pfn, w;
	unsigned k;
	int r;

	for (k = 0; k <= MAX_ORDER_SEEN; k++) {
		uint64_t down = pfn & ~(((uint64_t)1 << k) - 1);

		if (down == at)
			continue;
		at = down;
		r = procfs_kpage_one(s->p, &s->session.env, KPAGE_FLAGS, at,
				     &w);
		if (r < 0)
			return pdet_reason_of(r);
		if (r == 1 && w & KPF(COMPOUND_TAIL))
			continue;
		if (r == 0 || !(w & KPF(COMPOUND_HEAD)))
			return PAGEDET_RACED;
		*head = at;
		*word = w;
		return 0;
	}
	return PAGEDET_RACED;
}

/* Find the order of the folio at @head: the first power of two after which no
 * tail follows. Returns 0, or a reason. */
static unsigned folio_order(struct procfs_session *s, uint64_t head,
			    unsigned *ret)
{
	uint64_t w;
	unsigned k;
	int r;

	for (k = 0; k <= MAX_ORDER_SEEN; k++) {
		r = procfs_kpage_one(s->p, &s->session.env, KPAGE_FLAGS,
				     head + ((uint64_t)1 << k), &w);
		if (r < 0)
			return pdet_reason_of(r);
		if (r == 1 && w & KPF(COMPOUND_TAIL))
			continue;
		*ret = k;
		return 0;
	}
	return PAGEDET_RACED;
}

/* The folio of the current rows. */
struct folio {
	uint64_t head;
	uint64_t end;		/* pfn after it; 0: unknown */
	unsigned order;
};

/* Find the folio that contains @pfn as head or tail. Returns 0, or a reason. */
static unsigned find_folio(struct procfs_session *s, uint64_t pfn,
			   uint64_t word, struct folio *f)
{
	uint64_t head = pfn, head_word;
	unsigned order = 0, why = 0;

	if (pfn >= f->head && pfn < f->end)
		return 0;
	f->end = 0;
	if (word & KPF(COMPOUND_TAIL))
		why = procfs_folio_head(s, pfn, &head, &head_word);
	if (!why)
		why = folio_order(s, head, &order);
	if (why)
		return why;
	if (pfn - head >= (uint64_t)1 << order)
		return PAGEDET_RACED;
	f->head = head;
	f->order = order;
	f->end = head + ((uint64_t)1 << order);
	return 0;
}

void procfs_fill_folio(struct procfs_session *s, struct pdet_batch *b,
		       const uint64_t *words)
{
	const uint64_t large = KPF(COMPOUND_HEAD) | KPF(COMPOUND_TAIL);
	const unsigned head_field = PAGEDET_FIELD_HEAD_PFN;
	const unsigned order_field = PAGEDET_FIELD_ORDER;
	struct folio f = { 0, 0, 0 };
	uint32_t row;

	for (row = 0; row < b->n; row++) {
		uint64_t pfn, word = words[row];
		unsigned why;

		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
			    PAGEDET_HAVE || word == PROCFS_WORD_LOST)
			continue;
		pfn = b->value[PAGEDET_FIELD_PFN][row];
		if (word & KPF(NOPAGE)) {
			pdet_put_none(b, row, head_field, PROCFS);
			pdet_put_none(b, row, order_field, PROCFS);
		} else if (word & KPF(BUDDY)) {
			/*
			 * A free block has an order, but kpageflags does not
			 * show it.
			 */
			pdet_put_none(b, row, head_field, PROCFS);
			pdet_put_lost(b, row, order_field,
				      PAGEDET_UNSUPPORTED, PROCFS);
		} else if (!(word & large)) {
			pdet_put(b, row, head_field, pfn, PROCFS);
			pdet_put(b, row, order_field, 0, PROCFS);
		} else if (!(why = find_folio(s, pfn, word, &f))) {
			pdet_put(b, row, head_field, f.head, PROCFS);
			pdet_put(b, row, order_field, f.order, PROCFS);
		} else {
			pdet_put_lost(b, row, head_field, why, PROCFS);
			pdet_put_lost(b, row, order_field, why, PROCFS);
		}
	}
}

/* The kpagecgroup word of the folio's head. */
static uint64_t head_cgroup(struct procfs_session *s, uint64_t pfn)
{
	uint64_t head, word;
	unsigned why = procfs_folio_head(s, pfn, &head, &word);

	if (why)
		return why == PAGEDET_RACED ? PROCFS_WORD_RACED :
					      PROCFS_WORD_LOST;
	return procfs_kpage_one(s->p, &s->session.env, KPAGE_CGROUP, head,
				&word) == 1 ? word : PROCFS_WORD_LOST;
}

void procfs_tails_cgroup(struct procfs_session *s, const struct pdet_batch *b,
			 const uint64_t *flags, uint64_t *cgroup)
{
	const uint64_t *pfns = b->value[PAGEDET_FIELD_PFN];
	uint64_t of_head = 0, before = 0;
	bool known = false;	/* of_head is that of the folio of @before */
	uint32_t row;

	for (row = 0; row < b->n; row++) {
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
			    PAGEDET_HAVE || flags[row] == PROCFS_WORD_LOST)
			continue;
		if (pfns[row] != before + 1)
			known = false;
		before = pfns[row];
		if (flags[row] & KPF(COMPOUND_HEAD)) {
			of_head = cgroup[row];
			known = true;
		} else if (!(flags[row] & KPF(COMPOUND_TAIL))) {
			known = false;
		} else if (!cgroup[row] && !(flags[row] & KPF(SLAB))) {
			if (!known)
				of_head = head_cgroup(s, before);
			known = true;
			cgroup[row] = of_head;
		}
	}
}

/*
 * The page table level of a hugetlb page: the one whose entries have its size,
 * or the level below if several entries map one page. On these architectures a
 * table is one page of 8-byte entries.
 */
static bool level_of(const struct procfs *p, unsigned order, unsigned *ret)
{
#if defined(__x86_64__) || defined(__aarch64__) || \
	(defined(__riscv) && __riscv_xlen == 64)
	const unsigned bits = p->page_shift - 3;

	*ret = PDET_MIN(PAGEDET_LEVEL_PTE + order / bits,
			(unsigned)PAGEDET_LEVEL_PUD);
	return true;
#else
	(void)p;
	(void)order;
	(void)ret;
	return false;
#endif
}

void procfs_fill_level(struct procfs_session *s, struct pdet_batch *b,
		       uint32_t row, uint32_t n, const uint64_t *words)
{
	const unsigned field = PAGEDET_FIELD_PTE_LEVEL;
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	const uint32_t end = row + n;
	struct folio f = { 0, 0, 0 };
	unsigned level, why;

	if (!b->value[field])
		return;
	for (; row < end; row++) {
		if (!(pdet_batch_get(b, row, PAGEDET_FIELD_PTE, 0) &
		      PAGEDET_PTE(PAGEDET_PTE_PRESENT)))
			continue;
		why = find_folio(s, pfn[row], words[row], &f);
		if (!why && !level_of(s->p, f.order, &level))
			why = PAGEDET_UNSUPPORTED;
		if (why)
			pdet_put_lost(b, row, field, why, PROCFS);
		else
			pdet_put(b, row, field, level, PROCFS);
	}
}
