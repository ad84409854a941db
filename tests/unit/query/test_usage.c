/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the usage of a process: the kernel's text, and page tables with the
 * same sums.
 */
#include "kernel/text/smaps.h"
#include "query/usage.h"
#include "query/usage_walk.h"
#include "../unit.h"

#define PAGE 4096
#define VMCORE PAGEDET_SOURCE_VMCORE

static const char text[] =
	"55d0-7ffc ---p 00000000 00:00 0    [rollup]\n"
	"Rss:                1772 kB\n"
	"Pss:                 219 kB\n"
	"Pss_Dirty:           112 kB\n"
	"Shared_Clean:       1620 kB\n"
	"Shared_Dirty:          4 kB\n"
	"Private_Clean:        36 kB\n"
	"Private_Dirty:       112 kB\n"
	"Shared_Hugetlb:     2048 kB\n"
	"Private_Hugetlb:    4096 kB\n"
	"Swap:                 24 kB\n"
	"SwapPss:              12 kB\n";

static struct pdet_scan scan(const char *s)
{
	return (struct pdet_scan){ s, s + strlen(s) };
}

static void ck_sum(const struct pagedet_usage *u, unsigned sum, uint64_t bytes)
{
	ck_assert_uint_eq(u->state[sum], PAGEDET_HAVE);
	ck_assert_uint_eq(u->value[sum], bytes);
}

START_TEST(rollup_is_added_up)
{
	struct pagedet_usage u = { .size = sizeof(u) };

	ck_assert(pdet_smaps_rollup(scan(text), &u));
	ck_sum(&u, PAGEDET_SUM_RSS, 1772 << 10);
	ck_sum(&u, PAGEDET_SUM_PSS, 219 << 10);
	ck_sum(&u, PAGEDET_SUM_USS, 148 << 10);
	ck_sum(&u, PAGEDET_SUM_SHARED, 1624 << 10);
	ck_sum(&u, PAGEDET_SUM_DIRTY, 116 << 10);
	ck_sum(&u, PAGEDET_SUM_SWAP, 24 << 10);
	ck_sum(&u, PAGEDET_SUM_HUGETLB, 6144 << 10);
	ck_assert_uint_eq(u.estimated, 0);
}
END_TEST

START_TEST(flags_of_areas_are_found)
{
	static const struct {
		const char *line;
		bool is, has;
	} lines[] = {
		{ "VmFlags: rd wr sh mr mw ms pf io dc de dd ", true, true },
		{ "VmFlags: pf", true, true },
		{ "VmFlags: rd wr pfx xpf p f", true, false },
		{ "VmFlags:", true, false },
		{ "VmFlags", false, false },
		{ "Rss:   4 kB", false, false },
		{ "", false, false },
	};
	const char *line = lines[_i].line;
	bool has = false;

	ck_assert_int_eq(pdet_smaps_flags(scan(line), "pf", &has),
			 lines[_i].is);
	ck_assert_int_eq(has, lines[_i].has);
}
END_TEST

