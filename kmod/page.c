// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a frame is. The reference comes first: what has none (a free page, the
 * middle of a block that is no folio) may become another page at any moment,
 * and then only words are copied and nothing is followed. Reserved pages stay
 * what they are without one.
 */
#include <linux/cgroup.h>
#include <linux/delay.h>
#include <linux/kernel-page-flags.h>
#include <linux/memcontrol.h>
#include <linux/memory_hotplug.h>
#include <linux/page-flags.h>
#include <linux/page_ref.h>
#include <linux/hugetlb.h>
#include <linux/uaccess.h>

#include "detective.h"

/* It has the structs of the memory that it is of, and goes with that. Its bit
 * says something else of pages that are in use.
 */
static bool is_own_memmap(struct page *page)
{
#ifdef CONFIG_MEMORY_HOTPLUG
	const unsigned long in_use = BIT(PG_lru) | BIT(PG_swapbacked);

	return PageVmemmapSelfHosted(page) && !READ_ONCE(page->mapping) &&
	       !(READ_ONCE(page->flags) & in_use) && !PageSlab(page);
#else
	return false;
#endif
}

/* Who gives these back does not ask whether somebody has a reference: pages of
 * the kernel itself, and those that belong to a hypervisor.
 */
static bool is_counted(struct page *page)
{
	return !PageReserved(page) && !PageOffline(page) &&
	       !is_own_memmap(page);
}

/* In 6.1 a page whose struct is about to be shared with others, read-only, may
 * be met while it is still its own: writing to it then would be fatal.
 */
bool pd_page_may_hold(void)
{
#if PD_6_1 && defined(CONFIG_HUGETLB_PAGE_OPTIMIZE_VMEMMAP)
	return !static_key_enabled(&hugetlb_optimize_vmemmap_key);
#else
	return true;
#endif
}

/* Whoever switches that on waits for processors that have no interrupts, and
 * then begins with it.
 */
static bool try_get(struct folio *folio)
{
	unsigned long flags;
	bool ret;

	local_irq_save(flags);
	ret = pd_page_may_hold() && folio_try_get(folio);
	local_irq_restore(flags);
	return ret;
}

/* A page may be split or joined to a larger one before the reference holds.
 * Meanwhile, for some microseconds, it has none at all, but unlike a free one it
 * is mapped to something.
 */
static void take_reference(struct pd_page *p)
{
	unsigned int i;

	for (i = 0; i < 200 && is_counted(p->page); i++) {
		struct folio *folio = page_folio(p->page);

		if (!try_get(folio)) {
			if (!READ_ONCE(folio->mapping) || !pd_page_may_hold())
				return;
			udelay(1);
			continue;
		}
		if (page_folio(p->page) == folio && is_counted(p->page)) {
			p->folio = folio;
			p->held = true;
			p->referenced = true;
			return;
		}
		folio_put(folio);
	}
	if (PageReserved(p->page)) {
		p->folio = page_folio(p->page);
		p->held = true;
	}
}

static const char *type_name(struct page *page)
{
	if (PageBuddy(page))
		return "buddy";
	if (PageOffline(page))
		return "offline";
	if (PageTable(page))
		return "table";
	if (PageGuard(page))
		return "guard";
#if !PD_6_1
	if (folio_test_hugetlb((struct folio *)page))
		return "hugetlb";
	if (folio_test_slab((struct folio *)page))
		return "slab";
#endif
	return "unknown";
}

static void copy_type(struct pd_page *p, struct page *page)
{
	const unsigned int type = READ_ONCE(page->page_type);

#if !PD_6_1
	if (!page_type_has_type((int)type))
		return;
	p->type = type >> 24;
#else
	if ((int)type >= PAGE_MAPCOUNT_RESERVE)
		return;
	p->type = type;
#endif
	p->type_name = type_name(page);
}

/* That of the page alone, and as kpagecount has it: of 6.12
 * folio_precise_page_mapcount(), of 6.1 page_mapcount().
 */
static void copy_mapcount(struct pd_page *p, struct folio *folio)
{
	const int own = atomic_read(&p->page->_mapcount);

#if !PD_6_1
	p->own_mapcount = page_type_has_type(own) ? 0 : own + 1;
	p->mapcount = p->own_mapcount;
	if (folio_test_large(folio))
		p->mapcount += folio_entire_mapcount(folio);
#else
	if (own < PAGE_MAPCOUNT_RESERVE || folio_test_slab(folio))
		return;
	p->own_mapcount = own + 1;
	p->mapcount = page_mapcount(p->page);
#endif
}

/* folio_order(), of one that may be none any more. */
static unsigned int order_of(struct folio *folio)
{
	if (!test_bit(PG_head, &folio->flags))
		return 0;
#if !PD_6_1
	return READ_ONCE(folio->_flags_1) & 0xff;
#else
	return READ_ONCE(folio->_folio_order);
#endif
}

static void copy_large(struct pd_page *p, struct folio *folio)
{
	if (!folio_test_large(folio))
		return;
	p->entire_mapcount = folio_entire_mapcount(folio);
#if !PD_6_1
	p->rmappable = folio_test_large_rmappable(folio);
	p->all_mapcount = folio_mapcount(folio);
	p->nr_pages_mapped = atomic_read(&folio->_nr_pages_mapped) &
		(0x800000 - 1);
	p->pincount = atomic_read(&folio->_pincount);
#else
	p->rmappable = folio_page(folio, 1)->compound_dtor ==
		TRANSHUGE_PAGE_DTOR;
	p->pincount = atomic_read(folio_pincount_ptr(folio));
#endif
}

