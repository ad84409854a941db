/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads page table entries from /proc/PID/pagemap, one u64 for each page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "backend/procfs/task.h"
#include "base/io.h"
#include "kernel/object/uapi.h"

/* Attempts to read an entry that keeps changing. */
#define LOOKS 4

ssize_t procfs_pagemap_words(struct pdet_session *s, struct procfs_task *t,
			     uint64_t start, size_t n, uint64_t *ret)
{
	ssize_t got;

	if (t->pagemap < 0) {
		memset(ret, 0, n * 8);
		return (ssize_t)n;
	}
	got = pdet_pread(t->pagemap, ret, n * 8,
			 (start >> t->p->page_shift) * 8);
	if (got >= 0)
		return got / 8;
	errno = (int)-got;
	return pdet_fail_errno(&s->env,
			       "cannot read task %u: cannot read pagemap at %#llx",
			       t->task.pid, (unsigned long long)start);
}

/* True if the batch needs more of an entry than its frame. */
static bool wants_entry(const struct pdet_batch *b)
{
	return b->value[PAGEDET_FIELD_PTE] || b->value[PAGEDET_FIELD_PTE_KNOWN];
}

static void put_none_pfn(struct pdet_batch *b, uint32_t row)
{
	pdet_put_none(b, row, PAGEDET_FIELD_PFN, PROCFS);
}

/* Put the frame of a present page. */
static void put_pfn(struct pdet_batch *b, uint32_t row,
		    const struct pdet_entry *e)
{
	if (e->hidden)
		pdet_put_lost(b, row, PAGEDET_FIELD_PFN, PAGEDET_NO_ACCESS,
			      PROCFS);
	else if (e->has_pfn)
		pdet_put(b, row, PAGEDET_FIELD_PFN, e->pfn, PROCFS);
	else
		put_none_pfn(b, row);
}

static void put_swap(struct pdet_batch *b, uint32_t row,
		     const struct pdet_entry *e)
{
	if (e->has_swap) {
		pdet_put(b, row, PAGEDET_FIELD_SWAP_TYPE, e->swap_type,
			 PROCFS);
		pdet_put(b, row, PAGEDET_FIELD_SWAP_OFFSET, e->swap_offset,
			 PROCFS);
	} else if (e->what == PDET_ENTRY_SPECIAL) {
		unsigned why = e->hidden ? PAGEDET_NO_ACCESS :
					   PAGEDET_UNSUPPORTED;

		pdet_put_lost(b, row, PAGEDET_FIELD_SWAP_TYPE, why, PROCFS);
		pdet_put_lost(b, row, PAGEDET_FIELD_SWAP_OFFSET, why, PROCFS);
	} else {
		pdet_put_none(b, row, PAGEDET_FIELD_SWAP_TYPE, PROCFS);
		pdet_put_none(b, row, PAGEDET_FIELD_SWAP_OFFSET, PROCFS);
	}
}

/*
 * Resolve an entry whose type may be a new swap area, or that refers to a page
 * whose flags give the kind. Such entries are short-lived: the result is valid
 * if the entry is unchanged after the flags were read.
 */
static void look_closer(struct procfs_session *s, struct procfs_task *t,
			uint64_t vaddr, uint64_t word, struct pdet_entry *e)
{
	struct pdet_env *env = &s->session.env;
	uint64_t flags, now;
	unsigned i;

	for (i = 0; i < LOOKS; i++) {
		/* It may be in a swap area added since. */
		if (!procfs_swap_areas(env, &s->pagemap.swap_areas))
			break;
		pdet_pagemap_decode(&s->pagemap, word, e);
		if (e->what != PDET_ENTRY_SPECIAL || !e->has_pfn)
			return;
		if (procfs_kpage_one(s->p, env, KPAGE_FLAGS, e->pfn,
				     &flags) == 1)
			pdet_pagemap_resolve(e, flags);
		if (!s->p->live)
			return;
		if (procfs_pagemap_words(&s->session, t, vaddr, 1, &now) != 1)
			break;
		if (now == word)
			return;
		word = now;
	}
	pdet_pagemap_decode(&s->pagemap, word, e);
}

