/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads a KMAP before a query that joins it to pages. */
#include "kmap.h"

static void tell(const struct cli_job *job,
		 const struct pagedet_kmap_pages *pages)
{
	struct pagedet_kmap_pages_info info = { .size = sizeof(info) };

	if (job->quiet || pagedet_kmap_pages_info(pages, &info))
		return;
	if (info.outside)
		cli_say("%llu of %llu object%s of the KMAP %s not in mapped "
			"memory (any more), and not counted",
			(unsigned long long)info.outside,
			(unsigned long long)info.objects,
			cli_plural(info.objects), cli_is_or_are(info.outside));
	if (info.hidden)
		cli_say("%llu object%s of the KMAP %s not counted: it does not "
			"tell where", (unsigned long long)info.hidden,
			cli_plural(info.hidden), cli_is_or_are(info.hidden));
	if (info.strange)
		cli_say("%llu of %llu instruction%s of the KMAP %s not in the "
			"kernel's code: is it of this boot?",
			(unsigned long long)info.strange,
			(unsigned long long)info.codes, cli_plural(info.codes),
			cli_is_or_are(info.strange));
}

/* Of what is in no sum. */
static bool is_lossy(const struct cli_job *job, const struct pagedet_kmap *kmap)
{
	struct pagedet_kmap_total t = { .size = sizeof(t) };

	if (pagedet_kmap_total(kmap, &t))
		return true;
	if (!job->quiet)
		cli_kmap_tell_lost(&t);
	return t.strange || t.orphans || t.cut || t.saturated;
}

int cli_kmap_pages(const struct cli_job *job, struct pagedet *pd,
		   struct pagedet_query *q, struct pagedet_kmap_pages **ret,
		   bool *lossy)
{
	struct pagedet_kmap_query of = PAGEDET_KMAP_QUERY_INIT;
	struct pagedet_kmap *kmap;
	int error;

	*ret = NULL;
	if (!job->kmap)
		return CLI_ANSWERED;
	if (!cli_wants(pd, q, PAGEDET_FIELD_READS, PAGEDET_FIELD_WRITES)) {
		if (!job->quiet)
			cli_say("--kmap is not read: --fields pfn,reads,writes "
				"shows what it says");
		return CLI_ANSWERED;
	}
	of.path = job->kmap;
	of.deadline_ns = cli_deadline_left(job);
	error = pagedet_kmap(pd, &of, &kmap);
	if (error)
		return cli_fail(pd, error);
	error = pagedet_kmap_pages(pd, kmap, ret);
	if (!error)
		*lossy = is_lossy(job, kmap);
	pagedet_kmap_free(kmap);
	if (error)
		return cli_fail(pd, error);
	tell(job, *ret);
	q->kmap = *ret;
	return CLI_ANSWERED;
}
