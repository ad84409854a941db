/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * How the handling of a memory error ended, and what that means for the page,
 * by the kernel's words about it (Linux mm/memory-failure.c, action_name[],
 * action_page_types[] and the functions that set them; 2.6.32 to 6.18). Without
 * these words the counts of the page tell.
 *
 * The kernel marks a page before it takes it away from who uses it. It first
 * unmaps it, which fails or ends the handling if it cannot, and then does what
 * its type needs.
 */
#include "explain/explain.h"

#define HERE PAGEDET_SIDE_HERE

/* What is known of the end of the handling. */
enum end {
	UNSAID,
	AGAIN,			/* of an error that was reported before */
	ASIDE,			/* nothing uses the page */
	ASIDE_LIKELY,
	MAPPED,			/* the page could not be unmapped */
	USED			/* or it is in use otherwise */
};

struct ending {
	const char *type;	/* the end of the page's type */
	const char *result;	/* NULL: each other than Recovered */
	enum end end;
	const char *words;	/* for USED: why; for ASIDE: the cause */
	const char *advice;	/* NULL: that of the rule */
};

static const char of_kernel[] =
	"the kernel did nothing but mark it: kernel code has it, or nothing "
	"could be told about it";
static const char of_task[] =
	"the kernel could not unmap it from all tasks that map it";
static const char of_cache[] =
	"the kernel has unmapped it, but could not remove it from its file or "
	"swap, or something else still has references to it";
static const char was_taken[] =
	"it was free, but was taken out of its list before the kernel could "
	"do so";
static const char of_device[] =
	"memory of a device (dax): the kernel signals the tasks that map it, "
	"but its file or device keeps it";
static const char ask_restart[] =
	"restart the machine when that can be done: kernel code that reads it "
	"gets damaged bytes, or stops the machine";
static const char ask_file[] =
	"stop what uses its file, or restart the machine: who reads the page "
	"there may get damaged bytes";
static const char ask_tasks[] =
	"end the tasks whose memory it is, or restart the machine: who reads "
	"the page may get damaged bytes";
static const char ask_either[] =
	"stop what uses its file, or end the tasks whose memory it is, or "
	"restart the machine: who reads the page may get damaged bytes";
static const char ask_blocks[] =
	"restore its file from a copy: who reads the page gets an error, or is "
	"killed";

/* Kernels before 4.3 write "TYPE page recovery: RESULT". The first one that
 * fits counts. */
static const struct ending endings[] = {
	{ "already poisoned", NULL, AGAIN, NULL, NULL },
	{ "already poisoned page", NULL, AGAIN, NULL, NULL },
	{ "already hardware poisoned", NULL, AGAIN, NULL, NULL },
	{ "already hardware poisoned page", NULL, AGAIN, NULL, NULL },
	{ "dax page", "Recovered", USED, of_device, ask_blocks },
	{ "dax page", NULL, USED, of_device, ask_blocks },
	/* It stays in the swap cache: an access finds the mark there. */
	{ "swapcache page", "Delayed", ASIDE,
	  "set aside as a memory error (hwpoison): no task maps it any more; "
	  "it stays in the swap cache, its contents are lost, and who needs "
	  "them is killed (SIGBUS) or gets an error", NULL },
	/* Before 4.13: one in use, after it was unmapped. */
	{ "free huge page", "Delayed", ASIDE, NULL, NULL },
	{ "huge page", "Delayed", ASIDE_LIKELY,
	  "set aside as a memory error (hwpoison): no task maps it any more; "
	  "its file, if it is of one, keeps it until the file is removed",
	  NULL },
	/* Before 5.11 the page stays on its list, from which it is not handed
	 * out. */
	{ "free buddy page", "Delayed", ASIDE_LIKELY, NULL, NULL },
	{ "free buddy page (2nd try)", "Delayed", ASIDE_LIKELY, NULL, NULL },
	{ "free buddy, 2nd try page", "Delayed", ASIDE_LIKELY, NULL, NULL },
	{ "free buddy page", NULL, USED, was_taken, ask_restart },
	{ "free buddy page (2nd try)", NULL, USED, was_taken, ask_restart },
	/* Nothing has it but who handles the error. */
	{ "already truncated LRU page", "Ignored", ASIDE_LIKELY,
	  "set aside as a memory error (hwpoison): no task maps it, and its "
	  "file had given it up already; the kernel does not hand it out again",
	  NULL },
	{ "unmapping failed page", NULL, MAPPED, of_task, NULL },
	{ "unsplit thp", NULL, MAPPED, of_task, NULL },
	{ "non-pmd-sized huge page", NULL, MAPPED, of_task, NULL },
	{ "free huge page", NULL, USED, was_taken, ask_restart },
	{ "huge page", "Failed", USED, of_cache, ask_file },
	{ "kernel page", NULL, USED, of_kernel, ask_restart },
	{ "kernel slab page", NULL, USED, of_kernel, ask_restart },
	{ "get hwpoison page", NULL, USED, of_kernel, ask_restart },
	{ "unknown page", NULL, USED, of_kernel, ask_restart },
	{ "unknown page state page", NULL, USED, of_kernel, ask_restart },
	{ "non LRU page", NULL, USED, of_kernel, ask_restart },
	{ "different compound page after locking", NULL, USED, of_kernel,
	  ask_restart },
	{ "LRU page", "Failed", USED, of_cache, ask_file },
	{ "swapcache page", "Failed", USED, of_cache, ask_file },
};

