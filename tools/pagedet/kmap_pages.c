/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads a KMAP before a query that joins it to pages. */
#include "cli.h"

static void tell(const struct cli_job *job,
		 const struct pagedet_kmap_pages *pages)
{
	struct pagedet_kmap_pages_info info = { .size = sizeof(info) };

	if (job->quiet || pagedet_kmap_pages_info(pages, &info))
		return;
	if (info.outside)
		cli_say("%llu of %llu objects of the KMAP are not in mapped "
			"memory (any more), and not counted",
			(unsigned long long)info.outside,
			(unsigned long long)info.objects);
	if (info.hidden)
		cli_say("%llu objects of the KMAP are not counted: it does not "
			"tell their addresses",
			(unsigned long long)info.hidden);
	if (info.strange)
		cli_say("%llu of %llu instructions of the KMAP are not in the "
			"kernel's code: is it of this boot?",
			(unsigned long long)info.strange,
			(unsigned long long)info.codes);
}

int cli_kmap_pages(const struct cli_job *job, struct pagedet *pd,
		   struct pagedet_query *q, struct pagedet_kmap_pages **ret)
{
	struct pagedet_kmap_query of = PAGEDET_KMAP_QUERY_INIT;
	struct pagedet_kmap *kmap;
	int error;

	*ret = NULL;
	if (!job->kmap)
		return CLI_ANSWERED;
	of.path = job->kmap;
	error = pagedet_kmap(pd, &of, &kmap);
	if (error)
		return cli_fail(pd, error);
	error = pagedet_kmap_pages(pd, kmap, ret);
	pagedet_kmap_free(kmap);
	if (error)
		return cli_fail(pd, error);
	tell(job, *ret);
	q->kmap = *ret;
	return CLI_ANSWERED;
}
