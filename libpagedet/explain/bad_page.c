/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What a report of a bad page is evidence of. The kernel reports a page that is
 * freed or handed out in a state that it must not have then (Linux
 * mm/page_alloc.c, bad_page()). Its struct page may be intact: then it shows
 * who uses the page, which was freed too early.
 */
#include "explain/explain.h"

#define HERE PAGEDET_SIDE_HERE

static bool is_overwritten(const struct pdet_case *c)
{
	return strstr(pdet_case_reason(c), PDET_OVERWRITTEN);
}

/* --- signs of a user --- */

/* By the kernel's reason, "page_pool leak", or by PDET_POOLED. */
static bool of_page_pool(const struct pdet_case *c)
{
	return strstr(pdet_case_reason(c), "page_pool");
}

static bool of_slab(const struct pdet_case *c)
{
	return pdet_row_is(&c->here, PAGEDET_KIND_SLAB);
}

static bool listed(const struct pdet_case *c)
{
	return pdet_row_flag(&c->here, PAGEDET_PF_LRU) == PAGEDET_YES;
}

static bool mapped(const struct pdet_case *c)
{
	return pdet_row_has_maps(&c->here) && c->here.mapcount;
}

/* PAGE_BUDDY_MAPCOUNT_VALUE + 1: from 2.6.38 to 4.17 a page in the lists of
 * free pages has it. */
static bool is_free_already(const struct pdet_case *c)
{
	return pdet_row_has(&c->here, PAGEDET_FIELD_MAPCOUNT) &&
	       c->here.mapcount == (uint64_t)-127;
}

static bool is_charged(const struct pdet_case *c)
{
	return strstr(pdet_case_reason(c), "charged to cgroup");
}

static bool has_mapping(const struct pdet_case *c)
{
	return pdet_row_is_user(&c->here) ||
	       strstr(pdet_case_reason(c), "non-NULL mapping");
}

static bool is_dropped(const struct pdet_case *c)
{
	return pdet_row_has(&c->here, PAGEDET_FIELD_REFCOUNT) &&
	       c->here.refcount >> 63;
}

static bool is_referenced(const struct pdet_case *c)
{
	return pdet_row_has_refs(&c->here) && c->here.refcount;
}

/* The strongest come first. */
static const struct sign {
	bool (*shows)(const struct pdet_case *c);
	const char *likely;
	uint32_t confidence;
} signs[] = {
	{ of_page_pool, "a page_pool (buffers of network drivers) has it, "
	  "although it was freed", PDET_MEDIUM },
	{ of_slab, "the slab allocator has it, although it was freed",
	  PDET_MEDIUM },
	{ listed, "it is on an LRU list, as memory of tasks and files is, "
	  "although it was freed", PDET_MEDIUM },
	{ mapped, "its mapcount says that tasks map it, although it was "
	  "freed", PDET_MEDIUM },
	{ is_free_already, "it was free already: its mapcount is the mark of a "
	  "free page (before 4.18)", PDET_MEDIUM },
	{ has_mapping, "its mapping is set, as that of memory of tasks and "
	  "files or of some drivers, although it was freed", PDET_MEDIUM },
	{ is_charged, "a cgroup is charged for it, although it was freed",
	  PDET_MEDIUM },
	{ is_dropped, "a reference to it was dropped more often than taken",
	  PDET_MEDIUM },
	{ is_referenced, "something has references to it, although it was "
	  "freed", PDET_LOW },
};

/*
 * "bad page state: nonzero mapcount; CAUSE": the words of the report come
 * first.
 */
static void put_reason_first(struct pdet_case *c)
{
	const char *said = pdet_case_reason(c);

	if (*said)
		pdet_say_first(c, "bad page state", said);
	else
		pdet_unknown(c, "the report's reason: it does not give one, or "
			     "a part of it is lost");
}

static void put_sign(struct pdet_case *c)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(signs); i++) {
		if (!signs[i].shows(c))
			continue;
		c->likely = signs[i].likely;
		c->likely_confidence = signs[i].confidence;
		return;
	}
}

bool pdet_rest_on_bad_page(struct pdet_case *c)
{
	static const unsigned fields[] = {
		PAGEDET_FIELD_REASON, PAGEDET_FIELD_REPORT,
		PAGEDET_FIELD_EVENT_NS, PAGEDET_FIELD_KIND,
		PAGEDET_FIELD_FLAGS, PAGEDET_FIELD_REFCOUNT,
		PAGEDET_FIELD_MAPCOUNT,
	};
	size_t i;

	if (!pdet_row_has(&c->here, PAGEDET_FIELD_REPORT) ||
	    c->here.report != PAGEDET_REPORT_BAD_PAGE_STATE ||
	    pdet_reported_past(c))
		return false;
	put_reason_first(c);
	for (i = 0; i < PDET_COUNT(fields); i++)
		pdet_fact_field(c, HERE, fields[i]);
	if (is_overwritten(c)) {
		c->likely = "something else was written over its struct page";
		c->likely_confidence = PDET_HIGH;
		pdet_unknown(c, "what the page was before (its struct page is "
				"damaged)");
		return true;
	}
	put_sign(c);
	pdet_unknown(c, "whether it was freed too early or twice, was used "
			"after it was freed, or its struct page was changed by "
			"mistake");
	return true;
}

/* A type of page is in the place of a mapcount that is not exact. */
bool pdet_rest_on_low_count(struct pdet_case *c)
{
	const struct pagedet_page *row = &c->here;
	const bool refs = pdet_row_has(row, PAGEDET_FIELD_REFCOUNT) &&
			  !pdet_row_has_refs(row);
	const bool maps = pdet_row_has(row, PAGEDET_FIELD_MAPCOUNT) &&
			  !pdet_row_has_maps(row) &&
			  pdet_row_has(row, PAGEDET_FIELD_MAPCOUNT_KIND) &&
			  row->mapcount_kind == PAGEDET_MAPCOUNT_EXACT;

	if (!refs && !maps)
		return false;
	if (refs)
		pdet_fact_field(c, HERE, PAGEDET_FIELD_REFCOUNT);
	if (maps)
		pdet_fact_field(c, HERE, PAGEDET_FIELD_MAPCOUNT);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	pdet_fact_field(c, HERE, PAGEDET_FIELD_FLAGS);
	pdet_unknown(c, "whether the count was lowered too often, or "
		     "overwritten");
	pdet_unknown_report(c);
	return true;
}
