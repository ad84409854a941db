/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Merges equal results. A few dozen results cover all memory. Each new element
 * is decoded after the existing ones, and dropped if it equals one of them.
 *
 * bench: bpf
 */
#include <string.h>

#include "base/env.h"
#include "kernel/page/fold.h"

#define PROBES 8

void pdet_page_fold_begin(struct pdet_page_fold *fold)
{
	if (++fold->turn)
		return;
	memset(fold->slot, 0, sizeof(fold->slot));
	fold->turn = 1;
}

static bool same_in(const uint64_t *column, uint32_t a, uint32_t b)
{
	return !column || column[a] == column[b];
}

static bool is_same(const struct pdet_page_columns *to, uint32_t a, uint32_t b)
{
	return to->flags[a] == to->flags[b] && to->known[a] == to->known[b] &&
	       to->kind[a] == to->kind[b] && to->is[a] == to->is[b] &&
	       to->has[a] == to->has[b] && to->bad[a] == to->bad[b] &&
	       same_in(to->raw_flags, a, b) && same_in(to->refcount, a, b) &&
	       same_in(to->mapcount, a, b);
}

static bool is_known(const struct pdet_page_columns *to, uint32_t o,
		     const uint64_t *column, unsigned has, unsigned bad)
{
	return !column || (to->has[o] & has && !(to->bad[o] & bad));
}

/* True if all wanted columns of the element are known. */
static bool is_whole(const struct pdet_page_columns *to, uint32_t o)
{
	if (to->is[o] == PDET_PAGE_DAMAGED)
		return false;
	return to->is[o] == PDET_PAGE_UNINIT ||
	       (is_known(to, o, to->refcount, PDET_HAS_REFCOUNT, 0) &&
		is_known(to, o, to->mapcount, PDET_HAS_MAPCOUNT,
			 PDET_BAD_MAPCOUNT));
}

static uint32_t hash(const struct pdet_page_columns *to, uint32_t o)
{
	uint64_t h = to->flags[o] * 0x9e3779b97f4a7c15;

	h ^= (to->known[o] + to->kind[o]) * 0xc2b2ae3d27d4eb4f;
	if (to->mapcount)
		h ^= to->mapcount[o] * 0x165667b19e3779f9;
	if (to->refcount)
		h ^= to->refcount[o] * 0xd6e8feb86659fd93;
	if (to->raw_flags)
		h ^= to->raw_flags[o] * 0xa0761d6478bd642f;
	return (uint32_t)(h >> 40);
}

/* The element that is equal to @o, or @o itself if there is none. */
static uint32_t join(struct pdet_page_fold *fold,
		     const struct pdet_page_columns *to, uint32_t o)
{
	uint32_t at = hash(to, o), probe;

	for (probe = 0; probe < PROBES; probe++, at++) {
		at &= PDET_PAGE_FOLD_SLOTS - 1;
		if (fold->slot[at].turn != fold->turn) {
			fold->slot[at].turn = fold->turn;
			fold->slot[at].element = o;
			return o;
		}
		if (is_same(to, fold->slot[at].element, o))
			return fold->slot[at].element;
	}
	return o;
}

static void spread_word(uint64_t *column, uint32_t o, uint32_t i)
{
	if (column)
		column[i] = column[o];
}

/* Copy element @o, so that it is there @n times. */
static void spread(const struct pdet_page_columns *to, uint32_t o, uint32_t n)
{
	uint32_t i;

	for (i = o + 1; i < o + n; i++) {
		to->is[i] = to->is[o];
		to->has[i] = to->has[o];
		to->bad[i] = to->bad[o];
		to->kind[i] = to->kind[o];
		to->flags[i] = to->flags[o];
		to->known[i] = to->known[o];
		if (to->error)
			to->error[i] = to->error[o];
		spread_word(to->raw_flags, o, i);
		spread_word(to->refcount, o, i);
		spread_word(to->mapcount, o, i);
	}
}

/*
 * Pages @pfn .. @pfn + @n decode to element @o. Returns the index for the next
 * element.
 */
static uint32_t add(struct pdet_page_fold *fold, struct pdet_page_run *run,
		    const struct pdet_page_columns *to, uint32_t o,
		    uint64_t pfn, uint32_t n, uint64_t *count, uint64_t *first)
{
	uint32_t same;

	if (run->joined) {
		count[*run->element] += n;
		return o;
	}
	same = join(fold, to, o);
	if (run->element)
		*run->element = same;
	if (same != o) {
		count[same] += n;
		return o;
	}
	count[o] = n;
	first[o] = pfn;
	return o + 1;
}

uint32_t pdet_page_fold_free(struct pdet_page_fold *fold,
			     struct pdet_page_run *run, uint64_t addr,
			     uint64_t pfn, uint32_t n,
			     const struct pdet_page_columns *to, uint32_t o,
			     uint64_t *count, uint64_t *first)
{
	const int32_t unmapped = -1;
	char page[PDET_PAGE_BYTES] = { 0 };
	struct pdet_page_run_at at;

	memcpy(page + pdet_layout_at(run->layout, PDET_MEMBER_PAGE_MAPCOUNT,
				     sizeof(unmapped)),
	       &unmapped, sizeof(unmapped));
	pdet_page_run_begin(run, &at, page, addr, pfn, 1, to, fold->turn);
	pdet_page_next(run, &at, pfn, 0, 1, o);
	run->next = pfn + n;
	return add(fold, run, to, o, pfn, n, count, first);
}

uint32_t pdet_page_fold(struct pdet_page_fold *fold, struct pdet_page_run *run,
			const char *pages, uint64_t addr, uint64_t pfn,
			uint32_t n, const struct pdet_page_columns *to,
			uint32_t o, uint64_t *count, uint64_t *first)
{
	struct pdet_page_run_at at;
	uint32_t i, k, done;

	pdet_page_run_begin(run, &at, pages, addr, pfn, n, to, fold->turn);
	for (i = 0; i < n; i += done) {
		done = (uint32_t)pdet_page_join(run, &at, pfn + i, i, n, count);
		if (done)
			continue;
		done = (uint32_t)pdet_page_next(run, &at, pfn + i, i, n, o);
		if (run->joined || is_whole(to, o)) {
			o = add(fold, run, to, o, pfn + i, done, count, first);
			continue;
		}
		spread(to, o, done);
		for (k = 0; k < done; k++, o++) {
			count[o] = 1;
			first[o] = pfn + i + k;
		}
	}
	return o;
}
