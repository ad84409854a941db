/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Page table entries: /proc/PID/pagemap, one u64 a page, and the ioctl
 * PAGEMAP_SCAN, which shows no frames but leaps over what is empty: 1 TiB of
 * reserved addresses takes 17 ms instead of 1.5 s.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backend/procfs_task.h"
#include "base/io.h"
#include "base/text.h"
#include "kernel/uapi.h"

/* How often an entry is looked at that changes meanwhile. */
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

/*
 * Whether most of the address space is empty. Then looking for entries first
 * pays; where it is dense, it costs a quarter more.
 */
static bool is_sparse(struct pdet_session *s, struct procfs_task *t)
{
	struct pdet_text text;
	struct pdet_scan scan;
	uint64_t size, resident;

	if (t->sparse >= 0)
		return t->sparse;
	t->sparse = 0;
	if (pdet_slurp(&s->env, &text, 4096, "/proc/%u/statm",
		       t->task.pid) < 0)
		return false;
	scan.at = text.data;
	scan.end = text.data + text.len;
	if (pdet_scan_dec(&scan, &size) && pdet_scan_char(&scan, ' ') &&
	    pdet_scan_dec(&scan, &resident))
		t->sparse = size / 4 > resident;
	pdet_text_free(&text);
	return t->sparse;
}

/* In a captured tree pagemap is a file with holes where nothing is, and an
 * end; whatever maps claims, there is no more to read than that. */
static int captured_range(struct pdet_session *s, const struct procfs_task *t,
			  uint64_t *at, uint64_t end, struct pdet_range *ret)
{
	const unsigned shift = t->p->page_shift;
	off_t data, hole;

	errno = ENXIO;
	data = t->pagemap < 0 ? -1 :
		lseek(t->pagemap, (off_t)((*at >> shift) * 8), SEEK_DATA);
	if (data < 0 && errno != ENXIO)
		return pdet_fail_errno(&s->env,
				       "cannot read task %u: cannot find data in pagemap",
				       t->task.pid);
	if (data < 0 || (uint64_t)data / 8 << shift >= end) {
		*at = end;
		return 0;
	}
	hole = lseek(t->pagemap, data, SEEK_HOLE);
	ret->first = PDET_MAX(*at, (uint64_t)data / 8 << shift);
	ret->last = end - 1;
	if (hole > 0 && (((uint64_t)hole + 7) / 8 << shift) < end)
		ret->last = (((uint64_t)hole + 7) / 8 << shift) - 1;
	*at = ret->last + 1;
	return 1;
}

int procfs_populated(struct pdet_session *s, struct pdet_task *base,
		     uint64_t *at, uint64_t end, struct pdet_range *ret,
		     size_t max)
{
	const uint64_t wanted = PDET_PM_SCAN_PRESENT | PDET_PM_SCAN_SWAPPED;
	struct procfs_task *t = procfs_task_of(base);
	struct pdet_pm_region regions[128];
	struct pdet_pm_scan arg;
	size_t n = 0;
	int got, i;

	if (!t->p->live)
		return captured_range(s, t, at, end, ret);
	if ((t->p->scan_categories & wanted) != wanted || !is_sparse(s, t)) {
		ret[0].first = *at;
		ret[0].last = end - 1;
		*at = end;
		return 1;
	}
	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	arg.start = *at;
	arg.end = end;
	arg.vec = (uintptr_t)regions;
	arg.vec_len = PDET_MIN(max, PDET_COUNT(regions));
	arg.category_anyof_mask = wanted;
	arg.return_mask = wanted;
	got = ioctl(t->pagemap, PDET_PM_SCAN, &arg);
	if (got < 0) {
		/* Gone, or beyond the task's own space, which ends where it
		 * does on each architecture: read it all. */
		ret[0].first = *at;
		ret[0].last = end - 1;
		*at = end;
		return 1;
	}
	for (i = 0; i < got; i++) {
		ret[n].first = regions[i].start;
		ret[n].last = regions[i].end - 1;
		n++;
	}
	*at = arg.walk_end > *at ? arg.walk_end : end;
	return (int)n;
}

