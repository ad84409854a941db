/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests differences between two snapshots made here: every change, and
 * everything that cannot be known. A snapshot does not differ from itself, a
 * swapped comparison gives the reverse, and each random change is found once.
 */
#include <errno.h>

#include "diff/seen.h"
#include "../differing.h"

static void refused(int code, const char *words)
{
	compare_with(NULL, -code);
	ck_assert_msg(strstr(pagedet_error(was.pd), words), "\"%s\" lacks %s",
		      pagedet_error(was.pd), words);
	ck_assert_ptr_null(diff);
	clean();
}

/* The only change is at @pfn, and consists of these. */
static void only(uint64_t pfn, uint32_t changes)
{
	const struct pagedet_page *row = &after[0];

	ck_assert_int_eq(n, 1);
	ck_assert_msg(change[0].changes == changes, "changes %#x, not %#x",
		      change[0].changes, changes);
	ck_assert_uint_eq(change[0].change, __builtin_ctz(changes));
	if (PAGEDET_CELL_STATE(row->cell[F(PFN)]) != PAGEDET_HAVE)
		row = &before[0];
	ck_assert_uint_eq(row->pfn, pfn);
	ck_assert_uint_eq(totals.first[change[0].change], 1);
}

/* --- frames --- */

START_TEST(nothing_changed)
{
	begin(ANON, ANON);
	page(&was, 6, PAGEDET_KIND_SLAB);
	page(&now, 6, PAGEDET_KIND_SLAB);
	compare();
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.compared, 2);
	ck_assert_uint_eq(totals.same, 2);
	ck_assert_uint_eq(totals.by, PAGEDET_DIFF_BY_PFN);
	ck_assert_uint_eq(totals.notes, 0);
	clean();
}
END_TEST

START_TEST(pages_come_and_go)
{
	static const struct {
		uint64_t was, now;
		uint32_t changes;
	} cases[] = {
		{ NONE, ANON, BIT(APPEARED) },
		{ FREE, ANON, BIT(APPEARED) },
		{ PAGEDET_KIND_HOLE, ANON, BIT(APPEARED) },
		{ PAGEDET_KIND_UNKNOWN, ANON, BIT(APPEARED) },
		{ ANON, NONE, BIT(GONE) },
		{ ANON, FREE, BIT(GONE) },
		{ ANON, PAGEDET_KIND_UNKNOWN, BIT(GONE) },
		{ FREE, NONE, 0 },
		{ FREE, PAGEDET_KIND_HOLE, BIT(OTHER) },
		{ ANON, PAGEDET_KIND_SLAB, BIT(REUSED) },
		{ PAGEDET_KIND_UNKNOWN, PAGEDET_KIND_KERNEL, 0 },
		{ FREE, PAGEDET_KIND_UNKNOWN, 0 },
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(cases); i++) {
		begin(cases[i].was, cases[i].now);
		compare();
		if (cases[i].changes)
			only(5, cases[i].changes);
		else
			ck_assert_int_eq(n, 0);
	}
	/* The last two are not known. */
	ck_assert_uint_eq(totals.undecided, 1);
	ck_assert_uint_eq(totals.undecided_in[F(KIND)], 1);
	begin(NONE, PAGEDET_KIND_UNKNOWN);
	compare();
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.unmatched, 1);
	ck_assert_uint_eq(totals.undecided, 0);
	/* A missing row has no cell. */
	begin(NONE, ANON);
	compare();
	ck_assert_uint_eq(before[0].cell[F(PFN)], 0);
	ck_assert_uint_eq(after[0].kind, ANON);
	clean();
}
END_TEST

START_TEST(a_field_changes)
{
	static const struct {
		unsigned field;
		uint64_t was, now;	/* NONE: nothing is there */
		uint32_t changes;
	} cases[] = {
		{ F(FLAGS), 0x10, 0x11, BIT(FLAGS) },
		{ F(FLAGS), 0x10, 0x110, 0 }, /* a bit that no one knows */
		{ F(MAPCOUNT), 1, 2, BIT(MAPCOUNT) },
		{ F(MEMCG_INO), 45, 46, BIT(MEMCG) },
		{ F(MEMCG_INO), NONE, 46, BIT(MEMCG) },
		{ F(ORDER), 9, 0, BIT(SPLIT) },
		{ F(ORDER), 0, 9, BIT(MERGED) },
		{ F(INODE), 1, 2, BIT(REUSED) | BIT(OWNER) },
		{ F(INODE), 1, NONE, BIT(REUSED) | BIT(OWNER) },
		{ F(INDEX), 1, 2, BIT(REUSED) | BIT(OWNER) },
		{ F(ALLOC_NS), 1, 2, BIT(REUSED) | BIT(OWNER) },
		{ F(HASH), 1, 2, BIT(CONTENT) },
		{ F(REFCOUNT), 1, 2, BIT(OTHER) },
	};
	size_t i;
	unsigned k;

	for (i = 0; i < PDET_COUNT(cases); i++) {
		begin(ANON, ANON);
		for (k = 0; k < 2; k++) {
			const uint64_t v = k ? cases[i].now : cases[i].was;

			if (v != NONE)
				saved_set(k ? &now : &was, 0, cases[i].field,
					  v);
		}
		compare();
		if (!cases[i].changes) {
			ck_assert_int_eq(n, 0);
			ck_assert_uint_eq(totals.same, 1);
			continue;
		}
		only(5, cases[i].changes);
		ck_assert(change[0].fields[cases[i].field / 64] >>
			  cases[i].field % 64 & 1);
	}
	begin(ANON, ANON);
	saved_text(&was, 0, F(ALLOC_COMM), "cat");
	saved_text(&now, 0, F(ALLOC_COMM), "dog");
	compare();
	only(5, BIT(OWNER));
	ck_assert_str_eq(names[0], "cat");
	ck_assert_str_eq(names[1], "dog");
	ck_assert_ptr_null(pagedet_diff_string(diff, 2, 1, NULL));
	clean();
}
END_TEST

