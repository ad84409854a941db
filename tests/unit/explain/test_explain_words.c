/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the words of findings about a page: they say nothing that the evidence
 * does not show, and their advice fits where the evidence is from.
 */
#include "../explain.h"

static bool says(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

#define SAYS(member, part) \
	ck_assert_msg(says(found[0].member, part), "%s", found[0].member)
#define UNSAID(member, part) \
	ck_assert_msg(!says(found[0].member, part), "%s", found[0].member)

/* --- bad pages --- */

static void reported(const char *reason)
{
	SET(&here, REPORT, report, PAGEDET_REPORT_BAD_PAGE_STATE);
	SET(&here, REASON, reason, 1);
	strcpy(e.texts + 1, reason);
}

/* An intact struct page shows who had the page when it was freed. */
START_TEST(freed_while_in_use)
{
	static const char at_free[] = "PAGE_FLAGS_CHECK_AT_FREE flag(s) set";
	static const struct {
		uint32_t kind;
		uint64_t flags, refcount, mapcount;
		const char *reason, *likely;
		uint32_t confidence;
	} cases[] = {
		{ PAGEDET_KIND_SLAB, F(SLAB), 0, 0, at_free, "slab allocator",
		  PAGEDET_CONFIDENCE_MEDIUM },
		{ PAGEDET_KIND_UNKNOWN, 0, 0, 0, "page_pool leak", "page_pool",
		  PAGEDET_CONFIDENCE_MEDIUM },
		{ PAGEDET_KIND_FILE, F(LRU), 1, 0, at_free, "LRU list",
		  PAGEDET_CONFIDENCE_MEDIUM },
		{ PAGEDET_KIND_UNKNOWN, 0, 0, 1, "nonzero mapcount",
		  "mapcount says", PAGEDET_CONFIDENCE_MEDIUM },
		{ PAGEDET_KIND_UNKNOWN, 0, 0, (uint64_t)-127,
		  "nonzero mapcount", "was free already",
		  PAGEDET_CONFIDENCE_MEDIUM },
		/* Tail pages once had their references there. */
		{ PAGEDET_KIND_UNKNOWN, 0, 0, (uint64_t)-1,
		  "nonzero mapcount", "", PAGEDET_CONFIDENCE_NONE },
		{ PAGEDET_KIND_UNKNOWN, 0, 0, (uint64_t)-512,
		  "nonzero mapcount", "", PAGEDET_CONFIDENCE_NONE },
		{ PAGEDET_KIND_UNKNOWN, 0, 0, 0, "non-NULL mapping",
		  "mapping is set", PAGEDET_CONFIDENCE_MEDIUM },
		{ PAGEDET_KIND_UNKNOWN, 0, 0, 0, "page still charged to cgroup",
		  "cgroup is charged", PAGEDET_CONFIDENCE_MEDIUM },
		{ PAGEDET_KIND_UNKNOWN, 0, (uint64_t)-2, 0, "nonzero _refcount",
		  "more often than taken", PAGEDET_CONFIDENCE_MEDIUM },
		{ PAGEDET_KIND_UNKNOWN, 0, 65533, 0, "nonzero _refcount",
		  "has references", PAGEDET_CONFIDENCE_LOW },
		{ PAGEDET_KIND_UNKNOWN, 0, 0, 0, "nonzero pincount", "",
		  PAGEDET_CONFIDENCE_NONE },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		user_page(cases[i].kind, cases[i].flags);
		counted(cases[i].refcount, cases[i].mapcount);
		reported(cases[i].reason);
		EXPECT(NOT_FREE, "bad-page", HIGH);
		ck_assert_ptr_eq(strstr(found[0].cause, "bad page state: "),
				 found[0].cause);
		SAYS(cause, cases[i].reason);
		UNSAID(cause, "damaged");
		ck_assert_int_eq(!*found[0].likely, !*cases[i].likely);
		SAYS(likely, cases[i].likely);
		ck_assert_uint_eq(found[0].likely_confidence,
				  cases[i].confidence);
		ck_assert(!names_unknown("damaged"));
		ck_assert(names_unknown("freed too early"));
		EXPECT(LEAKED, "leak-bad-page", NONE);
		UNSAID(cause, "damaged");
	}
}
END_TEST

/* What was written over a struct page shows nothing. */
START_TEST(overwritten)
{
	user_page(PAGEDET_KIND_SLAB, F(SLAB));
	reported("nonzero mapcount; struct page overwritten in part with the "
		 "byte 0x6b (a freed slab object)");
	EXPECT(NOT_FREE, "bad-page", HIGH);
	SAYS(likely, "written over its struct page");
	ck_assert_uint_eq(found[0].likely_confidence, PAGEDET_CONFIDENCE_HIGH);
	ck_assert(names_unknown("struct page is damaged"));
}
END_TEST

/* --- other reports --- */

static void reported_as(uint64_t report, const char *reason)
{
	reported(reason);
	here.report = report;
	SET(&here, EVENT_NS, event_ns, 7);
}

/* What the kernel reported comes first, whatever the row shows. */
START_TEST(reported_otherwise)
{
	static const struct {
		uint64_t report;
		const char *cause;
		bool likely;
	} cases[] = {
		{ PAGEDET_REPORT_DUMP_PAGE,
		  "dump of its struct page: words; it caches", false },
		{ PAGEDET_REPORT_BAD_PAGE_MAP,
		  "bad page map: words; it caches", false },
		{ PAGEDET_REPORT_MEMORY_FAILURE,
		  "memory failure: words; it caches", false },
		{ PAGEDET_REPORT_SOFT_OFFLINE,
		  "soft offline: words; it caches", false },
		{ PAGEDET_REPORT_UNPOISON,
		  "unpoison: words; it caches", true },
		{ PAGEDET_REPORT_MACHINE_CHECK,
		  "machine check: words; it caches", false },
		{ PAGEDET_REPORT_EDAC,
		  "EDAC memory error: words; it caches", false },
		{ PAGEDET_REPORT_APEI,
		  "hardware error (APEI): words; it caches", false },
		{ PAGEDET_REPORT_SLAB,
		  "damaged slab: words; it caches", false },
		{ PAGEDET_REPORT_KASAN, "KASAN: words; it caches", false },
		{ PAGEDET_REPORT_KFENCE, "KFENCE: words; it caches", false },
		{ PAGEDET_REPORT_LIST,
		  "damaged list: words; it caches", false },
		{ PAGEDET_REPORT_IO_ERROR,
		  "I/O error: words; it caches", true },
		{ PAGEDET_REPORT_HUNG_TASK,
		  "hung task: words; it caches", false },
		{ PAGEDET_REPORT_MIGRATION,
		  "failed migration: words; it caches", false },
		{ PAGEDET_REPORT_FAULT,
		  "fault of a program: words; it caches", true },
	};
	static const char before[] = "the kernel reported: ";
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		user_page(PAGEDET_KIND_FILE, F(LRU));
		SET(&here, INODE, inode, 12);
		reported_as(cases[i].report, "words");
		EXPECT(NOT_FREE, "page-cache", CERTAIN);
		ck_assert_ptr_eq(strstr(found[0].cause, before),
				 found[0].cause);
		ck_assert_ptr_eq(strstr(found[0].cause, cases[i].cause),
				 found[0].cause + strlen(before));
		ck_assert_uint_eq(fact("report", PAGEDET_SIDE_HERE)->value,
				  cases[i].report);
		ck_assert_str_eq(fact("reason", PAGEDET_SIDE_HERE)->text,
				 "words");
		ck_assert_uint_eq(fact("event_ns", PAGEDET_SIDE_HERE)->value,
				  7);
		ck_assert_int_eq(*found[0].likely, cases[i].likely ? 'r' : 0);
		ck_assert_int_eq(!found[0].likely_confidence,
				 !cases[i].likely);
		EXPECT(POISONED, "not-poisoned", CERTAIN);
		UNSAID(cause, "reported");
	}
	reported_as(PAGEDET_REPORT_BAD_PAGE_MAP, "bad page map; pte:1067");
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	SAYS(cause, "the kernel reported: bad page map; pte:1067; it caches");
	here.report = PAGEDET_REPORT_FAULT;
	here.cell[PAGEDET_FIELD_REASON] = PAGEDET_UNSUPPORTED;
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	SAYS(cause, "the kernel reported: fault of a program; it caches");
	ck_assert_ptr_null(fact("reason", PAGEDET_SIDE_HERE));
}
END_TEST

