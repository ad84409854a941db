/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decodes runs of struct pages. Most pages equal one seen shortly before, in
 * flags and class of mapping. Only numbers are then read from them.
 */
#include "base/env.h"
#include "kernel/page/kpf.h"
#include "kernel/page/run.h"
#include "kernel/page/run_parts.h"

void pdet_page_run_init(struct pdet_page_run *run,
			const struct pdet_layout *layout,
			struct pdet_space *space)
{
	const int head = layout->flag[PAGEDET_PF_COMPOUND_HEAD];
	const int own[] = { layout->flag[PAGEDET_PF_HWPOISON],
			    layout->flag[PAGEDET_PF_ANON_EXCLUSIVE], head };
	unsigned i;

	memset(run, 0, sizeof(*run));
	run->layout = layout;
	run->space = space;
	run->next = UINT64_MAX;
	run->own = layout->flags.numbers;
	for (i = 0; i < PDET_COUNT(own); i++)
		if (own[i] >= 0)
			run->own |= (uint64_t)1 << own[i];
	run->head = head >= 0 ? (uint64_t)1 << head : 0;
}

static bool has_flag(const struct pdet_layout *l, uint64_t word, unsigned flag)
{
	return l->flag[flag] >= 0 && word >> l->flag[flag] & 1;
}

/* It looks like a free page, but that does not prove it. */
static bool looks_free(const struct pdet_page_facts *f)
{
	return !f->large && f->has_refcount && !f->refcount &&
	       f->type == PDET_TYPES && f->has_mapcount && !f->mapcount;
}

/* --- columns --- */

static void put_number(uint64_t *column, size_t i, bool has, uint64_t value)
{
	if (column)
		column[i] = has ? value : 0;
}

static unsigned has_bits(const struct pdet_page_facts *f)
{
	return (f->has_order ? PDET_HAS_ORDER : 0u) |
	       (f->has_refcount ? PDET_HAS_REFCOUNT : 0u) |
	       (f->has_mapcount ? PDET_HAS_MAPCOUNT : 0u) |
	       (f->has_pincount ? PDET_HAS_PINCOUNT : 0u) |
	       (f->has_mapping ? PDET_HAS_MAPPING : 0u) |
	       (f->has_index ? PDET_HAS_INDEX : 0u) |
	       (f->has_private ? PDET_HAS_PRIVATE : 0u) |
	       (f->has_memcg ? PDET_HAS_MEMCG : 0u) |
	       (f->has_slab_cache ? PDET_HAS_SLAB_CACHE : 0u) |
	       (f->large ? PDET_HAS_LARGE : 0u) |
	       (f->pincount_estimated ? PDET_HAS_ESTIMATE : 0u);
}

static void put(const struct pdet_page_columns *to, size_t i,
		const struct pdet_page_facts *f)
{
	if (to->has)
		to->has[i] = (uint16_t)has_bits(f);
	if (to->bad)
		to->bad[i] = (uint16_t)f->bad;
	if (to->kind)
		to->kind[i] = (uint8_t)f->kind;
	if (to->mapcount_kind)
		to->mapcount_kind[i] = (uint8_t)f->mapcount_kind;
	if (to->order)
		to->order[i] = (uint8_t)f->order;
	if (to->flags)
		to->flags[i] = f->flags;
	if (to->known)
		to->known[i] = f->known;
	put_number(to->refcount, i, f->has_refcount, f->refcount);
	put_number(to->mapcount, i, f->has_mapcount, f->mapcount);
	put_number(to->pincount, i, f->has_pincount, f->pincount);
	put_number(to->mapping, i, f->has_mapping, f->mapping);
	put_number(to->index, i, f->has_index, f->index);
	put_number(to->private, i, f->has_private, f->private);
	put_number(to->memcg_data, i, f->has_memcg, f->memcg_data);
	put_number(to->slab_cache, i, f->has_slab_cache, f->slab_cache);
}

/* --- small pages --- */

/*
 * Find the result shared by equal pages. Returns false if there is none; the
 * page must then be decoded.
 */
static bool find_same(struct pdet_page_run *run, const char *page,
		      uint64_t flags, int32_t mapcount, int32_t refcount,
		      bool caches, struct pdet_page_facts *f,
		      struct pdet_page_run_same **ret)
{
	const struct pdet_layout *l = run->layout;
	const uint64_t rest = pdet_page_sort(l, page, mapcount, refcount);
	struct pdet_page_run_slot *s;

