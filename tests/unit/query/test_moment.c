/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * query/ on a source whose pages become others between two readings: a row is
 * of one moment, or says that it is not.
 */
#include "../ask.h"

#include "kernel/page/kpf.h"

#define PAGES 64		/* fewer than a batch has: one call reads all */
#define FREE PAGEDET_KIND_FREE
#define ANON PAGEDET_KIND_ANON

static struct pdet_fields word_of_flags(void)
{
	return FIELDS(F(FLAGS), F(FLAGS_KNOWN), F(KIND));
}

static void ask_changing(struct ask *a,
			 uint64_t (*says)(uint64_t, unsigned, int))
{
	ask_init(a);
	ask_source(a, PAGEDET_SOURCE_PROCFS, PAGEDET_COST_FREE,
		   FIELDS(F(PFN), F(FLAGS), F(FLAGS_KNOWN), F(KIND),
			  F(MAPCOUNT), F(MEMCG_INO), F(CONTENT)), NULL);
	a->fake[0].plan.frames = PAGES;
	a->fake[0].plan.says = says;
	a->fake[0].plan.word = word_of_flags();
}

/* A page that is free, or one of a task that is mapped so often. */
static uint64_t free_or_mapped(unsigned field, bool is_free, uint64_t maps)
{
	switch (field) {
	case F(KIND):
		return is_free ? FREE : ANON;
	case F(FLAGS):
		return is_free ? KPF(BUDDY) : KPF(ANON) | KPF(MMAP) | KPF(LRU);
	case F(FLAGS_KNOWN):
		return ~(uint64_t)0;
	case F(MAPCOUNT):
	case F(MEMCG_INO):
		return maps;
	default:
		return 0;
	}
}

static uint64_t note_of(const struct pdet_batch *b, uint32_t row)
{
	return pdet_batch_get(b, row, F(NOTES), 0);
}

/* How many rows there are; each is checked with @check. */
static uint64_t each(struct ask *a,
		     void (*check)(const struct pdet_batch *b, uint32_t row))
{
	struct pdet_batch *b;
	uint64_t rows = 0;
	uint32_t i;
	int r;

	while ((r = pdet_iter_step(a->it, &b)) > 0)
		for (i = 0; i < b->n; i++, rows++)
			if (check)
				check(b, i);
	ck_assert_int_eq(r, 0);
	return rows;
}

static struct pdet_cover cover_of(struct ask *a)
{
	struct pdet_cover cover;

	pdet_iter_cover(a->it, &cover);
	return cover;
}

/* A question about what such a source says, and how many rows there are. */
static uint64_t rows_of(uint64_t (*says)(uint64_t, unsigned, int),
			struct pdet_fields wanted,
			void (*check)(const struct pdet_batch *b, uint32_t row))
{
	struct ask a;
	uint64_t rows;

	ask_changing(&a, says);
	must_start(&a, wanted);
	rows = each(&a, check);
	pdet_iter_free(a.it);
	return rows;
}

/* --- fields of one word --- */

static uint64_t freed_after_a_look(uint64_t pfn, unsigned field, int call)
{
	(void)pfn;
	return free_or_mapped(field, call > 1, call == 1);
}

static void is_anon(const struct pdet_batch *b, uint32_t row)
{
	ck_assert_uint_eq(b->value[F(FLAGS)][row],
			  KPF(ANON) | KPF(MMAP) | KPF(LRU));
	ck_assert_uint_eq(note_of(b, row), 0);
}

/* The filter looks at one of them, the rest is shown. */
START_TEST(fields_of_one_word_are_of_one_reading)
{
	static const char *const where[] = { "kind=anon", "flags:lru" };
	struct ask a;

	ask_changing(&a, freed_after_a_look);
	a.q.where = where[_i];
	must_start(&a, FIELDS(F(KIND), F(FLAGS), F(NOTES)));
	ck_assert_uint_eq(each(&a, is_anon), PAGES);
	ck_assert_int_eq(atomic_load(&a.fake[0].fills), 1);
	pdet_iter_free(a.it);
}
END_TEST

/* --- rows that contradict themselves --- */

/* The flags are read before a page is taken, the count behind it. */
static uint64_t taken_after_a_look(uint64_t pfn, unsigned field, int call)
{
	(void)pfn;
	return free_or_mapped(field, call == 1, 1);
}

static void is_whole(const struct pdet_batch *b, uint32_t row)
{
	ck_assert_uint_eq(b->value[F(KIND)][row], ANON);
	ck_assert_uint_eq(b->value[F(MAPCOUNT)][row], 1);
	ck_assert_uint_eq(note_of(b, row), 0);
}