/* These tell nothing of the page, or nothing that is known here. */
START_TEST(reported_nothing)
{
	static const uint64_t reports[] = {
		PAGEDET_REPORT_PAGE_DETECTIVE, 0, 60, 64, UINT64_MAX
	};
	size_t i;

	for (i = 0; i < sizeof(reports) / sizeof(*reports); i++) {
		user_page(PAGEDET_KIND_FILE, F(LRU));
		SET(&here, INODE, inode, 12);
		reported_as(reports[i], "words");
		EXPECT(NOT_FREE, "page-cache", CERTAIN);
		UNSAID(cause, "words");
		SAYS(likely, "reclaim takes it");
	}
}
END_TEST

/* The guesses of other rules, and what they advise. */
START_TEST(guesses_against_a_report)
{
	user_page(PAGEDET_KIND_UNKNOWN, 0);
	counted(0, 0);
	reported_as(PAGEDET_REPORT_DUMP_PAGE, "words");
	EXPECT(NOT_FREE, "unreferenced", NONE);
	SAYS(likely, "per-CPU");
	here.report = PAGEDET_REPORT_BAD_PAGE_MAP;
	EXPECT(NOT_FREE, "unreferenced", NONE);
	ck_assert_str_eq(found[0].likely, "");
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU) | F(SWAPCACHE));
	EXPECT(NOT_FREE, "swap-cache", HIGH);
	SAYS(advice, "reclaim takes it");
	reported_as(PAGEDET_REPORT_EDAC, "words");
	EXPECT(NOT_FREE, "swap-cache", HIGH);
	ck_assert_str_eq(found[0].advice, "read the kernel log");
	/* What explains the report stays. */
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(HWPOISON));
	counted(2, 1);
	reported_as(PAGEDET_REPORT_MEMORY_FAILURE, "dirty page: Failed");
	EXPECT(NOT_FREE, "poisoned-in-use", CERTAIN);
	SAYS(cause, "memory failure: dirty page: Failed; marked as");
	SAYS(likely, "could not handle the error");
}
END_TEST

