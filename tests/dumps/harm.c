/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The table of damages to kernel objects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harm.h"

/*
 * A member of a type, or (NULL) words of the object. A changed number changes
 * true answers: @value names the subjects. A pointer to another object of the
 * same kind does so as well: @other. Otherwise answers may only be lost.
 */
static const struct spec {
	enum object_kind kind;
	const char *member;
	unsigned value, other;
	unsigned words;		/* of the object, without a member */
} specs[] = {
#define LINK(kind, member, other) { kind, member, 0, other, 0 }
#define VALUE(kind, member, value) { kind, member, value, value, 0 }
#define WORDS(kind, words, value) { kind, NULL, value, value, words }
	LINK(OBJECT_TASK, "task_struct.tasks.next", 0),
	LINK(OBJECT_TASK, "task_struct.tasks.prev", 0),
	VALUE(OBJECT_TASK, "task_struct.pid", ABOUT_TASKS | ABOUT_ENTRIES |
	      ABOUT_STACKS),
	VALUE(OBJECT_TASK, "task_struct.tgid", ABOUT_TASKS | ABOUT_ENTRIES |
	      ABOUT_STACKS),
	VALUE(OBJECT_TASK, "task_struct.comm", ABOUT_TASKS | ABOUT_ENTRIES |
	      ABOUT_STACKS),
	VALUE(OBJECT_TASK, "task_struct.flags", ABOUT_TASKS | ABOUT_ENTRIES |
	      ABOUT_STACKS | ABOUT_FILES),
	VALUE(OBJECT_TASK, "task_struct.mm", ABOUT_TASKS | ABOUT_ENTRIES),
	VALUE(OBJECT_TASK, "task_struct.real_parent", ABOUT_TASKS),
	VALUE(OBJECT_TASK, "task_struct.signal", ABOUT_TASKS | ABOUT_ENTRIES |
	      ABOUT_STACKS),
	LINK(OBJECT_TASK, "task_struct.thread_node.next", ABOUT_TASKS |
	     ABOUT_STACKS),
	VALUE(OBJECT_TASK, "task_struct.nsproxy", ABOUT_FILES | ABOUT_ENTRIES),
	VALUE(OBJECT_TASK, "task_struct.fs", ABOUT_FILES | ABOUT_ENTRIES),
	VALUE(OBJECT_TASK, "task_struct.stack", ABOUT_STACKS),
	VALUE(OBJECT_TASK, "task_struct.thread.sp", ABOUT_STACKS),
	VALUE(OBJECT_MM, "mm_struct.pgd", ABOUT_ENTRIES),
	LINK(OBJECT_MM, "mm_struct.mm_mt.ma_root", ABOUT_ENTRIES),
	VALUE(OBJECT_MM, "mm_struct.map_count", 0),
	VALUE(OBJECT_MM, "mm_struct.rss_stat", ABOUT_TASKS),
	VALUE(OBJECT_VMA, "vm_area_struct.vm_start", ABOUT_ENTRIES),
	VALUE(OBJECT_VMA, "vm_area_struct.vm_end", ABOUT_ENTRIES),
	VALUE(OBJECT_VMA, "vm_area_struct.vm_flags", ABOUT_ENTRIES),
	VALUE(OBJECT_VMA, "vm_area_struct.vm_file", ABOUT_ENTRIES),
	VALUE(OBJECT_VMA, "vm_area_struct.vm_mm", ABOUT_ENTRIES),
	WORDS(OBJECT_MAPLE, 32, ABOUT_ENTRIES),
	VALUE(OBJECT_INODE, "inode.i_ino", ABOUT_FILES | ABOUT_PAGES),
	VALUE(OBJECT_INODE, "inode.i_sb", ABOUT_FILES | ABOUT_PAGES |
	      ABOUT_ENTRIES),
	VALUE(OBJECT_INODE, "inode.i_mapping", ABOUT_FILES | ABOUT_PAGES),
	VALUE(OBJECT_INODE, "inode.i_size", 0),
	VALUE(OBJECT_INODE, "inode.i_mode", ABOUT_FILES | ABOUT_ENTRIES),
	LINK(OBJECT_INODE, "inode.i_sb_list.next", 0),
	LINK(OBJECT_INODE, "inode.i_sb_list.prev", 0),
	VALUE(OBJECT_INODE, "inode.i_dentry.first", ABOUT_FILES |
	      ABOUT_ENTRIES | ABOUT_PAGES),
	VALUE(OBJECT_MAPPING, "address_space.host", ABOUT_FILES | ABOUT_PAGES),
	LINK(OBJECT_MAPPING, "address_space.i_pages.xa_head", 0),
	VALUE(OBJECT_MAPPING, "address_space.nrpages", 0),
	LINK(OBJECT_XNODE, "xa_node.shift", 0),
	LINK(OBJECT_XNODE, "xa_node.offset", 0),
	LINK(OBJECT_XNODE, "xa_node.parent", 0),
	LINK(OBJECT_XNODE, "xa_node.slots", 0),
	VALUE(OBJECT_SUPER, "super_block.s_dev", ABOUT_FILES | ABOUT_PAGES |
	      ABOUT_ENTRIES),
	VALUE(OBJECT_SUPER, "super_block.s_type", ABOUT_FILES | ABOUT_ENTRIES),
	VALUE(OBJECT_SUPER, "super_block.s_magic", ABOUT_FILES | ABOUT_PAGES |
	      ABOUT_ENTRIES),
	LINK(OBJECT_SUPER, "super_block.s_list.next", 0),
	LINK(OBJECT_SUPER, "super_block.s_inodes.next", 0),
	VALUE(OBJECT_DENTRY, "dentry.d_parent", ABOUT_FILES | ABOUT_ENTRIES |
	      ABOUT_PAGES),
	VALUE(OBJECT_DENTRY, "dentry.d_name.name", ABOUT_FILES |
	      ABOUT_ENTRIES | ABOUT_PAGES),
	VALUE(OBJECT_DENTRY, "dentry.d_inode", ABOUT_FILES | ABOUT_ENTRIES |
	      ABOUT_PAGES),
	VALUE(OBJECT_MOUNT, "mount.mnt_parent", ABOUT_FILES | ABOUT_ENTRIES |
	      ABOUT_PAGES),
	VALUE(OBJECT_MOUNT, "mount.mnt_mountpoint", ABOUT_FILES |
	      ABOUT_ENTRIES | ABOUT_PAGES),
	VALUE(OBJECT_MOUNT, "mount.mnt.mnt_root", ABOUT_FILES |
	      ABOUT_ENTRIES | ABOUT_PAGES),
	VALUE(OBJECT_MOUNT, "mount.mnt.mnt_sb", ABOUT_FILES | ABOUT_ENTRIES |
	      ABOUT_PAGES),
	VALUE(OBJECT_MOUNT, "mount.mnt_list.next", ABOUT_FILES |
	      ABOUT_ENTRIES | ABOUT_PAGES),
	VALUE(OBJECT_MEMCG, "mem_cgroup.css.cgroup", ABOUT_CGROUPS |
	      ABOUT_PAGES),
	VALUE(OBJECT_MEMCG, "mem_cgroup.css.parent", ABOUT_CGROUPS),
	VALUE(OBJECT_MEMCG, "mem_cgroup.css.sibling.next", ABOUT_CGROUPS),
	VALUE(OBJECT_MEMCG, "mem_cgroup.css.children.next", ABOUT_CGROUPS),
	VALUE(OBJECT_CGROUP, "cgroup.kn", ABOUT_CGROUPS | ABOUT_PAGES),
	VALUE(OBJECT_KERNFS, "kernfs_node.parent", ABOUT_CGROUPS |
	      ABOUT_PAGES),
	VALUE(OBJECT_KERNFS, "kernfs_node.name", ABOUT_CGROUPS | ABOUT_PAGES),
	VALUE(OBJECT_KERNFS, "kernfs_node.id", ABOUT_CGROUPS | ABOUT_PAGES),
	VALUE(OBJECT_CACHE, "kmem_cache.name", ABOUT_FILES),
	VALUE(OBJECT_PAGE, "page.flags", ABOUT_ALL),
	VALUE(OBJECT_PAGE, "page.compound_head", ABOUT_ALL),
	VALUE(OBJECT_PAGE, "page.mapping", ABOUT_ALL),
	VALUE(OBJECT_PAGE, "page.index", ABOUT_ALL),
	VALUE(OBJECT_PAGE, "page.private", ABOUT_ALL),
	VALUE(OBJECT_PAGE, "page._mapcount", ABOUT_ALL),
	VALUE(OBJECT_PAGE, "page._refcount", ABOUT_ALL),
	VALUE(OBJECT_PAGE, "page.memcg_data", ABOUT_ALL),
	VALUE(OBJECT_NODE, "pglist_data.nr_zones", ABOUT_ZONES),
	VALUE(OBJECT_NODE, "pglist_data.node_id", ABOUT_ZONES),
	VALUE(OBJECT_ZONE, "zone.zone_start_pfn", ABOUT_ZONES),
	VALUE(OBJECT_ZONE, "zone.spanned_pages", ABOUT_ZONES),
	VALUE(OBJECT_ZONE, "zone.name", ABOUT_ZONES),
	LINK(OBJECT_ZONE, "zone.free_area", 0),
	LINK(OBJECT_ZONE, "zone.per_cpu_pageset", 0),
	LINK(OBJECT_FREE_PAGE, "page.buddy_list.next", 0),
	LINK(OBJECT_FREE_PAGE, "page.buddy_list.prev", 0),
	LINK(OBJECT_FREE_PAGE, "page.lru.next", 0),
	VALUE(OBJECT_FREE_PAGE, "page.private", ABOUT_ALL),
	/* of kernels until 6.0 */
	LINK(OBJECT_MM, "mm_struct.mm_rb.rb_node", ABOUT_ENTRIES),
	LINK(OBJECT_VMA, "vm_area_struct.vm_rb.rb_left", 0),
	LINK(OBJECT_VMA, "vm_area_struct.vm_rb.rb_right", 0),
	VALUE(OBJECT_VMAP, "vmap_area.va_start", ABOUT_VMALLOC),
	VALUE(OBJECT_VMAP, "vmap_area.va_end", ABOUT_VMALLOC),
	VALUE(OBJECT_VMAP, "vmap_area.vm", ABOUT_VMALLOC),
	LINK(OBJECT_VMAP, "vmap_area.rb_node.rb_left", ABOUT_VMALLOC),
	LINK(OBJECT_VMAP, "vmap_area.rb_node.rb_right", ABOUT_VMALLOC),
	LINK(OBJECT_VMAP, "vmap_area.rb_node.__rb_parent_color", 0),
	LINK(OBJECT_VMAP, "vmap_area.list.next", 0),
	VALUE(OBJECT_VM, "vm_struct.flags", ABOUT_VMALLOC),
	VALUE(OBJECT_VM, "vm_struct.nr_pages", ABOUT_VMALLOC),
	VALUE(OBJECT_VM, "vm_struct.caller", ABOUT_VMALLOC),
	WORDS(OBJECT_EXT, 12, ABOUT_OWNERS),
	VALUE(OBJECT_SECTION, "mem_section.page_ext", ABOUT_OWNERS),
	VALUE(OBJECT_SECTION, "mem_section.usage", ABOUT_ALL),
	WORDS(OBJECT_POOL, 512, ABOUT_OWNERS),
	WORDS(OBJECT_PGD, 256, ABOUT_ENTRIES),
	WORDS(OBJECT_PUD, 512, ABOUT_ENTRIES),
	WORDS(OBJECT_PMD, 512, ABOUT_ENTRIES),
	WORDS(OBJECT_PTE, 512, ABOUT_ENTRIES),
	WORDS(OBJECT_BTF, 400000, ABOUT_ALL),
	WORDS(OBJECT_TOKENS, 128, ABOUT_ALL),
	WORDS(OBJECT_TOKEN_INDEX, 64, ABOUT_ALL),
	WORDS(OBJECT_NAMES, 4096, ABOUT_ALL),
	WORDS(OBJECT_COUNT_OF_NAMES, 1, ABOUT_ALL),
	WORDS(OBJECT_OFFSETS, 4096, ABOUT_ALL),
	WORDS(OBJECT_ORC, 4096, ABOUT_STACKS),
	WORDS(OBJECT_ORC_IP, 4096, ABOUT_STACKS),
	WORDS(OBJECT_PRB, 16, ABOUT_LOG),
	WORDS(OBJECT_SECTIONS, 1, ABOUT_ALL),
	WORDS(OBJECT_INFO, 1, ABOUT_ALL),
#undef LINK
#undef VALUE
#undef WORDS
};

