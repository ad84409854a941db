/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the mappings of a page, which the file "query" of page_detective gives
 * after examining all tasks. That may take long, so the number of pages in a
 * query is limited, and only requested fields cause it. Other fields of the
 * page were queried before, and do not depend on it.
 */
#include <errno.h>

#include "backend/page_detective/query.h"

#define F(name) PAGEDET_FIELD_##name
#define SOURCE PAGEDET_SOURCE_PAGE_DETECTIVE

static unsigned ask(struct page_detective_session *s, uint64_t pfn,
		    struct page_detective_reply *ret)
{
	const unsigned lacks = page_detective_lacks(
		page_detective_of(s->session.backend), F(USER_MAPS));
	unsigned reason;

	if (lacks != PAGEDET_HAVE)
		return lacks;
	if (!page_detective_spend(s))
		return PAGEDET_TOO_COSTLY;
	reason = page_detective_ask_phys(s, pfn, " walk nocontent", true, ret);
	if (!reason && !ret->pages.data[0].walked)
		reason = PAGEDET_UNSUPPORTED;
	return reason;
}

/* The answer is kept until the next page. */
static unsigned ask_maps(struct page_detective_session *s, uint64_t pfn)
{
	if (s->told.valid && s->told.pfn == pfn)
		return s->told.reason;
	page_detective_reply_free(&s->told.reply);
	s->told.reason = ask(s, pfn, &s->told.reply);
	s->told.pfn = pfn;
	s->told.valid = true;
	return s->told.reason;
}

/* --- counts --- */

/* True if the page was still the same when its mappings were searched. */
static bool is_same(const struct page_detective_page *now,
		    const struct page_detective_page *before)
{
	return now->pfn == before->pfn && now->head == before->head &&
	       now->order == before->order &&
	       page_detective_is_alike(now, before);
}

unsigned page_detective_add_maps(struct page_detective_session *s,
				 const struct pdet_fields *want,
				 struct page_detective_page *p)
{
	const struct pdet_wants *wants = s->session.wants;
	const struct page_detective_page *now;
	unsigned reason;

	if (!pdet_fields_has(want, F(USER_MAPS)) &&
	    !pdet_fields_has(want, F(KERNEL_MAPS)))
		return 0;
	if (p->state != PAGE_DETECTIVE_HAVE &&
	    p->state != PAGE_DETECTIVE_UNREFERENCED)
		return 0;
	/* Rows of these mappings must use this same answer. */
	if (!wants->walks || wants->target != PAGEDET_TARGET_MAPPERS)
		s->told.valid = false;
	reason = ask_maps(s, p->pfn);
	if (reason)
		return reason;
	now = s->told.reply.pages.data;
	if (!is_same(now, p))
		return PAGEDET_RACED;
	p->walked = true;
	p->sum = now->sum;
	return 0;
}

void page_detective_put_no_maps(struct page_detective_session *s,
				const struct page_detective_putting *o,
				unsigned why)
{
	static const uint8_t counts[] = { F(USER_MAPS), F(KERNEL_MAPS) };
	unsigned lacks;
	size_t i;

	for (i = 0; i < PDET_COUNT(counts) && why; i++) {
		if (!pdet_fields_has(o->want, counts[i]))
			continue;
		lacks = page_detective_lacks(
			page_detective_of(s->session.backend), counts[i]);
		pdet_put_lost(o->b, o->row, counts[i],
			      lacks == PAGEDET_HAVE ? why : lacks, SOURCE);
	}
}

/* --- single mappings --- */

static void put_map(struct page_detective_session *s, struct pdet_batch *b,
		    const struct pdet_fields *want, size_t i)
{
	struct page_detective_putting o = {
		.a = &s->told.reply, .p = s->told.reply.pages.data,
		.b = b, .row = b->n, .want = want,
		.kpf = &page_detective_of(s->session.backend)->kpf,
		.d = page_detective_of(s->session.backend),
	};

	pdet_batch_grow(b, 1);
	page_detective_put_map(&o, &s->told.reply.maps.data[i]);
}

int page_detective_query_told(struct page_detective_session *s, uint64_t pfn,
			      size_t *at, struct pdet_batch *b)
{
	const struct pdet_fields want = page_detective_said(s);
	const struct page_detective_page *p;
	unsigned reason;

	if (!*at)
		s->told.valid = false;
	reason = ask_maps(s, pfn);
	if (reason)
		return (int)reason;
	p = s->told.reply.pages.data;
	for (; *at < p->n; ++*at) {
		if (b->n == b->cap)
			return 0;
		put_map(s, b, &want, p->first + *at);
	}
	*at = SIZE_MAX;
	return p->sum.complete ? 0 : -EAGAIN;
}
