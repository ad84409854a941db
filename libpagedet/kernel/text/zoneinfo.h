/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses the zones of /proc/zoneinfo (Linux mm/vmstat.c, zoneinfo_show_print).
 */
#ifndef PDET_KERNEL_TEXT_ZONEINFO_H
#define PDET_KERNEL_TEXT_ZONEINFO_H

#include "base/text/text.h"

struct pdet_zoneinfo {
	uint32_t node;
	uint32_t zone;		/* PAGEDET_ZONE_* */
	uint64_t start_pfn;
	uint64_t spanned;	/* pages, including holes */
};

/*
 * pdet_zoneinfo_next - the next zone that spans memory. @text starts at the
 * beginning of the file and is advanced. Returns false at the end. Zones with
 * an unknown name are skipped.
 */
bool pdet_zoneinfo_next(struct pdet_scan *text, struct pdet_zoneinfo *ret);

#endif