	flags &= run->own;
	s = pdet_page_find_slot(run, flags, rest);
	*ret = &s->same;
	if (s->same.used && s->flags == flags && s->rest == rest &&
	    !(caches && s->same.flags & KPF(SLAB)))
		return true;
	pdet_page_decode(l, page, page, NULL, f);
	/* The order of a free block and the cache of a slab must be checked,
	 * not only copied. */
	if (f->type == PDET_TYPE_BUDDY || (f->flags & KPF(SLAB) && caches))
		return false;
	memset(s->same.joins, 0, sizeof(s->same.joins));
	s->flags = flags;
	s->rest = rest;
	s->same.used = true;
	s->same.flags = f->flags;
	s->same.known = f->known;
	s->same.has = (uint16_t)has_bits(f);
	s->same.bad = (uint16_t)f->bad;
	s->same.kind = (uint8_t)f->kind;
	s->same.mapcount_kind = (uint8_t)f->mapcount_kind;
	s->same.order = (uint8_t)f->order;
	s->same.counts = f->mapcount;
	s->same.maps = f->mapping;
	s->same.may_be_free = looks_free(f);
	return true;
}

static void put_same(const struct pdet_layout *l, const char *page,
		     int32_t mapcount, int32_t refcount,
		     const struct pdet_page_run_same *s,
		     const struct pdet_page_columns *to, size_t i)
{
	const uint64_t refs = s->has & PDET_HAS_REFCOUNT ?
			      (uint64_t)refcount : 0;

	if (to->has)
		to->has[i] = s->has;
	if (to->bad)
		to->bad[i] = s->bad;
	if (to->kind)
		to->kind[i] = s->kind;
	if (to->mapcount_kind)
		to->mapcount_kind[i] = s->mapcount_kind;
	if (to->order)
		to->order[i] = s->order;
	if (to->flags)
		to->flags[i] = s->flags;
	if (to->known)
		to->known[i] = s->known;
	if (to->refcount)
		to->refcount[i] = refs;
	if (to->mapcount)
		to->mapcount[i] = s->counts ? (uint64_t)mapcount + 1 : 0;
	if (to->pincount)
		to->pincount[i] = pdet_page_pins(refs);
	if (to->mapping)
		to->mapping[i] = s->maps ? pdet_page_u64(
			l, page, PDET_MEMBER_PAGE_MAPPING) : 0;
	if (to->index)
		to->index[i] = s->has & PDET_HAS_INDEX ? pdet_page_u64(
			l, page, PDET_MEMBER_PAGE_INDEX) : 0;
	if (to->private)
		to->private[i] = s->has & PDET_HAS_PRIVATE ? pdet_page_u64(
			l, page, PDET_MEMBER_PAGE_PRIVATE) : 0;
	if (to->memcg_data)
		to->memcg_data[i] = s->has & PDET_HAS_MEMCG ? pdet_page_u64(
			l, page, PDET_MEMBER_PAGE_MEMCG_DATA) : 0;
	if (to->slab_cache)
		to->slab_cache[i] = 0;
}

/* The same for a page that is in a free block, or is known not to be in one. */
static void put_free(const struct pdet_page_run *run,
		     enum pdet_page_free where,
		     const struct pdet_page_columns *to, size_t i)
{
	if (to->known)
		to->known[i] |= KPF(BUDDY);
	if (where != PDET_FREE_BLOCK)
		return;
	if (to->flags)
		to->flags[i] |= KPF(BUDDY);
	if (to->kind)
		to->kind[i] = PAGEDET_KIND_FREE;
	if (to->order)
		to->order[i] = (uint8_t)run->free_order;
}

/* --- one page --- */

static void add_zero(const struct pdet_page_run *run, uint64_t pfn,
		     struct pdet_page_facts *f)
{
	const struct pdet_page_zeros *z = &run->zeros;

	if (z->known && !(z->maybe_huge && f->may_be_zero))
		pdet_page_add_zero(f, pfn == z->pfn ? PDET_ZERO_PAGE :
				      pfn - z->huge < z->n_huge ?
				      PDET_ZERO_HUGE : PDET_ZERO_NOT);
}

/* Put a page that is not the first of its kind. */
static bool put_small(struct pdet_page_run *run,
		      const struct pdet_page_run_at *at, const char *page,
		      uint64_t flags, uint64_t addr, uint64_t pfn, size_t i,
		      struct pdet_page_facts *f)
{
	const struct pdet_page_columns *to = at->to;
	const struct pdet_layout *l = run->layout;
	const int32_t mapcount = pdet_page_i32(l, page,
					       PDET_MEMBER_PAGE_MAPCOUNT);
	const int32_t refcount = pdet_page_i32(l, page,
					       PDET_MEMBER_PAGE_REFCOUNT);
	struct pdet_page_run_element *joins;
	struct pdet_page_run_same *same;
	enum pdet_page_free where = PDET_FREE_NOT;
	bool known = false, zero;