/* --- kinds --- */

START_TEST(zero_pages)
{
	user_page(PAGEDET_KIND_ZERO, F(ZERO_PAGE) | F(RESERVED));
	EXPECT(NOT_FREE, "zero-page", CERTAIN);
	UNSAID(cause, "huge");
	EXPECT(NOT_MIGRATABLE, "kernel-stays", CERTAIN);
	SAYS(cause, "zero pages");
	EXPECT(LEAKED, "has-a-user", HIGH);
	UNSAID(cause, "free");
	user_page(PAGEDET_KIND_ZERO, F(ZERO_PAGE) | F(THP) | F(COMPOUND_TAIL));
	SET(&here, ORDER, order, 9);
	EXPECT(NOT_FREE, "zero-page", CERTAIN);
	SAYS(cause, "huge zero page");
}
END_TEST

/* The kernel, firmware or a driver has reserved it. */
START_TEST(reserved_pages)
{
	user_page(PAGEDET_KIND_RESERVED, F(RESERVED));
	EXPECT(NOT_FREE, "reserved", CERTAIN);
	UNSAID(cause, "started");
	ck_assert_uint_eq(found[0].likely_confidence,
			  PAGEDET_CONFIDENCE_MEDIUM);
	EXPECT(NOT_MIGRATABLE, "kernel-stays", CERTAIN);
	UNSAID(cause, "memory of the kernel itself");
}
END_TEST

