/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Paths: names from the root of all mounts, or why there is none. */
#include "dentries.h"

struct tree {
	struct kmem *k;
	struct structs s;
	struct pdet_paths p;
	uint64_t root, disk, home, user, file; /* dentries */
	uint64_t root_mnt, disk_mnt;
	char buf[PDET_PATH];
};

/* / has disk, where another filesystem is with user, file. */
static struct tree *start(void)
{
	struct tree *t = calloc(1, sizeof(*t));

	ck_assert_ptr_nonnull(t);
	t->k = kmem_new();
	structs_init(&t->s);
	dentries_structs(&t->s);
	ck_assert(pdet_paths_init(&t->p, structs_btf(&t->s)));
	t->root = dentries_new(t->k, 0, "/");
	t->home = dentries_new(t->k, t->root, "home");
	t->disk = dentries_new(t->k, 0, "/");
	t->user = dentries_new(t->k, t->disk, "user");
	t->file = dentries_new(t->k, t->user, "a file\n");
	t->root_mnt = dentries_mount(t->k, t->root, 0, 0);
	t->disk_mnt = dentries_mount(t->k, t->disk, t->root_mnt, t->home);
	return t;
}

static void end(struct tree *t)
{
	structs_free(&t->s);
	kmem_free(t->k);
	free(t);
}

static ssize_t path(struct tree *t, uint64_t mnt, uint64_t dentry)
{
	const ssize_t n = pdet_path_of_file(&t->k->space, &t->p,
					    dentries_file(t->k, mnt, dentry),
					    t->buf);

	if (n >= 0)
		ck_assert_uint_eq((size_t)n, strlen(t->buf));
	return n;
}

START_TEST(at_mounts)
{
	struct tree *t = start();

	ck_assert_int_gt(path(t, t->disk_mnt, t->file), 0);
	ck_assert_str_eq(t->buf, "/home/user/a file\n");
	ck_assert_int_gt(path(t, t->disk_mnt, t->disk), 0);
	ck_assert_str_eq(t->buf, "/home");
	ck_assert_int_gt(path(t, t->root_mnt, t->root), 0);
	ck_assert_str_eq(t->buf, "/");
	ck_assert_int_gt(path(t, t->root_mnt, t->home), 0);
	ck_assert_str_eq(t->buf, "/home");
	/* a part of it, mounted elsewhere */
	ck_assert_int_gt(path(t, dentries_mount(t->k, t->user, t->root_mnt,
						t->root), t->file), 0);
	ck_assert_str_eq(t->buf, "/a file\n");
	ck_assert_int_gt(pdet_path_of_dentry(&t->k->space, &t->p, 0, t->file,
					     t->buf), 0);
	ck_assert_str_eq(t->buf, "/user/a file\n");
	/* without a name by now */
	kmem_u64(t->k, t->file + D_PPREV, 0);
	ck_assert_int_gt(path(t, t->disk_mnt, t->file), 0);
	ck_assert_str_eq(t->buf, "/home/user/a file\n (deleted)");
	end(t);
}
END_TEST

static const char *pseudo(struct tree *t, const char *fs, const char *name)
{
	const uint64_t d = dentries_new(t->k, 0, name);
	const uint64_t ops = kmem_object(t->k, 128);
	const uint64_t sb = kmem_object(t->k, 1024);
	const uint64_t type = kmem_object(t->k, 8);
	const uint64_t text = kmem_object(t->k, 32);
	const uint64_t inode = kmem_object(t->k, 600);

	kmem_text(t->k, text, fs);
	kmem_u64(t->k, type, text);
	kmem_u64(t->k, sb + S_TYPE, type);
	kmem_u64(t->k, ops + 72, 0xffffffff81234560);
	kmem_u64(t->k, inode + I_INO, 1234);
	kmem_u64(t->k, d + D_OPS, ops);
	kmem_u64(t->k, d + D_SB, sb);
	kmem_u64(t->k, d + D_INODE, inode);
	ck_assert_int_gt(path(t, dentries_mount(t->k, t->disk, 0, 0), d), 0);
	return t->buf;
}

