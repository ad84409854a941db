/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for logs of calls. */
#include <errno.h>
#include <stdlib.h>

#include "api/arguments.h"
#include "emit/kmap/calls.h"

struct pagedet_kmap_calls {
	struct pagedet *pd;
	struct pdet_kmap_calls *c;
};

int pagedet_kmap_calls(struct pagedet *pd,
		       const struct pagedet_kmap_query *query,
		       struct pagedet_kmap_calls **ret)
{
	static const struct pagedet_kmap_query defaults =
		PAGEDET_KMAP_QUERY_INIT;
	struct pagedet_kmap_query q;
	struct pagedet_kmap_calls *c;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &q, sizeof(q), query, &defaults,
			      "struct pagedet_kmap_query");
	if (r < 0)
		return r;
	c = calloc(1, sizeof(*c));
	if (!c)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	c->pd = pd;
	r = pdet_kmap_calls_new(&pd->env, &q, &c->c);
	if (r < 0) {
		free(c);
		return r;
	}
	*ret = c;
	return 0;
}

int pagedet_kmap_next_call(struct pagedet_kmap_calls *calls,
			   struct pagedet_kmap_call *ret)
{
	struct pagedet_kmap_call call;
	int r = pdet_check_answer(&calls->pd->env, ret);

	if (r < 0)
		return r;
	if (!pdet_kmap_next_call(calls->c, &call))
		return 0;
	pdet_answer_struct(&calls->pd->env, ret, &call, sizeof(call));
	return 1;
}

int pagedet_kmap_calls_total(const struct pagedet_kmap_calls *calls,
			     struct pagedet_kmap_calls_total *ret)
{
	struct pagedet_kmap_calls_total total;

	pdet_kmap_calls_total(calls->c, &total);
	return pdet_answer_struct(&calls->pd->env, ret, &total, sizeof(total));
}

void pagedet_kmap_calls_free(struct pagedet_kmap_calls *calls)
{
	if (!calls)
		return;
	pdet_kmap_calls_free(calls->c);
	free(calls);
}

int pagedet_emit_kmap_calls(struct pagedet_emitter *emitter,
			    struct pagedet_kmap_calls *calls, uint64_t max)
{
	pdet_clear(&calls->pd->env);
	return pdet_emit_kmap_calls(emitter, &calls->pd->env, calls->c, max);
}
