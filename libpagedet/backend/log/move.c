/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses reports of pages that could not be migrated, for memory offlining or
 * contiguous allocation (Linux mm/memory_hotplug.c, mm/page_isolation.c,
 * mm/page_alloc.c; 5.10 to 6.18):
 *
 *   migrating pfn 1a2b3 failed ret:1
 *   failed to isolate pfn 1a2b3
 *   [a block of dump_page(), of both]
 *   alloc_contig_range: [1a2b0, 1a4b0) PFNs busy
 *
 * The last one does not say which page of the range is busy.
 */
#include "backend/log/report.h"

static bool numbered(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t pfn;

	if (!pdet_scan_word(&s, "migrating pfn ") &&
	    !pdet_scan_word(&s, "failed to isolate pfn "))
		return false;
	if (!pdet_log_hex(&s, &pfn) || (s.at < s.end && *s.at != ' '))
		return false;
	p->pfn = pfn;
	p->has |= PDET_LOG_PFN;
	p->expects = true;
	return true;
}

static bool busy(struct pdet_scan s)
{
	uint64_t first, end;

	return (pdet_scan_word(&s, "alloc_contig_range: [") ||
		pdet_scan_word(&s, "alloc_contig_range_noprof: [") ||
		pdet_scan_word(&s, "__alloc_contig_migrate_range: [")) &&
	       pdet_log_hex(&s, &first) && pdet_scan_word(&s, ", ") &&
	       pdet_log_hex(&s, &end) && pdet_scan_word(&s, ") PFNs busy");
}

bool pdet_log_move_begins(struct pdet_log_page *p, struct pdet_scan s,
			  bool *memory)
{
	if (!numbered(p, s) && !busy(s))
		return false;
	p->over = !(p->has & PDET_LOG_PFN);
	p->found = true;
	p->report = PAGEDET_REPORT_MIGRATION;
	pdet_log_says(p, s, memory);
	return true;
}
