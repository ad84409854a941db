/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A node has 64 slots, or 16 on small kernels. What is for several slots is in
 * the first of them; the others say where that is.
 */
#include <errno.h>
#include <string.h>

#include "kernel/xarray.h"

/* Entries with these low bits are the array's own; small ones are marks, the
 * smallest of them say that the entry is in another slot. */
#define IS_INTERNAL(entry) (((entry) & 3) == 2)
#define IS_NODE(entry) (IS_INTERNAL(entry) && (entry) > 4096)
#define MOST_SLOTS 64

enum { ARRAY_HEAD };
static const pdet_field_names array_names[] = {
	[ARRAY_HEAD] = { "xarray.xa_head" },
};

enum { NODE_SHIFT, NODE_PARENT, NODE_SLOTS, NODE_FIELDS };
static const pdet_field_names node_names[NODE_FIELDS] = {
	[NODE_SHIFT] = { "xa_node.shift" },
	[NODE_PARENT] = { "xa_node.parent" },
	[NODE_SLOTS] = { "xa_node.slots" },
};

bool pdet_xarrays_init(struct pdet_xarrays *x, const struct pdet_btf *btf)
{
	unsigned i;

	pdet_struct_find(&x->array, btf, array_names, 1);
	pdet_struct_find(&x->node, btf, node_names, NODE_FIELDS);
	x->slots = x->node.field[NODE_SLOTS].size / 8;
	if (!pdet_struct_has(&x->array, ARRAY_HEAD) ||
	    (x->slots != 16 && x->slots != MOST_SLOTS))
		return false;
	x->shift = (unsigned)__builtin_ctz(x->slots);
	for (i = 0; i < NODE_FIELDS; i++)
		if (!x->node.field[i].read)
			return false;
	return true;
}

struct walk {
	struct pdet_space *space;
	const struct pdet_xarrays *x;
	const struct pdet_xarray_visit *visit;
	uint64_t first, last;	/* wanted */
};

static bool is_wanted(const struct walk *w, uint64_t first, uint64_t last)
{
	return last >= w->first && first <= w->last;
}

static int lose(const struct walk *w, uint64_t first, uint64_t last, int error)
{
	return w->visit->lost(w->visit->arg, PDET_MAX(first, w->first),
			      PDET_MIN(last, w->last), error);
}

static uint64_t slot_at(const struct walk *w, const char *buf, uint32_t i)
{
	uint64_t v;

	memcpy(&v, pdet_struct_bytes(&w->x->node, buf, NODE_SLOTS) + i * 8,
	       sizeof(v));
	return v;
}

/* Slots behind @i that belong to its entry. */
static uint32_t siblings(const struct walk *w, const char *buf, uint32_t i)
{
	const uint64_t sibling = (uint64_t)i << 2 | 2;
	uint32_t n = 0;

	while (i + n + 1 < w->x->slots &&
	       slot_at(w, buf, i + n + 1) == sibling)
		n++;
	return n;
}

/*
 * @shift: what the node must say of itself, how many numbers a slot is for.
 * The root may be of any size.
 */
static int walk_node(const struct walk *w, uint64_t node, uint64_t parent,
		     int shift, uint64_t first, uint64_t last)
{
	char buf[PDET_STRUCT_BYTES];
	uint64_t entry, start, end;
	unsigned bits = 0;
	uint32_t i, more;
	int r = pdet_struct_read(w->space, &w->x->node, node, buf);

	if (!r) {
		bits = (unsigned)pdet_struct_get(&w->x->node, buf, NODE_SHIFT);
		if (bits % w->x->shift || bits > 63 ||
		    (shift >= 0 && bits != (unsigned)shift) ||
		    pdet_struct_get(&w->x->node, buf, NODE_PARENT) != parent)
			r = -EBADMSG;
	}
	if (r < 0)
		return lose(w, first, last, r);
	for (i = 0; i < w->x->slots; i += 1 + more) {
		entry = slot_at(w, buf, i);
		more = entry ? siblings(w, buf, i) : 0;
		start = first + ((uint64_t)i << bits);
		/* behind what can be counted */
		if ((uint64_t)i << bits >> bits != i)
			return 0;
		end = start + ((((uint64_t)more + 1) << bits) - 1);
		if (!entry || !is_wanted(w, start, end))
			continue;
		if (IS_NODE(entry))
			r = bits ? walk_node(w, entry - 2, node,
					     (int)(bits - w->x->shift), start,
					     end) :
				   lose(w, start, end, -EBADMSG);
		else
			r = IS_INTERNAL(entry) ? 0 :
			    w->visit->entry(w->visit->arg, start, end, entry);
		if (r)
			return r;
	}
	return 0;
}

int pdet_xarray_each(struct pdet_space *space, const struct pdet_xarrays *x,
		     uint64_t addr, uint64_t first, uint64_t last,
		     const struct pdet_xarray_visit *visit)
{
	const struct walk w = { space, x, visit, first, last };
	uint64_t head;
	int r = pdet_struct_value(space, &x->array, addr, ARRAY_HEAD, &head);

	if (r < 0)
		return lose(&w, first, last, r);
	if (IS_NODE(head))
		return walk_node(&w, head - 2, 0, -1, 0, UINT64_MAX);
	return head && !IS_INTERNAL(head) && is_wanted(&w, 0, 0) ?
		visit->entry(visit->arg, 0, 0, head) : 0;
}
