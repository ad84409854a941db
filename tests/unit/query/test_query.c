/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests query/ alone, on fake sources: chains, filters, groups, runs, order,
 * threads, limits, and failures in the middle. Over random plans, every cell
 * has exactly one state and one source.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../ask.h"
#include "../unit.h"

static unsigned third_is_excluded(uint64_t pfn, unsigned field)
{
	(void)field;
	return pfn % 3 == 0 ? PAGEDET_EXCLUDED : 0;
}

static unsigned fifth_is_corrupt(uint64_t pfn, unsigned field)
{
	(void)field;
	return pfn % 5 == 0 ? PAGEDET_CORRUPT : 0;
}

static unsigned all_are_excluded(uint64_t pfn, unsigned field)
{
	(void)pfn;
	(void)field;
	return PAGEDET_EXCLUDED;
}

START_TEST(every_frame_once_and_in_order)
{
	static const unsigned threads[] = { 1, 2, 5 };
	struct pdet_batch *b;
	struct ask a;
	uint64_t next = 0;
	uint32_t i;
	int r;

	ask_init(&a);
	a.q.threads = threads[_i];
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND),
		   F(MAPCOUNT)), NULL);
	must_start(&a, FIELDS(F(PFN), F(MAPCOUNT)));
	while ((r = pdet_iter_step(a.it, &b)) > 0)
		for (i = 0; i < b->n; i++, next++) {
			ck_assert_uint_eq(b->value[F(PFN)][i], next);
			ck_assert_uint_eq(b->value[F(MAPCOUNT)][i],
					  fake_value(next, F(MAPCOUNT)));
		}
	ck_assert_int_eq(r, 0);
	ck_assert_uint_eq(next, FRAMES);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(a_later_source_is_asked_only_for_what_is_missing)
{
	struct pdet_fields both = FIELDS(F(PFN), F(KIND), F(REFCOUNT));
	struct pdet_batch *b;
	struct ask a;
	uint32_t i;

	ask_init(&a);
	ask_source(&a, PAGEDET_SOURCE_KCORE, PAGEDET_COST_READ, both, NULL);
	ask_source(&a, PAGEDET_SOURCE_VMCORE, PAGEDET_COST_FREE, both,
		   third_is_excluded);
	must_start(&a, FIELDS(F(PFN), F(REFCOUNT)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++) {
			uint64_t pfn = b->value[F(PFN)][i];
			unsigned source = b->cell[F(REFCOUNT)][i] >> 8;

			ck_assert_uint_eq(pdet_batch_state(b, i, F(REFCOUNT)),
					  PAGEDET_HAVE);
			ck_assert_uint_eq(b->value[F(REFCOUNT)][i],
					  fake_value(pfn, F(REFCOUNT)));
			ck_assert_uint_eq(source, pfn % 3 ?
					  PAGEDET_SOURCE_VMCORE :
					  PAGEDET_SOURCE_KCORE);
		}
	/* A third of the frames, rounded up. */
	ck_assert_int_eq(atomic_load(&a.fake[0].rows), (FRAMES + 2) / 3);
	ck_assert_int_eq(atomic_load(&a.fake[1].rows), FRAMES);
	pdet_iter_free(a.it);
}
END_TEST

static unsigned odd_are_lost(uint64_t pfn, unsigned field)
{
	return pfn % 2 && field == F(REFCOUNT) ? PAGEDET_EXCLUDED : 0;
}

/* Notes, such as an estimate, come only with the answers that were used. */
START_TEST(notes_come_with_answers)
{
	const struct pdet_fields both = FIELDS(F(PFN), F(REFCOUNT));
	const uint64_t estimated = PAGEDET_NOTE(PAGEDET_NOTE_ESTIMATED);
	struct pdet_batch *b;
	uint64_t seen = 0;
	struct ask a;
	uint32_t i;

	ask_init(&a);
	ask_source(&a, PAGEDET_SOURCE_KCORE, PAGEDET_COST_READ, both,
		   odd_are_lost);
	ask_source(&a, PAGEDET_SOURCE_VMCORE, PAGEDET_COST_FREE, both,
		   third_is_excluded);
	a.fake[0].plan.notes = estimated;
	must_start(&a, FIELDS(F(PFN), F(REFCOUNT), F(NOTES)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++, seen++) {
			uint64_t pfn = b->value[F(PFN)][i];

			ck_assert_uint_eq(pdet_batch_get(b, i, F(NOTES), 0),
					  pfn % 3 == 0 && pfn % 2 == 0 ?
					  estimated : 0);
		}
	ck_assert_uint_eq(seen, FRAMES);
	pdet_iter_free(a.it);
}
END_TEST

static unsigned pins_are_unsafe(uint64_t pfn, unsigned field)
{
	(void)pfn;
	return field == F(PINCOUNT) ? PAGEDET_UNSAFE : 0;
}

START_TEST(a_later_source_says_why)
{
	struct pdet_batch *b;
	struct ask a;
	uint32_t i;

	/*
	 * For a field that no other source knows, together with a repeated one.
	 */
	ask_init(&a);
	ask_source(&a, PAGEDET_SOURCE_PROCFS, PAGEDET_COST_FREE,
		   FIELDS(F(PFN), F(KIND), F(REFCOUNT)), third_is_excluded);
	ask_source(&a, PAGEDET_SOURCE_KCORE, PAGEDET_COST_READ,
		   FIELDS(F(REFCOUNT), F(PINCOUNT)), pins_are_unsafe);
	must_start(&a, FIELDS(F(PFN), F(REFCOUNT), F(PINCOUNT)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++) {
			ck_assert_uint_eq(pdet_batch_state(b, i, F(REFCOUNT)),
					  PAGEDET_HAVE);
			ck_assert_uint_eq(pdet_batch_state(b, i, F(PINCOUNT)),
					  PAGEDET_UNSAFE);
		}
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(who_is_noticed_comes_alone_or_not_at_all)
{
	struct pdet_fields both = FIELDS(F(PFN), F(KIND), F(REFCOUNT));
	struct pdet_batch *b;
	struct ask a;
	uint32_t i;

	ask_init(&a);
	ask_source(&a, PAGEDET_SOURCE_PROCFS, PAGEDET_COST_INTRUSIVE, both,
		   NULL);
	if (_i)
		ask_source(&a, PAGEDET_SOURCE_KCORE, PAGEDET_COST_CONTENT,
			   both, third_is_excluded);
	must_start(&a, FIELDS(F(PFN), F(REFCOUNT)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++)
			ck_assert_uint_eq(
				pdet_batch_state(b, i, F(REFCOUNT)),
				!_i || b->value[F(PFN)][i] % 3 ?
					PAGEDET_HAVE : PAGEDET_EXCLUDED);
	ck_assert_int_eq(atomic_load(&a.fake[0].rows), _i ? 0 : FRAMES);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(single_source_does_not_chain)
{
	struct pdet_fields both = FIELDS(F(PFN), F(KIND), F(REFCOUNT));
	struct pdet_batch *b;
	struct ask a;
	uint32_t i;

	ask_init(&a);
	a.q.options = PAGEDET_Q_SINGLE_SOURCE;
	ask_source(&a, PAGEDET_SOURCE_KCORE, PAGEDET_COST_READ, both, NULL);
	ask_source(&a, PAGEDET_SOURCE_VMCORE, PAGEDET_COST_FREE, both,
		   third_is_excluded);
	must_start(&a, FIELDS(F(PFN), F(REFCOUNT)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++)
			ck_assert_uint_eq(
				pdet_batch_state(b, i, F(REFCOUNT)),
				b->value[F(PFN)][i] % 3 ? PAGEDET_HAVE :
							  PAGEDET_EXCLUDED);
	ck_assert_int_eq(atomic_load(&a.fake[0].rows), 0);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(damage_is_not_papered_over)
{
	struct pdet_fields both = FIELDS(F(PFN), F(KIND), F(REFCOUNT));
	struct pdet_batch *b;
	struct ask a;
	uint32_t i;

	/* Corrupt is an answer about the kernel: no other source is asked. */
	ask_init(&a);
	ask_source(&a, PAGEDET_SOURCE_VMCORE, 0, both, fifth_is_corrupt);
	ask_source(&a, PAGEDET_SOURCE_KCORE, 1, both, NULL);
	must_start(&a, FIELDS(F(PFN), F(REFCOUNT)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++)
			ck_assert_uint_eq(
				pdet_batch_state(b, i, F(REFCOUNT)),
				b->value[F(PFN)][i] % 5 ? PAGEDET_HAVE :
							  PAGEDET_CORRUPT);
	ck_assert_int_eq(atomic_load(&a.fake[1].rows), 0);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(nobody_can_is_known_before_the_first_row)
{
	struct pdet_batch *b;
	struct ask a;
	uint32_t i;

	ask_init(&a);
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	must_start(&a, FIELDS(F(PFN), F(SLAB_CACHE)));
	ck_assert_uint_eq(a.it->plan.why[F(SLAB_CACHE)], PAGEDET_NO_KERNEL);
	ck_assert_str_eq(a.it->plan.advice[F(SLAB_CACHE)],
			 "needs CONFIG_FAKE");
	ck_assert_int_eq(pdet_iter_step(a.it, &b), 1);
	for (i = 0; i < b->n; i++)
		ck_assert_uint_eq(pdet_batch_state(b, i, F(SLAB_CACHE)),
				  PAGEDET_NO_KERNEL);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(what_is_not_needed_is_not_asked)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a);
	a.q.options = PAGEDET_Q_HOLES;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0,
		   FIELDS(F(PFN), F(KIND), F(MAPCOUNT)), NULL);
	must_start(&a, FIELDS(F(PFN)));
	while (pdet_iter_step(a.it, &b) > 0)
		;
	ck_assert_int_eq(atomic_load(&a.fake[0].fills), 0);
	pdet_iter_free(a.it);
}
END_TEST

/* Rows that the filter drops cause no further reads. */
START_TEST(filters_come_before_what_they_do_not_look_at)
{
	struct pdet_batch *b;
	struct ask a;
	uint64_t rows = 0;
	uint32_t i;

	ask_init(&a);
	a.q.where = "mapcount<500";
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0,
		   FIELDS(F(PFN), F(KIND), F(MAPCOUNT)), NULL);
	ask_source(&a, PAGEDET_SOURCE_KCORE, 1, FIELDS(F(SLAB_CACHE)), NULL);
	must_start(&a, FIELDS(F(PFN), F(SLAB_CACHE)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++, rows++) {
			char text[32];

			snprintf(text, sizeof(text), "%u of %llu",
				 F(SLAB_CACHE),
				 (unsigned long long)b->value[F(PFN)][i]);
			ck_assert_str_eq(
				pdet_strtab_get(&b->strings,
						b->value[F(SLAB_CACHE)][i],
						NULL), text);
		}
	/* pfn * 100 + 15 < 500 */
	ck_assert_uint_eq(rows, 5);
	ck_assert_int_eq(atomic_load(&a.fake[1].rows), 5);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(what_a_filter_cannot_know_is_counted_and_listed_when_asked)
{
	struct pdet_batch *b;
	struct pdet_cover cover;
	struct ask a;
	uint64_t listed = 0, unknown = (FRAMES + 2) / 3;
	uint32_t i;

	ask_init(&a);
	a.q.where = "mapcount>=0";
	a.q.options = _i ? PAGEDET_Q_UNDECIDED : 0;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0,
		   FIELDS(F(PFN), F(KIND), F(MAPCOUNT)), third_is_excluded);
	must_start(&a, FIELDS(F(PFN), F(NOTES)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++, listed++)
			ck_assert_uint_eq(
				b->value[F(NOTES)][i] >>
					PAGEDET_NOTE_UNDECIDED & 1,
				b->value[F(PFN)][i] % 3 == 0);
	pdet_iter_cover(a.it, &cover);
	ck_assert_uint_eq(cover.undecided, unknown);
	ck_assert_uint_eq(cover.matched, FRAMES - unknown);
	ck_assert_uint_eq(listed, _i ? FRAMES : FRAMES - unknown);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(groups_count_every_page_once)
{
	static const unsigned threads[] = { 1, 3 };
	static const uint32_t by[] = { F(KIND) };
	struct pdet_batch *b;
	struct ask a;
	uint64_t anon = 0, file = 0, other = 0;
	uint32_t i;

	ask_init(&a);
	a.q.threads = threads[_i];
	a.q.group_by = by;
	a.q.n_group_by = 1;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	must_start(&a, FIELDS(F(PFN)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++) {
			uint64_t pages = b->value[F(PAGES)][i];

			if (b->value[F(KIND)][i] == PAGEDET_KIND_ANON)
				anon += pages;
			else if (b->value[F(KIND)][i] == PAGEDET_KIND_FILE)
				file += pages;
			else
				other += pages;
		}
	ck_assert_uint_eq(file, (FRAMES + 2) / 3);
	ck_assert_uint_eq(anon, FRAMES - (FRAMES + 2) / 3);
	ck_assert_uint_eq(other, 0);
	pdet_iter_free(a.it);
}
END_TEST

/* Groups beyond the memory limit spill, but are counted. */
START_TEST(groups_that_do_not_fit_spill)
{
	static const uint32_t by[] = { F(PFN) };
	struct pdet_cover cover;
	struct pdet_batch *b;
	struct ask a;
	uint64_t pages = 0;
	uint32_t i;

	ask_init(&a);
	a.q.string_bytes = 65536;
	a.q.group_by = by;
	a.q.n_group_by = 1;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	must_start(&a, FIELDS(F(PFN)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++)
			pages += b->value[F(PAGES)][i];
	pdet_iter_cover(a.it, &cover);
	ck_assert_uint_gt(pages, 0);
	ck_assert_uint_gt(cover.spilled, 0);
	ck_assert_uint_eq(pages + cover.spilled, FRAMES);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(runs_fold_neighbours_across_batches)
{
	struct pdet_batch *b;
	struct ask a;
	uint64_t next = 0, rows = 0;
	uint32_t i;

	/* Everything is equal: one run. */
	ask_init(&a);
	a.q.options = PAGEDET_Q_RUNS;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0,
		   FIELDS(F(PFN), F(KIND), F(REFCOUNT)), all_are_excluded);
	must_start(&a, FIELDS(F(PFN), F(REFCOUNT)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++, rows++) {
			ck_assert_uint_eq(b->value[F(PFN)][i], next);
			next += b->value[F(PAGES)][i];
		}
	ck_assert_uint_eq(next, FRAMES);
	ck_assert_uint_eq(rows, 1);
	pdet_iter_free(a.it);

	/* The kind changes with every third frame. */
	next = rows = 0;
	ask_init(&a);
	a.q.options = PAGEDET_Q_RUNS;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	must_start(&a, FIELDS(F(PFN), F(KIND)));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++, rows++) {
			uint64_t pages = b->value[F(PAGES)][i];

			ck_assert_uint_eq(b->value[F(PFN)][i], next);
			ck_assert_uint_eq(pages, next % 3 ? PDET_MIN(
				(uint64_t)2, FRAMES - next) : 1);
			next += pages;
		}
	ck_assert_uint_eq(next, FRAMES);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(a_limit_is_kept)
{
	struct pdet_batch *b;
	struct ask a;
	uint64_t rows = 0;

	ask_init(&a);
	a.q.limit = 4097;
	a.q.threads = _i + 1;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	must_start(&a, FIELDS(F(PFN), F(KIND)));
	while (pdet_iter_step(a.it, &b) > 0)
		rows += b->n;
	ck_assert_uint_eq(rows, 4097);
	pdet_iter_free(a.it);
}
END_TEST

/*
 * A source fails in the middle: earlier rows are right, the error and its text
 * come after them, and nothing hangs.
 */
START_TEST(failures_come_after_what_was_read)
{
	struct pdet_batch *b;
	struct ask a;
	uint64_t next = 0;
	uint32_t i;
	int r;

	ask_init(&a);
	a.q.threads = _i % 2 ? 3 : 1;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	a.fake[0].plan.fails_at = _i / 2 + 1;
	a.fake[0].plan.error = EIO;
	must_start(&a, FIELDS(F(PFN), F(KIND)));
	while ((r = pdet_iter_step(a.it, &b)) > 0)
		for (i = 0; i < b->n; i++, next++) {
			ck_assert_uint_eq(b->value[F(PFN)][i], next);
			ck_assert_uint_eq(b->value[F(KIND)][i],
					  fake_value(next, F(KIND)));
		}
	ck_assert_int_eq(r, -EIO);
	ck_assert_str_eq(a.env.error, "cannot read frames: made to fail");
	pdet_iter_free(a.it);
}
END_TEST

/* Runs have rows left at the end, which come before the failure. */
START_TEST(failures_come_after_runs)
{
	struct pdet_batch *b;
	struct ask a;
	uint64_t next = 0;
	uint32_t i;
	int r;

	ask_init(&a);
	a.q.options = PAGEDET_Q_RUNS;
	a.q.threads = _i ? 3 : 1;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	a.fake[0].plan.fails_at = 2;
	a.fake[0].plan.error = EIO;
	must_start(&a, FIELDS(F(PFN), F(KIND)));
	while ((r = pdet_iter_step(a.it, &b)) > 0)
		for (i = 0; i < b->n; i++) {
			ck_assert_uint_eq(b->value[F(PFN)][i], next);
			next += b->value[F(PAGES)][i];
		}
	ck_assert_int_eq(r, -EIO);
	ck_assert_str_eq(a.env.error, "cannot read frames: made to fail");
	ck_assert_uint_lt(next, FRAMES);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(cancel_stops_and_says_so)
{
	struct pdet_batch *b;
	struct ask a;
	int r;

	ask_init(&a);
	a.q.threads = _i + 1;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	must_start(&a, FIELDS(F(PFN), F(KIND)));
	ck_assert_int_eq(pdet_iter_step(a.it, &b), 1);
	pdet_iter_stop(a.it, ECANCELED, NULL);
	while ((r = pdet_iter_step(a.it, &b)) > 0)
		;
	ck_assert_int_eq(r, -ECANCELED);
	pdet_iter_free(a.it);
}
END_TEST

static pthread_t caller;
static struct pdet_iter *held;
static atomic_bool is_held, may_go;

/* Cancels the query, and holds a thread of the library in its batch. */
static unsigned holds_thread(uint64_t pfn, unsigned field)
{
	unsigned i;

	(void)field;
	if (pfn < FRAMES / 2 || pthread_equal(pthread_self(), caller) ||
	    atomic_exchange(&is_held, true))
		return 0;
	pdet_iter_stop(held, ECANCELED, NULL);
	/* The caller may wait for this batch. */
	for (i = 0; i < 100 && !atomic_load(&may_go); i++)
		usleep(1000);
	return 0;
}

/* The batch that a thread fills at the moment is not delivered. */
START_TEST(a_walk_resumes_behind_the_last_row)
{
	struct pdet_batch *b;
	uint64_t next = 0;
	struct ask a;
	int r;

	caller = pthread_self();
	atomic_store(&is_held, false);
	atomic_store(&may_go, false);
	ask_init(&a);
	a.q.threads = 2;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)),
		   holds_thread);
	must_start(&a, FIELDS(F(PFN), F(KIND)));
	held = a.it;
	while ((r = pdet_iter_step(a.it, &b)) > 0) {
		next = b->value[F(PFN)][b->n - 1] + 1;
		usleep(1000);
	}
	/* The caller may have filled all batches itself. */
	if (atomic_load(&is_held)) {
		ck_assert_int_eq(r, -ECANCELED);
		ck_assert_uint_eq(a.it->resume, next);
	}
	atomic_store(&may_go, true);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(what_is_complete_has_nothing_to_resume)
{
	struct pdet_batch *b;
	uint64_t next = 0;
	struct ask a;

	ask_init(&a);
	a.q.threads = _i + 1;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	must_start(&a, FIELDS(F(PFN), F(KIND)));
	while (next < FRAMES) {
		ck_assert_int_eq(pdet_iter_step(a.it, &b), 1);
		next = b->value[F(PFN)][b->n - 1] + 1;
	}
	pdet_iter_stop(a.it, ECANCELED, NULL);
	if (pdet_iter_step(a.it, &b) < 0)
		ck_assert_uint_eq(a.it->resume, FRAMES);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(a_deadline_ends_the_walk)
{
	struct pdet_batch *b;
	struct ask a;
	int r;

	ask_init(&a);
	a.q.threads = _i + 1;
	a.q.deadline_ns = 1;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	must_start(&a, FIELDS(F(PFN), F(KIND)));
	while ((r = pdet_iter_step(a.it, &b)) > 0)
		;
	ck_assert_int_eq(r, -ETIMEDOUT);
	pdet_iter_free(a.it);
}
END_TEST

/* An iterator that is freed early must end its threads. */
START_TEST(an_iterator_may_be_left_half_way)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a);
	a.q.threads = 4;
	ask_source(&a, PAGEDET_SOURCE_PROCFS, 0, FIELDS(F(PFN), F(KIND)), NULL);
	must_start(&a, FIELDS(F(PFN), F(KIND)));
	if (_i)
		ck_assert_int_eq(pdet_iter_step(a.it, &b), 1);
	pdet_iter_free(a.it);
}
END_TEST

static uint64_t seed = 88172645463325252u;

static unsigned random_below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed >> 11) % n);
}

/* Any loss, by frame and field. */
static unsigned anything(uint64_t pfn, unsigned field)
{
	static const unsigned states[] = {
		0, 0, 0, PAGEDET_NONE, PAGEDET_UNSUPPORTED, PAGEDET_RACED,
		PAGEDET_EXCLUDED, PAGEDET_CORRUPT, PAGEDET_IO,
		PAGEDET_NO_MEMORY, PAGEDET_NO_ACCESS, PAGEDET_UNSAFE,
	};

	return states[(pfn * 2654435761u + field * 40503u) % 12];
}

static struct pdet_fields random_fields(void)
{
	struct pdet_fields set = { { 0, 0 } };
	unsigned i, n = 1 + random_below(12);

	for (i = 0; i < n; i++)
		pdet_fields_add(&set, random_below(PDET_FIELDS));
	return set;
}

START_TEST(every_cell_has_one_state_and_a_source)
{
	unsigned round;

	seed += (unsigned)_i * 7919;
	for (round = 0; round < 25; round++) {
		struct pdet_fields wanted = random_fields();
		struct pdet_fields one = random_fields();
		struct pdet_fields two = random_fields();
		struct pdet_batch *b;
		struct ask a;
		uint32_t i;
		unsigned f;
		int r;

		ask_init(&a);
		a.q.threads = 1 + random_below(3);
		a.q.limit = 3000;
		ask_source(&a, PAGEDET_SOURCE_VMCORE, random_below(3), one,
			   anything);
		ask_source(&a, PAGEDET_SOURCE_KCORE, random_below(3), two,
			   random_below(2) ? anything : NULL);
		must_start(&a, wanted);
		while ((r = pdet_iter_step(a.it, &b)) > 0)
			pdet_fields_for(f, &a.it->plan.wanted)
				for (i = 0; i < b->n; i++) {
					uint16_t cell = b->cell[f][i];
					unsigned state = cell & 0xff;

					ck_assert_ptr_nonnull(
						pdet_state_name(state));
					ck_assert_uint_ne(state,
							  PAGEDET_NOT_ASKED);
					if (state <= PAGEDET_NONE)
						ck_assert_uint_ne(cell >> 8, 0);
					else
						ck_assert_uint_eq(
							b->value[f][i], 0);
				}
		ck_assert_int_eq(r, 0);
		pdet_iter_free(a.it);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("query");

	unit_loop(s, every_frame_once_and_in_order, 3);
	unit_test(s, a_later_source_is_asked_only_for_what_is_missing);
	unit_test(s, a_later_source_says_why);
	unit_loop(s, who_is_noticed_comes_alone_or_not_at_all, 2);
	unit_test(s, notes_come_with_answers);
	unit_test(s, single_source_does_not_chain);
	unit_test(s, damage_is_not_papered_over);
	unit_test(s, nobody_can_is_known_before_the_first_row);
	unit_test(s, what_is_not_needed_is_not_asked);
	unit_test(s, filters_come_before_what_they_do_not_look_at);
	unit_loop(s, what_a_filter_cannot_know_is_counted_and_listed_when_asked,
		  2);
	unit_loop(s, groups_count_every_page_once, 2);
	unit_test(s, groups_that_do_not_fit_spill);
	unit_test(s, runs_fold_neighbours_across_batches);
	unit_loop(s, a_limit_is_kept, 2);
	unit_loop(s, failures_come_after_what_was_read, 10);
	unit_loop(s, failures_come_after_runs, 2);
	unit_loop(s, cancel_stops_and_says_so, 2);
	unit_loop(s, a_walk_resumes_behind_the_last_row, 20);
	unit_loop(s, what_is_complete_has_nothing_to_resume, 2);
	unit_loop(s, a_deadline_ends_the_walk, 2);
	unit_loop(s, an_iterator_may_be_left_half_way, 2);
	unit_loop(s, every_cell_has_one_state_and_a_source, 4);
	return unit_main(s);
}
