/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Builds maple trees in a kernel's memory according to the comments of Linux's
 * maple_tree.h: a test gives each node's slots and their ends.
 */
#ifndef TESTS_UNIT_MAPLE_H
#define TESTS_UNIT_MAPLE_H

#include "kernel/container/maple.h"
#include "kmem.h"
#include "structs.h"

enum { MAPLE_DENSE, MAPLE_LEAF, MAPLE_RANGE, MAPLE_ARANGE };

static const struct structs_member maple_tree_members[] = {
	{ "ma_root", 8, 0, 0, 8 },
};
static const struct structs_member maple_node_members[] = {
	{ "parent", 0, 0, 0, 8 },
};
static const struct structs_member maple_range_members[] = {
	{ "parent", 0, 0, 0, 8 }, { "pivot", 8, 0, 0, 15 * 8 },
	{ "slot", 128, 0, 0, 16 * 8 },
};
static const struct structs_member maple_arange_members[] = {
	{ "parent", 0, 0, 0, 8 }, { "pivot", 8, 0, 0, 9 * 8 },
	{ "slot", 80, 0, 0, 10 * 8 }, { "gap", 160, 0, 0, 10 * 8 },
};

static inline void maple_structs(struct structs *s)
{
	structs_add(s, "maple_tree", 16, maple_tree_members, 1);
	structs_add(s, "maple_node", 256, maple_node_members, 1);
	structs_add(s, "maple_range_64", 256, maple_range_members, 3);
	structs_add(s, "maple_arange_64", 256, maple_arange_members, 4);
}

struct maple_slot {
	uint64_t last;
	uint64_t entry;
};

/*
 * Adds a node with these slots. Returns the pointer to it. Its parent is set
 * when it is added to one.
 */
static inline uint64_t maple_node(struct kmem *k, unsigned type,
				  const struct maple_slot *slots, unsigned n)
{
	const unsigned pivots = type == MAPLE_ARANGE ? 9 : 15;
	const uint64_t node = kmem_object_at(k, 256, 256);
	unsigned i;

	ck_assert_uint_le(n, pivots + 1);
	for (i = 0; i < n; i++) {
		if (i < pivots)
			kmem_u64(k, node + 8 + i * 8, slots[i].last);
		kmem_u64(k, node + (type == MAPLE_ARANGE ? 80 : 128) + i * 8,
			 slots[i].entry);
		if (type >= MAPLE_RANGE && slots[i].entry)
			kmem_u64(k, slots[i].entry & -256ull, node | 6);
	}
	return node | (uint64_t)type << 3 | 4;
}

static inline void maple_root(struct kmem *k, uint64_t tree, uint64_t enode)
{
	kmem_u64(k, enode & -256ull, tree | 1);
	kmem_u64(k, tree + 8, enode | 2);
}

#endif
