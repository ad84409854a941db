/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests bytes of pages: which may be read, that they belong to their rows, and
 * that a program gets those of its own memory.
 */
#include <pagedet.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/page_content.h"
#include "schema/page_bytes.h"
#include "../unit.h"

#define F(name) PAGEDET_FIELD_##name
#define PF(name) PAGEDET_PF(PAGEDET_PF_##name)

static struct pdet_batch b;

static void rows(uint32_t n)
{
	static const uint8_t fields[] = {
		F(PFN), F(KIND), F(FLAGS), F(PTE), F(NOTES), F(CONTENT),
	};
	struct pdet_fields set = { { 0, 0 } };
	size_t i;

	for (i = 0; i < sizeof(fields); i++)
		pdet_fields_add(&set, fields[i]);
	ck_assert(pdet_batch_init(&b, &set, n, 1 << 16));
	pdet_batch_grow(&b, n);
	pdet_put_series(&b, 0, n, F(PFN), 100, 1);
	pdet_put_run(&b, 0, n, F(FLAGS), PF(UPTODATE), 1);
	pdet_put_run(&b, 0, n, F(KIND), PAGEDET_KIND_ANON, 1);
}

/* --- what may be read --- */

static const struct {
	const char *what;
	unsigned kind;
	uint64_t flags;
	uint32_t pte;
	bool stale;
	unsigned why;
} pages[] = {
	{ "ordinary", PAGEDET_KIND_ANON, PF(UPTODATE), 1, false,
	  PAGEDET_HAVE },
	{ "poisoned", PAGEDET_KIND_ANON, PF(HWPOISON), 0, false,
	  PAGEDET_UNSAFE },
	{ "poisoned hugetlb", PAGEDET_KIND_HUGETLB, PF(HWPOISON) | PF(HUGE), 1,
	  false, PAGEDET_UNSAFE },
	{ "offline", PAGEDET_KIND_OFFLINE, PF(OFFLINE), 0, false,
	  PAGEDET_UNSAFE },
	{ "of a device", PAGEDET_KIND_DEVICE, PF(NOPAGE), 0, false,
	  PAGEDET_UNSAFE },
	{ "of a device that is mapped", PAGEDET_KIND_HOLE, PF(NOPAGE),
	  PAGEDET_PTE(PAGEDET_PTE_PRESENT), false, PAGEDET_UNSAFE },
	{ "no memory", PAGEDET_KIND_HOLE, PF(NOPAGE), 0, false,
	  PAGEDET_NONE },
	{ "on its way", PAGEDET_KIND_ANON, 0,
	  PAGEDET_PTE(PAGEDET_PTE_MIGRATION), true, PAGEDET_RACED },
	{ "an entry of poison", PAGEDET_KIND_ANON, 0,
	  PAGEDET_PTE(PAGEDET_PTE_HWPOISON), true, PAGEDET_UNSAFE },
	{ "private to a device", PAGEDET_KIND_ANON, 0,
	  PAGEDET_PTE(PAGEDET_PTE_DEVICE), true, PAGEDET_UNSAFE },
};

START_TEST(refused)
{
	rows(1);
	pdet_put(&b, 0, F(KIND), pages[_i].kind, 1);
	pdet_put(&b, 0, F(FLAGS), pages[_i].flags, 1);
	pdet_put(&b, 0, F(PTE), pages[_i].pte, 1);
	if (pages[_i].stale)
		pdet_put_note(&b, 0, PAGEDET_NOTE_STALE);
	ck_assert_msg(pdet_content_why_not(&b, 0, true) == pages[_i].why,
		      "%s", pages[_i].what);
	/* A dump may be the memory of a crashed machine. */
	ck_assert_msg(pdet_content_why_not(&b, 0, false) == pages[_i].why,
		      "%s, in a dump", pages[_i].what);
	pdet_batch_free(&b);
}
END_TEST

