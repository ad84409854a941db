/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the zones. They are an array in their node. The node is found through a
 * table or a symbol.
 */
#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "kernel/page/zone.h"

/* MAX_NUMNODES */
#define MOST_NODES 1024
#define MOST_ZONES 8

enum { NODE_ZONES, NODE_NR_ZONES, NODE_ID, NODE_FIELDS };
static const pdet_field_names node_names[NODE_FIELDS] = {
	[NODE_ZONES] = { "pglist_data.node_zones" },
	[NODE_NR_ZONES] = { "pglist_data.nr_zones" },
	[NODE_ID] = { "pglist_data.node_id" },
};

enum { ZONE_FIRST, ZONE_SPANNED, ZONE_NAME, ZONE_FIELDS };
static const pdet_field_names zone_names[ZONE_FIELDS] = {
	[ZONE_FIRST] = { "zone.zone_start_pfn" },
	[ZONE_SPANNED] = { "zone.spanned_pages" },
	[ZONE_NAME] = { "zone.name" },
};

static bool find_layout(struct pdet_zones *z, const struct pdet_btf *btf)
{
	unsigned i;

	memset(z, 0, sizeof(*z));
	pdet_struct_find(&z->node, btf, node_names, NODE_FIELDS);
	pdet_struct_find(&z->zone, btf, zone_names, ZONE_FIELDS);
	for (i = 0; i < NODE_FIELDS; i++)
		if (!pdet_struct_has(&z->node, i))
			return false;
	for (i = 0; i < ZONE_FIELDS; i++)
		if (!pdet_struct_has(&z->zone, i))
			return false;
	return pdet_btf_struct_size(btf, "zone", &z->zone_size) &&
	       z->zone_size;
}

/* --- zones --- */

static int read_zone(struct pdet_zones *z, struct pdet_space *space,
		     uint64_t addr, uint32_t node)
{
	struct pdet_zone zone = { node, "", 0, 0 };
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
	if (!zone.n)		/* memory that this machine lacks */
		return 0;
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
			      i * z->zone_size, (uint32_t)id);
	return r;
}

/* Read the online nodes. Kernels without NUMA have one node and no table. */
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
		/* a pointer led there, so it is damage */
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
