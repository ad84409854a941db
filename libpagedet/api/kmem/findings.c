/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for what is wrong with a trace. */
#include "allocs/verdict.h"
#include "api/arguments.h"
#include "emit/alloc_findings.h"

const char *pagedet_found_name(uint32_t found)
{
	return pdet_found_name(found);
}

int pagedet_allocs_next_finding(struct pagedet_allocs *allocs,
				struct pagedet_alloc_finding *ret)
{
	struct pagedet_alloc_finding finding;
	int r = pdet_allocs_need_events(allocs->a, &allocs->pd->env);

	if (r < 0)
		return r;
	if (!pdet_allocs_finding(allocs->a, allocs->at, &finding)) {
		allocs->at = 0;
		return 0;
	}
	r = pdet_answer_struct(&allocs->pd->env, ret, &finding,
			       sizeof(finding));
	if (r < 0)
		return r;
	allocs->at++;
	return 1;
}

const char *pagedet_allocs_release(const struct pagedet_allocs *allocs)
{
	const char *release = pdet_allocs_release(allocs->a);

	return *release ? release : NULL;
}

int pagedet_emit_alloc_findings(struct pagedet_emitter *emitter,
				struct pagedet_allocs *allocs)
{
	const int r = pdet_allocs_need_events(allocs->a, &allocs->pd->env);

	return r < 0 ? r : pdet_emit_alloc_findings(emitter, &allocs->pd->env,
						    allocs->a);
}
