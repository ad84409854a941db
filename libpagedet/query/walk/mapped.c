/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Collects the pages of files from the page tables of all tasks that map them.
 * Many tasks map the same pages. Each page is therefore looked up before it is
 * added: memory grows with pages, not with mappings.
 */
#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "query/walk/mapped.h"

/* Pages that may wait to be sorted. */
#define TAIL_PAGES 65536

#define BATCH_ROWS 4096

/* --- the files --- */

static struct pdet_mapped_key key_of(const struct pdet_vma *vma, bool unique)
{
	return (struct pdet_mapped_key){
		vma->dev, vma->inode,
		unique ? 0 : pdet_hash(vma->name, vma->name_len)
	};
}

/* The slot of the key, used or free. */
static uint32_t *slot_of(const struct pdet_mapped *m,
			 const struct pdet_mapped_key *key)
{
	size_t i = pdet_hash(key, sizeof(*key)) & (m->slots - 1);

	while (m->slot[i] && memcmp(&m->files.data[m->slot[i] - 1].key, key,
				    sizeof(*key)))
		i = (i + 1) & (m->slots - 1);
	return &m->slot[i];
}

/* Keeps the table at most half full, so that searches are short. */
static bool grow_slots(struct pdet_mapped *m)
{
	size_t i, slots = m->slots ? m->slots * 2 : 64;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return false;
	free(m->slot);
	m->slot = slot;
	m->slots = slots;
	for (i = 0; i < m->files.n; i++)
		*slot_of(m, &m->files.data[i].key) = (uint32_t)i + 1;
	return true;
}

struct pdet_mapped_file *pdet_mapped_file(const struct pdet_mapped *m,
					  const struct pdet_vma *vma)
{
	struct pdet_mapped_key key = key_of(vma, true);
	uint32_t *slot;

	if (!m->slots || !vma->name_len || *vma->name != '/')
		return NULL;
	slot = slot_of(m, &key);
	if (!*slot) {
		key = key_of(vma, false);
		slot = slot_of(m, &key);
	}
	return *slot ? &m->files.data[*slot - 1] : NULL;
}

bool pdet_mapped_add(struct pdet_mapped *m, const struct pdet_vma *vma,
		     bool unique, bool proved)
{
	struct pdet_mapped_file f;

	if (m->files.n * 2 >= m->slots && !grow_slots(m))
		return false;
	memset(&f, 0, sizeof(f));
	f.key = key_of(vma, unique);
	f.proved = proved;
	f.path = strndup(vma->name, vma->name_len);
	if (!f.path || !pdet_vec_push(&m->files, f)) {
		free(f.path);
		return false;
	}
	*slot_of(m, &f.key) = (uint32_t)m->files.n;
	return true;
}

static void file_free(struct pdet_mapped_file *f)
{
	free(f->path);
	pdet_vec_free(&f->pages);
}

void pdet_mapped_free(struct pdet_mapped *m)
{
	while (m->files.n)
		file_free(&m->files.data[--m->files.n]);
	pdet_vec_free(&m->files);
	free(m->slot);
	free(m->pids);
}

/* --- their pages --- */

static int compare_pages(const void *a, const void *b)
{
	const struct pdet_mapped_page *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->pfn < y->pfn ? -1 : x->pfn > y->pfn;
}

size_t pdet_mapped_seek(const struct pdet_mapped_file *f, uint64_t index)
{
	size_t low = 0, high = f->sorted;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->pages.data[mid].index < index)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Adds a page. Pages mostly come in ascending order. */
static bool add_page(struct pdet_mapped *m, struct pdet_mapped_file *f,
		     struct pdet_mapped_page page)
{
	const struct pdet_mapped_page *p = f->pages.data;

	while (f->at < f->sorted && compare_pages(&p[f->at], &page) < 0)
		f->at++;
	if (f->at < f->sorted && !compare_pages(&p[f->at], &page))
		return true;
	m->n_pages++;
	return pdet_vec_push(&f->pages, page);
}

