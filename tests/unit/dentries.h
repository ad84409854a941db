/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes dentries and mounts to a kernel's memory. */
#ifndef TESTS_UNIT_DENTRIES_H
#define TESTS_UNIT_DENTRIES_H

#include "kernel/object/path.h"
#include "kmem.h"
#include "structs.h"

enum {
	D_PPREV = 16, D_PARENT = 24, D_HASH = 32, D_LEN = 36, D_NAME = 40,
	D_INODE = 48, D_SHORT = 56, D_OPS = 96, D_SB = 104, D_ALIAS = 176,
	M_PARENT = 16, M_POINT = 24, M_MNT = 32, M_INSTANCE = 112, M_NS = 192,
	F_MNT = 16, F_DENTRY = 24,
	I_SB = 40, I_INO = 64, I_DENTRY = 312,
	S_TYPE = 40, S_MOUNTS = 200,
	B_NAME = 64, B_INODE = 1000
};

/*
 * For structs_add(), a name with dots stands for members of unnamed unions.
 * @chained: the mounts of a filesystem are a chain, as since 6.18.
 */
static inline void dentries_structs_of(struct structs *s, bool chained)
{
	static const struct structs_member qstr[] = {
		{ "hash", 0, 0, 0, 4 }, { "len", 4, 0, 0, 4 },
		{ "name", 8, 0, 0, 8 },
	}, hlist[] = {
		{ "next", 0, 0, 0, 8 }, { "pprev", 8, 0, 0, 8 },
	}, alias[] = {
		{ "d_alias", 0, 0, 0, 16 },
	}, first[] = {
		{ "first", 0, 0, 0, 8 },
	}, path[] = {
		{ "mnt", 0, 0, 0, 8 }, { "dentry", 8, 0, 0, 8 },
	}, vfsmount[] = {
		{ "mnt_root", 0, 0, 0, 8 },
	}, super[] = {
		{ "s_type", S_TYPE, 0, 0, 8 },
		{ "s_mounts", S_MOUNTS, 0, 0, 16 },
	}, ops[] = {
		{ "d_dname", 72, 0, 0, 8 },
	}, kobject[] = {
		{ "name", 0, 0, 0, 8 },
	};
	const struct structs_member mount[] = {
		{ "mnt_parent", M_PARENT, 0, 0, 8 },
		{ "mnt_mountpoint", M_POINT, 0, 0, 8 },
		{ "mnt", M_MNT, 0, 0, 32 },
		{ chained ? "mnt_next_for_sb" : "mnt_instance", M_INSTANCE, 0,
		  0, chained ? 8 : 16 },
		{ "mnt_ns", M_NS, 0, 0, 8 },
	};
	const uint32_t word = s->word;
	uint32_t id_qstr, id_hlist, id_alias, id_first, id_path, id_kobject,
		 id_inode, id_device, id_bdev, id_short;

#define ADD(name, size, m) \
	structs_add(s, name, size, m, sizeof(m) / sizeof(*m))
	id_qstr = ADD("qstr", 16, qstr);
	id_hlist = ADD("hlist_bl_node", 16, hlist);
	id_alias = ADD("", 16, alias);
	id_first = ADD("hlist_head", 8, first);
	id_path = ADD("path", 16, path);
	id_kobject = ADD("kobject", 64, kobject);
	ADD("vfsmount", 32, vfsmount);
	ADD("mount", 256, mount);
	ADD("super_block", 1024, super);
	ADD("dentry_operations", 128, ops);
#undef ADD
	id_short = structs_type(s, 40);
	blob_type(&s->blob, "dentry", BLOB_STRUCT, 8, 192);
	blob_member(&s->blob, "d_hash", id_hlist, 8 * 8);
	blob_member(&s->blob, "d_parent", word, D_PARENT * 8);
	blob_member(&s->blob, "d_name", id_qstr, 32 * 8);
	blob_member(&s->blob, "d_inode", word, D_INODE * 8);
	blob_member(&s->blob, "d_iname", id_short, D_SHORT * 8);
	blob_member(&s->blob, "d_op", word, D_OPS * 8);
	blob_member(&s->blob, "d_sb", word, D_SB * 8);
	blob_member(&s->blob, "d_u", id_alias, D_ALIAS * 8);
	blob_type(&s->blob, "file", BLOB_STRUCT, 1, 232);
	blob_member(&s->blob, "f_path", id_path, F_MNT * 8);
	blob_type(&s->blob, "inode", BLOB_STRUCT, 3, 600);
	blob_member(&s->blob, "i_sb", word, I_SB * 8);
	blob_member(&s->blob, "i_ino", word, I_INO * 8);
	blob_member(&s->blob, "i_dentry", id_first, I_DENTRY * 8);
	id_inode = s->blob.n_types;
	id_device = structs_add(s, "device", 64, &(struct structs_member){
		"kobj", 0, 0, 0, STRUCTS_IN(id_kobject) }, 1);
	id_bdev = structs_add(s, "block_device", B_INODE,
			      &(struct structs_member){
		"bd_device", B_NAME, 0, 0, STRUCTS_IN(id_device) }, 1);
	structs_add(s, "bdev_inode", 1600, (struct structs_member[]){
		{ "bdev", 0, 0, 0, STRUCTS_IN(id_bdev) },
		{ "vfs_inode", B_INODE, 0, 0, STRUCTS_IN(id_inode) } }, 2);
}

static inline void dentries_structs(struct structs *s)
{
	dentries_structs_of(s, false);
}

/* Adds a dentry below @parent; 0: a root. */
static inline uint64_t dentries_new(struct kmem *k, uint64_t parent,
				    const char *name)
{
	const uint64_t d = kmem_object(k, 192);
	const uint64_t text = kmem_object(k, strlen(name) + 1);

	kmem_text(k, text, name);
	kmem_u64(k, d + D_PARENT, parent ? parent : d);
	kmem_u64(k, d + D_NAME, text);
	kmem_u32(k, d + D_LEN, (uint32_t)strlen(name));
	kmem_u64(k, d + D_PPREV, d);
	return d;
}

/*
 * Adds a mount of @root at a dentry of another mount; 0: nowhere. Returns the
 * address of its vfsmount.
 */
static inline uint64_t dentries_mount(struct kmem *k, uint64_t root,
				      uint64_t on, uint64_t point)
{
	const uint64_t m = kmem_object(k, 256);

	kmem_u64(k, m + M_PARENT, on ? on - M_MNT : m);
	kmem_u64(k, m + M_POINT, on ? point : root);
	kmem_u64(k, m + M_MNT, root);
	return m + M_MNT;
}

static inline uint64_t dentries_file(struct kmem *k, uint64_t mnt,
				     uint64_t dentry)
{
	const uint64_t f = kmem_object(k, 232);

	kmem_u64(k, f + F_MNT, mnt);
	kmem_u64(k, f + F_DENTRY, dentry);
	return f;
}

#endif
