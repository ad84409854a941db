/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests rows from page_owner's records. An impossible value affects only its
 * field, an unreadable record only its pages, and each stack is looked up once.
 */
#include "backend/image/page_owner.h"
#include "../../owners.h"
#include "../../pages.h"

#define F(name) PAGEDET_FIELD_##name
#define SOURCE PAGEDET_SOURCE_VMCORE

/* The record of a page. */
#define RECORD(o, i) ((o)->ext + (i) * EXT_SIZE + OWNER_AT)

struct asking {
	struct owners *o;
	struct image im;
	struct image_session s;
	struct pdet_batch b;
	struct pdet_fields want;
};

static struct asking *asking_new(uint32_t rows)
{
	struct asking *a = calloc(1, sizeof(*a));
	uint32_t i;

	ck_assert_ptr_nonnull(a);
	a->o = owners_new(true, false);
	a->im.memory = &a->o->k->m->memory;
	a->im.memmap = a->o->m;
	a->im.paging = a->o->k->p;
	a->im.symbols.error = -ENODATA; /* addresses have no names */
	a->im.page_owner.depot = a->o->depot;
	a->im.page_owner.has_depot = true;
	a->im.page_owner.has_lock = true;
	ck_assert_int_eq(pthread_mutex_init(&a->im.page_owner.lock, NULL), 0);
	ck_assert_int_eq(pdet_page_owners_init(&a->im.page_owner.records,
					       &a->o->k->space, a->o->s.btf,
					       &a->o->symbols), 0);
	ck_assert_int_eq(pdet_gfp_names_read(&a->im.page_owner.gfp,
					     &a->o->k->space, a->o->s.btf,
					     a->o->gfp), 0);
	ck_assert_int_eq(pdet_migrate_reasons_read(&a->im.page_owner.reasons,
						   &a->o->k->space,
						   a->o->s.btf,
						   a->o->reasons), 0);
	a->im.page_owner.has_mobility = true;
	a->im.page_owner.mobility = (struct pdet_gfp_mobility){ 8, 16, false };
	a->s.image = &a->im;
	a->s.reader = &a->o->k->m->reader;
	a->s.space = a->o->k->space;
	a->want = pdet_fields_all();
	pdet_fields_remove(&a->want, F(MIGRATETYPE));
	ck_assert(pdet_batch_init(&a->b, &a->want, 512, 1 << 20));
	ck_assert_int_eq(pdet_batch_grow(&a->b, rows), 0);
	for (i = 0; i < rows; i++)
		pdet_put(&a->b, i, F(PFN), FIRST_PFN + i, SOURCE);
	return a;
}

static void asking_free(struct asking *a)
{
	pdet_batch_free(&a->b);
	pdet_image_stacks_free(a->s.stacks);
	free(a->s.records);
	pdet_image_page_owner_unload(&a->im);
	owners_free(a->o);
	free(a);
}

/* Allocates page @i, which stays in use. */
static void allocate(struct asking *a, uint32_t i, uint32_t stack)
{
	struct owners *o = a->o;

	kmem_u64(o->k, o->ext + i * EXT_SIZE, 1 | 2);
	kmem_u32(o->k, RECORD(o, i), 1 | 0xffffu << 16);
	kmem_u32(o->k, RECORD(o, i) + 4, 0xdc0);
	kmem_u32(o->k, RECORD(o, i) + 8, stack);
	kmem_u64(o->k, RECORD(o, i) + 16, 1000 + i);
	kmem_text(o->k, RECORD(o, i) + 32, "task");
	kmem_u32(o->k, RECORD(o, i) + 48, 70 + i);
	kmem_u32(o->k, RECORD(o, i) + 52, 70);
}

static void ask(struct asking *a)
{
	ck_assert_int_eq(pdet_image_put_page_owner(&a->s, &a->b, &a->want,
						   SOURCE), 0);
}

static unsigned state(const struct asking *a, uint32_t row, unsigned field)
{
	return pdet_batch_state(&a->b, row, field);
}

static const char *text(const struct asking *a, uint32_t row, unsigned field)
{
	ck_assert_uint_eq(state(a, row, field), PAGEDET_HAVE);
	return pdet_strtab_get(&a->b.strings, a->b.value[field][row], NULL);
}

