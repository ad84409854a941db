/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for recordings of allocations. */
#include <errno.h>
#include <stdlib.h>

#include "api/arguments.h"
#include "record/instance.h"
#include "record/record.h"

struct pagedet_recorder {
	struct pagedet *pd;
	struct pdet_recording *r;
};

int pagedet_allocs_record(struct pagedet *pd,
			  const struct pagedet_record_options *options,
			  struct pagedet_recorder **ret)
{
	static const struct pagedet_record_options defaults =
		PAGEDET_RECORD_OPTIONS_INIT;
	const uint32_t known = PAGEDET_RECORD_PAGES | PAGEDET_RECORD_STACKS |
			       PAGEDET_RECORD_NOT_CALLER;
	struct pagedet_record_options o;
	struct pagedet_recorder *new;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_record_options");
	if (r < 0)
		return r;
	if (o.flags & ~known || o.reserved)
		return pdet_fail(&pd->env, EINVAL, "cannot record "
				 "allocations: unknown flag");
	new = calloc(1, sizeof(*new));
	if (!new)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	new->pd = pd;
	r = pdet_record_new(&pd->env, &o, &new->r);
	if (r < 0) {
		free(new);
		return r;
	}
	*ret = new;
	return 0;
}

int pagedet_recorder_stop(struct pagedet_recorder *recorder)
{
	pdet_clear(&recorder->pd->env);
	return pdet_record_stop(recorder->r, &recorder->pd->env);
}

int pagedet_recorder_write(struct pagedet_recorder *recorder, int fd)
{
	pdet_clear(&recorder->pd->env);
	return pdet_record_write(recorder->r, &recorder->pd->env, fd);
}

int pagedet_recorder_total(const struct pagedet_recorder *recorder,
			   struct pagedet_record_total *ret)
{
	struct pagedet_record_total total;

	pdet_record_total(recorder->r, &total);
	return pdet_answer_struct(&recorder->pd->env, ret, &total,
				  sizeof(total));
}

void pagedet_recorder_free(struct pagedet_recorder *recorder)
{
	if (!recorder)
		return;
	pdet_record_free(recorder->r);
	free(recorder);
}

int pagedet_recorder_stray(struct pagedet *pd, uint32_t index, char *name,
			   size_t size)
{
	pdet_clear(&pd->env);
	return pdet_instance_stray(index, name, size);
}
