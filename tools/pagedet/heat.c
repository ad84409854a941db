/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Listens to DAMON before a query that wants what it says. */
#include <errno.h>

#include "cli.h"

bool cli_wants(struct pagedet *pd, const struct pagedet_query *q,
	       uint32_t first, uint32_t last)
{
	uint64_t all[2] = { q->fields[0], q->fields[1] }, where[2];
	uint64_t i;
	uint32_t f;

	/* The query refuses a wrong filter. */
	if (q->where && !pagedet_filter_fields(pd, q->where, where)) {
		all[0] |= where[0];
		all[1] |= where[1];
	}
	for (i = 0; i < q->n_group_by; i++)
		all[q->group_by[i] / 64] |= 1ull << (q->group_by[i] % 64);
	for (f = first; f <= last; f++)
		if (all[f / 64] >> (f % 64) & 1)
			return true;
	return false;
}

static void tell(const struct cli_job *job, const struct pagedet_heat *heat)
{
	struct pagedet_heat_info info = { .size = sizeof(info) };

	if (job->quiet || pagedet_heat_info(heat, &info) ||
	    info.state != PAGEDET_HAVE)
		return;
	if (info.lost)
		cli_say("%llu of DAMON's events were lost",
			(unsigned long long)info.lost);
	if (!info.complete)
		cli_say("not all of DAMON's threads told a whole interval in "
			"time; --heat-for SECONDS waits longer");
}

int cli_heat(const struct cli_job *job, struct pagedet *pd,
	     struct pagedet_query *q, struct pagedet_heat **ret)
{
	struct pagedet_heat_options o = PAGEDET_HEAT_OPTIONS_INIT;
	const uint64_t left = cli_deadline_left(job);
	int error;

	*ret = NULL;
	if (!cli_wants(pd, q, PAGEDET_FIELD_HEAT, PAGEDET_FIELD_HEAT_NS))
		return CLI_ANSWERED;
	o.wait_ns = job->heat_ns;
	if (left && (!o.wait_ns || o.wait_ns > left))
		o.wait_ns = left;
	error = pagedet_heat(pd, &o, ret);
	if (error == -ECANCELED) {
		cli_say("%s", cli_stop_words());
		return CLI_UNSURE;
	}
	if (error)
		return cli_fail(pd, error);
	tell(job, *ret);
	q->heat = *ret;
	return CLI_ANSWERED;
}