/* Sorts all pages and drops repeated ones. */
static void put_in_order(struct pdet_mapped *m, struct pdet_mapped_file *f)
{
	struct pdet_mapped_page *p = f->pages.data;
	size_t i, n = 0;

	if (f->pages.n == f->sorted)
		return;
	qsort(p, f->pages.n, sizeof(*p), compare_pages);
	for (i = 0; i < f->pages.n; i++) {
		if (n && !compare_pages(&p[n - 1], &p[i]))
			continue;
		/* One task may not show a frame that another one shows. */
		if (n && p[n - 1].index == p[i].index && !p[n - 1].pfn)
			n--;
		p[n++] = p[i];
	}
	m->n_pages -= f->pages.n - n;
	f->pages.n = f->sorted = n;
}

/*
 * Makes room by dropping repeated pages. Returns -ENOMEM if that frees nothing.
 */
static int fit(struct pdet_mapped *m, struct pdet_env *env,
	       struct pdet_mapped_file *f)
{
	const size_t tail = f->pages.n - f->sorted;
	size_t i;

	if (tail >= PDET_MAX(f->sorted, (size_t)TAIL_PAGES))
		put_in_order(m, f);
	for (i = 0; i < m->files.n && m->n_pages > m->max_pages; i++)
		put_in_order(m, &m->files.data[i]);
	if (m->n_pages <= m->max_pages)
		return 0;
	pdet_fail(env, ENOMEM, "cannot list the mapped pages of %s: there are "
		  "more than %llu", m->files.n == 1 ? f->path : "the files",
		  (unsigned long long)m->max_pages);
	pdet_advise(env, "ask for a part of the file");
	return -ENOMEM;
}

/* --- mappings of tasks --- */

struct collector {
	struct pdet_mapped *m;
	struct pdet_worker *k;
	struct pdet_session *s;
	const struct pdet_backend_ops *ops;
	uint64_t page_size;
	struct pdet_batch entries;
};

static uint64_t index_of(const struct collector *c, const struct pdet_vma *vma,
			 uint64_t vaddr)
{
	return (vaddr - vma->start + vma->offset) / c->page_size;
}

/*
 * Keeps the entries of a VMA that map pages of the file, without private
 * copies.
 */
static bool keep_entries(struct collector *c, struct pdet_mapped_file *f,
			 const struct pdet_vma *vma)
{
	const uint32_t want = PAGEDET_PTE(PAGEDET_PTE_PRESENT) |
			      PAGEDET_PTE(PAGEDET_PTE_FILE);
	const struct pdet_batch *b = &c->entries;
	struct pdet_mapped_page page;
	uint32_t row;

	for (row = 0; row < b->n; row++) {
		if ((pdet_batch_get(b, row, PAGEDET_FIELD_PTE, 0) & want) !=
		    want)
			continue;
		page.index = index_of(c, vma,
				      b->value[PAGEDET_FIELD_VADDR][row]);
		page.pfn = pdet_batch_get(b, row, PAGEDET_FIELD_PFN, 0);
		if (!add_page(c->m, f, page))
			return false;
	}
	return true;
}

static int read_entries(struct collector *c, struct pdet_task *t,
			struct pdet_mapped_file *f, const struct pdet_vma *vma,
			uint64_t start, uint64_t end)
{
	int r;

	while (start < end) {
		r = pdet_engine_check(c->k);
		if (r < 0)
			return r;
		pdet_batch_clear(&c->entries, 1);
		r = c->ops->entries(c->s, t, &start, end, false, &c->entries);
		if (r < 0)
			return r;
		if (!keep_entries(c, f, vma))
			return pdet_fail(&c->s->env, ENOMEM, "no memory");
		r = fit(c->m, &c->s->env, f);
		if (r < 0)
			return r;
		/* The sort may have moved the position. */
		f->at = pdet_mapped_seek(f, index_of(c, vma, start));
	}
	return 0;
}

