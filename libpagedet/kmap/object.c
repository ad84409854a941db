/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The kernel marks an object whose memory was allocated again: if a more
 * special allocator did that, such as kmalloc with pages, both are allocated.
 */
#include "kmap/object.h"

/* A global has no place of an allocation, but memory of its own. */
static bool is_global(const struct pdet_kmap_line *l)
{
	return pdet_scan_is(&l->type, "GLOBAL") && !l->site.address &&
	       l->va.address;
}

unsigned pdet_kmap_origin(const struct pdet_kmap_line *l, unsigned dialect)
{
	const uint64_t v = l->site.address;

	/* The kernel hashes codes, too. */
	if (l->site.hidden || l->site.hashed || is_global(l))
		return PAGEDET_KMAP_UNTOLD;
	if (v == PDET_KMAP_PREALLOCATED)
		return PAGEDET_KMAP_PREALLOCATED;
	if (v >= PDET_KMAP_MOST_TYPES)
		return PAGEDET_KMAP_CALL;
	return dialect == PAGEDET_KMAP_LINUXKIT ? PAGEDET_KMAP_UNTOLD :
						  PAGEDET_KMAP_CATCH_ALL;
}

const char *pdet_kmap_code(unsigned origin)
{
	return origin == PAGEDET_KMAP_PREALLOCATED ? "(preallocated)" :
						     "(catch-all)";
}

unsigned pdet_kmap_end(const struct pdet_kmap_line *l)
{
	const uint64_t v = l->free_site.address;

	if (v == PDET_KMAP_MISSED || v == PDET_KMAP_NESTED)
		return PAGEDET_KMAP_MISSED;
	if (!pdet_kmap_tells_nested(l) || !v == !!l->free_index)
		return PAGEDET_KMAP_UNKNOWN;
	return v ? PAGEDET_KMAP_FREED : PAGEDET_KMAP_LIVE;
}

bool pdet_kmap_tells_nested(const struct pdet_kmap_line *l)
{
	return !l->free_site.hidden && !l->free_site.hashed;
}

bool pdet_kmap_is_nested(const struct pdet_kmap_line *l)
{
	return l->free_site.address == PDET_KMAP_NESTED;
}

bool pdet_kmap_is_interrupt(const struct pdet_kmap_line *l)
{
	return !l->pid && (pdet_scan_is(&l->command, "hardirq") ||
			   pdet_scan_is(&l->command, "softirq"));
}

/* A watch of an object does not know its allocation. */
bool pdet_kmap_has_thread(const struct pdet_kmap_line *l)
{
	return !l->site.hidden || l->pid || l->command.at < l->command.end;
}

bool pdet_kmap_has_cache(const struct pdet_kmap_line *l)
{
	return l->cache.at < l->cache.end &&
	       !pdet_scan_is(&l->cache, "no-slab");
}

unsigned pdet_kmap_lifetime(const struct pdet_kmap_line *l, unsigned dialect,
			    uint64_t hz, uint64_t *ret)
{
	const unsigned end = pdet_kmap_end(l);
	unsigned __int128 ns;

	if (end == PAGEDET_KMAP_LIVE)
		return PAGEDET_NONE;
	/* The time of what was missed is that of the next allocation. */
	if (end == PAGEDET_KMAP_MISSED || l->free_index < l->alloc_index ||
	    (!hz && dialect == PAGEDET_KMAP_INDEXED))
		return PAGEDET_UNSUPPORTED;
	*ret = l->free_index - l->alloc_index;
	if (!hz)
		return PAGEDET_HAVE;
	ns = (unsigned __int128)*ret * 1000000000 / hz;
	*ret = ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
	return PAGEDET_HAVE;
}
