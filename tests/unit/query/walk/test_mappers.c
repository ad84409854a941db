/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests when a page counts as mapped by nobody. A driver of graphics maps pages
 * of shmem by their frames, and the kernel does not count that. One source does
 * not see such mappings, the other one does.
 */
#include <errno.h>

#include "query/query.h"
#include "../../fake.h"
#include "../../unit.h"

#define F(name) PAGEDET_FIELD_##name
#define FIRST 0x7f0000000000ull
#define PID 42
#define FRAME 7

static char no_root[] = "";

struct source {
	struct pdet_backend backend;
	uint64_t mapcount, kind; /* of every frame */
	bool driver;		/* the area is a driver's */
	int error;		/* of task_open(), negative; 0: it opens */
	int looks;		/* calls of populated() */
	uint32_t n_tasks;	/* from PID on; 0: one */
	const uint64_t *space;	/* of each; NULL: not known */
	uint64_t end;		/* of frames; 0: not known */
	bool at_end;
	struct pdet_task task;
};

struct asked {
	struct pdet_env env;
	struct source blind, seeing;
	struct pdet_backend *list[2];
	struct pagedet_query q;
	struct pagedet_item item;
	struct pdet_iter *it;
	struct pagedet_mappers is; /* the first summary */
	uint64_t n_is;
	uint32_t rows;
	bool partial;
};

static struct source *source_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct source, backend);
}

static int fill(struct pdet_session *s, struct pdet_batch *b,
		const struct pdet_fields *want, unsigned source)
{
	const struct source *is = source_of(s->backend);
	unsigned field;

	pdet_fields_for(field, want)
		pdet_put_run(b, 0, b->n, field,
			     field == F(MAPCOUNT) ? is->mapcount :
			     field == F(KIND) ? is->kind :
			     field == F(MAPCOUNT_KIND) ?
			     PAGEDET_MAPCOUNT_EXACT : FRAME, source);
	return 0;
}

static int tasks(struct pdet_backend *b, struct pdet_env *env, uint32_t **ret,
		 size_t *n, uint64_t *lost)
{
	uint32_t i;

	(void)env;
	*lost = 0;
	*n = PDET_MAX(source_of(b)->n_tasks, 1u);
	*ret = calloc(*n, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (i = 0; i < *n; i++)
		(*ret)[i] = PID + i;
	return 0;
}

static int task_open(struct pdet_session *s, uint32_t pid,
		     struct pdet_task **ret)
{
	struct source *is = source_of(s->backend);

	if (is->error)
		return is->error;
	is->task = (struct pdet_task){
		.backend = s->backend, .pid = pid, .thread = pid,
		.space = is->space ? is->space[pid - PID] : 0,
	};
	*ret = &is->task;
	return 0;
}

static uint64_t frames_end(struct pdet_backend *b, struct pdet_env *env)
{
	(void)env;
	return source_of(b)->end;
}

static void task_close(struct pdet_task *t)
{
	(void)t;
}

static int vma_first(struct pdet_session *s, struct pdet_task *t)
{
	(void)t;
	source_of(s->backend)->at_end = false;
	return 0;
}

static int vma_next(struct pdet_session *s, struct pdet_task *t,
		    struct pdet_vma *ret)
{
	struct source *is = source_of(s->backend);

	(void)t;
	memset(ret, 0, sizeof(*ret));
	ret->start = FIRST;
	ret->end = FIRST + 4096;
	if (is->at_end)
		return 0;
	is->at_end = true;
	return 1;
}

static int vma_at(struct pdet_session *s, struct pdet_task *t, uint64_t addr,
		  struct pdet_vma *ret)
{
	(void)addr;
	vma_first(s, t);
	return vma_next(s, t, ret);
}

static int populated(struct pdet_session *s, struct pdet_task *t, uint64_t *at,
		     uint64_t end, struct pdet_range *ret, size_t max)
{
	(void)t;
	(void)max;
	source_of(s->backend)->looks++;
	*ret = (struct pdet_range){ *at, end - 1 };
	*at = end;
	return 1;
}

static int entries(struct pdet_session *s, struct pdet_task *t, uint64_t *at,
		   uint64_t end, bool all, struct pdet_batch *b)
{
	(void)s;
	(void)t;
	(void)all;
	(void)b;
	*at = end;
	return 0;
}

static int mappings(struct pdet_session *s, struct pdet_task *t,
		    uint64_t start, uint64_t end,
		    const struct pdet_pfnset *set,
		    struct pdet_found_list *ret)
{
	const struct source *is = source_of(s->backend);
	const struct pdet_found f = { .pfn = FRAME, .vaddr = start };

	(void)t;
	(void)end;
	ck_assert_uint_eq(set->n, 1);
	if (is->mapcount ? is->driver : !is->driver || s->backend->ops->blind)
		return 0;
	return pdet_vec_push(ret, f) ? 0 : -ENOMEM;
}

static unsigned blind(struct pdet_session *s, struct pdet_task *t,
		      const struct pdet_vma *vma, unsigned known)
{
	(void)t;
	(void)vma;
	(void)known;
	return source_of(s->backend)->driver ? PDET_BLIND_DRIVER : 0;
}

#define OPS \
	.size = sizeof(struct source), \
	.survey = fake_able, \
	.prepare = fake_prepare, \
	.session_new = fake_session_new, \
	.session_free = fake_session_free, \
	.fill = fill, \
	.tasks = tasks, \
	.task_open = task_open, \
	.frames_end = frames_end, \
	.task_close = task_close, \
	.vma_first = vma_first, \
	.vma_next = vma_next, \
	.vma_at = vma_at, \
	.populated = populated, \
	.entries = entries, \
	.mappings = mappings

static const struct pdet_backend_ops blind_ops = {
	.name = "blind", OPS, .blind = blind,
}, seeing_ops = {
	.name = "seeing", OPS,
};

static void init(struct asked *a, uint64_t kind, uint64_t mapcount, bool driver)
{
	memset(a, 0, sizeof(*a));
	a->env.root = no_root;
	pagedet_query_init(&a->q, sizeof(a->q), sizeof(struct pagedet_page));
	a->q.target = PAGEDET_TARGET_MAPPERS;
	a->q.items = &a->item;
	a->q.n_items = 1;
	a->item = (struct pagedet_item){ FRAME, 1, 0, 0 };
	a->blind.backend.ops = &blind_ops;
	a->blind.backend.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	a->seeing.backend.ops = &seeing_ops;
	a->seeing.backend.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_KCORE);
	a->blind.kind = a->seeing.kind = kind;
	a->blind.mapcount = a->seeing.mapcount = mapcount;
	a->blind.driver = a->seeing.driver = driver;
	a->list[0] = &a->blind.backend;
}

