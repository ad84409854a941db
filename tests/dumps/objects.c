/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds kernel objects. The library walks lists; this file walks trees and
 * tables node by node.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/kernel.h"
#include "backend/image/page_owner.h"
#include "backend/image/task.h"
#include "objects.h"

/* Enough of each kind. */
#define MOST 2000
#define PRESENT 1
#define FRAME 0x000ffffffffff000ull

static void die(const char *what, const char *why)
{
	fprintf(stderr, "hostile: %s: %s\n", what, why);
	exit(1);
}

static void add(struct objects *o, enum object_kind kind, uint64_t addr,
		uint64_t id)
{
	if (addr && o->of[kind].n < MOST &&
	    !pdet_vec_push(&o->of[kind], (struct object){ addr, id }))
		die("objects", "no memory");
}

bool objects_field(const struct objects *o, const char *member, uint64_t addr,
		   uint64_t *ret, uint64_t *bytes)
{
	struct pdet_btf_member m;

	if (!pdet_btf_member(o->im->btf, member, &m) ||
	    !pdet_btf_type_size(o->im->btf, m.type, bytes))
		return false;
	*ret = addr + m.bit_offset / 8;
	return true;
}

uint64_t objects_read(const struct objects *o, uint64_t addr)
{
	uint64_t value;

	return pdet_space_u64(&o->im->space, addr, &value) < 0 ? 0 : value;
}

static uint64_t member(const struct objects *o, const char *name, uint64_t addr)
{
	uint64_t at, bytes;

	return objects_field(o, name, addr, &at, &bytes) ?
	       objects_read(o, at) : 0;
}

/* --- tasks --- */

static int add_vma(void *arg, const struct pdet_vm_area *vma)
{
	add(arg, OBJECT_VMA, vma->addr, 0);
	return 0;
}

static int lose(void *arg, uint64_t first, uint64_t last, int error)
{
	(void)arg;
	(void)first;
	(void)last;
	(void)error;
	return 0;
}

/* The low bits of a pointer give the type of its target. */
static void add_maple(struct objects *o, uint64_t root)
{
	const uint64_t node = root & ~(uint64_t)0xff;
	unsigned i;

	if (!pdet_is_address(root) || !(root & 2))
		return;
	add(o, OBJECT_MAPLE, node, 0);
	for (i = 1; i < 32 && (root >> 3 & 0xf) > 1; i++) {
		const uint64_t entry = objects_read(o, node + i * 8);

		if (pdet_is_address(entry) && entry & 2 &&
		    (entry >> 3 & 0xf) < 4)
			add(o, OBJECT_MAPLE, entry & ~(uint64_t)0xff, 0);
	}
}

static void add_tables(struct objects *o, uint64_t table, unsigned level)
{
	uint64_t entry[512];
	unsigned i, n = 0;

	add(o, OBJECT_PGD + level, table, 0);
	if (level == 3 || o->im->reader->memory->ops->read_phys(
				  o->im->reader, table, entry, 4096) < 0)
		return;
	/* The kernel's half is shared. */
	for (i = 0; i < (level ? 512u : 256u) && n < 8; i++)
		if (entry[i] & PRESENT && !(entry[i] & 0x80)) {
			add_tables(o, entry[i] & FRAME, level + 1);
			n++;
		}
}

static int add_task(void *arg, const struct pdet_task_struct *task)
{
	struct objects *o = arg;
	const struct pdet_vma_visit visit = { add_vma, lose, o };
	struct pdet_mm mm;
	uint64_t root, len;

	add(o, OBJECT_TASK, task->addr, task->pid);
	if (!task->mm || task->kthread ||
	    pdet_mm_read(&o->im->space, &o->im->mm_types, task->mm, &mm) < 0)
		return 0;
	add(o, OBJECT_MM, task->mm, task->pid);
	add_maple(o, member(o, "mm_struct.mm_mt.ma_root", task->mm));
	pdet_vma_each(&o->im->space, &o->im->mm_types, task->mm, 0,
		      UINT64_MAX, &visit);
	if (o->im->memory->machine == 62 && o->im->paging.levels == 4 &&
	    pdet_space_phys(&o->im->space, mm.pgd, &root, &len) == 0)
		add_tables(o, root, 0);
	return 0;
}

/* --- files --- */

static void add_nodes(struct objects *o, uint64_t entry, unsigned depth)
{
	uint64_t slots, bytes, i;

	if (!pdet_is_address(entry) || (entry & 3) != 2 || depth > 11 ||
	    !objects_field(o, "xa_node.slots", entry - 2, &slots, &bytes))
		return;
	add(o, OBJECT_XNODE, entry - 2, 0);
	for (i = 0; i < bytes / 8; i++)
		add_nodes(o, objects_read(o, slots + i * 8), depth + 1);
}

