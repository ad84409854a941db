/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Knows which frames are memory, and the node and zone of each. A dump says
 * which memory it contains, and a running kernel which memory it was given.
 * Otherwise the memory map says for which frames there is memory.
 */
#include <errno.h>
#include <string.h>

#include "backend/image/image.h"
#include "base/io.h"
#include "kernel/text/iomem.h"

/* This many frames always have the same state in the memory map. */
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

/* /proc/iomem shows addresses only with CAP_SYS_ADMIN. */
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

		/* skip a missing section as a whole */
		step = is == PDET_MEMMAP_NONE || is == PDET_MEMMAP_LOST ?
			(uint64_t)1 << m->section_shift : STEP;

		if (is == PDET_MEMMAP_USED || is == PDET_MEMMAP_SHARED)
			ok = add(ret, pfn, pfn + STEP - 1);
	}
	return ok;
}

/* The frame after the last one that can have a struct page. Headers may claim
 * memory up to the end of the address space. */
static uint64_t end_of(const struct pdet_memmap *m)
{
	uint64_t n = m->n_sections;

	if (m->n_lost)
		n = PDET_MAX(n, m->lost[m->n_lost - 1].last + 1);
	return n << m->section_shift;
}

uint64_t pdet_image_frames_end(struct pdet_backend *b, struct pdet_env *env)
{
	struct image *im = image_of(b);

	if (pdet_image_pages(im, env) == 0)
		return end_of(&im->memmap);
	pdet_clear(env);
	return 0;
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

/* --- node and zone --- */

static const struct {
	const char *name;
	uint8_t zone;
} zone_names[] = {
	{ "DMA", PAGEDET_ZONE_DMA }, { "DMA32", PAGEDET_ZONE_DMA32 },
	{ "Normal", PAGEDET_ZONE_NORMAL },
	{ "HighMem", PAGEDET_ZONE_HIGHMEM },
	{ "Movable", PAGEDET_ZONE_MOVABLE },
	{ "Device", PAGEDET_ZONE_DEVICE },
};

static void put_zone(const struct image_session *s, struct pdet_batch *b,
		     unsigned source, uint32_t row, uint64_t pfn)
{
	const struct pdet_zone *z = pdet_zone_find(&s->image->zone_list, pfn);
	const unsigned kind = (unsigned)pdet_batch_get(
			b, row, PAGEDET_FIELD_KIND, PAGEDET_KIND_UNKNOWN);
	size_t i;

	if (!z) {
		/* several zones, or none because there is no memory */
		const unsigned state = kind == PAGEDET_KIND_HOLE ?
				       PAGEDET_NONE : PAGEDET_UNSUPPORTED;

		pdet_put_lost(b, row, PAGEDET_FIELD_NODE, state, source);
		pdet_put_lost(b, row, PAGEDET_FIELD_ZONE, state, source);
		return;
	}
	pdet_put(b, row, PAGEDET_FIELD_NODE, z->node, source);
	pdet_put_lost(b, row, PAGEDET_FIELD_ZONE, PAGEDET_UNSUPPORTED, source);
	for (i = 0; i < PDET_COUNT(zone_names); i++)
		if (!strcmp(z->name, zone_names[i].name))
			pdet_put(b, row, PAGEDET_FIELD_ZONE,
				 zone_names[i].zone, source);
}

void pdet_image_put_zones(const struct image_session *s, struct pdet_batch *b,
			  unsigned source)
{
	uint32_t row;

	for (row = 0; row < b->n; row++) {
		const uint16_t cell = b->cell[PAGEDET_FIELD_PFN][row];

		if (PAGEDET_CELL_STATE(cell) == PAGEDET_HAVE) {
			put_zone(s, b, source, row,
				 b->value[PAGEDET_FIELD_PFN][row]);
			continue;
		}
		if (b->value[PAGEDET_FIELD_NODE])
			pdet_put_cells(b, row, 1, PAGEDET_FIELD_NODE, 0, cell);
		if (b->value[PAGEDET_FIELD_ZONE])
			pdet_put_cells(b, row, 1, PAGEDET_FIELD_ZONE, 0, cell);
	}
}
