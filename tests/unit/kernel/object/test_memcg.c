/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests memory cgroups: the charged cgroup, and the name of its directory. */
#include "kernel/object/memcg_tree.h"
#include "../../kmem.h"
#include "../../structs.h"

enum { CSS = 16, CSS_CGROUP = 0, CSS_SIBLING = 32, CSS_CHILDREN = 48,
       CSS_FLAGS = 84, CSS_PARENT = 184, SET_SUBSYS = 8, MEMORY = 4,
       KN = 256, NODE_PARENT = 8, NODE_NAME = 16, NODE_ID = 96,
       OBJCG_MEMCG = 16, ONLINE = 2 };

struct cgroups {
	struct kmem *k;
	struct structs s;
	struct pdet_memcgs m;
	struct pdet_memcg_tree tree;
	char path[PDET_CGROUP_PATH];
};

/* @newer: a node's parent has another name. */
static struct cgroups *start(int newer)
{
	static const struct structs_member memcg[] = {
		{ "css", CSS, 0, 0, 200 },
	}, css[] = {
		{ "cgroup", CSS_CGROUP, 0, 0, 8 },
		{ "sibling", CSS_SIBLING, 0, 0, 16 },
		{ "children", CSS_CHILDREN, 0, 0, 16 },
		{ "flags", CSS_FLAGS, 0, 0, 4 },
		{ "parent", CSS_PARENT, 0, 0, 8 },
	}, set[] = {
		{ "subsys", SET_SUBSYS, 0, 0, 14 * 8 },
	}, cgroup[] = {
		{ "kn", KN, 0, 0, 8 },
	}, older_node[] = {
		{ "parent", NODE_PARENT, 0, 0, 8 },
		{ "name", NODE_NAME, 0, 0, 8 }, { "id", NODE_ID, 0, 0, 8 },
	}, newer_node[] = {
		{ "__parent", NODE_PARENT, 0, 0, 8 },
		{ "name", NODE_NAME, 0, 0, 8 }, { "id", NODE_ID, 0, 0, 8 },
	}, objcg[] = {
		{ "memcg", OBJCG_MEMCG, 0, 0, 8 },
		{ "is_root", 48, 0, 0, 1 },
	};
	static const struct structs_constant ids[] = {
		{ "cpuset_cgrp_id", 0 }, { "memory_cgrp_id", MEMORY },
	};
	struct cgroups *c = calloc(1, sizeof(*c));

	ck_assert_ptr_nonnull(c);
	c->k = kmem_new();
	structs_init(&c->s);
	structs_add(&c->s, "mem_cgroup", 512, memcg, 1);
	structs_add(&c->s, "cgroup_subsys_state", 200, css, 5);
	structs_add(&c->s, "css_set", 512, set, 1);
	structs_add_enum(&c->s, "cgroup_subsys_id", ids, 2);
	structs_add(&c->s, "cgroup", 512, cgroup, 1);
	structs_add(&c->s, "kernfs_node", 128, newer ? newer_node : older_node,
		    3);
	structs_add(&c->s, "obj_cgroup", 64, objcg, newer == 2 ? 2 : 1);
	ck_assert(pdet_memcgs_init(&c->m, structs_btf(&c->s)));
	ck_assert(pdet_memcg_tree_init(&c->tree, c->s.btf));
	return c;
}

static void end(struct cgroups *c)
{
	structs_free(&c->s);
	kmem_free(c->k);
	free(c);
}

static uint64_t value(struct cgroups *c, uint64_t at)
{
	uint64_t v;

	ck_assert_int_eq(pdet_space_u64(&c->k->space, at, &v), 0);
	return v;
}

static uint64_t node_of(struct cgroups *c, uint64_t memcg)
{
	return value(c, value(c, memcg + CSS + CSS_CGROUP) + KN);
}

static void link_list(struct cgroups *c, uint64_t before, uint64_t node)
{
	const uint64_t after = value(c, before);

	kmem_u64(c->k, node, after);
	kmem_u64(c->k, node + 8, before);
	kmem_u64(c->k, before, node);
	kmem_u64(c->k, after + 8, node);
}