static void decode(struct procfs_session *s, struct procfs_task *t,
		   uint64_t vaddr, uint64_t word, struct pdet_entry *e)
{
	pdet_pagemap_decode(&s->pagemap, word, e);
	if (e->what == PDET_ENTRY_SPECIAL && e->has_pfn)
		look_closer(s, t, vaddr, word, e);
}

/* Put the entry columns of one row. */
static void put_entry(struct pdet_batch *b, uint32_t row,
		      const struct pdet_entry *e)
{
	switch (e->what) {
	case PDET_ENTRY_PRESENT:
		put_pfn(b, row, e);
		break;
	case PDET_ENTRY_MIGRATION:
	case PDET_ENTRY_HWPOISON:
		put_pfn(b, row, e);
		if (e->has_pfn)
			pdet_put_note(b, row, PAGEDET_NOTE_STALE);
		break;
	case PDET_ENTRY_SPECIAL:
		pdet_put_lost(b, row, PAGEDET_FIELD_PFN,
			      e->hidden ? PAGEDET_NO_ACCESS :
					 PAGEDET_UNSUPPORTED, PROCFS);
		break;
	default:
		put_none_pfn(b, row);
		break;
	}
	put_swap(b, row, e);
	pdet_put(b, row, PAGEDET_FIELD_PTE, e->pte, PROCFS);
	pdet_put(b, row, PAGEDET_FIELD_PTE_KNOWN, e->known, PROCFS);
	if (e->what == PDET_ENTRY_NOTHING || e->what == PDET_ENTRY_MARKER)
		pdet_put(b, row, PAGEDET_FIELD_KIND, PAGEDET_KIND_UNTOUCHED,
			 PROCFS);
}

/* The common case: a present page with a visible frame, and no other field of
 * the entry requested. */
static bool put_plain(struct pdet_batch *b, uint32_t row, uint64_t word)
{
	uint64_t pfn = word & PDET_PM_PFN_MASK;

	if (!(word & PDET_PM_PRESENT) || !pfn)
		return false;
	pdet_put(b, row, PAGEDET_FIELD_PFN, pfn, PROCFS);
	pdet_put_none(b, row, PAGEDET_FIELD_SWAP_TYPE, PROCFS);
	pdet_put_none(b, row, PAGEDET_FIELD_SWAP_OFFSET, PROCFS);
	return true;
}

/* Add results of PAGEMAP_SCAN for [start, end) to rows from @first on, which
 * are in the order of vaddr. Calls @fn for rows in regions that have all bits
 * of @mask. Returns where it stopped, or @end. */
static uint64_t each_region(struct procfs_task *t, uint64_t start, uint64_t end,
			    uint64_t mask, uint64_t returned,
			    void (*fn)(struct pdet_batch *b, uint32_t row,
				       uint64_t categories),
			    struct pdet_batch *b, uint32_t first)
{
	const uint64_t *vaddr = b->value[PAGEDET_FIELD_VADDR];
	struct pdet_pm_region regions[64];
	struct pdet_pm_scan arg;
	uint32_t row = first;
	int got, i;

	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	arg.start = start;
	arg.end = end;
	arg.vec = (uintptr_t)regions;
	arg.vec_len = PDET_COUNT(regions);
	arg.category_mask = mask;
	arg.return_mask = returned;
	while (arg.start < end &&
	       (got = ioctl(t->pagemap, PDET_PM_SCAN, &arg)) >= 0) {
		for (i = 0; i < got; i++) {
			while (row < b->n && vaddr[row] < regions[i].start)
				row++;
			for (; row < b->n && vaddr[row] < regions[i].end;
			     row++)
				fn(b, row, regions[i].categories);
		}
		if (arg.walk_end <= arg.start)
			break;
		arg.start = arg.walk_end;
	}
	return arg.start;
}

static void put_written(struct pdet_batch *b, uint32_t row,
			uint64_t categories)
{
	pdet_put_bits(b, row, PAGEDET_FIELD_PTE_KNOWN,
		      PAGEDET_PTE(PAGEDET_PTE_WRITTEN));
	if (categories & PDET_PM_SCAN_WRITTEN)
		pdet_put_bits(b, row, PAGEDET_FIELD_PTE,
			      PAGEDET_PTE(PAGEDET_PTE_WRITTEN));
}

