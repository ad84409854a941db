// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page tables of x86_64. A table may be freed while it is read: those of the
 * kernel are under no lock that a module could take, and an address space
 * frees some under a lock that it shares with readers. So tables are copied
 * in a way that survives whatever is in their place, an entry leads on only
 * to memory that there is, and what was found is looked up anew from the top
 * before it counts.
 */
#include <linux/memory_hotplug.h>
#include <linux/pgtable.h>
#include <linux/rcupdate.h>
#include <linux/uaccess.h>

#include "detective.h"

/* A huge page that nobody may touch is there, too; pud_present() does not say
 * so.
 */
#define PROTECTED_PUD (_PAGE_PSE | _PAGE_PROTNONE)

static int top_level(void)
{
	return pgtable_l5_enabled() ? PD_PGD : PD_P4D;
}

const char *pd_level_name(int level)
{
	static const char * const names[] = {
		[PD_PTE] = "pte", [PD_PMD] = "pmd", [PD_PUD] = "pud",
		[PD_P4D] = "p4d", [PD_PGD] = "pgd",
	};

	return level == top_level() ? "pgd" : names[level];
}

static unsigned int level_shift(int level)
{
	return PAGE_SHIFT + (level - 1) * (PMD_SHIFT - PAGE_SHIFT);
}

unsigned long pd_level_size(int level)
{
	return 1UL << level_shift(level);
}

static bool is_present(int level, u64 value)
{
	switch (level) {
	case PD_PTE:
		return pte_present(__pte(value));
	case PD_PMD:
		return pmd_present(__pmd(value));
	case PD_PUD:
		return pud_present(__pud(value)) ||
		       (value & PROTECTED_PUD) == PROTECTED_PUD;
	default:
		return value & _PAGE_PRESENT;
	}
}

static unsigned long leaf_pfn(int level, u64 value)
{
	switch (level) {
	case PD_PTE:
		return pte_pfn(__pte(value));
	case PD_PMD:
		return pmd_pfn(__pmd(value));
	default:
		return pud_pfn(__pud(value));
	}
}

static void decode(struct pd_entry *e, int level, u64 value,
		   unsigned long addr)
{
	e->level = level;
	e->value = value;
	e->present = is_present(level, value);
	e->leaf = e->present &&
		(level == PD_PTE || (level <= PD_PUD && value & _PAGE_PSE));
	e->pfn = e->leaf ? leaf_pfn(level, value) +
		((addr & (pd_level_size(level) - 1)) >> PAGE_SHIFT) : 0;
	e->table = 0;
}

int pd_descend(const struct mm_struct *mm, unsigned long addr, int lowest,
	       struct pd_entry *ret)
{
	unsigned long table = (unsigned long)mm->pgd;
	int level = top_level();
	unsigned long pfn;
	u64 value;

	for (;; level--) {
		const u64 *at = (u64 *)table + (addr >> level_shift(level)) %
			PTRS_PER_PTE;

		if (copy_from_kernel_nofault(&value, at, sizeof(value)))
			return -EAGAIN;
		decode(ret, level, value, addr);
		if (!ret->present || ret->leaf)
			return 0;
		pfn = (value & PTE_PFN_MASK) >> PAGE_SHIFT;
		if (!pfn_to_online_page(pfn))
			return -EAGAIN;
		table = (unsigned long)__va(PFN_PHYS(pfn));
		ret->table = table;
		if (level == lowest)
			return 0;
	}
}

static int found(struct pd_walk *w, unsigned long addr)
{
	struct pd_entry e;
	int r;

	rcu_read_lock();
	r = pd_descend(w->mm, addr, PD_PTE, &e);
	rcu_read_unlock();
	if (r || !e.leaf || e.pfn != w->pfn)
		return 0;
	r = w->hit(w, addr, &e);
	if (r > 0)
		w->seen = PD_ENTRIES;
	return r;
}

/* The table that @w->addr is in, up to *@last, which may come nearer. */
static int scan_table(struct pd_walk *w, unsigned long *last)
{
	unsigned long addr = w->addr & PAGE_MASK;
	unsigned int i = (addr >> PAGE_SHIFT) % PTRS_PER_PTE;
	int r;

	for (;; i++, addr += PAGE_SIZE) {
		pte_t pte = __pte(w->table[i]);

		if (!pte_none(pte) && pte_present(pte) &&
		    pte_pfn(pte) == w->pfn) {
			r = found(w, addr);
			if (r > 0)
				*last = addr | ~PAGE_MASK;
			if (r)
				return r;
		}
		if (*last - addr < PAGE_SIZE)
			return 0;
	}
}

/* The part of a large leaf that is the frame. */
static int scan_leaf(struct pd_walk *w, const struct pd_entry *e,
		     unsigned long last)
{
	unsigned long n = w->pfn - e->pfn;
	unsigned long addr = w->addr & PAGE_MASK;

	if (w->pfn < e->pfn || n > (last - addr) >> PAGE_SHIFT)
		return 0;
	return found(w, addr + (n << PAGE_SHIFT));
}

int pd_walk_step(struct pd_walk *w)
{
	unsigned long last;
	struct pd_entry e;
	int r;

	rcu_read_lock();
	r = pd_descend(w->mm, w->addr, PD_PMD, &e);
	/* It would be more than may be looked at in one go. */
	if (!r && e.table && w->seen) {
		rcu_read_unlock();
		w->seen = PD_ENTRIES;
		return 0;
	}
	if (!r && e.table &&
	    copy_from_kernel_nofault(w->table, (void *)e.table,
				     sizeof(w->table)))
		r = -EAGAIN;
	rcu_read_unlock();
	/* It has gone meanwhile; so has what was mapped there. */
	if (r) {
		e.level = PD_PMD;
		e.leaf = false;
		e.table = 0;
	}
	last = min(w->addr | (pd_level_size(e.level) - 1), w->last);
	w->seen += e.table ? PTRS_PER_PTE : 1;
	if (e.table)
		r = scan_table(w, &last);
	else
		r = e.leaf ? scan_leaf(w, &e, last) : 0;
	w->done = last == w->last;
	w->addr = last + 1;
	return min(r, 0);
}
