/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Memory cgroups: who is charged, and what its directory is called. */
#include "kernel/memcg.h"
#include "kmem.h"
#include "structs.h"

enum { CSS = 16, CSS_CGROUP = 0, CSS_FLAGS = 84, CSS_PARENT = 184,
       KN = 256, NODE_PARENT = 8, NODE_NAME = 16, NODE_ID = 96,
       OBJCG_MEMCG = 16, ONLINE = 2 };

struct cgroups {
	struct kmem *k;
	struct structs s;
	struct pdet_memcgs m;
	char path[PDET_CGROUP_PATH];
};

/* @newer: what slabs have for each object is a struct. */
static struct cgroups *start(bool newer)
{
	static const struct structs_member memcg[] = {
		{ "css", CSS, 0, 0, 200 },
	}, css[] = {
		{ "cgroup", CSS_CGROUP, 0, 0, 8 },
		{ "flags", CSS_FLAGS, 0, 0, 4 },
		{ "parent", CSS_PARENT, 0, 0, 8 },
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
	}, ext[] = {
		{ "objcg", 8, 0, 0, 8 },
	};
	struct cgroups *c = calloc(1, sizeof(*c));

	ck_assert_ptr_nonnull(c);
	c->k = kmem_new();
	structs_init(&c->s);
	structs_add(&c->s, "mem_cgroup", 512, memcg, 1);
	structs_add(&c->s, "cgroup_subsys_state", 200, css, 3);
	structs_add(&c->s, "cgroup", 512, cgroup, 1);
	structs_add(&c->s, "kernfs_node", 128, newer ? newer_node : older_node,
		    3);
	structs_add(&c->s, "obj_cgroup", 64, objcg, 1);
	if (newer)
		structs_add(&c->s, "slabobj_ext", 16, ext, 1);
	ck_assert(pdet_memcgs_init(&c->m, structs_btf(&c->s)));
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
	if (parent) {
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
	/* the nearest that is online */
	ck_assert_int_eq(pdet_memcg_read(&c->k->space, &c->m, below, &m), 0);
	ck_assert(!m.online && m.ino == 4000 && m.online_ino == 20);
	/* a circle of names, of parents */
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

START_TEST(charged)
{
	struct cgroups *c = start(_i);
	const uint64_t g = memcg(c, 0, "", 1, true);
	const uint64_t objcg = kmem_object(c->k, 64);
	const uint64_t objects = kmem_object(c->k, 256);
	uint64_t got;

	kmem_u64(c->k, objcg + OBJCG_MEMCG, g);
	kmem_u64(c->k, objects + (_i ? 5 * 16 + 8 : 5 * 8), objcg);
	ck_assert_int_eq(pdet_memcg_of_page(&c->k->space, &c->m, g, &got), 0);
	ck_assert_uint_eq(got, g);
	ck_assert_int_eq(pdet_memcg_of_page(&c->k->space, &c->m, 0, &got), 0);
	ck_assert_uint_eq(got, 0);
	ck_assert_int_eq(pdet_memcg_of_page(&c->k->space, &c->m, objcg | 2,
					    &got), 0);
	ck_assert_uint_eq(got, g);
	ck_assert_int_eq(pdet_memcg_of_page(&c->k->space, &c->m, objects | 1,
					    &got), -ENOTSUP);
	ck_assert_int_eq(pdet_memcg_of_object(&c->k->space, &c->m, objects | 1,
					      5, &got), 0);
	ck_assert_uint_eq(got, g);
	ck_assert_int_eq(pdet_memcg_of_object(&c->k->space, &c->m, objects | 1,
					      4, &got), 0);
	ck_assert_uint_eq(got, 0);
	ck_assert_int_eq(pdet_memcg_of_object(&c->k->space, &c->m, 0, 4, &got),
			 0);
	ck_assert_uint_eq(got, 0);
	ck_assert_int_eq(pdet_memcg_of_page(&c->k->space, &c->m,
					    0x4141414141414140, &got),
			 -EBADMSG);
	ck_assert_int_eq(pdet_memcg_of_object(&c->k->space, &c->m,
					      0xffffc90000000001, 4, &got),
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
	unit_loop(s, charged, 2);
	unit_test(s, no_memcg);
	return unit_main(s);
}
