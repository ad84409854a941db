/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Applies --sort, --top and --limit to rows and groups of pages. */
#include <string.h>
#include <unistd.h>

#include "cli.h"

/*
 * Amounts are sorted in descending order, as users expect; names and places in
 * ascending order.
 */
static bool is_amount(uint32_t field)
{
	switch (field) {
	case PAGEDET_FIELD_PAGES:
	case PAGEDET_FIELD_ORDER:
	case PAGEDET_FIELD_REFCOUNT:
	case PAGEDET_FIELD_MAPCOUNT:
	case PAGEDET_FIELD_PINCOUNT:
	case PAGEDET_FIELD_USER_MAPS:
	case PAGEDET_FIELD_KERNEL_MAPS:
	case PAGEDET_FIELD_ALLOC_ORDER:
	case PAGEDET_FIELD_ALLOC_REQUESTED:
	case PAGEDET_FIELD_ALLOC_BYTES:
		return true;
	default:
		return false;
	}
}

uint64_t cli_bound(const struct cli_job *job)
{
	if (!job->top || !job->limit)
		return job->top ? job->top : job->limit;
	return job->top < job->limit ? job->top : job->limit;
}

void cli_tell_more(const struct cli_job *job, uint64_t all, const char *one,
		   const char *many)
{
	const uint64_t bound = cli_bound(job);

	if (!bound || job->quiet || job->watching || !isatty(STDERR_FILENO))
		return;
	if (all == UINT64_MAX)
		cli_say("there may be more %s", many);
	else if (all > bound)
		cli_say("%llu more %s%s", (unsigned long long)(all - bound),
			all - bound == 1 ? one : many,
			job->fitted ? ": --all lists them" : "");
}

/* Objects and events have bytes of their own. */
static const char *field_of(const struct pagedet_query *q, const char *name)
{
	const bool objects = q->target == PAGEDET_TARGET_OBJECTS;
	const bool events = q->target == PAGEDET_TARGET_EVENTS;

	if (!strcmp(name, "bytes") || !strcmp(name, "size"))
		return objects || events ? "alloc_bytes" : "pages";
	return (objects && !strcmp(name, "objects")) ||
	       (events && !strcmp(name, "events")) ? "pages" : name;
}

int cli_sort_query(const struct cli_job *job, struct pagedet_query *q)
{
	const char *name = job->sort;
	bool reverse;
	int field;

	q->limit = cli_bound(job);
	if (!name)
		return CLI_ANSWERED;
	reverse = *name == '-';
	name += reverse;
	field = pagedet_field_by_name(field_of(q, name));
	if (field < 0 && strchr(name, ','))
		return cli_usage("--sort: pages are sorted by one field, and "
				 "'%s' names several", name);
	if (field < 0)
		return cli_no_field(job, "--sort", name, strlen(name));
	if (!q->n_group_by && !q->limit)
		return cli_usage("--sort of rows needs --top N: sorting all of "
				 "them would take unbounded memory");
	if (!q->n_group_by && q->limit > PAGEDET_ORDER_MAX)
		return cli_usage("--sort: at most %d rows can be sorted",
				 PAGEDET_ORDER_MAX);
	q->order_by = (uint32_t)field;
	q->order = is_amount(q->order_by) != reverse ? PAGEDET_ORDER_DOWN :
						       PAGEDET_ORDER_UP;
	if (!q->n_group_by)
		q->fields[field / 64] |= 1ull << (field % 64);
	return CLI_ANSWERED;
}
