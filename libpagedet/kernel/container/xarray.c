/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks XArrays. A node has 64 slots, or 16 on small kernels. An entry of
 * several slots is in the first one; the others are siblings that point to it.
 */
#include <errno.h>
#include <string.h>

#include "kernel/container/xarray.h"

/* Entries with these low bits are internal. Small ones are marks; the smallest
 * are siblings, which point to another slot. */
#define IS_INTERNAL(entry) (((entry) & 3) == 2)
#define IS_NODE(entry) (IS_INTERNAL(entry) && (entry) > 4096)
/* This value is in a slot of a node that was removed from the array: the slot
 * must be read again (XA_RETRY_ENTRY). */
#define RETRY (256 << 2 | 2)
#define MOST_SLOTS 64
/* Of an entry whose slot does not say so. */
#define IS_SIBLING(entry) (IS_INTERNAL(entry) && (entry) < MOST_SLOTS << 2)

enum { ARRAY_HEAD };
static const pdet_field_names array_names[] = {
	[ARRAY_HEAD] = { "xarray.xa_head" },
};

enum { NODE_SHIFT, NODE_OFFSET, NODE_PARENT, NODE_SLOTS, NODE_COUNT,
       NODE_FIELDS };
static const pdet_field_names node_names[NODE_FIELDS] = {
	[NODE_SHIFT] = { "xa_node.shift" },
	[NODE_OFFSET] = { "xa_node.offset" },
	[NODE_PARENT] = { "xa_node.parent" },
	[NODE_SLOTS] = { "xa_node.slots" },
	[NODE_COUNT] = { "xa_node.count" },
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
	for (i = 0; i < NODE_COUNT; i++)
		if (!x->node.field[i].read)
			return false;
	return true;
}

