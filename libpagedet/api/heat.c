/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for what DAMON says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "heat/listen.h"

/* Who may say something. */
static int begin(struct pagedet *pd, struct pdet_heat *h)
{
	if (pdet_asks_running(pd))
		return pdet_heat_begin(h, &pd->env);
	h->state = PAGEDET_UNSUPPORTED;
	return 0;
}

void pdet_survey_heat(struct pagedet *pd, struct pdet_ability *ret)
{
	struct pdet_heat h = { .state = PAGEDET_UNSUPPORTED };

	if (begin(pd, &h) < 0 ||
	    pdet_heat_learn(&h, &pd->env, pd->backends, pd->n_backends) < 0) {
		pdet_clear(&pd->env);
		h.state = PAGEDET_NO_MEMORY;
	}
	ret->reason = (uint8_t)h.state;
	ret->cost = PAGEDET_COST_SWEEP;
	snprintf(ret->advice, sizeof(ret->advice), "%s", h.advice);
	pdet_heat_end(&h);
}

int pagedet_heat(struct pagedet *pd, const struct pagedet_heat_options *options,
		 struct pagedet_heat **ret)
{
	static const struct pagedet_heat_options defaults =
		PAGEDET_HEAT_OPTIONS_INIT;
	struct pagedet_heat_options o;
	struct pagedet_heat *heat;
	int r;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_heat_options");
	if (r < 0)
		return r;
	heat = calloc(1, sizeof(*heat));
	if (!heat)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	heat->pd = pd;
	r = begin(pd, &heat->h);
	if (r == 0)
		r = pdet_heat_learn(&heat->h, &pd->env, pd->backends,
				    pd->n_backends);
	if (r == 0)
		r = pdet_heat_listen(&heat->h, &pd->env, o.wait_ns);
	if (r == 0)
		pdet_heat_recheck(&heat->h, &pd->env, pd->backends,
				  pd->n_backends);
	if (r < 0) {
		pagedet_heat_free(heat);
		return -pdet_errno_closed(-r);
	}
	*ret = heat;
	return 0;
}

int pagedet_heat_info(const struct pagedet_heat *heat,
		      struct pagedet_heat_info *ret)
{
	const struct pagedet_heat_info info = {
		.size = ret->size,
		.monitors = heat->h.monitors.n,
		.threads = heat->h.damons.n,
		.lost = heat->h.lost,
		.advice = heat->h.advice,
		.state = heat->h.state,
		.complete = pdet_heat_is_complete(&heat->h),
	};

	return pdet_answer_struct(&heat->pd->env, ret, &info, sizeof(info));
}

int pagedet_heat_monitor(const struct pagedet_heat *heat, uint64_t index,
			 struct pagedet_heat_monitor *ret)
{
	const struct pdet_heat_monitor *m;
	struct pagedet_heat_monitor a;
	size_t i;

	if (index >= heat->h.monitors.n)
		return -ENOENT;
	m = &heat->h.monitors.data[index];
	a = (struct pagedet_heat_monitor){
		.size = ret->size,
		.regions = m->regions.n,
		.checks = m->checks,
		.interval_ns = m->interval_us * 1000,
		.end_ns = m->ns + heat->h.real_ns,
		.thread = m->thread,
		.pid = m->pid,
		.known = m->is_known,
		.complete = m->is_complete,
	};
	for (i = 0; i < m->regions.n; i++)
		a.bytes += m->regions.data[i].end - m->regions.data[i].start;
	return pdet_answer_struct(&heat->pd->env, ret, &a, sizeof(a));
}

void pagedet_heat_free(struct pagedet_heat *heat)
{
	if (!heat)
		return;
	pdet_heat_end(&heat->h);
	free(heat);
}
