/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests kernel addresses and the kernel's own mappings through query/: one row
 * each, in order, for every walking backend, any number of frames and threads.
 */
#include <errno.h>

#include "query/query.h"
#include "../fake.h"
#include "../unit.h"

#define F(name) PAGEDET_FIELD_##name
#define BASE 0xffff888000000000ull
#define ALIAS 0xffffc90000000000ull
/* Every frame divisible by this has a second mapping. */
#define SECOND 1000
#define MOVED 77

static char no_root[] = "";

struct kernel {
	struct pdet_backend backend;
	bool knows;		/* knows the kernel's mappings */
	bool lost;
	uint64_t mapcount, kind; /* of every frame */
	uint64_t lost_tasks;	/* the list of tasks is damaged */
	int walks;		/* walks of the kernel's tables */
};

struct asked {
	struct pdet_env env;
	struct kernel kernel[2];
	struct pdet_backend *list[2];
	struct pagedet_query q;
	struct pagedet_item items[4];
	struct pdet_iter *it;
};

static struct kernel *kernel_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct kernel, backend);
}

static void survey(struct pdet_backend *b, struct pdet_env *env,
		   uint32_t target, unsigned field, unsigned source,
		   struct pdet_ability *ret)
{
	(void)env;
	(void)target;
	(void)source;
	memset(ret, 0, sizeof(*ret));
	ret->reason = PAGEDET_HAVE;
	ret->cost = PAGEDET_COST_LOOKUP;
	if (field == F(KERNEL_MAPS) && !kernel_of(b)->knows)
		ret->reason = PAGEDET_UNSUPPORTED;
}

static int fill(struct pdet_session *s, struct pdet_batch *b,
		const struct pdet_fields *want, unsigned source)
{
	uint32_t row;
	unsigned field;

	pdet_fields_for(field, want)
		for (row = 0; row < b->n; row++) {
			const uint64_t pfn = b->value[F(PFN)][row];

			if (pdet_batch_state(b, row, F(PFN)) != PAGEDET_HAVE)
				pdet_put_none(b, row, field, source);
			else if (field == F(PATH))
				pdet_put_text(b, row, field, "/f", 2, source);
			else
				pdet_put(b, row, field, field == F(MAPCOUNT) ?
					 kernel_of(s->backend)->mapcount :
					 field == F(KIND) ?
					 kernel_of(s->backend)->kind :
					 field == F(MAPCOUNT_KIND) ?
					 PAGEDET_MAPCOUNT_EXACT : pfn, source);
		}
	return 0;
}

/* --- tasks: one, that maps nothing --- */

static int tasks(struct pdet_backend *b, struct pdet_env *env, uint32_t **ret,
		 size_t *n, uint64_t *lost)
{
	(void)env;
	*lost = kernel_of(b)->lost_tasks;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)[0] = 42;
	*n = 1;
	return 0;
}

static int task_open(struct pdet_session *s, uint32_t pid,
		     struct pdet_task **ret)
{
	(void)s;
	(void)pid;
	(void)ret;
	return -ESRCH;
}

static void task_close(struct pdet_task *t)
{
	(void)t;
}

static int mappings(struct pdet_session *s, struct pdet_task *t,
		    uint64_t start, uint64_t end,
		    const struct pdet_pfnset *set,
		    struct pdet_found_list *ret)
{
	(void)s;
	(void)t;
	(void)start;
	(void)end;
	(void)set;
	(void)ret;
	return 0;
}

/* --- the kernel --- */

static int add(struct pdet_kernel_found_list *ret, uint64_t pfn, uint64_t base,
	       unsigned map)
{
	const struct pdet_kernel_found f = {
		.pfn = pfn, .vaddr = base + (pfn << 12), .pte = 1,
		.pte_known = 1, .level = PAGEDET_LEVEL_PMD,
		.map = (uint8_t)map,
	};

	return pdet_vec_push(ret, f) ? 0 : -ENOMEM;
}

