/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A list for each order and type of block; nodes of lists are in the first
 * struct page of each block. */
#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "kernel/list.h"
#include "kernel/zone.h"

/* MAX_NUMNODES */
#define MOST_NODES 1024
#define MOST_ZONES 8
#define MOST_ORDERS 24
#define MOST_TYPES 16
/* Blocks of one list. */
#define MOST_BLOCKS ((uint64_t)1 << 36)

enum { NODE_ZONES, NODE_NR_ZONES, NODE_ID, NODE_FIELDS };
static const pdet_field_names node_names[NODE_FIELDS] = {
	[NODE_ZONES] = { "pglist_data.node_zones" },
	[NODE_NR_ZONES] = { "pglist_data.nr_zones" },
	[NODE_ID] = { "pglist_data.node_id" },
};

/* per_cpu_pageset was pageset, with the lists in a struct, until 5.13 */
enum { ZONE_FIRST, ZONE_SPANNED, ZONE_NAME, ZONE_AREA, ZONE_PAGESET,
       ZONE_FIELDS };
static const pdet_field_names zone_names[ZONE_FIELDS] = {
	[ZONE_FIRST] = { "zone.zone_start_pfn" },
	[ZONE_SPANNED] = { "zone.spanned_pages" },
	[ZONE_NAME] = { "zone.name" },
	[ZONE_AREA] = { "zone.free_area" },
	[ZONE_PAGESET] = { "zone.per_cpu_pageset" },
};

static const pdet_field_names area_names[] = { { "free_area.free_list" } };
static const pdet_field_names pageset_names[] = { { "per_cpu_pages.lists" } };
static const pdet_field_names page_names[] = {
	{ "page.buddy_list", "page.lru" },	/* buddy_list: 5.19 */
};

static bool find_layout(struct pdet_zones *z, const struct pdet_btf *btf)
{
	unsigned i;

	memset(z, 0, sizeof(*z));
	pdet_struct_find(&z->node, btf, node_names, NODE_FIELDS);
	pdet_struct_find(&z->zone, btf, zone_names, ZONE_FIELDS);
	pdet_struct_find(&z->area, btf, area_names, 1);
	pdet_struct_find(&z->pageset, btf, pageset_names, 1);
	pdet_struct_find(&z->page, btf, page_names, 1);
	for (i = 0; i < NODE_FIELDS; i++)
		if (!pdet_struct_has(&z->node, i))
			return false;
	for (i = ZONE_FIRST; i <= ZONE_AREA; i++)
		if (!pdet_struct_has(&z->zone, i))
			return false;
	if (!pdet_struct_has(&z->area, 0) || !pdet_struct_has(&z->page, 0) ||
	    !pdet_btf_struct_size(btf, "zone", &z->zone_size) ||
	    !pdet_btf_struct_size(btf, "free_area", &z->area_size) ||
	    !z->zone_size || !z->area_size)
		return false;
	z->orders = z->zone.field[ZONE_AREA].size / (uint32_t)z->area_size;
	z->types = z->area.field[0].size / 16;
	return z->orders && z->orders <= MOST_ORDERS && z->types &&
	       z->types <= MOST_TYPES;
}

/* --- zones --- */

static int read_zone(struct pdet_zones *z, struct pdet_space *space,
		     uint64_t addr, uint32_t node, uint32_t index)
{
	struct pdet_zone zone = { node, index, "", 0, 0, addr, 0 };
	char buf[PDET_STRUCT_BYTES];
	uint64_t name;
	int r;

	r = pdet_struct_value(space, &z->zone, addr, ZONE_FIRST, &zone.first);
	if (!r)
		r = pdet_struct_value(space, &z->zone, addr, ZONE_SPANNED,
				      &zone.n);
	if (!r)
		r = pdet_struct_value(space, &z->zone, addr, ZONE_NAME, &name);
	if (r < 0)
		return r;
	if (!zone.n)		/* memory that this machine has none of */
		return 0;
	if (pdet_struct_has(&z->zone, ZONE_PAGESET))
		(void)pdet_struct_value(space, &z->zone, addr, ZONE_PAGESET,
					&zone.pageset);
	if (pdet_is_address(name) &&
	    pdet_space_text(space, name, buf, PDET_ZONE_NAME) > 0)
		strcpy(zone.name, buf);
	return pdet_vec_push(&z->zone_of, zone) ? 0 : -ENOMEM;
}

static int read_node(struct pdet_zones *z, struct pdet_space *space,
		     uint64_t addr)
{
	uint64_t n, id;
	uint32_t i;
	int r = pdet_struct_value(space, &z->node, addr, NODE_NR_ZONES, &n);

	if (!r)
		r = pdet_struct_value(space, &z->node, addr, NODE_ID, &id);
	if (!r && (n > MOST_ZONES || id >= MOST_NODES))
		r = -EBADMSG;
	for (i = 0; !r && i < n; i++)
		r = read_zone(z, space, pdet_struct_addr(&z->node, addr,
							 NODE_ZONES) +
			      i * z->zone_size, (uint32_t)id, i);
	return r;
}