START_TEST(several_have_the_first_as_name)
{
	begin(ANON, ANON);
	saved_set(&now, 0, F(FLAGS), 0x11);
	saved_set(&now, 0, F(MAPCOUNT), 2);
	saved_set(&now, 0, F(ORDER), 9);
	compare();
	only(5, BIT(MERGED) | BIT(FLAGS) | BIT(MAPCOUNT));
	ck_assert_uint_eq(totals.changes[PAGEDET_CHANGE_FLAGS], 1);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_FLAGS], 0);
	/* A write also sets the dirty flag. */
	begin(ANON, ANON);
	saved_set(&now, 0, F(FLAGS), 0x11);
	saved_set(&was, 0, F(HASH), 1);
	saved_set(&now, 0, F(HASH), 2);
	compare();
	ck_assert_int_eq(n, 1);
	ck_assert_uint_eq(change[0].changes, BIT(FLAGS) | BIT(CONTENT));
	ck_assert_uint_eq(change[0].change, PAGEDET_CHANGE_CONTENT);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_CONTENT], 1);
	clean();
}
END_TEST

START_TEST(what_is_not_known_is_no_change)
{
	static const unsigned fields[] = {
		F(FLAGS), F(FLAGS_KNOWN), F(MAPCOUNT), F(MEMCG_INO), F(ORDER),
		F(REFCOUNT), F(HASH),
	};
	unsigned i, side, f;

	for (i = 0; i < 2 * PDET_COUNT(fields); i++) {
		f = fields[i / 2];
		side = i % 2;
		begin(ANON, ANON);
		saved_set(side ? &was : &now, 0, f, 0x3333);
		saved_lost(side ? &now : &was, 0, f);
		compare();
		ck_assert_msg(n == 0, "field %u", f);
		ck_assert_uint_eq(totals.undecided, 1);
		ck_assert_uint_eq(totals.same, 0);
		f = f == F(FLAGS_KNOWN) ? F(FLAGS) : f;
		ck_assert_uint_eq(totals.undecided_in[f], 1);
		ck_assert_uint_eq(totals.decided[0] >> f & 1, 0);
		if (f != F(FLAGS) || fields[i / 2] == F(FLAGS))
			ck_assert_uint_eq(totals.why[f], PAGEDET_RACED);
	}
	/* An average is not a count. */
	begin(ANON, ANON);
	saved_set(&now, 0, F(MAPCOUNT), 2);
	saved_set(&now, 0, F(MAPCOUNT_KIND), PAGEDET_MAPCOUNT_AVERAGE);
	compare();
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.undecided_in[F(MAPCOUNT)], 1);
	/* The change of a field known on both sides is still reported. */
	begin(ANON, ANON);
	saved_lost(&now, 0, F(ORDER));
	saved_set(&now, 0, F(MEMCG_INO), 46);
	compare();
	only(5, BIT(MEMCG));
	ck_assert_uint_eq(change[0].undecided[0], 1ull << F(ORDER));
	clean();
}
END_TEST

/*
 * Kinds of counts that were not saved: one source counts one kernel's mappings
 * in one way.
 */
START_TEST(counts_of_unknown_kind)
{
	unsigned i;

	for (i = 0; i < 3; i++) {
		clean();
		saved_new(&was, PAGEDET_TARGET_SCAN, F(PFN), F(KIND),
			  F(MAPCOUNT), -1);
		saved_new(&now, PAGEDET_TARGET_SCAN, F(PFN), F(KIND),
			  F(MAPCOUNT), -1);
		page(&was, 5, ANON);
		page(&now, 5, ANON);
		saved_set(&now, 0, F(MAPCOUNT), 2);
		if (i == 1)
			now.about.field[F(MAPCOUNT)].sources =
				PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_VMCORE);
		if (i == 2)
			was.about.field[F(MAPCOUNT)].sources =
			now.about.field[F(MAPCOUNT)].sources =
				PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_SNAPSHOT);
		compare();
		ck_assert_int_eq(n, i ? 0 : 1);
		ck_assert_uint_eq(totals.undecided_in[F(MAPCOUNT)], i != 0);
	}
	/* Neither side has it for this page. */
	for (i = 0; i < 2; i++) {
		begin(ANON, ANON);
		saved_set(&now, 0, F(MAPCOUNT), 2);
		saved_lost(&was, 0, F(MAPCOUNT_KIND));
		saved_lost(&now, 0, F(MAPCOUNT_KIND));
		if (i)
			now.about.field[F(MAPCOUNT)].sources =
				PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_VMCORE);
		compare();
		ck_assert_int_eq(n, !i);
		ck_assert_uint_eq(totals.undecided_in[F(MAPCOUNT)], i);
	}
	clean();
}
END_TEST

