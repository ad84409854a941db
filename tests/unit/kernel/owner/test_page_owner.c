/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests a page's allocator, its stacks, and the names of its numbers. */
#include "kernel/owner/allocator.h"
#include "../../owners.h"

static int init(struct owners *o)
{
	return pdet_page_owners_init(&o->o, &o->k->space, o->s.btf,
				     &o->symbols);
}

static int read_owner(struct owners *o, uint64_t pfn,
		      struct pdet_page_owner *ret)
{
	char ext[PDET_PAGE_EXT_BYTES];
	uint64_t at;
	int r = pdet_page_owner_at(&o->k->space, &o->o, &o->m, pfn, &at);

	if (r == 0)
		r = pdet_space_read(&o->k->space, at, ext, o->o.size);
	if (r == 0 && !pdet_page_owner_get(&o->o, ext, ret))
		r = -ENOENT;
	return r;
}

START_TEST(owner)
{
	struct owners *o = owners_new(true, false);
	const uint64_t ext = o->ext + 5 * EXT_SIZE, at = ext + OWNER_AT;
	struct pdet_page_owner got;

#define READ(pfn) read_owner(o, pfn, &got)
	ck_assert_int_eq(init(o), 0);
	ck_assert_int_eq(READ(FIRST_PFN + 5), -ENOENT);
	kmem_u64(o->k, ext, 1 | 2);
	kmem_u32(o->k, at, 9 | 0xffffu << 16);
	kmem_u32(o->k, at + 4, 0x140dca);
	kmem_u32(o->k, at + 8, 77);
	kmem_u64(o->k, at + 16, 1234567890123);
	kmem_text(o->k, at + 32, "a) ts (comm");
	kmem_u32(o->k, at + 48, 4321);
	kmem_u32(o->k, at + 52, 4300);
	ck_assert_int_eq(READ(FIRST_PFN + 5), 0);
	ck_assert(got.allocated && got.order == 9 && got.gfp == 0x140dca);
	ck_assert(got.stack == 77 && !got.free_stack && got.pid == 4321 &&
		  got.tgid == 4300 && got.has_tgid);
	ck_assert_uint_eq(got.ns, 1234567890123);
	ck_assert_str_eq(got.comm, "a) ts (comm");
	ck_assert_int_eq(got.migrate_reason, -1);
	/* Freed since. */
	kmem_u64(o->k, ext, 1);
	kmem_u32(o->k, at, 9 | 3 << 16);
	kmem_u32(o->k, at + 12, 78);
	ck_assert_int_eq(READ(FIRST_PFN + 5), 0);
	ck_assert(!got.allocated && got.free_stack == 78 &&
		  got.migrate_reason == 3);
	kmem_u32(o->k, at, 5000);
	ck_assert_int_eq(READ(FIRST_PFN + 5), 0);
	ck_assert_uint_eq(got.order, 5000);
	ck_assert_int_eq(READ(5), -ENOENT);
	/* Its array vanishes, is damaged, or is missing in the dump. */
	kmem_u64(o->k, o->root + 48, (o->ext - FIRST_PFN * EXT_SIZE) | 1);
	ck_assert_int_eq(READ(FIRST_PFN + 5), -ENOENT);
	kmem_u64(o->k, o->root + 48, 0x4141414141414140);
	ck_assert_int_eq(READ(FIRST_PFN + 5), -EBADMSG);
	kmem_fail(o->k, o->root, -ENODATA);
	ck_assert_int_eq(READ(FIRST_PFN + 5), -ENODATA);
#undef READ
	owners_free(o);
}
END_TEST

/* What older kernels do not keep is missing, and not 0. */
START_TEST(of_5_10)
{
	struct owners *o = owners_new(true, false);
	const uint64_t ext = o->ext + 5 * EXT_SIZE;
	struct pdet_page_owner got;

	ck_assert_int_eq(init(o), 0);
	kmem_u64(o->k, ext, 1 | 2);
	kmem_u32(o->k, ext + OWNER_AT + 8, 77);
	ck_assert_int_eq(read_owner(o, FIRST_PFN + 5, &got), 0);
	ck_assert(got.has_pid && got.has_ns && got.has_free_ns);
	structs_free(&o->s);
	owners_types_5_10(&o->s);
	ck_assert_int_eq(init(o), 0);
	ck_assert_int_eq(read_owner(o, FIRST_PFN + 5, &got), 0);
	ck_assert_uint_eq(got.stack, 77);
	ck_assert(!got.has_pid && !got.has_tgid && !got.has_comm &&
		  !got.has_ns && !got.has_free_ns);
	owners_free(o);
}
END_TEST

