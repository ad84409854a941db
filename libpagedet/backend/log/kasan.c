/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses KASAN reports (Linux mm/kasan/report.c; 5.10 to 6.18):
 *
 *   BUG: KASAN: slab-use-after-free in page_counter_uncharge+0x65/0x150
 *   Write of size 8 at addr ffff888106715440 by task insmod/527
 *   [stacks]
 *   The buggy address belongs to the object at ffff888106715400
 *    which belongs to the cache kmalloc-512 of size 512
 *   The buggy address belongs to the physical page:
 *   [a block of dump_page()]
 *   Memory state around the buggy address:
 *
 * Before 5.10 it prints "the page:". Its addresses are never hashed. Before
 * 4.12 the first line has the address:
 *
 *   BUG: KASAN: use-after-free in f+0x65/0x150 at addr ffff888106715440
 *   Read of size 8 by task insmod/527
 *
 * The name was "KASan" before 4.4.
 */
#include <string.h>

#include "backend/log/report.h"

/* Cut " at addr ADDRESS" off the text. */
static void take_address(struct pdet_log_page *p, struct pdet_scan *s)
{
	static const char word[] = " at addr ";
	struct pdet_scan what = *s, addr = *s;
	uint64_t value;

	if (!pdet_log_before(&what, word))
		return;
	addr.at = what.end + strlen(word);
	if (!pdet_log_hex(&addr, &value) || addr.at != addr.end)
		return;
	pdet_log_kernel_address(p, value);
	*s = what;
}

bool pdet_log_kasan_begins(struct pdet_log_page *p, struct pdet_scan s,
			   bool *memory)
{
	if ((!pdet_scan_word(&s, "BUG: KASAN: ") &&
	     !pdet_scan_word(&s, "BUG: KASan: ")) || s.at == s.end)
		return false;
	take_address(p, &s);
	p->report = PAGEDET_REPORT_KASAN;
	p->found = true;
	pdet_log_says(p, s, memory);
	return true;
}

/* "Read of size 8 at addr ADDRESS by task NAME/PID". */
static bool access(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan rest = s, addr, task;
	uint64_t value;

	if (p->task ||
	    (!pdet_scan_word(&rest, "Read ") &&
	     !pdet_scan_word(&rest, "Write ") &&
	     !pdet_scan_word(&rest, "Free of addr ")))
		return false;
	if (!p->has_kaddr && (!pdet_log_behind(s, " addr ", &addr) ||
			      !pdet_log_hex(&addr, &value)))
		return false;
	if (!p->has_kaddr)
		pdet_log_kernel_address(p, value);
	if (pdet_log_behind(s, " by task ", &task))
		pdet_log_task(p, task, '/', memory);
	return true;
}

/* "which belongs to the cache kmalloc-512 of size 512". */
static bool cache(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	if (!pdet_scan_word(&s, "which belongs to the cache "))
		return false;
	if (pdet_log_before(&s, " of size ") && s.at < s.end &&
	    s.end - s.at <= 128 && !p->cache.len)
		*memory &= pdet_log_keep(p, s, &p->cache);
	return true;
}

bool pdet_log_kasan(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan rest = s;

	if (access(p, s, memory) || cache(p, s, memory))
		return true;
	if (pdet_scan_word(&rest, "Memory state around the buggy address")) {
		p->over = true;
		return true;
	}
	if (!pdet_scan_word(&rest, "The buggy address belongs to the "))
		return false;
	pdet_scan_word(&rest, "physical ");
	if (pdet_scan_word(&rest, "page:")) {
		p->expects = !p->block;
		p->needs_block = true;
	}
	return true;
}
