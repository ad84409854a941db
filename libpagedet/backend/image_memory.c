/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Where there is memory: a dump says what it has, a running kernel what it was
 * given; else the memory map says for which frames it is there.
 */
#include <errno.h>

#include "backend/image.h"
#include "base/io.h"
#include "kernel/iomem.h"

/* What the memory map says is the same for so many frames. */
#define STEP 512

static bool add(struct pdet_ranges *ret, uint64_t first, uint64_t last)
{
	struct pdet_range *before = ret->n ? &ret->data[ret->n - 1] : NULL;

	if (before && before->last >= first)
		first = before->last + 1;
	if (first > last)
		return true;
	if (before && before->last + 1 == first) {
		before->last = last;
		return true;
	}
	return pdet_vec_push(ret, (struct pdet_range){ first, last });
}

/* /proc/iomem, which shows addresses only to those with CAP_SYS_ADMIN. */
static bool from_iomem(struct pdet_env *env, unsigned shift,
		       struct pdet_ranges *ret)
{
	struct pdet_text text;
	struct pdet_scan all, line;
	struct pdet_iomem e;
	bool ok = true;

	if (pdet_slurp(env, &text, 8 << 20, "/proc/iomem") < 0)
		return true;
	all = (struct pdet_scan){ text.data, text.data + text.len };
	while (ok && pdet_scan_line(&all, &line))
		if (pdet_iomem_line(line, &e) &&
		    pdet_iomem_use(&e) == PDET_IOMEM_RAM)
			ok = add(ret, e.first >> shift, e.last >> shift);
	pdet_text_free(&text);
	return ok;
}

static bool from_map(const struct pdet_memmap *m, struct pdet_ranges *ret)
{
	const uint64_t end = m->n_sections << m->section_shift;
	uint64_t pfn, step;
	bool ok = true;
	int error;

	for (pfn = 0; ok && pfn < end; pfn += step) {
		enum pdet_memmap_is is = pdet_memmap_is(m, pfn, &error);

		/* of a section that is not there, no part is */
		step = is == PDET_MEMMAP_NONE || is == PDET_MEMMAP_LOST ?
			(uint64_t)1 << m->section_shift : STEP;

		if (is == PDET_MEMMAP_USED || is == PDET_MEMMAP_SHARED)
			ok = add(ret, pfn, pfn + STEP - 1);
	}
	return ok;
}

/* Behind the last frame that can have a struct page. Headers may say that there
 * is memory up to the end of all addresses. */
static uint64_t end_of(const struct pdet_memmap *m)
{
	uint64_t n = m->n_sections;

	if (m->n_lost)
		n = PDET_MAX(n, m->lost[m->n_lost - 1].last + 1);
	return n << m->section_shift;
}

int pdet_image_memory(struct pdet_backend *b, struct pdet_env *env,
		      struct pdet_ranges *ret)
{
	struct image *im = image_of(b);
	const struct pdet_ranges *from;
	uint64_t last;
	unsigned shift;
	bool ok = true;
	size_t i;

	if (pdet_image_pages(im, env) < 0)
		return pdet_image_fail(env, &im->pages);
	from = &im->memory->ranges;
	shift = im->paging.page_shift;
	last = end_of(&im->memmap) - 1;
	for (i = 0; ok && i < from->n; i++)
		ok = add(ret, from->data[i].first >> shift,
			 PDET_MIN(from->data[i].last >> shift, last));
	if (ok && !ret->n && im->memory->live)
		ok = from_iomem(env, shift, ret);
	if (ok && !ret->n)
		ok = from_map(&im->memmap, ret);
	if (ok)
		return 0;
	pdet_vec_free(ret);
	return pdet_fail(env, ENOMEM, "no memory");
}

int pdet_image_ram(const struct image *im, struct pdet_env *env,
		   struct pdet_ranges *ret)
{
	const struct pdet_ranges *from = &im->memory->ranges;
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < from->n; i++)
		ok = add(ret, from->data[i].first, from->data[i].last);
	return ok && (ret->n || from_iomem(env, 0, ret)) ? 0 : -ENOMEM;
}