	zero = run->zeros.known && pfn == run->zeros.pfn;
	if (zero)
		pdet_page_decode(l, page, page, NULL, f);
	if (zero || !find_same(run, page, flags, mapcount, refcount,
			       to->slab_cache, f, &same)) {
		pdet_page_leave_block(run);
		pdet_page_enter_block(run, pfn, f);
		return false;
	}
	if (same->may_be_free)
		where = pdet_page_find_block(run, addr, pfn, &known);
	else
		pdet_page_leave_block(run);
	joins = &same->joins[known ? where : PDET_PAGE_FREE_UNKNOWN];
	if (pdet_page_is_joined(run, at, joins))
		return true;
	put_same(l, page, mapcount, refcount, same, to, i);
	if (run->zeros.known && to->known)
		to->known[i] |= KPF(ZERO_PAGE);
	if (known)
		put_free(run, where, to, i);
	else if (run->free_lost && to->order && to->bad)
		to->bad[i] |= PDET_BAD_ORDER;
	return true;
}

/* Decode a page of a large folio, @distance pages after its head. The result is
 * in @f, unless an element for it exists. */
static const struct pdet_page_facts *
put_large(struct pdet_page_run *run, const struct pdet_page_run_at *at,
	  const char *page, uint64_t pfn, uint64_t distance,
	  struct pdet_page_facts *f)
{
	struct pdet_page_run_said *said = pdet_page_said(run, distance);
	const struct pdet_page_facts *facts = pdet_page_say(run, said, page,
							    !distance);

	if (facts->has_order && distance >> facts->order) {
		/* According to the head, the folio ends before this page. */
		pdet_page_decode(run->layout, page, NULL, NULL, f);
		f->bad |= PDET_BAD_FOLIO;
	} else if (run->folio.same && !pdet_page_is_zero(&run->zeros, pfn) &&
		   pdet_page_is_joined(run, at, &said->joins)) {
		return facts;
	} else {
		*f = *facts;
	}
	add_zero(run, pfn, f);
	return f;
}

/* --- equal pages --- */

static void repeat(uint64_t *column, size_t i, size_t n)
{
	size_t k;

	for (k = 0; column && k < n; k++)
		column[i + 1 + k] = column[i];
}

static void repeat_byte(uint8_t *column, size_t i, size_t n)
{
	if (column)
		memset(column + i + 1, column[i], n);
}

static void repeat_half(uint16_t *column, size_t i, size_t n)
{
	size_t k;

	for (k = 0; column && k < n; k++)
		column[i + 1 + k] = column[i];
}

/* Copy the result of page @i to the @n pages after it. */
static void repeat_all(const struct pdet_page_columns *to, size_t i, size_t n)
{
	uint64_t *const words[] = {
		to->raw_flags, to->flags, to->known, to->refcount,
		to->mapcount, to->pincount, to->mapping, to->index,
		to->private, to->memcg_data, to->slab_cache,
	};
	unsigned k;

	for (k = 0; k < PDET_COUNT(words); k++)
		repeat(words[k], i, n);
	repeat_half(to->has, i, n);
	repeat_half(to->bad, i, n);
	repeat_byte(to->is, i, n);
	repeat_byte(to->kind, i, n);
	repeat_byte(to->mapcount_kind, i, n);
	repeat_byte(to->order, i, n);
	for (k = 0; to->error && k < n; k++)
		to->error[i + 1 + k] = to->error[i];
}

/* The frame where a series of equal pages must end. The page there differs in a
 * way that its words do not show. */
static uint64_t alike_end(const struct pdet_page_run *run, uint64_t pfn,
			  enum pdet_page_is is, uint64_t head,
			  const struct pdet_page_facts *f)
{
	const struct pdet_page_zeros *z = &run->zeros;
	uint64_t end = UINT64_MAX;

	if (is == PDET_PAGE_TAIL && f->has_order)
		end = head + ((uint64_t)1 << f->order);
	else if (pfn < run->free_end)
		end = run->free_end;
	if (z->known && z->pfn > pfn)
		end = PDET_MIN(end, z->pfn);
	if (z->known && z->n_huge && z->huge > pfn)
		end = PDET_MIN(end, z->huge);
	if (z->known && pfn - z->huge < z->n_huge)
		end = PDET_MIN(end, z->huge + z->n_huge);
	return end;
}

/* --- all --- */