START_TEST(hashes_of_different_keys)
{
	begin(ANON, ANON);
	saved_set(&was, 0, F(HASH), 1);
	saved_set(&now, 0, F(HASH), 2);
	saved_text(&was, 0, F(CONTENT), "mixed");
	saved_text(&now, 0, F(CONTENT), "mixed");
	now.about.hash_key = 2;
	compare();
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.notes, PAGEDET_DIFF_OTHER_KEY);
	ck_assert_uint_eq(totals.undecided_in[F(HASH)], 1);
	ck_assert_uint_eq(totals.why[F(HASH)], PAGEDET_UNSUPPORTED);
	/* Classes need no key. */
	begin(ANON, ANON);
	saved_set(&was, 0, F(HASH), 1);
	saved_set(&now, 0, F(HASH), 2);
	saved_text(&was, 0, F(CONTENT), "zero");
	saved_text(&now, 0, F(CONTENT), "mixed");
	now.about.hash_key = 2;
	compare();
	only(5, BIT(CONTENT));
	ck_assert_uint_eq(change[0].fields[0], 1ull << F(CONTENT));
	clean();
}
END_TEST

START_TEST(pages_move)
{
	begin(NONE, NONE);
	two(&was, 5, ANON, 77, "mixed");
	two(&now, 6, ANON, 77, "mixed");
	compare();
	only(6, BIT(MOVED));
	ck_assert_uint_eq(before[0].pfn, 5);
	ck_assert_uint_eq(change[0].fields[0], 1ull << F(PFN));

	/* A file's page, whatever its current bytes. */
	begin(NONE, NONE);
	two(&was, 5, FILE_KIND, 77, "mixed");
	two(&now, 6, FILE_KIND, 78, "mixed");
	compare();
	only(6, BIT(MIGRATED) | BIT(CONTENT));
	ck_assert_uint_eq(before[0].pfn, 5);
	clean();
}
END_TEST

/* The page of frame 5 is gone and that of 6 is new; nothing else is known. */
static void two_apart(uint64_t kind, uint64_t hash, const char *content)
{
	begin(NONE, NONE);
	two(&was, 5, ANON, 77, content);
	two(&now, 6, kind, hash, content);
}

static void did_not_move(void)
{
	compare();
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(change[0].change, PAGEDET_CHANGE_GONE);
	ck_assert_uint_eq(change[1].change, PAGEDET_CHANGE_APPEARED);
}

START_TEST(pages_may_have_moved)
{
	/* other bytes; no bytes; another kind */
	two_apart(ANON, 78, "mixed");
	did_not_move();
	two_apart(ANON, 77, "zero");
	did_not_move();
	two_apart(PAGEDET_KIND_SHMEM, 77, "mixed");
	did_not_move();

	/* Unknown pages of files: many have the same bytes. */
	two_apart(PAGEDET_KIND_SHMEM, 77, "mixed");
	saved_set(&was, 0, F(KIND), PAGEDET_KIND_SHMEM);
	did_not_move();
	two_apart(ANON, 77, "mixed");
	saved_set(&was, 0, F(INODE), 2);
	saved_set(&now, 1, F(INODE), 2);
	did_not_move();

	/* A third page has the same bytes, on one or both sides. */
	begin(NONE, NONE);
	two(&was, 5, ANON, 77, "mixed");
	two(&now, 6, ANON, 77, "mixed");
	extra(&was, 9, 77);
	extra(&now, 9, 77);
	compare();
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(totals.ambiguous, 2);
	begin(NONE, NONE);
	two(&was, 5, ANON, 77, "mixed");
	two(&now, 6, ANON, 77, "mixed");
	extra(&now, 9, 77);
	compare();
	ck_assert_int_eq(n, 3);
	ck_assert_uint_eq(totals.ambiguous, 3);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_MOVED], 0);
	clean();
}
END_TEST

/* Another page with the same bytes may be where no one looked. */
START_TEST(nothing_moves_unless_all_was_seen)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		begin(NONE, NONE);
		two(&was, 5, ANON, 77, "mixed");
		two(&now, 6, ANON, 77, "mixed");
		now.partial = i == 0;
		if (i == 1) {
			saved_ask(&was, "pfn<9");
			saved_ask(&now, "pfn<9");
		}
		compare_with(NULL, 0);
		ck_assert_int_eq(n, 2);
		ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_MOVED], 0);
	}
	clean();
}
END_TEST

START_TEST(too_many_are_not_looked_for)
{
	struct pagedet_diff_options o = PAGEDET_DIFF_OPTIONS_INIT;

	o.candidates = 1;
	begin(NONE, NONE);
	two(&was, 5, ANON, 77, "mixed");
	two(&now, 6, ANON, 77, "mixed");
	compare_with(&o, 0);
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(totals.spilled, 1);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_GONE], 1);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_APPEARED], 1);
	clean();
}
END_TEST

