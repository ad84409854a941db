/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests which of two sources is asked first: one is ready at once but does not
 * know every page's kind, the other one starts slowly and then knows
 * everything. A walk of many pages begins with the second one. A look-up begins
 * with the first, and starts the second only for what is left.
 */
#include <errno.h>

#include "../fake.h"
#include "../unit.h"

#define F(name) PAGEDET_FIELD_##name
#define FRAMES 20000
#define BULK (1u << PAGEDET_TARGET_SCAN | 1u << PAGEDET_TARGET_PFN)

enum { FILES, MEMORY };

static char no_root[] = "";

struct ask {
	struct pdet_env env;
	struct fake fake[2];
	struct pdet_backend *list[2];
	struct fake_plan plan[2];
	struct pagedet_query q;
	struct pagedet_item item;
	struct pdet_iter *it;
};

static void add(struct pdet_fields *set, const uint8_t *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		pdet_fields_add(set, list[i]);
}

static bool odd_are_unsure(uint64_t pfn)
{
	return pfn % 2;
}

static bool all_are_unsure(uint64_t pfn)
{
	(void)pfn;
	return true;
}

/* The files do not know the path of every third page. */
static unsigned loses_paths(uint64_t pfn, unsigned field)
{
	return field == F(INODE) && pfn % 3 == 0 ? PAGEDET_UNSUPPORTED : 0;
}

static unsigned loses_thirds(uint64_t pfn, unsigned field)
{
	(void)field;
	return pfn % 3 == 0 ? PAGEDET_UNSUPPORTED : 0;
}

static void ask_init(struct ask *a, uint32_t target)
{
	static const uint8_t files[] = {
		F(PFN), F(KIND), F(FLAGS), F(FLAGS_KNOWN), F(MAPCOUNT),
		F(INODE),
	};
	static const uint8_t memory[] = {
		F(PFN), F(KIND), F(FLAGS), F(FLAGS_KNOWN), F(MAPCOUNT),
		F(INODE), F(REFCOUNT),
	};

	memset(a, 0, sizeof(*a));
	a->env.root = no_root;
	pagedet_query_init(&a->q, sizeof(a->q), sizeof(struct pagedet_page));
	a->q.target = target;
	a->q.items = &a->item;
	a->q.n_items = target == PAGEDET_TARGET_PFN;
	a->item.first = 1;
	a->item.count = 1;
	a->plan[FILES] = (struct fake_plan){
		.source = PAGEDET_SOURCE_PROCFS, .frames = FRAMES,
		.unsure = odd_are_unsure,
	};
	a->plan[MEMORY] = (struct fake_plan){
		.source = PAGEDET_SOURCE_BPF, .frames = FRAMES,
		.dear = true, .bulk = BULK, .cost = PAGEDET_COST_READ,
	};
	add(&a->plan[FILES].fields, files, PDET_COUNT(files));
	add(&a->plan[MEMORY].fields, memory, PDET_COUNT(memory));
}

static void start(struct ask *a, const uint8_t *fields, size_t n)
{
	struct pdet_iter_args args = {
		.env = &a->env, .backends = a->list, .n_backends = 2,
		.sources = ~(uint32_t)0, .query = &a->q, .page_size = 4096,
	};
	int i, r;

	for (i = 0; i < 2; i++) {
		fake_init(&a->fake[i], &a->plan[i]);
		a->list[i] = &a->fake[i].backend;
	}
	add(&args.fields, fields, n);
	r = pdet_iter_new(&args, &a->it);
	ck_assert_msg(r == 0, "%d: %s", r, a->env.error);
}

#define START(a, ...) \
	start(a, (const uint8_t[]){ __VA_ARGS__ }, \
	      sizeof((const uint8_t[]){ __VA_ARGS__ }))

static struct pdet_batch *first_rows(struct ask *a)
{
	struct pdet_batch *b = NULL;
	int r = pdet_iter_step(a->it, &b);

