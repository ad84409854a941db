/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the rules about single pages. Each rule has a scenario that it fits,
 * and a slightly different one that it does not.
 */
#include "../explain.h"

START_TEST(why_not_free)
{
	static const struct {
		uint32_t kind;
		const char *name;
	} kinds[] = {
		{ PAGEDET_KIND_FREE, "page-free" },
		{ PAGEDET_KIND_HOLE, "no-page" },
		{ PAGEDET_KIND_UNTOUCHED, "no-page" },
		{ PAGEDET_KIND_OFFLINE, "offline" },
		{ PAGEDET_KIND_RESERVED, "reserved" },
		{ PAGEDET_KIND_ZERO, "zero-page" },
		{ PAGEDET_KIND_PGTABLE, "page-table" },
		{ PAGEDET_KIND_SLAB, "slab" },
		{ PAGEDET_KIND_HUGETLB, "hugetlb" },
		{ PAGEDET_KIND_ZSMALLOC, "zsmalloc" },
		{ PAGEDET_KIND_DEVICE, "device-memory" },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		setup();
		set_kind(kinds[i].kind);
		EXPECT(NOT_FREE, kinds[i].name, CERTAIN);
		/* A torn page may be another one. */
		SET(&here, NOTES, notes, PAGEDET_NOTE(PAGEDET_NOTE_TORN));
		EXPECT(NOT_FREE, kinds[i].name, MEDIUM);
	}
	setup();
	set_kind(PAGEDET_KIND_UNINIT);
	EXPECT(NOT_FREE, "not-set-up", HIGH);
	ck_assert_ptr_nonnull(strstr(found[0].cause, "RAM"));
	EXPECT(LEAKED, "nothing-leaked", CERTAIN);
	setup();
	here.cell[PAGEDET_FIELD_KIND] = PAGEDET_NO_ACCESS |
					PAGEDET_SOURCE_PROCFS << 8;
	EXPECT(NOT_FREE, "use-unknown", NONE);
	ck_assert_ptr_nonnull(strstr(found[0].advice, "as root"));
	EXPECT(PINNED, "pin-unknown", NONE);
	ck_assert_ptr_nonnull(strstr(found[0].advice, "as root"));
	setup();
	EXPECT(NOT_FREE, "use-unknown", NONE);
	ck_assert_ptr_null(strstr(found[0].advice, "as root"));
	ck_assert(names_unknown("what kind"));
	set_kind(PAGEDET_KIND_UNKNOWN);
	EXPECT(NOT_FREE, "use-unknown", NONE);
	ck_assert(names_unknown("its references"));
	set_mapcount(&here, 0);
	SET(&here, REFCOUNT, refcount, 1);
	EXPECT(NOT_FREE, "kernel-memory", MEDIUM);
	ck_assert(names_unknown("what allocated it"));
	set_kind(PAGEDET_KIND_KERNEL);
	EXPECT(NOT_FREE, "kernel-memory", HIGH);
}
END_TEST

START_TEST(why_not_free_of_user_memory)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	EXPECT(NOT_FREE, "anon-unmapped", MEDIUM);
	set_flags(&here, F(ANON) | F(LRU) | F(SWAPCACHE));
	EXPECT(NOT_FREE, "swap-cache", HIGH);
	set_mapcount(&here, 1);
	EXPECT(NOT_FREE, "mapped", CERTAIN);
	/* An average is not a count. */
	SET(&here, MAPCOUNT_KIND, mapcount_kind, PAGEDET_MAPCOUNT_AVERAGE);
	EXPECT(NOT_FREE, "mapped", HIGH);
	ck_assert(names_unknown("of this page alone"));
	set_flags(&here, F(HWPOISON));
	/* The flag is set before the page is taken away. */
	EXPECT(NOT_FREE, "set-aside-as-poisoned", HIGH);
	SET(&here, MAPCOUNT_KIND, mapcount_kind, PAGEDET_MAPCOUNT_EXACT);
	EXPECT(NOT_FREE, "poisoned-in-use", CERTAIN);
	set_mapcount(&here, 0);
	SET(&here, REFCOUNT, refcount, 2);
	EXPECT(NOT_FREE, "poisoned-in-use", CERTAIN);
	SET(&here, REFCOUNT, refcount, 1);
	EXPECT(NOT_FREE, "set-aside-as-poisoned", CERTAIN);

	user_page(PAGEDET_KIND_FILE, F(LRU));
	EXPECT(NOT_FREE, "page-cache", HIGH);
	SET(&here, INODE, inode, 12);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	ck_assert_ptr_nonnull(strstr(found[0].cause, "page of a file"));
	set_mapcount(&here, 1);
	EXPECT(NOT_FREE, "mapped", CERTAIN);
}
END_TEST

