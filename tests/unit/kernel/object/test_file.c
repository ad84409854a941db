/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests files in kernel memory: filesystems, inodes, and every page of a
 * mapping once.
 */
#include "kernel/object/file.h"
#include "../../kmem.h"
#include "../../structs.h"

enum { N_SHIFT = 0, N_OFFSET = 1, N_COUNT = 2, N_PARENT = 8, N_SLOTS = 40,
       NODE = 576,
       MAP_HOST = 0, MAP_PAGES = 8, X_HEAD = 8, MAP_NR = 88,
       I_MODE = 0, I_SB = 40, I_MAPPING = 48, I_INO = 64, I_RDEV = 76,
       I_SIZE = 80, I_LIST = 280, INODE = 600,
       S_LIST = 0, S_DEV = 16, S_MAGIC = 96,
       S_INODES = 1416, SUPER = 1500, F_MAPPING = 24 };

#define END UINT64_MAX

struct files {
	struct kmem *k;
	struct structs s;
	struct pdet_files f;
	uint64_t mapping;
	struct {
		uint64_t first, last, entry;
	} got[200];
	unsigned n, n_lost;
	bool changes;		/* the object changes during the read */
	uint64_t lost[8][2];
	int error;
	uint64_t seen[8];
	unsigned n_seen;
};

static void add_types(struct structs *s)
{
	static const struct structs_member array[] = {
		{ "xa_head", X_HEAD, 0, 0, 8 },
	}, node[] = {
		{ "shift", N_SHIFT, 0, 0, 1 }, { "offset", N_OFFSET, 0, 0, 1 },
		{ "count", N_COUNT, 0, 0, 1 },
		{ "parent", N_PARENT, 0, 0, 8 },
		{ "slots", N_SLOTS, 0, 0, 64 * 8 },
	}, mapping[] = {
		{ "host", MAP_HOST, 0, 0, 8 },
		{ "i_pages", MAP_PAGES, 0, 0, 16 },
		{ "nrpages", MAP_NR, 0, 0, 8 },
	}, inode[] = {
		{ "i_mode", I_MODE, 0, 0, 2 }, { "i_sb", I_SB, 0, 0, 8 },
		{ "i_mapping", I_MAPPING, 0, 0, 8 },
		{ "i_ino", I_INO, 0, 0, 8 }, { "i_rdev", I_RDEV, 0, 0, 4 },
		{ "i_size", I_SIZE, 0, 0, 8 },
		{ "i_sb_list", I_LIST, 0, 0, 16 },
	}, super[] = {
		{ "s_list", S_LIST, 0, 0, 16 }, { "s_dev", S_DEV, 0, 0, 4 },
		{ "s_magic", S_MAGIC, 0, 0, 8 },
		{ "s_inodes", S_INODES, 0, 0, 16 },
	}, path[] = {
		{ "mnt", 0, 0, 0, 8 },
	}, vfsmount[] = {
		{ "mnt_sb", 8, 0, 0, 8 },
	}, opened[] = {
		{ "f_mapping", F_MAPPING, 0, 0, 8 },
	};
	uint32_t id;

#define ADD(name, size, m) \
	structs_add(s, name, size, m, sizeof(m) / sizeof(*m))
	ADD("xarray", 16, array);
	ADD("xa_node", NODE, node);
	ADD("address_space", 192, mapping);
	ADD("inode", INODE, inode);
	ADD("super_block", SUPER, super);
	ADD("file", 232, opened);
	ADD("vfsmount", 32, vfsmount);
	id = ADD("path", 16, path);
#undef ADD
	blob_type(&s->blob, "fs_struct", BLOB_STRUCT, 1, 64);
	blob_member(&s->blob, "root", id, 32 * 8);
}

static struct files *start(void)
{
	struct files *f = calloc(1, sizeof(*f));

	ck_assert_ptr_nonnull(f);
	f->k = kmem_new();
	structs_init(&f->s);
	add_types(&f->s);
	ck_assert(pdet_files_init(&f->f, structs_btf(&f->s)));
	f->mapping = kmem_object(f->k, 192);
	return f;
}

static void end(struct files *f)
{
	structs_free(&f->s);
	kmem_free(f->k);
	free(f);
}

static uint64_t node(struct files *f, uint64_t parent, unsigned shift)
{
	const uint64_t n = kmem_object(f->k, NODE);

	*kmem_at(f->k, n + N_SHIFT) = (char)shift;
	kmem_u64(f->k, n + N_PARENT, parent);
	return n;
}