	ck_assert_msg(r == 1, "%d: %s", r, a->env.error);
	return b;
}

static unsigned source_of(const struct pdet_batch *b, uint32_t row, unsigned f)
{
	return PAGEDET_CELL_SOURCE(b->cell[f][row]);
}

static int rows_of(struct ask *a, int i)
{
	return atomic_load(&a->fake[i].rows);
}

/* Also for fields that the caller did not name, but that the walk needs. */
START_TEST(a_walk_asks_memory_first)
{
	struct pdet_batch *b;
	struct ask a;
	uint32_t i;

	ask_init(&a, PAGEDET_TARGET_SCAN);
	START(&a, F(PFN), F(KIND), F(MAPCOUNT));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++) {
			ck_assert_uint_eq(b->value[F(KIND)][i],
				fake_value(b->value[F(PFN)][i], F(KIND)));
			ck_assert_uint_eq(source_of(b, i, F(KIND)),
					  PAGEDET_SOURCE_BPF);
			ck_assert_uint_eq(source_of(b, i, F(MAPCOUNT)),
					  PAGEDET_SOURCE_BPF);
			ck_assert_uint_eq(source_of(b, i, F(FLAGS)),
					  PAGEDET_SOURCE_BPF);
		}
	ck_assert_int_eq(rows_of(&a, FILES), 0);
	ck_assert_int_eq(rows_of(&a, MEMORY), FRAMES);
	pdet_iter_free(a.it);
}
END_TEST

/* Fields that memory does not answer come from the files. */
START_TEST(a_walk_asks_files_for_the_rest)
{
	struct pdet_batch *b;
	struct ask a;
	uint32_t i;

	ask_init(&a, PAGEDET_TARGET_SCAN);
	a.plan[MEMORY].loses = loses_thirds;
	START(&a, F(PFN), F(MAPCOUNT));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++)
			ck_assert_uint_eq(source_of(b, i, F(MAPCOUNT)),
					  b->value[F(PFN)][i] % 3 ?
						  PAGEDET_SOURCE_BPF :
						  PAGEDET_SOURCE_PROCFS);
	ck_assert_int_eq(rows_of(&a, FILES), (FRAMES + 2) / 3);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(many_numbers_are_a_walk)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a, PAGEDET_TARGET_PFN);
	a.item.count = FRAMES;
	START(&a, F(PFN), F(KIND));
	b = first_rows(&a);
	ck_assert_uint_eq(source_of(b, 1, F(KIND)), PAGEDET_SOURCE_BPF);
	ck_assert_int_eq(rows_of(&a, FILES), 0);
	pdet_iter_free(a.it);
}
END_TEST

/* For tasks and files, the cost per page decides. */
START_TEST(who_is_not_quicker_is_not_first)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a, PAGEDET_TARGET_SCAN);
	a.plan[MEMORY].bulk = 0;
	START(&a, F(PFN), F(KIND), F(MAPCOUNT));
	b = first_rows(&a);
	ck_assert_uint_eq(source_of(b, 0, F(KIND)), PAGEDET_SOURCE_PROCFS);
	ck_assert_int_eq(a.fake[MEMORY].starts, 0);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(a_walk_says_what_would_help)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a, PAGEDET_TARGET_SCAN);
	a.plan[MEMORY].shut = true;
	START(&a, F(PFN), F(KIND), F(MAPCOUNT));
	ck_assert_uint_eq(a.it->plan.why[F(KIND)], PAGEDET_HAVE);
	ck_assert_str_eq(a.it->plan.advice[F(KIND)], "needs CAP_FAKE");
	/* A field without gaps needs no advice. */
	ck_assert_ptr_null(a.it->plan.advice[F(MAPCOUNT)]);
	b = first_rows(&a);
	ck_assert_uint_eq(source_of(b, 0, F(KIND)), PAGEDET_SOURCE_PROCFS);
	ck_assert_int_eq(a.fake[MEMORY].starts, 0);
	pdet_iter_free(a.it);

	ask_init(&a, PAGEDET_TARGET_SCAN);
	START(&a, F(PFN), F(KIND));
	ck_assert_ptr_null(a.it->plan.advice[F(KIND)]);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(a_look_up_does_not_start_memory)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a, PAGEDET_TARGET_PFN);
	a.item.first = 4;
	START(&a, F(PFN), F(KIND), F(FLAGS), F(MAPCOUNT));
	b = first_rows(&a);
	ck_assert_uint_eq(source_of(b, 0, F(KIND)), PAGEDET_SOURCE_PROCFS);
	ck_assert_int_eq(a.fake[MEMORY].surveys, 0);
	ck_assert_int_eq(a.fake[MEMORY].starts, 0);
	pdet_iter_free(a.it);
}
END_TEST