START_TEST(what_is_free_and_mapped_is_read_again)
{
	static const struct {
		const char *where;
		uint64_t rows;
	} ask[] = {
		{ NULL, PAGES },
		/* both are read for the filter */
		{ "kind=free and mapcount>0", 0 },
		{ "kind=anon or mapcount=1", PAGES },
		{ "kind=free or kind=anon", PAGES },
		/* the kind first, the count for what is left */
		{ "kind=free", 0 },
		{ "flags:buddy", 0 },
		/* and the other way round */
		{ "mapcount>0", PAGES },
	};
	struct ask a;

	ask_changing(&a, taken_after_a_look);
	a.q.where = ask[_i].where;
	must_start(&a, FIELDS(F(KIND), F(FLAGS), F(MAPCOUNT), F(NOTES)));
	ck_assert_uint_eq(each(&a, is_whole), ask[_i].rows);
	ck_assert_int_le(atomic_load(&a.fake[0].fills), 3);
	ck_assert_uint_eq(cover_of(&a).torn, 0);
	ck_assert_uint_eq(cover_of(&a).undecided, 0);
	pdet_iter_free(a.it);
}
END_TEST

/* Charged when the filter read it, and free since: the filter does not hold of
 * what is shown. */
static uint64_t freed_between(uint64_t pfn, unsigned field, int call)
{
	(void)pfn;
	return free_or_mapped(field, call > 1, call == 1);
}

START_TEST(the_filter_is_asked_again_of_what_is_shown)
{
	struct ask a;

	ask_changing(&a, freed_between);
	a.q.where = "memcg_ino>0";
	must_start(&a, FIELDS(F(KIND), F(MEMCG_INO)));
	ck_assert_uint_eq(each(&a, NULL), 0);
	ck_assert_int_eq(atomic_load(&a.fake[0].fills), 3);
	pdet_iter_free(a.it);
}
END_TEST

static uint64_t every_eighth_is_odd(uint64_t pfn, unsigned field, int call)
{
	return free_or_mapped(field, call == 1 && pfn % 8 == 0, 1);
}

START_TEST(only_those_are_read_again)
{
	struct ask a;

	ask_changing(&a, every_eighth_is_odd);
	must_start(&a, FIELDS(F(KIND), F(MAPCOUNT), F(NOTES)));
	ck_assert_uint_eq(each(&a, is_whole), PAGES);
	ck_assert_int_eq(atomic_load(&a.fake[0].rows), PAGES + PAGES / 8);
	pdet_iter_free(a.it);
}
END_TEST

static uint64_t never_the_same(uint64_t pfn, unsigned field, int call)
{
	(void)pfn;
	return free_or_mapped(field, true, (uint64_t)call);
}

static void is_torn(const struct pdet_batch *b, uint32_t row)
{
	ck_assert_uint_eq(note_of(b, row), PAGEDET_NOTE(PAGEDET_NOTE_TORN));
}