static void ask(struct asked *a, bool both)
{
	struct pdet_iter_args args = {
		.env = &a->env, .backends = a->list, .n_backends = 1 + both,
		.sources = ~(uint32_t)0, .query = &a->q, .page_size = 4096,
		.fields = FIELDS(F(PFN), F(VADDR)),
	};
	struct pdet_cover cover;
	struct pdet_batch *b;
	struct pagedet_mappers is;
	int r;

	a->list[1] = &a->seeing.backend;
	r = pdet_iter_new(&args, &a->it);
	ck_assert_msg(r == 0, "%d: %s", r, a->env.error);
	for (a->rows = 0; (r = pdet_iter_step(a->it, &b)) > 0; a->rows += b->n)
		;
	ck_assert_int_eq(r, 0);
	for (a->n_is = 0; pdet_walk_mappers_summary(a->it->walk, a->n_is,
						    &is) == 0; a->n_is++)
		if (!a->n_is)
			a->is = is;
	ck_assert_uint_gt(a->n_is, 0);
	pdet_iter_cover(a->it, &cover);
	a->partial = cover.partial;
	pdet_iter_free(a->it);
}

/* Without an area of a driver, the count is a proof. */
START_TEST(nobody_maps_it)
{
	struct asked a;

	init(&a, PAGEDET_KIND_SHMEM, 0, false);
	ask(&a, true);
	ck_assert_uint_eq(a.is.found, 0);
	ck_assert_uint_eq(a.is.found_state, PAGEDET_HAVE);
	ck_assert(!a.partial);
	/* No page table was read. */
	ck_assert_int_eq(a.blind.looks + a.seeing.looks, 0);
}
END_TEST

/* A driver may: page tables of a source that does not see it tell nothing. */
START_TEST(a_driver_may_map_it)
{
	struct asked a;

	init(&a, PAGEDET_KIND_SHMEM, 0, true);
	ask(&a, false);
	ck_assert_uint_eq(a.is.found, 0);
	ck_assert_uint_eq(a.is.found_state, PAGEDET_UNSUPPORTED);
	ck_assert(a.partial);
	ck_assert_int_eq(a.blind.looks, 0);
}
END_TEST

START_TEST(a_driver_maps_it)
{
	struct asked a;

	init(&a, PAGEDET_KIND_SHMEM, 0, true);
	ask(&a, true);
	ck_assert_uint_eq(a.is.found, 1);
	ck_assert_uint_eq(a.is.found_state, PAGEDET_HAVE);
	ck_assert(!a.partial);
	ck_assert_int_eq(a.blind.looks, 0);
}
END_TEST

