/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for recordings of allocations. */
#include <errno.h>
#include <stdlib.h>

#include "allocs/keys.h"
#include "api/arguments.h"
#include "record/instance.h"
#include "record/record.h"
#include "record/totals.h"

struct pagedet_recorder {
	struct pagedet *pd;
	struct pdet_recording *r; /* NULL: it adds up */
	struct pdet_totals *totals;
	bool objects;		/* of which the live ones are asked for */
};

/* The groups that live objects go to. */
struct taking {
	struct pdet_allocs *a;
	struct pdet_kmem_sums *sums;
};

/* The keys of totals. */
static int check_keys(struct pdet_env *env, const uint32_t *by, uint64_t n)
{
	const int r = pdet_alloc_keys_check(env, by, n);
	uint64_t i;

	for (i = 0; r == 0 && i < n; i++)
		if (!pdet_totals_have_key(by[i]))
			return pdet_fail(env, EINVAL, "cannot sum up by '%s': "
					 "only a trace has it",
					 pdet_alloc_key_name(by[i]));
	return r;
}

static int check(struct pdet_env *env, const struct pagedet_record_options *o)
{
	const uint32_t known = PAGEDET_RECORD_PAGES | PAGEDET_RECORD_STACKS |
			       PAGEDET_RECORD_NOT_CALLER |
			       PAGEDET_RECORD_TOTALS | PAGEDET_RECORD_FREES |
			       PAGEDET_RECORD_OBJECTS;
	const bool totals = o->flags & PAGEDET_RECORD_TOTALS;
	const bool frees = o->flags & PAGEDET_RECORD_FREES;

	if (o->flags & ~known || o->reserved)
		return pdet_fail(env, EINVAL, "cannot record allocations: "
				 "unknown flag");
	if (totals && o->flags & PAGEDET_RECORD_STACKS)
		return pdet_fail(env, EINVAL, "cannot record allocations: "
				 "totals have stacks by the key stack");
	if ((o->by || o->n_by) && !totals)
		return pdet_fail(env, EINVAL, "cannot record allocations: "
				 "only totals have keys");
	if (frees && !totals)
		return pdet_fail(env, EINVAL, "cannot record allocations: "
				 "events have frees; only totals can lack "
				 "them");
	if ((o->live || o->flags & PAGEDET_RECORD_OBJECTS) && !frees)
		return pdet_fail(env, EINVAL, "cannot record allocations: "
				 "live objects are known by their frees only");
	return o->by ? check_keys(env, o->by, o->n_by) : 0;
}

int pagedet_allocs_record(struct pagedet *pd,
			  const struct pagedet_record_options *options,
			  struct pagedet_recorder **ret)
{
	static const struct pagedet_record_options defaults =
		PAGEDET_RECORD_OPTIONS_INIT;
	struct pagedet_record_options o;
	struct pagedet_recorder *new;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_record_options");
	if (r == 0)
		r = check(&pd->env, &o);
	if (r < 0)
		return r;
	new = calloc(1, sizeof(*new));
	if (!new)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	new->pd = pd;
	new->objects = o.flags & PAGEDET_RECORD_OBJECTS;
	r = o.flags & PAGEDET_RECORD_TOTALS ?
		    pdet_totals_new(&pd->env, &o, &new->totals) :
		    pdet_record_new(&pd->env, &o, &new->r);
	if (r < 0) {
		free(new);
		return r;
	}
	*ret = new;
	return 0;
}

int pagedet_recorder_stop(struct pagedet_recorder *recorder)
{
	struct pdet_env *env = &recorder->pd->env;

	pdet_clear(env);
	return recorder->totals ? pdet_totals_stop(recorder->totals, env) :
				  pdet_record_stop(recorder->r, env);
}

int pagedet_recorder_write(struct pagedet_recorder *recorder, int fd)
{
	struct pdet_env *env = &recorder->pd->env;

	pdet_clear(env);
	return recorder->totals ?
		       pdet_fail(env, EINVAL, "cannot write a trace: there are "
				 "totals, not events") :
		       pdet_record_write(recorder->r, env, fd);
}

static int take_object(void *arg, const struct pdet_kmem_event *e)
{
	const struct taking *to = arg;

	return pdet_allocs_take_object(to->a, &to->sums->stacks, e);
}

static int take_objects(struct pagedet_recorder *recorder,
			struct pdet_kmem_sums *sums, struct pdet_allocs **ret)
{
	struct taking to = { *ret, sums };
	const int r = pdet_totals_objects(recorder->totals, &recorder->pd->env,
					  sums, take_object, &to);

	if (r < 0)
		pdet_allocs_free(*ret);
	return r;
}

static int group(struct pagedet_recorder *recorder, struct pdet_allocs **ret)
{
	struct pdet_env *env = &recorder->pd->env;
	struct pdet_kmem_sums sums;
	uint64_t n;
	const uint32_t *by = pdet_totals_by(recorder->totals, &n);
	int r = pdet_totals_read(recorder->totals, env, &sums);

	if (r == 0)
		r = pdet_allocs_from_sums(env, by, n, &sums, ret);
	if (r == 0 && recorder->objects)
		r = take_objects(recorder, &sums, ret);
	pdet_totals_sums_free(&sums);
	return r;
}

int pagedet_recorder_allocs(struct pagedet_recorder *recorder,
			    struct pagedet_allocs **ret)
{
	struct pdet_env *env = &recorder->pd->env;
	struct pagedet_allocs *a;
	int r;

	pdet_clear(env);
	if (!recorder->totals)
		return pdet_fail(env, EINVAL, "there are events, not totals");
	a = calloc(1, sizeof(*a));
	if (!a)
		return pdet_fail(env, ENOMEM, "no memory");
	a->pd = recorder->pd;
	r = group(recorder, &a->a);
	if (r < 0) {
		free(a);
		return r;
	}
	*ret = a;
	return 0;
}

int pagedet_recorder_total(const struct pagedet_recorder *recorder,
			   struct pagedet_record_total *ret)
{
	struct pagedet_record_total total;

	if (recorder->totals)
		pdet_totals_total(recorder->totals, &total);
	else
		pdet_record_total(recorder->r, &total);
	return pdet_answer_struct(&recorder->pd->env, ret, &total,
				  sizeof(total));
}

void pagedet_recorder_free(struct pagedet_recorder *recorder)
{
	if (!recorder)
		return;
	pdet_totals_free(recorder->totals);
	pdet_record_free(recorder->r);
	free(recorder);
}

int pagedet_recorder_stray(struct pagedet *pd, uint32_t index, char *name,
			   size_t size)
{
	pdet_clear(&pd->env);
	return pdet_instance_stray(index, name, size);
}
