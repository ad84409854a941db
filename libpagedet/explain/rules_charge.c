/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Rules that explain why no memory cgroup is charged for a page, and rules for
 * poison.
 */
#include <stdio.h>
#include <string.h>

#include "explain/explain.h"

#define HERE PAGEDET_SIDE_HERE

static bool charged(struct pdet_case *c)
{
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_MEMCG_INO) &&
	    !pdet_row_has(&c->here, PAGEDET_FIELD_MEMCG_PATH))
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MEMCG_INO);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MEMCG_PATH);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MEMCG_NAME);
	return true;
}

static bool nobodys(struct pdet_case *c)
{
	if (!pdet_row_is_nothing(&c->here) &&
	    !pdet_row_is(&c->here, PAGEDET_KIND_RESERVED) &&
	    !pdet_row_is(&c->here, PAGEDET_KIND_ZERO) &&
	    !pdet_row_is(&c->here, PAGEDET_KIND_OFFLINE))
		return false;
	return pdet_rest_on(c, PAGEDET_FIELD_KIND);
}

static bool by_object(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_SLAB_CACHE);
	pdet_unknown(c, "which cgroup is charged for each object");
	return pdet_rest_on_kind(c, PAGEDET_KIND_SLAB);
}

static bool by_hugetlb(struct pdet_case *c)
{
	pdet_unknown(c, "whether cgroups are mounted with "
		     "memory_hugetlb_accounting");
	return pdet_rest_on_kind(c, PAGEDET_KIND_HUGETLB);
}

/* Memory of tasks and files is always charged. */
static bool not_asked(struct pdet_case *c)
{
	const char *gfp = pdet_case_text(c, c->here.gfp);

	if (!pdet_row_lacks(&c->here, PAGEDET_FIELD_MEMCG_INO) ||
	    !pdet_row_has(&c->here, PAGEDET_FIELD_GFP) || !*gfp ||
	    strstr(gfp, "ACCOUNT") || pdet_row_is_user(&c->here))
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MEMCG_INO);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_GFP);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOC_COMM);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOC_STACK);
	return true;
}

static bool poisoned_none(struct pdet_case *c)
{
	if (!pdet_row_lacks(&c->here, PAGEDET_FIELD_MEMCG_INO))
		return false;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MEMCG_INO);
	return pdet_rest_on_poison(c);
}

static bool none(struct pdet_case *c)
{
	if (!pdet_row_lacks(&c->here, PAGEDET_FIELD_MEMCG_INO))
		return false;
	if (pdet_row_is(&c->here, PAGEDET_KIND_UNKNOWN) &&
	    pdet_row_has(&c->here, PAGEDET_FIELD_REFCOUNT) &&
	    !c->here.refcount)
		c->cause = "it is free, or its allocation did not ask for a "
			   "charge";
	else if (!pdet_row_is_user(&c->here))
		c->cause = "its allocation did not ask for a charge "
			   "(__GFP_ACCOUNT), or the kernel itself or a task "
			   "of the root cgroup made it";
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MEMCG_INO);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOC_COMM);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOC_STACK);
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_GFP))
		pdet_unknown(c, "with which gfp flags it was allocated "
			     "(page_owner)");
	return true;
}

static bool charge_unknown(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_unknown(c, "which cgroup is charged (kpagecgroup, or a source "
		     "that reads kernel memory)");
	if (pdet_row_is_from_memory(&c->here))
		c->advice = "nothing: kernel memory was read, and does not "
			    "tell";
	return true;
}

/* --- poison --- */

/* Whether the page was also reported as that, in this boot. */
static bool is_also(const char *reason, uint32_t report)
{
	const char *name = pdet_value_name(PAGEDET_FIELD_REPORT, report);
	const char *end, *at;
	char part[64];
	size_t len;

	snprintf(part, sizeof(part), PDET_REPORTED_AS "%s", name);
	for (at = reason; at; at = end ? end + strlen("; ") : NULL) {
		end = strstr(at, "; ");
		len = end ? (size_t)(end - at) : strlen(at);
		if (len == strlen(part) && !memcmp(at, part, len))
			return true;
	}
	return false;
}

/* Who found the error: the report itself, or what its reason says. */
static bool found(struct pdet_case *c)
{
	static const struct {
		uint32_t report, confidence;
		const char *likely;
	} by[] = {
		{ PAGEDET_REPORT_MACHINE_CHECK, PDET_HIGH,
		  "broken memory: a machine check reported this page" },
		{ PAGEDET_REPORT_APEI, PDET_HIGH,
		  "broken memory: firmware (APEI) reported this page" },
		{ PAGEDET_REPORT_EDAC, PDET_MEDIUM,
		  "broken memory: the memory controller (EDAC) reported this "
		  "page" },
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(by); i++) {
		if ((!pdet_row_has(&c->here, PAGEDET_FIELD_REPORT) ||
		     c->here.report != by[i].report) &&
		    !is_also(pdet_case_reason(c), by[i].report))
			continue;
		pdet_fact_field(c, HERE, PAGEDET_FIELD_REPORT);
		pdet_fact_field(c, HERE, PAGEDET_FIELD_REASON);
		c->likely = by[i].likely;
		c->likely_confidence = by[i].confidence;
		return true;
	}
	return false;
}

