/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Keeps the last statement of a log about each page, and what earlier ones said
 * of a memory error that the page still has.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/log/said.h"

#define POISON PAGEDET_PF(PAGEDET_PF_HWPOISON)

/* Most bytes that are kept of an earlier report of hardware. */
#define HARDWARE 160

/* The report of hardware or firmware, if any, that the page had. EDAC also
 * reports errors that were corrected. */
static uint32_t finder(const struct pdet_log_page *p)
{
	if (p->report == PAGEDET_REPORT_MACHINE_CHECK ||
	    p->report == PAGEDET_REPORT_APEI ||
	    (p->report == PAGEDET_REPORT_EDAC && !p->found_by))
		return p->report;
	return p->found_by;
}

static const uint32_t of_hardware[] = {
	PAGEDET_REPORT_MACHINE_CHECK, PAGEDET_REPORT_EDAC, PAGEDET_REPORT_APEI,
};

/* Keep the words of hardware and firmware, the last of each: one knows what
 * failed, another one which module of memory has it. */
static bool remember_hardware(struct pdet_log_page *p,
			      const struct pdet_log_page *before)
{
	char text[HARDWARE];
	size_t i;

	for (i = 0; i < PDET_COUNT(of_hardware); i++) {
		const bool own = before->report == of_hardware[i];
		const struct pdet_scan said = own ? pdet_log_reason(before) :
			pdet_log_page_text(before, before->hardware[i]);
		size_t len = 0;

		if (said.at == said.end || p->report == of_hardware[i] ||
		    p->hardware[i].len)
			continue;
		if (own)
			len = (size_t)snprintf(text, sizeof(text), "%s: ",
					       pdet_value_name(
						       PAGEDET_FIELD_REPORT,
						       of_hardware[i]));
		len += pdet_shortened(text + len, sizeof(text) - len, said);
		if (!pdet_log_keep(p, (struct pdet_scan){ text, text + len },
				   &p->hardware[i]))
			return false;
	}
	return true;
}

static bool is_unpoisoned(const struct pdet_log_page *p)
{
	return p->report == PAGEDET_REPORT_UNPOISON &&
	       p->flags_known & ~p->flags & POISON;
}

/* What was said of a memory error still holds when the page is named for
 * another reason, for another task that had it, or for the same error again,
 * but not after a restart of the machine. */
static bool remember(struct pdet_log_page *p,
		     const struct pdet_log_page *before)
{
	struct pdet_scan said = pdet_log_reason(before), had;

	if (p->boot.number != before->boot.number || is_unpoisoned(p))
		return true;
	if (!remember_hardware(p, before))
		return false;
	if (!p->found_by)
		p->found_by = finder(before);
	if ((before->report != PAGEDET_REPORT_MEMORY_FAILURE &&
	     !before->remembers) ||
	    (p->report == PAGEDET_REPORT_MEMORY_FAILURE && !p->again &&
	     (p->over || (!before->over && !before->remembers))) ||
	    (p->report == PAGEDET_REPORT_SOFT_OFFLINE && !p->again))
		return true;
	/* Only the memory error: the row no longer shows other reports. */
	if (before->remembers) {
		pdet_scan_word(&said, PDET_SAID_BEFORE);
		while (pdet_log_behind(said, "; " PDET_SAID_BEFORE, &said))
			;
	}
	p->injected = before->injected;
	p->flags |= before->flags & ~p->flags_known & POISON;
	p->flags_known |= before->flags_known & POISON;
	p->remembers = true;
	had = pdet_log_reason(p);
	return said.at == said.end ||
	       pdet_log_join_reasons(p, had, had.at < had.end ?
				     "; " PDET_SAID_BEFORE : PDET_SAID_BEFORE,
				     said);
}

/* The statement that begins last replaces earlier ones about the same page,
 * also if these end so much later that they come out of order. */
static int keep(struct pdet_log_said *s, struct pdet_log *log,
		const struct pdet_log_page *p)
{
	struct pdet_log_page *before, now;
	uint64_t i;

	if (pdet_pairs_get(&s->by_pfn, p->pfn, &i)) {
		before = &s->pages.data[i];
		/* What it remembers is later than what @p may. */
		if (before->line > p->line)
			return (before->remembers && (!p->over || p->again)) ||
			       remember(before, p) ? 0 : -ENOMEM;
		pdet_log_steal(log, &now);
		if (!remember(&now, before)) {
			pdet_log_page_free(&now);
			return -ENOMEM;
		}
		pdet_log_page_free(before);
		*before = now;
		return 0;
	}
	if (!pdet_vec_reserve(&s->pages, 1) ||
	    !pdet_pairs_set(&s->by_pfn, p->pfn, s->pages.n))
		return -ENOMEM;
	pdet_log_steal(log, &s->pages.data[s->pages.n++]);
	return 0;
}

int pdet_log_said_take(struct pdet_log_said *s, struct pdet_log *log,
		       pdet_log_asked_fn *is_asked, void *user)
{
	const struct pdet_log_page *p;
	bool memory = true;
	int r = 0;

	while (r == 0 && (p = pdet_log_take(log)))
		if (is_asked(user, p, &memory) && p->has & PDET_LOG_PFN)
			r = keep(s, log, p);
	return memory ? r : -ENOMEM;
}

void pdet_log_said_free(struct pdet_log_said *s)
{
	size_t i;

	for (i = 0; i < s->pages.n; i++)
		pdet_log_page_free(&s->pages.data[i]);
	pdet_vec_free(&s->pages);
	pdet_pairs_free(&s->by_pfn);
}
