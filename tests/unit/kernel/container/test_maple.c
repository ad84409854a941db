/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests maple trees: each range once, in order, and none that does not exist.
 */
#include "../../maple.h"

#define ENTRY 0xffff888000000000ull
#define END UINT64_MAX

struct tree {
	struct kmem *k;
	struct structs s;
	struct pdet_maple m;
	uint64_t tree;
	struct {
		uint64_t first, last, entry;
	} got[200];
	unsigned n, n_lost;
	struct {
		uint64_t first, last;
		int error;
	} lost[20];
};

static struct tree *start(void)
{
	struct tree *t = calloc(1, sizeof(*t));

	ck_assert_ptr_nonnull(t);
	t->k = kmem_new();
	structs_init(&t->s);
	maple_structs(&t->s);
	ck_assert(pdet_maple_init(&t->m, structs_btf(&t->s)));
	t->tree = kmem_object(t->k, 16);
	return t;
}

static void end(struct tree *t)
{
	structs_free(&t->s);
	kmem_free(t->k);
	free(t);
}

static int see(void *arg, uint64_t first, uint64_t last, uint64_t entry)
{
	struct tree *t = arg;

	ck_assert_uint_lt(t->n, 200);
	t->got[t->n].first = first;
	t->got[t->n].last = last;
	t->got[t->n++].entry = entry;
	return 0;
}

static int lose(void *arg, uint64_t first, uint64_t last, int error)
{
	struct tree *t = arg;

	ck_assert_uint_lt(t->n_lost, 20);
	t->lost[t->n_lost].first = first;
	t->lost[t->n_lost].last = last;
	t->lost[t->n_lost++].error = error;
	return 0;
}

static void look(struct tree *t, uint64_t first, uint64_t last)
{
	const struct pdet_maple_visit visit = { see, lose, t };

	t->n = t->n_lost = 0;
	ck_assert_int_eq(pdet_maple_each(&t->k->space, &t->m, t->tree, first,
					 last, &visit), 0);
}

/* Builds leaves with 16 slots below a node with 10 below a root with two. */
static void plant(struct tree *t, uint64_t leaf[10], uint64_t *inner)
{
	struct maple_slot slots[16], up[10], root[2];
	uint64_t at = 0;
	unsigned i, j;

	for (i = 0; i < 10; i++) {
		for (j = 0; j < 16; j++) {
			slots[j].entry = j % 2 ? ENTRY + at : 0;
			at += 0x1000;
			slots[j].last = at - 1;
		}
		leaf[i] = maple_node(t->k, MAPLE_LEAF, slots, 16);
		up[i].entry = leaf[i];
		up[i].last = at - 1;
	}
	*inner = maple_node(t->k, MAPLE_ARANGE, up, 10);
	slots[0].entry = 0;
	slots[0].last = 0x7fff0000;
	slots[1].entry = ENTRY + 0x7fff0001;
	slots[1].last = 0x7fff1000;
	slots[2].entry = 0;
	slots[2].last = END;
	root[0].entry = *inner;
	root[0].last = at - 1;
	root[1].entry = maple_node(t->k, MAPLE_LEAF, slots, 3);
	root[1].last = END;
	maple_root(t->k, t->tree, maple_node(t->k, MAPLE_RANGE, root, 2));
}

START_TEST(deep)
{
	struct tree *t = start();
	uint64_t leaf[10], inner;
	unsigned i;

	plant(t, leaf, &inner);
	look(t, 0, END);
	ck_assert_uint_eq(t->n, 81);
	for (i = 0; i < 80; i++) {
		ck_assert_uint_eq(t->got[i].first, i * 0x2000 + 0x1000);
		ck_assert_uint_eq(t->got[i].last, i * 0x2000 + 0x1fff);
		ck_assert_uint_eq(t->got[i].entry, ENTRY + t->got[i].first);
	}
	ck_assert_uint_eq(t->got[80].last, 0x7fff1000);
	ck_assert_uint_eq(t->n_lost, 0);
	look(t, 0x3fff, 0x3fff);
	ck_assert_uint_eq(t->n, 1);
	ck_assert_uint_eq(t->got[0].first, 0x3000);
	look(t, 0x4000, 0x4fff);
	ck_assert_uint_eq(t->n, 0);
	look(t, 0x1fff, 0x5000);
	ck_assert_uint_eq(t->n, 3);
	end(t);
}
END_TEST

