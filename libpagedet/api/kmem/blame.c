/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for blame: a scan of the pages, then what is live in them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allocs/blame.h"
#include "api/kmem/live.h"
#include "base/clock.h"
#include "base/vec.h"
#include "emit/blame.h"

#define BLOCK ((uint64_t)2 << 20)
#define BATCH 256u

struct pagedet_blame {
	struct pagedet *pd;
	struct pagedet_allocs *allocs;
	struct pdet_blame b;
	size_t next_holder, next_block;
	uint64_t used, unverified;
};

struct blaming {
	struct pagedet_blame *to;
	struct pagedet_blame_query q;
	uint64_t start_ns;
	uint64_t page_size;
	struct {
		struct pagedet_item *data;
		size_t n, cap;
	} unknown;		/* runs of pages without a kind */
};

/* --- the blocks --- */

static int begin(struct blaming *b)
{
	struct pagedet *pd = b->to->pd;
	struct pagedet_info info = { .size = sizeof(info) };
	uint64_t first = b->q.pages ? b->q.first_pfn : 0, end;
	unsigned shift = 0;
	int r = pagedet_info(pd, &info);

	if (r < 0)
		return r;
	if (!info.page_size || !info.max_pfn)
		return pdet_fail(&pd->env, ENOTSUP, "no open source knows how "
				 "much memory there is");
	b->page_size = info.page_size;
	while (info.page_size << (shift + 1) <= BLOCK)
		shift++;
	/* The first one that there is not. */
	end = info.max_pfn;
	if (first >= end)
		return pdet_fail(&pd->env, EINVAL, "there is no page %llu",
				 (unsigned long long)first);
	if (b->q.pages && b->q.pages < end - first)
		end = first + b->q.pages;
	first >>= shift;
	end = ((end - 1) >> shift) + 1;
	r = pdet_blame_begin(&b->to->b, first << shift, end - first, shift);
	return r < 0 ? pdet_fail(&pd->env, ENOMEM, "no memory") : 0;
}

/* --- pages --- */

static bool has(const struct pagedet_page *row, uint32_t field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_HAVE;
}

/* Pages without a kind are asked for their counts, too. */
static int take_pages(struct blaming *b, const struct pagedet_page *row)
{
	const bool known = has(row, PAGEDET_FIELD_KIND);
	const struct pagedet_item run = { .first = row->pfn,
					  .count = row->pages };

	if (!has(row, PAGEDET_FIELD_PFN))
		return 0;
	pdet_blame_run(&b->to->b, row->pfn, row->pages,
		       known ? row->kind : PAGEDET_KIND_UNKNOWN);
	if (!known || row->kind != PAGEDET_KIND_UNKNOWN)
		return 0;
	return pdet_vec_push(&b->unknown, run) ? 0 : -ENOMEM;
}

static int take_count(struct blaming *b, const struct pagedet_page *row)
{
	uint64_t i;

	if (!has(row, PAGEDET_FIELD_PFN) || !has(row, PAGEDET_FIELD_REFCOUNT) ||
	    row->refcount)
		return 0;
	for (i = 0; i < row->pages; i++)
		pdet_blame_uncounted(&b->to->b, row->pfn + i);
	return 0;
}

static int ask_pages(struct blaming *b, struct pagedet_query *q, uint32_t field,
		     int (*taker)(struct blaming *b,
				  const struct pagedet_page *row))
{
	struct pagedet_page *rows = calloc(BATCH, sizeof(*rows));
	struct pagedet_iter *it;
	int i, n, r;

	if (!rows)
		return -ENOMEM;
	q->options = PAGEDET_Q_RUNS;
	q->deadline_ns = pdet_clock_left(b->start_ns, b->q.deadline_ns);
	q->progress = b->q.progress;
	q->progress_user = b->q.progress_user;
	q->progress_ns = b->q.progress_ns;
	pdet_want(q, PAGEDET_FIELD_PFN);
	pdet_want(q, PAGEDET_FIELD_PAGES);
	pdet_want(q, field);
	r = pagedet_query(b->to->pd, q, &it);
	if (r < 0) {
		free(rows);
		return r;
	}
	while (r == 0 && (n = pagedet_next(it, rows, BATCH)) != 0)
		for (i = 0, r = PDET_MIN(n, 0); i < n && r == 0; i++)
			r = taker(b, &rows[i]);
	pagedet_iter_free(it);
	free(rows);
	return r;
}