START_TEST(a_part_proves_nothing)
{
	begin(ANON, NONE);
	now.partial = true;
	compare_with(NULL, 0);
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.complete, 0);
	ck_assert_uint_eq(totals.unmatched, 1);
	ck_assert_uint_eq(totals.notes, PAGEDET_DIFF_PARTIAL);
	/* For places on both sides it does. */
	begin(ANON, FREE);
	now.partial = true;
	compare_with(NULL, 0);
	only(5, BIT(GONE));
	/* Some could not be read, or were left out when saving. */
	begin(ANON, NONE);
	now.denied = 1;
	compare_with(NULL, 0);
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.notes, PAGEDET_DIFF_PARTIAL);
	begin(ANON, NONE);
	now.undecided = 1;
	compare_with(NULL, 0);
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.notes, PAGEDET_DIFF_PARTIAL);
	/* They are left out now. */
	begin(ANON, ANON);
	saved_lost(&now, 0, F(KIND));
	saved_ask(&was, "kind=anon");
	saved_ask(&now, "kind=anon");
	compare_with(NULL, 0);
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.unmatched, 1);
	ck_assert_uint_eq(totals.notes, PAGEDET_DIFF_PARTIAL);
	ck_assert_uint_eq(totals.complete, 0);

	/* Only one side has a filter: what it lacks may exist. */
	begin(ANON, PAGEDET_KIND_SLAB);
	saved_ask(&now, "kind=anon");
	compare();
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.unmatched, 1);
	ck_assert_uint_eq(totals.notes, PAGEDET_DIFF_OTHER_PLACES);
	/* Both have it: the page is none of these any more. */
	begin(ANON, PAGEDET_KIND_SLAB);
	saved_ask(&was, "kind=anon");
	saved_ask(&now, "kind=anon");
	compare();
	only(5, BIT(GONE));
	/* The same if the filter was set when saving. */
	begin(ANON, PAGEDET_KIND_SLAB);
	was.about.where = (char[]){ "kind=anon" };
	saved_ask(&was, NULL);
	saved_ask(&now, "kind=anon");
	compare();
	only(5, BIT(GONE));
	clean();
}
END_TEST

START_TEST(what_cannot_be_compared)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;

	begin(ANON, ANON);
	strcpy(now.about.boot_id, "11111111-d9cb-469f-a165-70867728950e");
	refused(ENODATA, "of different boots");
	begin(ANON, ANON);
	*now.about.boot_id = '\0';
	compare();
	ck_assert_uint_eq(totals.notes, PAGEDET_DIFF_UNKNOWN_BOOT);
	begin(ANON, ANON);
	*now.about.boot_id = '\0';
	strcpy(now.about.release, "6.1.0");
	refused(ENODATA, "of different boots");
	begin(ANON, ANON);
	now.about.page_size = 16384;
	refused(ENODATA, "different sizes");
	begin(ANON, ANON);
	strcpy(now.about.arch, "aarch64");
	refused(ENODATA, "architectures");
	begin(ANON, ANON);
	now.about.target = PAGEDET_TARGET_TASK;
	refused(EINVAL, "about different kinds of places");
	begin(ANON, ANON);
	was.about.target = now.about.target = PAGEDET_TARGET_MAPPERS;
	refused(EINVAL, "about different kinds of places");
	begin(ANON, ANON);
	was.about.target = now.about.target = PAGEDET_TARGET_TASK;
	refused(ENODATA, "no vaddr");
	/* Frames that do not ascend, although the file claims it. */
	begin(ANON, ANON);
	page(&was, 4, ANON);
	compare_with(NULL, -EBADMSG);
	ck_assert_ptr_nonnull(strstr(pagedet_error(was.pd),
				     "not in the order of frames"));
	/* Groups, and iterators that were read already. */
	begin(ANON, ANON);
	saved_ask(&was, NULL);
	pagedet_iter_free(was.it);
	q.target = PAGEDET_TARGET_SCAN;
	q.options = PAGEDET_Q_GROUP;
	ck_assert_int_eq(pagedet_query(was.pd, &q, &was.it), 0);
	refused(EINVAL, "not groups");
	begin(ANON, ANON);
	saved_ask(&was, NULL);
	ck_assert_int_eq(pagedet_next(was.it, before, 1), 1);
	refused(EINVAL, "not read yet");
}
END_TEST

START_TEST(rows_without_a_frame)
{
	begin(ANON, ANON);
	page(&was, 6, ANON);
	saved_lost(&was, 1, F(PFN));
	compare();
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.unplaced, 1);
	ck_assert_uint_eq(totals.rows[0], 2);
	clean();
}
END_TEST