/* Clips the VMA to the wanted pages. Returns false if none is left. */
static bool clip(const struct collector *c, const struct pdet_vma *vma,
		 uint64_t *start, uint64_t *end)
{
	const uint64_t index = vma->offset / c->page_size;
	const uint64_t pages = (vma->end - vma->start) / c->page_size;
	const uint64_t first = PDET_MAX(index, c->m->first);

	if (first >= c->m->end || first - index >= pages)
		return false;
	*start = vma->start + (first - index) * c->page_size;
	*end = vma->end;
	if (c->m->end - index < pages)
		*end = vma->start + (c->m->end - index) * c->page_size;
	return true;
}

static int read_vma(struct collector *c, struct pdet_task *t,
		    struct pdet_mapped_file *f, const struct pdet_vma *vma)
{
	struct pdet_range ranges[64];
	uint64_t at, end;
	int i, n, r;

	if (!clip(c, vma, &at, &end))
		return 0;
	f->at = pdet_mapped_seek(f, index_of(c, vma, at));
	while (at < end) {
		n = c->ops->populated(c->s, t, &at, end, ranges,
				      PDET_COUNT(ranges));
		if (n < 0)
			return n;
		for (i = 0; i < n; i++) {
			r = read_entries(c, t, f, vma, ranges[i].first,
					 ranges[i].last + 1);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int read_task(struct collector *c, uint32_t pid)
{
	struct pdet_mapped_file *f;
	struct pdet_vma vma;
	struct pdet_task *t;
	int r;

	r = c->ops->task_open(c->s, pid, &t);
	if (r < 0)
		return r;
	r = c->ops->vma_first(c->s, t);
	while (r == 0 && (r = c->ops->vma_next(c->s, t, &vma)) > 0) {
		f = pdet_mapped_file(c->m, &vma);
		r = f ? read_vma(c, t, f, &vma) : pdet_engine_check(c->k);
	}
	c->ops->task_close(t);
	return r;
}

int pdet_mapped_unread(struct pdet_walk *w, struct pdet_worker *k, uint32_t pid,
		       int error)
{
	struct pdet_session *s = pdet_session_of(k, w);
	struct pdet_env *env = &s->env;

	/* The error does not belong to the task. */
	if (error == -ENOMEM || atomic_load(&k->it->stopped))
		return error;
	pdet_cover_unread(&k->cover, s, pid, error);
	pdet_log(env, PAGEDET_LOG_DEBUG, "%s", env->error);
	pdet_clear(env);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct pdet_mapped_file *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : memcmp(&x->key, &y->key, sizeof(x->key));
}

int pdet_mapped_collect(struct pdet_mapped *m, struct pdet_walk *w,
			struct pdet_worker *k)
{
	struct pdet_fields fields = { { 0, 0 } };
	struct collector c = {
		.m = m, .k = k, .s = pdet_session_of(k, w),
		.ops = w->backend->ops, .page_size = w->it->page_size,
	};
	size_t i;
	int r = 0;

	pdet_fields_add(&fields, PAGEDET_FIELD_VADDR);
	pdet_fields_add(&fields, PAGEDET_FIELD_PFN);
	pdet_fields_add(&fields, PAGEDET_FIELD_PTE);
	if (!pdet_batch_init(&c.entries, &fields, BATCH_ROWS, 0))
		return pdet_fail(&c.s->env, ENOMEM, "no memory");
	for (i = 0; i < m->n_pids && r == 0; i++) {
		r = read_task(&c, m->pids[i]);
		if (r < 0)
			r = pdet_mapped_unread(w, k, m->pids[i], r);
	}
	for (i = 0; i < m->files.n && r == 0; i++)
		put_in_order(m, &m->files.data[i]);
	pdet_batch_free(&c.entries);
	if (r == 0)
		qsort(m->files.data, m->files.n, sizeof(*m->files.data),
		      by_path);
	return r;
}