START_TEST(huge_pages_of_the_pool)
{
	user_page(PAGEDET_KIND_HUGETLB, F(HUGE));
	SET(&here, ORDER, order, 9);
	EXPECT(NOT_FREE, "hugetlb", CERTAIN);
	SAYS(advice, "free huge pages only");
	ck_assert(names_unknown("whether it is in use"));
	counted(0, 0);
	EXPECT(NOT_FREE, "hugetlb", CERTAIN);
	SAYS(cause, "free huge page");
	SAYS(advice, "shrink the pool");
	EXPECT(LEAKED, "has-a-user", HIGH);
	UNSAID(cause, "in use");
	counted(1, 1);
	EXPECT(NOT_FREE, "hugetlb", CERTAIN);
	SAYS(cause, "tasks map");
	UNSAID(advice, "pool");
	user_page(PAGEDET_KIND_HUGETLB, F(HUGE) | F(MMAP));
	here.cell[PAGEDET_FIELD_MAPCOUNT] = PAGEDET_NOT_ASKED;
	EXPECT(NOT_FREE, "hugetlb", CERTAIN);
	SAYS(cause, "tasks map");
	user_page(PAGEDET_KIND_HUGETLB, F(HUGE));
	SET(&here, ORDER, order, 9);
	counted(1, 0);
	EXPECT(NOT_FREE, "hugetlb", CERTAIN);
	SAYS(cause, "in use");
	SAYS(likely, "hugetlbfs");
	UNSAID(advice, "shrink");
	SET(&here, PINCOUNT, pincount, 0);
	EXPECT(NOT_MIGRATABLE, "movable-unknown", NONE);
	ck_assert(!names_unknown("how many references"));
}
END_TEST

/* No disk has it, whether tasks map it or not. */
START_TEST(shared_memory)
{
	user_page(PAGEDET_KIND_SHMEM, F(LRU) | F(SWAPBACKED));
	SET(&here, INODE, inode, 12);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	SAYS(cause, "no disk has it");
	SAYS(cause, "memory or swap until the file is removed");
	set_mapcount(&here, 1);
	EXPECT(NOT_FREE, "mapped", CERTAIN);
	SAYS(cause, "no disk has it");
	set_flags(&here, F(LRU) | F(SWAPBACKED) | F(UNEVICTABLE) | F(MLOCKED));
	EXPECT(NOT_FREE, "mapped", CERTAIN);
	SAYS(cause, "mlock");
	SAYS(cause, "no disk has it");
	user_page(PAGEDET_KIND_FILE, F(LRU));
	SET(&here, INODE, inode, 12);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	UNSAID(cause, "no disk has it");
}
END_TEST

/* A row without a mapcount does not show that no task maps it. */
START_TEST(unknown_mappings)
{
	user_page(PAGEDET_KIND_FILE, F(LRU));
	SET(&here, INODE, inode, 12);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	SAYS(cause, "no task maps it");
	here.cell[PAGEDET_FIELD_MAPCOUNT] = PAGEDET_NOT_ASKED;
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	SAYS(cause, "no task maps it");
	here.flags_known = F(LRU);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	UNSAID(cause, "no task maps it");
	ck_assert(names_unknown("whether tasks map it"));
}
END_TEST

/* The other pages of the folio keep it. */
START_TEST(part_of_a_folio)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(LRU) | F(COMPOUND_TAIL));
	SET(&here, ORDER, order, 9);
	counted(511, 0);
	EXPECT(NOT_FREE, "anon-unmapped", MEDIUM);
	e.folio_counted = PAGEDET_YES;
	e.folio_mapcount = 511;
	EXPECT(NOT_FREE, "anon-unmapped", HIGH);
	SAYS(cause, "other pages of its folio");
	e.folio_mapcount = 0;
	EXPECT(NOT_FREE, "anon-unmapped", MEDIUM);
	UNSAID(cause, "folio");
}
END_TEST

/* Somebody else may hold what is cached. */
START_TEST(what_reclaim_takes)
{
	user_page(PAGEDET_KIND_FILE, F(LRU) | F(PRIVATE));
	SET(&here, INODE, inode, 12);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	ck_assert_uint_eq(found[0].likely_confidence,
			  PAGEDET_CONFIDENCE_MEDIUM);
	counted(2, 0);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	SAYS(likely, "reclaim takes it");
	ck_assert_uint_eq(found[0].likely_confidence, PAGEDET_CONFIDENCE_HIGH);
	counted(3, 0);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	ck_assert_str_eq(found[0].likely, "");
	counted(2, 0);
	SET(&here, INODE, inode, 254 << 20);
	SET(&here, DEV, dev, 3);
	strcpy(e.texts + 1, "/dev/vda");
	SET(&here, PATH, path, 1);
	EXPECT(NOT_FREE, "page-cache", CERTAIN);
	SAYS(likely, "holds its buffers");
	ck_assert_uint_eq(found[0].likely_confidence,
			  PAGEDET_CONFIDENCE_MEDIUM);
}
END_TEST

