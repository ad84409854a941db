// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a frame is. The reference comes first: what has none (a free page, the
 * middle of a block that is no folio) may become another page at any moment,
 * and then only words are copied and nothing is followed.
 */
#include <linux/cgroup.h>
#include <linux/kernel-page-flags.h>
#include <linux/memcontrol.h>
#include <linux/memory_hotplug.h>
#include <linux/page-flags.h>
#include <linux/page_ref.h>
#include <linux/hugetlb.h>

#include "detective.h"

/* A page may be split or joined to a larger one before the reference holds. */
static void take_reference(struct pd_page *p)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		struct folio *folio = page_folio(p->page);

		if (!folio_try_get(folio))
			return;
		if (page_folio(p->page) == folio) {
			p->folio = folio;
			p->held = true;
			return;
		}
		folio_put(folio);
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
	if (!pd_symbols.stable_page_flags)
		return;
	p->kpageflags = pd_symbols.stable_page_flags(p->page);
	/* 6.12 calls every anonymous page merged. */
	if (!p->ksm)
		p->kpageflags &= ~(1ULL << KPF_KSM);
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

static void copy_words(unsigned long *to, const void *from, size_t size)
{
	size_t i;

	for (i = 0; i < size / sizeof(*to); i++)
		to[i] = READ_ONCE(((const unsigned long *)from)[i]);
}

/* None of a slab page, whose objects are charged one by one. Under RCU. */
static struct cgroup *cgroup_of(struct pd_page *p)
{
	struct mem_cgroup *memcg = page_memcg_check(&p->folio->page);

	return memcg ? memcg->css.cgroup : NULL;
}

void pd_page_cgroup(struct pd_page *p)
{
	struct cgroup *cgroup;

	if (!p->held)
		return;
	rcu_read_lock();
	cgroup = cgroup_of(p);
	p->charged = cgroup &&
		cgroup_path(cgroup, p->memcg, sizeof(p->memcg)) > 0;
	rcu_read_unlock();
}

static void copy_cgroup(struct pd_page *p)
{
	struct cgroup *cgroup;

	rcu_read_lock();
	cgroup = cgroup_of(p);
	p->memcg_ino = cgroup ? cgroup_ino(cgroup) : 0;
	rcu_read_unlock();
}

static void copy_all(struct pd_page *p, struct folio *folio)
{
	p->head = page_to_pfn(&folio->page);
	p->refcount = folio_ref_count(folio) - p->held;
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

/* Between these no memory is taken out of the machine. */
static void hold_memory(void)
{
	if (pd_symbols.get_online_mems)
		pd_symbols.get_online_mems();
}

static void release_memory(void)
{
	if (pd_symbols.put_online_mems)
		pd_symbols.put_online_mems();
}

void pd_page_get(struct pd_page *p, unsigned long pfn)
{
	memset(p, 0, offsetof(struct pd_page, memcg));
	p->memcg[0] = '\0';
	p->aops[0] = '\0';
	p->dentry[0] = '\0';
	p->pfn = pfn;
	p->head = pfn;
	p->nr_pages_mapped = -1;
	p->file = PD_FILE_UNKNOWN;
	hold_memory();
	p->page = pfn_to_online_page(pfn);
	if (p->page) {
		p->exists = true;
		take_reference(p);
		copy_all(p, p->held ? p->folio : page_folio(p->page));
	}
	release_memory();
}

void pd_page_words(struct pd_page *p)
{
	memset(p->raw, 0, sizeof(p->raw));
	memset(p->raw_head, 0, sizeof(p->raw_head));
	hold_memory();
	/* One without a reference may have gone meanwhile. */
	if (pfn_to_online_page(p->pfn) == p->page && p->exists) {
		copy_words(p->raw, p->page, sizeof(p->raw));
		if (p->order)
			copy_words(p->raw_head, pfn_to_page(p->head),
				   sizeof(p->raw_head));
	}
	release_memory();
}

void pd_page_put(struct pd_page *p)
{
	if (p->held)
		folio_put(p->folio);
	p->held = false;
}
