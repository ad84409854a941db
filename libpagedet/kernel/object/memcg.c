/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads memcgs: a mem_cgroup has a cgroup, which has a kernfs node, which has a
 * name.
 */
#include <errno.h>
#include <string.h>

#include "kernel/object/memcg.h"

/* Low bits of memcg_data (include/linux/memcontrol.h). */
#define DATA_OBJECTS 1
#define DATA_KMEM 2
#define DATA_BITS 7
/* cgroup_subsys_state.flags (include/linux/cgroup-defs.h) */
#define CSS_ONLINE 2
/* Limit of nested directories. */
#define LEVELS 1024
#define NAME 256

static const pdet_field_names memcg_names[] = { { "mem_cgroup.css" } };

enum { CSS_CGROUP, CSS_FLAGS, CSS_PARENT, CSS_FIELDS };
static const pdet_field_names css_names[CSS_FIELDS] = {
	[CSS_CGROUP] = { "cgroup_subsys_state.cgroup" },
	[CSS_FLAGS] = { "cgroup_subsys_state.flags" },
	[CSS_PARENT] = { "cgroup_subsys_state.parent" },
};

static const pdet_field_names cgroup_names[] = { { "cgroup.kn" } };

/* parent until 6.14 (633488947ef6) */
enum { NODE_NAME, NODE_PARENT, NODE_ID, NODE_FIELDS };
static const pdet_field_names node_names[NODE_FIELDS] = {
	[NODE_NAME] = { "kernfs_node.name" },
	[NODE_PARENT] = { "kernfs_node.__parent", "kernfs_node.parent" },
	[NODE_ID] = { "kernfs_node.id" },
};

/* is_root came in 7.1, with obj_cgroups for all pages. */
enum { OBJCG_MEMCG, OBJCG_IS_ROOT, OBJCG_FIELDS };
static const pdet_field_names objcg_names[OBJCG_FIELDS] = {
	[OBJCG_MEMCG] = { "obj_cgroup.memcg" },
	[OBJCG_IS_ROOT] = { "obj_cgroup.is_root" },
};

bool pdet_memcgs_init(struct pdet_memcgs *m, const struct pdet_btf *btf)
{
	pdet_struct_find(&m->memcg, btf, memcg_names, 1);
	pdet_struct_find(&m->css, btf, css_names, CSS_FIELDS);
	pdet_struct_find(&m->cgroup, btf, cgroup_names, 1);
	pdet_struct_find(&m->node, btf, node_names, NODE_FIELDS);
	pdet_struct_find(&m->objcg, btf, objcg_names, OBJCG_FIELDS);
	return pdet_struct_has(&m->memcg, 0) &&
	       pdet_struct_has(&m->css, CSS_CGROUP) &&
	       pdet_struct_has(&m->css, CSS_FLAGS) &&
	       pdet_struct_has(&m->css, CSS_PARENT) &&
	       pdet_struct_has(&m->cgroup, 0) &&
	       pdet_struct_has(&m->node, NODE_NAME) &&
	       pdet_struct_has(&m->node, NODE_PARENT) &&
	       pdet_struct_has(&m->node, NODE_ID);
}

/* --- charges --- */

static int memcg_of_objcg(struct pdet_space *space,
			  const struct pdet_memcgs *m, uint64_t objcg,
			  uint64_t *ret)
{
	if (objcg)
		return pdet_struct_value(space, &m->objcg, objcg, OBJCG_MEMCG,
					 ret);
	*ret = 0;
	return 0;
}

int pdet_memcg_of_page(struct pdet_space *space, const struct pdet_memcgs *m,
		       uint64_t memcg_data, uint64_t *ret)
{
	const uint64_t v = memcg_data & ~(uint64_t)DATA_BITS;

	if (memcg_data & DATA_OBJECTS)
		return -ENOTSUP;
	if (v && !pdet_is_address(v))
		return -EBADMSG;
	if (memcg_data & DATA_KMEM || pdet_struct_has(&m->objcg, OBJCG_IS_ROOT))
		return memcg_of_objcg(space, m, v, ret);
	*ret = v;
	return 0;
}