static void copy_flags(struct pd_page *p, struct folio *folio)
{
	p->flags = READ_ONCE(folio->flags);
	p->page_flags = READ_ONCE(p->page->flags);
	p->poisoned = PageHWPoison(p->page) ||
		(p->hugetlb && PageHWPoison(&folio->page));
	p->offline = PageOffline(p->page);
	p->reserved = PageReserved(p->page);
	if (!pd_symbols.stable_page_flags)
		return;
	p->kpageflags = static_call(pd_stable_page_flags)(p->page);
	/* 6.12 calls every anonymous page merged; and slabs are either, as it
	 * happens, by what they have in the place of a mapping.
	 */
	if (!p->ksm)
		p->kpageflags &= ~(1ULL << KPF_KSM);
	if (p->kpageflags & 1ULL << KPF_SLAB)
		p->kpageflags &= ~(1ULL << KPF_ANON);
}

static void copy_mapping(struct pd_page *p, struct folio *folio)
{
	p->mapping = (unsigned long)READ_ONCE(folio->mapping);
	/* In a slab page it is something else. */
	if (p->held && !folio_test_slab(folio)) {
		p->ksm = (p->mapping & PAGE_MAPPING_FLAGS) == PAGE_MAPPING_KSM;
		p->anon = p->mapping & PAGE_MAPPING_ANON;
	}
	p->index = READ_ONCE(folio->index);
#if PD_6_1
	if (p->held && p->hugetlb)
		p->index <<= p->order;
#endif
	p->index += p->pfn - p->head;
}

/* Of a head that is none any more the other half may be in no memory. */
static void copy_words(unsigned long *to, const void *from, size_t size)
{
	if (copy_from_kernel_nofault(to, from, size))
		memset(to, 0, size);
}

/* None of a slab page, whose objects are charged one by one. Under RCU. */
static struct mem_cgroup *memcg_of(struct pd_page *p)
{
	return page_memcg_check(&p->folio->page);
}

/* As /proc/kpagecgroup has it: one that was removed lives on in its parent. */
static struct mem_cgroup *online(struct mem_cgroup *memcg)
{
	while (memcg && !(memcg->css.flags & CSS_ONLINE))
		memcg = parent_mem_cgroup(memcg);
	return memcg;
}

void pd_page_cgroup(struct pd_page *p, bool own)
{
	struct mem_cgroup *memcg;
	int n = -1;

	if (!p->referenced)
		return;
	rcu_read_lock();
	memcg = memcg_of(p);
	if (!own)
		memcg = online(memcg);
	if (memcg)
		n = cgroup_path(memcg->css.cgroup, p->memcg, sizeof(p->memcg));
	rcu_read_unlock();
	p->has_path = n > 0 && n < sizeof(p->memcg);
}

static void copy_cgroup(struct pd_page *p)
{
	struct mem_cgroup *own, *memcg;

	rcu_read_lock();
	own = memcg_of(p);
	memcg = online(own);
	p->memcg_ino = memcg ? cgroup_ino(memcg->css.cgroup) : 0;
	p->memcg_removed = memcg != own;
	rcu_read_unlock();
}

static void copy_all(struct pd_page *p, struct folio *folio)
{
	p->head = page_to_pfn(&folio->page);
	p->refcount = folio_ref_count(folio) - p->referenced;
	p->hugetlb = folio_test_hugetlb(folio);
	p->order = order_of(folio);
	copy_mapping(p, folio);
	copy_flags(p, folio);
	copy_type(p, &folio->page);
	p->memcg_data = READ_ONCE(folio->memcg_data);
	if (!p->held)
		return;
	copy_large(p, folio);
	copy_mapcount(p, folio);
	copy_cgroup(p);
}

/* Between these no memory is taken out of the machine. That may take minutes,
 * and move pages whose references it waits for: so nobody waits for its end
 * with a reference, nor if he is killed.
 */
static int hold_memory(void)
{
	struct percpu_rw_semaphore *lock = pd_symbols.mem_hotplug_lock;

	while (lock && !percpu_down_read_trylock(lock)) {
		schedule_timeout_killable(1);
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static void release_memory(void)
{
	if (pd_symbols.mem_hotplug_lock)
		percpu_up_read(pd_symbols.mem_hotplug_lock);
}

int pd_page_get(struct pd_page *p, unsigned long pfn)
{
	memset(p, 0, offsetof(struct pd_page, memcg));
	p->memcg[0] = '\0';
	p->aops[0] = '\0';
	p->dentry[0] = '\0';
	p->pfn = pfn;
	p->head = pfn;
	p->nr_pages_mapped = PD_6_1 ? -1 : 0;
	p->file = PD_FILE_UNKNOWN;
	if (hold_memory())
		return -EINTR;
	p->page = pfn_to_online_page(pfn);
	if (p->page) {
		p->exists = true;
		take_reference(p);
		copy_all(p, p->held ? p->folio : page_folio(p->page));
	}
	release_memory();
	return 0;
}

static void copy_structs(struct pd_page *p)
{
	copy_words(p->raw, p->page, sizeof(p->raw));
	if (p->order)
		copy_words(p->raw_head, pfn_to_page(p->head),
			   sizeof(p->raw_head));
}

int pd_page_words(struct pd_page *p)
{
	memset(p->raw, 0, sizeof(p->raw));
	memset(p->raw_head, 0, sizeof(p->raw_head));
	if (p->referenced) {
		copy_structs(p);
		return 0;
	}
	if (hold_memory())
		return -EINTR;
	/* One without a reference may have gone meanwhile. */
	if (p->exists && pfn_to_online_page(p->pfn) == p->page)
		copy_structs(p);
	release_memory();
	return 0;
}

void pd_page_put(struct pd_page *p)
{
	if (p->referenced)
		folio_put(p->folio);
	p->held = false;
	p->referenced = false;
}
