/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Why no memory cgroup is charged for a page; and whether it is poisoned. */
#include "explain/explain.h"

#define HERE PAGEDET_SIDE_HERE

static bool charged(struct pdet_case *c)
{
	if (!pdet_row_has(&c->here, PAGEDET_FIELD_MEMCG_INO) &&
	    !pdet_row_has(&c->here, PAGEDET_FIELD_MEMCG_PATH))
		return false;
	c->confidence = PAGEDET_CONFIDENCE_CERTAIN;
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
	return pdet_rest_on(c, PAGEDET_FIELD_KIND, PAGEDET_CONFIDENCE_CERTAIN);
}

static bool by_object(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_SLAB_CACHE);
	pdet_unknown(c, "who is charged for each object");
	return pdet_rest_on_kind(c, PAGEDET_KIND_SLAB, PAGEDET_CONFIDENCE_HIGH);
}

static bool by_hugetlb(struct pdet_case *c)
{
	pdet_unknown(c, "whether cgroups are mounted with "
		     "memory_hugetlb_accounting");
	return pdet_rest_on_kind(c, PAGEDET_KIND_HUGETLB,
				 PAGEDET_CONFIDENCE_MEDIUM);
}

/* What tasks and files hold is charged without being asked for. */
static bool not_asked(struct pdet_case *c)
{
	const char *gfp = pdet_case_text(c, c->here.gfp);

	if (!pdet_row_lacks(&c->here, PAGEDET_FIELD_MEMCG_INO) ||
	    !pdet_row_has(&c->here, PAGEDET_FIELD_GFP) || !*gfp ||
	    strstr(gfp, "ACCOUNT") || pdet_row_is_user(&c->here))
		return false;
	c->confidence = PAGEDET_CONFIDENCE_HIGH;
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_MEMCG_INO);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_GFP);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOC_COMM);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_ALLOC_STACK);
	return true;
}

static bool none(struct pdet_case *c)
{
	if (!pdet_row_lacks(&c->here, PAGEDET_FIELD_MEMCG_INO))
		return false;
	c->confidence = PAGEDET_CONFIDENCE_LOW;
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
	return true;
}

/* --- poison --- */

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
	pdet_unknown(c, "what reported it: a machine check, soft offlining, "
		     "or a test that injects errors (kernel log)");
	return true;
}

static bool not_poisoned(struct pdet_case *c)
{
	return pdet_row_flag(&c->here, PAGEDET_PF_HWPOISON) == PAGEDET_NO &&
	       pdet_rest_on(c, PAGEDET_FIELD_FLAGS, PAGEDET_CONFIDENCE_CERTAIN);
}

static bool poison_unknown(struct pdet_case *c)
{
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_PTE);
	pdet_unknown(c, "its flag hwpoison");
	return true;
}

#define CHARGE(id, verdict, name, fits, cause, advice) \
	PDET_RULE(id, UNACCOUNTED, verdict, name, fits, cause, advice)
#define POISON(id, verdict, name, fits, cause, advice) \
	PDET_RULE(id, POISONED, verdict, name, fits, cause, advice)

const struct pdet_rule pdet_rules_charge[] = {
	CHARGE(501, FINE, "charged", charged, "a cgroup is charged for it",
	       "nothing"),
	CHARGE(502, FINE, "nobodys", nobodys,
	       "nobody is charged for such a page", "nothing"),
	CHARGE(503, CAUSE, "charged-by-object", by_object,
	       "slab memory is charged object by object, not by page",
	       "nothing; memory.stat of a cgroup counts its slab objects"),
	CHARGE(504, CAUSE, "charged-as-hugetlb", by_hugetlb,
	       "huge pages are charged by the hugetlb controller, not as "
	       "memory", "see hugetlb.*.current of the cgroup"),
	CHARGE(505, CAUSE, "not-asked-for", not_asked,
	       "who allocated it did not ask for it to be charged "
	       "(__GFP_ACCOUNT)",
	       "nothing, unless a task can make it grow: then report it to "
	       "the maker of that code"),
	CHARGE(506, CAUSE, "not-charged", none,
	       "allocated while no cgroup was to be charged: by the kernel "
	       "itself, or by a task without one",
	       "nothing; 'pagedet stack' says by whom, where page_owner is "
	       "on"),
	CHARGE(509, CANNOT_TELL, "charge-unknown", charge_unknown,
	       "cannot tell which cgroup is charged",
	       "ask as root, and a kernel with CONFIG_MEMCG"),
	POISON(601, CAUSE, "hwpoison", poisoned,
	       "the kernel has taken it for a memory error (hwpoison)",
	       "look into the kernel log; if there are machine checks, test "
	       "the memory or replace it"),
	POISON(602, FINE, "not-poisoned", not_poisoned,
	       "the kernel has not taken it for a memory error", "nothing"),
	POISON(609, CANNOT_TELL, "poison-unknown", poison_unknown,
	       "cannot tell whether it was taken for a memory error",
	       "ask as root; a kernel without memory failure handling marks "
	       "no page"),
	{ { 0, NULL, NULL, NULL, 0, 0, 0, 0 }, NULL },
};