/* The facts name the file of a page that tasks map, and nothing of others. */
START_TEST(file_that_is_mapped)
{
	user_page(PAGEDET_KIND_FILE, F(LRU));
	set_mapcount(&here, 2);
	strcpy(e.texts + 1, "/usr/bin/tool");
	SET(&here, PATH, path, 1);
	SET(&here, INODE, inode, 12);
	SET(&here, INDEX, index, 3);
	EXPECT(NOT_FREE, "mapped", CERTAIN);
	ck_assert_ptr_nonnull(fact("path", PAGEDET_SIDE_HERE));
	ck_assert_str_eq(fact("path", PAGEDET_SIDE_HERE)->text,
			 "/usr/bin/tool");
	ck_assert_ptr_nonnull(fact("inode", PAGEDET_SIDE_HERE));
	ck_assert_uint_eq(fact("index", PAGEDET_SIDE_HERE)->value, 3);
	set_kind(PAGEDET_KIND_ANON);
	EXPECT(NOT_FREE, "mapped", CERTAIN);
	ck_assert_ptr_null(fact("index", PAGEDET_SIDE_HERE));
}
END_TEST

/* Of a block device; otherwise of a file that only has such a name. */
START_TEST(cached_of_a_device)
{
	user_page(PAGEDET_KIND_FILE, F(LRU));
	SET(&here, INODE, inode, 254 << 20);
	SET(&here, DEV, dev, 3);
	strcpy(e.texts + 1, "/dev/vda");
	SET(&here, PATH, path, 1);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	ck_assert_ptr_nonnull(strstr(found[0].cause, "metadata"));
	SET(&here, DEV, dev, 8ull << 32);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	ck_assert_ptr_null(strstr(found[0].cause, "metadata"));
}
END_TEST

/* Only objects of some caches are freed on request. */
START_TEST(slab_caches)
{
	static const struct {
		const char *name;
		bool shrinks;
	} caches[] = {
		{ "dentry", true }, { "ext4_inode_cache", true },
		{ "xfs_inode", true }, { "radix_tree_node", true },
		{ "kmem_cache_node", false }, { "dentry_of_mine", false },
		{ "sock_inode_cache", false }, { "kmalloc-64", false },
	};
	size_t i;

	for (i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		setup();
		set_kind(PAGEDET_KIND_SLAB);
		strcpy(e.texts + 1, caches[i].name);
		SET(&here, SLAB_CACHE, slab_cache, 1);
		EXPECT(NOT_FREE, "slab", CERTAIN);
		ck_assert_msg(!strstr(found[0].advice, "drop_caches") !=
			      caches[i].shrinks, "%s: %s", caches[i].name,
			      found[0].advice);
	}
	setup();
	set_kind(PAGEDET_KIND_SLAB);
	EXPECT(NOT_FREE, "slab", CERTAIN);
	ck_assert_ptr_null(strstr(found[0].advice, "drop_caches"));
}
END_TEST

/* --- no advice to ask what was asked --- */

static void from_bpf(unsigned field)
{
	here.cell[field] = PAGEDET_HAVE | PAGEDET_SOURCE_BPF << 8;
}

