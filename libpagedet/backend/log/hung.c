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

/* "? " marks a frame that may be left over from an earlier call. */
static bool waits(struct pdet_scan s)
{
	return pdet_scan_word(&s, "migration_entry_wait") ||
	       pdet_scan_word(&s, "__migration_entry_wait") ||
	       pdet_scan_word(&s, "pmd_migration_entry_wait");
}

/* "[<8021c710>] (f) from [<80299108>] (__migration_entry_wait+0x5c/0xa4)": the
 * caller's frame, of 32-bit ARM. */
static bool waits_on_arm(struct pdet_scan *s)
{
	static const char from[] = ">] (";
	struct pdet_scan frame = *s;

	if (!pdet_log_before(&frame, from))
		return false;
	s->at = frame.end + strlen(from);
	if (s->end[-1] == ')')
		s->end--;
	return waits(*s);
}

bool pdet_log_hung(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan frame = s;

	if (waits(s) || waits_on_arm(&frame)) {
		p->loses |= p->mixed;
		if (p->mixed)
			return true;
		p->found = true;
		pdet_log_says(p, frame, memory);
		return true;
	}
	if (!pdet_scan_is(&s, "</TASK>"))
		return false;
	p->over = true;
	return true;
}