static void put_huge(struct pdet_batch *b, uint32_t row, uint64_t categories)
{
	(void)categories;
	pdet_put(b, row, PAGEDET_FIELD_PTE_LEVEL, PAGEDET_LEVEL_PMD, PROCFS);
}

static void put_levels(struct procfs_task *t, uint64_t start, uint64_t end,
		       struct pdet_batch *b, uint32_t first)
{
	const unsigned f = PAGEDET_FIELD_PTE_LEVEL;
	const uint64_t *vaddr = b->value[PAGEDET_FIELD_VADDR];
	uint64_t reached = end;
	uint32_t row;

	for (row = first; row < b->n; row++) {
		const unsigned state = pdet_batch_state(b, row,
							PAGEDET_FIELD_PTE);

		if (!(t->p->scan_categories & PDET_PM_SCAN_HUGE))
			pdet_put_lost(b, row, f, PAGEDET_NO_KERNEL, PROCFS);
		else if (pdet_is_reason(state))
			pdet_put_lost(b, row, f, state, PROCFS);
		else if (pdet_batch_get(b, row, PAGEDET_FIELD_PTE, 0) &
			 PAGEDET_PTE(PAGEDET_PTE_PRESENT))
			pdet_put(b, row, f, PAGEDET_LEVEL_PTE, PROCFS);
		else
			pdet_put_none(b, row, f, PROCFS);
	}
	if (t->p->scan_categories & PDET_PM_SCAN_HUGE)
		reached = each_region(t, start, end,
				      PDET_PM_SCAN_HUGE | PDET_PM_SCAN_PRESENT,
				      PDET_PM_SCAN_HUGE, put_huge, b, first);
	/* A page that was not scanned may be huge. */
	for (row = b->n; row > first && vaddr[row - 1] >= reached; row--)
		if (pdet_batch_state(b, row - 1, f) == PAGEDET_HAVE)
			pdet_put_lost(b, row - 1, f, PAGEDET_IO, PROCFS);
}

/* The kernel shows no entry. */
static void put_unshown(struct pdet_batch *b, uint32_t row)
{
	pdet_put_lost(b, row, PAGEDET_FIELD_PFN, PAGEDET_UNSUPPORTED, PROCFS);
	pdet_put_lost(b, row, PAGEDET_FIELD_PTE, PAGEDET_UNSUPPORTED, PROCFS);
	pdet_put_lost(b, row, PAGEDET_FIELD_PTE_KNOWN, PAGEDET_UNSUPPORTED,
		      PROCFS);
	pdet_put_lost(b, row, PAGEDET_FIELD_SWAP_TYPE, PAGEDET_UNSUPPORTED,
		      PROCFS);
	pdet_put_lost(b, row, PAGEDET_FIELD_SWAP_OFFSET, PAGEDET_UNSUPPORTED,
		      PROCFS);
}

static inline bool is_empty(uint64_t word)
{
	return !(word & (PDET_PM_PRESENT | PDET_PM_SWAP | PDET_PM_GUARD));
}

/*
 * Corrects the rows of empty words in areas that pagemap steps over: there may
 * be an entry. Each of the @n words from @start on has a row, from @row on.
 */
static int judge_empty(struct pdet_session *s, struct procfs_task *t,
		       struct pdet_batch *b, uint32_t row, uint64_t start,
		       const uint64_t *word, size_t n)
{
	struct pdet_ranges unshown = { NULL, 0, 0 };
	const unsigned shift = t->p->page_shift;
	size_t first = 0, i, at;
	int r;

	while (first < n && !is_empty(word[first]))
		first++;
	while (n > first && !is_empty(word[n - 1]))
		n--;
	if (first == n || t->pagemap < 0)
		return 0;
	r = procfs_unshown(s, t, start + ((uint64_t)first << shift),
			   start + ((uint64_t)n << shift), &unshown);
	for (i = 0; r == 0 && i < unshown.n; i++)
		for (at = (unshown.data[i].first - start) >> shift;
		     at <= (unshown.data[i].last - start) >> shift; at++) {
			if (!is_empty(word[at]))
				continue;
			put_unshown(b, row + (uint32_t)at);
			pdet_put_lost(b, row + (uint32_t)at,
				      PAGEDET_FIELD_KIND, PAGEDET_UNSUPPORTED,
				      PROCFS);
		}
	pdet_vec_free(&unshown);
	return r;
}