START_TEST(callers_with_short_rows)
{
	struct pagedet_diff_options o = PAGEDET_DIFF_OPTIONS_INIT;
	unsigned char rows[2][512];

	begin(ANON, ANON);
	saved_set(&now, 0, F(FLAGS), 0x11);
	saved_set(&now, 0, F(REFCOUNT), 2);
	saved_ask(&was, NULL);
	saved_ask(&now, NULL);
	memset(rows, 0xee, sizeof(rows));
	/* Up to flags_known. */
	o.row_size = offsetof(struct pagedet_page, raw_flags);
	ck_assert_int_eq(pagedet_diff(was.it, now.it, &o, &diff), 0);
	ck_assert_int_eq(pagedet_diff_next(diff, change,
		(struct pagedet_page *)(void *)rows[0],
		(struct pagedet_page *)(void *)rows[1], 1), 1);
	memcpy(&after[0], rows[1], o.row_size);
	ck_assert_uint_eq(after[0].flags, 0x11);
	ck_assert_uint_eq(PAGEDET_CELL_STATE(after[0].cell[F(REFCOUNT)]),
			  PAGEDET_OLD_ROW);
	ck_assert_uint_eq(rows[1][o.row_size], 0xee);
	o.row_size = 10;
	pagedet_diff_free(diff);
	diff = NULL;
	ck_assert_int_eq(pagedet_diff(was.it, now.it, &o, &diff), -EINVAL);
	clean();
}
END_TEST

/* --- addresses --- */

static void begin_task(void)
{
	clean();
	saved_new(&was, PAGEDET_TARGET_TASK, F(PID), F(VADDR), F(PFN), F(KIND),
		  F(PTE), F(PTE_KNOWN), F(NOTES), F(ORDER), -1);
	saved_new(&now, PAGEDET_TARGET_TASK, F(PID), F(VADDR), F(PFN), F(KIND),
		  F(PTE), F(PTE_KNOWN), F(NOTES), F(ORDER), -1);
}

static uint32_t address(struct saved *s, uint64_t vaddr, uint64_t pfn,
			uint64_t pte)
{
	const uint32_t row = saved_row(s);

	saved_set(s, row, F(PID), s->item.pid);
	saved_set(s, row, F(VADDR), vaddr);
	if (pfn != NONE)
		saved_set(s, row, F(PFN), pfn);
	saved_set(s, row, F(KIND), ANON);
	saved_set(s, row, F(PTE), pte);
	saved_set(s, row, F(PTE_KNOWN), 0xff);
	return row;
}

START_TEST(addresses)
{
	uint32_t row;

	begin_task();
	/* in another order than they are sorted */
	address(&was, 0x9000, 9, 1);
	address(&was, 0x1000, 1, 1);
	address(&was, 0x2000, 2, 1);
	address(&was, 0x3000, 3, 1);
	address(&was, 0x4000, 4, 1);
	address(&now, 0x1000, 1, 1);
	address(&now, 0x2000, 22, 1);	/* another frame */
	address(&now, 0x3000, NONE, 2);	/* swapped */
	address(&now, 0x4000, 4, 1 | 1 << 6);
	address(&now, 0x5000, 5, 1);
	address(&now, 0xa000, 9, 1);	/* mremap */
	compare();
	ck_assert_uint_eq(totals.by, PAGEDET_DIFF_BY_ADDRESS);
	ck_assert_int_eq(n, 5);
	ck_assert_uint_eq(change[0].changes, BIT(MIGRATED));
	ck_assert_uint_eq(before[0].pfn, 2);
	ck_assert_uint_eq(after[0].pfn, 22);
	ck_assert_uint_eq(change[1].changes, BIT(FLAGS));
	ck_assert_uint_eq(change[2].change, PAGEDET_CHANGE_GONE);
	ck_assert_uint_eq(after[2].vaddr, 0x3000);
	ck_assert_uint_eq(change[3].change, PAGEDET_CHANGE_APPEARED);
	ck_assert_uint_eq(change[4].change, PAGEDET_CHANGE_MOVED);
	ck_assert_uint_eq(before[4].vaddr, 0x9000);
	ck_assert_uint_eq(after[4].vaddr, 0xa000);
	ck_assert_uint_eq(totals.compared, 4);
	ck_assert_uint_eq(totals.same, 1);

	/* The frame is at two addresses: which one moved is not known. */
	begin_task();
	address(&was, 0x1000, 9, 1);
	address(&was, 0x2000, 9, 1);
	address(&now, 0x2000, 9, 1);
	address(&now, 0x3000, 9, 1);
	compare();
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(totals.ambiguous, 2);

	/* It may be at an address that no one looked at. */
	begin_task();
	was.item.count = now.item.count = 0x10;
	address(&was, 0x1000, 9, 1);
	address(&now, 0x3000, 9, 1);
	compare();
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_MOVED], 0);

	/* A frame that an entry only remembers is not a page. */
	begin_task();
	address(&was, 0x1000, 9, 1);
	row = address(&now, 0x1000, 9, 8);
	saved_set(&now, row, F(NOTES), PAGEDET_NOTE(PAGEDET_NOTE_STALE));
	compare();
	only(9, BIT(GONE));
	clean();
}
END_TEST

START_TEST(addresses_of_two_hosts)
{
	begin_task();
	now.item.pid = 99;
	strcpy(now.about.boot_id, "11111111-d9cb-469f-a165-70867728950e");
	address(&was, 0x1000, 1, 1);
	address(&was, 0x2000, 2, 1);
	address(&now, 0x1000, 77, 1);
	address(&now, 0x3000, 2, 1);
	compare();
	ck_assert_uint_eq(totals.notes, PAGEDET_DIFF_OTHER_BOOT);
	/* No frame has migrated or moved. */
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_GONE], 1);
	ck_assert_uint_eq(totals.first[PAGEDET_CHANGE_APPEARED], 1);
	ck_assert_uint_eq(totals.undecided_in[F(PFN)], 1);
	ck_assert_uint_eq(totals.decided[0] >> F(PFN) & 1, 0);
	clean();
}
END_TEST

