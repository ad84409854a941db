/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Folds rows of a batch with equal kpage words into one row with PAGES when
 * pages are only counted: a few dozen rows instead of thousands. Counting all
 * memory then costs little more than reading it. Only neighbours are folded if
 * runs are requested.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/procfs/procfs.h"
#include "base/text/words.h"

#define SLOTS 1024		/* a power of two */
#define PROBES 8

/* The words seen in this batch, and their rows. */
struct procfs_folded {
	uint32_t stamp[SLOTS];	/* number of the batch that wrote the slot */
	uint32_t row[SLOTS];
	uint32_t now;
};

/* True if pages with equal words are equal. What a frame without a page is
 * depends on its position. A tail differs, unless the kernel is known to show
 * the folio's word for tails. */
static bool may_merge(const struct procfs_session *s, uint64_t flags)
{
	if (flags & KPF(NOPAGE))
		return false;
	return !(flags & KPF(COMPOUND_TAIL)) ||
	       (s->tails_seen && !s->kpf.tails_own);
}

/* Whether the words may be of two moments: then the page is a row of its own,
 * so that it can be looked at again. */
static bool may_be_torn(uint64_t flags, uint64_t count, uint64_t cgroup)
{
	if (flags >= PROCFS_WORD_RACED)
		return false;
	return pdet_kpf_is_odd(flags) ||
	       (flags & KPF(BUDDY) &&
		((count && count < PROCFS_WORD_RACED) ||
		 (cgroup && cgroup < PROCFS_WORD_RACED)));
}

static uint32_t slot_of(uint64_t flags, uint64_t count, uint64_t cgroup)
{
	uint64_t h = flags * 0x9e3779b97f4a7c15;

	h ^= (count * 0xc2b2ae3d27d4eb4f) ^ (cgroup * 0x165667b19e3779f9);
	return (uint32_t)(h >> 40) & (SLOTS - 1);
}

/* End of the run of words equal to word[@row], at most @n. @known caches it, so
 * that each word is compared once. */
static uint32_t run_end(const uint64_t *word, uint32_t row, uint32_t n,
			uint32_t *known)
{
	if (*known <= row)
		*known = row + pdet_words_equal(word + row, n - row);
	return PDET_MIN(*known, n);
}

void procfs_fold(struct procfs_session *s, struct pdet_batch *b, bool count,
		 bool cgroup, bool neighbours)
{
	uint64_t *pages = b->value[PAGEDET_FIELD_PAGES];
	uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	uint64_t *flags = s->word[KPAGE_FLAGS];
	uint64_t *counts = s->word[KPAGE_COUNT];
	uint64_t *cgroups = s->word[KPAGE_CGROUP];
	struct procfs_folded *t = s->folded;
	uint32_t ends[KPAGE_FILES] = { 0 };
	uint32_t row, end, out = 0, probe, at;

	if (!t)
		s->folded = t = calloc(1, sizeof(*t));
	if (!t)
		return;		/* folding is only an optimisation */
	t->now++;
	for (row = 0; row < b->n; row = end) {
		uint64_t f = flags[row], c = count ? counts[row] : 0;
		uint64_t g = cgroup ? cgroups[row] : 0;
		bool alone = f & KPF(NOPAGE) || may_be_torn(f, c, g);

		end = alone ? row + 1 :
		      run_end(flags, row, b->n, &ends[KPAGE_FLAGS]);
		if (count)
			end = run_end(counts, row, end, &ends[KPAGE_COUNT]);
		if (cgroup)
			end = run_end(cgroups, row, end, &ends[KPAGE_CGROUP]);
		at = slot_of(f, c, g);
		alone |= neighbours || !may_merge(s, f);
		for (probe = 0; !alone && probe < PROBES; probe++) {
			uint32_t seen = t->row[at];

			if (t->stamp[at] != t->now) {
				probe = PROBES;
				break;
			}
			if (flags[seen] == f &&
			    (!count || counts[seen] == c) &&
			    (!cgroup || cgroups[seen] == g))
				break;
			at = (at + 1) & (SLOTS - 1);
		}
		if (probe < PROBES && !alone) {
			pages[t->row[at]] += end - row;
			continue;
		}
		if (!alone && t->stamp[at] != t->now) {
			t->stamp[at] = t->now;
			t->row[at] = out;
		}
		pages[out] = end - row;
		pfn[out] = pfn[row];
		flags[out] = f;
		if (count)
			counts[out] = c;
		if (cgroup)
			cgroups[out] = g;
		out++;
	}
	pdet_batch_cut(b, out);
	b->series = false;
	for (row = 0; row < out; row++)
		pdet_put(b, row, PAGEDET_FIELD_PAGES, pages[row], PROCFS);
}