static int scan(struct blaming *b)
{
	const struct pdet_blame *to = &b->to->b;
	const struct pagedet_item all = {
		.first = to->first,
		.count = (uint64_t)to->n_blocks << to->shift,
	};
	struct pagedet_query q = PAGEDET_QUERY_INIT, counts = q;
	int r;

	/* A scan has no rows for holes. */
	q.target = b->q.pages ? PAGEDET_TARGET_PFN : PAGEDET_TARGET_SCAN;
	q.items = b->q.pages ? &all : NULL;
	q.n_items = b->q.pages ? 1 : 0;
	r = ask_pages(b, &q, PAGEDET_FIELD_KIND, take_pages);
	if (r < 0 || !b->unknown.n)
		return r;
	counts.target = PAGEDET_TARGET_PFN;
	counts.items = b->unknown.data;
	counts.n_items = b->unknown.n;
	return ask_pages(b, &counts, PAGEDET_FIELD_REFCOUNT, take_count);
}

/* --- what is in them --- */

static int take(void *arg, const struct pdet_live_row *row)
{
	struct blaming *b = arg;
	struct pagedet_blame *to = b->to;
	const struct pdet_live *l = row->live;

	to->used += row->state == PAGEDET_OBJECT_USED;
	to->unverified += !row->state;
	if (row->state != PAGEDET_OBJECT_USED)
		return 0;
	if (row->is_page)
		return pdet_blame_pages(&to->b, l->object, l->order, l->group,
					b->page_size << PDET_MIN(l->order, 31));
	return !row->has_page ? 0 :
	       pdet_blame_object(&to->b, row->head, row->order, l->group,
				 l->allocated);
}

static int ask(struct blaming *b, bool check_only)
{
	struct pagedet_verify_options o = PAGEDET_VERIFY_OPTIONS_INIT;
	const struct pdet_live_question q = {
		.options = &o, .pages = true, .here_only = true,
		.check_only = check_only, .take = take, .arg = b,
	};
	struct pagedet *pd = b->to->pd;
	int r;

	o.deadline_ns = pdet_clock_left(b->start_ns, b->q.deadline_ns);
	o.progress = b->q.progress;
	o.progress_user = b->q.progress_user;
	o.progress_ns = b->q.progress_ns;
	o.any_boot = b->q.any_boot;
	r = pdet_ask_live(pd, b->to->allocs, &q);
	if (r == 0 && !check_only)
		r = pdet_blame_end(&b->to->b,
				   pdet_allocs_groups(b->to->allocs->a));
	return r;
}

int pagedet_allocs_blame(struct pagedet *pd, struct pagedet_allocs *allocs,
			 const struct pagedet_blame_query *query,
			 struct pagedet_blame **ret)
{
	static const struct pagedet_blame_query defaults =
		PAGEDET_BLAME_QUERY_INIT;
	struct blaming b = { .start_ns = pdet_clock_ns(CLOCK_MONOTONIC) };
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &b.q, sizeof(b.q), query, &defaults,
			      "struct pagedet_blame_query");
	if (r < 0)
		return r;
	if (b.q.any_boot > 1 || b.q.reserved)
		return pdet_fail(&pd->env, E2BIG, "blame does not have this "
				 "option");
	b.to = calloc(1, sizeof(*b.to));
	if (!b.to)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	b.to->pd = pd;
	b.to->allocs = allocs;
	r = begin(&b);
	if (r == 0)
		r = ask(&b, true);
	if (r == 0)
		r = scan(&b);
	if (r == 0)
		r = ask(&b, false);
	pdet_vec_free(&b.unknown);
	if (r == -ENOMEM)
		pdet_fail(&pd->env, ENOMEM, "no memory");
	if (r < 0) {
		pagedet_blame_free(b.to);
		return r;
	}
	*ret = b.to;
	return 0;
}

/* --- answers --- */

