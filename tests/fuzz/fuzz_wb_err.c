/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes trace lines, which contain names of tasks. */
#include "disk/wb_err.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_scan text = { (const char *)data,
				  (const char *)data + size };
	struct pdet_scan line;
	struct pdet_wb_err e;

	while (pdet_scan_line(&text, &line))
		if (pdet_wb_err_line(line, &e)) {
			MUST(e.error < 4096);
			MUST(e.dev >> 32 < 4096);
			MUST((uint32_t)e.dev < 1u << 20);
		}
	return 0;
}