/* --- what it is --- */

struct css {
	uint64_t cgroup, parent;
	bool online;
};

static int read_css(struct pdet_space *space, const struct pdet_memcgs *m,
		    uint64_t addr, struct css *ret)
{
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, &m->css, addr, buf);

	if (r < 0)
		return r;
	ret->cgroup = pdet_struct_get(&m->css, buf, CSS_CGROUP);
	ret->parent = pdet_struct_get(&m->css, buf, CSS_PARENT);
	ret->online = pdet_struct_get(&m->css, buf, CSS_FLAGS) & CSS_ONLINE;
	return pdet_is_address(ret->cgroup) ? 0 : -EBADMSG;
}

static int ino_of(struct pdet_space *space, const struct pdet_memcgs *m,
		  uint64_t cgroup, uint64_t *ret)
{
	uint64_t node;
	int r = pdet_struct_value(space, &m->cgroup, cgroup, 0, &node);

	return r < 0 ? r : pdet_struct_value(space, &m->node, node, NODE_ID,
					     ret);
}

int pdet_memcg_read(struct pdet_space *space, const struct pdet_memcgs *m,
		    uint64_t addr, struct pdet_memcg *ret)
{
	uint64_t at = addr + pdet_memcg_css(m);
	struct css css;
	unsigned i;
	int r = pdet_is_address(addr) ? read_css(space, m, at, &css) : -EBADMSG;

	memset(ret, 0, sizeof(*ret));
	ret->addr = addr;
	if (!r)
		r = ino_of(space, m, css.cgroup, &ret->ino);
	if (r < 0)
		return r;
	ret->online = css.online;
	/* Go up to the nearest ancestor that is online. */
	for (i = 0; !css.online; i++) {
		if (i == LEVELS)
			return -EBADMSG;
		if (!css.parent)
			return 0;
		r = read_css(space, m, css.parent, &css);
		if (r < 0)
			return r;
	}
	return ino_of(space, m, css.cgroup, &ret->online_ino);
}

ssize_t pdet_memcg_path(struct pdet_space *space, const struct pdet_memcgs *m,
			uint64_t addr, char buf[PDET_CGROUP_PATH])
{
	char node[PDET_STRUCT_BYTES], name[NAME];
	size_t at = PDET_CGROUP_PATH - 1;
	struct css css;
	uint64_t kn, parent;
	unsigned i;
	ssize_t n;
	int r = pdet_is_address(addr) ?
		read_css(space, m, addr + pdet_memcg_css(m), &css) : -EBADMSG;

	if (!r)
		r = pdet_struct_value(space, &m->cgroup, css.cgroup, 0, &kn);
	buf[at] = '\0';
	for (i = 0; !r; kn = parent, i++) {
		r = i < LEVELS ? pdet_struct_read(space, &m->node, kn, node) :
				 -EBADMSG;
		if (r < 0)
			break;
		parent = pdet_struct_get(&m->node, node, NODE_PARENT);
		/* The root has no name. */
		if (!parent)
			break;
		kn = pdet_struct_get(&m->node, node, NODE_NAME);
		n = pdet_is_address(kn) ?
			pdet_space_text(space, kn, name, sizeof(name)) :
			-EBADMSG;
		if (n <= 0)
			return n && n != -ENOENT ? n : -EBADMSG;
		if ((size_t)n + 1 > at)
			return -EBADMSG;
		at -= (size_t)n;
		memcpy(buf + at, name, (size_t)n);
		buf[--at] = '/';
	}
	if (r < 0)
		return r;
	if (!buf[at])
		buf[--at] = '/';
	n = PDET_CGROUP_PATH - 1 - (ssize_t)at;
	memmove(buf, buf + at, (size_t)n + 1);
	return n;
}
