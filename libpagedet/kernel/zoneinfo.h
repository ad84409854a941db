/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Zones out of /proc/zoneinfo (Linux mm/vmstat.c, zoneinfo_show_print). */
#ifndef PDET_KERNEL_ZONEINFO_H
#define PDET_KERNEL_ZONEINFO_H

#include "base/text.h"

struct pdet_zoneinfo {
	uint32_t node;
	uint32_t zone;		/* PAGEDET_ZONE_* */
	uint64_t start_pfn;
	uint64_t spanned;	/* pages, holes included */
};

/*
 * pdet_zoneinfo_next - the next zone that spans memory. @text begins at the
 * start of the file and is moved on; false at the end. Zones with a name that
 * is not known are left out.
 */
bool pdet_zoneinfo_next(struct pdet_scan *text, struct pdet_zoneinfo *ret);

#endif
