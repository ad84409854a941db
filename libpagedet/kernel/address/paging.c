/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks page tables of any geometry. The architecture's file decodes entries.
 */
#include <errno.h>
#include <stdlib.h>

#include "kernel/address/paging.h"

static const struct pdet_paging_arch *const archs[] = {
	&pdet_paging_x86_64,
	&pdet_paging_arm64,
};

bool pdet_paging_knows(uint16_t machine)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(archs); i++)
		if (archs[i]->machine == machine)
			return true;
	return false;
}

bool pdet_paging_set_up(struct pdet_paging *ret, struct pdet_env *env,
			uint16_t machine, const struct pdet_vmcoreinfo *info)
{
	struct pdet_paging p = { .arch = NULL };
	size_t i;

	for (i = 0; i < PDET_COUNT(archs); i++)
		if (archs[i]->machine == machine)
			p.arch = archs[i];
	if (!p.arch) {
		pdet_fail(env, ENOTSUP,
			  "cannot translate addresses of ELF machine %u",
			  machine);
		return false;
	}
	if (!p.arch->set_up(&p, env, info))
		return false;
	*ret = p;
	return true;
}

/* Entries of a table of @level; the highest level may have fewer. */
static unsigned entries(const struct pdet_paging *p, unsigned level)
{
	unsigned bits = p->page_shift - 3;
	unsigned left = p->va_bits - pdet_paging_shift(p, level);

	return 1u << PDET_MIN(bits, left);
}

static unsigned index_of(const struct pdet_paging *p, unsigned level,
			 uint64_t va)
{
	return (unsigned)(va >> pdet_paging_shift(p, level)) &
	       (entries(p, level) - 1);
}

static void set_leaf(const struct pdet_paging *p, unsigned level, uint64_t va,
		     uint64_t entry, const struct pdet_paging_entry *e,
		     struct pdet_leaf *ret)
{
	ret->is = e->is;
	ret->level = level;
	ret->entry = entry;
	ret->size = (uint64_t)1 << pdet_paging_shift(p, level);
	ret->start = va & ~(ret->size - 1);
	ret->addr = e->addr;
}

/* The one or two ranges of addresses that @root translates. A walk uses only
 * some bits of an address. For other addresses it would therefore find the
 * entries of an address in these ranges. */
static unsigned reach_of(const struct pdet_paging *p, uint64_t root,
			 struct pdet_range reach[2])
{
	const uint64_t size = (uint64_t)1 << (p->va_bits - p->one_root);
	const struct pdet_range low = { 0, size - 1 };
	const struct pdet_range high = { -size, UINT64_MAX };

	reach[0] = p->one_root || root != p->root ? low : high;
	reach[1] = high;
	return p->one_root ? 2 : 1;
}

static bool reaches(const struct pdet_paging *p, uint64_t root, uint64_t va)
{
	struct pdet_range reach[2];
	unsigned i, n = reach_of(p, root, reach);

	/* With a root for each half, the highest byte may hold a tag, which
	 * hardware ignores. */
	if (!p->one_root)
		va = (uint64_t)((int64_t)(va << 8) >> 8);
	for (i = 0; i < n; i++)
		if (va >= reach[i].first && va <= reach[i].last)
			return true;
	return false;
}

int pdet_paging_walk(struct pdet_reader *r, const struct pdet_paging *p,
		     uint64_t root, uint64_t va, struct pdet_leaf *ret)
{
	struct pdet_paging_entry e = { PDET_PT_TABLE, root };
	unsigned level = p->levels;
	uint64_t entry = 0;
	int error;

	if (!reaches(p, root, va))
		return -ENOENT;
	while (e.is == PDET_PT_TABLE) {
		/* decode() never returns a table at the lowest level. */
		level--;
		error = pdet_read_phys(r, e.addr + index_of(p, level, va) * 8,
				       &entry, sizeof(entry));
		if (error)
			return error;
		e = p->arch->decode(p, entry, level);
	}
	if (e.is == PDET_PT_BAD)
		return -EBADMSG;
	set_leaf(p, level, va, entry, &e, ret);
	return 0;
}

/* --- all entries of a range --- */

/*
 * A table may be linked more than once: the kernel does so for espfix stacks
 * (2052 times for 1024 processors) and shared hugetlb mappings. A table of a
 * damaged dump may lead to itself, which would never end. After UNCOUNTED
 * entries, entries of repeated tables are counted. The walk refuses them after
 * AGAIN entries that are also a quarter of all others.
 */
#define UNCOUNTED ((uint64_t)1 << 21)
#define AGAIN ((uint64_t)1 << 24)
/* One bit for each table seen: enough for far more tables than exist. */
#define SEEN_BITS 27

struct walk {
	struct pdet_reader *r;
	const struct pdet_paging *p;
	uint64_t root;
	uint64_t start, last;
	const struct pdet_paging_visit *visit;
	uint64_t *table[PDET_PAGING_LEVELS];
	uint64_t visits, again;
	uint8_t *seen;
};