START_TEST(sources_that_were_asked)
{
	setup();
	set_kind(PAGEDET_KIND_UNKNOWN);
	EXPECT(NOT_FREE, "use-unknown", NONE);
	ck_assert_ptr_nonnull(strstr(found[0].advice, "bpf"));
	ck_assert(names_unknown("its references (needs a dump"));
	from_bpf(PAGEDET_FIELD_ORDER);
	EXPECT(NOT_FREE, "use-unknown", NONE);
	ck_assert_ptr_null(strstr(found[0].advice, "bpf"));
	ck_assert(!names_unknown("needs a dump"));
	ck_assert(names_unknown("its references (kernel memory does not"));
	EXPECT(PINNED, "pin-unknown", NONE);
	ck_assert_ptr_null(strstr(found[0].advice, "bpf"));
	/* page_owner could tell, if the kernel had it. */
	here.cell[PAGEDET_FIELD_ALLOC_PID] = PAGEDET_NO_KERNEL;
	EXPECT(NOT_FREE, "use-unknown", NONE);
	ck_assert_ptr_nonnull(strstr(found[0].advice, "page_owner=on"));
}
END_TEST

START_TEST(locked_in_memory)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(UNEVICTABLE));
	set_mapcount(&here, 1);
	EXPECT(NOT_FREE, "mapped", CERTAIN);
	ck_assert_ptr_nonnull(strstr(found[0].cause, "unevictable"));
	set_flags(&here, F(ANON) | F(UNEVICTABLE) | F(MLOCKED));
	EXPECT(NOT_FREE, "mapped", CERTAIN);
	ck_assert_ptr_nonnull(strstr(found[0].cause, "mlock"));
	ck_assert_ptr_nonnull(fact("flags", PAGEDET_SIDE_HERE));
	user_page(PAGEDET_KIND_FILE, F(LRU) | F(UNEVICTABLE));
	EXPECT(NOT_FREE, "page-cache", HIGH);
	ck_assert_ptr_nonnull(strstr(found[0].likely, "does not take it"));
}
END_TEST

/* A page without references is not simply in use. */
START_TEST(without_references)
{
	user_page(PAGEDET_KIND_KERNEL, 0);
	counted(0, 0);
	EXPECT(NOT_FREE, "frozen", MEDIUM);
	ck_assert_str_eq(found[0].likely, "");
	set_flags(&here, F(COMPOUND_HEAD));
	SET(&here, ORDER, order, 2);
	EXPECT(NOT_FREE, "frozen", MEDIUM);
	ck_assert_ptr_nonnull(strstr(found[0].likely, "kmalloc"));
	user_page(PAGEDET_KIND_UNKNOWN, 0);
	counted(0, 0);
	EXPECT(NOT_FREE, "unreferenced", NONE);
	ck_assert_ptr_nonnull(strstr(found[0].likely, "per-CPU"));
	set_flags(&here, F(RESERVED));
	EXPECT(NOT_FREE, "reserved", CERTAIN);
}
END_TEST

/* A page with a mapping but without references is no longer in a cache. */
START_TEST(bad_pages)
{
	user_page(PAGEDET_KIND_FILE, 0);
	SET(&here, INODE, inode, 2);
	counted(0, 0);
	EXPECT(NOT_FREE, "marked-but-unreferenced", MEDIUM);
	EXPECT(LEAKED, "leak-unknown", NONE);
	counted(1, 0);
	EXPECT(NOT_FREE, "page-cache", MEDIUM);
	EXPECT(LEAKED, "has-a-user", HIGH);
}
END_TEST

/* No kernel counts below zero. */
START_TEST(counted_below_zero)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	set_mapcount(&here, (uint64_t)-1);
	EXPECT(NOT_FREE, "count-below-zero", HIGH);
	ck_assert_str_eq(found[0].facts[0].field, "mapcount");
	ck_assert(found[0].facts[0].value == (uint64_t)-1);
	EXPECT(PINNED, "pin-low-count", NONE);
	EXPECT(NOT_MIGRATABLE, "move-low-count", NONE);
	EXPECT(UNRECLAIMABLE, "reclaim-low-count", NONE);
	EXPECT(LEAKED, "leak-low-count", NONE);
	/* A log of 5.10 to 6.8 has the type of a free page there. */
	here.cell[PAGEDET_FIELD_MAPCOUNT_KIND] = PAGEDET_UNSUPPORTED;
	EXPECT(NOT_FREE, "use-unknown", NONE);
	SET(&here, REFCOUNT, refcount, (uint64_t)-2);
	EXPECT(NOT_FREE, "count-below-zero", HIGH);
	ck_assert_str_eq(found[0].facts[0].field, "refcount");
	/* The kernel's own words come first. */
	SET(&here, REPORT, report, PAGEDET_REPORT_BAD_PAGE_STATE);
	EXPECT(NOT_FREE, "bad-page", HIGH);
}
END_TEST

