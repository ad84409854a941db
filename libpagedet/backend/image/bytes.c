/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads bytes of pages by frame, through the direct map or from a dump. It does
 * not touch page tables of tasks, and does not mark pages as accessed.
 * Consecutive frames are read together.
 *
 * On a running kernel some pages must not be read: poisoned ones, those that
 * the host took back, and those that a guest has not accepted yet. Reserved
 * pages may not be memory. Secret memory (secretmem) is not in the direct map,
 * and /proc/kcore shows zeroes for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/image.h"
#include "backend/page_content.h"
#include "kernel/address/directmap.h"
#include "kernel/page/kpf.h"
#include "schema/page_bytes.h"

/* Size of one read. */
#define RUN_BYTES PDET_VIEW_BYTES

/* --- once for each query --- */

/* True if this guest may have unaccepted memory (fs/proc/meminfo.c). */
static bool has_unaccepted(struct pdet_env *env)
{
	struct pdet_text text;
	const char *at;
	bool any;

	if (pdet_slurp(env, &text, 1 << 20, "/proc/meminfo") < 0)
		return false;
	at = strstr(text.data, "\nUnaccepted:");
	any = at && strtoull(at + strlen("\nUnaccepted:"), NULL, 10);
	pdet_text_free(&text);
	return any;
}

int pdet_image_bytes_prepare(struct image *im, struct pdet_env *env,
			     const struct pdet_wants *wants)
{
	struct image_bytes *y = &im->bytes;

	if (!pdet_fields_has(&wants->fields, PAGEDET_FIELD_CONTENT) ||
	    !im->memory || !im->memory->live)
		return 0;
	y->unaccepted = has_unaccepted(env);
	pdet_vec_free(&y->ram);
	if (pdet_image_ram(im, env, &y->ram) < 0)
		return pdet_fail(env, ENOMEM, "no memory");
	y->direct_error = im->source == PAGEDET_SOURCE_KCORE ?
		pdet_directmap_find(im->reader, &im->paging, &y->direct) : 0;
	return 0;
}

/* --- a page --- */

static bool is_ram(const struct pdet_ranges *ram, uint64_t addr)
{
	size_t i;

	for (i = 0; i < ram->n; i++)
		if (addr - ram->data[i].first <=
		    ram->data[i].last - ram->data[i].first)
			return true;
	return false;
}

/* Checks that apply only to a running kernel. */
static unsigned why_not_live(struct image_session *s,
			     const struct pdet_batch *b, uint32_t row)
{
	const struct image *im = s->image;
	const uint64_t pfn = b->value[PAGEDET_FIELD_PFN][row];
	const uint64_t flags = b->value[PAGEDET_FIELD_FLAGS][row];
	struct image_page page;
	int r;

	if (im->bytes.unaccepted &&
	    pdet_batch_get(b, row, PAGEDET_FIELD_KIND, PAGEDET_KIND_UNKNOWN) ==
		    PAGEDET_KIND_UNKNOWN)
		return PAGEDET_UNSAFE;
	/* Holes below 1 MiB are reserved and mapped. */
	if (flags & KPF(RESERVED)) {
		if (!im->bytes.ram.n)
			return PAGEDET_NO_ACCESS;
		if (!is_ram(&im->bytes.ram, pfn << im->paging.page_shift))
			return PAGEDET_UNSAFE;
	}
	/* Poison of a hugetlb folio is noted on its head. */
	if (flags & KPF(HUGE)) {
		r = pdet_image_page(s, pfn, &page);
		if (r < 0)
			return pdet_image_reason(r);
		if (page.flags & KPF(HWPOISON) ||
		    (im->layout.flag[PAGEDET_PF_HWPOISON] >= 0 &&
		     !(page.known & KPF(HWPOISON))))
			return PAGEDET_UNSAFE;
	}
	return PAGEDET_HAVE;
}

