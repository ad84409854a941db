/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Puts what the kernel reported of a page before what its row shows. A report
 * is about one moment, and often does not show the struct page. bad_page.c has
 * the report that is a cause by itself, unless the machine has restarted since.
 */
#include <stdio.h>

#include "explain/explain.h"

#define HERE PAGEDET_SIDE_HERE

static const char *name_of(uint64_t report)
{
	static const char *const names[] = {
		[PAGEDET_REPORT_BAD_PAGE_STATE] = "bad page state",
		[PAGEDET_REPORT_DUMP_PAGE] = "dump of its struct page",
		[PAGEDET_REPORT_BAD_PAGE_MAP] = "bad page map",
		[PAGEDET_REPORT_MEMORY_FAILURE] = "memory failure",
		[PAGEDET_REPORT_SOFT_OFFLINE] = "soft offline",
		[PAGEDET_REPORT_UNPOISON] = "unpoison",
		[PAGEDET_REPORT_MACHINE_CHECK] = "machine check",
		[PAGEDET_REPORT_EDAC] = "EDAC memory error",
		[PAGEDET_REPORT_APEI] = "hardware error (APEI)",
		[PAGEDET_REPORT_SLAB] = "damaged slab",
		[PAGEDET_REPORT_KASAN] = "KASAN",
		[PAGEDET_REPORT_LIST] = "damaged list",
		[PAGEDET_REPORT_IO_ERROR] = "I/O error",
		[PAGEDET_REPORT_HUNG_TASK] = "hung task",
		[PAGEDET_REPORT_MIGRATION] = "failed migration",
		[PAGEDET_REPORT_FAULT] = "fault of a program",
		[PAGEDET_REPORT_KFENCE] = "KFENCE",
		[PAGEDET_REPORT_BAD_PAGE_CACHE] = "bad page cache",
	};

	return report < PDET_COUNT(names) ? names[report] : NULL;
}

void pdet_say_first(struct pdet_case *c, const char *what, const char *reason)
{
	char text[2 * PAGEDET_EVIDENCE_TEXT + 512];

	if (c->arena->none)
		return;
	snprintf(text, sizeof(text), "%s%s%s; %s", what, *reason ? ": " : "",
		 reason, c->cause);
	c->cause = pdet_keep(c, text, strlen(text));
}

static void add_fact(struct pdet_case *c, unsigned field)
{
	const char *name = pdet_field_info(field)->name;
	uint32_t i;

	for (i = 0; i < c->n_facts; i++)
		if (c->facts[i].side == HERE &&
		    !strcmp(c->facts[i].field, name))
			return;
	pdet_fact_field(c, HERE, field);
}

/* Whether the note is about a report. */
static bool is_noted(const struct pdet_case *c, unsigned note)
{
	return pdet_row_has(&c->here, PAGEDET_FIELD_REPORT) &&
	       pdet_row_note(&c->here, note) == PAGEDET_YES;
}

bool pdet_reported_past(const struct pdet_case *c)
{
	return is_noted(c, PAGEDET_NOTE_EARLIER_BOOT) ||
	       is_noted(c, PAGEDET_NOTE_TIME_WENT_BACK);
}

void pdet_unknown_past(struct pdet_case *c)
{
	const uint64_t memory = PDET_REPORTED_MEMORY | PDET_REPORTED(UNPOISON);

	if (!pdet_reported_past(c))
		return;
	pdet_unknown(c, is_noted(c, PAGEDET_NOTE_EARLIER_BOOT) ?
			"its state now: the machine has restarted since the "
			"report" :
			"its state now: kernel time goes back in the log after "
			"the report, or a kernel's first line follows without "
			"time, so the machine may have restarted, or the log "
			"is of several");
	if (memory >> (c->here.report & 63) & 1)
		pdet_unknown(c, "whether firmware or a boot parameter leaves "
				"it out: if not, it may be in use again");
}

void pdet_drop_guesses(struct pdet_case *c)
{
	uint64_t report;

	if (!pdet_row_has(&c->here, PAGEDET_FIELD_REPORT) ||
	    !name_of(c->here.report))
		return;
	report = (uint64_t)1 << c->here.report;
	if (c->likely_unless & report) {
		c->likely = "";
		c->likely_confidence = PAGEDET_CONFIDENCE_NONE;
	}
	if (c->advice_unless & report)
		c->advice = "read the kernel log";
}

void pdet_report_first(struct pdet_case *c)
{
	static const unsigned fields[] = {
		PAGEDET_FIELD_REPORT, PAGEDET_FIELD_REASON,
		PAGEDET_FIELD_EVENT_NS,
	};
	const char *reason = pdet_case_reason(c), *name;
	const bool past = pdet_reported_past(c);
	char what[80];
	size_t i;

	if (!pdet_row_has(&c->here, PAGEDET_FIELD_REPORT))
		return;
	name = name_of(c->here.report);
	if (!name)
		return;
	if (c->here.report == PAGEDET_REPORT_BAD_PAGE_STATE) {
		if (!past)
			return;
		c->advice = PDET_BAD_PAGE_ADVICE;
	}
	/* Some reasons begin with it. */
	snprintf(what, sizeof(what), "the kernel reported%s%s%s",
		 !past ? "" : is_noted(c, PAGEDET_NOTE_EARLIER_BOOT) ?
		 " before a restart" : ", perhaps before a restart",
		 strncmp(reason, name, strlen(name)) ? ": " : "",
		 strncmp(reason, name, strlen(name)) ? name : "");
	pdet_say_first(c, what, reason);
	for (i = 0; i < PDET_COUNT(fields); i++)
		add_fact(c, fields[i]);
}
