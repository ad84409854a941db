/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests finding vmalloc areas by any of their addresses, in the trees and lists
 * of old and new kernels. Every search ends.
 */
#include "kernel/object/vmap.h"
#include "../../kmem.h"
#include "../../structs.h"

enum { A_START = 0, A_END = 8, A_RB = 16, A_LIST = 40, A_VM = 56, AREA = 72,
       RB_RIGHT = 8, RB_LEFT = 16,
       VM_FLAGS = 24, VM_PAGES = 40, VM_PHYS = 48, VM_CALLER = 56, VM = 64,
       N_BUSY = 64, L_HEAD = 8, NODE = 128 };

#define FIRST 0xffffc90000000000ull
#define NODES 4

enum form { IN_TREE, IN_NODES, IN_LIST, FORMS };

struct vmaps {
	struct kmem *k;
	struct structs s;
	struct pdet_vmaps v;
	struct pdet_vmap_symbols at;
	uint64_t roots[NODES];	/* addresses of the tree pointers */
	uint64_t lists[NODES];	/* of the list heads; 0: none */
	uint64_t area[32];
	unsigned n;
};

static void add_types(struct structs *s, bool nodes)
{
	static const struct structs_member area[] = {
		{ "va_start", A_START, 0, 0, 8 }, { "va_end", A_END, 0, 0, 8 },
		{ "rb_node", A_RB, 0, 0, 24 }, { "list", A_LIST, 0, 0, 16 },
		{ "vm", A_VM, 0, 0, 8 },
	}, vm[] = {
		{ "flags", VM_FLAGS, 0, 0, 8 },
		{ "nr_pages", VM_PAGES, 0, 0, 4 },
		{ "phys_addr", VM_PHYS, 0, 0, 8 },
		{ "caller", VM_CALLER, 0, 0, 8 },
	}, rb[] = {
		{ "rb_right", RB_RIGHT, 0, 0, 8 },
		{ "rb_left", RB_LEFT, 0, 0, 8 },
	}, root[] = {
		{ "rb_node", 0, 0, 0, 8 },
	}, links[] = {
		{ "next", 0, 0, 0, 8 }, { "prev", 8, 0, 0, 8 },
	};
	uint32_t id, head, busy;

	structs_init(s);
	structs_add(s, "vmap_area", AREA, area, 5);
	structs_add(s, "vm_struct", VM, vm, 4);
	structs_add(s, "rb_node", 24, rb, 2);
	if (!nodes)
		return;
	id = structs_add(s, "rb_root", 8, root, 1);
	head = structs_add(s, "list_head", 16, links, 2);
	busy = blob_type(&s->blob, "rb_list", BLOB_STRUCT, 2, 32);
	blob_member(&s->blob, "root", id, 0);
	blob_member(&s->blob, "head", head, L_HEAD * 8);
	blob_type(&s->blob, "vmap_node", BLOB_STRUCT, 1, NODE);
	blob_member(&s->blob, "busy", busy, N_BUSY * 8);
}

static struct vmaps *start(enum form form)
{
	struct vmaps *t = calloc(1, sizeof(*t));
	uint64_t at;
	unsigned i;

	ck_assert_ptr_nonnull(t);
	t->k = kmem_new();
	add_types(&t->s, form == IN_NODES);
	at = kmem_object(t->k, NODES * NODE);
	for (i = 0; i < NODES; i++) {
		t->roots[i] = at + i * NODE + N_BUSY;
		t->lists[i] = t->roots[i] + L_HEAD;
		kmem_u64(t->k, t->lists[i], t->lists[i]);
		kmem_u64(t->k, t->lists[i] + 8, t->lists[i]);
	}
	switch (form) {
	case IN_TREE:
		t->at.root = t->roots[0];
		t->at.list = t->lists[0];
		break;
	case IN_LIST:
		t->at.list = t->lists[0];
		break;
	default:
		t->at.nodes = kmem_object(t->k, 8);
		t->at.n_nodes = kmem_object(t->k, 8);
		kmem_u64(t->k, t->at.nodes, at);
		kmem_u32(t->k, t->at.n_nodes, NODES);
		break;
	}
	ck_assert(pdet_vmaps_init(&t->v, structs_btf(&t->s), &t->at));
	return t;
}

static void end(struct vmaps *t)
{
	structs_free(&t->s);
	kmem_free(t->k);
	free(t);
}

static uint64_t get(struct vmaps *t, uint64_t va)
{
	uint64_t v = 0;

	ck_assert_int_eq(pdet_space_u64(&t->k->space, va, &v), 0);
	return v;
}

static void add_to_list(struct vmaps *t, uint64_t list, uint64_t node)
{
	const uint64_t last = get(t, list + 8);

	kmem_u64(t->k, last, node);
	kmem_u64(t->k, node + 8, last);
	kmem_u64(t->k, node, list);
	kmem_u64(t->k, list + 8, node);
}