int pagedet_blame_next_holder(struct pagedet_blame *blame,
			      struct pagedet_blame_holder *ret)
{
	struct pagedet_blame_holder holder = { .size = sizeof(holder) };
	const struct pdet_blame_holder *h;
	int r = pdet_check_answer(&blame->pd->env, ret);
	unsigned i;

	if (r < 0)
		return r;
	if (blame->next_holder == blame->b.n_holders)
		return 0;
	h = &blame->b.holders[blame->next_holder++];
	for (i = 0; i < PAGEDET_ALLOC_KEYS; i++)
		holder.state[i] = PAGEDET_NONE;
	holder.blocks = h->blocks;
	holder.blocks_alone = h->blocks_alone;
	holder.pages = h->pages;
	holder.pages_alone = h->pages_alone;
	holder.objects = h->objects;
	holder.bytes = h->bytes;
	pdet_allocs_values(blame->allocs->a, h->group, holder.value,
			   holder.state);
	pdet_answer_struct(&blame->pd->env, ret, &holder, sizeof(holder));
	return 1;
}

int pagedet_blame_next_block(struct pagedet_blame *blame,
			     struct pagedet_blame_block *ret)
{
	const struct pdet_blame *b = &blame->b;
	struct pagedet_blame_block block = { .size = sizeof(block) };
	const struct pdet_blame_share *most;
	const struct pdet_blame_block *from;
	int r = pdet_check_answer(&blame->pd->env, ret);
	uint64_t i;

	if (r < 0)
		return r;
	if (blame->next_block == blame->b.n_order)
		return 0;
	i = b->order[blame->next_block++];
	from = &b->blocks[i];
	block.first_pfn = b->first + (i << b->shift);
	block.free = from->free;
	block.movable = from->movable;
	block.perhaps_free = from->perhaps_free;
	block.held = from->held;
	block.explained = from->explained;
	block.holders = from->n_shares;
	for (i = 0; i < PAGEDET_ALLOC_KEYS; i++)
		block.state[i] = PAGEDET_NONE;
	if (from->n_shares) {
		most = &b->shares.data[from->first_share];
		block.holder_pages = most->pages;
		pdet_allocs_values(blame->allocs->a, most->group, block.value,
				   block.state);
	}
	pdet_answer_struct(&blame->pd->env, ret, &block, sizeof(block));
	return 1;
}

int pagedet_blame_total(const struct pagedet_blame *blame,
			struct pagedet_blame_total *ret)
{
	const struct pdet_blame *b = &blame->b;
	struct pagedet_blame_total t = { .size = sizeof(t) };
	size_t i;

	t.block_pages = (uint64_t)1 << b->shift;
	t.used = blame->used;
	t.unverified = blame->unverified;
	t.holders = b->n_holders;
	for (i = 0; i < b->n_blocks; i++) {
		const struct pdet_blame_block *block = &b->blocks[i];

		t.blocks += block->free || block->movable || block->held ||
			    block->perhaps_free;
		t.blocks_held += block->held != 0;
		t.blocks_explained += block->held &&
				      block->held == block->explained;
		t.free += block->free;
		t.movable += block->movable;
		t.perhaps_free += block->perhaps_free;
		t.held += block->held;
		t.explained += block->explained;
	}
	return pdet_answer_struct(&blame->pd->env, ret, &t, sizeof(t));
}

static int next_block(void *arg, struct pagedet_blame_block *ret)
{
	return pagedet_blame_next_block(arg, ret);
}

static int next_holder(void *arg, struct pagedet_blame_holder *ret)
{
	return pagedet_blame_next_holder(arg, ret);
}

int pagedet_emit_blame(struct pagedet_emitter *emitter,
		       struct pagedet_blame *blame, int blocks, uint64_t max)
{
	struct pdet_emit_blame b = {
		.allocs = blame->allocs->a, .blocks = blocks,
		.next_block = next_block, .next_holder = next_holder,
		.arg = blame, .max = max,
	};

	b.total.size = sizeof(b.total);
	pagedet_blame_total(blame, &b.total);
	return pdet_emit_blame(emitter, &blame->pd->env, &b);
}

void pagedet_blame_free(struct pagedet_blame *blame)
{
	if (!blame)
		return;
	pdet_blame_free(&blame->b);
	free(blame);
}