START_TEST(rows_that_are_too_many_to_sort)
{
	struct pagedet_diff_options o = PAGEDET_DIFF_OPTIONS_INIT;

	o.max_rows = 1;
	begin_task();
	address(&was, 0x1000, 1, 1);
	address(&was, 0x2000, 2, 1);
	address(&now, 0x1000, 1, 1);
	compare_with(&o, -EOVERFLOW);
	ck_assert_ptr_null(diff);
	ck_assert_str_ne(pagedet_advice(was.pd), "");
	clean();
}
END_TEST

/* --- files --- */

static void file_page(struct saved *s, uint64_t index, uint64_t pfn)
{
	const uint32_t row = saved_row(s);

	saved_set(s, row, F(DEV), 1);
	saved_set(s, row, F(INODE), 2);
	saved_set(s, row, F(INDEX), index);
	saved_set(s, row, F(PFN), pfn);
	saved_set(s, row, F(KIND), FILE_KIND);
}

START_TEST(files)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		const uint32_t target = i ? PAGEDET_TARGET_TREE :
					    PAGEDET_TARGET_FILE;

		clean();
		saved_new(&was, target, F(DEV), F(INODE), F(INDEX), F(PFN),
			  F(KIND), -1);
		saved_new(&now, target, F(DEV), F(INODE), F(INDEX), F(PFN),
			  F(KIND), -1);
		was.about.path = now.about.path = (char[]){ "/a" };
		file_page(&was, 0, 10);
		file_page(&was, 1, 11);
		file_page(&was, 2, 12);
		file_page(&now, 1, 11);
		file_page(&now, 2, 22);
		file_page(&now, 3, 12);	/* a frame has no name */
		compare();
		ck_assert_uint_eq(totals.by, PAGEDET_DIFF_BY_FILE);
		ck_assert_int_eq(n, 3);
		ck_assert_uint_eq(change[0].change, PAGEDET_CHANGE_GONE);
		ck_assert_uint_eq(before[0].index, 0);
		ck_assert_uint_eq(change[1].changes, BIT(MIGRATED));
		ck_assert_uint_eq(after[1].index, 2);
		ck_assert_uint_eq(change[2].change, PAGEDET_CHANGE_APPEARED);
		ck_assert_uint_eq(after[2].index, 3);
	}
	clean();
}
END_TEST

/* --- properties --- */

static void fill_random(struct saved *s, uint32_t rows, uint64_t seed)
{
	static const uint64_t kinds[] = { FREE, ANON, FILE_KIND,
					  PAGEDET_KIND_SLAB };
	uint32_t i;

	for (i = 0; i < rows; i++) {
		const uint64_t r = unit_random(&seed);
		const uint64_t kind = kinds[r >> 8 & 3];
		uint32_t row;

		if (r % 16 == 0)
			continue;	/* a hole */
		row = page(s, i, kind);
		saved_set(s, row, F(FLAGS), r >> 16 & 0x1ff);
		saved_set(s, row, F(MAPCOUNT), r >> 32 & 3);
		if (r >> 40 & 1)
			saved_lost(s, row, F(MEMCG_INO));
		if (r >> 41 & 1)
			saved_set(s, row, F(HASH), r >> 48);
		saved_text(s, row, F(CONTENT), r >> 42 & 1 ? "mixed" : "zero");
		if (kind != FILE_KIND)
			continue;
		saved_set(s, row, F(DEV), 1);
		saved_set(s, row, F(INODE), 2);
		saved_set(s, row, F(INDEX), i);
	}
}

static void begin_random(uint64_t seed_was, uint64_t seed_now)
{
	begin(NONE, NONE);
	fill_random(&was, 2000, seed_was);
	fill_random(&now, 2000, seed_now);
}

START_TEST(the_same_is_the_same)
{
	begin_random(1 + (uint64_t)_i, 1 + (uint64_t)_i);
	compare();
	ck_assert_int_eq(n, 0);
	ck_assert_uint_eq(totals.compared, was.b.n);
	ck_assert_uint_eq(totals.same + totals.undecided, was.b.n);
	clean();
}
END_TEST

START_TEST(turned_round_it_is_the_reverse)
{
	static const unsigned reverse[] = {
		[PAGEDET_CHANGE_APPEARED] = PAGEDET_CHANGE_GONE,
		[PAGEDET_CHANGE_GONE] = PAGEDET_CHANGE_APPEARED,
		[PAGEDET_CHANGE_SPLIT] = PAGEDET_CHANGE_MERGED,
		[PAGEDET_CHANGE_MERGED] = PAGEDET_CHANGE_SPLIT,
	};
	struct pagedet_diff_totals there;
	unsigned i;

	begin_random(1 + (uint64_t)_i, 100 + (uint64_t)_i);
	compare();
	ck_assert_int_gt(n, 500);
	there = totals;
	begin_random(100 + (uint64_t)_i, 1 + (uint64_t)_i);
	compare();
	ck_assert_uint_eq(there.compared, totals.compared);
	ck_assert_uint_eq(there.same, totals.same);
	ck_assert_uint_eq(there.undecided, totals.undecided);
	ck_assert_uint_eq(there.ambiguous, totals.ambiguous);
	for (i = 1; i < PAGEDET_CHANGE_MAX; i++) {
		const unsigned k = i < PDET_COUNT(reverse) && reverse[i] ?
					   reverse[i] : i;

		ck_assert_uint_eq(there.changes[i], totals.changes[k]);
	}
	clean();
}
END_TEST

