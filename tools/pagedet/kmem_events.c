/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The command kmem events: the events of a trace, one row each. */
#include "kmem.h"

static const char *wrong_option(const struct cli_job *job)
{
	return job->before ? "before" :
	       job->kallsyms_before ? "kallsyms-before" :
	       job->flame ? "flame" :
	       job->folded ? "folded" :
	       job->window_ns ? "window" :
	       job->verify ? "verify" : NULL;
}

static int parse(struct cli_job *job)
{
	const char *wrong = wrong_option(job);

	if (wrong)
		return cli_usage("kmem events lists events: --%s has no "
				 "meaning", wrong);
	/* A dump may need one itself; otherwise it names calls. */
	if (!job->open.n_files) {
		job->traced_vmlinux = job->open.vmlinux;
		job->open.vmlinux = NULL;
	}
	return cli_kmem_take(job);
}

/* Losses that are not known before the end; a part may have no more. */
static int tell(struct cli_kmem *a, int status)
{
	int losses;

	pagedet_allocs_total(a->allocs, &a->total);
	if (!a->total.complete)
		return status;
	losses = cli_kmem_losses(a);
	return losses ? losses : status;
}

static int run(struct cli_job *job, struct pagedet *pd)
{
	struct cli_kmem a = { .job = job, .pd = pd,
			      .q = PAGEDET_ALLOCS_QUERY_INIT };
	int status;

	a.q.events = 1;
	status = cli_kmem_read(&a, job->path, job->kallsyms, &a.allocs,
			       &a.total);
	if (!status) {
		job->allocs = a.allocs;
		status = cli_run_query(job, pd);
		job->allocs = NULL;
	}
	if (a.allocs && status <= CLI_UNSURE)
		status = tell(&a, status);
	pagedet_allocs_free(a.allocs);
	return status;
}

const struct cli_command cli_kmem_events = {
	"kmem", "events TRACE", "", .parse = parse, .run = run,
	.target = PAGEDET_TARGET_EVENTS, .min_words = 1, .max_words = 2,
	.nothing = "no event of the trace matched", .rows = true,
	.fields = "event_ns,event,event_cpu,event_tid,event_comm,vaddr,pfn,"
		  "alloc_requested,alloc_bytes,alloc_order,gfp_mask,event_site,"
		  "event_cache,event_lost,kind,slab_cache,object_state,notes",
};