START_TEST(without_a_tree)
{
	struct tree *t = start();

	ck_assert_str_eq(pseudo(t, "tmpfs", "memfd:x"), "/memfd:x (deleted)");
	ck_assert_str_eq(pseudo(t, "pipefs", "?"), "pipe:[1234]");
	ck_assert_str_eq(pseudo(t, "sockfs", "?"), "socket:[1234]");
	ck_assert_str_eq(pseudo(t, "anon_inodefs", "[eventfd]"),
			 "anon_inode:[eventfd]");
	end(t);
}
END_TEST

START_TEST(of_inodes)
{
	struct tree *t = start();
	const uint64_t inode = kmem_object(t->k, 600);
	const uint64_t sb = kmem_object(t->k, 1024), ns = 0xffff888000abc000;
	const uint64_t list = sb + S_MOUNTS;
	const uint64_t instance = t->disk_mnt - M_MNT + M_INSTANCE;
	bool mounted;

	ck_assert_int_eq(pdet_path_of_inode(&t->k->space, &t->p, inode, ns,
					    t->buf, &mounted), -ENOENT);
	kmem_u64(t->k, inode + I_SB, sb);
	kmem_u64(t->k, inode + I_DENTRY, t->file + D_ALIAS);
	kmem_u64(t->k, list, list);
	kmem_u64(t->k, list + 8, list);
	ck_assert_int_gt(pdet_path_of_inode(&t->k->space, &t->p, inode, ns,
					    t->buf, &mounted), 0);
	ck_assert_str_eq(t->buf, "/user/a file\n");
	ck_assert(!mounted);
	kmem_u64(t->k, list, instance);
	kmem_u64(t->k, list + 8, instance);
	kmem_u64(t->k, instance, list);
	kmem_u64(t->k, instance + 8, list);
	/* in another namespace */
	ck_assert_int_gt(pdet_path_of_inode(&t->k->space, &t->p, inode, ns,
					    t->buf, &mounted), 0);
	ck_assert(!mounted);
	kmem_u64(t->k, t->disk_mnt - M_MNT + M_NS, ns);
	ck_assert_int_gt(pdet_path_of_inode(&t->k->space, &t->p, inode, ns,
					    t->buf, &mounted), 0);
	ck_assert_str_eq(t->buf, "/home/user/a file\n");
	ck_assert(mounted);
	end(t);
}
END_TEST

START_TEST(damage)
{
	struct tree *t = start();
	int want = -EBADMSG;

	switch (_i) {
	case 0:			/* a circle of dentries */
		kmem_u64(t->k, t->user + D_PARENT, t->file);
		break;
	case 1:			/* of mounts */
		kmem_u64(t->k, t->root_mnt - M_MNT + M_PARENT,
			 t->disk_mnt - M_MNT);
		kmem_u64(t->k, t->root_mnt - M_MNT + M_POINT, t->user);
		break;
	case 2:
		kmem_u64(t->k, t->user + D_PARENT, 0xdead000000000100);
		break;
	case 3:
		kmem_u64(t->k, t->user + D_NAME, 0xffffc90000000000);
		break;
	case 4:
		kmem_u32(t->k, t->user + D_LEN, 4000);
		break;
	case 5:			/* shorter than its length */
		kmem_u32(t->k, t->user + D_LEN, 9);
		break;
	case 6:
		kmem_u64(t->k, t->disk_mnt - M_MNT + M_POINT, 0x1234);
		break;
	default:
		t->k->next = (t->k->next | 4095) + 1;
		kmem_u64(t->k, t->user + D_PARENT, t->k->next);
		kmem_fail(t->k, t->k->next, -ENODATA);
		t->k->next += 4096;
		want = -ENODATA;
	}
	ck_assert_int_eq(path(t, t->disk_mnt, t->file), want);
	end(t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("path");

	unit_test(s, at_mounts);
	unit_test(s, without_a_tree);
	unit_test(s, of_inodes);
	unit_loop(s, damage, 8);
	return unit_main(s);
}
