/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests what the page of an object, or of a block of pages, says about it, with
 * a simulated source. tests/live/kmem asks real slabs.
 */
#include "query/walk/objects_state.h"
#include "trace/kmem.h"
#include "../../unit.h"

#define PFN 1234
#define USED PAGEDET_OBJECT_USED
#define FREE PAGEDET_OBJECT_FREE
#define PAGE 4096u
#define ADDRESS 0xffff888000001000u

static unsigned page_kind, page_reason;
static bool page_uncounted, slab_begins = true, slab_has = true;
static uint32_t slab_bytes;

static unsigned kind_of(struct pdet_session *s, uint64_t pfn, unsigned *kind,
			bool *uncounted)
{
	ck_assert_ptr_null(s);
	ck_assert_uint_eq(pfn, PFN);
	*kind = page_kind;
	*uncounted = page_uncounted;
	return page_reason;
}

static bool slab_object(struct pdet_session *s, uint64_t addr, uint32_t *bytes,
			bool *begins)
{
	ck_assert_ptr_null(s);
	ck_assert_uint_eq(addr, ADDRESS);
	*bytes = slab_bytes;
	*begins = slab_begins;
	return slab_has;
}

static const struct pdet_backend_ops ops = { .kind = kind_of,
					     .slab_object = slab_object };
static struct pdet_backend backend = { .ops = &ops };
static struct pdet_iter it = { .page_size = PAGE };
static struct pdet_walk walk = { .it = &it, .backend = &backend };

/* What the row says; @slab is the state before, and @pfn that of the page. */
static unsigned cell(const struct pdet_live *l, unsigned slab, unsigned pfn,
		     uint64_t *value)
{
	const unsigned field = PAGEDET_FIELD_OBJECT_STATE;
	struct pdet_fields fields = { { 0, 0 } };
	struct pdet_batch b;
	unsigned state;

	pdet_fields_add(&fields, PAGEDET_FIELD_PFN);
	pdet_fields_add(&fields, field);
	ck_assert(pdet_batch_init(&b, &fields, 4, 10));
	pdet_batch_grow(&b, 2);
	if (slab == PAGEDET_HAVE)
		pdet_put(&b, 1, field, USED, PAGEDET_SOURCE_BPF);
	else
		pdet_put_lost(&b, 1, field, slab, PAGEDET_SOURCE_BPF);
	if (pfn == PAGEDET_HAVE)
		pdet_put(&b, 1, PAGEDET_FIELD_PFN, PFN, PAGEDET_SOURCE_BPF);
	else
		pdet_put_lost(&b, 1, PAGEDET_FIELD_PFN, pfn,
			      PAGEDET_SOURCE_BPF);
	pdet_objects_state(&walk, NULL, &b, l);
	ck_assert_uint_eq(pdet_batch_state(&b, 0, field), PAGEDET_NOT_ASKED);
	state = pdet_batch_state(&b, 1, field);
	*value = b.value[field][1];
	pdet_batch_free(&b);
	return state;
}

static uint64_t judged(unsigned event, uint32_t bytes, unsigned kind)
{
	const struct pdet_live l = { .kind = (uint8_t)event,
				     .allocated = bytes };
	uint64_t value;

	page_kind = kind;
	page_reason = PAGEDET_HAVE;
	ck_assert_uint_eq(cell(&l, PAGEDET_NONE, PAGEDET_HAVE, &value),
			  PAGEDET_HAVE);
	return value;
}

START_TEST(no_slab_has_no_object)
{
	static const unsigned kinds[] = {
		PAGEDET_KIND_FREE, PAGEDET_KIND_FILE, PAGEDET_KIND_ANON,
		PAGEDET_KIND_PGTABLE, PAGEDET_KIND_UNKNOWN,
		PAGEDET_KIND_KERNEL,
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(kinds); i++) {
		ck_assert_uint_eq(judged(PDET_KMEM_CACHE_ALLOC, 192, kinds[i]),
				  FREE);
		/* A cache may have objects of any size. */
		ck_assert_uint_eq(judged(PDET_KMEM_CACHE_ALLOC, 5 * PAGE,
					 kinds[i]), FREE);
		ck_assert_uint_eq(judged(PDET_KMEM_KMALLOC, 2 * PAGE,
					 kinds[i]), FREE);
	}
}
END_TEST

START_TEST(large_objects_have_pages)
{
	const uint32_t large = 2 * PAGE + 1;

	ck_assert_uint_eq(judged(PDET_KMEM_KMALLOC, large,
				 PAGEDET_KIND_UNKNOWN), USED);
	ck_assert_uint_eq(judged(PDET_KMEM_KMALLOC, large,
				 PAGEDET_KIND_KERNEL), USED);
	ck_assert_uint_eq(judged(PDET_KMEM_KMALLOC, large,
				 PAGEDET_KIND_FREE), FREE);
	ck_assert_uint_eq(judged(PDET_KMEM_KMALLOC, large,
				 PAGEDET_KIND_FILE), FREE);
}
END_TEST