/* The kernel's own report comes first. */
START_TEST(reported_as_bad)
{
	static const struct {
		unsigned state;
		const char *unknown;
	} cases[] = {
		{ PAGEDET_NO_ACCESS, "log cannot be read" },
		{ PAGEDET_EXCLUDED,
		  "its log does not mention it, or a part of it is lost" },
		{ PAGEDET_TIMEOUT, "no time to read its log" },
		{ PAGEDET_IO, "only in part" },
		{ PAGEDET_UNSUPPORTED, "log was not looked at" },
	};
	size_t i;

	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	SET(&here, REPORT, report, PAGEDET_REPORT_BAD_PAGE_STATE);
	SET(&here, REASON, reason, 3);
	strcpy(e.texts + 3, "nonzero mapcount");
	EXPECT(NOT_FREE, "bad-page", HIGH);
	ck_assert_ptr_eq(strstr(found[0].cause, "bad page state: nonzero "
				"mapcount; the kernel found"), found[0].cause);
	ck_assert_str_eq(found[0].facts[0].field, "reason");
	ck_assert_str_eq(found[0].facts[0].text, "nonzero mapcount");
	EXPECT(NOT_MIGRATABLE, "move-bad-page", NONE);
	ck_assert_ptr_eq(strstr(found[0].cause, "bad page state: nonzero "
				"mapcount; cannot tell"), found[0].cause);
	/* The report was cut before its reason. */
	here.cell[PAGEDET_FIELD_REASON] = PAGEDET_EXCLUDED;
	EXPECT(NOT_FREE, "bad-page", HIGH);
	ck_assert_ptr_eq(strstr(found[0].cause, "the kernel found"),
			 found[0].cause);
	ck_assert(names_unknown("the report's reason: it does not give one"));

	/* A source that did not see the whole log never claims "no report". */
	user_page(PAGEDET_KIND_FILE, 0);
	counted(0, 0);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		here.cell[PAGEDET_FIELD_REPORT] = (uint16_t)cases[i].state;
		EXPECT(NOT_FREE, "marked-but-unreferenced", MEDIUM);
		ck_assert(names_unknown(cases[i].unknown));
	}
	here.cell[PAGEDET_FIELD_REPORT] = PAGEDET_NONE;
	EXPECT(NOT_FREE, "marked-but-unreferenced", MEDIUM);
	ck_assert(!names_unknown("reported it as a bad page"));
}
END_TEST

/*
 * References and the mappings that explain them are counted by folio. A cache
 * has one reference for each page of the folio.
 */
