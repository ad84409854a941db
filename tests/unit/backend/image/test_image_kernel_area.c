/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the areas of kernel addresses: found, between two, or lost. */
#include "backend/image/kernel.h"
#include "../../kmem.h"
#include "../../structs.h"

enum { A_START = 0, A_END = 8, A_RB = 16, A_LIST = 40, A_VM = 56, AREA = 72 };

#define FIRST 0xffffc90000000000ull
#define F(name) PAGEDET_FIELD_##name
#define SOURCE PAGEDET_SOURCE_VMCORE

struct asking {
	struct kmem *k;
	struct structs s;
	struct image im;
	struct image_session session;
	struct pdet_batch b;
	uint64_t list, area, root;
};

/* One area of vmalloc, without a caller: in a list, or also in a tree. */
static struct asking *start(bool tree)
{
	static const struct structs_member members[] = {
		{ "va_start", A_START, 0, 0, 8 }, { "va_end", A_END, 0, 0, 8 },
		{ "list", A_LIST, 0, 0, 16 }, { "vm", A_VM, 0, 0, 8 },
		{ "rb_node", A_RB, 0, 0, 24 },
	}, links[] = {
		{ "rb_right", 8, 0, 0, 8 }, { "rb_left", 16, 0, 0, 8 },
	};
	struct asking *a = calloc(1, sizeof(*a));
	struct pdet_vmap_symbols at = { .list = 0 };
	struct pdet_fields want = { { 0, 0 } };
	struct image_kernel *kernel;

	ck_assert_ptr_nonnull(a);
	a->k = kmem_new();
	structs_init(&a->s);
	structs_add(&a->s, "vmap_area", AREA, members, 5);
	structs_add(&a->s, "rb_node", 24, links, 2);
	a->list = at.list = kmem_object(a->k, 16);
	a->root = kmem_object(a->k, 8);
	at.root = tree ? a->root : 0;
	a->area = kmem_object(a->k, AREA);
	kmem_u64(a->k, a->root, a->area + A_RB);
	kmem_u64(a->k, a->area + A_START, FIRST);
	kmem_u64(a->k, a->area + A_END, FIRST + 0x5000);
	kmem_u64(a->k, a->list, a->area + A_LIST);
	kmem_u64(a->k, a->list + 8, a->area + A_LIST);
	kmem_u64(a->k, a->area + A_LIST, a->list);
	kmem_u64(a->k, a->area + A_LIST + 8, a->list);
	a->im.memory = &a->k->m->memory;
	kernel = &a->im.kernel;
	kernel->has_vmaps = true;
	ck_assert(pdet_vmaps_init(&kernel->vmaps, structs_btf(&a->s), &at));
	kernel->areas.paging = &a->k->p;
	kernel->areas.area[0] = (struct pdet_area){
		.first = FIRST, .last = FIRST + 0xffffff, .pieces = true,
		.name = "[vmalloc]", .map = PAGEDET_MAP_VMALLOC
	};
	kernel->areas.n = 1;
	a->session.image = &a->im;
	a->session.space = a->k->space;
	pdet_fields_add(&want, F(VMA_START));
	pdet_fields_add(&want, F(VMA_NAME));
	ck_assert(pdet_batch_init(&a->b, &want, 8, 1 << 20));
	ck_assert_int_eq(pdet_batch_grow(&a->b, 1), 0);
	return a;
}

static void end(struct asking *a)
{
	pdet_batch_free(&a->b);
	structs_free(&a->s);
	kmem_free(a->k);
	free(a);
}

static void ask(struct asking *a, uint64_t va, unsigned start_state,
		unsigned name_state, const char *name)
{
	const struct image_address address = { .va = va, .is_kernel = true };

	pdet_image_put_kernel_area(&a->session, &a->b, 0, &address);
	ck_assert_uint_eq(pdet_batch_state(&a->b, 0, F(VMA_START)),
			  start_state);
	ck_assert_uint_eq(pdet_batch_state(&a->b, 0, F(VMA_NAME)), name_state);
	if (name)
		ck_assert_str_eq(pdet_strtab_get(&a->b.strings,
						 a->b.value[F(VMA_NAME)][0],
						 NULL), name);
}

START_TEST(pieces)
{
	struct asking *a = start(_i);

	ask(a, FIRST + 0x4fff, PAGEDET_HAVE, PAGEDET_HAVE, "[vm_map_ram]");
	ck_assert_uint_eq(a->b.value[F(VMA_START)][0], FIRST);
	/* No piece is there. */
	ask(a, FIRST + 0x5000, PAGEDET_NONE, PAGEDET_HAVE, "[vmalloc]");
	a->im.kernel.has_vmaps = false;
	ask(a, FIRST, PAGEDET_NO_TYPES, PAGEDET_HAVE, "[vmalloc]");
	end(a);
}
END_TEST

/* The name without that of a piece would say that no piece is there. */
START_TEST(lost_pieces)
{
	struct asking *a = start(false);

	kmem_u64(a->k, a->list, 0x1234);
	kmem_u64(a->k, a->list + 8, 0x1234);
	ask(a, FIRST, PAGEDET_CORRUPT, PAGEDET_CORRUPT, NULL);
	kmem_fail(a->k, a->list, -ENODATA);
	ask(a, FIRST, PAGEDET_EXCLUDED, PAGEDET_EXCLUDED, NULL);
	end(a);
}
END_TEST

/* An empty tree says that no piece is there, its list another thing. */
START_TEST(lost_tree)
{
	struct asking *a = start(true);

	kmem_u64(a->k, a->root, 0);
	ask(a, FIRST, PAGEDET_CORRUPT, PAGEDET_CORRUPT, NULL);
	ask(a, FIRST + 0x5000, PAGEDET_CORRUPT, PAGEDET_CORRUPT, NULL);
	end(a);
	a = start(true);
	a->k->m->memory.live = true;
	kmem_u64(a->k, a->root, 0);
	ask(a, FIRST, PAGEDET_NONE, PAGEDET_HAVE, "[vmalloc]");
	end(a);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("image_kernel_area");

	unit_loop(s, pieces, 2);
	unit_test(s, lost_pieces);
	unit_test(s, lost_tree);
	return unit_main(s);
}