/* Every edit is found at its place, and nothing else. */
START_TEST(every_edit_is_found_once)
{
	uint64_t seed = 7 + (uint64_t)_i;
	uint32_t row, edits = 0;
	int i, at = 0;
	uint8_t edited[2000] = { 0 };

	begin_random(seed, seed);
	for (i = 0; i < 300; i++) {
		row = (uint32_t)(unit_random(&seed) % now.b.n);
		if (edited[row])
			continue;
		edited[row] = 1 + i % 2;
		edits++;
		if (i % 2)
			now.b.value[F(FLAGS)][row] ^= 1 << i % 8;
		else
			now.b.value[F(REFCOUNT)][row] += 1;
	}
	compare();
	ck_assert_int_eq(n, (int)edits);
	for (row = 0; row < now.b.n; row++) {
		if (!edited[row])
			continue;
		ck_assert_uint_eq(after[at].pfn, now.b.value[F(PFN)][row]);
		ck_assert_uint_eq(change[at].changes,
				  edited[row] == 2 ? BIT(FLAGS) : BIT(OTHER));
		at++;
	}
	clean();
}
END_TEST

START_TEST(numbers_that_came_once)
{
	struct pdet_seen s;
	uint64_t i, wrong = 0;

	ck_assert(pdet_seen_init(&s, 10000));
	for (i = 0; i < 10000; i++)
		pdet_seen_add(&s, i * 12345);
	for (i = 0; i < 10000; i += 2)
		pdet_seen_add(&s, i * 12345);
	for (i = 0; i < 10000; i++) {
		if (i % 2 == 0)
			ck_assert(!pdet_seen_single(&s, i * 12345));
		else
			wrong += !pdet_seen_single(&s, i * 12345);
	}
	/* Few of the unique ones are not reported as that. */
	ck_assert_uint_lt(wrong, 250);
	pdet_seen_free(&s);
}
END_TEST

START_TEST(names_of_changes)
{
	unsigned i;

	ck_assert_ptr_null(pagedet_change_name(0));
	for (i = 1; i <= PAGEDET_CHANGE_OTHER; i++)
		ck_assert_ptr_nonnull(pagedet_change_name(i));
	ck_assert_ptr_null(pagedet_change_name(i));
	ck_assert_ptr_null(pagedet_change_name(UINT32_MAX));
	ck_assert_str_eq(pagedet_change_name(PAGEDET_CHANGE_MOVED), "moved");
}
END_TEST

START_TEST(what_was_asked_is_asked_again)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;

	begin_task();
	was.about.where = (char[]){ "kind=anon" };
	was.about.path = (char[]){ "/a" };
	saved_ask(&was, NULL);
	ck_assert_int_eq(pagedet_saved_query(was.pd, &q), 0);
	ck_assert_uint_eq(q.target, PAGEDET_TARGET_TASK);
	ck_assert_uint_eq(q.n_items, 1);
	ck_assert_uint_eq(q.items[0].pid, 7);
	ck_assert_str_eq(q.where, "kind=anon");
	ck_assert_str_eq(q.path, "/a");
	ck_assert(q.fields[0] >> F(VADDR) & 1);
	q.size = 8;
	ck_assert_int_eq(pagedet_saved_query(was.pd, &q), -EINVAL);
	/* A caller built before the last members existed. */
	q.size = offsetof(struct pagedet_query, options);
	ck_assert_int_eq(pagedet_saved_query(was.pd, &q), 0);
	now.about.n_items = 2;
	saved_ask(&now, NULL);
	q = (struct pagedet_query)PAGEDET_QUERY_INIT;
	ck_assert_int_eq(pagedet_saved_query(now.pd, &q), -EOVERFLOW);
	ck_assert_uint_eq(q.target, PAGEDET_TARGET_TASK);
	ck_assert(q.fields[0] >> F(VADDR) & 1);
	ck_assert_ptr_null(q.items);
	clean();
}
END_TEST

/* --- texts --- */

#define TEXT_FIELDS F(PFN), F(KIND), F(ALLOC_COMM), -1

static void begin_texts(void)
{
	clean();
	saved_new(&was, PAGEDET_TARGET_SCAN, TEXT_FIELDS);
	saved_new(&now, PAGEDET_TARGET_SCAN, TEXT_FIELDS);
}

static void text_page(struct saved *s, uint64_t pfn, const char *comm)
{
	const uint32_t row = saved_row(s);

	saved_set(s, row, F(PFN), pfn);
	saved_set(s, row, F(KIND), ANON);
	saved_text(s, row, F(ALLOC_COMM), comm);
}