static int add_inode(void *arg, uint64_t inode)
{
	struct objects *o = arg;
	const uint64_t mapping = member(o, "inode.i_mapping", inode);
	uint64_t alias, at, bytes;

	add(o, OBJECT_INODE, inode, 0);
	alias = member(o, "inode.i_dentry.first", inode);
	if (alias && objects_field(o, "dentry.d_u.d_alias", 0, &at, &bytes))
		add(o, OBJECT_DENTRY, alias - at, 0);
	if (!member(o, "address_space.nrpages", mapping))
		return 0;
	add(o, OBJECT_MAPPING, mapping, 0);
	add_nodes(o, member(o, "address_space.i_pages.xa_head", mapping), 0);
	return 0;
}

static int add_super(void *arg, uint64_t super)
{
	struct objects *o = arg;

	add(o, OBJECT_SUPER, super, 0);
	pdet_inodes_each(&o->im->space, &o->im->file_types, super, add_inode,
			 o);
	return 0;
}

static void add_mounts(struct objects *o)
{
	uint64_t list, at, bytes, node;
	unsigned i;

	if (!o->im->mnt_ns ||
	    !objects_field(o, "mnt_namespace.list", o->im->mnt_ns, &list,
			   &bytes) ||
	    !objects_field(o, "mount.mnt_list", 0, &at, &bytes)) {
		/* A tree since 6.8: its root suffices. */
		node = member(o, "mnt_namespace.root", o->im->mnt_ns);
		add(o, OBJECT_MOUNT, node, 0);
		return;
	}
	node = objects_read(o, list);
	for (i = 0; node && node != list && i < 64; i++) {
		add(o, OBJECT_MOUNT, node - at, 0);
		node = objects_read(o, node);
	}
}

/* --- what struct pages lead to --- */

/* Of the first page of a free block: a type since 6.11 (d99e3140a4d3), before
 * that a bit that is clear. */
static bool is_free(uint32_t type)
{
	return type >> 24 == 0xf0 || type == 0xffffff7f;
}

static void add_pages(struct objects *o)
{
	const struct pdet_memmap *m = &o->im->memmap;
	uint64_t pfn, page, cache, cgroup, at, bytes;
	const bool typed = objects_field(o, "page.page_type", 0, &at, &bytes);

	for (pfn = 0; pfn < 1 << 20; pfn++) {
		int error;

		if (pdet_memmap_is(m, pfn, &error) != PDET_MEMMAP_USED)
			continue;
		page = pdet_memmap_page(m, pfn);
		if (typed && is_free((uint32_t)objects_read(o, page + at)))
			add(o, OBJECT_FREE_PAGE, page, pfn);
		if (pfn % 37)
			continue;
		add(o, OBJECT_PAGE, page, pfn);
		cgroup = member(o, "page.memcg_data", page) & ~(uint64_t)3;
		if (pdet_is_address(cgroup) && o->of[OBJECT_MEMCG].n < 8) {
			add(o, OBJECT_MEMCG, cgroup, 0);
			cgroup = member(o, "mem_cgroup.css.cgroup", cgroup);
			add(o, OBJECT_CGROUP, cgroup, 0);
			add(o, OBJECT_KERNFS, member(o, "cgroup.kn", cgroup),
			    0);
		}
		cache = member(o, "slab.slab_cache", page);
		if (pdet_is_address(cache) && o->of[OBJECT_CACHE].n < 64 &&
		    member(o, "kmem_cache.name", cache) >> 48 == 0xffff)
			add(o, OBJECT_CACHE, cache, 0);
	}
}

/* --- what the kernel keeps of memory --- */

/* Of the first node: a table tells nodes, or a symbol the only one. */
static void add_zones(struct objects *o)
{
	uint64_t node, at, bytes, zones, size, i;

	if (pdet_vmcoreinfo_symbol(&o->im->info, "node_data", &at))
		node = objects_read(o, at);
	else if (!pdet_vmcoreinfo_symbol(&o->im->info, "contig_page_data",
					 &node))
		return;
	if (!objects_field(o, "pglist_data.node_zones", 0, &zones, &bytes) ||
	    !pdet_btf_struct_size(o->im->btf, "zone", &size) || !size)
		return;
	add(o, OBJECT_NODE, node, 0);
	for (i = 0; i < bytes / size; i++)
		add(o, OBJECT_ZONE, node + zones + i * size, 0);
}

/* A red-black tree of areas of vmalloc. */
static void add_areas(struct objects *o, uint64_t node, unsigned depth)
{
	uint64_t at, bytes;

	if (!node || depth > 64 ||
	    !objects_field(o, "vmap_area.rb_node", 0, &at, &bytes))
		return;
	add(o, OBJECT_VMAP, node - at, member(o, "vmap_area.va_start",
					      node - at));
	add(o, OBJECT_VM, member(o, "vmap_area.vm", node - at), 0);
	add_areas(o, member(o, "rb_node.rb_left", node), depth + 1);
	add_areas(o, member(o, "rb_node.rb_right", node), depth + 1);
}