static bool poisoned(struct pdet_case *c)
{
	if (!pdet_rest_on_poison(c))
		return false;
	pdet_fact_known(c, "counters_moved", c->e.counters_here, HERE);
	if (c->e.counters_here == PAGEDET_YES) {
		c->likely = "broken memory: counters of machine checks moved";
		c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
		return true;
	}
	if (!pdet_poisoned_unfound(c) &&
	    strstr(pdet_case_reason(c), PDET_INJECTED)) {
		pdet_fact_field(c, HERE, PAGEDET_FIELD_REASON);
		c->likely = "injected for a test: the log says so";
		c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
		return true;
	}
	if (found(c))
		return true;
	/* Who takes a page offline for fear of an error does not report one.
	 * But what is reported again may have been taken offline before. */
	if (pdet_row_has(&c->here, PAGEDET_FIELD_REPORT) &&
	    c->here.report == PAGEDET_REPORT_MEMORY_FAILURE &&
	    !pdet_poisoned_unfound(c))
		pdet_unknown(c, "what found the error: a machine check, "
			     "firmware (APEI), or a test that injects errors "
			     "(kernel log)");
	else
		pdet_unknown(c, "what reported it: a machine check, soft "
			     "offlining, or a test that injects errors (kernel "
			     "log)");
	return true;
}

static bool not_poisoned(struct pdet_case *c)
{
	return pdet_row_flag(&c->here, PAGEDET_PF_HWPOISON) == PAGEDET_NO &&
	       pdet_rest_on(c, PAGEDET_FIELD_FLAGS);
}

static bool poison_unknown(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_PTE);
	pdet_unknown(c, "its flag hwpoison");
	if (pdet_row_is_from_memory(&c->here))
		c->advice = "nothing; a kernel without memory failure handling "
			    "never marks a page";
	return true;
}

#define CHARGE(id, verdict, name, fits, most, rivals, cause, advice) \
	PDET_RULE(id, UNACCOUNTED, verdict, name, cause, advice, \
		  { fits, PDET_##most, rivals })
#define POISON(id, verdict, name, fits, most, rivals, cause, advice) \
	PDET_RULE(id, POISONED, verdict, name, cause, advice, \
		  { fits, PDET_##most, rivals })

const struct pdet_rule pdet_rules_charge[] = {
	PDET_BAD_PAGE(510, UNACCOUNTED, "charge-bad-page",
		      "which cgroup is charged"),
	CHARGE(501, FINE, "charged", charged,
	       CERTAIN, pdet_rivals_row,
	       "a cgroup is charged for it",
	       "nothing"),
	CHARGE(502, FINE, "nobodys", nobodys,
	       CERTAIN, pdet_rivals_row,
	       "no cgroup is charged for this kind of page", "nothing"),
	CHARGE(503, CAUSE, "charged-by-object", by_object,
	       HIGH, pdet_rivals_row,
	       "slab memory is charged object by object, not by page",
	       "nothing; memory.stat of a cgroup counts its slab objects"),
	CHARGE(504, CAUSE, "charged-as-hugetlb", by_hugetlb,
	       MEDIUM, pdet_rivals_row,
	       "huge pages are charged by the hugetlb controller, not as "
	       "memory", "see hugetlb.*.current of the cgroup"),
	CHARGE(505, CAUSE, "not-asked-for", not_asked,
	       HIGH, pdet_rivals_row,
	       "its allocation did not ask for a charge (__GFP_ACCOUNT)",
	       "nothing, unless a task can make it grow: then report it to "
	       "the maker of that code"),
	CHARGE(511, CAUSE, "poisoned-uncharged", poisoned_none,
	       MEDIUM, pdet_rivals_row,
	       "marked as a memory error (hwpoison): the kernel ends the "
	       "charge of what it takes out of use, or it never had one",
	       "nothing"),
	CHARGE(506, CAUSE, "not-charged", none,
	       LOW, pdet_rivals_row,
	       "allocated while no cgroup was charged: by the kernel itself, "
	       "or by a task without a cgroup",
	       "nothing; 'pagedet stack PFN' says what allocated it, if "
	       "page_owner is on"),
	CHARGE(509, CANNOT_TELL, "charge-unknown", charge_unknown,
	       LOW, NULL,
	       "cannot tell which cgroup is charged",
	       "ask as root, on a kernel with CONFIG_MEMCG"),
	PDET_BAD_PAGE(610, POISONED, "poison-bad-page",
		      "whether its memory is broken"),
	POISON(601, CAUSE, "hwpoison", poisoned,
	       CERTAIN, pdet_rivals_row,
	       "the kernel has marked it as a memory error (hwpoison)",
	       "read the kernel log; if there are machine checks, test or "
	       "replace the memory"),
	POISON(602, FINE, "not-poisoned", not_poisoned,
	       CERTAIN, pdet_rivals_row,
	       "the kernel has not marked it as a memory error", "nothing"),
	POISON(609, CANNOT_TELL, "poison-unknown", poison_unknown,
	       LOW, NULL,
	       "cannot tell whether it was marked as a memory error",
	       "ask as root; a kernel without memory failure handling never "
	       "marks a page"),
	{ .info = { 0 } },
};
