/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for recordings of KMAPs. */
#include <errno.h>
#include <stdlib.h>

#include "api/arguments.h"
#include "memorizer/recording.h"

/* Smaller numbers are modes of Memorizer. */
#define FIRST_PID 4

struct pagedet_kmap_recorder {
	struct pagedet *pd;
	struct pdet_kmap_recording *r;
};

static int check(struct pdet_env *env,
		 const struct pagedet_kmap_record_options *o)
{
	if (o->reserved)
		return pdet_fail(env, EINVAL, "cannot record: unknown option");
	if (o->pid && o->pid < FIRST_PID)
		return pdet_fail(env, EINVAL, "cannot record process %u: "
				 "Memorizer takes such a number for a mode",
				 o->pid);
	return 0;
}

int pagedet_kmap_record(struct pagedet *pd,
			const struct pagedet_kmap_record_options *options,
			struct pagedet_kmap_recorder **ret)
{
	static const struct pagedet_kmap_record_options defaults =
		PAGEDET_KMAP_RECORD_OPTIONS_INIT;
	struct pagedet_kmap_record_options o;
	struct pagedet_kmap_recorder *new;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_kmap_record_options");
	if (r == 0)
		r = check(&pd->env, &o);
	if (r < 0)
		return r;
	new = malloc(sizeof(*new));
	if (!new)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	new->pd = pd;
	r = pdet_kmap_record_new(&pd->env, &o, &new->r);
	if (r < 0) {
		free(new);
		return r;
	}
	*ret = new;
	return 0;
}

int pagedet_kmap_recorder_stop(struct pagedet_kmap_recorder *recorder)
{
	pdet_clear(&recorder->pd->env);
	return pdet_kmap_record_stop(recorder->r, &recorder->pd->env);
}

int pagedet_kmap_recorder_write(struct pagedet_kmap_recorder *recorder,
				int fd)
{
	pdet_clear(&recorder->pd->env);
	return pdet_kmap_record_write(recorder->r, &recorder->pd->env, fd);
}

int pagedet_kmap_recorder_total(const struct pagedet_kmap_recorder *recorder,
				struct pagedet_kmap_record_total *ret)
{
	struct pagedet_kmap_record_total total;

	pdet_kmap_record_total(recorder->r, &total);
	total.size = sizeof(total);
	return pdet_answer_struct(&recorder->pd->env, ret, &total,
				  sizeof(total));
}

void pagedet_kmap_recorder_free(struct pagedet_kmap_recorder *recorder)
{
	if (!recorder)
		return;
	pdet_kmap_record_free(recorder->r);
	free(recorder);
}
