/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Each call has a session of its own: nothing is of an earlier moment. */
#include <errno.h>

#include "breakpoint/ask.h"

static int no_source(struct pdet_env *env)
{
	if (!*env->error) {
		pdet_fail(env, ENOTSUP, "cannot find the objects of a cache: "
			  "no open source reads memory of the running kernel");
		pdet_advise(env, "needs root, for the sources bpf or kcore");
	}
	return -ENOTSUP;
}

static int ask_one(struct pdet_backend *b, struct pdet_env *env,
		   const uint64_t *addresses, size_t n, struct pdet_at *ret)
{
	struct pdet_wants wants = { .target = PAGEDET_TARGET_KADDR,
				    .walks = true, .alone = true };
	struct pdet_session *s;
	size_t i;
	int r;

	pdet_fields_add(&wants.fields, PAGEDET_FIELD_OBJECT);
	pdet_fields_add(&wants.fields, PAGEDET_FIELD_OBJECT_STATE);
	r = b->ops->prepare ? b->ops->prepare(b, env, &wants) : 0;
	if (r == 0)
		r = b->ops->session_new(b, env, &wants, &s);
	if (r < 0)
		return r;
	for (i = 0; i < n; i++)
		b->ops->object_at(s, addresses[i], &ret[i]);
	b->ops->session_free(s);
	return 0;
}

int pdet_bp_ask(const struct pdet_bp_sources *sources, struct pdet_env *env,
		const uint64_t *addresses, size_t n, struct pdet_at *ret)
{
	int r = -ENOTSUP;
	size_t i;

	for (i = 0; i < sources->n && r < 0; i++)
		if (sources->data[i]->ops->object_at)
			r = ask_one(sources->data[i], env, addresses, n, ret);
	if (r == -ENOMEM && !*env->error)
		return pdet_fail(env, ENOMEM, "no memory");
	return r == -ENOTSUP ? no_source(env) : r;
}

int pdet_bp_direct(const struct pdet_bp_sources *sources, struct pdet_env *env,
		   uint64_t *ret)
{
	int r = -ENOTSUP;
	size_t i;

	for (i = 0; i < sources->n && r < 0; i++)
		if (sources->data[i]->ops->direct_map)
			r = sources->data[i]->ops->direct_map(sources->data[i],
							      env, ret);
	return r == -ENOTSUP ? no_source(env) : r;
}