START_TEST(blocks_of_pages_have_any_use)
{
	ck_assert_uint_eq(judged(PDET_KMEM_PAGE_ALLOC, PAGE,
				 PAGEDET_KIND_FREE), FREE);
	ck_assert_uint_eq(judged(PDET_KMEM_PAGE_ALLOC, PAGE,
				 PAGEDET_KIND_SLAB), USED);
	ck_assert_uint_eq(judged(PDET_KMEM_PAGE_ALLOC, 0,
				 PAGEDET_KIND_UNKNOWN), USED);
}
END_TEST

START_TEST(what_is_not_known_stays_so)
{
	const struct pdet_live l = { .kind = PDET_KMEM_CACHE_ALLOC,
				     .object = ADDRESS, .allocated = 192 };
	uint64_t value;

	slab_bytes = 192;
	page_kind = PAGEDET_KIND_FREE;
	page_reason = PAGEDET_HAVE;
	/* The slab has told a reason; or there is no page. */
	ck_assert_uint_eq(cell(&l, PAGEDET_NO_TYPES, PAGEDET_HAVE, &value),
			  PAGEDET_NO_TYPES);
	ck_assert_uint_eq(cell(&l, PAGEDET_NONE, PAGEDET_NONE, &value),
			  PAGEDET_NONE);
	/* The slab has it, but not as one of its objects: KFENCE. */
	page_kind = PAGEDET_KIND_SLAB;
	ck_assert_uint_eq(cell(&l, PAGEDET_NONE, PAGEDET_HAVE, &value),
			  PAGEDET_UNSUPPORTED);
	page_reason = PAGEDET_RACED;
	ck_assert_uint_eq(cell(&l, PAGEDET_NONE, PAGEDET_HAVE, &value),
			  PAGEDET_RACED);
	ck_assert_uint_eq(value, 0);
}
END_TEST

/* Another object is where the traced one was. */
START_TEST(later_objects_are_others)
{
	const struct pdet_live l = { .kind = PDET_KMEM_CACHE_ALLOC,
				     .object = ADDRESS, .allocated = 192 };
	uint64_t value;

	slab_bytes = 192;
	ck_assert_uint_eq(cell(&l, PAGEDET_HAVE, PAGEDET_HAVE, &value),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(value, USED);
	slab_bytes = 256;
	ck_assert_uint_eq(cell(&l, PAGEDET_HAVE, PAGEDET_HAVE, &value),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(value, FREE);
	ck_assert_uint_eq(cell(&l, PAGEDET_NO_TYPES, PAGEDET_HAVE, &value),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(value, FREE);
	slab_bytes = 192;
	slab_begins = false;
	ck_assert_uint_eq(cell(&l, PAGEDET_HAVE, PAGEDET_HAVE, &value),
			  PAGEDET_HAVE);
	ck_assert_uint_eq(value, FREE);
	slab_has = false;
	cell(&l, PAGEDET_HAVE, PAGEDET_HAVE, &value);
	ck_assert_uint_eq(value, USED);
	slab_has = slab_begins = true;
}
END_TEST

static unsigned of_pages(unsigned mobility, unsigned kind, bool uncounted,
			 uint64_t *value)
{
	const struct pdet_live l = { .kind = PDET_KMEM_PAGE_ALLOC,
				     .mobility = mobility & 3, .object = PFN };
	unsigned state;

	page_kind = kind;
	page_reason = PAGEDET_HAVE;
	page_uncounted = uncounted;
	state = cell(&l, PAGEDET_NONE, PAGEDET_HAVE, value);
	page_uncounted = false;
	return state;
}

START_TEST(later_pages_are_others)
{
	uint64_t value;

	of_pages(PDET_LIVE_FIXED, PAGEDET_KIND_ANON, false, &value);
	ck_assert_uint_eq(value, FREE);
	of_pages(PDET_LIVE_MOVABLE, PAGEDET_KIND_ANON, false, &value);
	ck_assert_uint_eq(value, USED);
	of_pages(PDET_LIVE_UNTOLD, PAGEDET_KIND_ANON, false, &value);
	ck_assert_uint_eq(value, USED);
	of_pages(PDET_LIVE_MOVABLE, PAGEDET_KIND_SLAB, false, &value);
	ck_assert_uint_eq(value, FREE);
	of_pages(PDET_LIVE_FIXED, PAGEDET_KIND_PGTABLE, false, &value);
	ck_assert_uint_eq(value, USED);
	ck_assert_uint_eq(of_pages(PDET_LIVE_FIXED, PAGEDET_KIND_FILE, false,
				   &value), PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(of_pages(PDET_LIVE_FIXED, PAGEDET_KIND_HOLE, false,
				   &value), PAGEDET_UNSUPPORTED);
	/* A processor keeps free pages like these. */
	ck_assert_uint_eq(of_pages(PDET_LIVE_FIXED, PAGEDET_KIND_UNKNOWN, true,
				   &value), PAGEDET_UNSUPPORTED);
	ck_assert_uint_eq(of_pages(PDET_LIVE_FIXED, PAGEDET_KIND_SLAB, true,
				   &value), PAGEDET_HAVE);
	ck_assert_uint_eq(value, USED);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("objects_state");

	unit_test(s, no_slab_has_no_object);
	unit_test(s, large_objects_have_pages);
	unit_test(s, blocks_of_pages_have_any_use);
	unit_test(s, what_is_not_known_stays_so);
	unit_test(s, later_objects_are_others);
	unit_test(s, later_pages_are_others);
	return unit_main(s);
}
