/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border for the accesses of a KMAP by page: which page an object is in is
 * a query of kernel addresses.
 */
#include <errno.h>
#include <stdlib.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "base/vec.h"
#include "explain/explain.h"

/* Pages of one query. Objects share them, so that each is looked up once. */
#define MANY 16384u
/* An object with more pages is not one: a GiB is the largest huge page. */
#define MOST_PAGES (1ull << 18)

struct finder {
	struct pagedet_kmap_pages *of;
	struct pdet_pairs codes; /* those that were seen */
	struct {
		struct pagedet_item *data;
		size_t n, cap;
	} code;
	struct pdet_pairs by_page; /* index in items */
	struct pagedet_item items[MANY];
	struct pdet_kmap_page sums[MANY];
	uint64_t begins[MANY];	/* number of objects that begin in it */
	uint64_t n;
};

/*
 * Looks up @n addresses, and calls @row for each one that is mapped. The field
 * ask is its index.
 */
static int look_up(struct finder *f, const struct pagedet_item *items,
		   uint64_t n,
		   int (*row)(struct finder *f, const struct pagedet_page *p))
{
	struct pagedet *pd = f->of->pd;
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page rows[64];
	struct pagedet_iter *it;
	int64_t got, i;
	int r;

	q.target = PAGEDET_TARGET_KADDR;
	q.items = items;
	q.n_items = n;
	pdet_want(&q, PAGEDET_FIELD_ASK);
	pdet_want(&q, PAGEDET_FIELD_PFN);
	pdet_want(&q, PAGEDET_FIELD_MAP);
	pdet_want(&q, PAGEDET_FIELD_PTE);
	pdet_want(&q, PAGEDET_FIELD_PTE_KNOWN);
	r = pagedet_query(pd, &q, &it);
	if (r < 0)
		return r;
	while (r == 0 && (got = pagedet_next(it, rows, 64)) != 0) {
		if (got < 0)
			r = (int)got;
		for (i = 0; i < got && r == 0; i++)
			if (pdet_row_has(&rows[i], PAGEDET_FIELD_PFN) &&
			    pdet_row_has(&rows[i], PAGEDET_FIELD_ASK))
				r = row(f, &rows[i]);
	}
	pagedet_iter_free(it);
	return r;
}

/* --- objects --- */

static int no_memory(struct finder *f)
{
	return pdet_fail(&f->of->pd->env, ENOMEM, "no memory");
}

static int take_page(struct finder *f, const struct pagedet_page *row)
{
	const struct pdet_kmap_page *s = &f->sums[row->ask];

	f->of->info.outside -= f->begins[row->ask];
	return pdet_kmap_pages_add(&f->of->k, row->pfn, s->reads, s->writes) ?
		       0 : no_memory(f);
}

static int flush(struct finder *f)
{
	const int r = f->n ? look_up(f, f->items, f->n, take_page) : 0;

	f->n = 0;
	pdet_pairs_free(&f->by_page);
	return r;
}

/* Returns the index of a page, or a negative errno. */
static int find_page(struct finder *f, uint64_t address)
{
	uint64_t at;
	int r;

	if (pdet_pairs_get(&f->by_page, address, &at))
		return (int)at;
	r = f->n == MANY ? flush(f) : 0;
	if (r < 0)
		return r;
	at = f->n++;
	f->items[at] = (struct pagedet_item){
		.first = address, .count = 1, .flags = PAGEDET_KADDR_MEMORY };
	f->sums[at] = (struct pdet_kmap_page){ 0, 0 };
	f->begins[at] = 0;
	return pdet_pairs_set(&f->by_page, address, at) ? (int)at :
							  no_memory(f);
}

/* An object is outside until its first page is found. */
static int take_object(struct finder *f, const struct pagedet_kmap_object *o)
{
	const uint64_t page = f->of->pd->page_size;
	const uint64_t last = o->bytes ? o->bytes - 1 : 0;
	const uint64_t within = o->address % page;
	uint64_t n, i;
	int at;

	/* Accesses that belong to no object. */
	if (o->origin == PAGEDET_KMAP_CATCH_ALL)
		return 0;
	/* pagedet_kmap_cache_write() has offsets instead. */
	if (o->hidden || o->address < page) {
		f->of->info.hidden++;
		return 0;
	}
	f->of->info.objects++;
	f->of->info.outside++;
	n = (within + PDET_MIN(last, MOST_PAGES * page)) / page + 1;
	if (n > MOST_PAGES || last > UINT64_MAX - o->address)
		return 0;
	for (i = 0; i < n; i++) {
		at = find_page(f, o->address - within + i * page);
		if (at < 0)
			return at;
		pdet_kmap_page_add(&f->sums[at], o->reads, o->writes);
		f->begins[at] += !i;
	}
	return 0;
}

/* --- code --- */