static const struct ending
	recovered = { "", "Recovered", ASIDE, NULL, NULL },
	not_recovered = { "", NULL, USED,
		"the kernel could not handle the error, and says so", NULL },
	referenced = { "", NULL, USED,
		"something still has references to it", ask_file },
	not_unmapped = { "", NULL, MAPPED, of_task, NULL },
	still_mapped = { "", NULL, MAPPED, of_task, NULL },
	killed = { "", NULL, MAPPED,
		"the kernel could not unmap it, or did not find where a task "
		"maps it", NULL },
	again = { "", NULL, AGAIN, NULL, NULL },
	unsaid = { "", NULL, UNSAID, NULL, NULL };

/* A part of a reason: "; " is between parts. */
struct part {
	const char *at;
	size_t len;
};

static struct part part_at(const char *text)
{
	const char *end = strstr(text, "; ");

	return (struct part){ text, end ? (size_t)(end - text) :
					  strlen(text) };
}

static bool begins(struct part p, const char *word)
{
	const size_t len = strlen(word);

	return p.len >= len && !memcmp(p.at, word, len);
}

static bool cut_end(struct part *p, const char *word)
{
	const size_t len = strlen(word);

	if (p->len < len || memcmp(p->at + p->len - len, word, len))
		return false;
	p->len -= len;
	return true;
}

static const struct ending *of_type(struct part type, const char *result)
{
	struct part rest;
	size_t i;

	for (i = 0; i < PDET_COUNT(endings); i++) {
		const struct ending *is = &endings[i];

		rest = type;
		if ((is->result ? !strcmp(is->result, result) :
				  strcmp("Recovered", result)) &&
		    cut_end(&rest, is->type))
			return is;
	}
	return strcmp(result, "Recovered") ? &not_recovered : &recovered;
}

/* "TYPE: RESULT" or "TYPE recovery: RESULT". NULL if it is neither. */
static const struct ending *outcome(struct part p)
{
	static const char *const results[] = {
		"Ignored", "Failed", "Delayed", "Recovered",
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(results); i++) {
		struct part type = p;

		if (!cut_end(&type, results[i]) || !cut_end(&type, ": "))
			continue;
		cut_end(&type, " recovery");
		return of_type(type, results[i]);
	}
	return NULL;
}

/* "LRU page still referenced by 2 users". Before 5.16 it comes after the
 * outcome, which it makes a failure. Some kernels count -1. */
static bool is_referenced(struct part p)
{
	static const char words[] = " still referenced by ";
	const char *count;

	if (!cut_end(&p, " users"))
		return false;
	count = memmem(p.at, p.len, words, sizeof(words) - 1);
	return count && count[sizeof(words) - 1] != '-';
}

static bool is_not_unmapped(struct part p)
{
	return begins(p, "failed to unmap page (") ||
	       begins(p, "cannot unmap page, give up") ||
	       begins(p, "failed to split THP");
}

/* A task is killed for good also if its address of the page was not found, of
 * which there is a line, but not in each log. */