/* Adds an area [start, end) to the tree and the list. Returns its address. */
static uint64_t add(struct vmaps *t, uint64_t start, uint64_t end,
		    uint64_t flags, uint64_t caller)
{
	const uint64_t area = kmem_object(t->k, AREA);
	const uint64_t vm = flags ? kmem_object(t->k, VM) : 0;
	const unsigned i = t->at.nodes ? start >> 12 & (NODES - 1) : 0;
	uint64_t at = t->roots[i], next;

	kmem_u64(t->k, area + A_START, start);
	kmem_u64(t->k, area + A_END, end);
	kmem_u64(t->k, area + A_VM, vm);
	if (vm) {
		kmem_u64(t->k, vm + VM_FLAGS, flags);
		kmem_u32(t->k, vm + VM_PAGES, 7);
		kmem_u64(t->k, vm + VM_PHYS, 0xfed00000);
		kmem_u64(t->k, vm + VM_CALLER, caller);
	}
	add_to_list(t, t->lists[i], area + A_LIST);
	if (t->at.root || t->at.nodes) {
		while ((next = get(t, at)))
			at = next + (start < get(t, next - A_RB + A_START) ?
				     RB_LEFT : RB_RIGHT);
		kmem_u64(t->k, at, area + A_RB);
	}
	ck_assert_uint_lt(t->n, 32);
	return t->area[t->n++] = area;
}

static int find(struct vmaps *t, uint64_t va, struct pdet_vmap *m)
{
	return pdet_vmap_find(&t->k->space, &t->v, va, m);
}

static uint64_t start_of(unsigned i)
{
	/* Unordered, with gaps. */
	return FIRST + (i * 7 % 20) * 0x10000;
}

START_TEST(found)
{
	struct vmaps *t = start((enum form)_i);
	struct pdet_vmap m;
	unsigned i;

	for (i = 0; i < 20; i++)
		add(t, start_of(i), start_of(i) + 0x3000 + i * 0x100,
		    PDET_VMAP_ALLOC, 0xffffffff81000000 + i);
	for (i = 0; i < 20; i++) {
		ck_assert_int_eq(find(t, start_of(i), &m), 0);
		ck_assert_uint_eq(m.start, start_of(i));
		ck_assert_uint_eq(m.end, start_of(i) + 0x3000 + i * 0x100);
		ck_assert_uint_eq(m.caller, 0xffffffff81000000 + i);
		ck_assert_uint_eq(m.pages, 7);
		ck_assert(m.has_vm);
		ck_assert_int_eq(find(t, m.end - 1, &m), 0);
		ck_assert_uint_eq(m.start, start_of(i));
		ck_assert_int_eq(find(t, m.end, &m), -ENOENT);
	}
	ck_assert_int_eq(find(t, FIRST - 1, &m), -ENOENT);
	ck_assert_int_eq(find(t, UINT64_MAX, &m), -ENOENT);
	end(t);
}
END_TEST

START_TEST(named)
{
	static const struct { uint64_t flags; const char *name; } kinds[] = {
		{ 0, "vm_map_ram" }, { PDET_VMAP_IOREMAP, "ioremap" },
		{ PDET_VMAP_ALLOC | 0x20, "vmalloc" },
		{ PDET_VMAP_MAP, "vmap" }, { PDET_VMAP_USERMAP, "user" },
		{ PDET_VMAP_DMA_COHERENT, "dma-coherent" },
		{ 0x800, "vmalloc area" },
	};
	struct vmaps *t = start(IN_TREE);
	struct pdet_vmap m;
	unsigned i;

	for (i = 0; i < PDET_COUNT(kinds); i++) {
		add(t, FIRST + i * 0x2000, FIRST + (i + 1) * 0x2000,
		    kinds[i].flags, 0);
		ck_assert_int_eq(find(t, FIRST + i * 0x2000 + 5, &m), 0);
		ck_assert_str_eq(pdet_vmap_kind(&m), kinds[i].name);
		ck_assert_int_eq(m.has_vm, i != 0);
	}
	end(t);
}
END_TEST

START_TEST(damaged)
{
	struct vmaps *t = start((enum form)_i);
	struct pdet_vmap m;
	uint64_t a, b;

	ck_assert_int_eq(find(t, FIRST, &m), -ENOENT);
	a = add(t, FIRST, FIRST + 0x2000, PDET_VMAP_MAP, 0);
	t->k->next = (t->k->next | 4095) + 1;
	b = add(t, FIRST + 0x10000, FIRST + 0x12000, PDET_VMAP_MAP, 0);
	/* Ends before it begins. */
	kmem_u64(t->k, b + A_END, FIRST);
	ck_assert_int_eq(find(t, FIRST + 0x10000, &m), -EBADMSG);
	kmem_u64(t->k, b + A_END, FIRST + 0x12000);
	/* The owner is lost. */
	kmem_u64(t->k, a + A_VM, 0x4141414141414141);
	ck_assert_int_eq(find(t, FIRST, &m), -EBADMSG);
	kmem_fail(t->k, b, -ENODATA);
	ck_assert_int_eq(find(t, FIRST + 0x10000, &m), -ENODATA);
	end(t);
}
END_TEST