/* Only these fields about the allocation have no answer in the row. */
static void only_bad(const struct asking *a, uint32_t row, unsigned want,
		     struct pdet_fields bad)
{
	static const uint8_t have[] = {
		F(ALLOC_STACK), F(ALLOC_PID), F(ALLOC_TGID), F(ALLOC_COMM),
		F(GFP_MASK), F(GFP), F(ALLOC_ORDER), F(ALLOC_NS), F(ALLOCATOR),
		F(PAGE_MOBILITY),
	};
	unsigned i;

	for (i = 0; i < sizeof(have); i++)
		ck_assert_msg(state(a, row, have[i]) ==
			      (pdet_fields_has(&bad, have[i]) ? want :
			       PAGEDET_HAVE), "row %u, %s: %s", row,
			      pdet_field_info(have[i])->name,
			      pdet_state_name(state(a, row, have[i])));
}

static struct pdet_fields two(unsigned one, unsigned other)
{
	struct pdet_fields set = { { 0, 0 } };

	pdet_fields_add(&set, one);
	pdet_fields_add(&set, other);
	return set;
}

START_TEST(what_is_kept)
{
	struct asking *a = asking_new(5);
	const uint32_t stack = owners_stack(a->o, true, 1, 8, 2,
					    0xffffffffc0001000);
	struct pdet_text frames;
	uint64_t id;

	allocate(a, 1, stack);
	/* Freed, with a reason of an earlier migration. */
	allocate(a, 2, stack);
	kmem_u32(a->o->k, RECORD(a->o, 2) + 4, 0xdd8);
	kmem_u64(a->o->k, a->o->ext + 2 * EXT_SIZE, 1);
	kmem_u32(a->o->k, RECORD(a->o, 2), 3 | 1u << 16);
	kmem_u32(a->o->k, RECORD(a->o, 2) + 12, stack);
	kmem_u64(a->o->k, RECORD(a->o, 2) + 24, 5000);
	/* the page does not exist */
	pdet_put_none(&a->b, 3, F(PFN), SOURCE);
	/* Freed, after it was in use since boot. */
	kmem_u32(a->o->k, RECORD(a->o, 4) + 12, stack);
	kmem_u64(a->o->k, RECORD(a->o, 4) + 24, 6000);
	ask(a);
	ck_assert_uint_eq(state(a, 4, F(ALLOC_STACK)), PAGEDET_NONE);
	ck_assert_uint_eq(state(a, 4, F(ALLOC_ORDER)), PAGEDET_NONE);
	ck_assert_uint_eq(state(a, 4, F(FREE_STACK)), PAGEDET_HAVE);
	ck_assert_uint_eq(a->b.value[F(FREE_NS)][4], 6000);
	/* There is no record of it. */
	ck_assert_uint_eq(state(a, 0, F(ALLOC_STACK)), PAGEDET_NONE);
	ck_assert_uint_eq(state(a, 0, F(FREE_NS)), PAGEDET_NONE);
	only_bad(a, 1, PAGEDET_HAVE, (struct pdet_fields){ { 0, 0 } });
	ck_assert_uint_eq(a->b.value[F(ALLOC_PID)][1], 71);
	ck_assert_uint_eq(a->b.value[F(ALLOC_NS)][1], 1001);
	ck_assert_uint_eq(a->b.value[F(ALLOC_ORDER)][1], 1);
	ck_assert_str_eq(text(a, 1, F(GFP)), "GFP_KERNEL|__GFP_ZERO");
	ck_assert_str_eq(text(a, 1, F(PAGE_MOBILITY)), "Unmovable");
	ck_assert_str_eq(text(a, 2, F(PAGE_MOBILITY)), "HighAtomic");
	ck_assert_uint_eq(state(a, 4, F(PAGE_MOBILITY)), PAGEDET_NONE);
	ck_assert_str_eq(text(a, 1, F(ALLOC_COMM)), "task");
	ck_assert_str_eq(text(a, 1, F(ALLOCATOR)), "others");
	ck_assert_uint_eq(state(a, 1, F(FREE_STACK)), PAGEDET_NONE);
	ck_assert_uint_eq(state(a, 1, F(FREE_NS)), PAGEDET_NONE);
	ck_assert_uint_eq(state(a, 1, F(MIGRATE_REASON)), PAGEDET_NONE);
	ck_assert_uint_eq(a->b.value[F(ALLOC_ORDER)][2], 3);
	ck_assert_uint_eq(a->b.value[F(FREE_NS)][2], 5000);
	ck_assert_str_eq(text(a, 2, F(MIGRATE_REASON)), "memory_failure");
	ck_assert_uint_eq(state(a, 3, F(ALLOC_PID)), PAGEDET_NONE);
	id = a->b.value[F(ALLOC_STACK)][1];
	ck_assert_uint_eq(a->b.value[F(FREE_STACK)][2], id);
	ck_assert_int_eq(pdet_image_stack_text(&a->s.session, id, &frames), 0);
	ck_assert_uint_eq(frames.len, 38);
	ck_assert_mem_eq(frames.data,
			 "0xffffffffc0001000\n0xffffffffc0001001\n", 38);
	pdet_text_free(&frames);
	ck_assert_int_eq(pdet_image_stack_text(&a->s.session, id + 1, &frames),
			 -ENOENT);
	/* Another stack has replaced it. */
	kmem_u64(a->o->k, a->o->pool[1] + 8 * 16 + R_ENTRIES, 0xffffffffc0);
	ck_assert_int_eq(pdet_image_stack_text(&a->s.session, id, &frames),
			 -ENOENT);
	asking_free(a);
}
END_TEST