START_TEST(large_folios)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU) | F(COMPOUND_TAIL));
	SET(&here, ORDER, order, 9);
	SET(&here, PINCOUNT, pincount, 0);
	counted(3, 1);
	EXPECT(NOT_MIGRATABLE, "movable", MEDIUM);
	ck_assert(names_unknown("how many entries map its folio"));
	e.folio_counted = PAGEDET_YES;
	e.folio_mapcount = 3;
	EXPECT(NOT_MIGRATABLE, "movable", HIGH);
	ck_assert_uint_eq(fact("folio_mapcount", PAGEDET_SIDE_HERE)->value, 3);
	ck_assert_uint_eq(fact("order", PAGEDET_SIDE_HERE)->value, 9);
	ck_assert_uint_eq(fact("references_expected",
			       PAGEDET_SIDE_HERE)->value, 3);
	e.folio_mapcount = 2;
	EXPECT(NOT_MIGRATABLE, "referenced", MEDIUM);
	ck_assert_uint_eq(fact("references_unexplained",
			       PAGEDET_SIDE_HERE)->value, 1);
	EXPECT(NOT_FREE, "mapped", CERTAIN);
	ck_assert_uint_eq(fact("folio_mapcount", PAGEDET_SIDE_HERE)->value, 2);
	/* The swap cache may hold 512 of the references, or none. */
	here.flags_known = ~F(SWAPCACHE);
	EXPECT(NOT_MIGRATABLE, "movable", MEDIUM);

	user_page(PAGEDET_KIND_FILE, F(LRU) | F(COMPOUND_HEAD));
	SET(&here, ORDER, order, 4);
	SET(&here, PINCOUNT, pincount, 0);
	e.folio_counted = PAGEDET_YES;
	e.folio_mapcount = 5;
	counted(22, 0);
	EXPECT(NOT_MIGRATABLE, "referenced", MEDIUM);
	ck_assert_uint_eq(fact("references_expected",
			       PAGEDET_SIDE_HERE)->value, 16 + 5);
	ck_assert_uint_eq(fact("references_unexplained",
			       PAGEDET_SIDE_HERE)->value, 1);
}
END_TEST

START_TEST(why_not_migratable)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	set_mapcount(&here, 1);
	/* /proc has neither references nor pins. */
	EXPECT(NOT_MIGRATABLE, "movable-unknown", NONE);
	ck_assert(names_unknown("references and pins"));
	counted(1, 1);
	EXPECT(NOT_MIGRATABLE, "movable", HIGH);
	counted(3, 1);
	EXPECT(NOT_MIGRATABLE, "referenced", MEDIUM);
	ck_assert_uint_eq(fact("references_expected",
			       PAGEDET_SIDE_HERE)->value, 1);
	counted(1025, 1);
	EXPECT(NOT_MIGRATABLE, "pinned-stays", HIGH);
	counted(1, 1);
	set_flags(&here, F(ANON) | F(LRU) | F(WRITEBACK));
	EXPECT(NOT_MIGRATABLE, "busy", HIGH);
	set_flags(&here, F(ANON));
	EXPECT(NOT_MIGRATABLE, "off-list", MEDIUM);
	set_flags(&here, F(HWPOISON));
	EXPECT(NOT_MIGRATABLE, "poisoned-stays", CERTAIN);
	user_page(PAGEDET_KIND_SLAB, F(SLAB));
	EXPECT(NOT_MIGRATABLE, "kernel-stays", CERTAIN);
	user_page(PAGEDET_KIND_KERNEL, 0);
	EXPECT(NOT_MIGRATABLE, "kernel-stays", MEDIUM);
	user_page(PAGEDET_KIND_FREE, F(BUDDY));
	EXPECT(NOT_MIGRATABLE, "nothing-to-move", CERTAIN);
}
END_TEST

/* Permanent references that no source names. */
START_TEST(held_by_somebody)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	counted(4, 1);
	EXPECT(NOT_MIGRATABLE, "referenced", MEDIUM);
	ck_assert_uint_eq(fact("references_unexplained",
			       PAGEDET_SIDE_HERE)->value, 3);
	ck_assert(names_unknown("a pipe, a socket, io_uring"));
	ck_assert_ptr_null(strstr(found[0].advice, "should pass"));
	EXPECT(PINNED, "held", MEDIUM);
	ck_assert_ptr_null(strstr(found[0].advice, "should pass"));
	EXPECT(UNRECLAIMABLE, "held-kept", MEDIUM);
	ck_assert_ptr_null(strstr(found[0].advice, "should pass"));
}
END_TEST

/*
 * A driver's ring: one driver sets the mapping of its pages, which are in no
 * cache; another one leaves them without a kind.
 */
