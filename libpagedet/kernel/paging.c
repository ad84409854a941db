/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Walking tables of any shape; what is in them is the architecture's affair. */
#include <errno.h>
#include <stdlib.h>

#include "kernel/paging.h"

static const struct pdet_paging_arch *const archs[] = {
	&pdet_paging_x86_64,
	&pdet_paging_arm64,
};

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

/* Entries of a table of this level; the highest may have fewer. */
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

int pdet_paging_walk(struct pdet_reader *r, const struct pdet_paging *p,
		     uint64_t root, uint64_t va, struct pdet_leaf *ret)
{
	struct pdet_paging_entry e = { PDET_PT_TABLE, root };
	unsigned level = p->levels;
	uint64_t entry = 0;
	int error;

	while (e.is == PDET_PT_TABLE) {
		/* The lowest level has no tables: decode() sees to that. */
		level--;
		error = r->memory->ops->read_phys(r, e.addr +
						  index_of(p, level, va) * 8,
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

struct walk {
	struct pdet_reader *r;
	const struct pdet_paging *p;
	uint64_t start, last;
	const struct pdet_paging_visit *visit;
	uint64_t *table[PDET_PAGING_LEVELS];
};

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
		return w->visit->lost(w->visit->arg, va, (uint64_t)1 <<
				      pdet_paging_shift(w->p, level),
				      -EBADMSG);
	default:
		set_leaf(w->p, level, va, entry, &e, &leaf);
		return w->visit->leaf(w->visit->arg, &leaf);
	}
}

/* The table at @addr, whose first entry is for @va. */
static int do_table(struct walk *w, uint64_t addr, unsigned level, uint64_t va)
{
	const unsigned shift = pdet_paging_shift(w->p, level);
	const unsigned n = entries(w->p, level);
	const uint64_t reach = ((uint64_t)n << shift) - 1;
	unsigned i, to;
	int r;

	r = w->r->memory->ops->read_phys(w->r, addr, w->table[level], n * 8);
	if (r)
		return w->visit->lost(w->visit->arg, va, reach + 1, r);
	i = w->start > va ? index_of(w->p, level, w->start) : 0;
	to = w->last < va + reach ? index_of(w->p, level, w->last) : n - 1;
	for (r = 0; i <= to && !r; i++)
		if (w->table[level][i])
			r = do_entry(w, level, va + ((uint64_t)i << shift),
				     w->table[level][i]);
	return r;
}

int pdet_paging_each(struct pdet_reader *r, const struct pdet_paging *p,
		     uint64_t root, uint64_t start, uint64_t last,
		     const struct pdet_paging_visit *visit)
{
	const size_t words = (size_t)1 << (p->page_shift - 3);
	struct walk w = { r, p, start, last, visit, { NULL } };
	uint64_t *tables = malloc(p->levels * words * sizeof(*tables));
	unsigned i;
	int error;

	if (!tables)
		return -ENOMEM;
	for (i = 0; i < p->levels; i++)
		w.table[i] = tables + i * words;
	/* The highest table begins where what it translates begins: at 0 or,
	 * for the kernel's half, as far below the end. */
	error = do_table(&w, root, p->levels - 1,
			 p->va_bits < 64 ? start >> p->va_bits << p->va_bits :
					   0);
	free(tables);
	return error;
}