START_TEST(nonsense)
{
	struct asking *a = asking_new(10);
	struct kmem *k = a->o->k;
	const uint32_t good = owners_stack(a->o, true, 0, 8, 2,
					   0xffffffffc0001000);
	uint32_t i;

	for (i = 0; i < 10; i++)
		allocate(a, i, good);
	kmem_u32(k, RECORD(a->o, 0), 40 | 0xffffu << 16);
	kmem_u32(k, RECORD(a->o, 1), 0xffff | 0xffffu << 16);
	kmem_u32(k, RECORD(a->o, 2) + 48, (uint32_t)-7);
	kmem_u32(k, RECORD(a->o, 2) + 52, 99999999);
	kmem_u32(k, RECORD(a->o, 3), 1 | 99u << 16);
	/* Handles without a stack: no pool, another place, past all pools. */
	kmem_u32(k, RECORD(a->o, 4) + 8, 0x20000);
	kmem_u32(k, RECORD(a->o, 5) + 8, good + (1u << 17));
	kmem_u32(k, RECORD(a->o, 6) + 8, 0xffffffff);
	/* Stacks without frames, and with too many. */
	kmem_u32(k, RECORD(a->o, 7) + 8, owners_stack(a->o, true, 1, 8, 0, 0));
	kmem_u32(k, RECORD(a->o, 8) + 8,
		 owners_stack(a->o, true, 1, 64, 1000, 0));
	/* A stack that contains itself as a frame, and no memory. */
	kmem_u32(k, RECORD(a->o, 9) + 8,
		 owners_stack(a->o, true, 2, 8, 64, a->o->pool[2] + 8 * 16));
	ask(a);
	for (i = 0; i < 2; i++)
		only_bad(a, i, PAGEDET_CORRUPT,
			 two(F(ALLOC_ORDER), F(ALLOC_ORDER)));
	only_bad(a, 2, PAGEDET_CORRUPT, two(F(ALLOC_PID), F(ALLOC_TGID)));
	only_bad(a, 3, PAGEDET_CORRUPT, (struct pdet_fields){ { 0, 0 } });
	ck_assert_uint_eq(state(a, 3, F(MIGRATE_REASON)), PAGEDET_CORRUPT);
	for (i = 4; i < 9; i++)
		only_bad(a, i, PAGEDET_CORRUPT,
			 two(F(ALLOC_STACK), F(ALLOCATOR)));
	only_bad(a, 9, PAGEDET_HAVE, (struct pdet_fields){ { 0, 0 } });
	asking_free(a);
}
END_TEST