static int kernel_mappings(struct pdet_session *s,
			   const struct pdet_pfnset *set,
			   bool (*stop)(void *arg), void *arg,
			   struct pdet_kernel_found_list *ret)
{
	struct kernel *k = kernel_of(s->backend);
	size_t i;
	int r = 0;

	__atomic_add_fetch(&k->walks, 1, __ATOMIC_RELAXED);
	if (stop(arg))
		return 1;
	for (i = 0; i < set->n && r == 0; i++)
		r = add(ret, set->pfn[i], BASE, PAGEDET_MAP_DIRECT);
	for (i = 0; i < set->n && r == 0; i++)
		if (set->pfn[i] % SECOND == 0)
			r = add(ret, set->pfn[i], ALIAS, 0);
	ret->lost = k->lost;
	return r;
}

static void kernel_area(struct pdet_session *s, uint64_t addr,
			struct pdet_batch *b, uint32_t row)
{
	(void)s;
	pdet_put(b, row, F(VMA_START), addr & -(1ull << 39),
		 PAGEDET_SOURCE_KCORE);
}

/* An address is that of its frame, or of a struct page, which has 64 bytes. */
static int kaddr(struct pdet_session *s, uint64_t addr, unsigned as,
		 struct pdet_batch *b)
{
	const uint64_t pfn = as == PAGEDET_KADDR_PAGE ? (addr - BASE) / 64 :
							(addr - BASE) >> 12;
	const uint32_t row = b->n;

	(void)s;
	pdet_batch_grow(b, 1);
	pdet_put(b, row, F(VADDR), addr, PAGEDET_SOURCE_KCORE);
	pdet_put(b, row, F(MAP), PAGEDET_MAP_DIRECT, PAGEDET_SOURCE_KCORE);
	if (addr >= BASE)
		pdet_put(b, row, F(PFN), pfn, PAGEDET_SOURCE_KCORE);
	else
		pdet_put_none(b, row, F(PFN), PAGEDET_SOURCE_KCORE);
	return 0;
}

static void kaddr_recheck(struct pdet_session *s, uint64_t addr, unsigned as,
			  struct pdet_batch *b, uint32_t row)
{
	(void)s;
	(void)as;
	ck_assert_uint_eq(b->value[F(VADDR)][row], addr);
	if (b->value[F(PFN)][row] == MOVED)
		pdet_put_note(b, row, PAGEDET_NOTE_TORN);
}

static const struct pdet_backend_ops all_ops = {
	.name = "kernel",
	.size = sizeof(struct kernel),
	.survey = survey,
	.prepare = fake_prepare,
	.session_new = fake_session_new,
	.session_free = fake_session_free,
	.fill = fill,
	.tasks = tasks,
	.task_open = task_open,
	.task_close = task_close,
	.mappings = mappings,
	.kernel_mappings = kernel_mappings,
	.kernel_area = kernel_area,
	.kaddr = kaddr,
	.kaddr_recheck = kaddr_recheck,
}, task_ops = {
	.name = "tasks",
	.size = sizeof(struct kernel),
	.survey = survey,
	.prepare = fake_prepare,
	.session_new = fake_session_new,
	.session_free = fake_session_free,
	.fill = fill,
	.tasks = tasks,
	.task_open = task_open,
	.task_close = task_close,
	.mappings = mappings,
};

/* --- asking --- */

static void init(struct asked *a, uint32_t target)
{
	memset(a, 0, sizeof(*a));
	a->env.root = no_root;
	pagedet_query_init(&a->q, sizeof(a->q), sizeof(struct pagedet_page));
	a->q.target = target;
	a->q.items = a->items;
	a->q.n_items = 1;
	a->items[0].count = 1;
	a->kernel[0].backend.ops = &all_ops;
	a->kernel[0].backend.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_KCORE);
	a->kernel[0].knows = true;
	a->list[0] = &a->kernel[0].backend;
}

