/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Walks the tree of memcgs. Each cgroup_subsys_state has a list of its
 * children. A child whose parent pointer differs is skipped, so the walk ends.
 */
#include <errno.h>

#include "base/vec.h"
#include "kernel/container/list.h"
#include "kernel/object/memcg_tree.h"

#define LEVELS 1024
#define MOST (1u << 20)

enum { CSS_PARENT, CSS_CHILDREN, CSS_SIBLING, CSS_FIELDS };
static const pdet_field_names css_names[CSS_FIELDS] = {
	[CSS_PARENT] = { "cgroup_subsys_state.parent" },
	[CSS_CHILDREN] = { "cgroup_subsys_state.children" },
	[CSS_SIBLING] = { "cgroup_subsys_state.sibling" },
};

static const pdet_field_names set_names[] = { { "css_set.subsys" } };

bool pdet_memcg_tree_init(struct pdet_memcg_tree *t,
			  const struct pdet_btf *btf)
{
	pdet_struct_find(&t->css, btf, css_names, CSS_FIELDS);
	pdet_struct_find(&t->set, btf, set_names, 1);
	return pdet_struct_has(&t->css, CSS_PARENT) &&
	       pdet_struct_has(&t->css, CSS_CHILDREN) &&
	       pdet_struct_has(&t->css, CSS_SIBLING) &&
	       pdet_struct_has(&t->set, 0) &&
	       pdet_btf_enumerator(btf, "cgroup_subsys_id", "memory_cgrp_id",
				   &t->index) &&
	       t->index < t->set.field[0].size / 8;
}

int pdet_memcg_root(struct pdet_space *space, const struct pdet_memcgs *m,
		    const struct pdet_memcg_tree *t, uint64_t css_set,
		    uint64_t *ret)
{
	uint64_t css, parent;
	unsigned i;
	int r = pdet_space_u64(space, pdet_struct_addr(&t->set, css_set, 0) +
				      t->index * 8, &css);

	for (i = 0; r == 0 && i < LEVELS; i++, css = parent) {
		r = pdet_is_address(css) ?
			pdet_struct_value(space, &t->css, css, CSS_PARENT,
					  &parent) : -EBADMSG;
		if (r == 0 && !parent) {
			*ret = css - pdet_memcg_css(m);
			return 0;
		}
	}
	return r < 0 ? r : -EBADMSG;
}

/* States whose lists of children are still to be read. */
struct walk {
	struct pdet_space *space;
	const struct pdet_memcg_tree *t;
	struct {
		uint64_t *data;
		size_t n, cap;
	} css;
	uint64_t parent;
	int error;
};

static int add_child(void *arg, uint64_t node)
{
	struct walk *w = arg;
	const uint64_t css = node -
		pdet_struct_addr(&w->t->css, 0, CSS_SIBLING);
	uint64_t parent;
	int r = pdet_struct_value(w->space, &w->t->css, css, CSS_PARENT,
				  &parent);

	if (r < 0 || parent != w->parent) {
		w->error = r < 0 ? r : -EBADMSG;
		return 0;
	}
	return w->css.n < MOST && pdet_vec_push(&w->css, css) ? 0 : -ENOMEM;
}

int pdet_memcgs_each(struct pdet_space *space, const struct pdet_memcgs *m,
		     const struct pdet_memcg_tree *t, uint64_t root,
		     int (*visit)(void *arg, uint64_t memcg), void *arg)
{
	struct walk w = { .space = space, .t = t };
	uint64_t css = root + pdet_memcg_css(m);
	size_t i;
	int r = 0;

	if (!pdet_vec_push(&w.css, css))
		return -ENOMEM;
	for (i = 0; i < w.css.n && r == 0; i++) {
		w.parent = css = w.css.data[i];
		r = visit(arg, css - pdet_memcg_css(m));
		if (r != 0)
			break;
		r = pdet_list_each(space, pdet_struct_addr(&t->css, css,
							   CSS_CHILDREN),
				   MOST, add_child, &w);
		if (r < 0 && r != -ENOMEM) {
			w.error = r;
			r = 0;
		}
	}
	pdet_vec_free(&w.css);
	return r ? r : w.error;
}