/* One source then answers all fields that belong to the kind. */
START_TEST(a_look_up_starts_memory_for_a_kind)
{
	struct pdet_batch *b;
	struct ask a;
	uint32_t i;

	ask_init(&a, PAGEDET_TARGET_PFN);
	a.item.first = 4;
	a.item.count = 6;
	START(&a, F(PFN), F(KIND), F(FLAGS), F(MAPCOUNT), F(INODE));
	b = first_rows(&a);
	ck_assert_uint_eq(b->n, 6);
	for (i = 0; i < b->n; i++) {
		const unsigned from = i % 2 ? PAGEDET_SOURCE_BPF :
					      PAGEDET_SOURCE_PROCFS;

		ck_assert_uint_eq(b->value[F(KIND)][i],
				  fake_value(4 + i, F(KIND)));
		ck_assert_uint_eq(source_of(b, i, F(KIND)), from);
		ck_assert_uint_eq(source_of(b, i, F(FLAGS)), from);
		ck_assert_uint_eq(source_of(b, i, F(FLAGS_KNOWN)), from);
		ck_assert_uint_eq(source_of(b, i, F(MAPCOUNT)), from);
		/* It was answered. */
		ck_assert_uint_eq(source_of(b, i, F(INODE)),
				  PAGEDET_SOURCE_PROCFS);
	}
	ck_assert_int_eq(a.fake[MEMORY].starts, 1);
	ck_assert_int_eq(rows_of(&a, MEMORY), 3);
	pdet_iter_free(a.it);
}
END_TEST

/* Two sources that do not know are not better than one. */
START_TEST(an_unknown_kind_stays_with_its_row)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a, PAGEDET_TARGET_PFN);
	a.plan[MEMORY].unsure = all_are_unsure;
	START(&a, F(PFN), F(KIND), F(FLAGS), F(MAPCOUNT));
	b = first_rows(&a);
	ck_assert_uint_eq(b->value[F(KIND)][0], PAGEDET_KIND_UNKNOWN);
	ck_assert_uint_eq(source_of(b, 0, F(KIND)), PAGEDET_SOURCE_PROCFS);
	ck_assert_uint_eq(source_of(b, 0, F(FLAGS)), PAGEDET_SOURCE_PROCFS);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(a_look_up_starts_memory_for_a_named_field)
{
	struct pdet_batch *b;
	struct ask a;
	uint64_t pfn;

	for (pfn = 2; pfn < 7; pfn += 4) {
		ask_init(&a, PAGEDET_TARGET_PFN);
		a.item.first = pfn;
		a.plan[FILES].loses = loses_paths;
		a.plan[FILES].partial = true;
		START(&a, F(PFN), F(INODE));
		b = first_rows(&a);
		ck_assert_uint_eq(pdet_batch_state(b, 0, F(INODE)),
				  PAGEDET_HAVE);
		ck_assert_uint_eq(source_of(b, 0, F(INODE)),
				  pfn % 3 ? PAGEDET_SOURCE_PROCFS :
					    PAGEDET_SOURCE_BPF);
		ck_assert_int_eq(a.fake[MEMORY].starts, pfn % 3 ? 0 : 1);
		pdet_iter_free(a.it);
	}
}
END_TEST