static void start(struct asked *a, struct pdet_fields wanted)
{
	struct pdet_iter_args args = {
		.env = &a->env, .backends = a->list,
		.n_backends = a->list[1] ? 2 : 1, .sources = ~(uint32_t)0,
		.query = &a->q, .fields = wanted, .page_size = 4096,
	};
	int r = pdet_iter_new(&args, &a->it);

	ck_assert_msg(r == 0, "%d: %s", r, a->env.error);
}

static struct pdet_batch *step(struct asked *a)
{
	struct pdet_batch *b;

	ck_assert_int_eq(pdet_iter_step(a->it, &b), 1);
	return b;
}

static bool is_partial(struct asked *a)
{
	struct pdet_cover cover;

	pdet_iter_cover(a->it, &cover);
	return cover.partial;
}

START_TEST(addresses)
{
	struct pdet_batch *b;
	struct asked a;

	init(&a, PAGEDET_TARGET_KADDR);
	a.q.n_items = 4;
	a.items[0].first = BASE + 0x5123;
	a.items[1].first = BASE + 64 * 9 + 8;
	a.items[1].flags = PAGEDET_KADDR_PAGE;
	a.items[2].first = 0x1000;
	a.items[3].first = BASE + MOVED * 4096;
	start(&a, FIELDS(F(ASK), F(PFN), F(VADDR), F(MAP), F(REFCOUNT), F(PID),
			 F(NOTES)));
	b = step(&a);
	ck_assert_uint_eq(b->n, 4);
	ck_assert_uint_eq(b->value[F(PFN)][0], 5);
	ck_assert_uint_eq(b->value[F(VADDR)][0], BASE + 0x5123);
	ck_assert_uint_eq(b->value[F(MAP)][0], PAGEDET_MAP_DIRECT);
	/* Fields of the page are queried by its number. */
	ck_assert_uint_eq(b->value[F(REFCOUNT)][0], 5);
	ck_assert_uint_eq(pdet_batch_state(b, 0, F(PID)), PAGEDET_NONE);
	ck_assert_uint_eq(b->value[F(PFN)][1], 9);
	ck_assert_uint_eq(pdet_batch_state(b, 2, F(PFN)), PAGEDET_NONE);
	ck_assert_uint_eq(pdet_batch_state(b, 2, F(REFCOUNT)), PAGEDET_NONE);
	ck_assert_uint_eq(b->value[F(NOTES)][0], 0);
	/* It moved while its row was made. */
	ck_assert_uint_eq(b->value[F(NOTES)][3],
			  PAGEDET_NOTE(PAGEDET_NOTE_TORN));
	ck_assert_uint_eq(b->value[F(ASK)][3], 3);
	ck_assert_int_eq(pdet_iter_step(a.it, &b), 0);
	/* The same for another place. */
	a.items[0].first = BASE + 0x9000;
	ck_assert_int_eq(pdet_iter_retarget(a.it, a.items, 1), 0);
	b = step(&a);
	ck_assert_uint_eq(b->n, 1);
	ck_assert_uint_eq(b->value[F(PFN)][0], 9);
	pdet_iter_free(a.it);
}
END_TEST

/* The recheck ignores rows that a filter left out. */
START_TEST(filtered_addresses)
{
	struct pdet_batch *b;
	struct asked a;

	init(&a, PAGEDET_TARGET_KADDR);
	a.q.n_items = 3;
	a.q.where = "refcount>5";
	a.items[0].first = BASE + 0x5000;
	a.items[1].first = BASE + MOVED * 4096;
	a.items[2].first = BASE + 0x6000;
	start(&a, FIELDS(F(PFN)));
	b = step(&a);
	ck_assert_uint_eq(b->n, 2);
	ck_assert_uint_eq(b->value[F(PFN)][0], MOVED);
	ck_assert_uint_eq(b->value[F(NOTES)][0],
			  PAGEDET_NOTE(PAGEDET_NOTE_TORN));
	ck_assert_uint_eq(b->value[F(PFN)][1], 6);
	ck_assert_uint_eq(b->value[F(NOTES)][1], 0);
	pdet_iter_free(a.it);
}
END_TEST