START_TEST(small)
{
	const struct maple_slot one[] = { { 9, ENTRY }, { END, 0 } };
	struct tree *t = start();
	uint64_t node;
	unsigned i;

	look(t, 0, END);
	ck_assert_uint_eq(t->n + t->n_lost, 0);
	/*
	 * An entry for 0 alone needs no node. No address space has one, so
	 * the value must be a damaged pointer to a node.
	 */
	kmem_u64(t->k, t->tree + 8, ENTRY);
	look(t, 0x5000, 0x8fff);
	ck_assert_uint_eq(t->n, 0);
	ck_assert_uint_eq(t->n_lost, 1);
	ck_assert_uint_eq(t->lost[0].first, 0x5000);
	ck_assert_uint_eq(t->lost[0].last, 0x8fff);
	/* a reserved value, which a root never has */
	kmem_u64(t->k, t->tree + 8, 0x406);
	look(t, 0, END);
	ck_assert(t->n == 0 && t->n_lost == 1 && t->lost[0].last == END);
	maple_root(t->k, t->tree, maple_node(t->k, MAPLE_LEAF, one, 2));
	look(t, 0, END);
	ck_assert(t->n == 1 && t->got[0].last == 9);
	/* One slot per number; internal entries of the tree are not values. */
	node = kmem_object_at(t->k, 256, 256);
	for (i = 0; i < 31; i++)
		kmem_u64(t->k, node + 8 + i * 8, i == 7 ? 0x406 :
			 ENTRY + i * 8);
	maple_root(t->k, t->tree, node | MAPLE_DENSE << 3 | 4);
	look(t, 0, END);
	ck_assert_uint_eq(t->n, 30);
	ck_assert_uint_eq(t->got[7].first, 8);
	end(t);
}
END_TEST

/* Damage loses one range. All other entries are found. */
START_TEST(damage)
{
	struct tree *t = start();
	uint64_t leaf[10], inner;
	unsigned i;

	plant(t, leaf, &inner);
	switch (_i) {
	case 0:			/* dead: it is its own parent */
		kmem_u64(t->k, leaf[3] & -256ull, leaf[3] & -256ull);
		break;
	case 1:			/* child of another node */
		kmem_u64(t->k, leaf[3] & -256ull, (leaf[2] & -256ull) | 6);
		break;
	case 2:			/* nowhere */
		kmem_u64(t->k, (inner & -256ull) + 80 + 3 * 8,
			 0xffff900000000000 | 0xc);
		break;
	case 3:			/* without a type */
		kmem_u64(t->k, (inner & -256ull) + 80 + 3 * 8,
			 (leaf[3] & -256ull) | 0x7c);
		break;
	case 4:			/* a cycle */
		kmem_u64(t->k, (inner & -256ull) + 80 + 3 * 8, inner);
		break;
	case 5:			/* an empty slot, valid only in a leaf */
		kmem_u64(t->k, (inner & -256ull) + 80 + 3 * 8, 0);
		break;
	default:		/* a user address */
		kmem_u64(t->k, (inner & -256ull) + 80 + 3 * 8, 0x10000c);
	}
	look(t, 0, END);
	ck_assert_uint_eq(t->n, 73);
	ck_assert_uint_eq(t->n_lost, 1);
	ck_assert_uint_eq(t->lost[0].first, 0x30000);
	ck_assert_uint_eq(t->lost[0].last, 0x3ffff);
	ck_assert_int_eq(t->lost[0].error, -EBADMSG);
	for (i = 0; i < 73; i++)
		ck_assert_uint_eq(t->got[i].entry, ENTRY + t->got[i].first);
	end(t);
}
END_TEST

START_TEST(pivots)
{
	struct tree *t = start();
	uint64_t leaf[10], inner;

	plant(t, leaf, &inner);
	/* They descend: what follows is lost. */
	kmem_u64(t->k, (leaf[3] & -256ull) + 8 + 4 * 8, 0x30010);
	look(t, 0, END);
	ck_assert_uint_eq(t->n_lost, 1);
	ck_assert_uint_eq(t->lost[0].first, 0x34000);
	ck_assert_uint_eq(t->lost[0].last, 0x3ffff);
	ck_assert_uint_eq(t->n, 75);
	end(t);
}
END_TEST

/* A pointer to a node is not an entry. */
START_TEST(node_in_leaf)
{
	struct tree *t = start();
	uint64_t leaf[10], inner;

	plant(t, leaf, &inner);
	kmem_u64(t->k, (leaf[3] & -256ull) + 128 + 8, inner | 2);
	look(t, 0, END);
	ck_assert_uint_eq(t->n, 80);
	ck_assert_uint_eq(t->n_lost, 1);
	ck_assert_uint_eq(t->lost[0].first, 0x31000);
	ck_assert_uint_eq(t->lost[0].last, 0x31fff);
	end(t);
}
END_TEST

START_TEST(left_out)
{
	struct tree *t = start();
	uint64_t leaf[10], inner;

	plant(t, leaf, &inner);
	kmem_fail(t->k, leaf[0] & -256ull, -ENODATA);
	look(t, 0, END);
	ck_assert_uint_ge(t->n_lost, 1);
	ck_assert_int_eq(t->lost[0].error, -ENODATA);
	end(t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("maple");

	unit_test(s, deep);
	unit_test(s, small);
	unit_loop(s, damage, 7);
	unit_test(s, pivots);
	unit_test(s, node_in_leaf);
	unit_test(s, left_out);
	return unit_main(s);
}