size_t pdet_page_next(struct pdet_page_run *run,
		      const struct pdet_page_run_at *at, uint64_t pfn,
		      size_t i, size_t n, size_t o)
{
	const struct pdet_layout *l = run->layout;
	const struct pdet_page_columns *to = at->to;
	const size_t size = l->size[PDET_SIZE_PAGE];
	const char *page = at->pages + i * size;
	const uint64_t addr = at->start + i * size;
	const uint64_t flags = pdet_page_u64(l, page, PDET_MEMBER_PAGE_FLAGS);
	struct pdet_page_facts f;
	const struct pdet_page_facts *facts = &f;
	enum pdet_page_is is;
	uint64_t head = addr, head_pfn;
	int error = 0;
	bool done = false, repeats;

	run->element = NULL;
	run->joined = false;
	is = pdet_page_is(l, page, i + 1 < n ? page + size : NULL, addr, &head);
	/* Avoid the division: it takes as long as all the rest. */
	head_pfn = head == addr ? pfn : pfn - (addr - head) / size;
	if (is == PDET_PAGE_PLAIN &&
	    !has_flag(l, flags, PAGEDET_PF_COMPOUND_HEAD)) {
		done = put_small(run, at, page, flags, addr, pfn, o, &f);
		if (!done)
			add_zero(run, pfn, &f);
		repeats = done;
	} else if (is == PDET_PAGE_PLAIN || is == PDET_PAGE_TAIL) {
		pdet_page_leave_block(run);
		pdet_page_enter_folio(run, at, head);
		error = run->folio.error;
		facts = put_large(run, at, page, pfn, pfn - head_pfn, &f);
		done = run->joined;
		repeats = is == PDET_PAGE_TAIL;
	} else {
		pdet_page_leave_block(run);
		/* It may be the first one of a free block. */
		run->free_lost = is == PDET_PAGE_DAMAGED;
		memset(&f, 0, sizeof(f));
		f.kind = is == PDET_PAGE_UNINIT ? PAGEDET_KIND_UNINIT :
						  PAGEDET_KIND_UNKNOWN;
		repeats = is == PDET_PAGE_UNINIT;
	}
	if (!done)
		put(to, o, &f);
	if (to->is && !run->joined)
		to->is[o] = (uint8_t)is;
	if (to->raw_flags)
		to->raw_flags[o] = flags;
	if (to->error && !run->joined)
		to->error[o] = (int16_t)error;
	if (to->head_pfn)
		to->head_pfn[o] = head_pfn;
	n = !repeats ? 0 :
	    PDET_MIN(n - i - 1,
		     alike_end(run, pfn, is, head_pfn, facts) - pfn - 1);
	n = pdet_page_count_alike(&run->alike, page, is, n) + 1;
	run->next = pfn + n;
	return n;
}

/* Most runs want the same columns as the run before. */
static void find_alike(struct pdet_page_run *run,
		       const struct pdet_page_columns *to)
{
	const struct pdet_page_alike_wants wants = {
		to->mapping, to->index, to->private, to->memcg_data
	}, *last = &run->alike_wants;

	if (run->has_alike && wants.mapping == last->mapping &&
	    wants.index == last->index && wants.private == last->private &&
	    wants.memcg == last->memcg)
		return;
	pdet_page_alike_init(&run->alike, run->layout, wants);
	run->alike_wants = wants;
	run->has_alike = true;
}

void pdet_page_run_begin(struct pdet_page_run *run,
			 struct pdet_page_run_at *at, const char *pages,
			 uint64_t addr, uint64_t pfn, size_t n,
			 const struct pdet_page_columns *to, uint32_t turn)
{
	at->pages = pages;
	at->start = addr;
	at->end = addr + n * run->layout->size[PDET_SIZE_PAGE];
	at->to = to;
	at->turn = to->raw_flags || to->refcount || to->mapcount ? 0 : turn;
	at->numbers = to->order || to->refcount || to->pincount ||
		      to->mapping || to->index || to->private ||
		      to->memcg_data || to->slab_cache;
	find_alike(run, to);
	if (pfn != run->next)
		pdet_page_leave_block(run);
	/* On a running kernel the folio may have changed. */
	run->folio.addr = 0;
}

void pdet_page_run(struct pdet_page_run *run, const char *pages, uint64_t addr,
		   uint64_t pfn, size_t n, const struct pdet_page_columns *to)
{
	struct pdet_page_run_at at;
	size_t i, k, done;

	pdet_page_run_begin(run, &at, pages, addr, pfn, n, to, 0);
	for (i = 0; i < n; i += done) {
		done = pdet_page_next(run, &at, pfn + i, i, n, i);
		if (done == 1)
			continue;
		repeat_all(to, i, done - 1);
		/* only a tail has a head other than itself */
		for (k = 1; to->head_pfn && k < done; k++)
			to->head_pfn[i + k] = to->head_pfn[i] +
				(to->head_pfn[i] == pfn + i ? k : 0);
	}
}
