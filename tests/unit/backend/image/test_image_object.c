/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the object at an address of the direct map: none, or not known. */
#include <errno.h>

#include "backend/image/kernel.h"
#include "kernel/page/run.h"
#include "../../kmem.h"
#include "../../pages.h"

#define DIRECT 0xffff888000000000ull
#define SOURCE PAGEDET_SOURCE_VMCORE
#define ONLINE 4	/* of a section */
/* Page 64 is the first one whose struct page is not in the page of page 0's. */
enum { PLAIN, SLAB, OTHER_PAGE = 64, SECTION_SHIFT = 15 };

struct asking {
	struct kmem *k;
	struct image im;
	struct image_session session;
	struct pdet_batch b;
	uint64_t section[2];
	uint64_t *root;
};

static void set_pages(struct asking *a)
{
	const struct pdet_layout *l = &a->im.layout;
	char page[PDET_PAGE_BYTES] = "";

	pages_plain(l, page, 0, 0, 0, 1);
	kmem_write(a->k, PAGES_MAP + PLAIN * 64, page, 64);
	kmem_write(a->k, PAGES_MAP + OTHER_PAGE * 64, page, 64);
	pages_typed(l, page, PAGEDET_KIND_SLAB, 1);
	kmem_write(a->k, PAGES_MAP + SLAB * 64, page, 64);
}

static struct asking *start(bool live)
{
	struct asking *a = calloc(1, sizeof(*a));
	struct pdet_fields want = { { 0, 0 } };

	ck_assert_ptr_nonnull(a);
	a->k = kmem_new();
	a->k->m->memory.live = live;
	a->im.memory = &a->k->m->memory;
	a->im.paging = a->k->p;
	pagekernel_layout(&a->im.layout, AGE_6_18, true);
	a->section[0] = PAGES_MAP | ONLINE;
	a->root = a->section;
	a->im.memmap = (struct pdet_memmap){
		.page_size = 64, .section_shift = SECTION_SHIFT,
		.root_shift = 1, .root = &a->root, .n_roots = 1,
		.n_sections = 1,
	};
	a->im.kernel.areas.paging = &a->k->p;
	a->im.kernel.areas.direct = DIRECT;
	a->im.kernel.areas.has_direct = true;
	a->im.kernel.areas.area[0] = (struct pdet_area){
		.first = DIRECT, .last = DIRECT + 0xffffffffff,
		.name = "[direct map]", .map = PAGEDET_MAP_DIRECT
	};
	a->im.kernel.areas.n = 1;
	a->im.slabs.error = -ENODATA;
	a->session.image = &a->im;
	a->session.space = a->k->space;
	pdet_page_run_init(&a->session.run, &a->im.layout, &a->session.space);
	set_pages(a);
	pdet_fields_add(&want, PAGEDET_FIELD_OBJECT);
	pdet_fields_add(&want, PAGEDET_FIELD_OBJECT_STATE);
	ck_assert(pdet_batch_init(&a->b, &want, 8, 1 << 20));
	ck_assert_int_eq(pdet_batch_grow(&a->b, 1), 0);
	return a;
}

static void end(struct asking *a)
{
	pdet_batch_free(&a->b);
	kmem_free(a->k);
	free(a);
}

static void is(struct asking *a, uint64_t pfn, unsigned state)
{
	const struct image_address address = {
		.va = DIRECT + (pfn << 12), .is_kernel = true, .mapped = true,
		.has_addr = true, .addr = pfn << 12
	};

	pdet_image_put_object(&a->session, &a->b, 0, &address);
	ck_assert_uint_eq(pdet_batch_state(&a->b, 0, PAGEDET_FIELD_OBJECT),
			  state);
	ck_assert_uint_eq(pdet_batch_state(&a->b, 0,
					   PAGEDET_FIELD_OBJECT_STATE), state);
}

START_TEST(known)
{
	struct asking *a = start(_i);

	is(a, PLAIN, PAGEDET_NONE);
	is(a, SLAB, PAGEDET_NO_TYPES);
	/* No memory has a struct page there. */
	is(a, 1ull << SECTION_SHIFT, PAGEDET_NONE);
	a->section[0] &= ~(uint64_t)ONLINE;
	is(a, SLAB, PAGEDET_NONE);
	end(a);
}
END_TEST

/* It may be an object, so that none is not the answer. */
START_TEST(lost_page)
{
	struct asking *a = start(false);

	kmem_fail(a->k, PAGES_MAP + OTHER_PAGE * 64, -ENODATA);
	is(a, OTHER_PAGE, PAGEDET_EXCLUDED);
	kmem_fail(a->k, PAGES_MAP + OTHER_PAGE * 64, -EIO);
	is(a, OTHER_PAGE, PAGEDET_IO);
	is(a, PLAIN, PAGEDET_NONE);
	/* The head of a tail is not one. */
	kmem_u64(a->k, PAGES_MAP + 8, (PAGES_MAP + 3) | 1);
	is(a, PLAIN, PAGEDET_CORRUPT);
	a->k->m->memory.live = true;
	is(a, PLAIN, PAGEDET_RACED);
	end(a);
}
END_TEST

START_TEST(lost_map)
{
	struct pdet_memmap_lost lost = { 1, 1, -ENODATA };
	struct asking *a = start(false);

	a->im.memmap.lost = &lost;
	a->im.memmap.n_lost = 1;
	is(a, 1ull << SECTION_SHIFT, PAGEDET_EXCLUDED);
	is(a, PLAIN, PAGEDET_NONE);
	a->im.pages.error = -EBADMSG;
	is(a, PLAIN, PAGEDET_NO_TYPES);
	end(a);
}
END_TEST

/* Memory is where the page tables have it, and nowhere else. */
START_TEST(mapped)
{
	const uint64_t memory = DIRECT + (PLAIN << 12);
	struct asking *a = start(true);
	struct pdet_at at;

	a->session.reader = &a->k->m->reader;
	kmem_u64(a->k, memory, 1);
	pdet_image_object_at(&a->session.session, memory + 8, &at);
	ck_assert_uint_eq(at.map, PAGEDET_HAVE);
	pdet_image_object_at(&a->session.session, memory + (1 << 21), &at);
	ck_assert_uint_eq(at.map, PAGEDET_NONE);
	/* It has the bit of the kernel only. */
	pdet_image_object_at(&a->session.session, 1ull << 63, &at);
	ck_assert_uint_eq(at.map, PAGEDET_NONE);
	physical_fail(a->k->m, a->k->p.root, -EIO);
	pdet_image_object_at(&a->session.session, memory, &at);
	ck_assert_uint_eq(at.map, PAGEDET_IO);
	end(a);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("image_object");

	unit_loop(s, known, 2);
	unit_test(s, lost_page);
	unit_test(s, lost_map);
	unit_test(s, mapped);
	return unit_main(s);
}