/* Since 6.16 the references of slabs are not counted. */
START_TEST(slabs_without_references)
{
	user_page(PAGEDET_KIND_SLAB, F(SLAB));
	counted(0, 0);
	EXPECT(NOT_FREE, "slab", CERTAIN);
	EXPECT(LEAKED, "has-a-user", HIGH);
	user_page(PAGEDET_KIND_FILE, F(LRU));
	counted(0, 0);
	EXPECT(LEAKED, "leak-unknown", NONE);
}
END_TEST

/* --- poison --- */

/* The kernel holds a reference to what it has taken out of use. */
START_TEST(poison_explains_a_reference)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(SWAPBACKED) | F(HWPOISON));
	counted(1, 0);
	SET(&here, PINCOUNT, pincount, 0);
	here.cell[PAGEDET_FIELD_MEMCG_INO] = PAGEDET_NONE;
	EXPECT(PINNED, "not-pinned", CERTAIN);
	ck_assert_uint_eq(fact("references_expected",
			       PAGEDET_SIDE_HERE)->value, 1);
	EXPECT(UNACCOUNTED, "poisoned-uncharged", MEDIUM);
	SET(&here, ALLOC_PID, alloc_pid, 5);
	EXPECT(LEAKED, "kept-as-poisoned", CERTAIN);
	ask(0);
	ck_assert_int_eq(n_found, 2);
	ck_assert_str_eq(found[0].name, "set-aside-as-poisoned");
	ck_assert_str_eq(found[1].name, "hwpoison");
	/* Somebody else has one, too. */
	counted(2, 0);
	ask(0);
	ck_assert_int_eq(n_found, 3);
	ck_assert_str_eq(found[0].name, "poisoned-in-use");
	ck_assert_str_eq(found[1].name, "hwpoison");
	ck_assert_str_eq(found[2].name, "held");
	EXPECT(LEAKED, "leak-suspected", MEDIUM);
}
END_TEST

/* A cache from which nobody gets the page has one, too. */
START_TEST(poison_in_a_cache)
{
	user_page(PAGEDET_KIND_ANON, F(ANON) | F(SWAPBACKED) | F(SWAPCACHE) |
		  F(HWPOISON));
	counted(2, 0);
	EXPECT(NOT_FREE, "set-aside-as-poisoned", CERTAIN);
	EXPECT(LEAKED, "kept-as-poisoned", CERTAIN);
	counted(3, 0);
	EXPECT(NOT_FREE, "poisoned-in-use", CERTAIN);
	counted(2, 1);
	EXPECT(NOT_FREE, "poisoned-in-use", CERTAIN);
	user_page(PAGEDET_KIND_SHMEM, F(SWAPBACKED) | F(HWPOISON));
	counted(2, 0);
	EXPECT(NOT_FREE, "set-aside-as-poisoned", CERTAIN);
	user_page(PAGEDET_KIND_FILE, F(HWPOISON));
	counted(2, 0);
	EXPECT(NOT_FREE, "poisoned-in-use", CERTAIN);
}
END_TEST

/* The kernel takes a free page with an error off its free lists, or drops it
 * when it comes to hand it out. */