/* Adds a node and sets its parent. */
static void child(struct files *f, uint64_t n, unsigned i, uint64_t node)
{
	*kmem_at(f->k, node + N_OFFSET) = (char)i;
	kmem_u64(f->k, n + N_SLOTS + i * 8, node | 2);
}

static void slot(struct files *f, uint64_t n, unsigned i, uint64_t entry)
{
	kmem_u64(f->k, n + N_SLOTS + i * 8, entry);
}

static void head(struct files *f, uint64_t entry)
{
	kmem_u64(f->k, f->mapping + MAP_PAGES + X_HEAD, entry);
}

static uint64_t page(uint64_t i)
{
	return 0xffffea0000000000 + i * 64;
}

static int see(void *arg, uint64_t first, uint64_t last, uint64_t entry)
{
	struct files *f = arg;

	ck_assert_uint_lt(f->n, 200);
	f->got[f->n].first = first;
	f->got[f->n].last = last;
	f->got[f->n++].entry = entry;
	return 0;
}

static int lose(void *arg, uint64_t first, uint64_t last, int error)
{
	struct files *f = arg;

	ck_assert_uint_lt(f->n_lost, 8);
	f->lost[f->n_lost][0] = first;
	f->lost[f->n_lost++][1] = last;
	f->error = error;
	return 0;
}

static void look(struct files *f, uint64_t first, uint64_t last)
{
	const struct pdet_xarray_visit visit = { see, lose, f, f->changes };

	f->n = f->n_lost = 0;
	ck_assert_int_eq(pdet_mapping_each(&f->k->space, &f->f, f->mapping,
					   first, last, &visit), 0);
}

/*
 * Pages 0, 5, 63, a folio of 16 from 64 on, one of 512 from 4096 on, an evicted
 * page 100, and a distant page.
 */
static void plant(struct files *f, uint64_t n[5])
{
	unsigned i;

	n[0] = node(f, 0, 12);
	n[1] = node(f, n[0], 6);
	n[2] = node(f, n[1], 0);
	n[3] = node(f, n[1], 0);
	n[4] = node(f, n[0], 6);
	head(f, n[0] | 2);
	child(f, n[0], 0, n[1]);
	child(f, n[0], 1, n[4]);
	child(f, n[1], 0, n[2]);
	child(f, n[1], 1, n[3]);
	slot(f, n[2], 0, page(0));
	slot(f, n[2], 5, page(5));
	slot(f, n[2], 63, page(63));
	slot(f, n[3], 0, page(64));
	for (i = 1; i < 16; i++)
		slot(f, n[3], i, 0 << 2 | 2);
	slot(f, n[3], 36, 0x1235);
	/* 8 slots of 64 */
	slot(f, n[4], 0, page(4096));
	for (i = 1; i < 8; i++)
		slot(f, n[4], i, 0 << 2 | 2);
	/* Empty for now, and reserved. */
	slot(f, n[4], 20, 256 << 2 | 2);
	slot(f, n[4], 21, 257 << 2 | 2);
	slot(f, n[0], 63, page(63 << 12));
}

START_TEST(pages)
{
	static const uint64_t want[][2] = {
		{ 0, 0 }, { 5, 5 }, { 63, 63 }, { 64, 79 }, { 100, 100 },
		{ 4096, 4607 }, { 63 << 12, (64 << 12) - 1 },
	};
	struct files *f = start();
	uint64_t n[5];
	unsigned i;

	look(f, 0, END);
	ck_assert_uint_eq(f->n + f->n_lost, 0);
	/* The first page alone needs no node. */
	head(f, page(7));
	look(f, 0, END);
	ck_assert(f->n == 1 && f->got[0].first == 0 && f->got[0].last == 0);
	look(f, 1, END);
	ck_assert_uint_eq(f->n, 0);
	plant(f, n);
	look(f, 0, END);
	ck_assert_uint_eq(f->n_lost, 0);
	ck_assert_uint_eq(f->n, 7);
	for (i = 0; i < 7; i++) {
		ck_assert_uint_eq(f->got[i].first, want[i][0]);
		ck_assert_uint_eq(f->got[i].last, want[i][1]);
		if (i == 4)
			ck_assert(pdet_xarray_is_value(f->got[i].entry));
		else
			ck_assert_uint_eq(f->got[i].entry, page(want[i][0]));
	}
	/* Through a page within a folio. */
	look(f, 70, 70);
	ck_assert(f->n == 1 && f->got[0].first == 64);
	look(f, 4607, 4607);
	ck_assert(f->n == 1 && f->got[0].first == 4096);
	look(f, 4608, 200000);
	ck_assert_uint_eq(f->n, 0);
	/* A node that is freed during the read is detected. */
	f->changes = true;
	look(f, 0, END);
	ck_assert_uint_eq(f->n, 7);
	ck_assert_uint_eq(f->n_lost, 1);
	end(f);
}
END_TEST