/*
 * An additional field is not worth the start, but the advice names the source.
 */
START_TEST(a_look_up_does_not_start_memory_for_what_comes_along)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a, PAGEDET_TARGET_PFN);
	a.item.first = 6;
	a.q.options = PAGEDET_Q_CHEAP;
	a.plan[FILES].loses = loses_paths;
	a.plan[FILES].partial = true;
	START(&a, F(PFN));
	b = first_rows(&a);
	ck_assert_uint_eq(pdet_batch_state(b, 0, F(INODE)),
			  PAGEDET_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(a.it->plan.advice[F(INODE)],
				     "--fields cheap,inode"));
	ck_assert_int_eq(a.fake[MEMORY].starts, 0);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(memory_that_does_not_start_takes_no_answer_away)
{
	static const struct { bool shut; int no_start; } cases[] = {
		{ true, 0 }, { false, EIO }, { false, ENOTSUP },
	};
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a, PAGEDET_TARGET_PFN);
	a.plan[MEMORY].shut = cases[_i].shut;
	a.plan[MEMORY].no_start = cases[_i].no_start;
	START(&a, F(PFN), F(KIND), F(MAPCOUNT));
	b = first_rows(&a);
	ck_assert_uint_eq(b->value[F(KIND)][0], PAGEDET_KIND_UNKNOWN);
	ck_assert_uint_eq(pdet_batch_state(b, 0, F(MAPCOUNT)), PAGEDET_HAVE);
	ck_assert_str_eq(a.env.error, "");
	if (cases[_i].shut)
		ck_assert_str_eq(a.it->plan.advice[F(KIND)],
				 "needs CAP_FAKE");
	pdet_iter_free(a.it);
}
END_TEST

/* A repeated query continues with the started sources. */
START_TEST(memory_is_started_once)
{
	struct pagedet_item item = { .count = 1 };
	struct pdet_batch *b;
	struct ask a;
	uint64_t pfn;

	ask_init(&a, PAGEDET_TARGET_PFN);
	START(&a, F(PFN), F(KIND), F(FLAGS));
	first_rows(&a);
	for (pfn = 10; pfn < 20; pfn++) {
		item.first = pfn;
		ck_assert_int_eq(pdet_iter_retarget(a.it, &item, 1), 0);
		b = first_rows(&a);
		ck_assert_uint_eq(b->value[F(KIND)][0],
				  fake_value(pfn, F(KIND)));
		ck_assert_uint_eq(source_of(b, 0, F(KIND)),
				  pfn % 2 ? PAGEDET_SOURCE_BPF :
					    PAGEDET_SOURCE_PROCFS);
	}
	ck_assert_int_eq(a.fake[MEMORY].starts, 1);
	pdet_iter_free(a.it);
}
END_TEST

/*
 * The first source may not be sure of a kind that the files know. Its flags are
 * then not used either, neither in rows nor by filters.
 */
static bool fourths_are_unsure(uint64_t pfn)
{
	return pfn % 4 == 0;
}

START_TEST(a_walk_asks_files_for_unsure_kinds)
{
	static const char *const where[] = { NULL, "flags:lru or !flags:lru" };
	struct pdet_batch *b;
	struct ask a;
	uint32_t i;

	ask_init(&a, PAGEDET_TARGET_SCAN);
	a.q.where = where[_i];
	a.q.options = _i ? PAGEDET_Q_UNDECIDED : 0;
	a.plan[FILES].unsure = NULL;
	a.plan[MEMORY].unsure = fourths_are_unsure;
	START(&a, F(PFN), F(FLAGS));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++)
			ck_assert_uint_eq(source_of(b, i, F(FLAGS)),
					  b->value[F(PFN)][i] % 4 ?
						  PAGEDET_SOURCE_BPF :
						  PAGEDET_SOURCE_PROCFS);
	ck_assert_int_eq(rows_of(&a, FILES), FRAMES / 4);
	pdet_iter_free(a.it);

	ask_init(&a, PAGEDET_TARGET_SCAN);
	a.plan[FILES].unsure = NULL;
	a.plan[MEMORY].unsure = fourths_are_unsure;
	START(&a, F(PFN), F(KIND), F(FLAGS));
	while (pdet_iter_step(a.it, &b) > 0)
		for (i = 0; i < b->n; i++)
			ck_assert_uint_eq(b->value[F(KIND)][i],
				fake_value(b->value[F(PFN)][i], F(KIND)));
	pdet_iter_free(a.it);
}
END_TEST

