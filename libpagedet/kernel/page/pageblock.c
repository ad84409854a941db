/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads pageblock bits: a few bits for each block, contiguous within a section.
 */
#include <errno.h>
#include <string.h>

#include "kernel/page/pageblock.h"

#define TYPE_MASK 7

static const pdet_field_names usage_names[] = {
	{ "mem_section_usage.pageblock_flags" },
};

/* mm/page_alloc.c, migratetype_names */
static const struct {
	const char *constant, *name;
} types[] = {
	{ "MIGRATE_UNMOVABLE", "Unmovable" },
	{ "MIGRATE_MOVABLE", "Movable" },
	{ "MIGRATE_RECLAIMABLE", "Reclaimable" },
	{ "MIGRATE_HIGHATOMIC", "HighAtomic" },
	{ "MIGRATE_CMA", "CMA" },
	{ "MIGRATE_ISOLATE", "Isolate" },
};

static bool find_types(struct pdet_pageblocks *b, const struct pdet_btf *btf)
{
	uint64_t value;
	size_t i;

	for (i = 0; i < PDET_COUNT(types); i++) {
		if (!pdet_btf_enumerator(btf, "migratetype", types[i].constant,
					 &value))
			continue;
		if (value >= PDET_MIGRATETYPES)
			return false;
		b->type[value] = types[i].name;
	}
	return b->type[0];
}

static bool find_bits(struct pdet_pageblocks *b, const struct pdet_btf *btf)
{
	uint64_t value;

	/* Isolation has its own bit since 6.17 (e904bce2d9d4). */
	b->isolate_bit = -1;
	if (pdet_btf_enumerator(btf, "pageblock_bits", "PB_migrate_isolate",
				&value) && value < 32) {
		b->isolate_bit = (int)value;
		b->isolate = "Isolate";
	}
	if (!pdet_btf_enumerator(btf, "pageblock_bits", "NR_PAGEBLOCK_BITS",
				 &value) &&
	    !pdet_btf_enumerator(btf, "pageblock_bits", "__NR_PAGEBLOCK_BITS",
				 &value))
		return false;
	/* round up to a power of 2 */
	for (b->bits = 4; b->bits < value && b->bits < 32;)
		b->bits *= 2;
	return true;
}

bool pdet_pageblocks_init(struct pdet_pageblocks *b, const struct pdet_btf *btf,
			  const struct pdet_paging *paging,
			  const struct pdet_layout *layout)
{
	uint64_t size;

	memset(b, 0, sizeof(*b));
	pdet_struct_find(&b->usage, btf, usage_names, 1);
	/* If the kernel has hugetlb, a block has the size of a huge page, but
	 * it is never larger than the largest free block. Without hugetlb it
	 * has the size of the largest free block. */
	b->shift = layout->free_orders - 1;
	if (pdet_btf_struct_size(btf, "hstate", &size) && size)
		b->shift = PDET_MIN(b->shift, paging->page_shift - 3);
	return pdet_struct_has(&b->usage, 0) &&
	       layout->member[PDET_MEMBER_SECTION_USAGE] >= 0 &&
	       find_bits(b, btf) && find_types(b, btf);
}

int pdet_pageblock_type(struct pdet_space *space,
			const struct pdet_pageblocks *b,
			const struct pdet_memmap *m,
			const struct pdet_layout *layout, uint64_t pfn,
			const char **ret)
{
	const uint64_t i = pfn >> m->section_shift, root = i >> m->root_shift;
	const uint64_t in_root = i & (((uint64_t)1 << m->root_shift) - 1);
	const uint64_t last = ((uint64_t)1 << m->section_shift) - 1;
	const uint64_t bit = ((pfn & last) >> b->shift) * b->bits;
	uint64_t at, usage;
	uint32_t word;
	int r;

	if (!pdet_memmap_section(m, pfn))
		return -ENOENT;
	r = pdet_space_u64(space, m->array.addr + root * 8, &at);
	if (!r)
		r = pdet_space_u64(space, at + in_root * m->array.size +
				   (uint64_t)layout->member[
					   PDET_MEMBER_SECTION_USAGE], &usage);
	if (!r && !pdet_is_address(usage))
		r = -EBADMSG;
	if (!r)
		r = pdet_space_u32(space,
				   pdet_struct_addr(&b->usage, usage, 0) +
				   bit / 32 * 4, &word);
	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	word >>= bit % 32;
	*ret = b->isolate_bit >= 0 && word >> b->isolate_bit & 1 ? b->isolate :
	       b->type[word & TYPE_MASK];
	return *ret ? 0 : -EBADMSG;
}
