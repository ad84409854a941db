/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads files in kernel memory: a page's address_space leads to an inode, and
 * the inode to its filesystem.
 */
#include <errno.h>
#include <linux/magic.h>

#include "kernel/container/list.h"
#include "kernel/object/file.h"
#include "pagedet.h"

/*
 * Limits: no memory can hold more filesystems, or more inodes of one
 * filesystem.
 */
#define MOST_SUPERS ((uint64_t)1 << 20)
#define MOST_INODES ((uint64_t)1 << 32)
/* Bits of a minor number in the kernel's own dev_t. */
#define MINOR_BITS 20

enum { MAPPING_HOST, MAPPING_PAGES, MAPPING_NR, MAPPING_FIELDS };
static const pdet_field_names mapping_names[MAPPING_FIELDS] = {
	[MAPPING_HOST] = { "address_space.host" },
	[MAPPING_PAGES] = { "address_space.i_pages" },
	[MAPPING_NR] = { "address_space.nrpages" },
};

enum { INODE_INO, INODE_SB, INODE_MAPPING, INODE_SIZE, INODE_MODE, INODE_RDEV,
       INODE_LIST, INODE_DENTRY, INODE_DATA, INODE_HOST, INODE_FIELDS };
static const pdet_field_names inode_names[INODE_FIELDS] = {
	[INODE_INO] = { "inode.i_ino" },
	[INODE_SB] = { "inode.i_sb" },
	[INODE_MAPPING] = { "inode.i_mapping" },
	[INODE_SIZE] = { "inode.i_size" },
	[INODE_MODE] = { "inode.i_mode" },
	[INODE_RDEV] = { "inode.i_rdev" },
	[INODE_LIST] = { "inode.i_sb_list" },
	[INODE_DENTRY] = { "inode.i_dentry.first" },
	[INODE_DATA] = { "inode.i_data" },
	[INODE_HOST] = { "inode.i_data.host" },
};

enum { SUPER_LIST, SUPER_DEV, SUPER_MAGIC, SUPER_INODES, SUPER_FIELDS };
static const pdet_field_names super_names[SUPER_FIELDS] = {
	[SUPER_LIST] = { "super_block.s_list" },
	[SUPER_DEV] = { "super_block.s_dev" },
	[SUPER_MAGIC] = { "super_block.s_magic" },
	[SUPER_INODES] = { "super_block.s_inodes" },
};

static const pdet_field_names file_names[] = { { "file.f_mapping" } };
static const pdet_field_names fs_names[] = { { "fs_struct.root.mnt" } };
static const pdet_field_names vfsmount_names[] = { { "vfsmount.mnt_sb" } };

static bool has_all(const struct pdet_struct *s, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (!s->field[i].read)
			return false;
	return true;
}

bool pdet_files_init(struct pdet_files *f, const struct pdet_btf *btf)
{
	pdet_struct_find(&f->mapping, btf, mapping_names, MAPPING_FIELDS);
	pdet_struct_find(&f->inode, btf, inode_names, INODE_FIELDS);
	pdet_struct_find(&f->super, btf, super_names, SUPER_FIELDS);
	pdet_struct_find(&f->file, btf, file_names, 1);
	pdet_struct_find(&f->fs, btf, fs_names, 1);
	pdet_struct_find(&f->vfsmount, btf, vfsmount_names, 1);
	return has_all(&f->mapping, MAPPING_FIELDS) &&
	       has_all(&f->inode, INODE_DENTRY) &&
	       has_all(&f->super, SUPER_FIELDS) &&
	       pdet_xarrays_init(&f->xarrays, btf);
}

static uint64_t device(uint64_t dev)
{
	return dev >> MINOR_BITS << 32 | (dev & ((1 << MINOR_BITS) - 1));
}

int pdet_mapping_read(struct pdet_space *space, const struct pdet_files *f,
		      uint64_t addr, struct pdet_mapping *ret)
{
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, &f->mapping, addr, buf);

	if (r < 0)
		return r;
	ret->addr = addr;
	ret->inode = pdet_struct_get(&f->mapping, buf, MAPPING_HOST);
	ret->pages = pdet_struct_get(&f->mapping, buf, MAPPING_NR);
	return !ret->inode || pdet_is_address(ret->inode) ? 0 : -EBADMSG;
}

int pdet_mapping_of_file(struct pdet_space *space, const struct pdet_files *f,
			 uint64_t file, struct pdet_mapping *ret)
{
	uint64_t mapping;
	int r = pdet_struct_value(space, &f->file, file, 0, &mapping);

	return r < 0 ? r : pdet_mapping_read(space, f, mapping, ret);
}

/* *host: the inode of its own address_space; 0: unknown. */
static int read_inode(struct pdet_space *space, const struct pdet_files *f,
		      uint64_t addr, struct pdet_inode *ret, uint64_t *host)
{
	const struct pdet_struct *s = &f->inode;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, s, addr, buf);

	if (r < 0)
		return r;
	ret->addr = addr;
	ret->ino = pdet_struct_get(s, buf, INODE_INO);
	ret->super = pdet_struct_get(s, buf, INODE_SB);
	ret->mapping = pdet_struct_get(s, buf, INODE_MAPPING);
	ret->dentry = pdet_struct_get(s, buf, INODE_DENTRY);
	*host = pdet_struct_get(s, buf, INODE_HOST);
	ret->size = pdet_struct_get(s, buf, INODE_SIZE);
	ret->mode = (uint32_t)pdet_struct_get(s, buf, INODE_MODE);
	ret->rdev = device(pdet_struct_get(s, buf, INODE_RDEV));
	return pdet_is_address(ret->super) && pdet_is_address(ret->mapping) ?
		0 : -EBADMSG;
}