/* Those that are online; kernels without NUMA have one, and no table. */
static int read_nodes(struct pdet_zones *z, struct pdet_space *space,
		      const struct pdet_vmcoreinfo *info, uint64_t node_data)
{
	uint64_t addr, online, bytes, word = 0, i;
	int r = 0;

	if (!pdet_vmcoreinfo_symbol(info, "node_data", &addr))
		addr = node_data;
	if (!addr && pdet_vmcoreinfo_symbol(info, "contig_page_data", &addr))
		return read_node(z, space, addr);
	if (!addr ||
	    !pdet_vmcoreinfo_symbol(info, "node_online_map", &online) ||
	    !pdet_vmcoreinfo_size(info, "nodemask_t", &bytes))
		return -ENODATA;
	for (i = 0; !r && i < PDET_MIN(bytes * 8, (uint64_t)MOST_NODES); i++) {
		if (i % 64 == 0)
			r = pdet_space_u64(space, online + i / 8, &word);
		if (r < 0 || !(word >> i % 64 & 1))
			continue;
		r = pdet_space_u64(space, addr + i * 8, &node_data);
		if (!r)
			r = read_node(z, space, node_data);
	}
	return r;
}

int pdet_zones_read(struct pdet_zones *ret, struct pdet_env *env,
		    struct pdet_space *space,
		    const struct pdet_vmcoreinfo *info,
		    const struct pdet_btf *btf, uint64_t node_data)
{
	int r;

	if (!find_layout(ret, btf))
		return pdet_fail(env, ENODATA, "cannot find the zones: "
				 "the kernel's types do not say where");
	r = read_nodes(ret, space, info, node_data);
	if (!r && !ret->zone_of.n)
		r = -EBADMSG;
	if (r < 0) {
		pdet_zones_free(ret);
		/* somebody pointed there, so it is damage */
		errno = r == -ENOENT ? EBADMSG : -r;
		return pdet_fail_errno(env, "cannot read the zones");
	}
	return 0;
}

void pdet_zones_free(struct pdet_zones *z)
{
	pdet_vec_free(&z->zone_of);
}

const struct pdet_zone *pdet_zone_find(const struct pdet_zones *z, uint64_t pfn)
{
	const struct pdet_zone *found = NULL;
	size_t i;

	for (i = 0; i < z->zone_of.n; i++) {
		if (pfn - z->zone_of.data[i].first >= z->zone_of.data[i].n)
			continue;
		if (found)
			return NULL;
		found = &z->zone_of.data[i];
	}
	return found;
}

/* --- free blocks --- */

struct walk {
	const struct pdet_zones *z;
	int (*visit)(void *arg, const struct pdet_free *block);
	void *arg;
	struct pdet_free block;
	bool ended;
};

static int visit_block(void *arg, uint64_t node)
{
	struct walk *w = arg;
	int r;

	w->block.page = node - (uint64_t)w->z->page.field[0].at;
	r = w->visit(w->arg, &w->block);
	w->ended = r;
	return r;
}

/* One list that cannot be read takes no other away. */
static bool visit_list(struct pdet_space *space, struct walk *w, uint64_t list,
		       int *error)
{
	int r = pdet_list_each(space, list, MOST_BLOCKS, visit_block, w);

	if (w->ended || !*error)
		*error = r;
	return w->ended;
}

/*
 * Lists of a processor are for types that are given out, by orders; the last
 * ones are of huge pages (include/linux/mmzone.h, NR_PCP_LISTS).
 */
static int each_of_cpus(struct pdet_space *space, struct walk *w,
			const struct pdet_zone *zone,
			const struct pdet_percpu *percpu)
{
	const uint32_t types = 3, costly = 4;
	const uint32_t n = w->z->pageset.field[0].size / 16;
	uint64_t lists;
	uint32_t i, cpu;
	int error = 0;

	if (!zone->pageset || !pdet_struct_has(&w->z->pageset, 0))
		return -ENODATA;
	for (cpu = 0; cpu < percpu->n; cpu++) {
		w->block.cpu = (int32_t)cpu;
		lists = pdet_struct_addr(&w->z->pageset, zone->pageset +
					 percpu->offset[cpu], 0);
		for (i = 0; i < n; i++) {
			w->block.order = i / types;
			w->block.type = i % types;
			/* of huge pages: of that order all */
			if (w->block.order >= costly) {
				w->block.order = PDET_MIN(9, w->z->orders - 1);
				w->block.type = i - types * costly;
			}
			if (visit_list(space, w, lists + i * 16, &error))
				return error;
		}
	}
	return error;
}

int pdet_zone_each_free(struct pdet_space *space, const struct pdet_zones *z,
			const struct pdet_zone *zone,
			const struct pdet_percpu *percpu,
			int (*visit)(void *arg, const struct pdet_free *block),
			void *arg)
{
	struct walk w = { z, visit, arg, { 0, 0, 0, -1 }, false };
	uint64_t area = pdet_struct_addr(&z->zone, zone->addr, ZONE_AREA);
	int error = 0;
	uint32_t i;

	if (percpu)
		return each_of_cpus(space, &w, zone, percpu);
	for (i = 0; i < z->orders * z->types; i++) {
		w.block.order = i / z->types;
		w.block.type = i % z->types;
		if (visit_list(space, &w,
			       pdet_struct_addr(&z->area, area + w.block.order *
						z->area_size, 0) +
			       w.block.type * 16, &error))
			break;
	}
	return error;
}
