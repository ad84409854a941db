/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks maple trees. A node is 256 bytes, aligned to 256. The low byte of a
 * pointer to it holds the node's type. Each pivot is the end of a slot's range;
 * the last slot ends with the node.
 */
#include <errno.h>
#include <string.h>

#include "kernel/container/maple.h"

#define NODE_BYTES 256
#define NODE_MASK ((uint64_t)NODE_BYTES - 1)
/* MAPLE_HEIGHT_MAX */
#define HEIGHT 31
/*
 * enum maple_type. The values are stored in pointers, so they are part of the
 * format.
 */
enum { DENSE, LEAF, RANGE, ARANGE };
#define IS_INTERNAL(entry) (((entry) & 3) == 2)
#define IS_NODE(entry) (IS_INTERNAL(entry) && (entry) > 4096)
/* The parent of a root node is its tree, with this mark. */
#define ROOT_PARENT 1

enum { TREE_ROOT };
static const pdet_field_names tree_names[] = {
	[TREE_ROOT] = { "maple_tree.ma_root" },
};

enum { PIVOT, SLOT };
static const pdet_field_names range_names[] = {
	[PIVOT] = { "maple_range_64.pivot" },
	[SLOT] = { "maple_range_64.slot" },
};
static const pdet_field_names arange_names[] = {
	[PIVOT] = { "maple_arange_64.pivot" },
	[SLOT] = { "maple_arange_64.slot" },
};

static const pdet_field_names node_names[] = { { "maple_node.parent" } };

static bool find_form(struct pdet_maple_form *ret, const struct pdet_btf *btf,
		      const pdet_field_names *names)
{
	struct pdet_struct s;
	const struct pdet_field *pivot = &s.field[PIVOT];
	const struct pdet_field *slot = &s.field[SLOT];

	pdet_struct_find(&s, btf, names, 2);
	if (pivot->at < 0 || slot->at < 0)
		return false;
	ret->pivot = (uint32_t)pivot->at;
	ret->slot = (uint32_t)slot->at;
	ret->slots = slot->size / 8;
	/* one pivot less than slots, all within the node */
	return ret->slots && pivot->size / 8 + 1 >= ret->slots &&
	       ret->pivot + pivot->size <= NODE_BYTES &&
	       ret->slot + slot->size <= NODE_BYTES;
}

bool pdet_maple_init(struct pdet_maple *m, const struct pdet_btf *btf)
{
	struct pdet_struct node;

	memset(m, 0, sizeof(*m));
	pdet_struct_find(&m->tree, btf, tree_names, 1);
	pdet_struct_find(&node, btf, node_names, 1);
	if (!pdet_struct_has(&m->tree, TREE_ROOT) || !pdet_struct_has(&node, 0))
		return false;
	m->parent = (uint32_t)node.field[0].at;
	return m->parent <= NODE_BYTES - 8 &&
	       find_form(&m->range, btf, range_names) &&
	       find_form(&m->arange, btf, arange_names);
}

/* --- walk --- */

struct walk {
	struct pdet_space *space;
	const struct pdet_maple *m;
	const struct pdet_maple_visit *visit;
	uint64_t first, last;	/* wanted */
};

static uint64_t word(const char *node, uint32_t at)
{
	uint64_t v;

	memcpy(&v, node + at, sizeof(v));
	return v;
}

static int read_node(const struct walk *w, uint64_t addr, uint64_t parent,
		     char node[NODE_BYTES])
{
	uint64_t is;
	int r;

	if (!pdet_is_address(addr))
		return -EBADMSG;
	r = pdet_space_read(w->space, addr, node, NODE_BYTES);
	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	/* A dead node is its own parent. */
	is = word(node, w->m->parent);
	if (!parent)
		return is & ROOT_PARENT ? 0 : -EBADMSG;
	return !(is & ROOT_PARENT) && (is & ~NODE_MASK) == parent ? 0 :
								  -EBADMSG;
}

static int walk_node(const struct walk *w, uint64_t enode, uint64_t parent,
		     uint64_t min, uint64_t max, unsigned depth);

static int give(const struct walk *w, bool leaf, uint64_t slot, uint64_t node,
		uint64_t min, uint64_t max, unsigned depth)
{
	if (max < w->first || min > w->last)
		return 0;
	if (!leaf)
		return walk_node(w, slot, node, min, max, depth);
	if (IS_NODE(slot))
		return w->visit->lost(w->visit->arg, min, max, -EBADMSG);
	return slot && !IS_INTERNAL(slot) ?
		w->visit->entry(w->visit->arg, min, max, slot) : 0;
}

static int walk_dense(const struct walk *w, const char *node, uint64_t min,
		      uint64_t max)
{
	const uint32_t slots = (NODE_BYTES - 8) / 8;
	uint32_t i;
	int r;

	for (i = 0; i < slots && i <= max - min; i++) {
		r = give(w, true, word(node, 8 + i * 8), 0, min + i, min + i,
			 0);
		if (r)
			return r;
	}
	return 0;
}

static int walk_node(const struct walk *w, uint64_t enode, uint64_t parent,
		     uint64_t min, uint64_t max, unsigned depth)
{
	const unsigned type = enode >> 3 & 15;
	const uint64_t addr = enode & ~NODE_MASK;
	const struct pdet_maple_form *f = type == ARANGE ? &w->m->arange :
							   &w->m->range;
	char node[NODE_BYTES];
	uint64_t start = min, end;
	uint32_t i;
	int r;

	r = depth && type <= ARANGE ? read_node(w, addr, parent, node) :
				      -EBADMSG;
	if (r < 0)
		return w->visit->lost(w->visit->arg, min, max, r);
	if (type == DENSE)
		return walk_dense(w, node, min, max);
	for (i = 0; i < f->slots; i++) {
		end = i + 1 < f->slots ? word(node, f->pivot + i * 8) : max;
		if (!end && i)
			end = max;
		if (end < start || end > max)
			return w->visit->lost(w->visit->arg, start, max,
					      -EBADMSG);
		r = give(w, type == LEAF, word(node, f->slot + i * 8), addr,
			 start, end, depth - 1);
		if (r || end == max)
			return r;
		start = end + 1;
	}
	return 0;
}

int pdet_maple_each(struct pdet_space *space, const struct pdet_maple *m,
		    uint64_t tree, uint64_t first, uint64_t last,
		    const struct pdet_maple_visit *visit)
{
	const struct walk w = { space, m, visit, first, last };
	uint64_t root;
	int r = pdet_struct_value(space, &m->tree, tree, TREE_ROOT, &root);

	if (r < 0)
		return visit->lost(visit->arg, first, last, r);
	if (!root)
		return 0;
	/*
	 * An entry for 0 alone would be here, but an address space never has
	 * one.
	 */
	return IS_NODE(root) ? walk_node(&w, root, 0, 0, UINT64_MAX, HEIGHT) :
			       visit->lost(visit->arg, first, last, -EBADMSG);
}