static uint64_t memcg(struct cgroups *c, uint64_t parent, const char *name,
		      uint64_t ino, bool online)
{
	const uint64_t g = kmem_object(c->k, 512);
	const uint64_t cgroup = kmem_object(c->k, 512);
	const uint64_t node = kmem_object(c->k, 128);
	const uint64_t text = kmem_object(c->k, strlen(name) + 1);

	kmem_text(c->k, text, name);
	kmem_u64(c->k, node + NODE_NAME, text);
	kmem_u64(c->k, node + NODE_ID, ino);
	kmem_u64(c->k, cgroup + KN, node);
	kmem_u64(c->k, g + CSS + CSS_CGROUP, cgroup);
	kmem_u32(c->k, g + CSS + CSS_FLAGS, online ? ONLINE | 1 : 1);
	kmem_u64(c->k, g + CSS + CSS_CHILDREN, g + CSS + CSS_CHILDREN);
	kmem_u64(c->k, g + CSS + CSS_CHILDREN + 8, g + CSS + CSS_CHILDREN);
	if (parent) {
		link_list(c, parent + CSS + CSS_CHILDREN,
			  g + CSS + CSS_SIBLING);
		kmem_u64(c->k, g + CSS + CSS_PARENT, parent + CSS);
		kmem_u64(c->k, node + NODE_PARENT, node_of(c, parent));
	}
	return g;
}

START_TEST(paths)
{
	struct cgroups *c = start(_i);
	const uint64_t root = memcg(c, 0, "", 1, true);
	const uint64_t slice = memcg(c, root, "a.slice", 20, true);
	const uint64_t gone = memcg(c, slice, "b\\x2dc", 300, false);
	const uint64_t below = memcg(c, gone, "d", 4000, false);
	struct pdet_memcg m;

	ck_assert_int_gt(pdet_memcg_path(&c->k->space, &c->m, root, c->path),
			 0);
	ck_assert_str_eq(c->path, "/");
	ck_assert_int_eq(pdet_memcg_path(&c->k->space, &c->m, below, c->path),
			 17);
	ck_assert_str_eq(c->path, "/a.slice/b\\x2dc/d");
	ck_assert_int_eq(pdet_memcg_read(&c->k->space, &c->m, slice, &m), 0);
	ck_assert(m.online && m.ino == 20 && m.online_ino == 20);
	/* The nearest online ancestor. */
	ck_assert_int_eq(pdet_memcg_read(&c->k->space, &c->m, below, &m), 0);
	ck_assert(!m.online && m.ino == 4000 && m.online_ino == 20);
	/* Cycles of names and of parents. */
	kmem_u64(c->k, node_of(c, slice) + NODE_PARENT, node_of(c, below));
	ck_assert_int_eq(pdet_memcg_path(&c->k->space, &c->m, below, c->path),
			 -EBADMSG);
	kmem_u64(c->k, gone + CSS + CSS_PARENT, below + CSS);
	ck_assert_int_eq(pdet_memcg_read(&c->k->space, &c->m, below, &m),
			 -EBADMSG);
	kmem_u64(c->k, slice + CSS + CSS_CGROUP, 0x4141414141414141);
	ck_assert_int_eq(pdet_memcg_read(&c->k->space, &c->m, slice, &m),
			 -EBADMSG);
	ck_assert_int_eq(pdet_memcg_read(&c->k->space, &c->m, 0, &m), -EBADMSG);
	end(c);
}
END_TEST

struct seen {
	uint64_t memcg[8];
	unsigned n;
};

static int see(void *arg, uint64_t g)
{
	struct seen *s = arg;

	ck_assert_uint_lt(s->n, 8);
	s->memcg[s->n++] = g;
	return 0;
}

START_TEST(all_of_them)
{
	struct cgroups *c = start(_i);
	const uint64_t root = memcg(c, 0, "", 1, true);
	const uint64_t a = memcg(c, root, "a", 20, true);
	const uint64_t b = memcg(c, root, "b", 21, true);
	const uint64_t below = memcg(c, a, "c", 22, false);
	const uint64_t set = kmem_object(c->k, 512);
	struct seen seen = { { 0 }, 0 };
	uint64_t got;

	kmem_u64(c->k, set + SET_SUBSYS + MEMORY * 8, below + CSS);
	ck_assert_int_eq(pdet_memcg_root(&c->k->space, &c->m, &c->tree, set,
					 &got), 0);
	ck_assert_uint_eq(got, root);
	ck_assert_int_eq(pdet_memcgs_each(&c->k->space, &c->m, &c->tree, root,
					  see, &seen), 0);
	ck_assert_uint_eq(seen.n, 4);
	ck_assert_uint_eq(seen.memcg[0], root);
	ck_assert_uint_eq(seen.memcg[1], b);
	ck_assert_uint_eq(seen.memcg[2], a);
	ck_assert_uint_eq(seen.memcg[3], below);
	/* A cgroup with a wrong parent. */
	kmem_u64(c->k, b + CSS + CSS_PARENT, below + CSS);
	seen.n = 0;
	ck_assert_int_eq(pdet_memcgs_each(&c->k->space, &c->m, &c->tree, root,
					  see, &seen), -EBADMSG);
	ck_assert_uint_eq(seen.n, 3);
	/*
	 * A list that breaks: entries before the break are found, and more may
	 * be missing.
	 */
	kmem_u64(c->k, a + CSS + CSS_CHILDREN, 0x4141414141414141);
	kmem_u64(c->k, a + CSS + CSS_CHILDREN + 8, 0);
	seen.n = 0;
	ck_assert_int_lt(pdet_memcgs_each(&c->k->space, &c->m, &c->tree, root,
					  see, &seen), 0);
	ck_assert_uint_eq(seen.n, 2);
	/* A cycle of parents. */
	kmem_u64(c->k, root + CSS + CSS_PARENT, below + CSS);
	ck_assert_int_eq(pdet_memcg_root(&c->k->space, &c->m, &c->tree, set,
					 &got), -EBADMSG);
	kmem_u64(c->k, set + SET_SUBSYS + MEMORY * 8, 17);
	ck_assert_int_eq(pdet_memcg_root(&c->k->space, &c->m, &c->tree, set,
					 &got), -EBADMSG);
	end(c);
}
END_TEST