START_TEST(damage)
{
	struct files *f = start();
	int want = -EBADMSG;
	uint64_t n[5];

	plant(f, n);
	switch (_i) {
	case 0:			/* a cycle */
		slot(f, n[1], 1, n[0] | 2);
		break;
	case 1:			/* child of another node */
		kmem_u64(f->k, n[3] + N_PARENT, n[0]);
		break;
	case 2:			/* for other indexes */
		*kmem_at(f->k, n[3] + N_SHIFT) = 6;
		break;
	case 3:
		slot(f, n[1], 1, 0xffffc90000000002);
		break;
	case 4:
		slot(f, n[1], 1, 0x5a5a5a5a5a5a5a5a);
		break;
	case 5:			/* a sibling of a missing entry */
		slot(f, n[1], 1, 3 << 2 | 2);
		break;
	case 6:			/* the contents of another slot */
		slot(f, n[1], 1, n[2] | 2);
		break;
	default:
		f->k->next = (f->k->next | 4095) + 1;
		slot(f, n[1], 1, f->k->next | 2);
		kmem_fail(f->k, f->k->next, -ENODATA);
		f->k->next += 4096;
		want = -ENODATA;
	}
	look(f, 0, END);
	ck_assert_uint_eq(f->n, 5);
	ck_assert_uint_eq(f->n_lost, 1);
	ck_assert_uint_eq(f->lost[0][0], 64);
	ck_assert_uint_eq(f->lost[0][1], 127);
	ck_assert_int_eq(f->error, want);
	end(f);
}
END_TEST

/* A node counts its entries: what has become zero is lost, not empty. */
START_TEST(emptied)
{
	struct files *f = start();
	uint64_t n[5];

	plant(f, n);
	*kmem_at(f->k, n[0] + N_COUNT) = 3;
	*kmem_at(f->k, n[1] + N_COUNT) = 2;
	*kmem_at(f->k, n[2] + N_COUNT) = 3;
	look(f, 0, END);
	ck_assert(f->n == 7 && !f->n_lost);
	slot(f, n[2], 5, 0);
	look(f, 0, END);
	ck_assert_uint_eq(f->n, 6);
	ck_assert_uint_eq(f->n_lost, 1);
	ck_assert(f->lost[0][0] == 1 && f->lost[0][1] == 62);
	ck_assert_int_eq(f->error, -EBADMSG);
	look(f, 63, 100);
	ck_assert(f->n == 3 && !f->n_lost);
	slot(f, n[2], 5, page(5));
	slot(f, n[1], 1, 0);
	look(f, 0, END);
	ck_assert_uint_eq(f->n, 5);
	ck_assert(f->lost[0][0] == 64 && f->lost[0][1] == 4095);
	/* On a running kernel the count may be older or newer. */
	f->k->m->memory.live = true;
	look(f, 0, END);
	ck_assert(f->n == 5 && !f->n_lost);
	end(f);
}
END_TEST

/* The largest indexes. A node beyond them is invalid. */
START_TEST(far_away)
{
	struct files *f = start();
	const uint64_t n = node(f, 0, 60);

	head(f, n | 2);
	slot(f, n, 15, page(15));
	slot(f, n, 16, page(16));
	look(f, 0, END);
	ck_assert_uint_eq(f->n, 1);
	ck_assert_uint_eq(f->got[0].first, 15ull << 60);
	ck_assert_uint_eq(f->got[0].last, END);
	end(f);
}
END_TEST

static int see_addr(void *arg, uint64_t addr)
{
	struct files *f = arg;

	ck_assert_uint_lt(f->n_seen, 8);
	f->seen[f->n_seen++] = addr;
	return 0;
}

static void ring(struct kmem *k, uint64_t a, uint64_t b, uint64_t c)
{
	kmem_u64(k, a, b);
	kmem_u64(k, b + 8, a);
	kmem_u64(k, b, c);
	kmem_u64(k, c + 8, b);
	kmem_u64(k, c, a);
	kmem_u64(k, a + 8, c);
}