START_TEST(mapped_by_a_driver)
{
	user_page(PAGEDET_KIND_FILE, 0);
	counted(2, 1);
	EXPECT(PINNED, "not-pinned", CERTAIN);
	ck_assert(names_unknown("page cache"));
	EXPECT(NOT_MIGRATABLE, "off-list", MEDIUM);
	ck_assert_ptr_null(strstr(found[0].advice, "should pass"));
	counted(1, 0);
	SET(&here, INODE, inode, 5);
	EXPECT(NOT_FREE, "page-cache", MEDIUM);
	ck_assert(names_unknown("the cache of the file"));
	set_flags(&here, F(LRU));
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	EXPECT(PINNED, "not-pinned", CERTAIN);
	ck_assert(!names_unknown("page cache"));

	user_page(PAGEDET_KIND_UNKNOWN, F(MMAP));
	SET(&here, PINCOUNT, pincount, 0);
	counted(2, 1);
	EXPECT(NOT_MIGRATABLE, "kernel-stays", MEDIUM);
	EXPECT(PINNED, "not-pinned", CERTAIN);
	ck_assert_uint_eq(fact("references_expected",
			       PAGEDET_SIDE_HERE)->value, 2);
	counted(3, 1);
	EXPECT(PINNED, "held", MEDIUM);
	/* Fragments of a page that sockets share are not pins. */
	counted(2000, 1);
	SET(&here, PINCOUNT, pincount, 1);
	EXPECT(PINNED, "pinned", LOW);
}
END_TEST

START_TEST(secret_memory)
{
	const uint64_t locked = F(LRU) | F(UNEVICTABLE) | F(MLOCKED);

	user_page(PAGEDET_KIND_FILE, locked);
	counted(2, 1);
	EXPECT(NOT_MIGRATABLE, "movable", MEDIUM);
	ck_assert(names_unknown("memfd_secret"));
	SET(&here, KERNEL_MAPS, kernel_maps, 1);
	EXPECT(NOT_MIGRATABLE, "movable", HIGH);
	SET(&here, KERNEL_MAPS, kernel_maps, 0);
	EXPECT(NOT_MIGRATABLE, "secret-stays", HIGH);
	/* The page belongs to ramfs or to a locked segment. */
	SET(&here, KERNEL_MAPS, kernel_maps, 1);
	set_flags(&here, F(LRU) | F(UNEVICTABLE));
	EXPECT(NOT_MIGRATABLE, "movable", MEDIUM);
	ck_assert(names_unknown("ramfs"));
	set_kind(PAGEDET_KIND_SHMEM);
	EXPECT(NOT_MIGRATABLE, "movable", HIGH);
}
END_TEST

/*
 * page_owner's record is about the last allocation, unless a free came later.
 */
START_TEST(moved_and_freed)
{
	user_page(PAGEDET_KIND_KERNEL, 0);
	SET(&here, ALLOC_NS, alloc_ns, 200);
	SET(&here, FREE_NS, free_ns, 100);
	SET(&here, ALLOC_PID, alloc_pid, 5);
	SET(&here, REFCOUNT, refcount, 1);
	EXPECT(NOT_MIGRATABLE, "kernel-stays", MEDIUM);
	EXPECT(NOT_FREE, "kernel-memory", HIGH);
	ck_assert_ptr_nonnull(fact("alloc_pid", PAGEDET_SIDE_HERE));
	SET(&here, MIGRATE_REASON, migrate_reason, 0);
	EXPECT(NOT_MIGRATABLE, "movable-unknown", NONE);
	/*
	 * The record is about an earlier user of the page, as was the
	 * allocating task.
	 */
	SET(&here, FREE_NS, free_ns, 300);
	EXPECT(NOT_MIGRATABLE, "kernel-stays", MEDIUM);
	EXPECT(NOT_FREE, "kernel-memory", HIGH);
	ck_assert_ptr_null(fact("alloc_pid", PAGEDET_SIDE_HERE));
	ck_assert(names_unknown("since"));

	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	counted(1, 1);
	SET(&here, ALLOC_NS, alloc_ns, 200);
	SET(&here, MIGRATE_REASON, migrate_reason, 0);
	EXPECT(NOT_MIGRATABLE, "movable", HIGH);
	ck_assert_str_eq(found[0].likely, "it was moved before");
}
END_TEST