static unsigned why_not(struct image_session *s, const struct pdet_batch *b,
			uint32_t row)
{
	const bool live = s->image->memory->live;
	const unsigned why = pdet_content_why_not(b, row, live);

	return live && why == PAGEDET_HAVE ? why_not_live(s, b, row) : why;
}

static unsigned reason(const struct image_session *s, int error)
{
	if (error != -ENOENT)
		return pdet_image_reason(error);
	/* A running kernel has unmapped it; a dump does not contain it. */
	return s->image->memory->live ? PAGEDET_DENIED : PAGEDET_EXCLUDED;
}

static bool is_zero(const char *page, size_t n)
{
	return !page[0] && !memcmp(page, page + 1, n - 1);
}

/* Zeroes from /proc/kcore may mean that the page is not mapped. */
static unsigned why_zero(struct image_session *s, uint64_t pfn,
			 const char *page)
{
	const struct image *im = s->image;
	const struct pdet_paging *p = &im->paging;
	const uint64_t addr = pfn << p->page_shift;
	struct pdet_leaf leaf;
	int r = im->bytes.direct_error;

	if (im->source != PAGEDET_SOURCE_KCORE ||
	    !is_zero(page, (size_t)1 << p->page_shift))
		return PAGEDET_HAVE;
	/* Walk the tables again: a cached translation may be stale. */
	if (r == 0)
		r = pdet_paging_walk(s->reader, p, p->root,
				     im->bytes.direct + addr, &leaf);
	if (r < 0 && r != -ENOENT)
		return pdet_image_reason(r);
	return r == 0 && leaf.is == PDET_PT_PAGE &&
	       leaf.addr + (im->bytes.direct + addr - leaf.start) == addr ?
		       PAGEDET_HAVE : PAGEDET_DENIED;
}

/* Read consecutive frames together; if that fails, one by one. */
static void read_pages(struct image_session *s, struct pdet_batch *b,
		       uint32_t row, uint32_t n, unsigned source)
{
	const unsigned f = PAGEDET_FIELD_CONTENT;
	const unsigned shift = s->image->paging.page_shift;
	const uint64_t pfn = b->value[PAGEDET_FIELD_PFN][row];
	const char *to = pdet_page_bytes_next(b->bytes);
	uint32_t i;
	int r;

	r = pdet_read_phys(s->reader, pfn << shift,
			   pdet_page_bytes_next(b->bytes), (size_t)n << shift);
	if (r < 0 && n == 1) {
		pdet_put_lost(b, row, f, reason(s, r), source);
		return;
	}
	for (i = 0; i < n; i++, to += (size_t)1 << shift) {
		unsigned why;

		if (r < 0) {
			read_pages(s, b, row + i, 1, source);
			continue;
		}
		why = why_zero(s, pfn + i, to);
		if (why == PAGEDET_HAVE) {
			pdet_content_take(b, row + i, source);
			continue;
		}
		pdet_put_lost(b, row + i, f, why, source);
		/* The pages after it were not read. */
		if (i + 1 < n)
			read_pages(s, b, row + i + 1, n - i - 1, source);
		return;
	}
}

int pdet_image_put_content(struct image_session *s, struct pdet_batch *b,
			   unsigned source)
{
	const unsigned f = PAGEDET_FIELD_CONTENT;
	const unsigned shift = s->image->paging.page_shift;
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	const uint32_t most = (uint32_t)(RUN_BYTES >> shift);
	uint32_t row, end;
	unsigned why;

	if (!pdet_page_bytes_room(&b->bytes, b->cap, (size_t)1 << shift))
		return -ENOMEM;
	for (row = 0; row < b->n; row = end) {
		end = row + 1;
		why = why_not(s, b, row);
		if (why != PAGEDET_HAVE) {
			pdet_put_lost(b, row, f, why, source);
			continue;
		}
		while (end < b->n && end - row < most &&
		       pfn[end] == pfn[end - 1] + 1 &&
		       why_not(s, b, end) == PAGEDET_HAVE)
			end++;
		read_pages(s, b, row, end - row, source);
	}
	return 0;
}