/* What older kernels do not keep is missing, and not 0. */
START_TEST(of_5_10)
{
	static const uint8_t absent[] = {
		F(ALLOC_PID), F(ALLOC_TGID), F(ALLOC_COMM), F(ALLOC_NS),
		F(FREE_NS),
	};
	struct asking *a = asking_new(1);
	unsigned i;

	allocate(a, 0, owners_stack(a->o, true, 0, 8, 2, 0xffffffffc0001000));
	structs_free(&a->o->s);
	owners_types_5_10(&a->o->s);
	ck_assert_int_eq(pdet_page_owners_init(&a->im.page_owner.records,
					       &a->o->k->space, a->o->s.btf,
					       &a->o->symbols), 0);
	ask(a);
	ck_assert_uint_eq(a->b.value[F(ALLOC_ORDER)][0], 1);
	for (i = 0; i < sizeof(absent); i++)
		ck_assert_uint_eq(state(a, 0, absent[i]), PAGEDET_NO_KERNEL);
	asking_free(a);
}
END_TEST

/* Data that this kernel does not keep or name is not invented. */
START_TEST(without_names)
{
	struct asking *a = asking_new(1);

	allocate(a, 0, owners_stack(a->o, true, 0, 8, 2, 0xffffffffc0001000));
	kmem_u32(a->o->k, RECORD(a->o, 0), 1);
	a->im.page_owner.has_depot = false;
	a->im.page_owner.gfp.n = 0;
	a->im.page_owner.has_mobility = false;
	a->im.page_owner.reasons.n = 0;
	ask(a);
	ck_assert_uint_eq(state(a, 0, F(ALLOC_STACK)), PAGEDET_NO_TYPES);
	ck_assert_uint_eq(state(a, 0, F(ALLOCATOR)), PAGEDET_NO_TYPES);
	ck_assert_uint_eq(state(a, 0, F(GFP)), PAGEDET_NO_TYPES);
	ck_assert_uint_eq(state(a, 0, F(PAGE_MOBILITY)), PAGEDET_NO_TYPES);
	ck_assert_uint_eq(state(a, 0, F(MIGRATE_REASON)), PAGEDET_NO_TYPES);
	ck_assert_uint_eq(a->b.value[F(GFP_MASK)][0], 0xdc0);
	ck_assert_uint_eq(a->b.value[F(ALLOC_PID)][0], 70);
	asking_free(a);
}
END_TEST

START_TEST(a_stack_is_read_once)
{
	struct asking *a = asking_new(90);
	const uint32_t stack = owners_stack(a->o, true, 1, 8, 2,
					    0xffffffffc0001000);
	uint64_t id;
	uint32_t i;

	for (i = 0; i < 90; i++)
		allocate(a, i, stack);
	ask(a);
	id = a->b.value[F(ALLOC_STACK)][0];
	kmem_fail(a->o->k, a->o->pool[1], -ENODATA);
	ask(a);
	for (i = 0; i < 90; i++) {
		ck_assert_uint_eq(state(a, i, F(ALLOC_STACK)), PAGEDET_HAVE);
		ck_assert_uint_eq(a->b.value[F(ALLOC_STACK)][i], id);
	}
	asking_free(a);
}
END_TEST

/* 90 records are on three pages of memory, the second of which is missing. */
START_TEST(some_are_lost)
{
	struct asking *a = asking_new(90);
	const uint32_t stack = owners_stack(a->o, true, 1, 8, 2,
					    0xffffffffc0001000);
	const uint64_t lost = (a->o->ext + 4095) & -4096ull;
	struct pdet_memmap_lost section = { 7, 7, -EIO };
	uint32_t i;

	for (i = 0; i < 90; i++)
		allocate(a, i, stack);
	kmem_fail(a->o->k, lost, -ENODATA);
	ask(a);
	for (i = 0; i < 90; i++) {
		const uint64_t at = a->o->ext + i * EXT_SIZE;
		const bool gone = at < lost + 4096 && at + EXT_SIZE > lost;

		ck_assert_uint_eq(state(a, i, F(ALLOC_PID)), gone ?
				  PAGEDET_EXCLUDED : PAGEDET_HAVE);
		if (!gone)
			ck_assert_uint_eq(a->b.value[F(ALLOC_PID)][i], 70 + i);
	}
	/* Whether the section exists is not known; there is no other. */
	a->im.memmap.lost = &section;
	a->im.memmap.n_lost = 1;
	pdet_put(&a->b, 0, F(PFN), 7ull << a->im.memmap.section_shift, SOURCE);
	pdet_put(&a->b, 1, F(PFN), 8ull << a->im.memmap.section_shift, SOURCE);
	ask(a);
	ck_assert_uint_eq(state(a, 0, F(ALLOC_PID)), PAGEDET_IO);
	ck_assert_uint_eq(state(a, 0, F(ALLOC_STACK)), PAGEDET_IO);
	ck_assert_uint_eq(state(a, 1, F(ALLOC_PID)), PAGEDET_NONE);
	asking_free(a);
}
END_TEST

