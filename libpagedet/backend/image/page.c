/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds struct pages, and decodes single ones. */
#include <errno.h>

#include "backend/image/image.h"
#include "kernel/page/count.h"

/* This many frames always have the same memory state and consecutive struct
 * pages: a part of a section is never smaller. */
#define STEP 512

/* The number of frames from @pfn on that have the same state (see STEP). */
static uint32_t step(uint64_t pfn, uint32_t n)
{
	return PDET_MIN(n, (uint32_t)(STEP - pfn % STEP));
}

bool pdet_image_has_pages(const struct image *im, uint64_t pfn, uint32_t n,
			  uint32_t *ret, uint64_t *addr, int *error)
{
	const struct pdet_memmap *m = &im->memmap;
	const uint64_t size = m->page_size;
	enum pdet_memmap_is is;

	*ret = step(pfn, n);
	/* also set if the types contradicted the layout later */
	*error = im->pages.error;
	if (*error)
		return false;
	is = pdet_memmap_is(m, pfn, error);
	if (is != PDET_MEMMAP_USED && is != PDET_MEMMAP_SHARED) {
		if (is != PDET_MEMMAP_LOST)
			*error = 0;
		return false;
	}
	*addr = pdet_memmap_page(m, pfn);
	while (*ret < n && *ret < IMAGE_CHUNK) {
		int ignored;

		is = pdet_memmap_is(m, pfn + *ret, &ignored);
		if ((is != PDET_MEMMAP_USED && is != PDET_MEMMAP_SHARED) ||
		    pdet_memmap_page(m, pfn + *ret) != *addr + *ret * size)
			break;
		*ret += step(pfn + *ret,
			     PDET_MIN(n, (uint32_t)IMAGE_CHUNK) - *ret);
	}
	return true;
}

int pdet_image_page(struct image_session *s, uint64_t pfn,
		    struct image_page *ret)
{
	uint8_t is;
	uint16_t has;
	const struct pdet_page_columns to = {
		.is = &is, .has = &has, .flags = &ret->flags,
		.known = &ret->known, .mapcount = &ret->mapcount,
	};
	char page[PDET_PAGE_BYTES];
	uint64_t addr;
	uint32_t n;
	int r;

	if (!pdet_image_has_pages(s->image, pfn, 1, &n, &addr, &r))
		return r ? r : -ENOENT;
	r = pdet_space_read(&s->space, addr, page, s->image->memmap.page_size);
	if (r < 0)
		return r;
	pdet_page_run(&s->run, page, addr, pfn, 1, &to);
	if (is != PDET_PAGE_PLAIN && is != PDET_PAGE_TAIL)
		return -EBADMSG;
	ret->has_mapcount = has & PDET_HAS_MAPCOUNT;
	return 0;
}

/* @uncounted: its count is known, and 0. @decided: it has no kind if none is
 * known. */
static int read_folio(struct image_session *s, uint64_t pfn, uint64_t *head,
		      unsigned *kind, bool *uncounted, bool *decided)
{
	static const uint64_t decisive = PAGEDET_PF(PAGEDET_PF_SLAB) |
					 PAGEDET_PF(PAGEDET_PF_BUDDY);
	const uint64_t addr = pdet_memmap_page(&s->image->memmap, pfn);
	char page[PDET_PAGE_BYTES];
	uint8_t is, kinds;
	uint64_t refcount, known;
	uint16_t has, bad;
	int16_t error;
	const struct pdet_page_columns to = {
		.is = &is, .has = &has, .bad = &bad, .error = &error,
		.kind = &kinds, .head_pfn = head, .refcount = &refcount,
		.known = &known,
	};
	int r;

	if (s->image->pages.error)
		return s->image->pages.error;
	if (!addr)
		return -ENOENT;
	r = pdet_space_read(&s->space, addr, page, s->image->memmap.page_size);
	if (r < 0)
		return r;
	pdet_page_run(&s->run, page, addr, pfn, 1, &to);
	if ((is != PDET_PAGE_PLAIN && is != PDET_PAGE_TAIL) ||
	    bad & PDET_BAD_FOLIO)
		return -EBADMSG;
	*kind = kinds;
	*uncounted = has & PDET_HAS_REFCOUNT && !refcount;
	*decided = kinds != PAGEDET_KIND_UNKNOWN || !(decisive & ~known);
	return error;
}

int pdet_image_folio(struct image_session *s, uint64_t pfn, uint64_t *head,
		     unsigned *kind)
{
	bool uncounted, decided;

	return read_folio(s, pfn, head, kind, &uncounted, &decided);
}

unsigned pdet_image_kind(struct pdet_session *base, uint64_t pfn,
			 unsigned *kind, bool *uncounted)
{
	struct image_session *s = image_session_of(base);
	uint64_t head;
	bool decided;
	const int r = read_folio(s, pfn, &head, kind, uncounted, &decided);

	return r < 0 ? pdet_image_kernel_reason(s, r) :
	       decided ? PAGEDET_HAVE : PAGEDET_NO_TYPES;
}

/* --- the number of page table entries that map a large folio --- */

/* Struct pages that are read at once. */
#define PAGES 64
/* No kernel has folios larger than 16 GiB (hugetlb, powerpc and arm64). */
#define MOST_ORDER 22

/* Adds up _mapcount of all pages of a folio. */
static int add_up(struct image_session *s, uint64_t addr, uint64_t pages,
		  int64_t *sum)
{
	const uint64_t size = s->image->memmap.page_size;
	char buf[PAGES * PDET_PAGE_BYTES];
	uint64_t at, i, n;
	int32_t own;
	int r;

	*sum = 0;
	for (at = 0; at < pages; at += n) {
		n = PDET_MIN(pages - at, (uint64_t)PAGES);
		r = pdet_space_read(&s->space, addr + at * size, buf, n * size);
		if (r < 0)
			return r;
		for (i = 0; i < n; i++) {
			own = pdet_page_i32(&s->image->layout, buf + i * size,
					    PDET_MEMBER_PAGE_MAPCOUNT);
			/* A value below -1 is the type of a page. */
			*sum += own > -1 ? (int64_t)own + 1 : 0;
		}
	}
	return 0;
}

int pdet_image_folio_maps(struct pdet_session *base, uint64_t head,
			  uint64_t *ret)
{
	struct image_session *s = image_session_of(base);
	const struct pdet_layout *l = &s->image->layout;
	const uint64_t addr = pdet_memmap_page(&s->image->memmap, head);
	const uint64_t size = s->image->memmap.page_size;
	char pages[2 * PDET_PAGE_BYTES];
	struct pdet_page_facts f;
	int64_t own = 0;
	int r;

	if (s->image->pages.error)
		return s->image->pages.error;
	if (!addr)
		return -ENOENT;
	r = pdet_space_read(&s->space, addr, pages, 2 * size);
	if (r < 0)
		return r;
	pdet_page_decode(l, pages, pages, pages + size, &f);
	if (!f.large || f.bad || !f.has_order || f.order > MOST_ORDER)
		return -EBADMSG;
	if (pdet_page_sums_pages(l, &f))
		r = add_up(s, addr, (uint64_t)1 << f.order, &own);
	if (r < 0)
		return r;
	return pdet_page_folio_maps(l, &f, pages + size, own, ret) ?
	       0 : -EBADMSG;
}
