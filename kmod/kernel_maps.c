// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who maps a frame in the kernel's half of the addresses. Left out is what has
 * the same few tables over and over, which would take minutes: the stacks of
 * espfix, and what KASAN keeps.
 */
#include <linux/pgtable.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#ifdef CONFIG_KASAN
#include <linux/kasan.h>
#endif

#include "detective.h"

struct kernel_walk {
	struct pd_walk walk;
	struct pd_maps *maps;
};

static int hit(struct pd_walk *w, unsigned long addr, const struct pd_entry *e)
{
	struct kernel_walk *k = container_of(w, struct kernel_walk, walk);
	struct pd_map map = {
		.where = PD_KERNEL, .addr = addr, .level = e->level,
		.entry = e->value,
	};

	if (addr == (unsigned long)__va(PFN_PHYS(w->pfn)))
		map.where = PD_DIRECT;
	else if (is_vmalloc_addr((void *)addr))
		map.where = PD_VMALLOC;
	k->maps->counts[map.where]++;
	return k->maps->found(k->maps, &map);
}

/* Behind what must not be walked. */
static unsigned long skip(unsigned long addr)
{
	if (addr >= ESPFIX_BASE_ADDR &&
	    addr - ESPFIX_BASE_ADDR < (1UL << P4D_SHIFT))
		return ESPFIX_BASE_ADDR + (1UL << P4D_SHIFT);
#ifdef CONFIG_KASAN
	if (addr >= KASAN_SHADOW_START && addr < KASAN_SHADOW_END)
		return KASAN_SHADOW_END;
#endif
	return addr;
}

int pd_kernel_maps(struct pd_maps *m)
{
	struct kernel_walk *k;
	int r = 0;

	if (!pd_symbols.init_mm)
		return -EOPNOTSUPP;
	k = kzalloc(sizeof(*k), GFP_KERNEL);
	if (!k)
		return -ENOMEM;
	k->maps = m;
	k->walk.mm = pd_symbols.init_mm;
	k->walk.pfn = m->pfn;
	k->walk.hit = hit;
	/* the upper half */
	k->walk.addr = ~0UL << (PGDIR_SHIFT + 8);
	k->walk.last = ~0UL;
	while (!r && !k->walk.done) {
		k->walk.addr = skip(k->walk.addr);
		r = pd_walk_step(&k->walk);
		if (k->walk.seen < PD_ENTRIES)
			continue;
		k->walk.seen = 0;
		cond_resched();
		if (fatal_signal_pending(current))
			r = -EINTR;
	}
	kfree(k);
	return r;
}