/* A task that cannot be read may have such an area. */
START_TEST(an_unread_task)
{
	struct asked a;

	init(&a, PAGEDET_KIND_SHMEM, 0, false);
	a.blind.error = -EACCES;
	ask(&a, false);
	ck_assert_uint_eq(a.is.found, 0);
	ck_assert_uint_eq(a.is.n_unread, 1);
}
END_TEST

/* A task that has ended has none. */
START_TEST(an_ended_task)
{
	struct asked a;

	init(&a, PAGEDET_KIND_SHMEM, 0, true);
	a.blind.error = -ESRCH;
	ask(&a, false);
	ck_assert_uint_eq(a.is.found_state, PAGEDET_HAVE);
	ck_assert(!a.partial);
}
END_TEST

/* As many mappings as the kernel counts are all, also of shmem. */
START_TEST(counted_ones)
{
	struct asked a;

	init(&a, _i ? PAGEDET_KIND_ANON : PAGEDET_KIND_SHMEM, 1, false);
	ask(&a, true);
	ck_assert_uint_eq(a.is.found, 1);
	ck_assert_uint_eq(a.is.found_state, PAGEDET_HAVE);
	ck_assert(!a.partial);
	ck_assert_int_eq(a.blind.looks, 1);
	ck_assert_int_eq(a.seeing.looks, 0);
}
END_TEST

/*
 * Of a large folio the count may be another, and its kind not known: what is
 * found is told. The buffers of drivers count 0.
 */
START_TEST(counted_otherwise)
{
	struct asked a;

	init(&a, PAGEDET_KIND_SHMEM, 2, true);
	ask(&a, false);
	ck_assert_uint_eq(a.is.found_state, PAGEDET_HAVE);
}
END_TEST

/* A driver does not map pages of files. A free page it may still map. */
START_TEST(other_kinds)
{
	struct asked a;

	init(&a, PAGEDET_KIND_FILE, 0, true);
	ask(&a, false);
	ck_assert_uint_eq(a.is.found_state, PAGEDET_HAVE);
	ck_assert_int_eq(a.blind.looks, 0);
	init(&a, PAGEDET_KIND_FREE, 0, true);
	ask(&a, false);
	ck_assert_uint_eq(a.is.found_state, PAGEDET_UNSUPPORTED);
	init(&a, PAGEDET_KIND_FREE, 0, false);
	ask(&a, false);
	ck_assert_uint_eq(a.is.found_state, PAGEDET_HAVE);
}
END_TEST

/* The kernel counts an address space once. Each process that has it is shown,
 * also those after the last mapping that is missing. Others are not read. */
START_TEST(one_space)
{
	static const uint64_t spaces[][4] = { { 7, 7, 8, 9 }, { 7, 8, 9, 7 } };
	struct asked a;

	init(&a, PAGEDET_KIND_ANON, 2, false);
	a.blind.n_tasks = 4;
	a.blind.space = spaces[_i];
	ask(&a, false);
	ck_assert_uint_eq(a.is.found, 2);
	ck_assert_uint_eq(a.is.shared, 1);
	ck_assert_uint_eq(a.rows, 3);
	ck_assert_int_eq(a.blind.looks, 3);
	ck_assert(!a.partial);
}
END_TEST

/* A long range behind the end of memory is one entry; a short one is not. */
START_TEST(behind_the_end)
{
	struct pagedet_item item[2];
	struct asked a;

	init(&a, PAGEDET_KIND_ANON, 1, false);
	a.blind.end = FRAME - 2;
	a.item.first = FRAME - 2;
	a.item.count = (uint64_t)1 << 40;
	ask(&a, false);
	ck_assert_uint_eq(a.is.pfn, FRAME - 2);
	ck_assert_uint_eq(a.is.more, ((uint64_t)1 << 40) - 1);
	ck_assert_uint_eq(a.is.found, 1);
	a.item.first = FRAME;
	a.item.count = 1;
	ask(&a, false);
	ck_assert_uint_eq(a.is.more, 0);
	/* Up to the last of all numbers, and once more. */
	item[0] = item[1] = (struct pagedet_item){ UINT64_MAX - 0xffff,
						   0x10000, 0, 0 };
	a.q.items = item;
	a.q.n_items = 2;
	ask(&a, false);
	ck_assert_uint_eq(a.is.more, 0xffff);
	ck_assert_uint_eq(a.n_is, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mappers");

	unit_test(s, nobody_maps_it);
	unit_test(s, a_driver_may_map_it);
	unit_test(s, a_driver_maps_it);
	unit_test(s, an_unread_task);
	unit_test(s, an_ended_task);
	unit_loop(s, counted_ones, 2);
	unit_test(s, counted_otherwise);
	unit_test(s, other_kinds);
	unit_loop(s, one_space, 2);
	unit_test(s, behind_the_end);
	return unit_main(s);
}
