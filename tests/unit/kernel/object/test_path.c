/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests paths: names from the root of all mounts, or why there is none. */
#include "../../dentries.h"

struct tree {
	struct kmem *k;
	struct structs s;
	struct pdet_paths p;
	struct pdet_directories dirs;
	uint64_t root, disk, home, user, file; /* dentries */
	uint64_t root_mnt, disk_mnt;
	char buf[PDET_PATH];
};

/* / has disk, on which another filesystem with user and file is mounted. */
static struct tree *start_of(bool chained)
{
	struct tree *t = calloc(1, sizeof(*t));

	ck_assert_ptr_nonnull(t);
	t->k = kmem_new();
	structs_init(&t->s);
	dentries_structs_of(&t->s, chained);
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

static struct tree *start(void)
{
	return start_of(false);
}

static void end(struct tree *t)
{
	pdet_directories_free(&t->dirs);
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
	/* A part of it, mounted elsewhere. */
	ck_assert_int_gt(path(t, dentries_mount(t->k, t->user, t->root_mnt,
						t->root), t->file), 0);
	ck_assert_str_eq(t->buf, "/a file\n");
	ck_assert_int_gt(pdet_path_of_dentry(&t->k->space, &t->p, 0, t->file,
					     t->buf), 0);
	ck_assert_str_eq(t->buf, "/user/a file\n");
	/* Deleted by now. */
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
	ck_assert_str_eq(pseudo(t, "pipefs", ""), "pipe:[1234]");
	ck_assert_str_eq(pseudo(t, "sockfs", "?"), "socket:[1234]");
	ck_assert_str_eq(pseudo(t, "anon_inodefs", "[eventfd]"),
			 "anon_inode:[eventfd]");
	end(t);
}
END_TEST

static ssize_t known_path_of(struct tree *t, uint64_t inode, uint64_t ns,
			     bool *mounted)
{
	struct pdet_inode in = { .addr = inode };

	*mounted = false;
	/* pdet_inode_read() would do this. */
	if (pdet_space_u64(&t->k->space, inode + I_SB, &in.super) < 0)
		return -ENODATA;
	pdet_space_u64(&t->k->space, inode + I_DENTRY, &in.dentry);
	return pdet_path_of_inode(&t->k->space, &t->p, &t->dirs, &in, ns,
				  t->buf, mounted);
}

/* As if no directory was seen before. */
static ssize_t path_of(struct tree *t, uint64_t inode, uint64_t ns,
		       bool *mounted)
{
	pdet_directories_free(&t->dirs);
	return known_path_of(t, inode, ns, mounted);
}

START_TEST(of_inodes)
{
	struct tree *t = start();
	const uint64_t inode = kmem_object(t->k, 600);
	const uint64_t sb = kmem_object(t->k, 1024), ns = 0xffff888000abc000;
	const uint64_t list = sb + S_MOUNTS;
	const uint64_t instance = t->disk_mnt - M_MNT + M_INSTANCE;
	bool mounted;

	ck_assert_int_eq(path_of(t, inode, ns, &mounted), -ENOENT);
	kmem_u64(t->k, inode + I_SB, sb);
	kmem_u64(t->k, inode + I_DENTRY, t->file + D_ALIAS);
	kmem_u64(t->k, list, list);
	kmem_u64(t->k, list + 8, list);
	ck_assert_int_gt(path_of(t, inode, ns, &mounted), 0);
	ck_assert_str_eq(t->buf, "/user/a file\n");
	ck_assert(!mounted);
	kmem_u64(t->k, list, instance);
	kmem_u64(t->k, list + 8, instance);
	kmem_u64(t->k, instance, list);
	kmem_u64(t->k, instance + 8, list);
	/* In another namespace. */
	ck_assert_int_gt(path_of(t, inode, ns, &mounted), 0);
	ck_assert(!mounted);
	kmem_u64(t->k, t->disk_mnt - M_MNT + M_NS, ns);
	ck_assert_int_gt(path_of(t, inode, ns, &mounted), 0);
	ck_assert_str_eq(t->buf, "/home/user/a file\n");
	ck_assert(mounted);
	end(t);
}
END_TEST

/* An inode of the file, in a filesystem of which mounts are known. */
struct cached {
	uint64_t inode, sb, ns;
	bool mounted;
};

/* @mnt_1 and @mnt_2 are all mounts of the filesystem, in this order. */
static void cache(struct tree *t, struct cached *c, bool chained,
		  uint64_t mnt_1, uint64_t mnt_2)
{
	const uint64_t first = mnt_1 - M_MNT + M_INSTANCE;
	const uint64_t second = mnt_2 - M_MNT + M_INSTANCE;
	const uint64_t list[] = { 0, first, second, 0 };
	unsigned i;

	/* Its filesystem is on one page, its names are on the next one. */
	t->k->next = (t->k->next | 4095) + 1 - 64;
	c->inode = kmem_object(t->k, 600);
	c->sb = kmem_object(t->k, 1024);
	c->ns = 0xffff888000abc000;
	kmem_u64(t->k, c->inode + I_SB, c->sb);
	kmem_u64(t->k, c->inode + I_DENTRY, t->file + D_ALIAS);
	if (chained) {
		kmem_u64(t->k, c->sb + S_MOUNTS, mnt_1 - M_MNT);
		kmem_u64(t->k, first, mnt_2 - M_MNT);
		return;
	}
	for (i = 0; i < 3; i++) {
		const uint64_t at = list[i] ? list[i] : c->sb + S_MOUNTS;
		const uint64_t next = list[i + 1] ? list[i + 1] :
						    c->sb + S_MOUNTS;

		kmem_u64(t->k, at, next);
		kmem_u64(t->k, next + 8, at);
	}
}

static ssize_t cached_path(struct tree *t, struct cached *c)
{
	return path_of(t, c->inode, c->ns, &c->mounted);
}

/* The same with the directories that were seen. */
static ssize_t known_path(struct tree *t, struct cached *c)
{
	return known_path_of(t, c->inode, c->ns, &c->mounted);
}

/* The kernel opens a block device as a file without a name (since 6.9). */
START_TEST(without_a_name)
{
	struct tree *t = start_of(_i);
	struct cached c;

	cache(t, &c, _i, dentries_mount(t->k, t->disk, 0, 0), t->disk_mnt);
	kmem_u64(t->k, c.inode + I_DENTRY,
		 dentries_new(t->k, 0, "") + D_ALIAS);
	ck_assert_int_eq(cached_path(t, &c), -ENOENT);
	/* Below another dentry it is damage. */
	kmem_u64(t->k, c.inode + I_DENTRY,
		 dentries_new(t->k, t->disk, "") + D_ALIAS);
	ck_assert_int_eq(cached_path(t, &c), -EBADMSG);
	end(t);
}
END_TEST

/* The path of the directory of another file, until it is renamed or its memory
 * is used again. */
START_TEST(in_one_directory)
{
	struct tree *t = start();
	const uint64_t other = dentries_new(t->k, t->user, "other");
	struct cached c;

	cache(t, &c, false, dentries_mount(t->k, t->disk, 0, 0), t->disk_mnt);
	kmem_u64(t->k, t->disk_mnt - M_MNT + M_NS, c.ns);
	ck_assert_int_gt(cached_path(t, &c), 0);
	ck_assert_str_eq(t->buf, "/home/user/a file\n");
	/* From here on the mounts are not looked at. */
	kmem_u64(t->k, t->disk_mnt - M_MNT + M_NS, 0);
	kmem_u64(t->k, c.inode + I_DENTRY, other + D_ALIAS);
	ck_assert_int_gt(known_path(t, &c), 0);
	ck_assert_str_eq(t->buf, "/home/user/other");
	ck_assert(c.mounted);
	/* A short name is inside the dentry. */
	kmem_text(t->k, other + D_SHORT, "other");
	kmem_u64(t->k, other + D_NAME, other + D_SHORT);
	ck_assert_int_gt(known_path(t, &c), 0);
	ck_assert_str_eq(t->buf, "/home/user/other");
	kmem_u64(t->k, other + D_PPREV, 0);
	ck_assert_int_gt(known_path(t, &c), 0);
	ck_assert_str_eq(t->buf, "/home/user/other (deleted)");
	/* The directory was renamed; the one above it is still known. */
	kmem_text(t->k, t->user + D_SHORT, "me");
	kmem_u64(t->k, t->user + D_NAME, t->user + D_SHORT);
	kmem_u32(t->k, t->user + D_LEN, 2);
	kmem_u32(t->k, t->user + D_HASH, 1);
	ck_assert_int_gt(known_path(t, &c), 0);
	ck_assert_str_eq(t->buf, "/home/me/other (deleted)");
	/* It is now in another one, which is not mounted. */
	kmem_u64(t->k, t->user + D_PARENT, t->home);
	ck_assert_int_gt(known_path(t, &c), 0);
	ck_assert_str_eq(t->buf, "/home/me/other (deleted)");
	ck_assert(!c.mounted);
	kmem_fail(t->k, t->user, -ENODATA);
	ck_assert_int_eq(known_path(t, &c), -ENODATA);
	end(t);
}
END_TEST

/* A file that is mounted itself, in a filesystem without another mount. */
START_TEST(mounted_file)
{
	struct tree *t = start();
	const uint64_t at = dentries_new(t->k, t->root, "hosts");
	const uint64_t mnt = dentries_mount(t->k, t->file, t->root_mnt, at);
	struct cached c;

	cache(t, &c, false, t->disk_mnt, mnt);
	kmem_u64(t->k, mnt - M_MNT + M_NS, c.ns);
	ck_assert_int_gt(cached_path(t, &c), 0);
	ck_assert_str_eq(t->buf, "/hosts");
	ck_assert(c.mounted);
	end(t);
}
END_TEST

START_TEST(of_devices)
{
	struct tree *t = start();
	const uint64_t bdev = kmem_object(t->k, 1600);
	const uint64_t inode = bdev + B_INODE;
	const uint64_t name = kmem_object(t->k, 32);

	/* a device that is not there */
	ck_assert_int_eq(pdet_path_of_device(&t->k->space, &t->p, inode,
					     t->buf), -EBADMSG);
	kmem_u64(t->k, bdev + B_NAME, name);
	ck_assert_int_eq(pdet_path_of_device(&t->k->space, &t->p, inode,
					     t->buf), -EBADMSG);
	kmem_text(t->k, name, "vda");
	ck_assert_int_eq(pdet_path_of_device(&t->k->space, &t->p, inode,
					     t->buf), 8);
	ck_assert_str_eq(t->buf, "/dev/vda");
	kmem_text(t->k, name, "cciss!c0d0p1");
	ck_assert_int_eq(pdet_path_of_device(&t->k->space, &t->p, inode,
					     t->buf), 17);
	ck_assert_str_eq(t->buf, "/dev/cciss/c0d0p1");
	kmem_fail(t->k, name, -ENODATA);
	ck_assert_int_eq(pdet_path_of_device(&t->k->space, &t->p, inode,
					     t->buf), -ENODATA);
	/* until 5.10 */
	t->p.bdev.field[1].at = -1;
	ck_assert_int_eq(pdet_path_of_device(&t->k->space, &t->p, inode,
					     t->buf), -ENOTSUP);
	end(t);
}
END_TEST

/*
 * A file may be seen through a mount that cannot be read. It is then not known
 * that nobody sees it, but the path through an intact mount is known.
 */
START_TEST(damaged_mounts)
{
	const bool chained = _i % 2;
	struct tree *t = start_of(chained);
	uint64_t lost;
	struct cached c;
	int want = -EBADMSG;

	t->k->next = (t->k->next | 4095) + 1;
	lost = dentries_mount(t->k, t->disk, t->root_mnt, t->home);
	t->k->next = (t->k->next | 4095) + 1;
	cache(t, &c, chained, lost, t->disk_mnt);
	kmem_u64(t->k, lost - M_MNT + M_NS, c.ns);
	ck_assert_int_gt(cached_path(t, &c), 0);
	ck_assert(c.mounted);
	switch (_i / 2) {
	case 0:			/* the mount is not in the dump */
		kmem_fail(t->k, lost, -ENODATA);
		want = -ENODATA;
		break;
	case 1:			/* its root is not a dentry */
		kmem_u64(t->k, lost, 0x1234);
		break;
	case 2:			/* the file's directory is not one */
		kmem_u64(t->k, t->user + D_PARENT, 0x1234);
		break;
	case 3:			/* the filesystem is not one */
		kmem_u64(t->k, c.inode + I_SB, 0x1234);
		break;
	case 4:			/* neither are its mounts */
		kmem_u64(t->k, c.sb + S_MOUNTS, 0x1234);
		kmem_u64(t->k, c.sb + S_MOUNTS + 8, 0x1234);
		break;
	case 5:			/* a part of the inode is not in the dump */
		kmem_fail(t->k, c.inode, -ENODATA);
		want = -ENODATA;
		break;
	case 6:			/* another namespace, and a cycle */
		kmem_u64(t->k, lost - M_MNT + M_NS, 0);
		kmem_u64(t->k, lost - M_MNT + M_INSTANCE,
			 chained ? lost - M_MNT : lost - M_MNT + M_INSTANCE);
		kmem_u64(t->k, c.sb + S_MOUNTS + 8, 0);
		break;
	default:		/* a mount that leads nowhere */
		kmem_u64(t->k, lost - M_MNT + M_NS, 0);
		kmem_u64(t->k, lost - M_MNT + M_INSTANCE, 0x1234);
		kmem_u64(t->k, c.sb + S_MOUNTS + 8, 0);
	}
	ck_assert_int_eq(cached_path(t, &c), want);
	ck_assert(!c.mounted);
	if (_i / 2 < 2) {
		kmem_u64(t->k, t->disk_mnt - M_MNT + M_NS, c.ns);
		/* A chain ends where its next mount cannot be read. */
		ck_assert_int_eq(cached_path(t, &c) > 0,
				 !(chained && want == -ENODATA));
	}
	end(t);
}
END_TEST

START_TEST(damage)
{
	struct tree *t = start();
	int want = -EBADMSG;

	switch (_i) {
	case 0:			/* a cycle of dentries */
		kmem_u64(t->k, t->user + D_PARENT, t->file);
		break;
	case 1:			/* a cycle of mounts */
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
	case 5:			/* shorter than its length says */
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
	unit_loop(s, without_a_name, 2);
	unit_test(s, in_one_directory);
	unit_test(s, mounted_file);
	unit_test(s, of_devices);
	unit_loop(s, damaged_mounts, 16);
	unit_loop(s, damage, 8);
	return unit_main(s);
}
