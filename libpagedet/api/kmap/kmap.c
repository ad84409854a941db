/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for KMAPs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "emit/kmap/kmap.h"
#include "kmap/keys.h"

int pagedet_kmap_key_by_name(const char *name)
{
	const char *known;
	uint32_t key;

	for (key = 0; (known = pdet_kmap_key_name(key)); key++)
		if (!strcmp(name, known))
			return (int)key;
	return -ENOENT;
}

const char *pagedet_kmap_key_name(uint32_t key)
{
	return pdet_kmap_key_name(key);
}

int pagedet_kmap(struct pagedet *pd, const struct pagedet_kmap_query *query,
		 struct pagedet_kmap **ret)
{
	static const struct pagedet_kmap_query defaults =
		PAGEDET_KMAP_QUERY_INIT;
	struct pagedet_kmap_query q;
	struct pagedet_kmap *k;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &q, sizeof(q), query, &defaults,
			      "struct pagedet_kmap_query");
	if (r < 0)
		return r;
	k = calloc(1, sizeof(*k));
	if (!k)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	k->pd = pd;
	r = pdet_kmap_new(&pd->env, &q, &k->k);
	if (r < 0) {
		free(k);
		return r;
	}
	*ret = k;
	return 0;
}

int pagedet_kmap_next(struct pagedet_kmap *kmap,
		      struct pagedet_kmap_object *ret)
{
	struct pagedet_kmap_object object;
	int r;

	pdet_clear(&kmap->pd->env);
	r = pdet_check_answer(&kmap->pd->env, ret);
	if (r < 0)
		return r;
	r = pdet_kmap_next(kmap->k, &kmap->pd->env, &object);
	if (r <= 0)
		return r;
	pdet_answer_struct(&kmap->pd->env, ret, &object, sizeof(object));
	return 1;
}

int pagedet_kmap_next_access(struct pagedet_kmap *kmap,
			     struct pagedet_kmap_access *ret)
{
	struct pagedet_kmap_access access;
	int r = pdet_check_answer(&kmap->pd->env, ret);

	if (r < 0)
		return r;
	if (!pdet_kmap_next_access(kmap->k, &access))
		return 0;
	pdet_answer_struct(&kmap->pd->env, ret, &access, sizeof(access));
	return 1;
}

int pagedet_kmap_compare(struct pagedet_kmap *kmap,
			 const struct pagedet_kmap *before)
{
	pdet_clear(&kmap->pd->env);
	return pdet_kmap_compare(kmap->k, &kmap->pd->env, before->k);
}

int pagedet_kmap_order(struct pagedet_kmap *kmap, const char *keys)
{
	pdet_clear(&kmap->pd->env);
	return pdet_kmap_order(kmap->k, &kmap->pd->env, keys);
}

int pagedet_kmap_next_group(struct pagedet_kmap *kmap,
			    struct pagedet_kmap_group *ret)
{
	struct pagedet_kmap_group group;
	int r = pdet_check_answer(&kmap->pd->env, ret);

	if (r < 0)
		return r;
	if (!pdet_kmap_next_group(kmap->k, &group))
		return 0;
	pdet_answer_struct(&kmap->pd->env, ret, &group, sizeof(group));
	return 1;
}

const char *pagedet_kmap_text(const struct pagedet_kmap *kmap, uint64_t id,
			      size_t *len)
{
	size_t n;

	return pdet_kmap_text(kmap->k, id, len ? len : &n);
}

int pagedet_kmap_total(const struct pagedet_kmap *kmap,
		       struct pagedet_kmap_total *ret)
{
	struct pagedet_kmap_total total;

	pdet_kmap_total(kmap->k, &total);
	return pdet_answer_struct(&kmap->pd->env, ret, &total, sizeof(total));
}

void pagedet_kmap_free(struct pagedet_kmap *kmap)
{
	if (!kmap)
		return;
	pdet_kmap_free(kmap->k);
	free(kmap);
}

int pagedet_emit_kmap(struct pagedet_emitter *emitter,
		      struct pagedet_kmap *kmap, int accesses, uint64_t max)
{
	struct pdet_env *env = &kmap->pd->env;
	unsigned n;

	pdet_clear(env);
	pdet_kmap_keys(kmap->k, &n);
	return n ? pdet_emit_kmap_groups(emitter, env, kmap->k, max) :
		   pdet_emit_kmap(emitter, env, kmap->k, accesses, max);
}