START_TEST(whether_pinned)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU));
	set_mapcount(&here, 1);
	EXPECT(PINNED, "pin-unknown", NONE);
	counted(1, 1);
	EXPECT(PINNED, "not-pinned", CERTAIN);
	counted(2, 1);
	EXPECT(PINNED, "held", MEDIUM);
	counted(1025, 1);
	EXPECT(PINNED, "pinned", HIGH);
	ck_assert(names_unknown("1024"));
	/* This many mappings explain as many references. */
	counted(1025, 1025);
	EXPECT(PINNED, "pin-unknown", NONE);
	SET(&here, PINCOUNT, pincount, 2);
	SET(&here, NOTES, notes, PAGEDET_NOTE(PAGEDET_NOTE_ESTIMATED));
	SET(&here, ORDER, order, 9);
	EXPECT(PINNED, "pinned", LOW);
	SET(&here, NOTES, notes, 0);
	EXPECT(PINNED, "pinned", CERTAIN);
	/* For a small folio it is a guess, whichever source says so. */
	SET(&here, ORDER, order, 0);
	EXPECT(PINNED, "pin-unknown", NONE);
	counted(2049, 1);
	EXPECT(PINNED, "pinned", HIGH);
	SET(&here, ORDER, order, 9);
	SET(&here, PINCOUNT, pincount, 0);
	EXPECT(PINNED, "not-pinned", CERTAIN);
	user_page(PAGEDET_KIND_FREE, F(BUDDY));
	EXPECT(PINNED, "nothing-to-pin", CERTAIN);
}
END_TEST

START_TEST(why_unreclaimable)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU) | F(SWAPBACKED));
	set_mapcount(&here, 1);
	EXPECT(UNRECLAIMABLE, "reclaimable", LOW);
	ck_assert(names_unknown("swap space"));
	ck_assert(names_unknown("references and pins"));
	e.no_swap = PAGEDET_YES;
	EXPECT(UNRECLAIMABLE, "no-swap", HIGH);
	/* Freed by its task already (MADV_FREE): it needs no swap. */
	set_flags(&here, F(ANON) | F(LRU));
	EXPECT(UNRECLAIMABLE, "reclaimable", MEDIUM);
	set_flags(&here, F(ANON) | F(LRU) | F(ACTIVE));
	EXPECT(UNRECLAIMABLE, "in-use", LOW);
	set_flags(&here, F(ANON) | F(LRU) | F(UNEVICTABLE));
	EXPECT(UNRECLAIMABLE, "unevictable", CERTAIN);
	set_flags(&here, F(ANON) | F(LRU) | F(UNEVICTABLE) | F(MLOCKED));
	EXPECT(UNRECLAIMABLE, "mlocked", CERTAIN);
	set_flags(&here, F(ANON));
	EXPECT(UNRECLAIMABLE, "off-list-kept", MEDIUM);
	set_flags(&here, F(HWPOISON));
	EXPECT(UNRECLAIMABLE, "poisoned-kept", CERTAIN);
	set_flags(&here, F(ANON) | F(LRU));
	counted(2000, 1);
	EXPECT(UNRECLAIMABLE, "pinned-kept", HIGH);
	counted(3, 1);
	EXPECT(UNRECLAIMABLE, "held-kept", MEDIUM);
	user_page(PAGEDET_KIND_FILE, F(LRU) | F(DIRTY));
	EXPECT(UNRECLAIMABLE, "to-be-written", HIGH);
	set_flags(&here, F(LRU));
	EXPECT(UNRECLAIMABLE, "reclaimable", MEDIUM);
	user_page(PAGEDET_KIND_SLAB, F(SLAB));
	EXPECT(UNRECLAIMABLE, "not-on-lru", CERTAIN);
	user_page(PAGEDET_KIND_FREE, F(BUDDY));
	EXPECT(UNRECLAIMABLE, "nothing-to-reclaim", CERTAIN);
	setup();
	EXPECT(UNRECLAIMABLE, "reclaim-unknown", NONE);
}
END_TEST

