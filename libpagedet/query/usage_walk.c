/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Sums up a process's page tables as the kernel does (Linux fs/proc/task_mmu.c,
 * smaps_account): each page by its own mapcount. The kernel leaves out entries
 * without a page in the reverse map, such as the zero page and device memory. A
 * mapcount of 0 identifies these.
 */
#include <errno.h>

#include "query/usage_walk.h"

/* PSS_SHIFT in fs/proc/task_mmu.c */
#define PSS_SHIFT 12

static bool has_bit(const struct pdet_batch *b, uint32_t row, unsigned field,
		    unsigned bit)
{
	return pdet_batch_get(b, row, field, 0) >> bit & 1;
}

static bool knows_pte(const struct pdet_batch *b, uint32_t row, unsigned bit)
{
	return has_bit(b, row, PAGEDET_FIELD_PTE_KNOWN, bit);
}

/*
 * Whether the entry or the page is dirty. Returns 1, 0, or -1 if it is not
 * known.
 */
static int is_dirty(const struct pdet_batch *b, uint32_t row)
{
	const bool page_known = has_bit(b, row, PAGEDET_FIELD_FLAGS_KNOWN,
					PAGEDET_PF_DIRTY);

	if (has_bit(b, row, PAGEDET_FIELD_PTE, PAGEDET_PTE_DIRTY) ||
	    has_bit(b, row, PAGEDET_FIELD_FLAGS, PAGEDET_PF_DIRTY))
		return 1;
	return knows_pte(b, row, PAGEDET_PTE_DIRTY) && page_known ? 0 : -1;
}

static void count_dirty(struct pdet_usage_count *c, const struct pdet_batch *b,
			uint32_t row, uint64_t bytes)
{
	const int dirty = is_dirty(b, row);

	if (dirty > 0)
		c->dirty += bytes;
	else if (dirty < 0 && !c->why_dirty)
		c->why_dirty = pdet_is_reason(
			pdet_batch_state(b, row, PAGEDET_FIELD_FLAGS)) ?
			pdet_batch_state(b, row, PAGEDET_FIELD_FLAGS) :
			PAGEDET_UNSUPPORTED;
}

static void count_present(struct pdet_usage_count *c,
			  const struct pdet_batch *b, uint32_t row,
			  uint64_t bytes)
{
	const uint64_t kind = pdet_batch_get(b, row, PAGEDET_FIELD_KIND,
					     PAGEDET_KIND_UNKNOWN);
	unsigned state = pdet_batch_state(b, row, PAGEDET_FIELD_MAPCOUNT);
	uint64_t maps;

	if (kind == PAGEDET_KIND_HUGETLB) {
		c->hugetlb += bytes;
		return;
	}
	if (kind == PAGEDET_KIND_ZERO || kind == PAGEDET_KIND_HOLE)
		return;
	maps = state == PAGEDET_HAVE ?
	       b->value[PAGEDET_FIELD_MAPCOUNT][row] : 0;
	if (maps >> 63)
		state = PAGEDET_CORRUPT;
	if (state != PAGEDET_HAVE) {
		c->rss += bytes;
		if (!c->why_share)
			c->why_share = pdet_is_reason(state) ?
				state : PAGEDET_UNSUPPORTED;
		count_dirty(c, b, row, bytes);
		return;
	}
	if (!maps)
		return;
	/* If no source calls a mapcount exact, it may be an average. */
	c->roughly |= pdet_batch_get(b, row, PAGEDET_FIELD_MAPCOUNT_KIND, 0) !=
		      PAGEDET_MAPCOUNT_EXACT;
	c->rss += bytes;
	c->pss += (bytes << PSS_SHIFT) / maps;
	if (maps == 1)
		c->uss += bytes;
	else
		c->shared += bytes;
	count_dirty(c, b, row, bytes);
}

void pdet_usage_count(struct pdet_usage_count *c, const struct pdet_batch *b,
		      uint64_t page_size)
{
	uint32_t row;

	c->entries += b->n;
	for (row = 0; row < b->n; row++) {
		/* A row for a whole table stands for an unknown number. */
		if (pdet_is_reason(pdet_batch_state(b, row,
						    PAGEDET_FIELD_PTE))) {
			c->lost = true;
			continue;
		}
		if (has_bit(b, row, PAGEDET_FIELD_PTE, PAGEDET_PTE_PRESENT)) {
			count_present(c, b, row, page_size);
			continue;
		}
		if (has_bit(b, row, PAGEDET_FIELD_PTE, PAGEDET_PTE_SWAPPED))
			c->swap += page_size;
		/* The kernel does not read its mapcount. */
		if (!has_bit(b, row, PAGEDET_FIELD_PTE, PAGEDET_PTE_MIGRATION))
			continue;
		c->rss += page_size;
		c->shared += page_size;
		c->pss += page_size << PSS_SHIFT;
		count_dirty(c, b, row, page_size);
	}
}

