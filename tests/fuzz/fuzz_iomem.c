/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes /proc/iomem: any text, line by line. */
#include "fuzz.h"
#include "kernel/text/iomem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_scan text = { (const char *)data,
				  (const char *)data + size };
	struct pdet_scan line;
	struct pdet_iomem e;

	while (pdet_scan_line(&text, &line)) {
		if (!pdet_iomem_line(line, &e))
			continue;
		MUST(e.first <= e.last && e.last);
		MUST(e.name >= line.at && e.name + e.name_len == line.end);
		MUST(pdet_iomem_use(&e) == PDET_IOMEM_OTHER || e.name_len >= 3);
	}
	return 0;
}