/*
 * Append rows for @n words from @start on. Unless @all, words without an entry
 * get no row.
 */
static void put_words(struct procfs_session *s, struct procfs_task *t,
		      struct pdet_batch *b, uint64_t start,
		      const uint64_t *word, size_t n, bool all)
{
	bool entry = wants_entry(b);
	struct pdet_entry e;
	uint32_t row = b->n;
	uint64_t vaddr;
	size_t i;

	/* the caller has checked the room */
	pdet_batch_grow(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		if (!all && is_empty(word[i]))
			continue;
		vaddr = start + ((uint64_t)i << s->p->page_shift);
		if (entry || !put_plain(b, row, word[i])) {
			decode(s, t, vaddr, word[i], &e);
			/* it disappeared meanwhile */
			if (!all && e.what == PDET_ENTRY_NOTHING)
				continue;
			put_entry(b, row, &e);
		}
		pdet_put(b, row, PAGEDET_FIELD_VADDR, vaddr, PROCFS);
		row++;
	}
	pdet_batch_cut(b, row);
}

int procfs_entries(struct pdet_session *base, struct pdet_task *task,
		   uint64_t *at, uint64_t end, bool all, struct pdet_batch *b)
{
	struct procfs_session *s = procfs_session_of(base);
	struct procfs_task *t = procfs_task_of(task);
	const unsigned shift = s->p->page_shift;
	uint32_t first = b->n;
	uint64_t start = *at;

	while (*at < end && b->n < b->cap) {
		/* @end may be the last byte of the address space. */
		size_t n = PDET_MIN((end - *at + (1u << shift) - 1) >> shift,
				    (uint64_t)(b->cap - b->n));
		ssize_t got, i;

		n = PDET_MIN(n, (size_t)PROCFS_WORDS);
		got = procfs_pagemap_words(base, t, *at, n, s->words);
		if (got < 0)
			return (int)got;
		if (got == 0) {
			/* The address space is gone, or ends here. */
			int r = procfs_task_same(base, task);
			uint64_t word;

			if (r == 0 &&
			    procfs_pagemap_words(base, t, 0, 1, &word) == 0)
				r = pdet_fail(&base->env, ESRCH,
					      "the address space of task %u is "
					      "gone",
					      task->pid);
			if (r < 0)
				return r;
			if (!all)
				break;
			for (i = 0; i < (ssize_t)n; i++) {
				uint32_t row = b->n;

				pdet_batch_grow(b, 1);
				pdet_put(b, row, PAGEDET_FIELD_VADDR,
					 *at + ((uint64_t)i << shift), PROCFS);
				/* Above the task's own address space maps
				 * lists [vsyscall]. */
				put_unshown(b, row);
				pdet_put(b, row, PAGEDET_FIELD_KIND,
					 PAGEDET_KIND_UNKNOWN, PROCFS);
			}
			got = (ssize_t)n;
		} else {
			uint32_t row = b->n;
			int r = 0;

			put_words(s, t, b, *at, s->words, (size_t)got, all);
			if (all)
				r = judge_empty(base, t, b, row, *at, s->words,
						(size_t)got);
			if (r < 0)
				return r;
		}
		/* the last page has no next address */
		if (*at + ((uint64_t)got << shift) < *at)
			*at = end;
		else
			*at += (uint64_t)got << shift;
	}
	if (*at < end && b->n < b->cap)
		*at = end;
	if (b->n == first)
		return 0;
	/* One call for the range. The kernel skips VMAs without write
	 * tracking. */
	if (b->value[PAGEDET_FIELD_PTE] &&
	    t->p->scan_categories & PDET_PM_SCAN_WPALLOWED)
		each_region(t, start, *at, PDET_PM_SCAN_WPALLOWED,
			    PDET_PM_SCAN_WPALLOWED | PDET_PM_SCAN_WRITTEN,
			    put_written, b, first);
	if (b->value[PAGEDET_FIELD_PTE_LEVEL])
		put_levels(t, start, *at, b, first);
	return 0;
}

