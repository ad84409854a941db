/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses reports of tasks that wait too long for a page to be migrated (Linux
 * kernel/hung_task.c, 5.10 to 6.18). Reports of other waits name no page.
 *
 *   INFO: task khugepaged:35 blocked for more than 120 seconds.
 *   [lines of it]
 *   Call Trace:
 *    migration_entry_wait_on_locked+0x229/0x2c0
 */
#include <string.h>

#include "backend/log/report.h"

bool pdet_log_hung_begins(struct pdet_log_page *p, struct pdet_scan s,
			  bool *memory)
{
	if (!pdet_scan_word(&s, "INFO: task ") ||
	    (!pdet_log_before(&s, " blocked for more than ") &&
	     !pdet_log_before(&s, " blocked in I/O wait for more than ")) ||
	    !pdet_log_task(p, s, ':', memory))
		return false;
	p->report = PAGEDET_REPORT_HUNG_TASK;
	return true;
}

bool pdet_log_hung(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan rest = s;

	/* "? " marks a frame that may be left over from an earlier call. */
	if (pdet_scan_word(&rest, "migration_entry_wait") ||
	    pdet_scan_word(&rest, "__migration_entry_wait") ||
	    pdet_scan_word(&rest, "pmd_migration_entry_wait")) {
		p->found = true;
		pdet_log_says(p, s, memory);
		return true;
	}
	if (!pdet_scan_is(&s, "</TASK>"))
		return false;
	p->over = true;
	return true;
}