/* A cyclic tree ends. */
START_TEST(endless)
{
	struct vmaps *t = start(IN_TREE);
	struct pdet_vmap m;
	uint64_t a = add(t, FIRST, FIRST + 0x2000, PDET_VMAP_MAP, 0);

	kmem_u64(t->k, a + A_RB + RB_RIGHT, a + A_RB);
	ck_assert_int_eq(find(t, FIRST + 0x5000, &m), -EBADMSG);
	ck_assert_int_eq(find(t, FIRST, &m), 0);
	/* an area on the side where it does not belong: another may be gone */
	kmem_u64(t->k, a + A_RB + RB_RIGHT, 0);
	add(t, FIRST + 0x10000, FIRST + 0x12000, PDET_VMAP_MAP, 0);
	ck_assert_int_eq(find(t, FIRST + 0x20000, &m), -ENOENT);
	kmem_u64(t->k, t->area[1] + A_START, FIRST - 0x3000);
	kmem_u64(t->k, t->area[1] + A_END, FIRST - 0x1000);
	ck_assert_int_eq(find(t, FIRST + 0x20000, &m), -EBADMSG);
	end(t);
	t = start(IN_NODES);
	kmem_u32(t->k, t->at.n_nodes, 0x41414141);
	ck_assert_int_eq(find(t, FIRST, &m), -EBADMSG);
	kmem_u32(t->k, t->at.n_nodes, 0);
	ck_assert_int_eq(find(t, FIRST, &m), -EBADMSG);
	end(t);
}
END_TEST

/* Sets the pointer to an area, in its tree, to zero. */
static void lose_area(struct vmaps *t, uint64_t area)
{
	uint64_t node;
	unsigned i;

	for (i = 0; i < NODES; i++)
		if (get(t, t->roots[i]) == area + A_RB)
			kmem_u64(t->k, t->roots[i], 0);
	for (i = 0; i < t->n; i++)
		for (node = RB_RIGHT; node <= RB_LEFT; node += 8)
			if (get(t, t->area[i] + A_RB + node) == area + A_RB)
				kmem_u64(t->k, t->area[i] + A_RB + node, 0);
}

/* An area that is lost looks like one that does not exist. */
START_TEST(cut_short)
{
	struct vmaps *t;
	struct pdet_vmap m;
	unsigned i, k;

	for (k = 0; k < 20; k++) {
		t = start((enum form)_i);
		for (i = 0; i < 20; i++)
			add(t, start_of(i), start_of(i) + 0x3000,
			    PDET_VMAP_ALLOC, 0);
		ck_assert_int_eq(pdet_vmaps_check(&t->k->space, &t->v), 0);
		lose_area(t, t->area[k]);
		ck_assert_int_eq(find(t, start_of(k), &m), -ENOENT);
		ck_assert_int_eq(pdet_vmaps_check(&t->k->space, &t->v),
				 -EBADMSG);
		end(t);
	}
	/* The list of no other areas tells. */
	t = start((enum form)_i);
	ck_assert_int_eq(pdet_vmaps_check(&t->k->space, &t->v), 0);
	add(t, FIRST, FIRST + 0x2000, PDET_VMAP_MAP, 0);
	kmem_u64(t->k, t->area[0] + A_END, FIRST);
	ck_assert_int_eq(pdet_vmaps_check(&t->k->space, &t->v), -EBADMSG);
	kmem_fail(t->k, t->area[0], -ENODATA);
	ck_assert_int_eq(pdet_vmaps_check(&t->k->space, &t->v), -ENODATA);
	end(t);
}
END_TEST

/* Nothing to compare with. */
START_TEST(only_one)
{
	struct vmaps *t = start(IN_LIST);

	add(t, FIRST, FIRST + 0x2000, PDET_VMAP_MAP, 0);
	ck_assert_int_eq(pdet_vmaps_check(&t->k->space, &t->v), 0);
	end(t);
	t = start(IN_TREE);
	add(t, FIRST, FIRST + 0x2000, PDET_VMAP_MAP, 0);
	kmem_u64(t->k, t->roots[0], 0);
	t->v.at.list = 0;
	ck_assert_int_eq(pdet_vmaps_check(&t->k->space, &t->v), 0);
	end(t);
}
END_TEST

START_TEST(unknown)
{
	const struct pdet_vmap_symbols tree = { .root = FIRST };
	const struct pdet_vmap_symbols nodes = { .nodes = FIRST };
	const struct pdet_vmap_symbols none = { .list = 0 };
	struct pdet_vmaps v;
	struct structs s;

	add_types(&s, false);
	structs_btf(&s);
	ck_assert(pdet_vmaps_init(&v, s.btf, &tree));
	ck_assert(!pdet_vmaps_init(&v, s.btf, &none));
	/* Their number and kind are not known. */
	ck_assert(!pdet_vmaps_init(&v, s.btf, &nodes));
	structs_free(&s);
	structs_init(&s);
	ck_assert(!pdet_vmaps_init(&v, structs_btf(&s), &tree));
	structs_free(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vmap");

	unit_loop(s, found, FORMS);
	unit_test(s, named);
	unit_loop(s, damaged, FORMS);
	unit_test(s, endless);
	unit_loop(s, cut_short, IN_LIST);
	unit_test(s, only_one);
	unit_test(s, unknown);
	return unit_main(s);
}