static bool in_set(const struct pdet_pfnset *set, uint64_t pfn)
{
	const size_t i = pdet_pfnset_at(set, pfn);

	return i < set->n && set->pfn[i] <= pfn;
}

static int hidden_frames(struct pdet_session *s, const struct pdet_task *task)
{
	int r = pdet_fail(&s->env, EACCES,
			  "cannot read task %u: its page frame numbers are hidden",
			  task->pid);

	pdet_advise(&s->env,
		    "needs CAP_SYS_ADMIN, or a descriptor of pagemap opened with it");
	return r;
}

/* Search for one frame. The comparison must keep up with the kernel, so it has
 * no branch for each word. */
static bool holds_frame(const uint64_t *word, size_t n, uint64_t pfn)
{
	const uint64_t mask = PDET_PM_PFN_MASK | PDET_PM_PRESENT;
	const uint64_t wanted = pfn | PDET_PM_PRESENT;
	uint64_t hit = 0;
	size_t i;

	for (i = 0; i < n; i++)
		hit |= (word[i] & mask) == wanted;
	return hit;
}

/* The number of words at the start that are equal except that their frames are
 * consecutive. The zero page ends a run. */
static size_t alike(const uint64_t *word, size_t n, uint64_t zero_pfn)
{
	const uint64_t to_zero = zero_pfn - (word[0] & PDET_PM_PFN_MASK);
	size_t i = 1;

	if (to_zero < n)
		n = PDET_MAX(to_zero, (uint64_t)1);
	while (i < n && word[i] == word[0] + i)
		i++;
	return i;
}

/* Append the mappings in @n words from @vaddr on, as far as there is room.
 * Returns false if frames are hidden. */
static bool take_words(const struct procfs *p, const uint64_t *word, size_t n,
		       uint64_t vaddr, const struct pdet_pfnset *set,
		       struct pdet_found_list *ret)
{
	struct pdet_found *to = ret->data + ret->n;
	uint64_t rest = 0, pfn;
	struct pdet_entry e;
	size_t i, run;

	for (i = 0; i < n; i += run) {
		run = 1;
		if (!(word[i] & PDET_PM_PRESENT))
			continue;
		pfn = word[i] & PDET_PM_PFN_MASK;
		if (!pfn)
			return false;
		if (set && !in_set(set, pfn))
			continue;
		if (!set)
			run = alike(word + i, n - i, p->pagemap.zero_pfn);
		/* Other bits seldom differ, so decode them once. */
		if (word[i] - pfn != rest || pfn == p->pagemap.zero_pfn) {
			pdet_pagemap_decode(&p->pagemap, word[i], &e);
			rest = pfn == p->pagemap.zero_pfn ? 0 : word[i] - pfn;
		}
		*to++ = (struct pdet_found){
			pfn, vaddr + ((uint64_t)i << p->page_shift), e.pte,
			e.known, run - 1
		};
	}
	ret->n = (size_t)(to - ret->data);
	return true;
}

int procfs_mappings(struct pdet_session *base, struct pdet_task *task,
		    uint64_t start, uint64_t end,
		    const struct pdet_pfnset *set,
		    struct pdet_found_list *ret)
{
	struct procfs_session *s = procfs_session_of(base);
	struct procfs_task *t = procfs_task_of(task);
	const unsigned shift = s->p->page_shift;

	while (start < end) {
		size_t n = PDET_MIN((end - start) >> shift,
				    (uint64_t)PROCFS_WORDS);
		ssize_t got = procfs_pagemap_words(base, t, start, n,
						   s->words);

		if (got <= 0)
			return (int)got;
		if (set && set->n == 1 && !set->more && !t->p->pfn_hidden &&
		    !holds_frame(s->words, (size_t)got, set->pfn[0])) {
			start += (uint64_t)got << shift;
			continue;
		}
		if (!pdet_vec_reserve(ret, (size_t)got))
			return pdet_fail(&base->env, ENOMEM,
					 "no memory for mappings");
		if (!take_words(s->p, s->words, (size_t)got, start, set, ret))
			return hidden_frames(base, task);
		start += (uint64_t)got << shift;
	}
	return 0;
}