static void put(struct pagedet_usage *u, unsigned sum, uint64_t bytes,
		uint32_t why)
{
	u->value[sum] = why ? 0 : bytes;
	u->state[sum] = why ? why : PAGEDET_HAVE;
}

void pdet_usage_sums(const struct pdet_usage_count *c,
		     struct pagedet_usage *ret)
{
	const uint32_t by_share = 1u << PAGEDET_SUM_PSS |
		1u << PAGEDET_SUM_USS | 1u << PAGEDET_SUM_SHARED;

	put(ret, PAGEDET_SUM_RSS, c->rss, 0);
	put(ret, PAGEDET_SUM_PSS, c->pss >> PSS_SHIFT, c->why_share);
	put(ret, PAGEDET_SUM_USS, c->uss, c->why_share);
	put(ret, PAGEDET_SUM_SHARED, c->shared, c->why_share);
	put(ret, PAGEDET_SUM_DIRTY, c->dirty, c->why_dirty);
	put(ret, PAGEDET_SUM_SWAP, c->swap, 0);
	put(ret, PAGEDET_SUM_HUGETLB, c->hugetlb, 0);
	/* Without mapcounts, entries without a page cannot be told apart. */
	ret->estimated = (c->roughly ? by_share : 0) |
			 (c->why_share ? 1u << PAGEDET_SUM_RSS : 0);
}

void pdet_usage_walk_init(struct pdet_usage_walk *w)
{
	static const uint8_t fields[] = {
		PAGEDET_FIELD_VADDR, PAGEDET_FIELD_PFN, PAGEDET_FIELD_PTE,
		PAGEDET_FIELD_PTE_KNOWN, PAGEDET_FIELD_KIND,
		PAGEDET_FIELD_MAPCOUNT, PAGEDET_FIELD_MAPCOUNT_KIND,
		PAGEDET_FIELD_FLAGS, PAGEDET_FIELD_FLAGS_KNOWN,
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(fields); i++)
		pdet_fields_add(&w->args.fields, fields[i]);
	w->item.count = PAGEDET_TO_END;
	w->query.target = PAGEDET_TARGET_TASK;
	w->query.items = &w->item;
	w->query.n_items = 1;
	w->args.query = &w->query;
}

void pdet_usage_walk_end(struct pdet_usage_walk *w)
{
	pdet_iter_free(w->it);
	w->it = NULL;
}

/* Reads the name of a process with a row, and which address space it has. */
static void name(struct pdet_usage_walk *w, uint32_t pid,
		 struct pdet_usage *ret)
{
	struct pdet_session *s = pdet_session_of(&w->it->workers[0],
						 w->it->walk);
	const struct pdet_backend_ops *ops = w->it->walk->backend->ops;
	struct pdet_task *t;

	if (ops->task_open(s, pid, &t) < 0)
		return;
	ops->task_name(s, t);
	ret->named = !t->comm_why;
	ret->comm_len = PDET_MIN(t->comm_len, sizeof(ret->comm) - 1);
	memcpy(ret->comm, t->comm, ret->comm_len);
	ret->space = t->space;
	ret->thread = t->thread;
	if (ops->space_key)
		ret->space_key = ops->space_key(s, t->thread);
	ops->task_close(t);
}

static int begin(struct pdet_usage_walk *w, uint32_t pid)
{
	w->item.pid = pid;
	if (w->it)
		return pdet_iter_retarget(w->it, &w->item, 1);
	return pdet_iter_new(&w->args, &w->it);
}

int pdet_usage_walk_next(struct pdet_usage_walk *w, uint32_t pid,
			 struct pdet_usage *ret)
{
	struct pdet_usage_count c = { 0 };
	struct pdet_batch *b;
	int r = begin(w, pid);

	if (r < 0)
		return r;
	while ((r = pdet_iter_step(w->it, &b)) > 0)
		pdet_usage_count(&c, b, w->args.page_size);
	if (r == 0 && w->it->cover.tasks_gone)
		return -ESRCH;
	if (r == 0 && c.lost)
		r = -EBADMSG;
	if (r < 0 && r != -EBADMSG)
		return r;
	if (!c.entries)
		return r;
	pdet_usage_sums(&c, &ret->row);
	ret->row.source = w->it->walk->source;
	name(w, pid, ret);
	return r < 0 ? r : 1;
}