static bool is_killed(struct part p)
{
	return begins(p, "forcibly killing ") &&
	       cut_end(&p, " because of failure to unmap corrupted page");
}

/* An outcome is the first part. Other parts may have the name of a task or a
 * file, which can be anything. *@weak is what these say of it. */
static const struct ending *of_report(const char *text,
				      const struct ending **weak)
{
	const struct ending *is = outcome(part_at(text));
	bool unplaced = false, held = false;
	struct part p;

	for (p = part_at(text); !begins(p, PDET_SAID_BEFORE);
	     p = part_at(p.at + p.len + 2)) {
		held |= is_referenced(p);
		if (is_not_unmapped(p))
			*weak = &not_unmapped;
		else if (is_killed(p) && *weak != &not_unmapped)
			*weak = &killed;
		else if (begins(p, "already hardware poisoned") &&
			 *weak == &unsaid)
			*weak = &again;
		else if (begins(p, "Unable to find user space address "))
			unplaced = true;
		if (!p.at[p.len])
			break;
	}
	if (unplaced && *weak == &killed)
		*weak = &unsaid;
	/* The type may say more. */
	return held && (!is || is->end < MAPPED || is->words == of_cache) ?
	       &referenced : is;
}

/* The kernel refuses to take the mark away, and says why. */
static const struct ending *of_refusal(struct part p)
{
	static const struct {
		const char *words;
		const struct ending *is;
	} refusals[] = {
		{ "omeone grabs the hwpoison page", &referenced },
		{ "omeone maps the hwpoison page", &still_mapped },
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(refusals); i++)
		if (memmem(p.at, p.len, refusals[i].words,
			   strlen(refusals[i].words)))
			return refusals[i].is;
	return &again;
}

/* What was said of the memory error before the report. It comes last. */
static const char *said_before(const char *reason)
{
	static const char words[] = "; " PDET_SAID_BEFORE;
	const char *said = "", *at = reason;

	if (!strncmp(reason, PDET_SAID_BEFORE, strlen(PDET_SAID_BEFORE)))
		said = reason + strlen(PDET_SAID_BEFORE);
	while ((at = strstr(at, words)))
		said = at += strlen(words);
	return said;
}

static bool is_of(const struct pdet_case *c, uint32_t report)
{
	return pdet_row_has(&c->here, PAGEDET_FIELD_REPORT) &&
	       c->here.report == report;
}

/* How the handling ended. A report of the same error again has no news. */
static const struct ending *ending_of(const struct pdet_case *c)
{
	const char *reason = pdet_case_reason(c);
	const char *before = said_before(reason);
	const struct ending *weak = &unsaid, *is = NULL, *was = NULL;

	if (is_of(c, PAGEDET_REPORT_MEMORY_FAILURE) && reason != before)
		is = of_report(reason, &weak);
	else if (is_of(c, PAGEDET_REPORT_UNPOISON) && reason != before)
		is = of_refusal(part_at(reason));
	if (is && is->end != AGAIN)
		return is;
	if (*before)
		was = of_report(before, &weak);
	if (was && was->end != AGAIN)
		return was;
	return weak->end == UNSAID && (is || was) ? &again : weak;
}

/* The references that handling leaves: its own, and that of a cache from which
 * nobody gets the page. */
static uint64_t left(const struct pdet_case *c)
{
	return 1 + (pdet_row_is(&c->here, PAGEDET_KIND_SHMEM) ||
		    pdet_row_flag(&c->here, PAGEDET_PF_SWAPCACHE) ==
		    PAGEDET_YES);
}

static uint32_t unused(const struct pdet_case *c)
{
	const uint32_t mapped = pdet_row_mapped(&c->here);

	if (mapped == PAGEDET_YES)
		return PAGEDET_NO;
	if (!pdet_row_has_refs(&c->here) ||
	    pdet_row_is(&c->here, PAGEDET_KIND_HUGETLB))
		return PAGEDET_DUNNO;
	if (c->here.refcount > left(c))
		return PAGEDET_NO;
	/* It is marked before it is taken off the free lists. */
	return mapped == PAGEDET_NO && !pdet_row_was_free(&c->here) ?
	       PAGEDET_YES : PAGEDET_DUNNO;
}

