/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests the fast path of a query about one address after the other. Its rows
 * and coverage must equal those of the normal path, for pages of every kind.
 */
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pagedet.h"
#include "../../unit.h"

#define PAGES 64
/* The kernel may change a flag between two queries. */
#define TRIES 20

static const char *const fields[] = {
	"pfn", "pfn,flags", "pfn,mapcount", "memcg_ino", "kind,memcg_ino",
	"ask,pid,vaddr,pfn,kind,flags,mapcount,memcg_ino,vma_start,vma_end,vma_prot,notes",
	/* not possible in the fast path */
	"pfn,flags,pte", "pfn,node", "pfn,flags,mapcount_kind,order",
};

/* Makes memory of a kind, and touches it as that kind needs. */
static char *make(unsigned kind, size_t size)
{
	int shared = kind == 3 ? MAP_SHARED : MAP_PRIVATE;
	char *p = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE,
		       shared | MAP_ANONYMOUS, -1, 0);
	size_t at;

	ck_assert(p != MAP_FAILED);
	switch (kind) {
	case 0:		/* small pages */
	case 3:
		madvise(p, 2 * size, MADV_NOHUGEPAGE);
		memset(p, 1, size);
		break;
	case 1:		/* huge pages, if available */
		madvise(p, 2 * size, MADV_HUGEPAGE);
		memset(p, 1, size);
		break;
	case 2:		/* the zero page; every other page is untouched */
		madvise(p, 2 * size, MADV_NOHUGEPAGE);
		for (at = 0; at < size; at += 2 * (size_t)getpagesize())
			(void)*(volatile char *)(p + at);
		break;
	case 4:		/* in no VMA */
		munmap(p, 2 * size);
		break;
	}
	return p;
}

struct asker {
	struct pagedet *pd;
	const char *fields;
	uint32_t options;
	struct pagedet_iter *it; /* kept for the fast path; NULL: a new one */
};

static struct pagedet_iter *query(const struct asker *a, uint64_t addr)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_item item = { addr, 1, (uint32_t)getpid(), 0 };
	struct pagedet_iter *it;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	q.options = a->options;
	ck_assert_int_eq(pagedet_fields_parse(a->pd, a->fields, &q), 0);
	ck_assert_msg(pagedet_query(a->pd, &q, &it) == 0, "%s",
		      pagedet_error(a->pd));
	return it;
}

static void take(struct pagedet_iter *it, struct pagedet_page *row,
		 struct pagedet_coverage *cover)
{
	struct pagedet_page none;

	memset(row, 0xee, sizeof(*row));
	ck_assert_int_eq(pagedet_next(it, row, 1), 1);
	ck_assert_int_eq(pagedet_next(it, &none, 1), 0);
	memset(cover, 0, sizeof(*cover));
	cover->size = sizeof(*cover);
	ck_assert_int_eq(pagedet_coverage(it, cover), 0);
}

/* Uses both paths and checks that they agree. */
static bool agree(const struct asker *a, uint64_t addr)
{
	struct pagedet_item item = { addr, 1, (uint32_t)getpid(), 0 };
	struct pagedet_page slow, fast;
	struct pagedet_coverage slow_cover, fast_cover;
	struct pagedet_iter *it = query(a, addr);

	take(it, &slow, &slow_cover);
	pagedet_iter_free(it);
	ck_assert_int_eq(pagedet_iter_retarget(a->it, &item, 1), 0);
	take(a->it, &fast, &fast_cover);
	return !memcmp(&slow, &fast, sizeof(slow)) &&
	       !memcmp(&slow_cover, &fast_cover, sizeof(slow_cover));
}

START_TEST(the_short_way_is_the_long_way)
{
	const unsigned kind = (unsigned)_i % 5;
	const size_t page = (size_t)getpagesize();
	const size_t size = kind == 1 ? (size_t)4 << 20 : PAGES * page;
	char *p = make(kind, size);
	struct asker a = { .pd = pagedet_new(),
			   .fields = fields[_i / 10],
			   .options = _i / 5 % 2 ? PAGEDET_Q_UNCHECKED : 0 };
	size_t at;
	int try;

	ck_assert_ptr_nonnull(a.pd);
	ck_assert_msg(pagedet_open(a.pd, NULL) == 0, "%s",
		      pagedet_error(a.pd));
	a.it = query(&a, (uintptr_t)p);
	/* Also in the middle of pages, and past the end. */
	for (at = 0; at < size + page; at += size / PAGES + 1) {
		for (try = 0; try < TRIES; try++)
			if (agree(&a, (uintptr_t)p + at))
				break;
		ck_assert_msg(try < TRIES, "%s: kind %u, page %zu", a.fields,
			      kind, at / page);
	}
	pagedet_iter_free(a.it);
	pagedet_free(a.pd);
	if (kind != 4)
		munmap(p, 2 * size);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("glance");

	unit_loop(s, the_short_way_is_the_long_way,
		  10 * (int)(sizeof(fields) / sizeof(*fields)));
	return unit_main(s);
}