START_TEST(what_the_text_lacks_is_no_zero)
{
	struct pagedet_usage u = { .size = sizeof(u) };

	ck_assert(pdet_smaps_rollup(scan("Rss: 4 kB\nPss: x kB\n"), &u));
	ck_sum(&u, PAGEDET_SUM_RSS, 4096);
	ck_assert_uint_eq(u.state[PAGEDET_SUM_PSS], PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(u.state[PAGEDET_SUM_HUGETLB], PAGEDET_UNSUPPORTED);
	memset(&u, 0, sizeof(u));
	ck_assert(!pdet_smaps_rollup(scan("no such text\n"), &u));
}
END_TEST

START_TEST(status_is_rough_and_has_little)
{
	struct pagedet_usage u = { .size = sizeof(u) };

	ck_assert(pdet_status_memory(scan("Name:\tx\nVmRSS:\t   8 kB\n"
					  "VmSwap:\t       0 kB\n"),
				     PAGEDET_NO_ACCESS, &u));
	ck_sum(&u, PAGEDET_SUM_RSS, 8192);
	ck_sum(&u, PAGEDET_SUM_SWAP, 0);
	ck_assert_uint_eq(u.state[PAGEDET_SUM_PSS], PAGEDET_NO_ACCESS);
	ck_assert_uint_eq(u.estimated, 1u << PAGEDET_SUM_RSS |
				       1u << PAGEDET_SUM_SWAP);
	memset(&u, 0, sizeof(u));
	ck_assert(!pdet_status_memory(scan("Name:\tkthreadd\n"),
				      PAGEDET_NO_ACCESS, &u));
}
END_TEST

/* --- page tables --- */

#define UNKNOWN (-1)

struct page {
	unsigned kind;
	int maps;		/* UNKNOWN: not known */
	uint64_t pte, pte_known, flags, flags_known;
	bool vague;		/* maps may be an average */
};

#define PTE(bit) PAGEDET_PTE(PAGEDET_PTE_##bit)
#define DIRTY ((uint64_t)1 << PAGEDET_PF_DIRTY)

static struct pagedet_usage count(const struct page *pages, uint32_t n)
{
	struct pagedet_usage u = { .size = sizeof(u) };
	struct pdet_usage_count c = { 0 };
	struct pdet_fields all = pdet_fields_all();
	struct pdet_batch b;
	uint32_t i;

	ck_assert(pdet_batch_init(&b, &all, n, 1 << 16));
	pdet_batch_clear(&b, 1);
	pdet_batch_grow(&b, n);
	for (i = 0; i < n; i++) {
		const struct page *p = &pages[i];

		pdet_put(&b, i, PAGEDET_FIELD_KIND, p->kind, VMCORE);
		pdet_put(&b, i, PAGEDET_FIELD_PTE, p->pte, VMCORE);
		pdet_put(&b, i, PAGEDET_FIELD_PTE_KNOWN, p->pte_known, VMCORE);
		pdet_put(&b, i, PAGEDET_FIELD_FLAGS, p->flags, VMCORE);
		pdet_put(&b, i, PAGEDET_FIELD_FLAGS_KNOWN, p->flags_known,
			 VMCORE);
		if (p->maps == UNKNOWN)
			pdet_put_lost(&b, i, PAGEDET_FIELD_MAPCOUNT,
				      PAGEDET_EXCLUDED, VMCORE);
		else
			pdet_put(&b, i, PAGEDET_FIELD_MAPCOUNT,
				 (uint64_t)p->maps, VMCORE);
		if (p->vague)
			pdet_put_lost(&b, i, PAGEDET_FIELD_MAPCOUNT_KIND,
				      PAGEDET_UNSUPPORTED, VMCORE);
		else
			pdet_put(&b, i, PAGEDET_FIELD_MAPCOUNT_KIND,
				 PAGEDET_MAPCOUNT_EXACT, VMCORE);
	}
	pdet_usage_count(&c, &b, PAGE);
	pdet_usage_sums(&c, &u);
	pdet_batch_free(&b);
	return u;
}

/* For a large folio the kernel may give an average. */
START_TEST(shares_by_what_may_be_an_average_are_estimated)
{
	static const struct page pages[] = {
		{ PAGEDET_KIND_ANON, 2, PTE(PRESENT), PTE(DIRTY), 0, DIRTY,
		  true },
	};
	const struct pagedet_usage u = count(pages, PDET_COUNT(pages));

	ck_assert_uint_eq(u.value[PAGEDET_SUM_PSS], PAGE / 2);
	ck_assert_uint_eq(u.estimated, 1u << PAGEDET_SUM_PSS |
			  1u << PAGEDET_SUM_USS | 1u << PAGEDET_SUM_SHARED);
}
END_TEST

/* A page whose maps is known to be exact or an average. */
#define SURE(kind, ...) { PAGEDET_KIND_##kind, __VA_ARGS__, false }

START_TEST(pages_count_as_in_smaps)
{
	static const struct page pages[] = {
		SURE(ANON, 1, PTE(PRESENT) | PTE(DIRTY), PTE(DIRTY), 0, DIRTY),
		SURE(FILE, 3, PTE(PRESENT), PTE(DIRTY), DIRTY, DIRTY),
		SURE(FILE, 3, PTE(PRESENT), PTE(DIRTY), 0, DIRTY),
		/* They have no page in the reverse map. */
		SURE(ZERO, 0, PTE(PRESENT), PTE(DIRTY), 0, DIRTY),
		SURE(KERNEL, 0, PTE(PRESENT), PTE(DIRTY), 0, DIRTY),
		SURE(HOLE, UNKNOWN, PTE(PRESENT), PTE(DIRTY), 0, 0),
		SURE(HUGETLB, 1, PTE(PRESENT), PTE(DIRTY), 0, 0),
		SURE(ANON, UNKNOWN, PTE(SWAPPED), 0, 0, 0),
		SURE(ANON, UNKNOWN, PTE(GUARD), 0, 0, 0),
	};
	const struct pagedet_usage u = count(pages, PDET_COUNT(pages));

	ck_sum(&u, PAGEDET_SUM_RSS, 3 * PAGE);
	ck_sum(&u, PAGEDET_SUM_USS, PAGE);
	ck_sum(&u, PAGEDET_SUM_SHARED, 2 * PAGE);
	/* (4096 << 12) / 3 twice, and 4096 << 12, >> 12 */
	ck_sum(&u, PAGEDET_SUM_PSS, 4096 + 2730);
	ck_sum(&u, PAGEDET_SUM_DIRTY, 2 * PAGE);
	ck_sum(&u, PAGEDET_SUM_SWAP, PAGE);
	ck_sum(&u, PAGEDET_SUM_HUGETLB, PAGE);
	ck_assert_uint_eq(u.estimated, 0);
}
END_TEST

START_TEST(what_is_not_known_of_one_page_is_not_known)
{
	static const struct page pages[] = {
		SURE(ANON, 1, PTE(PRESENT), PTE(DIRTY), 0, DIRTY),
		SURE(ANON, UNKNOWN, PTE(PRESENT), 0, 0, 0),
	};
	const struct pagedet_usage u = count(pages, PDET_COUNT(pages));

	ck_sum(&u, PAGEDET_SUM_RSS, 2 * PAGE);
	ck_assert_uint_eq(u.estimated, 1u << PAGEDET_SUM_RSS);
	ck_assert_uint_eq(u.state[PAGEDET_SUM_PSS], PAGEDET_EXCLUDED);
	ck_assert_uint_eq(u.value[PAGEDET_SUM_PSS], 0);
	ck_assert_uint_eq(u.state[PAGEDET_SUM_USS], PAGEDET_EXCLUDED);
	ck_assert_uint_eq(u.state[PAGEDET_SUM_DIRTY], PAGEDET_UNSUPPORTED);
}
END_TEST

START_TEST(a_count_below_zero_is_not_known)
{
	static const struct page pages[] = {
		SURE(ANON, 1, PTE(PRESENT), PTE(DIRTY), 0, DIRTY),
		SURE(ANON, -128, PTE(PRESENT), PTE(DIRTY), 0, DIRTY),
	};
	const struct pagedet_usage u = count(pages, PDET_COUNT(pages));

	ck_sum(&u, PAGEDET_SUM_RSS, 2 * PAGE);
	ck_assert_uint_eq(u.state[PAGEDET_SUM_PSS], PAGEDET_CORRUPT);
	ck_assert_uint_eq(u.state[PAGEDET_SUM_USS], PAGEDET_CORRUPT);
}
END_TEST

/* --- processes: one page each --- */

struct world {
	struct pdet_backend backend;
	uint64_t lost;		/* the list of tasks is damaged */
};

static int tasks(struct pdet_backend *b, struct pdet_env *env, uint32_t **ret,
		 size_t *n, uint64_t *lost)
{
	uint32_t i;

	(void)env;
	*ret = calloc(3, sizeof(**ret));
	ck_assert_ptr_nonnull(*ret);
	for (i = 0; i < 3; i++)
		(*ret)[i] = i + 1;
	*n = 3;
	*lost = ((struct world *)b)->lost;
	return 0;
}

static int usage_of(struct pdet_backend *b, struct pdet_env *env, uint32_t pid,
		    struct pdet_usage *ret)
{
	(void)b;
	(void)env;
	ret->row.state[PAGEDET_SUM_RSS] = PAGEDET_HAVE;
	ret->row.value[PAGEDET_SUM_RSS] = pid * PAGE;
	return 1;
}

static int entries(struct pdet_session *s, struct pdet_task *t, uint64_t *at,
		   uint64_t end, bool all, struct pdet_batch *b)
{
	(void)s;
	(void)t;
	(void)at;
	(void)end;
	(void)all;
	(void)b;
	return 0;
}

static const struct pdet_backend_ops ops = {
	.name = "usage",
	.tasks = tasks,
	.usage = usage_of,
	.entries = entries,
};

static struct pdet_usages *ask(struct world *w, const uint32_t *pids, size_t n)
{
	static char root[] = "";
	static struct pdet_env env;
	struct pagedet_usage_options o = PAGEDET_USAGE_OPTIONS_INIT;
	struct pdet_backend *list[] = { &w->backend };
	const struct pdet_usages_args args = {
		.env = &env, .backends = list, .n_backends = 1,
		.sources = ~0u, .page_size = PAGE, .options = &o,
	};
	struct pdet_usages *ret;

	env.root = root;
	w->backend.ops = &ops;
	w->backend.sources = PAGEDET_SOURCE_BIT(VMCORE);
	o.pids = pids;
	o.n_pids = n;
	ck_assert_int_eq(pdet_usages_new(&args, &ret), 0);
	return ret;
}

/* _i: how much of it is lost */
START_TEST(a_damaged_list_of_tasks_is_not_every_process)
{
	static const uint32_t two[] = { 2 };
	struct world w = { .lost = (uint64_t)_i };
	struct pdet_usages *u = ask(&w, NULL, 0);

	ck_assert_uint_eq(u->n, 3);
	ck_assert_uint_eq(u->info.processes, 3);
	ck_assert_uint_eq(u->info.complete, !_i);
	pdet_usages_free(u);
	/* A process named by pid is found. */
	u = ask(&w, two, 1);
	ck_assert_uint_eq(u->n, 1);
	ck_assert_uint_eq(u->info.complete, 1);
	pdet_usages_free(u);
}
END_TEST

/* One row per process, ascending, in any order of the query. */
START_TEST(processes_ascend_and_come_once)
{
	static const uint32_t pids[] = { 70000, 1, 3, 70000, 1, 2, 2 };
	static const uint32_t want[] = { 1, 2, 3, 70000 };
	struct world w = { .lost = 0 };
	struct pdet_usages *u = ask(&w, pids, PDET_COUNT(pids));
	size_t i;

	ck_assert_uint_eq(u->n, PDET_COUNT(want));
	for (i = 0; i < u->n; i++) {
		ck_assert_uint_eq(u->rows[i].row.pid, want[i]);
		ck_sum(&u->rows[i].row, PAGEDET_SUM_RSS, want[i] * PAGE);
	}
	ck_assert_uint_eq(u->info.processes, PDET_COUNT(want));
	pdet_usages_free(u);
	/* An empty list is empty, and not every process. */
	u = ask(&w, pids, 0);
	ck_assert_uint_eq(u->n, 0);
	pdet_usages_free(u);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("usage");

	unit_test(s, rollup_is_added_up);
	unit_loop(s, flags_of_areas_are_found, 7);
	unit_test(s, what_the_text_lacks_is_no_zero);
	unit_test(s, status_is_rough_and_has_little);
	unit_test(s, shares_by_what_may_be_an_average_are_estimated);
	unit_test(s, pages_count_as_in_smaps);
	unit_test(s, what_is_not_known_of_one_page_is_not_known);
	unit_test(s, a_count_below_zero_is_not_known);
	unit_loop(s, a_damaged_list_of_tasks_is_not_every_process, 3);
	unit_test(s, processes_ascend_and_come_once);
	return unit_main(s);
}