START_TEST(filesystems)
{
	struct files *f = start();
	const uint64_t supers = kmem_object(f->k, 16);
	const uint64_t s1 = kmem_object(f->k, SUPER);
	const uint64_t s2 = kmem_object(f->k, SUPER);
	const uint64_t i1 = kmem_object(f->k, INODE);
	const uint64_t i2 = kmem_object(f->k, INODE);
	const uint64_t type = kmem_object(f->k, 64);
	struct pdet_mapping mapping;
	struct pdet_inode inode;
	struct pdet_super super;
	uint64_t got;

	ring(f->k, supers, s1 + S_LIST, s2 + S_LIST);
	ring(f->k, s2 + S_INODES, i1 + I_LIST, i2 + I_LIST);
	kmem_u32(f->k, s2 + S_DEV, 259 << 20 | 70000);
	kmem_u64(f->k, s2 + S_MAGIC, 0xef53);
	ck_assert_int_eq(pdet_supers_each(&f->k->space, &f->f, supers,
					  see_addr, f), 0);
	ck_assert(f->n_seen == 2 && f->seen[0] == s1 && f->seen[1] == s2);
	ck_assert_int_eq(pdet_super_read(&f->k->space, &f->f, s2, &super), 0);
	ck_assert_uint_eq(super.dev, 259ull << 32 | 70000);
	ck_assert_uint_eq(super.magic, 0xef53);
	/* The head of the list is where no filesystem can be. */
	ck_assert_int_eq(pdet_super_blocks_find(&f->k->space, &f->f, s2,
						supers + 1, END, &got), 0);
	ck_assert_uint_eq(got, supers);
	ck_assert_int_eq(pdet_super_blocks_find(&f->k->space, &f->f, s2, 0,
						END, &got), -EBADMSG);
	/* By a task's root: fs_struct, vfsmount. */
	kmem_u64(f->k, type + 32, type + 40);
	kmem_u64(f->k, type + 48, s2);
	ck_assert_int_eq(pdet_super_of_fs(&f->k->space, &f->f, type, &got), 0);
	ck_assert_uint_eq(got, s2);
	f->n_seen = 0;
	ck_assert_int_eq(pdet_inodes_each(&f->k->space, &f->f, s2, see_addr,
					  f), 0);
	ck_assert(f->n_seen == 2 && f->seen[0] == i1 && f->seen[1] == i2);
	kmem_u64(f->k, i1 + I_SB, s2);
	kmem_u64(f->k, i1 + I_MAPPING, f->mapping);
	kmem_u64(f->k, i1 + I_INO, 123456789012);
	kmem_u64(f->k, i1 + I_SIZE, 5000);
	kmem_u32(f->k, i1 + I_MODE, 0100644);
	kmem_u64(f->k, f->mapping + MAP_HOST, i1);
	kmem_u64(f->k, f->mapping + MAP_NR, 2);
	ck_assert_int_eq(pdet_inode_read(&f->k->space, &f->f, i1, &inode), 0);
	ck_assert_uint_eq(inode.ino, 123456789012);
	ck_assert(inode.super == s2 && inode.mapping == f->mapping &&
		  inode.size == 5000 && inode.mode == 0100644);
	ck_assert_int_eq(pdet_mapping_read(&f->k->space, &f->f, inode.mapping,
					   &mapping), 0);
	ck_assert(mapping.inode == i1 && mapping.pages == 2);
	/* The opened file may not be the one with the pages. */
	kmem_u64(f->k, type + F_MAPPING, f->mapping);
	ck_assert_int_eq(pdet_mapping_of_file(&f->k->space, &f->f, type,
					      &mapping), 0);
	ck_assert_uint_eq(mapping.inode, i1);
	/* The object there is none of these. */
	ck_assert_int_eq(pdet_inode_read(&f->k->space, &f->f, i2, &inode),
			 -EBADMSG);
	kmem_u64(f->k, f->mapping + MAP_HOST, 0x4141414141414141);
	ck_assert_int_eq(pdet_mapping_read(&f->k->space, &f->f, f->mapping,
					   &mapping), -EBADMSG);
	end(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("file");

	unit_test(s, pages);
	unit_loop(s, damage, 8);
	unit_test(s, emptied);
	unit_test(s, far_away);
	unit_test(s, filesystems);
	return unit_main(s);
}