START_TEST(poisoned_while_free)
{
	user_page(PAGEDET_KIND_FREE, F(BUDDY) | F(HWPOISON));
	EXPECT(NOT_FREE, "set-aside-as-poisoned", HIGH);
	SAYS(cause, "while it was free");
	ck_assert_ptr_nonnull(fact("kind", PAGEDET_SIDE_HERE));
	ck_assert_ptr_nonnull(fact("flags", PAGEDET_SIDE_HERE));
	EXPECT(LEAKED, "kept-as-poisoned", HIGH);
	SAYS(cause, "while it was free");
	EXPECT(NOT_MIGRATABLE, "poisoned-stays", CERTAIN);
	EXPECT(UNRECLAIMABLE, "poisoned-kept", CERTAIN);
	EXPECT(PINNED, "nothing-to-pin", CERTAIN);
	SAYS(cause, "memory error");
	EXPECT(UNACCOUNTED, "nobodys", CERTAIN);
	EXPECT(POISONED, "hwpoison", CERTAIN);
	counted(0, 0);
	EXPECT(NOT_FREE, "set-aside-as-poisoned", HIGH);
	EXPECT(LEAKED, "kept-as-poisoned", HIGH);
	/* It was given back. */
	reported_as(PAGEDET_REPORT_UNPOISON, "Software-unpoisoned free page");
	set_flags(&here, F(BUDDY));
	EXPECT(NOT_FREE, "page-free", CERTAIN);
	EXPECT(LEAKED, "nothing-leaked", CERTAIN);
	EXPECT(NOT_MIGRATABLE, "nothing-to-move", CERTAIN);
	EXPECT(UNRECLAIMABLE, "nothing-to-reclaim", CERTAIN);
	EXPECT(PINNED, "nothing-to-pin", CERTAIN);
	UNSAID(cause, "memory error");
}
END_TEST

/* The words of a report say how the kernel has ended with such a page: it has
 * taken it away, or could not because somebody has got it meanwhile, or does
 * not say. */
START_TEST(poisoned_while_free_as_reported)
{
	enum end { TAKEN, USED, UNTOLD };
	static const struct {
		uint64_t report;
		const char *words;
		enum end end;
	} cases[] = {
		{ PAGEDET_REPORT_MEMORY_FAILURE,
		  "free buddy page: Recovered", TAKEN },
		{ PAGEDET_REPORT_MEMORY_FAILURE,
		  "free buddy page: Failed", USED },
		{ PAGEDET_REPORT_MEMORY_FAILURE,
		  "free buddy page: Ignored", USED },
		/* Kernels that left it on its list do not hand it out. */
		{ PAGEDET_REPORT_MEMORY_FAILURE,
		  "free buddy page: Delayed", UNTOLD },
		/* The first part has the outcome, the next ones names that may
		 * be anything. */
		{ PAGEDET_REPORT_MEMORY_FAILURE,
		  "free buddy page: Recovered; to x: Failed:1 due to", TAKEN },
		{ PAGEDET_REPORT_MEMORY_FAILURE,
		  "words of x: Failed:1 due", UNTOLD },
		{ PAGEDET_REPORT_MEMORY_FAILURE, "x: Failed ...", UNTOLD },
		/* Another report came later: only what was said before it of
		 * the memory error is an outcome. */
		{ PAGEDET_REPORT_IO_ERROR, "path x: Failed", UNTOLD },
		{ PAGEDET_REPORT_IO_ERROR, "path x: Failed; before: free "
		  "buddy page: Recovered; injected for a test", TAKEN },
		{ PAGEDET_REPORT_IO_ERROR,
		  "a; before: free buddy page: Failed", USED },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const unsigned sure = cases[i].end == TAKEN ?
			PAGEDET_CONFIDENCE_CERTAIN : PAGEDET_CONFIDENCE_HIGH;

		user_page(PAGEDET_KIND_FREE, F(BUDDY) | F(HWPOISON));
		counted(0, 0);
		reported_as(cases[i].report, cases[i].words);
		if (cases[i].end == USED) {
			EXPECT(NOT_FREE, "poisoned-in-use", CERTAIN);
			UNSAID(cause, "while it was free");
			SAYS(cause, cases[i].words);
			EXPECT(LEAKED, "leak-unknown", NONE);
			continue;
		}
		expect(PAGEDET_ASK_NOT_FREE, "set-aside-as-poisoned", sure);
		SAYS(cause, cases[i].words);
		SAYS(cause, "; marked as a memory error (hwpoison) while it "
			    "was free");
		expect(PAGEDET_ASK_LEAKED, "kept-as-poisoned", sure);
	}
}
END_TEST

/* --- advice --- */

static void from(unsigned source)
{
	unsigned f;

	for (f = 0; f < PAGEDET_FIELDS_MAX; f++)
		if (PAGEDET_CELL_STATE(here.cell[f]) == PAGEDET_HAVE)
			here.cell[f] = (uint16_t)(PAGEDET_HAVE | source << 8);
}

