/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds vmalloc areas in the kernel's red-black trees: one tree, or several
 * since 6.9. It uses the list if the tree's address is unknown. Every search is
 * bounded by a tree's height, and the area found must contain the address.
 */
#include <errno.h>
#include <string.h>

#include "kernel/container/list.h"
#include "kernel/object/vmap.h"

/*
 * A tree with this many levels would have more areas than there are addresses.
 */
#define LEVELS 96
/* There is one for each processor, but the kernel makes at most 128. */
#define MOST_NODES 1024
#define MOST_AREAS ((uint64_t)1 << 24)

enum { AREA_START, AREA_END, AREA_RB, AREA_LIST, AREA_VM, AREA_FIELDS };
static const pdet_field_names area_names[AREA_FIELDS] = {
	[AREA_START] = { "vmap_area.va_start" },
	[AREA_END] = { "vmap_area.va_end" },
	[AREA_RB] = { "vmap_area.rb_node" },
	[AREA_LIST] = { "vmap_area.list" },
	[AREA_VM] = { "vmap_area.vm" },
};

enum { VM_FLAGS, VM_PAGES, VM_PHYS, VM_CALLER, VM_FIELDS };
static const pdet_field_names vm_names[VM_FIELDS] = {
	[VM_FLAGS] = { "vm_struct.flags" },
	[VM_PAGES] = { "vm_struct.nr_pages" },
	[VM_PHYS] = { "vm_struct.phys_addr" },
	[VM_CALLER] = { "vm_struct.caller" },
};

enum { NODE_ROOT, NODE_LIST, NODE_FIELDS };
static const pdet_field_names node_names[NODE_FIELDS] = {
	[NODE_ROOT] = { "vmap_node.busy.root.rb_node" },
	[NODE_LIST] = { "vmap_node.busy.head" },
};

enum { RB_LEFT, RB_RIGHT, RB_FIELDS };
static const pdet_field_names rb_names[RB_FIELDS] = {
	[RB_LEFT] = { "rb_node.rb_left" },
	[RB_RIGHT] = { "rb_node.rb_right" },
};

bool pdet_vmaps_init(struct pdet_vmaps *v, const struct pdet_btf *btf,
		     const struct pdet_vmap_symbols *at)
{
	bool trees;

	memset(v, 0, sizeof(*v));
	v->at = *at;
	pdet_struct_find(&v->area, btf, area_names, AREA_FIELDS);
	pdet_struct_find(&v->vm, btf, vm_names, VM_FIELDS);
	pdet_struct_find(&v->node, btf, node_names, NODE_FIELDS);
	pdet_struct_find(&v->rb, btf, rb_names, RB_FIELDS);
	if (!pdet_struct_has(&v->node, NODE_ROOT) || !at->n_nodes ||
	    !pdet_btf_struct_size(btf, "vmap_node", &v->node_size))
		v->at.nodes = 0;
	trees = pdet_struct_has(&v->area, AREA_RB) &&
		pdet_struct_has(&v->rb, RB_LEFT) &&
		pdet_struct_has(&v->rb, RB_RIGHT);
	if (!trees)
		v->at.nodes = v->at.root = 0;
	if (!pdet_struct_has(&v->area, AREA_LIST))
		v->at.list = 0;
	return pdet_struct_has(&v->area, AREA_START) &&
	       pdet_struct_has(&v->area, AREA_END) &&
	       pdet_struct_has(&v->area, AREA_VM) &&
	       (v->at.nodes || v->at.root || v->at.list);
}

/* Compare the area at @addr with @va. Returns 0 if it contains @va, -1 if @va
 * is before it, 1 if @va is after it, or a failure below -1. */
static int read_area(struct pdet_space *space, const struct pdet_vmaps *v,
		     uint64_t addr, uint64_t va, struct pdet_vmap *ret,
		     uint64_t *vm)
{
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, &v->area, addr, buf);

	if (r < 0)
		return r;
	memset(ret, 0, sizeof(*ret));
	ret->start = pdet_struct_get(&v->area, buf, AREA_START);
	ret->end = pdet_struct_get(&v->area, buf, AREA_END);
	*vm = pdet_struct_get(&v->area, buf, AREA_VM);
	if (ret->start >= ret->end || !pdet_is_address(ret->start))
		return -EBADMSG;
	return va < ret->start ? 1 : va >= ret->end ? -1 : 0;
}

/* Read the details in the area's vm_struct. */
static int read_vm(struct pdet_space *space, const struct pdet_vmaps *v,
		   uint64_t vm, struct pdet_vmap *ret)
{
	char buf[PDET_STRUCT_BYTES];
	int r;

	if (!vm || !pdet_struct_has(&v->vm, VM_FLAGS))
		return 0;
	r = pdet_struct_read(space, &v->vm, vm, buf);
	if (r < 0)
		return r;
	ret->has_vm = true;
	ret->flags = pdet_struct_get(&v->vm, buf, VM_FLAGS);
	ret->pages = pdet_struct_get(&v->vm, buf, VM_PAGES);
	ret->phys = pdet_struct_get(&v->vm, buf, VM_PHYS);
	ret->caller = pdet_struct_get(&v->vm, buf, VM_CALLER);
	return 0;
}