/* Gives the struct pages and the types of three blocks of 512 pages. */
static void make_blocks(struct asking *a)
{
	struct pdet_pageblocks *blocks = &a->im.page_owner.blocks;
	struct kmem *k = a->o->k;
	const uint64_t usage = kmem_object(k, 64);
	char page[64], never[64];
	uint32_t i;

	pagekernel_layout(&a->im.layout, AGE_6_12, false);
	a->im.layout.member[PDET_MEMBER_SECTION_USAGE] = 8;
	blocks->bits = 4;
	blocks->shift = 9;
	blocks->isolate_bit = -1;
	blocks->type[0] = "Unmovable";
	blocks->type[1] = "Movable";
	kmem_u64(k, a->o->root + 32 + 8, usage);
	kmem_u64(k, usage, 0x101);
	pages_plain(&a->im.layout, page, 0, 0, 0, 1);
	memset(never, 0xff, sizeof(never));
	/* Only the second block begins with a page that is uninitialised. */
	for (i = 0; i < 3 * 512; i++)
		kmem_write(k, PAGES_MAP + (FIRST_PFN + i) * 64,
			   i / 512 == 1 ? (i % 512 ? page : never) :
					  (i % 512 ? never : page), 64);
	pdet_fields_add(&a->want, F(MIGRATETYPE));
	pdet_batch_free(&a->b);
	ck_assert(pdet_batch_init(&a->b, &a->want, 512, 1 << 20));
	ck_assert_int_eq(pdet_batch_grow(&a->b, 2), 0);
}

static void ask_blocks(struct asking *a, uint32_t i, unsigned want,
		       const char *type)
{
	uint32_t row;

	pdet_put(&a->b, 0, F(PFN), FIRST_PFN + i, SOURCE);
	pdet_put(&a->b, 1, F(PFN), FIRST_PFN + i + 1, SOURCE);
	ask(a);
	for (row = 0; row < 2; row++) {
		ck_assert_uint_eq(state(a, row, F(MIGRATETYPE)), want);
		if (type)
			ck_assert_str_eq(text(a, row, F(MIGRATETYPE)), type);
	}
}

/*
 * The first page of a block shows whether the kernel has set its type,
 * whichever page a batch begins with.
 */
START_TEST(types_of_blocks)
{
	struct asking *a = asking_new(1);

	make_blocks(a);
	ask_blocks(a, 0, PAGEDET_HAVE, "Movable");
	ask_blocks(a, 5, PAGEDET_HAVE, "Movable");
	ask_blocks(a, 512, PAGEDET_NONE, NULL);
	ask_blocks(a, 517, PAGEDET_NONE, NULL);
	ask_blocks(a, 1029, PAGEDET_HAVE, "Movable");
	asking_free(a);
}
END_TEST

/* Without the first page, the type may be one that was never set. */
START_TEST(lost_blocks)
{
	struct asking *a = asking_new(1);
	uint64_t usage;

	make_blocks(a);
	kmem_fail(a->o->k, PAGES_MAP + (FIRST_PFN + 1024) * 64, -ENODATA);
	ask_blocks(a, 1034, PAGEDET_EXCLUDED, NULL);
	ask_blocks(a, 5, PAGEDET_HAVE, "Movable");
	ck_assert_int_eq(pdet_space_u64(&a->o->k->space, a->o->root + 32 + 8,
					&usage), 0);
	/* A type without a name, and no types at all. */
	kmem_u64(a->o->k, usage, 0x7);
	ask_blocks(a, 5, PAGEDET_CORRUPT, NULL);
	kmem_u64(a->o->k, a->o->root + 32 + 8, 0x1234);
	ask_blocks(a, 5, PAGEDET_CORRUPT, NULL);
	asking_free(a);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("image_page_owner");

	unit_test(s, what_is_kept);
	unit_test(s, nonsense);
	unit_test(s, of_5_10);
	unit_test(s, without_names);
	unit_test(s, a_stack_is_read_once);
	unit_test(s, some_are_lost);
	unit_test(s, types_of_blocks);
	unit_test(s, lost_blocks);
	return unit_main(s);
}