START_TEST(ways_to_write_a_path)
{
	char path[PDET_CGROUP_PATH], deep[2 * PDET_CGROUP_PATH];
	static const char *const same[] = {
		"/a/b", "a/b/", "//a/b//", "/sys/fs/cgroup/a/b",
		"/sys/fs/cgroup//a/b/",
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(same); i++) {
		pdet_cgroup_clean("/sys/fs/cgroup", same[i], path);
		ck_assert_str_eq(path, "/a/b");
	}
	pdet_cgroup_clean("/sys/fs/cgroup", "/sys/fs/cgroup", path);
	ck_assert_str_eq(path, "/");
	pdet_cgroup_clean("/sys/fs/cgroup", "/sys/fs/cgroups/a", path);
	ck_assert_str_eq(path, "/sys/fs/cgroups/a");
	memset(deep, 'x', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	pdet_cgroup_clean("/sys/fs/cgroup", deep, path);
	ck_assert_uint_eq(strlen(path), PDET_CGROUP_PATH - 1);
	ck_assert(pdet_cgroup_below("/a/b", "/a/b"));
	ck_assert(pdet_cgroup_below("/a/b/c", "/a/b"));
	ck_assert(pdet_cgroup_below("/a/b", "/"));
	ck_assert(!pdet_cgroup_below("/a/bc", "/a/b"));
	ck_assert(!pdet_cgroup_below("/a", "/a/b"));
}
END_TEST

START_TEST(charged)
{
	struct cgroups *c = start(_i);
	const uint64_t g = memcg(c, 0, "", 1, true);
	const uint64_t objcg = kmem_object(c->k, 64);
	const uint64_t objects = kmem_object(c->k, 256);
	uint64_t got;

	kmem_u64(c->k, objcg + OBJCG_MEMCG, g);
	/* since 7.1 a folio, too, is charged to an obj_cgroup */
	ck_assert_int_eq(pdet_memcg_of_page(&c->k->space, &c->m,
					    _i == 2 ? objcg : g, &got), 0);
	ck_assert_uint_eq(got, g);
	ck_assert_int_eq(pdet_memcg_of_page(&c->k->space, &c->m, 0, &got), 0);
	ck_assert_uint_eq(got, 0);
	ck_assert_int_eq(pdet_memcg_of_page(&c->k->space, &c->m, objcg | 2,
					    &got), 0);
	ck_assert_uint_eq(got, g);
	ck_assert_int_eq(pdet_memcg_of_page(&c->k->space, &c->m, objects | 1,
					    &got), -ENOTSUP);
	ck_assert_int_eq(pdet_memcg_of_page(&c->k->space, &c->m,
					    0x4141414141414140, &got),
			 -EBADMSG);
	end(c);
}
END_TEST

START_TEST(no_memcg)
{
	static const struct structs_member css[] = {
		{ "cgroup", CSS_CGROUP, 0, 0, 8 },
	};
	struct pdet_memcgs m;
	struct structs s;

	structs_init(&s);
	structs_add(&s, "cgroup_subsys_state", 200, css, 1);
	ck_assert(!pdet_memcgs_init(&m, structs_btf(&s)));
	structs_free(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("memcg");

	unit_loop(s, paths, 2);
	unit_loop(s, all_of_them, 2);
	unit_test(s, ways_to_write_a_path);
	unit_loop(s, charged, 3);
	unit_test(s, no_memcg);
	return unit_main(s);
}