/* *vm: the area's vm_struct. */
static int find_in_tree(struct pdet_space *space, const struct pdet_vmaps *v,
			uint64_t root, uint64_t va, struct pdet_vmap *ret,
			uint64_t *vm)
{
	uint64_t at, low = 0, high = UINT64_MAX;
	unsigned level;
	int r;

	r = pdet_space_u64(space, root, &at);
	for (level = 0; r == 0 && at; level++) {
		if (level == LEVELS)
			return -EBADMSG;
		r = read_area(space, v,
			      at - (uint64_t)v->area.field[AREA_RB].at, va,
			      ret, vm);
		if (r == 0)
			return 0;
		if (r < -1)
			return r;
		/* what is elsewhere in the tree is damage */
		if (ret->start < low || ret->end > high)
			return -EBADMSG;
		if (r > 0)
			high = ret->start;
		else
			low = ret->end;
		r = pdet_struct_value(space, &v->rb, at,
				      r > 0 ? RB_LEFT : RB_RIGHT, &at);
	}
	return r < 0 ? r : -ENOENT;
}

static int read_nodes(struct pdet_space *space, const struct pdet_vmaps *v,
		      uint64_t *nodes, uint32_t *n)
{
	int r = pdet_space_u64(space, v->at.nodes, nodes);

	if (r == 0)
		r = pdet_space_u32(space, v->at.n_nodes, n);
	if (r < 0)
		return r;
	return *n && *n <= MOST_NODES && pdet_is_address(*nodes) ? 0 :
								   -EBADMSG;
}

static int find_in_nodes(struct pdet_space *space, const struct pdet_vmaps *v,
			 uint64_t va, struct pdet_vmap *ret, uint64_t *vm)
{
	const uint64_t root = (uint64_t)v->node.field[NODE_ROOT].at;
	uint64_t nodes;
	uint32_t n, i;
	int r = read_nodes(space, v, &nodes, &n);

	if (r < 0)
		return r;
	/*
	 * An area is in the node that its start hashes to, so search all nodes.
	 */
	for (i = 0, r = -ENOENT; i < n && r == -ENOENT; i++)
		r = find_in_tree(space, v, nodes + i * v->node_size + root, va,
				 ret, vm);
	return r;
}

struct search {
	struct pdet_space *space;
	const struct pdet_vmaps *v;
	uint64_t va, vm;
	struct pdet_vmap *ret;
};

static int visit(void *arg, uint64_t node)
{
	struct search *s = arg;
	int r = read_area(s->space, s->v,
			  node - (uint64_t)s->v->area.field[AREA_LIST].at,
			  s->va, s->ret, &s->vm);

	return r == 0 ? 1 : r < -1 ? r : 0;
}

static int find_in_list(struct pdet_space *space, const struct pdet_vmaps *v,
			uint64_t va, struct pdet_vmap *ret, uint64_t *vm)
{
	struct search s = { space, v, va, 0, ret };
	int r = pdet_list_each(space, v->at.list, MOST_AREAS, visit, &s);

	*vm = s.vm;
	return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

int pdet_vmap_find(struct pdet_space *space, const struct pdet_vmaps *v,
		   uint64_t va, struct pdet_vmap *ret)
{
	uint64_t vm;
	int r;

	if (v->at.nodes)
		r = find_in_nodes(space, v, va, ret, &vm);
	else if (v->at.root)
		r = find_in_tree(space, v, v->at.root, va, ret, &vm);
	else
		r = find_in_list(space, v, va, ret, &vm);
	return r < 0 ? r : read_vm(space, v, vm, ret);
}

/* --- trees beside lists --- */

struct comparison {
	struct pdet_space *space;
	const struct pdet_vmaps *v;
	uint64_t root;		/* of the tree with the areas of the list */
};

static int look_in_tree(void *arg, uint64_t node)
{
	const struct comparison *c = arg;
	struct pdet_vmap area, found;
	uint64_t vm;
	int r = read_area(c->space, c->v, node -
			  (uint64_t)c->v->area.field[AREA_LIST].at, 0, &area,
			  &vm);

	if (r >= -1)
		r = find_in_tree(c->space, c->v, c->root, area.start, &found,
				 &vm);
	if (r == 0 && (found.start != area.start || found.end != area.end))
		r = -EBADMSG;
	return r == -ENOENT ? -EBADMSG : r;
}

int pdet_vmaps_check(struct pdet_space *space, const struct pdet_vmaps *v)
{
	struct comparison c = { space, v, v->at.root };
	uint64_t nodes, node;
	uint32_t n, i;
	int r;

	if (!v->at.nodes)
		return v->at.root && v->at.list ?
			pdet_list_each(space, v->at.list, MOST_AREAS,
				       look_in_tree, &c) : 0;
	if (!pdet_struct_has(&v->node, NODE_LIST) ||
	    !pdet_struct_has(&v->area, AREA_LIST))
		return 0;
	r = read_nodes(space, v, &nodes, &n);
	for (i = 0; i < n && r == 0; i++) {
		node = nodes + i * v->node_size;
		c.root = pdet_struct_addr(&v->node, node, NODE_ROOT);
		r = pdet_list_each(space, pdet_struct_addr(&v->node, node,
							   NODE_LIST),
				   MOST_AREAS, look_in_tree, &c);
	}
	return r;
}

const char *pdet_vmap_kind(const struct pdet_vmap *m)
{
	static const struct {
		unsigned flag;
		const char *name;
	} kinds[] = {
		{ PDET_VMAP_IOREMAP, "ioremap" },
		{ PDET_VMAP_ALLOC, "vmalloc" },
		{ PDET_VMAP_MAP, "vmap" },
		{ PDET_VMAP_USERMAP, "user" },
		{ PDET_VMAP_DMA_COHERENT, "dma-coherent" },
	};
	size_t i;

	if (!m->has_vm)
		return "vm_map_ram";
	for (i = 0; i < PDET_COUNT(kinds); i++)
		if (m->flags & kinds[i].flag)
			return kinds[i].name;
	return "vmalloc area";
}