START_TEST(turned_off)
{
	struct owners *o = owners_new(true, false);
	struct structs s;

	kmem_u64(o->k, o->symbols.page_owner_ops, 0);
	ck_assert_int_eq(init(o), -ENOTSUP);
	kmem_u64(o->k, o->symbols.page_owner_ops, EXT_SIZE - 8);
	ck_assert_int_eq(init(o), -EBADMSG);
	/* So large that the end is before the beginning. */
	kmem_u64(o->k, o->symbols.page_owner_ops, (uint64_t)-32);
	ck_assert_int_eq(init(o), -EBADMSG);
	o->symbols.page_owner_ops = 0;
	ck_assert_int_eq(init(o), -ENODATA);
	structs_init(&s);
	ck_assert_int_eq(pdet_page_owners_init(&o->o, &o->k->space,
					       structs_btf(&s), &o->symbols),
			 -ENOTSUP);
	structs_free(&s);
	owners_free(o);
}
END_TEST

START_TEST(stacks)
{
	const bool newer = _i & 1;
	struct owners *o = owners_new(newer, _i & 2);
	const uint32_t handle = owners_stack(o, newer, 2, 40, 3,
					     0xffffffff81000000);
	const uint64_t record = o->pool[2] + 40 * 16;
	unsigned i;

#define READ(h) \
	pdet_stackdepot_read(&o->k->space, &o->depot, h, o->frames)
	ck_assert_int_eq(READ(handle), 3);
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(o->frames[i], 0xffffffff81000000 + i);
	/* With bits of the holder. */
	ck_assert_int_eq(READ(handle | 5u << 27), 3);
	/* The handle of another stack, and an invalid one. */
	ck_assert_int_eq(READ(handle + (1u << 17)), -EBADMSG);
	ck_assert_int_eq(READ(handle + 1), -EBADMSG);
	ck_assert_int_eq(READ(0xffff), -EBADMSG);
	kmem_u32(o->k, record + R_SIZE, 100000);
	ck_assert_int_eq(READ(handle), -EBADMSG);
	kmem_u32(o->k, record + R_SIZE, 3);
	kmem_fail(o->k, record, -ENODATA);
	ck_assert_int_eq(READ(handle), -ENODATA);
#undef READ
	owners_free(o);
}
END_TEST

START_TEST(names)
{
	struct owners *o = owners_new(true, false);
	struct pdet_gfp_names gfp;
	struct pdet_migrate_reasons reasons;
	char text[PDET_GFP_TEXT];

#define GFP(at) pdet_gfp_names_read(&gfp, &o->k->space, o->s.btf, at)
#define REASONS(at) \
	pdet_migrate_reasons_read(&reasons, &o->k->space, o->s.btf, at)
#define SAYS(mask, want) do { \
	ck_assert_uint_eq(pdet_gfp_text(&gfp, mask, text), strlen(want)); \
	ck_assert_mem_eq(text, want, strlen(want)); \
} while (0)
	ck_assert_int_eq(GFP(o->gfp), 0);
	ck_assert_uint_eq(gfp.n, 4);
	SAYS(0, "");
	SAYS(0xdc0, "GFP_KERNEL|__GFP_ZERO");
	/* A part of a name that stands for several. */
	SAYS(0x40, "__GFP_IO");
	SAYS(0x60, "__GFP_HIGH|__GFP_IO");
	SAYS(0x8000100, "__GFP_ZERO|0x8000000");
	SAYS(0x8000000, "0x8000000");
	ck_assert_int_eq(REASONS(o->reasons), 0);
	ck_assert_uint_eq(reasons.n, 2);
	ck_assert_str_eq(reasons.name[1], "memory_failure");
	/* No such symbols; an invalid name; an endless table. */
	ck_assert_int_eq(GFP(0), -ENODATA);
	ck_assert_int_eq(REASONS(0), -ENODATA);
	kmem_u64(o->k, o->reasons + 8, owners_text(o, "a|b"));
	ck_assert_int_eq(REASONS(o->reasons), -EBADMSG);
	kmem_u64(o->k, o->gfp + 4 * 16 + 8, 0x4141);
	ck_assert_int_eq(GFP(o->gfp), -EBADMSG);
	kmem_u64(o->k, o->gfp + 4 * 16 + 8, owners_text(o, ""));
	ck_assert_int_eq(GFP(o->gfp), -EBADMSG);
#undef GFP
#undef REASONS
#undef SAYS
	owners_free(o);
}
END_TEST