/* What is done to a running kernel cannot be done to a file. */
START_TEST(advice_fits_the_source)
{
	static const struct {
		uint32_t question, kind;
		uint64_t flags, refcount, mapcount;
		const char *live, *past;
	} cases[] = {
		{ PAGEDET_ASK_NOT_FREE, PAGEDET_KIND_HUGETLB, F(HUGE), 0, 0,
		  "shrink the pool", "on that machine: shrink the pool" },
		{ PAGEDET_ASK_NOT_FREE, PAGEDET_KIND_ANON, F(ANON), 1, 1,
		  "'pagedet mappers PFN'", "'pagedet mappers PFN'" },
		{ PAGEDET_ASK_NOT_FREE, PAGEDET_KIND_UNKNOWN, 0, 0, 0,
		  "ask again", "nothing" },
		{ PAGEDET_ASK_PINNED, PAGEDET_KIND_ANON, F(ANON), 3, 1,
		  "look for", "look for" },
		{ PAGEDET_ASK_UNRECLAIMABLE, PAGEDET_KIND_FILE,
		  F(LRU) | F(DIRTY), 1, 0, "sync", "on that machine: sync" },
	};
	static const unsigned files[] = {
		PAGEDET_SOURCE_VMCORE, PAGEDET_SOURCE_LOG,
		PAGEDET_SOURCE_SNAPSHOT,
	};
	size_t i, k;
	bool command;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		user_page(cases[i].kind, cases[i].flags);
		counted(cases[i].refcount, cases[i].mapcount);
		ask(cases[i].question);
		ck_assert_ptr_eq(strstr(found[0].advice, cases[i].live),
				 found[0].advice);
		command = says(found[0].advice, "'pagedet ");
		for (k = 0; k < sizeof(files) / sizeof(*files); k++) {
			/* A log has no pages for a command. */
			const char *before =
				files[k] == PAGEDET_SOURCE_LOG && command ?
				"on that machine: " : "";

			from(files[k]);
			ask(cases[i].question);
			ck_assert_ptr_eq(strstr(found[0].advice, before),
					 found[0].advice);
			ck_assert_ptr_eq(strstr(found[0].advice,
						cases[i].past),
					 found[0].advice + strlen(before));
			UNSAID(advice, "ask again");
		}
		/* The running kernel's log says something of its page. */
		from(PAGEDET_SOURCE_PROCFS);
		SET(&here, EVENT_NS, event_ns, 1);
		here.cell[PAGEDET_FIELD_EVENT_NS] =
			PAGEDET_HAVE | PAGEDET_SOURCE_LOG << 8;
		ask(cases[i].question);
		ck_assert_ptr_eq(strstr(found[0].advice, cases[i].live),
				 found[0].advice);
	}
}
END_TEST

/* The kernel did not show the page to who saved the row. */
START_TEST(advice_to_be_root)
{
	user_page(PAGEDET_KIND_UNKNOWN, 0);
	here.cell[PAGEDET_FIELD_KIND] = PAGEDET_NO_ACCESS;
	EXPECT(NOT_FREE, "use-unknown", NONE);
	ck_assert_ptr_eq(strstr(found[0].advice, "run it as root: "),
			 found[0].advice);
	from(PAGEDET_SOURCE_VMCORE);
	EXPECT(NOT_FREE, "use-unknown", NONE);
	ck_assert_ptr_eq(strstr(found[0].advice, "on that machine: run it as "
				"root: "), found[0].advice);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("explain_words");

	unit_test(s, freed_while_in_use);
	unit_test(s, overwritten);
	unit_test(s, reported_otherwise);
	unit_test(s, reported_nothing);
	unit_test(s, guesses_against_a_report);
	unit_test(s, zero_pages);
	unit_test(s, reserved_pages);
	unit_test(s, huge_pages_of_the_pool);
	unit_test(s, shared_memory);
	unit_test(s, unknown_mappings);
	unit_test(s, part_of_a_folio);
	unit_test(s, what_reclaim_takes);
	unit_test(s, slabs_without_references);
	unit_test(s, poison_explains_a_reference);
	unit_test(s, poison_in_a_cache);
	unit_test(s, poisoned_while_free);
	unit_test(s, poisoned_while_free_as_reported);
	unit_test(s, advice_fits_the_source);
	unit_test(s, advice_to_be_root);
	return unit_main(s);
}