static const char *const hows[] = {
	"itself", "zero", "ones", "noise", "a bit", "another's", "8 further",
	"all of it, by the next",
};
enum how { SELF, ZERO, ONES, NOISE, BIT, OTHER, NEAR, ALL };

unsigned harm_ways(void)
{
	return PDET_COUNT(specs) * PDET_COUNT(hows);
}

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static bool is_table(enum object_kind kind)
{
	return kind >= OBJECT_PGD && kind <= OBJECT_PTE;
}

/* @va may be a physical address already. */
bool harm_put(struct harm *h, const struct objects *o, uint64_t va,
	      uint64_t value, unsigned n)
{
	uint64_t addr = va, len;

	if (h->n == HARM_PATCHES ||
	    (!is_table(h->kind) &&
	     pdet_space_phys(&o->im->space, va, &addr, &len) < 0))
		return false;
	h->patch[h->n].addr = addr;
	h->patch[h->n].n = n;
	memcpy(h->patch[h->n++].bytes, &value, n);
	return true;
}

/* The pointer value that leads to an object of that kind. */
static uint64_t pointer_to(const struct harm *h, const struct spec *s,
			   uint64_t object, uint64_t field, uint64_t was)
{
	if (is_table(h->kind))
		return object | 0x67;
	if (h->kind == OBJECT_XNODE || strstr(s->member ? s->member : "",
					      "xa_head"))
		return object | 2;
	if (h->kind == OBJECT_MAPLE)
		return object | (was & 0xff);
	if (s->member && strstr(s->member, ".rb_"))
		return object + (field & ~(uint64_t)7) - h->object.addr -
		       (strstr(s->member, "rb_left") ? 16 :
			strstr(s->member, "rb_right") ? 8 : 0);
	/* List heads point to the list head inside the next object. */
	return s->member && (strstr(s->member, ".next") ||
			     strstr(s->member, ".prev")) ?
	       object + (field - h->object.addr) : object;
}

