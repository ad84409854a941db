/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What the kernel of tests/dumps/mkkernel would have been compiled from: its
 * types, for debug information, and a few of its symbols.
 */
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
	unsigned long memcg_data;
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

struct page page;
struct folio folio;
struct slab slab;
enum pageflags flags;
enum pagetype type;