START_TEST(many_addresses)
{
	struct pagedet_item *items = calloc(10000, sizeof(*items));
	struct pdet_batch *b;
	uint64_t next = 0;
	struct asked a;
	uint32_t i;
	int r;

	ck_assert_ptr_nonnull(items);
	init(&a, PAGEDET_TARGET_KADDR);
	a.q.threads = _i ? 4 : 1;
	a.q.items = items;
	a.q.n_items = 10000;
	for (i = 0; i < 10000; i++) {
		items[i].first = BASE + i * 4096;
		items[i].count = 1;
	}
	start(&a, FIELDS(F(PFN), F(ASK)));
	while ((r = pdet_iter_step(a.it, &b)) > 0)
		for (i = 0; i < b->n; i++, next++) {
			ck_assert_uint_eq(b->value[F(PFN)][i], next);
			ck_assert_uint_eq(b->value[F(ASK)][i], next);
		}
	ck_assert_int_eq(r, 0);
	ck_assert_uint_eq(next, 10000);
	pdet_iter_free(a.it);
	free(items);
}
END_TEST

START_TEST(mappings_of_the_kernel)
{
	struct pdet_batch *b;
	struct asked a;

	init(&a, PAGEDET_TARGET_MAPPERS);
	a.q.n_items = 2;
	a.items[0].first = 2 * SECOND;
	a.items[1] = (struct pagedet_item){ 7, 1, 0, 0 };
	start(&a, FIELDS(F(ASK), F(PFN), F(VADDR), F(MAP), F(PID), F(PTE_LEVEL),
			 F(VMA_START), F(PATH), F(INODE)));
	b = step(&a);
	ck_assert_uint_eq(b->n, 3);
	ck_assert_uint_eq(b->value[F(PFN)][0], 7);
	ck_assert_uint_eq(b->value[F(ASK)][0], 1);
	ck_assert_uint_eq(b->value[F(VADDR)][0], BASE + 7 * 4096);
	ck_assert_uint_eq(b->value[F(MAP)][0], PAGEDET_MAP_DIRECT);
	ck_assert_uint_eq(b->value[F(PTE_LEVEL)][0], PAGEDET_LEVEL_PMD);
	ck_assert_uint_eq(b->value[F(VMA_START)][0], BASE);
	ck_assert_uint_eq(pdet_batch_state(b, 0, F(PID)), PAGEDET_NONE);
	/* The page tells its own file. */
	ck_assert_uint_eq(b->value[F(INODE)][0], 7);
	ck_assert_uint_eq(pdet_batch_state(b, 0, F(PATH)), PAGEDET_HAVE);
	ck_assert_uint_eq(b->value[F(ASK)][1], 0);
	ck_assert_uint_eq(b->value[F(VADDR)][2], ALIAS + 2 * SECOND * 4096);
	/* The kind of mapping is not known. */
	ck_assert_uint_eq(pdet_batch_state(b, 2, F(MAP)),
			  PAGEDET_UNSUPPORTED);
	ck_assert_int_eq(pdet_iter_step(a.it, &b), 0);
	ck_assert(!is_partial(&a));
	ck_assert_int_eq(a.kernel[0].walks, 1);
	ck_assert_int_eq(pdet_iter_retarget(a.it, a.items, 1), 0);
	b = step(&a);
	ck_assert_uint_eq(b->n, 2);
	pdet_iter_free(a.it);
}
END_TEST

