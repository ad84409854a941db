/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for page_owner's records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/arguments.h"
#include "emit/owners.h"

struct pagedet_owners {
	struct pagedet *pd;
	struct pdet_owners *o;
};

int pagedet_owner_key_by_name(const char *name)
{
	const char *known;
	uint32_t key;

	for (key = 0; (known = pdet_owner_key_name(key)); key++)
		if (!strcmp(name, known))
			return (int)key;
	return -ENOENT;
}

const char *pagedet_owner_key_name(uint32_t key)
{
	return pdet_owner_key_name(key);
}

int pagedet_owners(struct pagedet *pd, const struct pagedet_owners_query *query,
		   struct pagedet_owners **ret)
{
	static const struct pagedet_owners_query defaults =
		PAGEDET_OWNERS_QUERY_INIT;
	struct pdet_owners_args args = { .env = &pd->env };
	struct pagedet_owners_query q;
	struct pagedet_owners *o;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &q, sizeof(q), query, &defaults,
			      "struct pagedet_owners_query");
	if (r < 0)
		return r;
	if (!pd->open && !q.path)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	o = calloc(1, sizeof(*o));
	if (!o)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	args.backends = pd->backends;
	args.n_backends = pd->n_backends;
	args.sources = pd->sources;
	args.query = &q;
	args.page_size = pd->page_size ? pd->page_size :
					 (uint64_t)sysconf(_SC_PAGESIZE);
	o->pd = pd;
	r = pdet_owners_new(&args, &o->o);
	if (r < 0) {
		free(o);
		return r;
	}
	*ret = o;
	return 0;
}

int pagedet_owners_compare(struct pagedet_owners *owners,
			   const struct pagedet_owners *before)
{
	return pdet_owners_compare(owners->o, &owners->pd->env, before->o);
}

int pagedet_owners_order(struct pagedet_owners *owners, const char *keys,
			 uint64_t min_pages)
{
	pdet_clear(&owners->pd->env);
	return pdet_owners_order(owners->o, &owners->pd->env, keys, min_pages);
}

int pagedet_owners_next(struct pagedet_owners *owners,
			struct pagedet_owner_group *ret)
{
	struct pagedet_owner_group group;
	int r = pdet_check_answer(&owners->pd->env, ret);

	if (r < 0)
		return r;
	if (!pdet_owners_next(owners->o, &group))
		return 0;
	pdet_answer_struct(&owners->pd->env, ret, &group, sizeof(group));
	return 1;
}

const char *pagedet_owners_text(const struct pagedet_owners *owners,
				uint64_t id, size_t *len)
{
	size_t n;

	return pdet_owners_text(owners->o, id, len ? len : &n);
}

int pagedet_owners_stack(struct pagedet_owners *owners, uint64_t id,
			 const char **frames, uint32_t n)
{
	return pdet_owners_stack(owners->o, id, frames, n);
}

int pagedet_owners_total(const struct pagedet_owners *owners,
			 struct pagedet_owners_total *ret)
{
	struct pagedet_owners_total total;

	pdet_owners_total(owners->o, &total);
	return pdet_answer_struct(&owners->pd->env, ret, &total,
				  sizeof(total));
}

void pagedet_owners_free(struct pagedet_owners *owners)
{
	if (!owners)
		return;
	pdet_owners_free(owners->o);
	free(owners);
}

int pagedet_emit_owners(struct pagedet_emitter *emitter,
			struct pagedet_owners *owners, uint64_t max)
{
	return pdet_emit_owners(emitter, &owners->pd->env, owners->o, max);
}