/* In one tree, or in several since 6.9 (d093602919ad). */
static void add_vmalloc(struct objects *o)
{
	const struct pdet_vmap_symbols *s = &o->im->kernel.vmaps.at;
	uint64_t nodes, n, size, i, at, bytes;

	pdet_image_kernel_names(o->im, &o->pd->env);
	if (!o->im->kernel.has_vmaps)
		return;
	if (!s->nodes) {
		add_areas(o, s->root ? objects_read(o, s->root) : 0, 0);
		return;
	}
	if (!pdet_btf_struct_size(o->im->btf, "vmap_node", &size) ||
	    !objects_field(o, "vmap_node.busy.root.rb_node", 0, &at, &bytes))
		return;
	nodes = objects_read(o, s->nodes);
	n = objects_read(o, s->n_nodes) & UINT32_MAX;
	for (i = 0; i < n; i++)
		add_areas(o, objects_read(o, nodes + i * size + at), 0);
}

/* What page_owner keeps of pages, and the stacks. */
static void add_page_owner(struct objects *o)
{
	struct image_page_owner *p = &o->im->page_owner;
	const struct pdet_memmap *m = &o->im->memmap;
	uint64_t at, pools, i;
	size_t k;

	if (pdet_image_page_owners(o->im, &o->pd->env) < 0)
		return;
	for (k = 0; k < o->of[OBJECT_PAGE].n; k++)
		if (pdet_page_owner_at(&o->im->space, &p->records, m,
				       o->of[OBJECT_PAGE].data[k].id, &at) == 0)
			add(o, OBJECT_EXT, at, o->of[OBJECT_PAGE].data[k].id);
	add(o, OBJECT_SECTION, objects_read(o, m->array.addr), 0);
	pools = p->has_depot ? p->depot.pools : 0;
	for (i = 0; pools && i < 8; i++) {
		at = objects_read(o, pools + i * 8);
		if (pdet_is_address(at))
			add(o, OBJECT_POOL, at, 0);
	}
}

/* --- by symbol --- */

static void add_symbol(struct objects *o, enum object_kind kind,
		       const char *name)
{
	uint64_t addr;

	if (pdet_vmcoreinfo_symbol(&o->im->info, name, &addr) ||
	    pdet_image_symbol_at(&o->im->backend, &o->pd->env, name,
				 &addr) == 0)
		add(o, kind, addr, 0);
}

static void add_symbols(struct objects *o)
{
	add_symbol(o, OBJECT_BTF, "__start_BTF");
	add_symbol(o, OBJECT_TOKENS, "kallsyms_token_table");
	add_symbol(o, OBJECT_TOKEN_INDEX, "kallsyms_token_index");
	add_symbol(o, OBJECT_NAMES, "kallsyms_names");
	add_symbol(o, OBJECT_COUNT_OF_NAMES, "kallsyms_num_syms");
	add_symbol(o, OBJECT_OFFSETS, "kallsyms_offsets");
	add_symbol(o, OBJECT_ORC, "__start_orc_unwind");
	add_symbol(o, OBJECT_ORC_IP, "__start_orc_unwind_ip");
	add_symbol(o, OBJECT_SECTIONS, "mem_section");
	add_symbol(o, OBJECT_PRB, "prb");
	if (o->of[OBJECT_PRB].n)
		o->of[OBJECT_PRB].data->addr =
			objects_read(o, o->of[OBJECT_PRB].data->addr);
	add(o, OBJECT_INFO, 1, 0);
}

void objects_find(struct objects *o, const char *dump)
{
	const struct pdet_tasks_visit visit = { add_task, NULL, o, false };
	struct pagedet_options options = PAGEDET_OPTIONS_INIT;

	memset(o, 0, sizeof(*o));
	options.files = &dump;
	options.n_files = 1;
	o->pd = pagedet_new();
	if (!o->pd || pagedet_open(o->pd, &options))
		die(dump, o->pd ? pagedet_error(o->pd) : "no memory");
	o->im = image_of(o->pd->backends[0]);
	if (pdet_image_task_types(o->im, &o->pd->env) < 0 ||
	    pdet_image_lists(o->im, &o->pd->env) < 0)
		die(dump, "it has no tasks or files");
	pdet_tasks_each(&o->im->space, &o->im->task_types, &visit);
	pdet_supers_each(&o->im->space, &o->im->file_types,
			 o->im->super_blocks, add_super, o);
	add_mounts(o);
	add_pages(o);
	add_zones(o);
	add_vmalloc(o);
	add_page_owner(o);
	add_symbols(o);
	o->zero = o->im->zeros.known ? o->im->zeros.pfn : 0;
}

void objects_free(struct objects *o)
{
	size_t i;

	for (i = 0; i < OBJECTS; i++)
		pdet_vec_free(&o->of[i]);
	pagedet_free(o->pd);
}