/* More frames than one walk takes, and more rows than a batch has. */
START_TEST(mappings_of_many)
{
	const uint64_t n = 150000;
	uint64_t rows = 0, second = 0;
	struct pdet_batch *b;
	uint8_t *seen = calloc(n, 1);
	struct asked a;
	uint32_t i;
	int r;

	ck_assert_ptr_nonnull(seen);
	init(&a, PAGEDET_TARGET_MAPPERS);
	a.q.threads = _i ? 3 : 1;
	a.items[0].count = n;
	a.kernel[0].lost = true;
	start(&a, FIELDS(F(PFN), F(VADDR)));
	while ((r = pdet_iter_step(a.it, &b)) > 0)
		for (i = 0; i < b->n; i++, rows++) {
			const uint64_t pfn = b->value[F(PFN)][i];

			ck_assert_uint_lt(pfn, n);
			if (b->value[F(VADDR)][i] == BASE + pfn * 4096)
				seen[pfn]++;
			else
				second++;
		}
	ck_assert_int_eq(r, 0);
	ck_assert_uint_eq(rows, n + n / SECOND);
	ck_assert_uint_eq(second, n / SECOND);
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(seen[i], 1);
	ck_assert_int_eq(a.kernel[0].walks, 3);
	/* Unreadable tables are reported. */
	ck_assert(is_partial(&a));
	pdet_iter_free(a.it);
	free(seen);
}
END_TEST

/*
 * The walker of tasks does not know the kernel's mappings. Another source is
 * asked only if kernel_maps is wanted.
 */
START_TEST(mappings_by_another)
{
	struct pdet_batch *b;
	struct asked a;

	init(&a, PAGEDET_TARGET_MAPPERS);
	a.list[1] = a.list[0];
	a.list[0] = &a.kernel[1].backend;
	a.kernel[1].backend.ops = &task_ops;
	a.kernel[1].backend.sources =
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS);
	a.items[0].first = SECOND;
	start(&a, FIELDS(F(PFN), F(VADDR)));
	ck_assert_int_eq(pdet_iter_step(a.it, &b), 0);
	ck_assert_int_eq(a.kernel[0].walks, 0);
	pdet_iter_free(a.it);
	start(&a, FIELDS(F(PFN), F(VADDR), F(KERNEL_MAPS)));
	b = step(&a);
	ck_assert_uint_eq(b->n, 2);
	ck_assert_uint_eq(b->value[F(VADDR)][1], ALIAS + SECOND * 4096);
	ck_assert_uint_eq(b->value[F(KERNEL_MAPS)][1], SECOND);
	ck_assert_uint_eq(PAGEDET_CELL_SOURCE(b->cell[F(VADDR)][1]),
			  PAGEDET_SOURCE_KCORE);
	pdet_iter_free(a.it);
}
END_TEST

/* A missing task may map the page, unless all mappings were found and the
 * kernel counts them. */
START_TEST(a_damaged_list_of_tasks)
{
	struct pdet_batch *b;
	struct asked a;

	init(&a, PAGEDET_TARGET_MAPPERS);
	a.items[0].first = 7;
	a.kernel[0].lost_tasks = 1;
	a.kernel[0].mapcount = !_i;
	a.kernel[0].kind = _i == 2 ? PAGEDET_KIND_ZERO : PAGEDET_KIND_ANON;
	start(&a, FIELDS(F(PFN), F(VADDR)));
	b = step(&a);
	ck_assert_uint_eq(b->n, 1);
	ck_assert_int_eq(pdet_iter_step(a.it, &b), 0);
	ck_assert(is_partial(&a) == (_i != 1));
	pdet_iter_free(a.it);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kernel_rows");

	unit_test(s, addresses);
	unit_test(s, filtered_addresses);
	unit_loop(s, many_addresses, 2);
	unit_test(s, mappings_of_the_kernel);
	unit_loop(s, mappings_of_many, 2);
	unit_test(s, mappings_by_another);
	unit_loop(s, a_damaged_list_of_tasks, 3);
	return unit_main(s);
}