static uint64_t value_of(const struct harm *h, const struct spec *s,
			 const struct object *other, enum how how,
			 uint64_t field, uint64_t was, uint64_t *state)
{
	switch (how) {
	case SELF:
	case ALL:
		return pointer_to(h, s, h->object.addr, field, was);
	case ZERO:
		return 0;
	case ONES:
		return UINT64_MAX;
	case BIT:
		return was ^ (uint64_t)1 << next(state) % 64;
	case OTHER:
		return pointer_to(h, s, other->addr, field, was);
	case NEAR:
		return was + 8;
	default:
		return next(state);
	}
}

static uint64_t read_at(const struct objects *o, enum object_kind kind,
			uint64_t addr)
{
	uint64_t value = 0;

	if (!is_table(kind))
		return objects_read(o, addr);
	o->im->reader->memory->ops->read_phys(o->im->reader, addr, &value, 8);
	return value;
}

/* Changes a digit of a number in the text. */
static bool harm_info(struct harm *h, const struct objects *o, enum how how,
		      uint64_t *state)
{
	const struct pdet_memory *m = o->im->memory;
	unsigned i;

	for (i = 0; i < 1000; i++) {
		h->info_at = next(state) % m->vmcoreinfo_len;
		if (m->vmcoreinfo[h->info_at] >= '0' &&
		    m->vmcoreinfo[h->info_at] <= '9')
			break;
	}
	h->info_byte = how == BIT ? '\n' : (char)('0' + next(state) % 10);
	return true;
}