static bool is_code(const struct pagedet_page *row)
{
	const uint32_t exec = 1u << PAGEDET_PTE_EXEC;

	if (pdet_row_has(row, PAGEDET_FIELD_PTE) &&
	    pdet_row_has(row, PAGEDET_FIELD_PTE_KNOWN) &&
	    row->pte_known & exec)
		return row->pte & exec;
	return pdet_row_has(row, PAGEDET_FIELD_MAP) &&
	       row->map != PAGEDET_MAP_DIRECT && row->map != PAGEDET_MAP_USER;
}

static int take_code(struct finder *f, const struct pagedet_page *row)
{
	f->of->info.strange -= is_code(row);
	return 0;
}

static int list_codes(struct finder *f, struct pagedet_kmap *kmap)
{
	struct pagedet_kmap_access a = { .size = sizeof(a) };
	uint64_t seen;
	int r;

	while ((r = pagedet_kmap_next_access(kmap, &a)) > 0)
		if (a.site && !pdet_pairs_get(&f->codes, a.site, &seen) &&
		    (!pdet_pairs_set(&f->codes, a.site, 1) ||
		     !pdet_vec_push(&f->code, (struct pagedet_item){
					.first = a.site, .count = 1,
					.flags = PAGEDET_KADDR_MEMORY })))
			return no_memory(f);
	return r;
}

static int check_codes(struct finder *f)
{
	uint64_t i, n;
	int r = 0;

	f->of->info.codes = f->of->info.strange = f->code.n;
	for (i = 0; i < f->code.n && r == 0; i += n) {
		n = PDET_MIN(f->code.n - i, MANY);
		r = look_up(f, &f->code.data[i], n, take_code);
	}
	return r;
}

/* --- all of it --- */

static int judge(struct finder *f)
{
	const struct pagedet_kmap_pages_info *t = &f->of->info;
	struct pdet_env *env = &f->of->pd->env;
	const bool proved = t->codes && !t->strange;
	int r = 0;

	if (!t->objects && t->hidden)
		return pdet_fail(env, EBADMSG, "the KMAP does not tell where "
				 "its objects are: their addresses are hidden");
	if (t->outside > t->objects / 2 && !proved)
		r = pdet_fail(env, EBADMSG, "the KMAP is of another boot, or "
			      "its objects are gone: %llu of %llu are not in "
			      "mapped memory",
			      (unsigned long long)t->outside,
			      (unsigned long long)t->objects);
	else if (t->strange > t->codes / 2)
		r = pdet_fail(env, EBADMSG, "the KMAP is of another boot: %llu "
			      "of the %llu instructions that accessed its "
			      "objects are not in the kernel's code",
			      (unsigned long long)t->strange,
			      (unsigned long long)t->codes);
	return r;
}

/* A part of it would say of the other pages that they have no object. */
static int check_end(struct finder *f, const struct pagedet_kmap *kmap)
{
	struct pagedet_kmap_total t = { .size = sizeof(t) };
	int r = pagedet_kmap_total(kmap, &t);

	if (r < 0 || !t.stopped)
		return r;
	return pdet_fail(&f->of->pd->env, (int)t.stopped, "%s: only a part of "
			 "the KMAP was read", t.stopped == ETIMEDOUT ?
			 "the deadline passed first" : "cancelled");
}

static int find(struct finder *f, struct pagedet_kmap *kmap)
{
	struct pagedet_kmap_object o = { .size = sizeof(o) };
	int r;

	while ((r = pagedet_kmap_next(kmap, &o)) > 0) {
		r = take_object(f, &o);
		if (r == 0)
			r = list_codes(f, kmap);
		if (r < 0)
			return r;
	}
	if (r == 0)
		r = check_end(f, kmap);
	if (r == 0)
		r = flush(f);
	if (r == 0)
		r = check_codes(f);
	f->of->info.pages = f->of->k.list.n;
	return r < 0 ? r : judge(f);
}

int pagedet_kmap_pages(struct pagedet *pd, struct pagedet_kmap *kmap,
		       struct pagedet_kmap_pages **ret)
{
	struct finder *f;
	int r;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	if (kmap->pd != pd)
		return pdet_fail(&pd->env, EINVAL, "the KMAP is of another "
				 "handle");
	f = calloc(1, sizeof(*f));
	if (f)
		f->of = calloc(1, sizeof(*f->of));
	if (!f || !f->of) {
		free(f);
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	}
	f->of->pd = pd;
	r = find(f, kmap);
	if (r < 0)
		pagedet_kmap_pages_free(f->of);
	else
		*ret = f->of;
	pdet_pairs_free(&f->by_page);
	pdet_pairs_free(&f->codes);
	pdet_vec_free(&f->code);
	free(f);
	return r;
}

int pagedet_kmap_pages_info(const struct pagedet_kmap_pages *pages,
			    struct pagedet_kmap_pages_info *ret)
{
	struct pagedet_kmap_pages_info info = pages->info;

	info.size = ret->size;
	return pdet_answer_struct(&pages->pd->env, ret, &info, sizeof(info));
}

void pagedet_kmap_pages_free(struct pagedet_kmap_pages *pages)
{
	if (!pages)
		return;
	pdet_kmap_pages_end(&pages->k);
	free(pages);
}
