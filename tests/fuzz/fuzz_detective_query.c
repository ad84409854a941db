/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes answers of page_detective's file "query": any text, whose pages and
 * mappings become rows.
 */
#include <errno.h>

#include "backend/page_detective/query.h"
#include "fuzz.h"

static void check_text(const struct page_detective_reply *a,
		       struct page_detective_text t)
{
	MUST(t.at + (size_t)t.len <= a->text.n);
}

static void check_map(const struct page_detective_reply *a,
		      const struct page_detective_map *m)
{
	const uint32_t vma = PAGE_DETECTIVE_VMA_START |
			     PAGE_DETECTIVE_VMA_END;

	check_text(a, m->comm);
	check_text(a, m->vma_name);
	MUST(m->kind >= PAGEDET_MAP_USER && m->kind <= PAGEDET_MAP_OTHER);
	MUST(m->level >= PAGEDET_LEVEL_PTE && m->level <= PAGEDET_LEVEL_PGD);
	MUST(m->kind != PAGEDET_MAP_USER || (m->has & vma) != vma ||
	     (m->addr >= m->vma_start && m->addr < m->vma_end));
	MUST(m->pid <= INT32_MAX);
}

/* Each cell has a state, and set bits are known. */
static void check_row(const struct page_detective_putting *o)
{
	unsigned f;

	pdet_fields_for(f, o->want)
		MUST(pdet_batch_state(o->b, 0, f) != PAGEDET_NOT_ASKED);
	MUST(!(pdet_batch_get(o->b, 0, PAGEDET_FIELD_FLAGS, 0) &
	       ~pdet_batch_get(o->b, 0, PAGEDET_FIELD_FLAGS_KNOWN, 0)));
	MUST(!(pdet_batch_get(o->b, 0, PAGEDET_FIELD_PTE, 0) &
	       ~pdet_batch_get(o->b, 0, PAGEDET_FIELD_PTE_KNOWN, 0)));
}

static void check_page(const struct page_detective_reply *a,
		       const struct page_detective_page *p,
		       struct pdet_batch *b, const struct pdet_fields *want)
{
	const struct pdet_kpf kpf = { .known = ~(uint64_t)0 };
	struct page_detective_putting o = {
		.a = a, .p = p, .b = b, .want = want, .kpf = &kpf,
		.has_head_word = p->pfn & 1, .head_word = p->flags,
		.memcg_is_there = true,
	};
	size_t i;

	check_text(a, p->memcg);
	MUST(p->state <= PAGE_DETECTIVE_NOTPRESENT);
	MUST((p->state == PAGE_DETECTIVE_STRANGE) ==
	     !!(p->strange & PAGE_DETECTIVE_STATE));
	MUST(!(p->has & p->strange));
	MUST(p->first <= a->maps.n && p->n <= a->maps.n - p->first);
	MUST(!(p->has & PAGE_DETECTIVE_HEAD) || p->head <= p->pfn);
	pdet_batch_clear(b, 1);
	pdet_batch_grow(b, 1);
	if (p->state == PAGE_DETECTIVE_NOTPRESENT)
		page_detective_put_nothing(&o);
	else
		page_detective_put(&o);
	check_row(&o);
	for (i = p->first; i < p->first + p->n; i++) {
		check_map(a, &a->maps.data[i]);
		pdet_batch_clear(b, 1);
		pdet_batch_grow(b, 1);
		page_detective_put_map(&o, &a->maps.data[i]);
		check_row(&o);
	}
}

static struct pdet_fields columns(void)
{
	struct pdet_fields all = { { 0, 0 } };
	unsigned f;

	for (f = 0; f < PDET_FIELDS; f++)
		if (page_detective_tells(f))
			pdet_fields_add(&all, f);
	return all;
}

/* The same text as a list of features: each line at most once. */
static void check_features(struct pdet_scan text)
{
	char name[64];
	size_t n = 0, lines = 1;
	const char *at;

	for (at = text.at; at < text.end; at++)
		lines += *at == '\n';
	if (page_detective_version(text, name, sizeof(name)))
		MUST(memchr(name, '\0', sizeof(name)));
	while (page_detective_feature_off(&text, name, sizeof(name))) {
		MUST(memchr(name, '\0', sizeof(name)));
		MUST(++n <= lines);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pdet_scan text = { (const char *)data,
					(const char *)data + size };
	const struct pdet_fields want = columns();
	struct page_detective_reply a = { 0 };
	struct pdet_batch b;
	size_t i;
	int r = page_detective_parse(text, &a);

	MUST(r == 0 || r == -EIO || r == -EBADMSG);
	/* The result is not larger than the input. */
	MUST(a.text.n <= size && a.pages.n <= size / 4 &&
	     a.maps.n <= size / 4);
	MUST(pdet_batch_init(&b, &want, 1, 1 << 20));
	for (i = 0; r == 0 && i < a.pages.n; i++)
		check_page(&a, &a.pages.data[i], &b, &want);
	MUST(r || memmem(data, size, "end", 3));
	pdet_batch_free(&b);
	page_detective_reply_free(&a);
	check_features(text);
	return 0;
}
