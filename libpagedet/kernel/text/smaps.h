/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses the memory counters of a process, and the flags of its VMAs (Linux
 * fs/proc/task_mmu.c).
 */
#ifndef PDET_KERNEL_TEXT_SMAPS_H
#define PDET_KERNEL_TEXT_SMAPS_H

#include <pagedet.h>

#include "base/text/text.h"

/* Parse /proc/PID/smaps_rollup into value and state of @ret. Returns false if
 * the text is something else. */
bool pdet_smaps_rollup(struct pdet_scan text, struct pagedet_usage *ret);

/* The same for /proc/PID/status, which has only RSS, SWAP and HUGETLB. Its
 * counters are approximate since Linux 6.2 (mm/memory.c, per-cpu rss_stat). The
 * other sums get the reason @why. Returns false if the process has no
 * memory. */
bool pdet_status_memory(struct pdet_scan text, uint32_t why,
			struct pagedet_usage *ret);

/*
 * pdet_smaps_flags - false if the line is not "VmFlags: rd wr ...". *has:
 * whether @flag, of two letters, is among them.
 */
bool pdet_smaps_flags(struct pdet_scan line, const char *flag, bool *has);

#endif