int pdet_super_read(struct pdet_space *space, const struct pdet_files *f,
		    uint64_t addr, struct pdet_super *ret)
{
	const struct pdet_struct *s = &f->super;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, s, addr, buf);

	if (r < 0)
		return r;
	ret->addr = addr;
	ret->dev = device(pdet_struct_get(s, buf, SUPER_DEV));
	ret->magic = pdet_struct_get(s, buf, SUPER_MAGIC);
	return 0;
}

unsigned pdet_kind_of_fs(uint64_t magic)
{
	switch (magic) {
	case TMPFS_MAGIC:
		return PAGEDET_KIND_SHMEM;
	case HUGETLBFS_MAGIC:
		return PAGEDET_KIND_HUGETLB;
	default:
		return PAGEDET_KIND_FILE;
	}
}

int pdet_inode_read(struct pdet_space *space, const struct pdet_files *f,
		    uint64_t addr, struct pdet_inode *ret)
{
	uint64_t host;

	return read_inode(space, f, addr, ret, &host);
}

int pdet_inode_of_mapping(struct pdet_space *space, const struct pdet_files *f,
			  uint64_t mapping, struct pdet_inode *ret)
{
	struct pdet_mapping m;
	uint64_t host;
	int r;

	/* Nearly always it is a part of the inode: one read suffices. */
	if (pdet_struct_has(&f->inode, INODE_DATA)) {
		const uint64_t inode =
			mapping - (uint64_t)f->inode.field[INODE_DATA].at;

		if (read_inode(space, f, inode, ret, &host) == 0 &&
		    host == inode)
			return 0;
	}
	r = pdet_mapping_read(space, f, mapping, &m);
	if (r < 0)
		return r;
	return m.inode ? pdet_inode_read(space, f, m.inode, ret) : -ENOENT;
}

/* --- lists --- */

struct members {
	int (*visit)(void *arg, uint64_t addr);
	void *arg;
	uint64_t at;		/* offset of the list node in each element */
};

static int visit_member(void *arg, uint64_t node)
{
	const struct members *m = arg;

	return m->visit(m->arg, node - m->at);
}

int pdet_super_of_fs(struct pdet_space *space, const struct pdet_files *f,
		     uint64_t fs, uint64_t *ret)
{
	uint64_t mnt;
	int r = pdet_struct_value(space, &f->fs, fs, 0, &mnt);

	return r < 0 ? r : pdet_struct_value(space, &f->vfsmount, mnt, 0, ret);
}

struct search {
	uint64_t first, last;
	uint64_t found;
};

static int look_outside(void *arg, uint64_t node)
{
	struct search *s = arg;

	if (node >= s->first && node <= s->last)
		return 0;
	s->found = node;
	return 1;
}

int pdet_super_blocks_find(struct pdet_space *space, const struct pdet_files *f,
			   uint64_t super, uint64_t first, uint64_t last,
			   uint64_t *ret)
{
	struct search s = { first, last, 0 };
	int r = pdet_list_each(space,
			       pdet_struct_addr(&f->super, super, SUPER_LIST),
			       MOST_SUPERS, look_outside, &s);

	if (r != 1)
		return r < 0 ? r : -EBADMSG;
	*ret = s.found;
	return 0;
}

int pdet_supers_each(struct pdet_space *space, const struct pdet_files *f,
		     uint64_t super_blocks,
		     int (*visit)(void *arg, uint64_t super), void *arg)
{
	struct members m = { visit, arg,
			     (uint64_t)f->super.field[SUPER_LIST].at };

	return pdet_list_each(space, super_blocks, MOST_SUPERS, visit_member,
			      &m);
}

int pdet_inodes_each(struct pdet_space *space, const struct pdet_files *f,
		     uint64_t super, int (*visit)(void *arg, uint64_t inode),
		     void *arg)
{
	struct members m = { visit, arg,
			     (uint64_t)f->inode.field[INODE_LIST].at };

	return pdet_list_each(space, pdet_struct_addr(&f->super, super,
						      SUPER_INODES),
			      MOST_INODES, visit_member, &m);
}

bool pdet_mapping_empty(struct pdet_space *space, const struct pdet_files *f,
			uint64_t mapping)
{
	return pdet_xarray_empty(space, &f->xarrays,
				 pdet_struct_addr(&f->mapping, mapping,
						  MAPPING_PAGES));
}

uint64_t pdet_mapping_last(struct pdet_space *space, const struct pdet_files *f,
			   uint64_t mapping)
{
	return pdet_xarray_last(space, &f->xarrays,
				pdet_struct_addr(&f->mapping, mapping,
						 MAPPING_PAGES));
}

int pdet_mapping_each(struct pdet_space *space, const struct pdet_files *f,
		      uint64_t mapping, uint64_t first, uint64_t last,
		      const struct pdet_xarray_visit *visit)
{
	return pdet_xarray_each(space, &f->xarrays,
				pdet_struct_addr(&f->mapping, mapping,
						 MAPPING_PAGES),
				first, last, visit);
}
