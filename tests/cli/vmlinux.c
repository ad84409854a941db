/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A source for debug information: the types of the kernel of
 * tests/dumps/mkkernel, and a few of its symbols. CHARGE is the name of the
 * member that says who is charged for a page.
 */
#ifndef CHARGE
#define CHARGE memcg_data
#endif

enum pageflags {
	PG_locked, PG_writeback, PG_referenced, PG_uptodate, PG_dirty, PG_lru,
	PG_head, PG_active = 8, PG_large_rmappable, PG_owner_priv_1,
	PG_owner_2, PG_arch_1, PG_reserved, PG_private, PG_private_2,
	PG_reclaim, PG_swapbacked, PG_unevictable, PG_mlocked = 20,
	PG_hwpoison, PG_idle,
	PG_swapcache = PG_owner_priv_1,
	PG_mappedtodisk = PG_owner_2,
	PG_anon_exclusive = PG_owner_2,
};

enum pagetype {
	PGTY_buddy = 0xf0, PGTY_offline, PGTY_table, PGTY_guard, PGTY_hugetlb,
	PGTY_slab, PGTY_zsmalloc, PGTY_unaccepted,
};

struct page {
	unsigned long flags;
	union {
		struct {
			union {
				struct { void *next, *prev; } lru;
				unsigned long compound_head;
			};
			void *mapping;
			unsigned long index;
			unsigned long private;
		};
	};
	int _mapcount;
	int _refcount;
	unsigned long CHARGE;
};

struct folio {
	struct page page;
	unsigned long _flags_1;
	unsigned long _head_1;
	int _large_mapcount;
	int _entire_mapcount;
	int _nr_pages_mapped;
	int _pincount;
	unsigned int _folio_nr_pages;
	char rest[156];
};

struct slab {
	unsigned long __page_flags;
	void *slab_cache;
	char rest[48];
};

struct kernfs_node {
	const char *name;
	struct kernfs_node *__parent;
	unsigned long id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	unsigned int flags;
	struct cgroup_subsys_state *parent;
};

struct mem_cgroup {
	struct cgroup_subsys_state css;
};

struct page page;
struct folio folio;
struct mem_cgroup memcg;
struct slab slab;
enum pageflags flags;
enum pagetype type;