struct walk {
	struct pdet_space *space;
	const struct pdet_xarrays *x;
	const struct pdet_xarray_visit *visit;
	uint64_t first, last;	/* requested range */
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

/* The number of slots after @i that are its siblings. */
static uint32_t siblings(const struct walk *w, const char *buf, uint32_t i)
{
	const uint64_t sibling = (uint64_t)i << 2 | 2;
	uint32_t n = 0;

	while (i + n + 1 < w->x->slots &&
	       slot_at(w, buf, i + n + 1) == sibling)
		n++;
	return n;
}

/* Children at the lowest level that are read together. */
struct ahead {
	struct pdet_gather piece[MOST_SLOTS];
	uint32_t n, at;
	const char *bytes;	/* of the pieces from @at on */
};

/* Read the requested children of a node whose slots are in @buf. If they cannot
 * be gathered, each is read when the walk reaches it. */
static void look_ahead(const struct walk *w, const char *buf, unsigned bits,
		       uint64_t first, struct ahead *ret)
{
	const struct pdet_struct *s = &w->x->node;
	uint64_t entry, start;
	uint32_t i;

	ret->n = ret->at = 0;
	if (bits != w->x->shift || s->bytes > PDET_GATHER_BYTES)
		return;
	for (i = 0; i < w->x->slots; i++) {
		entry = slot_at(w, buf, i);
		start = first + ((uint64_t)i << bits);
		if (IS_NODE(entry) &&
		    is_wanted(w, start, start + (((uint64_t)1 << bits) - 1)))
			ret->piece[ret->n++] = (struct pdet_gather){
				entry - 2 + s->first, s->bytes, 0,
			};
	}
	if (ret->n < 2 || pdet_space_gather(w->space, ret->piece, ret->n,
					    &ret->bytes) < 0)
		ret->n = 0;
}

/* The bytes that were read ahead for the next node. NULL if there are none. */
static const char *from_ahead(const struct walk *w, struct ahead *a,
			      uint64_t node)
{
	const struct pdet_gather *p = &a->piece[a->at];
	const char *bytes = a->bytes;

	if (a->at == a->n || p->addr != node + w->x->node.first)
		return NULL;
	a->at++;
	a->bytes += p->size;
	return p->error < 0 ? NULL : bytes;
}

/* What a node must contain to be at its place. A place has one node, and a node
 * has one place. Each node is therefore entered at most once, whatever the
 * slots contain. */
struct place {
	uint64_t parent;
	uint32_t offset;	/* its slot in the parent */
	int shift;		/* log2 of the numbers a slot covers; -1: the
				 * root, of any size */
	uint64_t first, last;
};

static int walk_node(const struct walk *w, uint64_t node, const char *bytes,
		     const struct place *at);

/* A node of a dump counts its slots that have an entry. If more than that are
 * empty, some have lost their entries. */
static bool lacks_entries(const struct walk *w, const char *buf)
{
	uint64_t count = 0;
	uint32_t i;

	if (w->space->reader->memory->live ||
	    !pdet_struct_bytes(&w->x->node, buf, NODE_COUNT))
		return false;
	for (i = 0; i < w->x->slots; i++)
		count += slot_at(w, buf, i) != 0;
	return count < pdet_struct_get(&w->x->node, buf, NODE_COUNT);
}

/* The number of empty slots from @i on. */
static uint32_t empty_slots(const struct walk *w, const char *buf, uint32_t i)
{
	uint32_t n = 0;

	while (i + n < w->x->slots && !slot_at(w, buf, i + n))
		n++;
	return n;
}

/* Visit the slots of a node; each covers 1 << @bits numbers. */
static int walk_slots(const struct walk *w, uint64_t node, const char *buf,
		      unsigned bits, uint64_t first)
{
	struct place at = {
		.parent = node, .shift = (int)(bits - w->x->shift)
	};
	const bool lacks = lacks_entries(w, buf);
	struct ahead ahead;
	uint64_t entry, start, end;
	uint32_t i, more;
	int r;

	look_ahead(w, buf, bits, first, &ahead);
	for (i = 0; i < w->x->slots; i += 1 + more) {
		entry = slot_at(w, buf, i);
		more = entry ? siblings(w, buf, i) :
			       empty_slots(w, buf, i) - 1;
		start = first + ((uint64_t)i << bits);
		/* beyond 2^64 */
		if ((uint64_t)i << bits >> bits != i)
			return 0;
		end = start + ((((uint64_t)more + 1) << bits) - 1);
		if (end < start)
			end = UINT64_MAX;
		if (!is_wanted(w, start, end) || (!entry && !lacks))
			continue;
		at.offset = i;
		at.first = start;
		at.last = end;
		if (!entry)
			r = lose(w, start, end, -EBADMSG);
		else if (IS_NODE(entry))
			r = bits ? walk_node(w, entry - 2,
					     from_ahead(w, &ahead, entry - 2),
					     &at) :
				   lose(w, start, end, -EBADMSG);
		else if (entry == RETRY && w->visit->changes)
			r = lose(w, start, end, -EAGAIN);
		else if (IS_SIBLING(entry))
			r = lose(w, start, end, -EBADMSG);
		else
			r = IS_INTERNAL(entry) ? 0 :
			    w->visit->entry(w->visit->arg, start, end, entry);
		if (r)
			return r;
	}
	return 0;
}

static bool is_at(const struct walk *w, const char *bytes, unsigned bits,
		  const struct place *at)
{
	const struct pdet_struct *s = &w->x->node;

	if (bits % w->x->shift || bits > 63 ||
	    pdet_struct_get(s, bytes, NODE_PARENT) != at->parent)
		return false;
	/* the root is not in a slot, and its fields for that are not set */
	return at->shift < 0 ||
	       (bits == (unsigned)at->shift &&
		pdet_struct_get(s, bytes, NODE_OFFSET) == at->offset);
}

/* @bytes is the node if it was read ahead, otherwise NULL. */
static int walk_node(const struct walk *w, uint64_t node, const char *bytes,
		     const struct place *at)
{
	char buf[PDET_STRUCT_BYTES];
	unsigned bits = 0;
	int r = bytes ? 0 : pdet_struct_read(w->space, &w->x->node, node, buf);

	if (!bytes)
		bytes = buf;
	if (!r) {
		bits = (unsigned)pdet_struct_get(&w->x->node, bytes,
						 NODE_SHIFT);
		if (!is_at(w, bytes, bits, at))
			r = -EBADMSG;
	}
	return r < 0 ? lose(w, at->first, at->last, r) :
		       walk_slots(w, node, bytes, bits, at->first);
}

bool pdet_xarray_empty(struct pdet_space *space, const struct pdet_xarrays *x,
		       uint64_t addr)
{
	uint64_t head;

	return pdet_struct_value(space, &x->array, addr, ARRAY_HEAD, &head) ==
	       0 && !head;
}

uint64_t pdet_xarray_last(struct pdet_space *space,
			  const struct pdet_xarrays *x, uint64_t addr)
{
	const struct walk w = { .space = space, .x = x };
	const struct place root = { .shift = -1 };
	char buf[PDET_STRUCT_BYTES];
	uint64_t head, slots = x->slots;
	unsigned bits;

	if (pdet_struct_value(space, &x->array, addr, ARRAY_HEAD, &head) < 0)
		return UINT64_MAX;
	if (!IS_NODE(head))
		return 0;
	if (pdet_struct_read(space, &x->node, head - 2, buf) < 0)
		return UINT64_MAX;
	bits = (unsigned)pdet_struct_get(&x->node, buf, NODE_SHIFT);
	if (!is_at(&w, buf, bits, &root))
		return UINT64_MAX;
	return slots << bits >> bits == slots ? (slots << bits) - 1 :
						UINT64_MAX;
}

int pdet_xarray_each(struct pdet_space *space, const struct pdet_xarrays *x,
		     uint64_t addr, uint64_t first, uint64_t last,
		     const struct pdet_xarray_visit *visit)
{
	const struct walk w = { space, x, visit, first, last };
	const struct place root = { .shift = -1, .last = UINT64_MAX };
	uint64_t head;
	int r = pdet_struct_value(space, &x->array, addr, ARRAY_HEAD, &head);

	if (r < 0)
		return lose(&w, first, last, r);
	if (IS_NODE(head))
		return walk_node(&w, head - 2, NULL, &root);
	if (IS_SIBLING(head))
		return lose(&w, first, last, -EBADMSG);
	return head && !IS_INTERNAL(head) && is_wanted(&w, 0, 0) ?
		visit->entry(visit->arg, 0, 0, head) : 0;
}