/* The bits have other numbers than today's. */
START_TEST(mobility)
{
	struct owners *o = owners_new(true, false);
	struct pdet_gfp_names gfp = { .n = 3, .entry = {
		{ 0xc8, "GFP_HIGHUSER_MOVABLE" }, { 0x80, "__GFP_MOVABLE" },
		{ 0x100, "__GFP_RECLAIMABLE" },
	} };
	const uint64_t disabled = kmem_object(o->k, 4);
	struct pdet_gfp_mobility m;

#define READ(at) pdet_gfp_mobility_read(&m, &o->k->space, &gfp, at)
#define IS(mask, want) ck_assert_str_eq(pdet_gfp_mobility(&m, mask), want)
	ck_assert_int_eq(READ(disabled), 0);
	IS(0, "Unmovable");
	IS(0x18, "Unmovable");
	IS(0xc8, "Movable");
	IS(0xfffffe7f | 0x100, "Reclaimable");
	IS(0x180, "HighAtomic");
	/* The kernel does not group pages. */
	kmem_u32(o->k, disabled, 1);
	ck_assert_int_eq(READ(disabled), 0);
	IS(0x180, "Unmovable");
	IS(0x80, "Unmovable");
	/* Parts are missing. */
	ck_assert_int_eq(READ(0), -ENODATA);
	gfp.n = 2;
	ck_assert_int_eq(READ(disabled), -ENODATA);
	gfp.n = 3;
	kmem_fail(o->k, disabled, -EIO);
	ck_assert_int_eq(READ(disabled), -EIO);
#undef READ
#undef IS
	owners_free(o);
}
END_TEST

/* Facts that a stack of this kernel tells. */
static const struct {
	const char *frames, *allocator;
} allocations[] = {
	{ "post_alloc_hook+0x69/0x76\nprep_new_page+0x17/0x4a\n"
	  "get_page_from_freelist+0x7d2/0x900\n__alloc_pages_noprof+0xd/0x18b\n"
	  "alloc_slab_page+0x19/0x85\nnew_slab+0x7e/0x1a1\n", "slab" },
	{ "get_page_from_freelist+0x1/0x2\n__alloc_pages+0x1/0x2\n"
	  "allocate_slab+0x1/0x2\n___slab_alloc+0x1/0x2\n", "slab" },
	{ "get_page_from_freelist+0x1/0x2\n___slab_alloc.isra.0+0x1/0x2\n",
	  "slab" },
	{ "__alloc_pages_bulk+0x1/0x2\nvm_area_alloc_pages+0x1/0x2\n"
	  "__vmalloc_node_range_noprof+0x1/0x2\n", "vmalloc" },
	{ "__alloc_pages_noprof+0x1/0x2\n"
	  "__vmalloc_node_range_noprof+0x1/0x2\n", "vmalloc" },
	/* a page table for it */
	{ "__alloc_pages_noprof+0x1/0x2\n__pte_alloc_kernel+0x1/0x2\n"
	  "vmap_pages_range_noflush+0x1/0x2\n"
	  "__vmalloc_node_range_noprof+0x1/0x2\n", "others" },
	{ "alloc_contig_range_noprof+0x1/0x2\n__cma_alloc+0x1/0x2\n"
	  "cma_alloc+0x1/0x2\n", "cma" },
	/* too large for a slab */
	{ "__alloc_pages_noprof+0x1/0x2\n___kmalloc_large_node+0x1/0x2\n"
	  "___slab_alloc+0x1/0x2\n", "others" },
	{ "new_slab_of_mine+0x1/0x2 [module]\n", "others" },
	{ "0xffffffffc0402010\n", "others" },
	/* where page_owner could not record */
	{ "register_early_stack+0x23/0x3e\ninit_page_owner+0x2e/0x295\n",
	  NULL },
	{ "register_dummy_stack+0x23/0x3e\n", NULL },
	{ "register_failure_stack+0x23/0x3e\n", NULL },
};

START_TEST(allocators)
{
	const char *frames = allocations[_i].frames;
	const char *want = allocations[_i].allocator;
	const char *got = pdet_allocator_of(frames, strlen(frames));

	ck_assert_msg(want ? got && !strcmp(got, want) : !got, "%s: %s",
		      frames, got);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("page_owner");

	unit_test(s, owner);
	unit_test(s, of_5_10);
	unit_test(s, turned_off);
	unit_loop(s, stacks, 4);
	unit_test(s, names);
	unit_test(s, mobility);
	unit_loop(s, allocators, sizeof(allocations) / sizeof(*allocations));
	return unit_main(s);
}
