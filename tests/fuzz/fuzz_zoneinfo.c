/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes /proc/zoneinfo: any text. */
#include "fuzz.h"
#include "kernel/text/zoneinfo.h"
#include "pagedet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_scan text = { (const char *)data,
				  (const char *)data + size };
	const char *before = text.at;
	struct pdet_zoneinfo z;

	while (pdet_zoneinfo_next(&text, &z)) {
		MUST(text.at > before);
		MUST(z.spanned && z.start_pfn <= UINT64_MAX - z.spanned);
		MUST(z.zone <= PAGEDET_ZONE_DEVICE);
		before = text.at;
	}
	return 0;
}