/* It is asked first because it knows more, not because it is required. */
START_TEST(a_walk_goes_on_without_memory_that_does_not_start)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a, PAGEDET_TARGET_SCAN);
	a.plan[MEMORY].no_start = EBADMSG;
	START(&a, F(PFN), F(MAPCOUNT), F(REFCOUNT));
	b = first_rows(&a);
	ck_assert_uint_eq(source_of(b, 0, F(MAPCOUNT)), PAGEDET_SOURCE_PROCFS);
	ck_assert_uint_eq(pdet_batch_state(b, 0, F(REFCOUNT)),
			  PAGEDET_CORRUPT);
	ck_assert_ptr_nonnull(a.it->plan.advice[F(REFCOUNT)]);
	ck_assert_str_eq(a.env.error, "");
	pdet_iter_free(a.it);
}
END_TEST

/* A range to the end of memory is not a look-up. */
START_TEST(all_numbers_are_a_walk)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a, PAGEDET_TARGET_PFN);
	a.item.count = PAGEDET_TO_END;
	START(&a, F(PFN), F(KIND));
	b = first_rows(&a);
	ck_assert_uint_eq(source_of(b, 1, F(KIND)), PAGEDET_SOURCE_BPF);
	pdet_iter_free(a.it);
}
END_TEST

/* The first rows of a part may not be the first ones of all. */
START_TEST(an_order_says_that_it_was_stopped)
{
	struct pdet_batch *b;
	struct ask a;

	ask_init(&a, PAGEDET_TARGET_SCAN);
	a.q.limit = 5;
	a.q.order = PAGEDET_ORDER_DOWN;
	a.q.order_by = F(MAPCOUNT);
	a.plan[MEMORY].fails_at = 2;
	a.plan[MEMORY].error = ECANCELED;
	START(&a, F(PFN), F(MAPCOUNT));
	b = first_rows(&a);
	ck_assert_uint_eq(b->n, 5);
	ck_assert_int_eq(pdet_iter_step(a.it, &b), -ECANCELED);
	pdet_iter_free(a.it);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("best_source");

	unit_loop(s, a_walk_asks_files_for_unsure_kinds, 2);
	unit_test(s, a_walk_goes_on_without_memory_that_does_not_start);
	unit_test(s, all_numbers_are_a_walk);
	unit_test(s, an_order_says_that_it_was_stopped);

	unit_test(s, a_walk_asks_memory_first);
	unit_test(s, a_walk_asks_files_for_the_rest);
	unit_test(s, many_numbers_are_a_walk);
	unit_test(s, who_is_not_quicker_is_not_first);
	unit_test(s, a_walk_says_what_would_help);
	unit_test(s, a_look_up_does_not_start_memory);
	unit_test(s, a_look_up_starts_memory_for_a_kind);
	unit_test(s, an_unknown_kind_stays_with_its_row);
	unit_test(s, a_look_up_starts_memory_for_a_named_field);
	unit_test(s, a_look_up_does_not_start_memory_for_what_comes_along);
	unit_loop(s, memory_that_does_not_start_takes_no_answer_away, 3);
	unit_test(s, memory_is_started_once);
	return unit_main(s);
}