/* Decide whether to visit the table at @addr, whose first entry is for @va.
 * Returns 0, -ENOMEM, -ELOOP, or -EBADMSG if it is already a table of another
 * place. */
static int enter(struct walk *w, uint64_t addr, unsigned level, uint64_t va)
{
	const unsigned bits = w->p->page_shift - 3;
	uint64_t i = ((addr >> 3) + level) * 0x9e3779b97f4a7c15 >>
		     (64 - SEEN_BITS);
	uint8_t bit = (uint8_t)(1 << i % 8);

	/* the root may translate both halves: record it at 0 */
	if (w->visit->places)
		return pdet_paging_place(w->visit->places, addr, w->root,
					 level + 1 == w->p->levels ? 0 : va,
					 level);
	if (w->visits < UNCOUNTED >> bits) {
		w->visits++;
		return 0;
	}
	if (!w->seen)
		w->seen = calloc(1, (size_t)1 << (SEEN_BITS - 3));
	if (!w->seen)
		return -ENOMEM;
	if (w->seen[i / 8] & bit) {
		if (w->again >= (AGAIN >> bits) + (w->visits - w->again) / 4)
			return -ELOOP;
		w->again++;
	}
	w->seen[i / 8] |= bit;
	w->visits++;
	return 0;
}

/* Report va .. va + reach as lost. */
static int lose(struct walk *w, uint64_t va, uint64_t reach, int error)
{
	const uint64_t first = PDET_MAX(va, w->start);
	const uint64_t last = PDET_MIN(va + reach, w->last);

	return w->visit->lost(w->visit->arg, first, last - first + 1, error);
}

static int do_table(struct walk *w, uint64_t addr, unsigned level,
		    uint64_t va);

static int do_entry(struct walk *w, unsigned level, uint64_t va,
		    uint64_t entry)
{
	struct pdet_paging_entry e = w->p->arch->decode(w->p, entry, level);
	struct pdet_leaf leaf;

	switch (e.is) {
	case PDET_PT_NONE:
		return 0;
	case PDET_PT_TABLE:
		return do_table(w, e.addr, level - 1, va);
	case PDET_PT_BAD:
		return lose(w, va, ((uint64_t)1 <<
				    pdet_paging_shift(w->p, level)) - 1,
			    -EBADMSG);
	default:
		set_leaf(w->p, level, va, entry, &e, &leaf);
		return w->visit->leaf(w->visit->arg, &leaf);
	}
}

/* Visit the table at @addr, whose first entry is for @va. */
static int do_table(struct walk *w, uint64_t addr, unsigned level, uint64_t va)
{
	const unsigned shift = pdet_paging_shift(w->p, level);
	const unsigned n = entries(w->p, level);
	const uint64_t reach = ((uint64_t)n << shift) - 1;
	unsigned i, to;
	int r;

	r = enter(w, addr, level, va);
	if (r == 0)
		r = pdet_read_phys(w->r, addr, w->table[level], n * 8);
	if (r)
		return r == -ENOMEM ? r : lose(w, va, reach, r);
	i = w->start > va ? index_of(w->p, level, w->start) : 0;
	to = w->last < va + reach ? index_of(w->p, level, w->last) : n - 1;
	for (r = 0; i <= to && !r; i++)
		if (w->table[level][i])
			r = do_entry(w, level, va + ((uint64_t)i << shift),
				     w->table[level][i]);
	return r;
}

/* Visit the part of start .. last that is within @reach. */
static int do_part(struct walk *w, uint64_t root, uint64_t start,
		   uint64_t last, const struct pdet_range *reach)
{
	const unsigned bits = w->p->va_bits;

	w->start = PDET_MAX(start, reach->first);
	w->last = PDET_MIN(last, reach->last);
	if (w->start > w->last)
		return 0;
	/* the root covers the whole half, or both */
	return do_table(w, root, w->p->levels - 1, w->start >> bits << bits);
}

int pdet_paging_each(struct pdet_reader *r, const struct pdet_paging *p,
		     uint64_t root, uint64_t start, uint64_t last,
		     const struct pdet_paging_visit *visit)
{
	const size_t words = (size_t)1 << (p->page_shift - 3);
	uint64_t *tables = malloc(p->levels * words * sizeof(*tables));
	struct walk w = { .r = r, .p = p, .root = root, .visit = visit };
	struct pdet_range reach[2];
	unsigned i, n = reach_of(p, root, reach);
	int error = 0;

	if (!tables)
		return -ENOMEM;
	for (i = 0; i < p->levels; i++)
		w.table[i] = tables + i * words;
	for (i = 0; i < n && !error; i++)
		error = do_part(&w, root, start, last, &reach[i]);
	free(tables);
	free(w.seen);
	return error;
}