bool harm_choose(struct harm *h, const struct objects *o, unsigned way,
		 uint64_t seed)
{
	const struct spec *s = &specs[way % PDET_COUNT(specs)];
	const enum how how = way / PDET_COUNT(specs) % PDET_COUNT(hows);
	uint64_t state = seed * 0x9e3779b97f4a7c15 | 1, at, bytes, was, i, n;
	const struct object *all = o->of[s->kind].data, *other;

	memset(h, 0, sizeof(*h));
	next(&state);
	if (!o->of[s->kind].n)
		return false;
	h->kind = s->kind;
	h->what = s->member;
	h->how = hows[how];
	h->object = all[next(&state) % o->of[s->kind].n];
	other = &all[next(&state) % o->of[s->kind].n];
	h->may_change = how == OTHER ? s->other | s->value : s->value;
	if (s->kind == OBJECT_INFO)
		return harm_info(h, o, how, &state);
	if (!s->member) {
		at = h->object.addr;
		bytes = s->words * 8;
	} else if (!objects_field(o, s->member, h->object.addr, &at, &bytes)) {
		return false;
	}
	n = how == ALL ? PDET_MIN(bytes / 8, (uint64_t)HARM_PATCHES) : 1;
	if (bytes > 8 && how != ALL)
		at += next(&state) % (bytes / 8) * 8;
	for (i = 0; i < PDET_MAX(n, (uint64_t)1); i++) {
		was = read_at(o, s->kind, at + i * 8);
		if (!harm_put(h, o, at + i * 8,
			      value_of(h, s, other, how, at, was, &state),
			      (unsigned)PDET_MIN(bytes, (uint64_t)8)))
			return i > 0;
	}
	return true;
}

static int read_phys(struct pdet_reader *r, uint64_t addr, void *buf, size_t n)
{
	const struct harm *h = PDET_CONTAINER(r->memory->ops, struct harm,
					      ops);
	const int result = h->real->read_phys(r, addr, buf, n);
	unsigned i, k;

	for (i = 0; i < h->n && result == 0; i++)
		for (k = 0; k < h->patch[i].n; k++)
			if (h->patch[i].addr + k - addr < n)
				((unsigned char *)buf)[h->patch[i].addr + k -
						       addr] =
					h->patch[i].bytes[k];
	return result;
}

void harm_do(struct harm *h, struct image *im)
{
	if (h->info_byte)
		im->memory->vmcoreinfo[h->info_at] = h->info_byte;
	h->real = im->memory->ops;
	h->ops = *h->real;
	h->ops.read_phys = read_phys;
	im->memory->ops = &h->ops;
}