START_TEST(what_is_not_known)
{
	rows(1);
	/* Poison does not matter in a dump. */
	pdet_put_lost(&b, 0, F(FLAGS), PAGEDET_NO_ACCESS, 1);
	ck_assert_int_eq(pdet_content_why_not(&b, 0, true),
			 PAGEDET_NO_ACCESS);
	ck_assert_int_eq(pdet_content_why_not(&b, 0, false), PAGEDET_HAVE);
	pdet_put_none(&b, 0, F(FLAGS), 1);
	ck_assert_int_eq(pdet_content_why_not(&b, 0, true), PAGEDET_UNSAFE);
	/* Without a frame: never touched, swapped out, or hidden. */
	pdet_put_none(&b, 0, F(PFN), 1);
	ck_assert_int_eq(pdet_content_why_not(&b, 0, true), PAGEDET_NONE);
	pdet_put(&b, 0, F(PTE), PAGEDET_PTE(PAGEDET_PTE_SWAPPED), 1);
	ck_assert_int_eq(pdet_content_why_not(&b, 0, true),
			 PAGEDET_TOO_COSTLY);
	pdet_put(&b, 0, F(PTE), PAGEDET_PTE(PAGEDET_PTE_PRESENT), 1);
	pdet_put_lost(&b, 0, F(PFN), PAGEDET_NO_ACCESS, 1);
	ck_assert_int_eq(pdet_content_why_not(&b, 0, true),
			 PAGEDET_NO_ACCESS);
	pdet_batch_free(&b);
}
END_TEST

/* --- rows and their pages --- */

static void take(uint32_t row, char byte)
{
	memset(pdet_page_bytes_next(b.bytes), byte, 4096);
	pdet_content_take(&b, row, PAGEDET_SOURCE_VMCORE);
}

START_TEST(they_go_together)
{
	const uint8_t keep[4] = { 0, 1, 0, 1 };
	struct pdet_batch from;

	rows(4);
	ck_assert_ptr_null(pdet_page_bytes_of(b.bytes, 0));
	ck_assert(pdet_page_bytes_room(&b.bytes, b.cap, 4096));
	take(0, 'a');
	take(1, 'b');
	pdet_put_lost(&b, 2, F(CONTENT), PAGEDET_IO, 1);
	take(3, 'd');
	ck_assert_ptr_null(pdet_page_bytes_of(b.bytes, 2));
	ck_assert_str_eq(pdet_strtab_get(&b.strings, b.value[F(CONTENT)][3],
					 NULL), "byte:0x64");
	pdet_batch_keep(&b, keep);
	ck_assert_int_eq(pdet_page_bytes_of(b.bytes, 0)[4095], 'b');
	ck_assert_int_eq(pdet_page_bytes_of(b.bytes, 1)[0], 'd');
	pdet_page_bytes_drop(b.bytes, 0);
	ck_assert_ptr_null(pdet_page_bytes_of(b.bytes, 0));
	/* To another batch, which has no bytes yet. */
	from = b;
	rows(2);
	ck_assert(pdet_page_bytes_copy(&b.bytes, b.cap, 1, from.bytes, 1));
	ck_assert(pdet_page_bytes_copy(&b.bytes, b.cap, 0, from.bytes, 0));
	ck_assert_int_eq(pdet_page_bytes_of(b.bytes, 1)[100], 'd');
	ck_assert_ptr_null(pdet_page_bytes_of(b.bytes, 0));
	pdet_batch_clear(&b, 1000);
	ck_assert_ptr_null(pdet_page_bytes_of(b.bytes, 1));
	pdet_batch_free(&from);
	pdet_batch_free(&b);
}
END_TEST

/* --- our own memory --- */

#define OWN 6

static struct pagedet *pd;
static struct pagedet_iter *it;
static char *own;

/* The last rows come first; an error explains the missing bytes. */
static void ck_ordered(void)
{
	struct pagedet_item item = {
		(uintptr_t)own, OWN * 4096, (uint32_t)getpid(), 0
	};
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page row[OWN];
	size_t len;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	q.fields[0] = 1ull << F(VADDR) | 1ull << F(CONTENT);
	q.order = PAGEDET_ORDER_DOWN;
	q.order_by = F(VADDR);
	q.limit = OWN;
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	ck_assert_int_eq(pagedet_next(it, row, OWN), OWN);
	ck_assert_str_eq(pagedet_string(it, row[1].content, &len), "byte:0x65");
	ck_assert_str_eq(pagedet_error(pd), "");
	ck_assert_ptr_null(pagedet_page_bytes(it, 1, &len));
	ck_assert_msg(strstr(pagedet_error(pd), "sorted rows") != NULL, "%s",
		      pagedet_error(pd));
	pagedet_iter_free(it);
}