START_TEST(what_never_settles_is_torn)
{
	struct ask a;

	ask_changing(&a, never_the_same);
	a.q.where = _i ? "notes:torn" : "kind=free";
	must_start(&a, FIELDS(F(KIND), F(MAPCOUNT), F(NOTES)));
	ck_assert_uint_eq(each(&a, is_torn), PAGES);
	ck_assert_uint_eq(cover_of(&a).torn, PAGES);
	ck_assert_uint_eq(cover_of(&a).undecided, 0);
	/* and there is an end to it */
	ck_assert_int_le(atomic_load(&a.fake[0].fills), 10);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(what_is_torn_is_counted_also_without_notes)
{
	struct ask a;

	ask_changing(&a, never_the_same);
	must_start(&a, FIELDS(F(KIND), F(MAPCOUNT)));
	ck_assert_uint_eq(each(&a, NULL), PAGES);
	ck_assert_uint_eq(cover_of(&a).torn, PAGES);
	pdet_iter_free(a.it);
}
END_TEST

static uint64_t always_odd(uint64_t pfn, unsigned field, int call)
{
	(void)pfn;
	(void)call;
	return free_or_mapped(field, true, 3);
}

static void is_odd(const struct pdet_batch *b, uint32_t row)
{
	ck_assert_uint_eq(b->value[F(KIND)][row], FREE);
	ck_assert_uint_eq(b->value[F(MAPCOUNT)][row], 3);
	ck_assert_uint_eq(note_of(b, row), 0);
}

/* The kernel is broken, and the row says how: it is of one moment. */
START_TEST(what_stays_is_a_fact)
{
	struct ask a;

	ask_changing(&a, always_odd);
	a.q.where = "kind=free and mapcount>0";
	must_start(&a, FIELDS(F(KIND), F(MAPCOUNT), F(NOTES)));
	ck_assert_uint_eq(each(&a, is_odd), PAGES);
	ck_assert_uint_eq(cover_of(&a).torn, 0);
	pdet_iter_free(a.it);
}
END_TEST

/* As one that has answered when the row was made. */
START_TEST(what_is_said_once_is_kept)
{
	struct ask a;

	ask_changing(&a, always_odd);
	a.fake[0].plan.quiet_from = 2;
	must_start(&a, FIELDS(F(KIND), F(MAPCOUNT), F(NOTES)));
	ck_assert_uint_eq(each(&a, is_odd), PAGES);
	pdet_iter_free(a.it);
}
END_TEST

static uint64_t charged_after_a_look(uint64_t pfn, unsigned field, int call)
{
	if (field == F(MEMCG_INO))
		return 7;
	return free_or_mapped(field, call == 1, pfn % 2);
}

static void is_charged(const struct pdet_batch *b, uint32_t row)
{
	ck_assert_uint_eq(b->value[F(KIND)][row], ANON);
	ck_assert_uint_eq(b->value[F(MEMCG_INO)][row], 7);
}

START_TEST(what_is_free_is_charged_to_nobody)
{
	ck_assert_uint_eq(rows_of(charged_after_a_look,
				  FIELDS(F(KIND), F(MEMCG_INO)), is_charged),
			  PAGES);
}
END_TEST

/* --- counts of two sources --- */

static uint64_t mapped_between(uint64_t pfn, unsigned field, int call)
{
	(void)pfn;
	return free_or_mapped(field, false, call == 1 ? 1 : 2);
}

static uint64_t two_references(uint64_t pfn, unsigned field, int call)
{
	(void)pfn;
	(void)field;
	(void)call;
	return 2;
}

static uint64_t mapped_once(uint64_t pfn, unsigned field, int call)
{
	(void)pfn;
	(void)call;
	return free_or_mapped(field, false, 1);
}

static uint64_t more_references(uint64_t pfn, unsigned field, int call)
{
	(void)pfn;
	(void)field;
	return (uint64_t)call + 2;
}

static uint64_t count_rows(uint64_t (*flags)(uint64_t, unsigned, int),
			   uint64_t (*references)(uint64_t, unsigned, int),
			   void (*check)(const struct pdet_batch *b,
					 uint32_t row))
{
	struct ask a;
	uint64_t rows;

	ask_changing(&a, flags);
	ask_source(&a, PAGEDET_SOURCE_BPF, PAGEDET_COST_READ,
		   FIELDS(F(REFCOUNT)), NULL);
	a.fake[1].plan.frames = PAGES;
	a.fake[1].plan.says = references;
	must_start(&a, FIELDS(F(KIND), F(FLAGS), F(MAPCOUNT), F(REFCOUNT),
			      F(NOTES)));
	rows = each(&a, check);
	pdet_iter_free(a.it);
	return rows;
}

static void is_mapped_twice(const struct pdet_batch *b, uint32_t row)
{
	ck_assert_uint_eq(b->value[F(MAPCOUNT)][row], 2);
	ck_assert_uint_eq(b->value[F(REFCOUNT)][row], 2);
	ck_assert_uint_eq(note_of(b, row), 0);
}

START_TEST(counts_are_of_one_moment)
{
	ck_assert_uint_eq(count_rows(mapped_between, two_references,
				     is_mapped_twice), PAGES);
}
END_TEST

static void is_held(const struct pdet_batch *b, uint32_t row)
{
	ck_assert_uint_eq(b->value[F(MAPCOUNT)][row], 1);
	ck_assert_uint_eq(b->value[F(REFCOUNT)][row], 2);
	ck_assert_uint_eq(note_of(b, row), 0);
}

START_TEST(references_that_stay_are_a_fact)
{
	ck_assert_uint_eq(count_rows(mapped_once, two_references, is_held),
			  PAGES);
}
END_TEST

START_TEST(references_that_never_settle_are_torn)
{
	ck_assert_uint_eq(count_rows(mapped_once, more_references, is_torn),
			  PAGES);
}
END_TEST

static uint64_t one_word_odd(uint64_t pfn, unsigned field, int call)
{
	static const uint64_t odd[] = {
		KPF(BUDDY) | KPF(LRU), KPF(BUDDY) | KPF(ANON),
		KPF(BUDDY) | KPF(SLAB), KPF(SLAB) | KPF(LRU),
	};
	const uint64_t flags = odd[pfn % PDET_COUNT(odd)];

	if (call > 1)
		return free_or_mapped(field, false, 1);
	if (field == F(FLAGS))
		return flags;
	return field == F(KIND) ? pdet_kpf_kind(flags) : ~(uint64_t)0;
}

START_TEST(one_word_can_contradict_itself)
{
	ck_assert_uint_eq(rows_of(one_word_odd,
				  FIELDS(F(KIND), F(FLAGS), F(NOTES)), is_anon),
			  PAGES);
}
END_TEST

static void is_anon_group(const struct pdet_batch *b, uint32_t row)
{
	ck_assert_uint_eq(b->value[F(KIND)][row], ANON);
	ck_assert_uint_eq(b->value[F(PAGES)][row], PAGES);
}

START_TEST(groups_are_of_one_moment)
{
	static const uint32_t by[] = { F(KIND), F(MAPCOUNT) };
	struct ask a;

	ask_changing(&a, taken_after_a_look);
	a.q.group_by = by;
	a.q.n_group_by = PDET_COUNT(by);
	must_start(&a, FIELDS(F(PFN)));
	ck_assert_uint_eq(each(&a, is_anon_group), 1);
	pdet_iter_free(a.it);
}
END_TEST

static void is_without_bytes(const struct pdet_batch *b, uint32_t row)
{
	ck_assert_uint_eq(pdet_batch_state(b, row, F(CONTENT)), PAGEDET_RACED);
}

/* They were read of a page that was on its way. */
START_TEST(bytes_of_another_page_are_not_shown)
{
	ck_assert_uint_eq(rows_of(taken_after_a_look,
				  FIELDS(F(KIND), F(MAPCOUNT), F(CONTENT)),
				  is_without_bytes),
			  PAGES);
}
END_TEST

/* --- what is known last --- */

START_TEST(a_filter_may_look_at_what_is_known_last)
{
	static const struct {
		const char *where;
		uint64_t rows;
	} ask[] = {
		{ "pages=1", PAGES }, { "pages>1", 0 }, { "time_ns>1", PAGES },
		{ "!notes:torn", PAGES }, { "notes:torn", 0 },
		{ "notes:torn or pages=1", PAGES },
	};
	struct ask a;

	ask_init(&a);
	a.q.where = ask[_i].where;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)),
		   NULL);
	a.fake[0].plan.frames = PAGES;
	must_start(&a, FIELDS(F(PFN)));
	ck_assert_uint_eq(each(&a, NULL), ask[_i].rows);
	ck_assert_uint_eq(cover_of(&a).undecided, 0);
	pdet_iter_free(a.it);
}
END_TEST