START_TEST(why_unaccounted)
{
	user_page(PAGEDET_KIND_KERNEL, 0);
	EXPECT(UNACCOUNTED, "charge-unknown", NONE);
	here.cell[PAGEDET_FIELD_MEMCG_INO] = PAGEDET_NONE;
	EXPECT(UNACCOUNTED, "not-charged", LOW);
	strcpy(e.texts + 1, "GFP_KERNEL|__GFP_ZERO");
	SET(&here, GFP, gfp, 1);
	EXPECT(UNACCOUNTED, "not-asked-for", HIGH);
	strcpy(e.texts + 1, "GFP_KERNEL_ACCOUNT|__GFP_ZERO");
	EXPECT(UNACCOUNTED, "not-charged", LOW);
	SET(&here, MEMCG_INO, memcg_ino, 42);
	EXPECT(UNACCOUNTED, "charged", CERTAIN);
	user_page(PAGEDET_KIND_SLAB, F(SLAB));
	EXPECT(UNACCOUNTED, "charged-by-object", HIGH);
	user_page(PAGEDET_KIND_HUGETLB, F(HUGE));
	EXPECT(UNACCOUNTED, "charged-as-hugetlb", MEDIUM);
	user_page(PAGEDET_KIND_FREE, F(BUDDY));
	EXPECT(UNACCOUNTED, "nobodys", CERTAIN);
}
END_TEST

START_TEST(whether_poisoned)
{
	user_page(PAGEDET_KIND_ANON, F(HWPOISON));
	EXPECT(POISONED, "hwpoison", CERTAIN);
	ck_assert_str_eq(found[0].likely, "");
	e.counters_here = PAGEDET_YES;
	EXPECT(POISONED, "hwpoison", CERTAIN);
	ck_assert_str_ne(found[0].likely, "");
	set_flags(&here, 0);
	EXPECT(POISONED, "not-poisoned", CERTAIN);
	here.flags_known = 0;
	EXPECT(POISONED, "poison-unknown", NONE);
}
END_TEST

START_TEST(whether_leaked)
{
	user_page(PAGEDET_KIND_KERNEL, 0);
	EXPECT(LEAKED, "leak-unknown", NONE);
	ck_assert(names_unknown("page_owner"));
	SET(&here, ALLOC_PID, alloc_pid, 123);
	EXPECT(LEAKED, "leak-suspected", LOW);
	e.alloc_task = PAGEDET_NO;
	EXPECT(LEAKED, "leak-suspected", MEDIUM);
	ck_assert_str_ne(found[0].likely, "");
	set_mapcount(&here, 1);
	EXPECT(LEAKED, "has-a-user", CERTAIN);
	user_page(PAGEDET_KIND_FILE, F(LRU));
	EXPECT(LEAKED, "has-a-user", HIGH);
	user_page(PAGEDET_KIND_FREE, F(BUDDY));
	EXPECT(LEAKED, "nothing-leaked", CERTAIN);
	setup();
	set_kind(PAGEDET_KIND_HOLE);
	EXPECT(LEAKED, "no-page-leaked", CERTAIN);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("explain_page");

	unit_test(s, why_not_free);
	unit_test(s, why_not_free_of_user_memory);
	unit_test(s, file_that_is_mapped);
	unit_test(s, cached_of_a_device);
	unit_test(s, slab_caches);
	unit_test(s, sources_that_were_asked);
	unit_test(s, locked_in_memory);
	unit_test(s, without_references);
	unit_test(s, bad_pages);
	unit_test(s, counted_below_zero);
	unit_test(s, reported_as_bad);
	unit_test(s, large_folios);
	unit_test(s, why_not_migratable);
	unit_test(s, held_by_somebody);
	unit_test(s, mapped_by_a_driver);
	unit_test(s, secret_memory);
	unit_test(s, moved_and_freed);
	unit_test(s, whether_pinned);
	unit_test(s, why_unreclaimable);
	unit_test(s, why_unaccounted);
	unit_test(s, whether_poisoned);
	unit_test(s, whether_leaked);
	return unit_main(s);
}