static struct pagedet_iter *ask(const char *where, uint32_t options)
{
	struct pagedet_item item = {
		(uintptr_t)own, OWN * 4096, (uint32_t)getpid(), 0
	};
	struct pagedet_query q = PAGEDET_QUERY_INIT;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	q.where = where;
	q.options = options;
	q.fields[0] = 1ull << F(VADDR) | 1ull << F(CONTENT);
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	return it;
}

static void check_row(const struct pagedet_page *row, uint64_t n)
{
	const char *page = own + (row->vaddr - (uintptr_t)own);
	const void *bytes;
	size_t len = 0;

	bytes = pagedet_page_bytes(it, n, &len);
	if (PAGEDET_CELL_STATE(row->cell[F(CONTENT)]) == PAGEDET_NONE) {
		ck_assert_ptr_null(bytes);
		return;
	}
	ck_assert_ptr_nonnull(bytes);
	ck_assert_uint_eq(len, 4096);
	ck_assert(!memcmp(bytes, page, len));
}

START_TEST(of_this_process)
{
	struct pagedet_page row[OWN];
	struct pagedet_columns c = { .size = sizeof(c) };
	size_t len;
	int i;

	if (sysconf(_SC_PAGESIZE) != 4096)
		unit_skip("pages of another size");
	own = mmap(NULL, OWN * 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(own, MAP_FAILED);
	madvise(own, OWN * 4096, MADV_NOHUGEPAGE);
	for (i = 0; i < OWN - 1; i++)
		memset(own + i * 4096, 'a' + i, 4096);
	own[8] = 1;
	pd = pagedet_new();
	ck_assert(pagedet_open(pd, NULL) == 0);

	it = ask(NULL, 0);
	ck_assert_int_eq(pagedet_next(it, row, 1), 1);
	if (PAGEDET_CELL_STATE(row->cell[F(CONTENT)]) != PAGEDET_HAVE) {
		pagedet_iter_free(it);
		pagedet_free(pd);
		unit_skip("nothing here may read it");
	}
	check_row(row, 0);
	ck_assert_str_eq(pagedet_string(it, row->content, &len), "data");
	/* As rows of later steps are counted. */
	ck_assert_int_eq(pagedet_next(it, row, 2), 2);
	check_row(row, 0);
	check_row(row + 1, 1);
	ck_assert_str_eq(pagedet_string(it, row->content, &len), "byte:0x62");
	ck_assert_ptr_null(pagedet_page_bytes(it, 2, &len));
	ck_assert_ptr_null(pagedet_page_bytes(it, UINT64_MAX, &len));
	ck_assert_int_eq(pagedet_next_columns(it, &c), 3);
	ck_assert(!memcmp(pagedet_page_bytes(it, 0, &len), own + 3 * 4096,
			  4096));
	/* The last one was never touched, before or now. */
	ck_assert_ptr_null(pagedet_page_bytes(it, 2, &len));
	ck_assert_int_eq(pagedet_next(it, row, 1), 0);
	ck_assert_ptr_null(pagedet_page_bytes(it, 0, &len));
	pagedet_iter_free(it);

	/* The remaining ones. */
	it = ask("content=byte:0x64 or content=byte:0x65", 0);
	ck_assert_int_eq(pagedet_next(it, row, OWN), 2);
	ck_assert(row[0].vaddr == (uintptr_t)own + 3 * 4096);
	check_row(row, 0);
	check_row(row + 1, 1);
	pagedet_iter_free(it);

	/* A row for several pages has no bytes. */
	it = ask(NULL, PAGEDET_Q_RUNS);
	ck_assert_int_ge(pagedet_next(it, row, OWN), 2);
	ck_assert_str_eq(pagedet_error(pd), "");
	ck_assert_ptr_null(pagedet_page_bytes(it, 0, &len));
	ck_assert_str_ne(pagedet_error(pd), "");
	pagedet_iter_free(it);
	ck_ordered();
	pagedet_free(pd);
	munmap(own, OWN * 4096);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("page bytes");

	unit_loop(s, refused, sizeof(pages) / sizeof(*pages));
	unit_test(s, what_is_not_known);
	unit_test(s, they_go_together);
	unit_test(s, of_this_process);
	return unit_main(s);
}