START_TEST(a_stale_id_is_none)
{
	static struct pagedet_change many[2 * SAVED_ROWS];
	uint64_t pfn, id;
	int got;

	begin_texts();
	for (pfn = 0; pfn < SAVED_ROWS; pfn++) {
		text_page(&was, 2 * pfn, pfn < SAVED_ROWS / 2 ? "cat" : "dog");
		text_page(&now, 2 * pfn + 1, "cow");
	}
	saved_ask(&was, NULL);
	saved_ask(&now, NULL);
	ck_assert_int_eq(pagedet_diff(was.it, now.it, NULL, &diff), 0);
	ck_assert_int_eq(pagedet_diff_next(diff, change, before, after, 1), 1);
	id = before[0].alloc_comm;
	ck_assert_str_eq(pagedet_diff_string(diff, 0, id, NULL), "cat");
	got = pagedet_diff_next(diff, many, NULL, NULL, PDET_COUNT(many));
	ck_assert_int_gt(got, 0);
	ck_assert_int_lt(got, 2 * SAVED_ROWS - 1);
	ck_assert_ptr_nonnull(pagedet_diff_string(diff, 0, id, NULL));
	ck_assert_int_gt(pagedet_diff_next(diff, change, before, after, 2), 0);
	ck_assert_ptr_null(pagedet_diff_string(diff, 0, id, NULL));
	clean();
}
END_TEST

START_TEST(strings_that_were_to_be_kept)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct saved *const sides[] = { &was, &now };
	unsigned i;

	begin_texts();
	text_page(&was, 5, "cat");
	text_page(&now, 5, "dog");
	q.target = PAGEDET_TARGET_SCAN;
	q.options = PAGEDET_Q_CHEAP | PAGEDET_Q_KEEP_STRINGS;
	for (i = 0; i < 2; i++) {
		saved_ask(sides[i], NULL);
		pagedet_iter_free(sides[i]->it);
		ck_assert_int_eq(pagedet_query(sides[i]->pd, &q,
					       &sides[i]->it), 0);
	}
	compare();
	only(5, BIT(OWNER));
	ck_assert_str_eq(names[1], "dog");
	clean();
}
END_TEST

/* The output of pagedet_emit_diff() for the rest; NULL: it refuses. */
static struct pagedet_emitter *emit_rest(uint32_t format)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emitter *e;

	o.format = format;
	ck_assert_int_eq(pagedet_emitter_new(was.pd, &o, &e), 0);
	if (pagedet_emit_diff(e, diff) == 0)
		return e;
	pagedet_emitter_free(e);
	return NULL;
}

START_TEST(what_was_read_is_not_written)
{
	struct pagedet_emitter *e;
	char expected[512], comm[301];
	size_t len;

	memset(comm, 'c', sizeof(comm) - 1);
	memcpy(comm, "a,\"b\n", 5);
	comm[sizeof(comm) - 1] = '\0';
	begin_texts();
	text_page(&was, 5, "cat");
	text_page(&now, 5, "dog");
	text_page(&was, 6, "cat");
	text_page(&now, 6, comm);
	saved_ask(&was, NULL);
	saved_ask(&now, NULL);
	ck_assert_int_eq(pagedet_diff(was.it, now.it, NULL, &diff), 0);
	ck_assert_int_eq(pagedet_diff_next(diff, change, NULL, NULL, 1), 1);
	ck_assert_ptr_null(emit_rest(PAGEDET_FORMAT_SVG));
	ck_assert_ptr_nonnull(strstr(pagedet_error(was.pd), "read already"));
	e = emit_rest(PAGEDET_FORMAT_CSV);
	ck_assert_ptr_nonnull(e);
	/* A whole text, unchanged. */
	snprintf(expected, sizeof(expected), "change,pfn,field,was,now,"
		 "pages\nowner,6,alloc_comm,cat,\"a,\"\"b\n%s\",1\n",
		 comm + 5);
	ck_assert_str_eq(pagedet_emitter_text(e, &len), expected);
	pagedet_emitter_free(e);
	clean();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("diff");

	unit_test(s, nothing_changed);
	unit_test(s, pages_come_and_go);
	unit_test(s, a_field_changes);
	unit_test(s, several_have_the_first_as_name);
	unit_test(s, what_is_not_known_is_no_change);
	unit_test(s, counts_of_unknown_kind);
	unit_test(s, hashes_of_different_keys);
	unit_test(s, pages_move);
	unit_test(s, pages_may_have_moved);
	unit_test(s, nothing_moves_unless_all_was_seen);
	unit_test(s, too_many_are_not_looked_for);
	unit_test(s, a_part_proves_nothing);
	unit_test(s, what_cannot_be_compared);
	unit_test(s, rows_without_a_frame);
	unit_test(s, callers_with_short_rows);
	unit_test(s, addresses);
	unit_test(s, addresses_of_two_hosts);
	unit_test(s, rows_that_are_too_many_to_sort);
	unit_test(s, files);
	unit_loop(s, the_same_is_the_same, 4);
	unit_loop(s, turned_round_it_is_the_reverse, 4);
	unit_loop(s, every_edit_is_found_once, 4);
	unit_test(s, numbers_that_came_once);
	unit_test(s, names_of_changes);
	unit_test(s, what_was_asked_is_asked_again);
	unit_test(s, a_stale_id_is_none);
	unit_test(s, strings_that_were_to_be_kept);
	unit_test(s, what_was_read_is_not_written);
	return unit_main(s);
}