static void is_torn_estimate(const struct pdet_batch *b, uint32_t row)
{
	ck_assert_uint_eq(note_of(b, row), PAGEDET_NOTE(PAGEDET_NOTE_TORN) |
			  PAGEDET_NOTE(PAGEDET_NOTE_ESTIMATED));
}

/* More is noted after the filter was asked for the first time. */
START_TEST(the_first_note_is_not_the_last)
{
	struct ask a;

	ask_changing(&a, never_the_same);
	a.fake[0].plan.notes = PAGEDET_NOTE(PAGEDET_NOTE_ESTIMATED);
	a.q.where = "mapcount>0 and notes:torn";
	must_start(&a, FIELDS(F(KIND), F(MAPCOUNT), F(NOTES)));
	ck_assert_uint_eq(each(&a, is_torn_estimate), PAGES);
	pdet_iter_free(a.it);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("moment");

	unit_loop(s, fields_of_one_word_are_of_one_reading, 2);
	unit_loop(s, what_is_free_and_mapped_is_read_again, 7);
	unit_test(s, the_filter_is_asked_again_of_what_is_shown);
	unit_test(s, only_those_are_read_again);
	unit_loop(s, what_never_settles_is_torn, 2);
	unit_test(s, what_is_torn_is_counted_also_without_notes);
	unit_test(s, what_stays_is_a_fact);
	unit_test(s, what_is_said_once_is_kept);
	unit_test(s, what_is_free_is_charged_to_nobody);
	unit_test(s, counts_are_of_one_moment);
	unit_test(s, references_that_stay_are_a_fact);
	unit_test(s, references_that_never_settle_are_torn);
	unit_test(s, one_word_can_contradict_itself);
	unit_test(s, groups_are_of_one_moment);
	unit_test(s, bytes_of_another_page_are_not_shown);
	unit_loop(s, a_filter_may_look_at_what_is_known_last, 6);
	unit_test(s, the_first_note_is_not_the_last);
	return unit_main(s);
}