/* Memory of tasks has no file, also while it is in the swap cache. */
static const char *advice_of(const struct pdet_case *c, const char *advice)
{
	const struct pagedet_page *row = &c->here;

	if (advice != ask_file || pdet_row_is(row, PAGEDET_KIND_FILE) ||
	    pdet_row_is(row, PAGEDET_KIND_SHMEM) ||
	    pdet_row_is(row, PAGEDET_KIND_HUGETLB))
		return advice;
	return pdet_row_is(row, PAGEDET_KIND_ANON) ||
	       pdet_row_flag(row, PAGEDET_PF_ANON) == PAGEDET_YES ?
	       ask_tasks : ask_either;
}

static bool in_use(struct pdet_case *c, const struct ending *is)
{
	static const unsigned fields[] = {
		PAGEDET_FIELD_REASON, PAGEDET_FIELD_REFCOUNT,
		PAGEDET_FIELD_MAPCOUNT,
	};
	size_t i;

	if (!pdet_rest_on_poison(c))
		return false;
	for (i = 0; i < PDET_COUNT(fields); i++)
		pdet_fact_field(c, HERE, fields[i]);
	c->likely = is->end >= MAPPED ? is->words :
		    "the kernel could not take it away from all who use it, "
		    "or is doing so now";
	c->likely_confidence = PAGEDET_CONFIDENCE_HIGH;
	if (is->end >= MAPPED && is->advice)
		c->advice = advice_of(c, is->advice);
	if (unused(c) == PAGEDET_DUNNO)
		pdet_unknown(c, "whether it is still used");
	return true;
}

/* Neither words nor counts tell, but the flags do: the handling takes a page
 * off its LRU list before anything else. */
static bool is_listed(const struct pdet_case *c, const struct ending *is)
{
	return is->end == UNSAID && unused(c) == PAGEDET_DUNNO &&
	       pdet_row_flag(&c->here, PAGEDET_PF_LRU) == PAGEDET_YES;
}

/* The kernel sets the flag before it tries to take the page away. */
bool pdet_poisoned_in_use(struct pdet_case *c)
{
	const struct ending *is = ending_of(c);

	return ((is->end >= MAPPED && is != &not_unmapped && is != &killed) ||
		unused(c) == PAGEDET_NO || is_listed(c, is)) && in_use(c, is);
}

/* The end of the handling is not in the log. */
bool pdet_poisoned_mapped(struct pdet_case *c)
{
	const struct ending *is = ending_of(c);

	return is == &not_unmapped && unused(c) != PAGEDET_YES &&
	       in_use(c, is);
}

bool pdet_poisoned_killed(struct pdet_case *c)
{
	const struct ending *is = ending_of(c);

	return is == &killed && unused(c) != PAGEDET_YES && in_use(c, is);
}

static bool aside(struct pdet_case *c, const struct ending *is)
{
	if (pdet_row_was_free(&c->here)) {
		c->cause = "marked as a memory error (hwpoison) while it was "
			   "free: the kernel takes such a page off its free "
			   "lists, or does not hand it out";
		pdet_fact_field(c, HERE, PAGEDET_FIELD_KIND);
	} else if (is->end != AGAIN && is->end < MAPPED && is->words) {
		c->cause = is->words;
	}
	return pdet_rest_on_poison(c);
}

bool pdet_poisoned_aside(struct pdet_case *c)
{
	const struct ending *is = ending_of(c);

	return (is->end == ASIDE || unused(c) == PAGEDET_YES) && aside(c, is);
}

bool pdet_poisoned_aside_likely(struct pdet_case *c)
{
	const struct ending *is = ending_of(c);

	return (is->end == ASIDE_LIKELY || is->end == UNSAID) &&
	       unused(c) == PAGEDET_DUNNO && !is_listed(c, is) && aside(c, is);
}

bool pdet_poisoned_unfound(const struct pdet_case *c)
{
	return ending_of(c)->end == AGAIN &&
	       !*said_before(pdet_case_reason(c));
}

bool pdet_poisoned_again(struct pdet_case *c)
{
	const struct ending *is = ending_of(c);

	if (is->end != AGAIN || unused(c) != PAGEDET_DUNNO)
		return false;
	pdet_unknown(c, "how its first report was handled: the log does not "
		     "have it");
	return aside(c, is);
}
