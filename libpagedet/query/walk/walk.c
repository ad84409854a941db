/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Chooses the backend that walks a target. */
#include <errno.h>
#include <stdlib.h>

#include "query/query.h"

static bool has_ops(const struct pdet_backend_ops *ops, uint32_t target)
{
	switch (target) {
	case PAGEDET_TARGET_PFN:
	case PAGEDET_TARGET_PHYS:
	case PAGEDET_TARGET_LOG:
		return ops->fill;
	case PAGEDET_TARGET_SCAN:
		return ops->memory || ops->saved;
	case PAGEDET_TARGET_CGROUP:
		return ops->memory && ops->cgroup;
	case PAGEDET_TARGET_VIRT:
		return ops->task_open && ops->entries;
	case PAGEDET_TARGET_TASK:
		return ops->task_open && ops->entries && ops->vma_first;
	case PAGEDET_TARGET_MAPPERS:
		return (ops->tasks && ops->mappings) || ops->told;
	case PAGEDET_TARGET_KADDR:
	case PAGEDET_TARGET_OBJECTS:
	case PAGEDET_TARGET_EVENTS:
		return ops->kaddr;
	case PAGEDET_TARGET_FILE:
	case PAGEDET_TARGET_BLOCK:
		return ops->file_open;
	case PAGEDET_TARGET_TREE:
	case PAGEDET_TARGET_MOUNT:
		return ops->tree_open;
	default:
		return false;
	}
}

int pdet_walker(const struct pdet_iter *it)
{
	/* A trace tells enough to walk without a source. */
	const bool alone = pdet_is_of_trace(it->q.target);
	size_t i;

	for (i = 0; i < it->n_backends && !(alone && it->text_only); i++)
		if (has_ops(it->backends[i]->ops, it->q.target))
			return (int)i;
	return alone && it->n_backends ? 0 : -1;
}

static int cannot_walk(const struct pdet_iter *it)
{
	size_t i;

	pdet_fail(it->env, ENOTSUP,
		  "no open source can walk this target");
	for (i = 0; i < it->n_backends; i++)
		if (it->backends[i]->ops->saved)
			pdet_advise(it->env, "a snapshot has only the rows "
				    "that were saved: scan lists them, and "
				    "page and phys find those of a saved scan");
	return -ENOTSUP;
}

int pdet_walk_new(struct pdet_iter *it, const struct pdet_walk_ops *ops,
		  size_t size, struct pdet_walk **ret)
{
	const int i = pdet_walker(it);
	struct pdet_walk *w;

	if (i < 0)
		return cannot_walk(it);
	w = calloc(1, size);
	if (!w)
		return pdet_fail(it->env, ENOMEM, "no memory");
	w->ops = ops;
	w->it = it;
	w->backend = it->backends[i];
	w->index = (unsigned)i;
	w->source = (unsigned)__builtin_ctz(w->backend->sources);
	*ret = w;
	return 0;
}
