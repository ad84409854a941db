/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds cgroups by their paths. */
#include <errno.h>
#include <stdlib.h>

#include "backend/image/image.h"
#include "base/sort.h"
#include "kernel/object/memcg_tree.h"
#include "kernel/text/cgroup_path.h"

struct listing {
	struct image *im;
	char top[PDET_CGROUP_PATH];
	struct {
		uint64_t *data;
		size_t n, cap;
	} inos;
	bool no_memory, lost;
};

static int add(void *arg, uint64_t addr)
{
	struct listing *l = arg;
	struct pdet_space *space = &l->im->space;
	const struct pdet_memcgs *types = &l->im->memcg_types;
	char path[PDET_CGROUP_PATH];
	struct pdet_memcg memcg;

	if (pdet_memcg_read(space, types, addr, &memcg) < 0) {
		l->lost = true;
		return 0;
	}
	/* The pages of an offline memcg now belong to its parent. */
	if (!memcg.online)
		return 0;
	if (pdet_memcg_path(space, types, addr, path) < 0) {
		l->lost = true;
		return 0;
	}
	if (!pdet_cgroup_below(path, l->top) ||
	    pdet_vec_push(&l->inos, memcg.ino))
		return 0;
	l->no_memory = true;
	return 1;
}

/* Every task is in a cgroup, so start from the cgroup of the first task. */
static int find_root(struct image *im, struct pdet_env *env,
		     const struct pdet_memcg_tree *t, uint64_t *ret)
{
	struct pdet_task_struct init;

	if (pdet_image_task_types(im, env) < 0)
		return pdet_image_fail(env, &im->tasks);
	if (pdet_tasks_find(&im->space, &im->task_types, 1, &init) < 0 ||
	    pdet_memcg_root(&im->space, &im->memcg_types, t, init.cgroups,
			    ret) < 0)
		return pdet_fail(env, EBADMSG, "cannot find memory cgroups: "
				 "those of task 1 are damaged or not in the "
				 "dump");
	return 0;
}

static int list(struct listing *l, struct pdet_env *env)
{
	struct pdet_memcg_tree tree;
	uint64_t root;
	int r;

	if (pdet_image_memcgs(l->im, env) < 0)
		return pdet_image_fail(env, &l->im->memcgs);
	if (!pdet_memcg_tree_init(&tree, l->im->btf))
		return pdet_fail(env, ENODATA, "cannot list memory cgroups: "
				 "the types (BTF) do not say enough");
	r = find_root(l->im, env, &tree, &root);
	if (r < 0)
		return r;
	r = pdet_memcgs_each(&l->im->space, &l->im->memcg_types, &tree, root,
			     add, l);
	if (l->no_memory || r == -ENOMEM)
		return pdet_fail(env, ENOMEM, "no memory");
	if (r == 0 && !l->lost)
		return l->inos.n ? 0 : pdet_fail(env, ENOENT,
						 "there is no cgroup %s",
						 l->top);
	/* It is unknown which ones are missing. */
	return pdet_fail(env, EBADMSG, "cannot list memory cgroups: some of "
			 "them are damaged or not in the dump");
}

int pdet_image_cgroup(struct pdet_backend *b, struct pdet_env *env,
		      const char *path, uint64_t **ret, size_t *n)
{
	struct listing *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return pdet_fail(env, ENOMEM, "no memory");
	l->im = image_of(b);
	/* The mount point is not looked up; this is the usual one. */
	pdet_cgroup_clean("/sys/fs/cgroup", path, l->top);
	r = list(l, env);
	if (r < 0) {
		pdet_vec_free(&l->inos);
	} else {
		pdet_sort_u64(l->inos.data, l->inos.n);
		*ret = l->inos.data;
		*n = l->inos.n;
	}
	free(l);
	return r;
}