/* Whether the batch wants more of an entry than its frame. */
static bool wants_entry(const struct pdet_batch *b)
{
	return b->value[PAGEDET_FIELD_PTE] || b->value[PAGEDET_FIELD_PTE_KNOWN];
}

static void put_none_pfn(struct pdet_batch *b, uint32_t row)
{
	pdet_put_none(b, row, PAGEDET_FIELD_PFN, PROCFS);
}

/* The frame of a present page. */
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
 * An entry whose type may be a swap area, if there are that many by now, or
 * that names a page, whose flags tell why. These do not stay for long: what is
 * said holds if the entry is still there after the flags were read.
 */
static void look_closer(struct procfs_session *s, struct procfs_task *t,
			uint64_t vaddr, uint64_t word, struct pdet_entry *e)
{
	struct pdet_env *env = &s->session.env;
	uint64_t flags, now;
	unsigned i;

	for (i = 0; i < LOOKS; i++) {
		/* It may be in an area that is not known of. */
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

/* The entry columns of one row. */
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

/* A present page whose frame is shown, the usual case, when only that is
 * wanted. */
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

/* Adds what PAGEMAP_SCAN knows of [start, end) to rows from @first on, which
 * are ascending in vaddr: calls @fn for those in regions that have all of
 * @mask. Returns where it had to stop, or @end. */
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
		if (!(t->p->scan_categories & PDET_PM_SCAN_HUGE))
			pdet_put_lost(b, row, f, PAGEDET_NO_KERNEL, PROCFS);
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
	/* What was not looked at may be huge. */
	for (row = b->n; row > first && vaddr[row - 1] >= reached; row--)
		if (pdet_batch_state(b, row - 1, f) == PAGEDET_HAVE)
			pdet_put_lost(b, row - 1, f, PAGEDET_IO, PROCFS);
}

/* Above the task's own space, where maps lists [vsyscall], the kernel shows no
 * entry. */
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
	pdet_put(b, row, PAGEDET_FIELD_KIND, PAGEDET_KIND_UNKNOWN, PROCFS);
}

/* Rows for @n words from @start on; whether only those with an entry. */
static void put_words(struct procfs_session *s, struct procfs_task *t,
		      struct pdet_batch *b, uint64_t start,
		      const uint64_t *word, size_t n, bool all)
{
	bool entry = wants_entry(b);
	struct pdet_entry e;
	uint32_t row = b->n;
	uint64_t vaddr;
	size_t i;

	/* room was made sure of by the caller */
	pdet_batch_grow(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		if (!all && !(word[i] & (PDET_PM_PRESENT | PDET_PM_SWAP |
					 PDET_PM_GUARD)))
			continue;
		vaddr = start + ((uint64_t)i << s->p->page_shift);
		if (entry || !put_plain(b, row, word[i])) {
			decode(s, t, vaddr, word[i], &e);
			/* gone while it was looked at */
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
			/* No address space any more, or none up here? */
			int r = procfs_task_same(base, task);
			uint64_t word;

			if (r == 0 &&
			    procfs_pagemap_words(base, t, 0, 1, &word) == 0)
				r = pdet_fail(&base->env, ESRCH,
					      "address space of task %u is gone",
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
				put_unshown(b, row);
			}
			got = (ssize_t)n;
		} else {
			put_words(s, t, b, *at, s->words, (size_t)got, all);
		}
		/* past the last page of all there is no next address */
		if (*at + ((uint64_t)got << shift) < *at)
			*at = end;
		else
			*at += (uint64_t)got << shift;
	}
	if (*at < end && b->n < b->cap)
		*at = end;
	if (b->n == first)
		return 0;
	/* One call for the range; where nothing tracks writes, the kernel
	 * skips it VMA by VMA. */
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

	return i < set->n && set->pfn[i] == pfn;
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

/* Looks for one frame: the comparison must keep up with the kernel, so it has
 * no branch per word. */
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

/* How many words from the first on differ in nothing but their frames, which
 * follow each other. The zero page is like no other. */
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

/* Appends what @n words from @vaddr on map, for which there is room; false if
 * frames are hidden. */
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
		/* Words differ in little else: that is decoded once. */
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
		if (set && set->n == 1 && !t->p->pfn_hidden &&
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
